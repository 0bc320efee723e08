"""The checks of what the replay found: from the order of the seeds to the disclosure."""

from collections.abc import Iterator, Mapping

from fairdeal_verifier.file import HandFile
from fairdeal_verifier.hand import Replay
from fairdeal_verifier.outcome import FAIL, NOT_APPLICABLE, PASS, SKIP, Check, Told
from fairdeal_verifier.play.follow import Following
from fairdeal_verifier.primitives import DealKey
from fairdeal_verifier.words import say

NO_RULES = say("note.no_rules")
NO_SEEDS = say("note.no_seeds")
NOT_DEALT = say("note.not_dealt")
NOT_ENDED = say("note.not_ended")


def skip_the_replay(file: HandFile) -> Iterator[Check]:
    """Gives the same checks, all SKIP, for a table that no game is played at."""
    for check_id in (
        "order",
        "beacon",
        "shuffle",
        "deck.cards",
        "deck.root",
        "first",
        "deal",
        "pick.first",
    ):
        if check_id == "beacon":
            yield _BEACON
        else:
            yield Check(check_id, SKIP, NO_RULES)
    yield check_seats(file)
    yield Check("play", SKIP, NO_RULES) if file.referee else _NO_PLAY
    yield Check("end", SKIP, NO_RULES)
    yield Check("disclosure", SKIP, NO_RULES)


_BEACON = Check("beacon", NOT_APPLICABLE, say("note.no_beacon"))
_NO_PLAY = Check("play", NOT_APPLICABLE, say("note.no_referee"))


