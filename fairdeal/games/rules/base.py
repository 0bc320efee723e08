"""What the rules of a game are to the referee: legal moves, what follows from them, the score.

A state of play knows every card; whose business a card is, layout and service decide. States are
values: a move gives a new one. Spec: play.md.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple, Self

from fairdeal.cards import Card
from fairdeal.errors import StateError
from fairdeal.games.base import Options as Options  # noqa: PLC0414 - part of this interface
from fairdeal.games.base import Span as Span  # noqa: PLC0414

Json = Mapping[str, Any]
Match = Mapping[str, Any]
"""A match as it stands between hands, in the JSON profile of events."""
Kind = Literal["show", "throw", "call", "pull", "look"]


class RuleError(StateError):
    """A move that the rules do not allow.

    Attributes:
        rule: ID of the requirement that it breaks.
    """

    def __init__(self, rule: str, message: str) -> None:
        super().__init__("illegal_move", message)
        self.rule = rule


class Move(NamedTuple):
    """What a seat does. `cards` of a show, throw or pull; `call` and its amount of a call."""

    seat: int
    kind: Kind
    cards: tuple[Card, ...] = ()
    call: str | None = None
    amount: int | None = None


class Choice(NamedTuple):
    """A legal move, or, for a call with an amount, all that differ in it alone."""

    kind: Kind
    cards: tuple[Card, ...] = ()
    call: str | None = None
    low: int | None = None
    high: int | None = None
    """Amounts from `low` to `high`, both allowed; None if the call has none."""

    def move(self, seat: int, amount: int | None = None) -> Move:
        """The move of a seat; of several amounts the lowest, unless one is given."""
        return Move(seat, self.kind, self.cards, self.call, self.low if amount is None else amount)


class Draw(NamedTuple):
    """Due: everyone draws, this seat first."""

    first: int


@dataclass(frozen=True)
class Serve:
    """Due: the service of a round of discards, which the dealing procedure knows how to make."""


class Declare(NamedTuple):
    """Due: it is said which seats have something (`play.declared`)."""

    what: str
    seats: tuple[int, ...]


class Show(NamedTuple):
    """Due: these cards are laid open, by seat."""

    cards: Mapping[int, tuple[Card, ...]]


class Close(NamedTuple):
    """Due: the play is over. The result has `first`, `match`, `score` and `winner`."""

    result: Json


Due = Draw | Serve | Declare | Show | Close


@dataclass(frozen=True)
class Deal:
    """What a hand begins with."""

    hand: int
    """Number of the hand within its table."""
    seats: int
    first: int
    hands: tuple[tuple[Card, ...], ...]
    """By seat, in the order received."""
    stock: int
    """How many cards can be drawn."""
    turned: Card | None
    """The card that makes trumps, if the game has one."""
    trumps: Mapping[int, str]
    """Trump suits declared by seat, if the game has them."""


class Play(ABC):
    """A hand being played. Exactly one of these holds: seats are on turn, or something is due."""

    throws_together: ClassVar[bool] = False
    """Whether one event may hold discards of several seats. Spec: PLAY-3."""

    @property
    @abstractmethod
    def turn(self) -> tuple[int, ...]:
        """The seats whose move is awaited, ascending; empty while something is due. Spec: PLAY-6.

        Others may have choices too (a pull in Kozel, a look in Azi), but nobody waits for them.
        """

    @property
    @abstractmethod
    def due(self) -> Due | None:
        """What the rules make due now. Spec: PLAY-4."""

    @abstractmethod
    def choices(self, seat: int) -> tuple[Choice, ...]:
        """Every legal move of a seat of the table, each once, in a fixed order."""

    @abstractmethod
    def apply(self, move: Move) -> Self:
        """The play after a seat's move.

        Raises:
            RuleError: The move is not legal now. Spec: PLAY-3.
        """

    @abstractmethod
    def done(self, due: Due, drawn: Sequence[tuple[int, Card]] = ()) -> Self:
        """The play after what was due (or, for a service, a part of it) has happened.

        Args:
            due: What `due` said.
            drawn: For `Draw` and `Serve`: seat and card, in the order of service.

        Nobody asks what comes after a `Close`.
        """


class Rules(ABC):
    """The rules of a game: options, the match, and how a hand's play begins."""

    options: ClassVar[Options]
    """Play options: they are in the ruleset of a table with a referee, and nowhere else."""

    @abstractmethod
    def fresh(self, rules: Mapping[str, Any], seats: int) -> Match:
        """A match that begins. Spec: PLAY-2."""

    def out(self, match: Match) -> frozenset[int]:
        """Seats that do not take part in the next hand."""
        return frozenset()

    @abstractmethod
    def start(self, rules: Mapping[str, Any], match: Match, deal: Deal) -> Play:
        """The play right after the deal (and the exchange of sixes).

        Args:
            rules: The whole ruleset, play options included.
            match: The match before the hand.
            deal: The cards.
        """
