"""What the seeds put where: the decks of the epochs, and the proof of single cards."""

from contextlib import suppress

from fairdeal_verifier.events import Body
from fairdeal_verifier.file import HandFile
from fairdeal_verifier.games.base import Place
from fairdeal_verifier.primitives import (
    DealKey,
    SealedDeck,
    StreamError,
    leaf_hash,
    lock_of,
    root_by_path,
)
from fairdeal_verifier.words import Said, say


class Decks:
    """The decks of a hand, as far as its seeds are disclosed.

    Attributes:
        used: The shuffled deck of each epoch that was used and is disclosed.
        roots: The deck root and the number of cards that the events state, by epoch.
        complete: The epochs for which every contributing seat has opened its seed.
        are_seeds_good: Every seed is the one that was committed to.
    """

    def __init__(self, file: HandFile, *, are_seeds_good: bool) -> None:
        """Starts before anything is open.

        Args:
            file: The hand's file.
            are_seeds_good: Every seed is the one that was committed to; else no lock is checked.
        """
        self._file = file
        self.are_seeds_good = are_seeds_good
        self._seeds: dict[Place, bytes] = {}  # by epoch and seat
        self._proved = 0
        self.used: dict[int, SealedDeck] = {}
        self.roots: dict[int, tuple[bytes, int]] = {}
        self.complete: set[int] = set()

    def open_seed(self, epoch: int, seat: int, seed: bytes) -> None:
        """Notes a seat seed; a second one for the same epoch changes nothing."""
        self._seeds.setdefault((epoch, seat), seed)

    def complete_epoch(self, epoch: int) -> None:
        """Sees if all seeds of an epoch are open now."""
        if all((epoch, seat) in self._seeds for seat in self._file.contribute):
            self.complete.add(epoch)

    def use(self, epoch: int, cards: list[str]) -> None:
        """Shuffles a deck, if all that it needs is open.

        Args:
            epoch: Its number.
            cards: In canonical order.

        Spec: KEY-1, VER-3
        """
        file = self._file
        if file.server_seed is None or epoch not in self.complete:
            return
        seeds = [self._seeds[epoch, seat] for seat in file.contribute]
        key = DealKey.derive(file.server_seed, file.terms, file.hand, epoch, seeds)
        with suppress(StreamError):  # then the epoch stays unknown, and its checks say so
            self.used[epoch] = SealedDeck(key, epoch, cards)

    def state_root(self, epoch: int, root: str, size: int) -> None:
        """Notes a root that an event states."""
        self.roots[epoch] = (bytes.fromhex(root), size)

    def card_at(self, place: Place) -> str | None:
        """Names the card that the seeds put at a place, if it is known."""
        deck = self.used.get(place[0])
        return deck.order[place[1]] if deck and place[1] < len(deck.order) else None

    def cards_at(self, places: list[Place] | None, deck: list[str]) -> list[str] | None:
        """Names the cards at places, in the order of the deck, if all are known and none twice."""
        if places is None:
            return None
        known = {self.card_at(place) for place in places}
        if None in known or len(known) != len(places):
            return None
        return [card for card in deck if card in known]

    def lock(self, seat: int, k: int, places: list[Place]) -> bytes | None:
        """Gives the lock of a discard, if it can be recomputed. Spec: HAND-10."""
        if 0 not in self.used or not self.are_seeds_good:
            return None
        salt = self.used[0].key.stream(f"discard {seat} {k}", 32)
        return lock_of(self._file.hand, seat, k, salt, places)

    def prove(self, shown: Body) -> tuple[str, Said | None]:
        """Checks a card that an event shows, against the seeds or against its opening.

        Has to be called for each `shown` and `given` in event order, as the openings are.

        Returns:
            What is wrong, or ""; and what could not be checked, or None.

        Spec: DECK-3, FILE-4
        """
        number = self._proved
        self._proved += 1
        if self._file.disclosed is not None:
            return self._prove_by_seeds(shown)
        if self._file.reason == "lost" and shown["epoch"] in self.roots:
            return "", say("note.lost")
        openings = self._file.openings
        return self._prove_by_opening(shown, openings[number] if number < len(openings) else None)

    def _prove_by_seeds(self, shown: Body) -> tuple[str, Said | None]:
        epoch, position, card = shown["epoch"], shown["position"], shown["card"]
        deck = self.used.get(epoch)
        if deck is None:
            if epoch == 0 or epoch in self.roots:
                return "", say("note.epoch")
            return f"{card} is shown from an epoch that has no deck", None
        if self.card_at((epoch, position)) != card:
            return f"{card} does not lie where it is shown", None
        if deck.salts[position] != shown["salt"]:
            return f"the salt of {card} is not the one of its place", None
        return "", None

    def _prove_by_opening(self, shown: Body, opening: Body | None) -> tuple[str, Said | None]:
        epoch, position, card, salt = (shown[x] for x in ("epoch", "position", "card", "salt"))
        if opening is None or any(
            opening[x] != shown[x] for x in ("card", "epoch", "position", "salt")
        ):
            return f"the opening of {card} is missing", None
        # The size comes from the rules, never from the message.
        root, size = self.roots.get(epoch, (b"", 0))
        leaf = leaf_hash(f"{epoch} {position} {card} {salt}".encode("ascii"))
        path = [bytes.fromhex(one) for one in opening["path"]]
        if root_by_path(leaf, position, size, path) != root:
            return f"the opening of {card} does not lead to the deck root", None
        return "", None
