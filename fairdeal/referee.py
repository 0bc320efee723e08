"""The referee: follows a hand's events with every card known, and says what is legal and due.

Spec: play.md. The rules are in `games.rules`; this translates between them and the log, where
cards have places and moves are events.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from fairdeal.cards import Card
from fairdeal.codecs import Place
from fairdeal.encoding import same_json
from fairdeal.errors import StateError
from fairdeal.events import (
    CardsDiscarded,
    CardsDrawn,
    CardsLooked,
    CardsReturned,
    CardsShown,
    Discards,
    HandAborted,
    HandClosed,
    HandEvent,
    PlayCalled,
    PlayDeclared,
)
from fairdeal.games.rules.base import (
    Choice,
    Close,
    Declare,
    Draw,
    Move,
    Play,
    RuleError,
    Serve,
    Show,
)
from fairdeal.values import changed

CardAt = Callable[[Place], Card]


@dataclass(frozen=True)
class Referee:
    """A hand's play as it stands."""

    play: Play
    seats: int
    is_pull: bool = False
    """The trick has gone back; the seat that pulls shows its cards next."""
    thrown: Mapping[int, int] = field(default_factory=dict)
    """How many discards each seat has made."""

    def follow(self, event: HandEvent, card_at: CardAt, discards: Discards) -> Referee:
        """The play after this event of the hand.

        Args:
            event: Any event after the one that began the play.
            card_at: Which card lies at a place.
            discards: The hand's discards, at least up to this event.

        Raises:
            RuleError: A move is not legal. Spec: PLAY-3.
            StateError: `not_due`, `wrong_event`: not what the rules make due. Spec: PLAY-4, PLAY-6.
        """
        if self.is_pull and not isinstance(event, (CardsShown, HandAborted)):
            raise RuleError("PLAY-3", "the seat that pulls shows its cards at once")
        match event:
            case CardsShown():
                return self._shown(event)
            case CardsDiscarded():
                return self._discarded(event, card_at, discards)
            case CardsReturned():
                if not self._may_pull():
                    raise RuleError("PLAY-3", "no seat may pull a trick now")
                return changed(self, is_pull=True)
            case CardsLooked():
                return self._move(Move(event.seat, "look"))
            case PlayCalled():
                return self._move(Move(event.seat, "call", (), event.call, event.amount))
            case PlayDeclared():
                due = self.play.due
                if due != Declare(event.what, event.seats):
                    raise StateError("wrong_event", "this is not what there is to declare")
                return changed(self, play=self.play.done(Declare(event.what, event.seats)))
            case CardsDrawn():
                return self._drawn(event, card_at)
            case HandClosed():
                due = self.play.due
                if not isinstance(due, Close):
                    raise StateError("wrong_phase", "the hand is not played to its end")
                if not same_json(due.result, event.result):
                    raise StateError("wrong_event", "the result is another one")
            case HandAborted():
                if event.reason == "turn_timeout" and event.missing != self.turn:
                    raise StateError("wrong_event", "`missing` names the seats whose turn it is")
                if event.reason == "idle" and self.turn:
                    raise StateError("wrong_phase", "a seat is on turn, so its time counts")
            case _:
                pass  # a new stock: the play waits for its cards
        return self

    @property
    def turn(self) -> tuple[int, ...]:
        """The seats whose move is awaited. Spec: PLAY-6."""
        return () if self.is_pull else self.play.turn

    def choices(self, seat: int) -> tuple[Choice, ...]:
        """Every legal move of a seat."""
        return self.play.choices(seat)

    def _may_pull(self) -> bool:
        return any(
            choice.kind == "pull" for seat in range(self.seats) for choice in self.choices(seat)
        )

    def _move(self, move: Move) -> Referee:
        return changed(self, play=self.play.apply(move), is_pull=False)

    def _shown(self, event: CardsShown) -> Referee:
        """A lead, a beat, a pull, a card of a trick; or the showing at the count."""
        due = self.play.due
        if isinstance(due, Show):
            by_seat: dict[int | None, list[Card]] = {}
            for shown in event.shown:
                by_seat.setdefault(shown.seat, []).append(shown.card)
            order = [
                (seat, shown.place) for shown in event.shown if (seat := shown.seat) is not None
            ]
            stated = {seat: sorted(cards) for seat, cards in by_seat.items()}
            if order != sorted(order) or stated != {s: sorted(c) for s, c in due.cards.items()}:
                raise StateError("wrong_event", "the count shows these seats' cards, in order")
            return changed(self, play=self.play.done(due))
        seats = {shown.seat for shown in event.shown}
        seat = event.shown[0].seat
        if len(seats) != 1 or seat is None:
            raise RuleError("PLAY-3", "one seat moves at a time")
        cards = tuple([shown.card for shown in event.shown])
        return self._move(Move(seat, "pull" if self.is_pull else "show", cards))

    def _discarded(self, event: CardsDiscarded, card_at: CardAt, discards: Discards) -> Referee:
        """Several seats' discards in one event are moves in the order of the turn."""
        if len(event.discards) > 1 and not self.play.throws_together:
            raise RuleError("PLAY-3", "each seat discards in an event of its own")
        after, left = self, sorted(event.discards)
        while left:
            seat = next((seat for seat in left if seat in after.play.turn), left[0])
            left.remove(seat)
            k = after.thrown.get(seat, 0)
            cards = tuple([card_at(place) for place in discards[seat][k]])
            thrown = {**after.thrown, seat: k + 1}
            after = changed(after._move(Move(seat, "throw", cards)), thrown=thrown)
        return after

    def _drawn(self, event: CardsDrawn, card_at: CardAt) -> Referee:
        due = self.play.due
        first = event.draws[0][0]
        if not isinstance(due, Serve) and due != Draw(first):
            raise StateError("not_due", "these cards are not due to be drawn")
        drawn = [(seat, card_at(place)) for seat, place in event.draws]
        return changed(self, play=self.play.done(due, drawn))
