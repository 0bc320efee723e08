"""Tables with a referee: whose turn it is, what a seat may do, and what follows by itself.

Spec: play.md. The rules and the referee are the core's; here a request becomes a move, is judged
before anything of it is logged, and draws in what it makes due.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from fairdeal.cards import Card
from fairdeal.codecs import Place
from fairdeal.dealing import Dealing
from fairdeal.games.rules.base import Choice, Kind, Move, RuleError
from fairdeal.hand import Hand, Phase
from fairdeal.referee import Referee
from fairdeal_api import board, views
from fairdeal_api.problems import Problem
from fairdeal_api.schemas import (
    Action,
    CallOut,
    Discard,
    Draw,
    Look,
    OpenSeeds,
    Pull,
    Return,
    Show,
)

if TYPE_CHECKING:
    from fairdeal_api.draft import Draft

Json = dict[str, Any]
Act = Callable[["Draft", Action], Json]

_TYPES: Final[dict[Kind, str]] = {
    "show": "show",
    "throw": "discard",
    "pull": "pull",
    "call": "call",
    "look": "look",
}
_KINDS: Final[dict[type, Kind]] = {Discard: "throw", Show: "show", Pull: "pull"}
_MOVES: Final = ("cards.shown", "cards.discarded", "cards.looked", "play.called")


# --- what is shown ------------------------------------------------------------------------------


def referee_of(hand: Hand, dealing: Dealing | None) -> Referee | None:
    """The referee of a hand in which seats can move, else None."""
    if dealing is None or hand.phase is not Phase.PLAYING or dealing.hand.number != hand.number:
        return None
    return dealing.referee


def turn(hand: Hand, dealing: Dealing | None) -> tuple[int, ...]:
    """The seats whose move is awaited. Spec: PLAY-6."""
    referee = referee_of(hand, dealing)
    return referee.turn if referee is not None else ()


def moves(hand: Hand, dealing: Dealing | None, seat: int) -> list[Json]:
    """Every legal move of a seat, each ready to be sent as an action.

    For whoever may see the seat's cards; of a blind seat they name places only. Spec: AZI-3.
    """
    referee = referee_of(hand, dealing)
    if referee is None or dealing is None:
        return []
    held = {dealing.card(place): place for place in dealing.holding(seat)}
    named = views.may_see(hand, seat)
    return [_move(seat, choice, held, named=named) for choice in referee.choices(seat)]


def _move(seat: int, choice: Choice, held: dict[Card, Place], *, named: bool) -> Json:
    value: Json = {"type": _TYPES[choice.kind], "seat": seat}
    if choice.call is not None:
        value["call"] = choice.call
    if choice.low is not None:
        value |= {"least": choice.low, "most": choice.high}
    if choice.cards:
        value["cards"] = [list(held[card]) for card in choice.cards]
        if named:
            value["names"] = list(choice.cards)
    return value


def status(hand: Hand, dealing: Dealing | None) -> Json:
    """What everybody may know of the play, in every answer about a hand with a referee."""
    referee = referee_of(hand, dealing)
    return {
        "turn": list(turn(hand, dealing)),
        "play": board.of(referee.play) if referee is not None else None,
        "result": None if hand.result is None else dict(hand.result),
    }


def shown_hand(hand: Hand, dealing: Dealing | None) -> Json:
    """What a hand's public state has besides, at a table with a referee."""
    match = None if hand.match is None else dict(hand.match)
    return {"match": match, **status(hand, dealing)}


# --- moves --------------------------------------------------------------------------------------


class Judge:
    """Applies the actions of one request at a table with a referee.

    Nothing of a refused request is logged, so that it must not tell what only the log may tell:
    once something has followed by itself (cards, a declaration), the request is at its end. Else
    one could try what comes of a move, take it back, and make another.
    """

    def __init__(self, act: Act) -> None:
        """Nothing has happened yet.

        Args:
            act: Makes an action's events.
        """
        self._act = act
        self._followed = False
        self._looked: set[int] = set()

    def __call__(self, draft: Draft, action: Action) -> Json:
        """One action, and what it makes due. Spec: PLAY-3, PLAY-4, PLAY-7."""
        if isinstance(action, Draw | Return):
            raise Problem("action_not_allowed")  # they follow by themselves
        if isinstance(action, OpenSeeds):
            return self._act(draft, action)
        if self._followed:
            raise Problem("wrong_phase")
        draft.expect_playing()
        if action.seat >= draft.hand.table.seats:
            raise Problem("seat_unknown")
        if action.seat in self._looked and not isinstance(action, CallOut):
            raise Problem("wrong_phase")  # its cards are not in anybody's hands yet
        try:
            self._judge(draft, action)
            result = self._act(draft, action)
            draft.apply_due()
        except RuleError as error:
            raise _illegal(draft, action.seat, error) from None
        if isinstance(action, Look):
            self._looked.add(action.seat)
        self._followed = draft.events[-1].TYPE not in _MOVES
        return result

    def _judge(self, draft: Draft, action: Discard | Show | Pull | CallOut | Look) -> None:
        """Ask the referee before the dealing procedure, which names no rule. Spec: PLAY-7."""
        dealing = draft.secrets
        if dealing.referee is None:
            raise Problem("unavailable")
        dealing.referee.play.apply(_read(dealing, action))


def _read(dealing: Dealing, action: Discard | Show | Pull | CallOut | Look) -> Move:
    """An action as the rules see it."""
    match action:
        case CallOut():
            return Move(action.seat, "call", (), action.call, action.amount)
        case Look():
            return Move(action.seat, "look")
        case _:
            kind = _KINDS[type(action)]
    places = [Place(*card) for card in action.cards]
    if not set(places) <= set(dealing.holding(action.seat)):
        raise Problem("not_in_holding")
    return Move(action.seat, kind, tuple([dealing.card(place) for place in places]))


def _illegal(draft: Draft, seat: int, error: RuleError) -> Problem:
    """The refusal. Who acts for a seat may see its cards: that was checked. Spec: PLAY-7.

    The legal moves are those at the table as it is, without what this request would have done.
    """
    hand = draft.slot.table.hand
    legal = moves(hand, draft.slot.dealing, seat) if hand is not None else []
    return Problem("illegal_move", context={"rule": error.rule, "legal": legal})


def answer(draft: Draft) -> Json:
    """What the answer to a move holds besides."""
    return status(draft.hand, draft.dealing)