class ReplayChecks:
    """Checks 7 to 20, from `order` to `disclosure`; `story` then tells the play."""

    def __init__(self, file: HandFile, replay: Replay, *, are_seeds_good: bool) -> None:
        self.file = file
        self.replay = replay
        self.are_seeds_good = are_seeds_good
        self.dealt = replay.dealt.body if replay.dealt else None
        self.stated = _stated(file)
        self.story: list[Told] = []

    def __iter__(self) -> Iterator[Check]:
        yield self._found("order")
        yield _BEACON
        yield self._shuffle()
        yield self._deck_cards()
        yield self._deck_root()
        yield self._first()
        yield self._deal()
        yield self._pick_first()
        if self.file.game.has_indicator:
            yield self._pick_indicator()
        for check_id in self.replay.findings.numbered:
            yield self._found(check_id)
        yield check_seats(self.file)
        yield self._play()
        yield self._end()
        yield self._disclosure()

    def _found(self, check_id: str) -> Check:
        """Gives what the replay noted under an id. Spec: HAND-3 to HAND-6, HAND-9 to HAND-13."""
        fault = self.replay.findings.faults.get(check_id, "")
        if fault:
            return Check(check_id, FAIL, fault)
        reason = self.replay.findings.unchecked.get(check_id)
        return Check(check_id, SKIP, reason) if reason else Check(check_id, PASS)

    def _not_dealt(self, check_id: str) -> Check | None:
        if self.dealt is not None:
            return None
        if self.file.is_final:
            return Check(check_id, NOT_APPLICABLE, NOT_DEALT)
        return Check(check_id, SKIP, say("note.not_dealt_yet"))

    def _without_seeds(self, check_id: str) -> Check | None:
        """Spec: VER-3."""
        if 0 not in self.replay.decks.complete and self.file.is_final:
            return Check(check_id, NOT_APPLICABLE, say("note.never_open"))
        if not self.are_seeds_good or 0 not in self.replay.decks.complete:
            return Check(check_id, SKIP, NO_SEEDS)
        return None

    def _shuffle(self) -> Check:
        """`shuffle`. Spec: SHUF-1, SHUF-2, KEY-1."""
        missing = self._without_seeds("shuffle")
        if missing:
            return missing
        used = [
            f"epoch {epoch}: {len(deck.order)} cards"
            for epoch, deck in self.replay.decks.used.items()
        ]
        values = f"{len(self.stated)} cards stated; {', '.join(used) or 'no deck was used'}"
        is_known = True
        for (epoch, position), card in self.stated:
            if epoch not in self.replay.decks.used:
                is_known = False  # what is wrong with its pool is told by another check
                continue
            there = self.replay.decks.card_at((epoch, position))
            if there != card:
                where = f"position {position} of epoch {epoch}"
                note = f"{where} holds {there or 'no card'}, stated is {card}"
                return Check("shuffle", FAIL, note, values)
        if not is_known:
            return Check("shuffle", SKIP, say("note.pool"), values)
        return Check("shuffle", PASS, "", values)

    def _deck_cards(self) -> Check:
        """`deck.cards`. Spec: SHUF-1."""
        deck = set(self.replay.game.deck())
        at: dict[tuple[int, int], str] = {}
        of: dict[tuple[int, str], int] = {}
        for place, card in self.stated:
            if at.setdefault(place, card) != card:
                return Check(
                    "deck.cards", FAIL, f"one position is stated with {at[place]} and {card}"
                )
            if of.setdefault((place[0], card), place[1]) != place[1]:
                return Check("deck.cards", FAIL, f"{card} is stated at two positions")
        cards = {card for _, card in self.stated}
        if self.dealt is not None and self.dealt["indicator"] is not None:
            cards.add(self.dealt["indicator"])
        if not cards <= deck:
            return Check("deck.cards", FAIL, f"{min(cards - deck)} is not in the deck")
        return Check(
            "deck.cards", PASS, "", f"{len(cards)} different cards of {len(deck)} are stated"
        )

    def _deck_root(self) -> Check:
        """`deck.root`. Spec: DECK-1, DECK-2."""
        missing = self._not_dealt("deck.root") or self._without_seeds("deck.root")
        deck = self.replay.decks.used.get(0)
        if missing or deck is None or self.dealt is None:
            return missing or Check("deck.root", SKIP, NO_SEEDS)
        root = deck.root.hex()
        values = f"recomputed {root}, stated {self.dealt['deck_root']}"
        if root == self.dealt["deck_root"]:
            return Check("deck.root", PASS, "", values)
        return Check("deck.root", FAIL, "the root is not the one of this order", values)

    def _first(self) -> Check:
        """`first`. Spec: GAME-2, HAND-2."""
        given = self.file.opened.body["first"]
        if given is not None and self.file.hand == 1:
            # Also if it never comes to the deal: the next hand then has the same first seat.
            return Check(
                "first", FAIL, "in a table's first hand the first seat is drawn", f"seat {given}"
            )
        missing = self._not_dealt("first")
        if missing or self.dealt is None:
            return missing or Check("first", SKIP, NOT_DEALT)
        first = self.dealt["first"]
        values = f"seat {first}"
        if given is None:
            return Check("first", PASS, say("note.first_drawn"), values)
        if first != given:
            return Check(
                "first", FAIL, f"seat {given} was to be first, seat {first} was dealt to", values
            )
        return Check("first", NOT_APPLICABLE, say("note.first_given"), values)

    def _deal(self) -> Check:
        """`deal`. Spec: GAME-1."""
        if self.replay.findings.faults.get("deal"):
            return self._found("deal")
        return self._not_dealt("deal") or self._found("deal")

    def _pick_first(self) -> Check:
        """`pick.first`. Spec: GAME-2, SHUF-3."""
        if self.file.opened.body["first"] is not None:
            return Check("pick.first", NOT_APPLICABLE, say("note.first_not_drawn"))
        key, missing = self._key("pick.first")
        if missing or key is None or self.dealt is None:
            return missing or Check("pick.first", SKIP, NO_SEEDS)
        drawn, first = key.pick("first", self.file.seats), self.dealt["first"]
        values = f"drawn {drawn}, dealt from {first}"
        if drawn == first:
            return Check("pick.first", PASS, "", values)
        return Check("pick.first", FAIL, "another seat was first than the one drawn", values)

    def _pick_indicator(self) -> Check:
        """`pick.indicator`. Spec: KOZ-1."""
        key, missing = self._key("pick.indicator")
        if missing or key is None or self.dealt is None:
            return missing or Check("pick.indicator", SKIP, NO_SEEDS)
        position = self.replay.game.indicator_index(key)
        card = self.replay.decks.card_at((0, position))
        values = f"position {position}: {card}, stated {self.dealt['indicator']}"
        if card != self.dealt["indicator"]:
            return Check(
                "pick.indicator", FAIL, "the indicator is not the card at the drawn place", values
            )
        if any(one["position"] != position for one in self.dealt["shown"]):
            return Check("pick.indicator", FAIL, "the indicator is shown at another place", values)
        return Check("pick.indicator", PASS, "", values)

    def _key(self, check_id: str) -> tuple[DealKey | None, Check | None]:
        deck = self.replay.decks.used.get(0)
        missing = self._not_dealt(check_id) or self._without_seeds(check_id)
        return (deck.key if deck else None), missing

    def _play(self) -> Check:
        """`play`. Spec: PLAY-1 to PLAY-6, PLAY-8, VER-3."""
        if not self.file.referee:
            return _NO_PLAY
        if self.replay.match_fault:
            # Also if nothing is played: the hand after one that was aborted has the same match.
            return Check("play", FAIL, self.replay.match_fault)
        missing = self._not_dealt("play")
        if missing:
            return missing
        if self.file.disclosed is None:
            return Check("play", SKIP, say("note.play_later"))
        if not self.are_seeds_good:
            return Check("play", SKIP, NO_SEEDS)
        followed = Following(self.file, self.replay)
        self.story = followed.story
        if followed.fault:
            return Check("play", FAIL, followed.fault)
        if followed.unknown or not self.file.is_final:
            return Check("play", SKIP, followed.unknown or NOT_ENDED)
        return Check("play", PASS)

    def _end(self) -> Check:
        """`end`. Spec: HAND-15, HAND-16."""
        if "end" not in self.replay.findings.faults and not self.file.is_final:
            return Check("end", SKIP, NOT_ENDED)
        check = self._found("end")
        return Check(
            "end", check.status, check.note, f"{self.file.last.type} {self.file.reason}".strip()
        )

    def _disclosure(self) -> Check:
        """`disclosure`. Spec: FILE-3, FILE-4."""
        file = self.file
        if file.disclosed is not None:
            if file.openings:
                return Check(
                    "disclosure", FAIL, "single cards are opened although all are disclosed"
                )
            fault = _discards_fault(file, file.disclosed["discards"])
            if fault:
                return Check("disclosure", FAIL, fault)
            if not file.is_final:
                return Check("disclosure", SKIP, NOT_ENDED)
            return Check("disclosure", PASS)
        # A service that has lost its secret can open no card.
        due = [] if file.reason == "lost" else file.shown
        named = [(x["card"], x["epoch"], x["position"], x["salt"]) for x in file.openings]
        if named != [(x["card"], x["epoch"], x["position"], x["salt"]) for x in due]:
            return Check("disclosure", FAIL, "the openings are not those of the cards shown")
        if not file.is_final:
            return Check("disclosure", SKIP, NOT_ENDED)
        if file.table.body["disclosure"] == "hand":
            return Check(
                "disclosure", FAIL, "the service has not opened its secret at the hand's end"
            )
        return Check("disclosure", SKIP, say("note.secret_later"))


def _stated(file: HandFile) -> list[tuple[tuple[int, int], str]]:
    """Lists every card that the file states, with its place."""
    return [((one["epoch"], one["position"]), one["card"]) for one in (*file.shown, *file.openings)]


def _discards_fault(file: HandFile, disclosed: Mapping[str, list[list[list[int]]]]) -> str:
    """Says if the discards disclosed are others than those of the events."""
    counts: dict[str, list[int]] = {}
    for step in file.steps:
        if step.type == "cards.discarded":
            for seat, one in step.body["discards"].items():
                counts.setdefault(seat, []).append(one["count"])
    if {seat: [len(one) for one in listed] for seat, listed in disclosed.items()} != counts:
        return "the discards disclosed are not those of the hand"
    if any(one != sorted(one) for listed in disclosed.values() for one in listed):
        return "a discard is not disclosed in ascending order"
    return ""


def check_seats(file: HandFile) -> Check:
    """`seats`: passes always, for its text."""
    body = file.table.body
    key = "note.seats"
    if body["custody"] == "operator":
        key = "note.seats_operator" if file.keys else "note.seats_operator_alone"
    return Check("seats", PASS, say(key, seats=file.contribute, keys=sorted(file.keys)))
