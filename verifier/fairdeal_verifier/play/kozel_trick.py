"""One trick of Kozel: what lies in it, what beats it, and when it may be pulled."""

from collections.abc import Iterable
from dataclasses import dataclass

from fairdeal_verifier.play.base import rank_of, suit_of

SEATS = 4
FULL = 4  # cards of a full hand

_RANKS = ("6", "7", "8", "9", "J", "Q", "K", "10", "A")  # weak to strong
_POINTS = {"J": 2, "Q": 3, "K": 4, "10": 10, "A": 11}


@dataclass(frozen=True, slots=True)
class Laid:
    """What a seat has laid in a trick; `deed` says what it was, as the story's keys do."""

    seat: int
    cards: list[str]
    deed: str
    is_face_down: bool = False


class Trick:
    """A trick, from its lead to the third answer to what was led or pulled last.

    Attributes:
        leader: The seat that leads it, or would have but for a pull.
        laid: The lead or the pull, and the answers to it.
        best: The cards to be beaten; none before the lead, or when cards went back.
        taker: Whose cards these are.
        puller: The seat that pulled last.
    """

    def __init__(self, trumps: str, leader: int) -> None:
        """Begins with nothing on the table."""
        self.leader = leader
        self.laid: list[Laid] = []
        self.best: list[str] = []
        self.taker = leader
        self.puller: int | None = None
        self._trumps = trumps

    @property
    def seat(self) -> int:
        """Who leads or answers. Spec: KOZ-10, KOZ-11."""
        return (self.laid[0].seat + len(self.laid)) % SEATS if self.laid else self.leader

    @property
    def points(self) -> int:
        """The points of its cards. Spec: KOZ-18."""
        return sum(_POINTS.get(rank_of(card), 0) for laid in self.laid for card in laid.cards)

    @property
    def is_over(self) -> bool:
        """Says if all have answered. Spec: KOZ-16."""
        return len(self.laid) == SEATS

    def lay(self, laid: Laid, *, is_best: bool) -> None:
        """Lays a lead, a pull or an answer. Spec: KOZ-11, KOZ-12, KOZ-15."""
        self.laid.append(laid)
        if is_best:
            self.best = laid.cards
            self.taker = laid.seat

    def clear(self) -> list[Laid]:
        """Takes all cards off the table, and gives them. Spec: KOZ-15."""
        laid, self.laid, self.best = self.laid, [], []
        return laid

    # What beats what.

    def beats(self, cards: list[str]) -> bool:
        """Says if cards beat the best ones. Spec: KOZ-9, KOZ-12."""
        if len(cards) != len(self.best) or not all(map(self._is_in_play, cards)):
            return False
        pairs = zip(self._in_order(cards), self._in_order(self.best), strict=True)
        return all(self._strength(card) > self._strength(other) for card, other in pairs)

    def can_be_beaten(self, hand: Iterable[str]) -> bool:
        """Says if some cards of a hand beat the best ones. Spec: KOZ-13."""
        # If any k cards beat, the k strongest of those that can beat at all do.
        strongest = self._in_order(filter(self._is_in_play, hand))
        return self.beats(strongest[-len(self.best) :])

    def _is_in_play(self, card: str) -> bool:
        """Says if a card is a trump or of the suit led, so can beat at all."""
        return suit_of(card) in (self._trumps, suit_of(self.laid[0].cards[0]))

    def _in_order(self, cards: Iterable[str]) -> list[str]:
        """Sorts cards in play from weak to strong. Spec: KOZ-12."""
        return sorted(cards, key=self._strength)

    def _strength(self, card: str) -> tuple[bool, int]:
        """Ranks a card in play. Spec: KOZ-9."""
        return suit_of(card) == self._trumps, _RANKS.index(rank_of(card))

    # Pulls.

    def may_be_pulled_by(self, seat: int) -> bool:
        """Says if a seat may pull, if it has the cards for it. Spec: KOZ-14, its (a), (c), (b)."""
        if not self.laid:
            return seat != self.leader
        if self.puller is not None:
            return len(self.laid) == 1 and self._distance(seat) < self._distance(self.puller)
        return len(self.laid[0].cards) < FULL

    def _distance(self, seat: int) -> int:
        return (seat - self.leader) % SEATS
