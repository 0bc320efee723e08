"""Cards, the holdings of the seats, and their discards."""

from collections.abc import Iterable
from dataclasses import dataclass, field

Place = tuple[int, int]  # epoch, position

FRENCH_RANKS = ("6", "7", "8", "9", "10", "J", "Q", "K", "A")
SPANISH_RANKS = ("1", "2", "3", "4", "5", "6", "7", "10", "11", "12")


def deck_of(ranks: Iterable[str], suits: Iterable[str]) -> list[str]:
    """Lists cards in canonical order. Spec: SHUF-1."""
    return [rank + suit for suit in suits for rank in ranks]


@dataclass(slots=True)
class Holding:
    """The cards of one seat, as far as they are known.

    Before disclosure nobody knows which cards a face-down discard took away. Those are counted in
    `hidden`, and their places are still among `cards`, since each of them may be the one.

    Attributes:
        received: Every place that ever came to the seat.
        cards: Places that have not left it as far as is known.
        hidden: How many of `cards` have left it face down.
        shown: Places it has shown.
        fresh: How many cards it has shown since its last discard.
        thrown: The known places of its face-down discards that have not gone back.
        locks: How many discards it has made.
    """

    received: set[Place] = field(default_factory=set)
    cards: set[Place] = field(default_factory=set)
    hidden: int = 0
    shown: set[Place] = field(default_factory=set)
    fresh: int = 0
    thrown: set[Place] = field(default_factory=set)
    locks: int = 0

    @property
    def size(self) -> int:
        """How many cards the seat has."""
        return len(self.cards) - self.hidden

    def take(self, place: Place) -> None:
        """Receives a card."""
        self.received.add(place)
        self.cards.add(place)


@dataclass(slots=True)
class Discard:
    """One seat's face-down discard; `places` is None as long as it is not disclosed."""

    seat: int
    count: int
    places: list[Place] | None
