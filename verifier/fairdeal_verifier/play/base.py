"""What the games share in following the play of a hand, with every card known.

A `Play` hears what each event of the play says and answers with a plain sentence, or with "" if
the event was legal. It knows cards by their names, never by their places.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from fairdeal_verifier.words import Said, Value, say

# Events that a game may make due.
CLOSED = "hand.closed"
DECLARED = "play.declared"
DRAWN = "cards.drawn"
SHOWN = "cards.shown"

# What has to be written the same is the same: 1 and true are not.
in_one_form = json.JSONEncoder(sort_keys=True, separators=(",", ":")).encode


@dataclass(frozen=True, slots=True)
class Deal:
    """What a game needs to know of the deal.

    Attributes:
        hand: The number of the hand at its table.
        seats: How many seats there are.
        first: The seat that received the first card.
        hands: The seats' cards, after an exchange of sixes.
        stock: How many cards can be drawn.
        turned: The card that lies open: Kozel's indicator, Azi's turned card.
        trumps: The seats' declarations in Svoi Kozyri.
    """

    hand: int
    seats: int
    first: int
    hands: list[list[str]]
    stock: int = 0
    turned: str | None = None
    trumps: dict[int, str] = field(default_factory=dict)

    @property
    def trump_suit(self) -> str:
        """The suit of the card that lies open, or "". Spec: KOZ-9, AZI-13."""
        return suit_of(self.turned) if self.turned else ""


class Play:
    """The play of one hand.

    Each event goes to one method, which gives "" or the fault in one plain sentence, with the
    requirement that it breaks in parentheses at the end. After a fault nothing more is asked.

    Attributes:
        throws_together: One event may hold the discards of several seats.
        ruleset: Valid options, those of the deal among them.
        match: The match before the hand, one without fault.
        deal: The deal.
        story: What a player is told of the play, a line for each trick, bet or score.
    """

    name: ClassVar[str]
    options: ClassVar[Mapping[str, tuple[object, ...] | range]]
    throws_together: ClassVar[bool] = False

    def __init__(self, ruleset: Mapping[str, Any], match: Mapping[str, Any], deal: Deal) -> None:
        """Begins the play of a hand that has been dealt."""
        self.ruleset = ruleset
        self.match = match
        self.deal = deal
        self.story: list[Said] = []

    def _tell(self, key: str, **values: Value) -> None:
        self.story.append(say(key, **values))

    # The match.

    @classmethod
    def fresh(cls, ruleset: Mapping[str, Any], seats: int) -> dict[str, Any]:
        """Gives the match before the first hand. Spec: PLAY-2."""
        raise NotImplementedError

    @classmethod
    def match_fault(cls, ruleset: Mapping[str, Any], seats: int, match: Mapping[str, Any]) -> str:
        """Says why no match can be like this before a hand. Spec: PLAY-2.

        Args:
            ruleset: Valid options.
            seats: How many seats there are.
            match: Any JSON object at all.
        """
        raise NotImplementedError

    @classmethod
    def sits_out(cls, match: Mapping[str, Any]) -> frozenset[int]:
        """Gives the seats that do not take part in the hand."""
        del match
        return frozenset()

    # What the events say.

    def shown(self, cards: list[tuple[int, str]]) -> str:
        """Follows `cards.shown`: seats and cards, in the order listed."""
        del cards
        return self._has_no("showing of cards")

    def thrown(self, seat: int, cards: list[str]) -> str:
        """Follows one seat's discard, the cards as disclosed."""
        del seat, cards
        return self._has_no("discards")

    def returned(self) -> str:
        """Follows `cards.returned`."""
        return self._has_no("return of cards")

    def looked(self, seat: int) -> str:
        """Follows `cards.looked`."""
        del seat
        return self._has_no("later looking")

    def called(self, seat: int, call: str, amount: int | None) -> str:
        """Follows `play.called`."""
        del seat, call, amount
        return self._has_no("calls")

    def declared(self, what: str, seats: list[int]) -> str:
        """Follows `play.declared`."""
        del what, seats
        return self._has_no("declarations")

    def drawn(self, cards: list[tuple[int, str]]) -> str:
        """Follows `cards.drawn`: seats and cards, in the order of service."""
        del cards
        return self._has_no("drawing of cards")

    def _has_no(self, what: str) -> str:
        return f"{self.name} has no {what} (PLAY-3)"

    def _due_fault(self, event: str) -> str:
        """Says if something else is due than a move, and what came in its place. Spec: PLAY-3."""
        return f"{event} came where {self.due} was due (PLAY-3)" if self.due else ""

    # What may come next.

    @property
    def turn(self) -> frozenset[int]:
        """Gives the seats on turn; none while something is due. Spec: PLAY-6."""
        raise NotImplementedError

    @property
    def due(self) -> str:
        """Gives the type of the event that has to come next, or "". Spec: PLAY-4."""
        raise NotImplementedError

    def result(self) -> dict[str, Any]:
        """Gives what `hand.closed` must say; asked only when it is due. Spec: PLAY-5."""
        raise NotImplementedError


# Cards, seats, and JSON that may be anything.


def suit_of(card: str) -> str:
    """Gives the suit, the last letter of a card."""
    return card[-1]


def rank_of(card: str) -> str:
    """Gives the rank: what stands before the suit."""
    return card[:-1]


def is_number(value: object, least: int = 0, most: int = 2**53 - 1) -> bool:
    """Says if a value of JSON is an integer in these bounds; true and false are none."""
    return type(value) is int and least <= value <= most


def is_seat(value: object, seats: int) -> bool:
    """Says if a value of JSON is a seat of this table."""
    return is_number(value, 0, seats - 1)


def are_numbers(value: object, length: int, least: int = 0, most: int = 2**53 - 1) -> bool:
    """Says if a value of JSON is a list of this many integers in these bounds."""
    return (
        isinstance(value, list)
        and len(value) == length
        and all(is_number(one, least, most) for one in value)
    )


def is_same(one: object, other: object) -> bool:
    """Says if two values are the same JSON."""
    return in_one_form(one) == in_one_form(other)
