"""What everybody may know of a hand being played: for a table on a screen, without the rules.

A state of play knows every card. What is taken out of it here is public: cards that lie open, how
many lie face down, calls, and what follows from these alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from fairdeal.cards import Card, suit_of
from fairdeal.games.rules import kozel
from fairdeal.games.rules.azi import AziPlay
from fairdeal.games.rules.base import Play
from fairdeal.games.rules.kozel import SEATS, KozelPlay
from fairdeal.games.rules.mus import LANCES, Lance, MusPlay
from fairdeal.games.rules.svoi import SvoiPlay, taken

Json = dict[str, Any]


def of(play: Play) -> Json:
    """What everybody may know of a play."""
    match play:
        case KozelPlay():
            return _kozel(play)
        case MusPlay():
            return _mus(play)
        case AziPlay():
            return _azi(play)
        case SvoiPlay():
            return _svoi(play)
    return {}


def _laid(seat: int, cards: Iterable[Card], down: int = 0) -> Json:
    """What lies before a seat: cards that are open, and how many are not."""
    return {"seat": seat, "cards": list(cards), "down": down}


def _kozel(play: KozelPlay) -> Json:
    trick = play.trick
    thrown = {seat for seat, _ in trick.thrown}
    table = []
    best: list[Card] = []
    if trick.opener is not None:
        for step, cards in enumerate(trick.laid):
            seat = (trick.opener + step) % SEATS
            hidden = seat in thrown
            table.append(_laid(seat, () if hidden else cards, len(cards) if hidden else 0))
            if seat == trick.taker:
                best = list(cards)  # cards that beat lie open, KOZ-11
    return {
        "trump": play.trump,
        "leader": trick.leader,
        "opener": trick.opener,
        "pulled": trick.pulled,
        "table": table,
        "taker": trick.taker if table else None,
        "best": best,
        "tricks": list(play.tricks),
        # With discards face down nobody knows what the tricks are worth before the count.
        "points": None if play.terms.hidden else list(play.points),
    }


def _mus(play: MusPlay) -> Json:
    bet = play.bet
    return {
        "stage": play.stage,
        "mano": play.mano,
        "lance": play.lance if play.stage in ("declare", "bet") else None,
        "speakers": list(play.speakers) if play.stage == "bet" else [],
        "bet": None
        if bet is None
        else {
            "team": bet.team,
            "level": bet.level,
            "agreed": bet.agreed,
            "ordago": bet.ordago,
            "answer": list(bet.answer),
        },
        "declared": {"pares": _declared(play, "pares"), "juego": _declared(play, "juego")},
        "lances": [
            {"lance": over.lance, "end": over.end, "team": over.bettor, "level": over.level}
            for over in play.ended
        ],
        "score": list(play.score),
        "games": list(play.games),
    }


def _declared(play: MusPlay, what: Lance) -> list[int] | None:
    """The seats that have said they have it, also if nobody contests it; null until all have.

    Spec: MUS-14, MUS-15.
    """
    ahead = LANCES.index(what) - LANCES.index(play.lance)
    if ahead > 0 or (ahead == 0 and play.stage == "declare"):
        return None
    return [seat for seat, hand in enumerate(play.hands) if play.terms.strength(what, hand)]


def _azi(play: AziPlay) -> Json:
    return {
        "part": play.part,
        "trump": play.trump,
        "six_on_stage": play.six_on_stage,
        "bank": play.bank,
        "stacks": list(play.stacks),
        "contributions": list(play.contributions),
        "bids": list(play.bids),
        "players": sorted(play.players),
        "folded": sorted(play.folded),
        "short": sorted(play.short),
        "looked": sorted(play.looked),
        "leader": play.leader,
        "table": [_laid(seat, (card,)) for seat, card in play.trick],
        "tricks": list(play.tricks),
        "price": play.price,
        "bought": sorted(play.bought),
    }


def _svoi(play: SvoiPlay) -> Json:
    return {
        "trumps": {str(seat): suit for seat, suit in enumerate(play.trumps)},
        "pile": list(play.pile),
        "take": [taken(play.pile, trump) for trump in play.trumps] if play.pile else None,
        "moves": play.moves,
    }


def trump_of(board: Json, seat: int) -> str:
    """The suit that is trump to a seat; empty in a game without."""
    own: str = board.get("trumps", {}).get(str(seat), "")
    return own or str(board.get("trump", ""))


def lead_of(cards: Iterable[Card], trump: str) -> str:
    """The suit that best cards were laid in: the one that is no trump, if there is one."""
    return next((suit_of(card) for card in cards if suit_of(card) != trump), trump)


def is_beat(cards: Iterable[str], best: Iterable[str], trump: str) -> bool:
    """Kozel: whether cards beat as many that are the best. Spec: KOZ-12."""
    below = [Card(card) for card in best]
    led = lead_of(below, trump)
    bar = kozel.strengths(below, led, trump) or ()
    return kozel.beats([Card(card) for card in cards], bar, led, trump)
