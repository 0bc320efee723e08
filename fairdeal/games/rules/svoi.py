"""Svoi Kozyri: the rules of play. Two seats, one pile, trumps for each. Spec: play-svoi.md."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final, Literal, NamedTuple

from fairdeal.cards import FRENCH_RANKS, Card, french_deck, in_canonical_order, rank_of, suit_of
from fairdeal.games.rules.base import (
    Choice,
    Close,
    Deal,
    Due,
    Match,
    Move,
    Options,
    Play,
    RuleError,
    Rules,
)
from fairdeal.values import changed

MOVES: Final = 1000
"""A hand with so many moves is a draw. Spec: SVO-13."""

Reason = Literal["out", "last_card", "repetition", "limit"]
Holding = frozenset[Card]

_RANKS: Final = {rank: n for n, rank in enumerate(FRENCH_RANKS)}


def beats(card: Card, top: Card, trump: str) -> bool:
    """Whether a card beats another to a seat with this trump suit. Spec: SVO-7."""
    if suit_of(card) == suit_of(top):
        return _RANKS[rank_of(card)] > _RANKS[rank_of(top)]
    return suit_of(card) == trump


def taken(pile: Sequence[Card], trump: str) -> int:
    """How many cards a seat with this trump suit takes from the top. Spec: SVO-9."""
    top = pile[-1]
    if suit_of(top) != trump:
        return min(3, len(pile))
    return len(pile) if rank_of(top) == "A" else min(5, len(pile))


class Position(NamedTuple):
    """What must be the same for a position to be repeated. Spec: SVO-12."""

    turn: int
    holdings: tuple[Holding, Holding]
    pile: tuple[Card, ...]


class End(NamedTuple):
    """Why the play is over, and who has won. Spec: SVO-11..13."""

    reason: Reason
    winner: int | None


@dataclass(frozen=True)
class SvoiPlay(Play):
    """A hand being played."""

    first: int
    match: Match
    trumps: tuple[str, str]
    strict: bool
    """Only a seat that cannot beat takes. Spec: SVO-10."""
    repetition: int
    """How often a position is there before the hand is a draw; 0: as often as it likes."""
    to_move: int
    holdings: tuple[Holding, Holding]
    pile: tuple[Card, ...] = ()
    """The last card is on top."""
    moves: int = 0
    seen: Mapping[Position, int] = field(default_factory=dict)
    """How often each position was there; empty if nobody counts."""
    end: End | None = None

    @property
    def turn(self) -> tuple[int, ...]:
        """The one seat whose move it is. Spec: SVO-4."""
        return () if self.end else (self.to_move,)

    @property
    def due(self) -> Close | None:
        """The end of the hand, once it is over. Spec: SVO-11..14."""
        return Close(self._result(self.end)) if self.end else None

    def choices(self, seat: int) -> tuple[Choice, ...]:
        """Leads; or beats, by the beating card, then the take. Cards in canonical order."""
        if seat not in self.turn:
            return ()
        cards = in_canonical_order(self.holdings[seat], french_deck())
        if not self.pile:
            return tuple([Choice("show", (card,)) for card in cards])
        good = [card for card in cards if self._beats(seat, card)]
        shows = (
            [Choice("show", (card, other)) for card in good for other in cards if other != card]
            if len(cards) > 1
            else [Choice("show", (card,)) for card in good]
        )
        if good and self.strict:
            return tuple(shows)
        count = taken(self.pile, self.trumps[seat])
        return (*shows, Choice("call", call="take", low=count, high=count))

    def apply(self, move: Move) -> SvoiPlay:
        """The play after a lead, a beat or a take. Spec: SVO-4..13."""
        if self.end:
            raise RuleError("PLAY-3", "the play is over")
        if move.seat != self.to_move:
            raise RuleError("SVO-4", "it is the other seat's turn")
        if move.kind == "show" and move.call is None and move.amount is None:
            return self._show(move.seat, move.cards)
        if move.kind == "call" and move.call == "take" and not move.cards:
            return self._take(move.seat, move.amount)
        raise RuleError("SVO-4", "a seat shows cards or takes")

    def done(self, due: Due, drawn: Sequence[tuple[int, Card]] = ()) -> SvoiPlay:
        """Only the end is ever due, and nothing follows it."""
        if due != self.due or drawn:
            raise RuleError("PLAY-4", "this is not due")
        return self

    def _beats(self, seat: int, card: Card) -> bool:
        return beats(card, self.pile[-1], self.trumps[seat])

    def _show(self, seat: int, cards: tuple[Card, ...]) -> SvoiPlay:
        holding = self.holdings[seat]
        if not holding.issuperset(cards) or len(set(cards)) != len(cards):
            raise RuleError("SVO-5", "a card shown is in the seat's holding, and shown once")
        if not self.pile:
            if len(cards) != 1:
                raise RuleError("SVO-6", "a lead is one card")
        elif len(cards) != min(2, len(holding)):
            raise RuleError("SVO-8", "a card that beats, and one more if the seat has more")
        elif not self._beats(seat, cards[0]):
            raise RuleError("SVO-8", "the first card shown beats the top of the pile")
        return self._after(holding.difference(cards), (*self.pile, *cards))

    def _take(self, seat: int, amount: int | None) -> SvoiPlay:
        if not self.pile:
            raise RuleError("SVO-6", "there is nothing to take: the seat leads")
        holding = self.holdings[seat]
        if self.strict and any(self._beats(seat, card) for card in holding):
            raise RuleError("SVO-10", "a seat that can beat does not take")
        count = taken(self.pile, self.trumps[seat])
        if type(amount) is not int or amount != count:
            raise RuleError("SVO-9", "the amount is the number of cards that the top asks for")
        left = len(self.pile) - count
        return self._after(holding.union(self.pile[left:]), self.pile[:left])

    def _after(self, holding: Holding, pile: tuple[Card, ...]) -> SvoiPlay:
        """The play after a legal move of the seat on turn."""
        seat, other = self.to_move, 1 - self.to_move
        theirs = self.holdings[other]
        holdings = (holding, theirs) if seat == 0 else (theirs, holding)
        after = changed(
            self, to_move=other, holdings=holdings, pile=pile, moves=self.moves + 1
        )._counted()
        end = after._end()
        return changed(after, end=end) if end else after

    def _counted(self) -> SvoiPlay:
        """The play with its position counted. Spec: SVO-12."""
        if not self.repetition:
            return self
        here = self._position()
        return changed(self, seen={**self.seen, here: self.seen.get(here, 0) + 1})

    def _position(self) -> Position:
        return Position(self.to_move, self.holdings, self.pile)

    def _end(self) -> End | None:
        """How the last move ended the play, if it did. Spec: SVO-11..13."""
        other, moved = self.to_move, 1 - self.to_move
        if not self.holdings[moved]:
            last = self.holdings[other]
            if len(last) == 1 and all(self._beats(other, card) for card in last):
                return End("last_card", None)
            return End("out", moved)
        if self.repetition and self.seen[self._position()] == self.repetition:
            return End("repetition", None)
        return End("limit", None) if self.moves == MOVES else None

    def _result(self, end: End) -> Mapping[str, Any]:
        """Spec: SVO-14."""
        wins, draws = list(self.match["wins"]), self.match["draws"]
        if end.winner is None:
            draws += 1
        else:
            wins[end.winner] += 1
        return {
            "first": self.first if end.winner is None else end.winner,
            "match": {"draws": draws, "wins": wins},
            "score": {
                "draw": end.winner is None,
                "left": [len(holding) for holding in self.holdings],
                "reason": end.reason,
                "winner": end.winner,
            },
            "winner": None,
        }


class SvoiRules(Rules):
    """Beat the top card or take; who is rid of all cards has won. Spec: SVO-4..14."""

    options: ClassVar[Options] = {
        "pick_up": ("voluntary", "strict"),
        "repetition": (0, 3),
    }

    def fresh(self, rules: Mapping[str, Any], seats: int) -> Match:
        """Nobody has won or drawn yet."""
        return {"draws": 0, "wins": [0, 0]}

    def start(self, rules: Mapping[str, Any], match: Match, deal: Deal) -> SvoiPlay:
        """`first` leads to an empty pile. Spec: SVO-4, SVO-6."""
        one, two = deal.hands
        return SvoiPlay(
            first=deal.first,
            match=match,
            trumps=(deal.trumps[0], deal.trumps[1]),
            strict=rules["pick_up"] == "strict",
            repetition=rules["repetition"],
            to_move=deal.first,
            holdings=(frozenset(one), frozenset(two)),
        )._counted()
