"""How the demo's players play: house rules that need no referee, made of public events only.

The protocol deals; who must play next and who took a trick is the players' affair. Seats and
operator all work it out from the same events, so they agree without talking to each other.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from fairdeal.cards import FRENCH_RANKS, Card, rank_of, suit_of
from fairdeal.codecs import Place
from fairdeal.events import CardsDiscarded, CardsDrawn, CardsShown, HandEvent
from fairdeal.hand import Hand, Phase
from fairdeal_api.client import HeldCard

Events = Sequence[HandEvent]
Play = tuple[int, Card | None]
"""Seat, and the card; None for one that was thrown face down."""
Trick = list[Play]

_SVOI_SHOWS: Final = 6
_AZI_TRICKS: Final = 3


@dataclass(frozen=True, slots=True)
class Due:
    """Whose turn it is: some seat's, in any order if there are several, or the operator's."""

    what: Literal["discard", "play", "show", "count", "draw", "close"]
    seats: tuple[int, ...] = ()
    taker: int = 0
    """For a draw: who takes the first card."""


def due(hand: Hand, events: Events) -> Due | None:
    """What the table is waiting for; None if it is not for a player's choice."""
    if hand.phase is not Phase.PLAYING:
        return None
    return _DUE[hand.table.game](hand, events)


def choose(due: Due, hand: Hand, events: Events, cards: Sequence[HeldCard]) -> list[Place]:
    """What a seat does with its turn: some of its cards, by taste and chance."""
    held = [card for card in cards if card.state == "held"]
    if due.what == "count":
        return [card.place for card in cards if card.state == "discarded"]
    if due.what == "show" and hand.table.game == "mus":
        return [card.place for card in held]
    if due.what == "discard":
        return [card.place for card in _some(held, 1 if hand.table.game == "azi" else 3)]
    trick = _open_trick(hand, events)
    beating = [card for card in held if not trick or _beats(card.card, trick, hand)]
    return [secrets.choice(beating or held).place]


def throws(hand: Hand, events: Events, held: Sequence[HeldCard], chosen: Sequence[Place]) -> bool:
    """Whether a card that was chosen for a trick is thrown face down, because it cannot take it."""
    trick = _open_trick(hand, events)
    if hand.table.game != "kozel" or not trick:
        return False
    return not any(card.place in chosen and _beats(card.card, trick, hand) for card in held)


def tricks(hand: Hand, events: Events) -> list[Trick]:
    """The tricks of a Kozel or Azi hand, the last one perhaps not complete."""
    plays: list[Play] = []
    for event in events:
        if isinstance(event, CardsShown):
            plays += [(shown.seat, shown.card) for shown in event.shown if shown.seat is not None]
        elif isinstance(event, CardsDiscarded) and hand.table.game == "kozel":
            plays += [(seat, None) for seat in event.discards]
    # What Kozel's seats show at the count is no trick.
    size, most = hand.table.seats, 9 if hand.table.game == "kozel" else _AZI_TRICKS
    return [plays[i : i + size] for i in range(0, min(len(plays), size * most), size)]


def taker(trick: Trick, hand: Hand) -> int:
    """Who takes a trick: the highest card of the suit led, or the highest trump."""
    best: Trick = []
    for play in trick:
        if not best or (play[1] is not None and _beats(play[1], best, hand)):
            best = [play]
    return best[0][0]


def trump(hand: Hand) -> str:
    """The suit that the deal has named."""
    if hand.dealt is None:
        raise ValueError("the hand is not dealt")
    return suit_of(hand.dealt.indicator or hand.dealt.shown[0].card)


def _beats(card: Card, trick: Trick, hand: Hand) -> bool:
    """Whether a card is higher than what lies on the table."""
    suit, trumps = suit_of(card), trump(hand)
    led = suit_of(trick[0][1]) if trick[0][1] else trumps
    on_table = [played for _, played in trick if played is not None]
    return all(
        _strength(card, suit, led, trumps) > _strength(other, suit_of(other), led, trumps)
        for other in on_table
    )


def _strength(card: Card, suit: str, led: str, trumps: str) -> tuple[int, int]:
    rank = FRENCH_RANKS.index(rank_of(card))
    return (2 if suit == trumps else 1 if suit == led else 0, rank)


def _open_trick(hand: Hand, events: Events) -> Trick:
    """What lies on the table; empty for the one who leads."""
    if hand.table.game not in ("kozel", "azi"):
        return []
    found = tricks(hand, events)
    return found[-1] if found and len(found[-1]) < hand.table.seats else []


def _some(cards: list[HeldCard], least: int) -> list[HeldCard]:
    """So many of these cards, by chance; of several perhaps one more."""
    count = least if least == 1 else least + secrets.randbelow(2)
    return secrets.SystemRandom().sample(cards, count)


def _next_in_trick(hand: Hand, events: Events) -> int:
    found = tricks(hand, events)
    first = hand.dealt.first if hand.dealt else 0
    if found and len(found[-1]) < hand.table.seats:
        return (found[-1][0][0] + len(found[-1])) % hand.table.seats
    return taker(found[-1], hand) if found else first


def _kozel(hand: Hand, events: Events) -> Due:
    """Tricks with a draw after each while there is a stock; then the count of what lies down."""
    layout, found = hand.playing, tricks(hand, events)
    complete = [trick for trick in found if len(trick) == hand.table.seats]
    draws = sum([isinstance(event, CardsDrawn) for event in events])
    if layout.stock and len(complete) > draws and complete[-1] is found[-1]:
        return Due("draw", taker=taker(complete[-1], hand))
    if any(layout.counts()):
        return Due("play", (_next_in_trick(hand, events),))
    left = tuple([seat for seat, places in enumerate(layout.received) if places])
    return Due("count", left[:1]) if left else Due("close")


def _mus(hand: Hand, events: Events) -> Due:  # noqa: ARG001 - one signature for all games
    """Mus, and mus again, until the stock has been shuffled anew once; then all show."""
    layout, seats = hand.playing, hand.table.seats
    in_turn = [(layout.first + step) % seats for step in range(seats)]
    if not hand.pools:
        return Due("discard", (in_turn[len(layout.locked)],))
    hidden = [seat for seat in in_turn if not _has_shown(hand, seat)]
    return Due("show", (hidden[0],)) if hidden else Due("close")


def _has_shown(hand: Hand, seat: int) -> bool:
    layout = hand.playing
    return any(place in layout.shown for place in layout.received[seat])


def _azi(hand: Hand, events: Events) -> Due:
    """Each throws one of four cards, then three tricks."""
    layout = hand.playing
    late = tuple([seat for seat, count in enumerate(layout.thrown) if not count])
    if late:
        return Due("discard", late)
    if any(layout.counts()):
        return Due("play", (_next_in_trick(hand, events),))
    return Due("close")


def _svoi(hand: Hand, events: Events) -> Due:
    """A few cards in turn, and an end: the whole game would be long."""
    shows = sum([isinstance(event, CardsShown) for event in events])
    first = hand.dealt.first if hand.dealt else 0
    return Due("show", ((first + shows) % 2,)) if shows < _SVOI_SHOWS else Due("close")


_DUE: Final[dict[str, Callable[[Hand, Events], Due]]] = {
    "kozel": _kozel,
    "mus": _mus,
    "azi": _azi,
    "svoi": _svoi,
}
