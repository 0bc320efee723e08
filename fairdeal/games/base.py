"""What a game is to the dealing service: a deck, a procedure, a ruleset.

A game sees places, never cards: which cards they are is nobody's business until they are shown.
A new game is one new module that subclasses `Game`; nothing else changes.
"""

from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from fairdeal.cards import Card, Deck
from fairdeal.codecs import Place
from fairdeal.errors import FormatError, StateError
from fairdeal.values import changed

Value = str | int | bool


class Span(NamedTuple):
    """An option that is a number within bounds, both allowed."""

    default: int
    low: int
    high: int


Options = Mapping[str, tuple[Value, ...] | Span]
"""Values of each option, the default first."""


def has_value(values: tuple[Value, ...] | Span, value: Value) -> bool:
    """Whether an option has this value. 1 and true are equal in Python and not in JSON."""
    if isinstance(values, Span):
        return type(value) is int and values.low <= value <= values.high
    return any(value == other and type(value) is type(other) for other in values)


def values_of(values: tuple[Value, ...] | Span) -> str:
    """The values of an option, for people."""
    if isinstance(values, Span):
        return f"{values.low}..{values.high}"
    return ", ".join(map(str, values))


Ruleset = Mapping[str, Value]
Turned = tuple[tuple[int | None, int], ...]
"""Cards laid open with the deal: whose (None: the stock's), and the position."""


class Throw(NamedTuple):
    """A face-down discard: the seat's k-th of the hand, and how many cards."""

    seat: int
    k: int
    size: int


class Indicator(NamedTuple):
    """How a card of the stock is chosen to name trumps."""

    start: int
    """Deck position that index 0 stands for."""
    choices: int
    """How many places there are to draw from; 1 if nothing is drawn."""
    drawn: bool
    public: bool
    """Whether its place is public from the start."""


@dataclass(frozen=True)
class Layout:
    """Where the cards are, as far as everyone may know."""

    hand: int
    first: int
    received: tuple[tuple[Place, ...], ...]
    """By seat: places that came to it and were not played face up."""
    stock: tuple[Place, ...]
    """Top first."""
    thrown: tuple[int, ...]
    """By seat: how many discards it has made, which is the next k."""
    down: tuple[Throw, ...] = ()
    """Face-down discards that did not go back; their places are still among `received`."""
    heap: tuple[Throw, ...] = ()
    """Those of `down` that no reshuffle has taken."""
    locked: tuple[Throw, ...] = ()
    """Those of the round of discards that is under way or being served."""
    owed: tuple[int, ...] = ()
    """Seats that still get a card in this service, one entry a card, in order."""
    rounds: int = 0
    """Rounds of discards that were served."""
    shown: frozenset[Place] = frozenset()
    trick: tuple[tuple[int, Place], ...] = ()
    """Places shown since the deal or the last draw (where showing is playing)."""
    looked: frozenset[int] = frozenset()
    refereed: bool = False
    out: frozenset[int] = frozenset()
    """Seats that a referee has sit out."""
    fresh: bool = True
    """Nothing has happened since the deal."""

    def count(self, seat: int) -> int:
        """How many cards a seat holds."""
        held = len(self.received[seat])
        for owner, _, size in self.down:
            if owner == seat:
                held -= size
        return held

    def counts(self) -> tuple[int, ...]:
        """How many cards each seat holds."""
        held = [len(places) for places in self.received]
        for owner, _, size in self.down:
            held[owner] -= size
        return tuple(held)

    def take(self, seat: int, place: Place, **fields: object) -> Layout:
        """The layout in which this place has left a seat's holding, and these fields are others."""
        rest = tuple([other for other in self.received[seat] if other != place])
        return self.with_received(seat, rest, **fields)

    def with_received(self, seat: int, places: tuple[Place, ...], **fields: object) -> Layout:
        """The layout in which a seat has these places, and these fields are others."""
        received = (*self.received[:seat], places, *self.received[seat + 1 :])
        return changed(self, received=received, fresh=False, **fields)

    def serve(self, draws: tuple[tuple[int, Place], ...]) -> Layout:
        """The layout in which these cards have come to these seats from the top of the stock."""
        received = list(self.received)
        for seat, place in draws:
            received[seat] = (*received[seat], place)
        served = len(draws)
        return changed(
            self,
            received=tuple(received),
            owed=self.owed[served:],
            stock=self.stock[served:],
            fresh=False,
        )

    def throw(self, throws: tuple[Throw, ...]) -> Layout:
        """The layout in which these discards lie face down."""
        counts = list(self.thrown)
        for made in throws:
            counts[made.seat] += 1
        return changed(
            self,
            thrown=tuple(counts),
            down=self.down + throws,
            locked=self.locked + throws,
            heap=self.heap + throws,
            fresh=False,
        )


Positions = tuple[tuple[int, ...], ...]
"""Of the deck, by seat, in the order received."""


@functools.lru_cache(maxsize=256)
def _positions(seats: int, first: int, each: int) -> Positions:
    """What each seat receives. Spec: GAME-1."""
    return tuple(
        [tuple([seats * j + (seat - first) % seats for j in range(each)]) for seat in range(seats)]
    )


@functools.lru_cache(maxsize=256)
def _dealt(seats: int, first: int, each: int, cards: int) -> Layout:
    """The layout after the deal of any hand. Spec: GAME-1."""
    received = tuple(
        [
            tuple([Place(0, position) for position in positions])
            for positions in _positions(seats, first, each)
        ]
    )
    stock = tuple([Place(0, position) for position in range(seats * each, cards)])
    return Layout(0, first, received, stock, (0,) * seats)


class Game(ABC):
    """A dealing procedure and its ruleset. What the rules do not have is a StateError."""

    name: ClassVar[str]
    seats: ClassVar[tuple[int, ...]]
    """Numbers of seats allowed, the usual one first."""
    options: ClassVar[Mapping[str, tuple[Value, ...]]]
    """Values of each option, the default first."""
    can_reshuffle: ClassVar[bool] = False
    declares_trumps: ClassVar[bool] = False
    first_may_be_null: ClassVar[bool] = False
    """Whether the first seat may be drawn again after a hand that was closed."""
    advances: ClassVar[bool] = False
    """Whether the next hand's first seat is, by default, the next one."""
    gives: ClassVar[bool] = False
    """Whether cards may change hands openly right after the deal."""
    showing_plays: ClassVar[bool] = False
    """Whether a card that is shown leaves the holding."""

    def ruleset(self, chosen: Ruleset, *, play: Options | None = None) -> dict[str, Value]:
        """The whole ruleset for some chosen options. Spec: GAME-3, GAME-5."""
        options = {**self.options, **(play or {})}
        for option in chosen:
            if option not in options:
                raise FormatError("option_unknown", f"{self.name} has other options")
        rules = {option: values[0] for option, values in options.items()} | dict(chosen)
        self.check_ruleset(rules, play=play)
        return rules

    def check_ruleset(self, rules: Ruleset, *, play: Options | None = None) -> None:
        """Raise unless every option is spelled out with a value that it has.

        Args:
            rules: The whole ruleset.
            play: The options of play, where there is a referee. Spec: GAME-3, GAME-5.
        """
        options = {**self.options, **(play or {})}
        if rules.keys() != options.keys():
            raise FormatError("option_unknown", f"the options of {self.name} are others")
        if wrong := self.unfit(rules, play=play):
            words = values_of(options[wrong[0]])
            raise FormatError("option_value", f"{wrong[0]} is one of {words}")

    def unfit(self, chosen: Ruleset, *, play: Options | None = None) -> list[str]:
        """Which of these options, all of which the game has, have a value that it has not."""
        options = {**self.options, **(play or {})}
        return [name for name, value in chosen.items() if not has_value(options[name], value)]

    @abstractmethod
    def deck(self, rules: Ruleset) -> Deck:
        """The cards, in canonical order."""

    @abstractmethod
    def cards_each(self, rules: Ruleset) -> int:
        """How many cards each seat is dealt."""

    def indicator(self, rules: Ruleset) -> Indicator | None:
        """How an indicator is chosen, if the game has one."""
        return None

    def turned(self, rules: Ruleset, seats: int, first: int, indicator: int | None) -> Turned:
        """Which places `hand.dealt` shows, for the indicator's position if there is one."""
        return ()

    def positions(self, rules: Ruleset, seats: int, first: int) -> Positions:
        """What each seat receives of the deck. Spec: GAME-1."""
        return _positions(seats, first, self.cards_each(rules))

    def deal(
        self, rules: Ruleset, seats: int, first: int, hand: int, indicator: int | None
    ) -> Layout:
        """The layout after the deal. Spec: GAME-1.

        Args:
            rules: The whole ruleset.
            seats: Number of seats.
            first: Who receives the first card.
            hand: Number of the hand within its table.
            indicator: Position of the indicator if it is public, else None.
        """
        each = self.cards_each(rules)
        return changed(_dealt(seats, first, each, len(self.deck(rules))), hand=hand)

    def draw(self, rules: Ruleset, layout: Layout, first: int) -> Layout:
        """The layout in which a draw that starts with `first` is owed."""
        raise StateError("action_not_allowed", f"{self.name} has no draws of this kind")

    def discard(self, rules: Ruleset, layout: Layout, counts: Mapping[int, int]) -> Layout:
        """The layout after these face-down discards."""
        raise StateError("action_not_allowed", f"{self.name} has no discards")

    def served(self, layout: Layout) -> Layout:
        """The layout when a service has been completed."""
        return changed(layout, trick=(), locked=())

    def show(self, rules: Ruleset, layout: Layout, seat: int, place: Place) -> Layout:
        """The layout after a seat shows a card. Spec: HAND-11."""
        received = layout.received[seat]
        already = len(layout.shown.intersection(received))
        if place not in received or place in layout.shown or already >= layout.count(seat):
            raise StateError("not_in_holding", "this seat does not hold such a card")
        shown = layout.shown | {place}
        if not self.plays_by_showing(layout):
            return changed(layout, shown=shown, fresh=False)
        return layout.take(seat, place, shown=shown, trick=(*layout.trick, (seat, place)))

    def plays_by_showing(self, layout: Layout) -> bool:
        """Whether a card that is shown leaves the holding."""
        return self.showing_plays

    def give_back(self, rules: Ruleset, layout: Layout) -> Layout:
        """The layout after the trick went back to where it came from."""
        raise StateError("action_not_allowed", f"{self.name} returns no cards")

    def take(self, layout: Layout, seat: int, count: int) -> Layout:
        """The layout after a seat picked up played cards."""
        raise StateError("action_not_allowed", f"{self.name} has no pick-ups")

    def look(self, rules: Ruleset, layout: Layout, seat: int) -> Layout:
        """The layout after a seat looked at its cards."""
        raise StateError("action_not_allowed", "nobody plays blind at this table")

    def gift(
        self, rules: Ruleset, trumps: Mapping[int, str], source: int, card: Card
    ) -> int | None:
        """To whom a seat hands this card right after the deal, if the rules make it."""
        return None

    def pool(self, rules: Ruleset, layout: Layout) -> tuple[Throw, ...]:
        """The discards that a reshuffle takes."""
        raise StateError("action_not_allowed", f"{self.name} is not reshuffled")

    def check_trumps(self, rules: Ruleset, trumps: Mapping[int, str]) -> None:
        """Raise unless these declarations go together."""
        raise StateError("action_not_allowed", f"{self.name} has no declarations")

    def may_close(self, layout: Layout) -> bool:
        """Whether the hand can be closed now."""
        return True
