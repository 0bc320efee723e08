"""Players that are programs: each picks one of the moves that the service lists for its seat.

    own = api.get(f"{hand_url}/seats/{seat}/cards")
    play = api.get(hand_url)["play"]
    action = greedy(view_of("mus", own, play))
    api.post(f"{hand_url}/actions", {"actions": [action]})

They know what their seat can see: its own cards and what is public. None can move illegally, as it
makes up no moves. The greedy one is no master: its hands look like hands.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from random import Random
from typing import Any, Final, NamedTuple

from fairdeal.cards import FRENCH_RANKS, Card, rank_of, suit_of
from fairdeal.games.rules import kozel, mus, svoi
from fairdeal_api.board import is_beat, trump_of

Json = dict[str, Any]
Moves = Sequence[Json]

_WORTH: Final = 4
"""Card points for which a seat beats (Kozel)."""


class View(NamedTuple):
    """What a seat sees when it may move."""

    game: str
    seat: int
    hand: tuple[Card, ...]
    """The cards that it holds and knows."""
    moves: Moves
    """What it may do, as the service lists it: never empty when the seat is on turn."""
    play: Json
    """The `play` of the hand: what is public."""


Player = Callable[[View], Json]
"""Gives the action to send."""


def view_of(game: str, own: Json, play: Json | None) -> View:
    """What a seat sees.

    Args:
        game: Name of the game.
        own: The answer with the seat's cards.
        play: `play` of the hand's public state, or of the last answer.
    """
    held = tuple([Card(card["card"]) for card in own["cards"] if card["state"] == "held"])
    return View(game, own["seat"], held, own["moves"], play or {})


def action_of(move: Json, amount: int | None = None) -> Json:
    """A listed move as an action; of several amounts the least, unless one is given."""
    action: Json = {name: move[name] for name in ("type", "seat", "call", "cards") if name in move}
    if "least" in move:
        action["amount"] = move["least"] if amount is None else amount
    return action


def random_player(rng: Random) -> Player:
    """Any move; of several amounts half of the time the least.

    In Svoi Kozyri, where one may always take, its hands often run to the limit of moves.
    """

    def choose(view: View) -> Json:
        move = rng.choice(view.moves)
        if "least" not in move or rng.random() < 0.5:
            return action_of(move)
        return action_of(move, rng.randint(move["least"], move["most"]))

    return choose


def greedy(view: View) -> Json:
    """The move that looks best now; of several amounts the least."""
    return action_of(_GREEDY[view.game](view))


def _names(move: Json) -> list[Card]:
    return [Card(name) for name in move.get("names", ())]


def _calls(view: View) -> dict[str, Json]:
    return {move["call"]: move for move in view.moves if move["type"] == "call"}


# --- the games ----------------------------------------------------------------------------------


def _kozel(view: View) -> Json:
    """Four of a suit come in; leads are long; beats are for points; what is thrown is worthless."""
    trump = trump_of(view.play, view.seat)

    def cost(move: Json) -> tuple[int, int]:
        cards = _names(move)
        weights = [kozel.RANKS.index(rank_of(card)) for card in cards]
        trumps = sum([suit_of(card) == trump for card in cards])
        return kozel.points_of(cards), sum(weights) + len(kozel.RANKS) * trumps

    pulls = [move for move in view.moves if move["type"] == "pull"]
    if pulls:
        return pulls[0]
    best = view.play["best"]
    if not best:
        return max(view.moves, key=lambda move: (len(move["cards"]), cost(move)[1]))
    good = [
        move
        for move in view.moves
        if move["type"] == "show" and is_beat(move["names"], best, trump)
    ]
    rest = [move for move in view.moves if move not in good]
    if good:
        cheap = min(good, key=lambda move: cost(move)[1])
        if not rest or _at_stake(view) + kozel.points_of(_names(cheap)) >= _WORTH:
            return cheap
    return min(rest, key=cost)


def _at_stake(view: View) -> int:
    """Card points that lie open and would go to the other team."""
    if view.play["taker"] % kozel.TEAMS == view.seat % kozel.TEAMS:
        return 0
    laid = [Card(card) for laid in view.play["table"] for card in laid["cards"]]
    return kozel.points_of(laid)


def _mus(view: View) -> Json:
    """Kings and aces are kept; strong hands cut, bet and accept, others want mus and pass."""
    if view.moves[0]["type"] == "discard":
        low = [card for card in view.hand if mus.rank(card, 8) not in {1, 12}] or view.hand[:1]
        return next(move for move in view.moves if set(_names(move)) == set(low))
    calls = _calls(view)
    strength = _strength_for_mus(view.hand, view.play["lance"] or "")
    if "mus" in calls:
        return calls["no_mus" if strength > 1 else "mus"]
    if "paso" in calls:
        return calls["envido" if strength else "paso"]
    if "raise" in calls and strength > 1 and calls["raise"]["most"] > 30:
        return calls["raise"]
    needed = 1 if "raise" in calls else 2
    return calls["quiero" if strength >= needed else "no_quiero"]


def _strength_for_mus(hand: tuple[Card, ...], lance: str) -> int:
    """0 weak, 1 good, 2 strong; without a lance, how often a hand is good for one."""
    ranks = Counter([mus.rank(card, 8) for card in hand])
    total = mus.total(hand, 8)
    figure = mus.pares(hand, 8)
    by_lance = {
        "grande": max(ranks[12] - 1, 0),
        "chica": max(ranks[1] - 1, 0),
        "pares": figure[0] - 1 if figure else 0,
        "juego": 2 if total == 31 else int(total == 32),
        "punto": 2 if total == 30 else int(27 <= total < 30),
    }
    if lance:
        return min(by_lance[lance], 2)
    return sum([1 for lance, strength in by_lance.items() if strength and lance != "punto"])


def _azi(view: View) -> Json:
    """It looks first; weak hands fold; the highest card leads, the lowest that wins follows."""
    trump = trump_of(view.play, view.seat)
    if view.moves[-1]["type"] == "look":
        return view.moves[-1]
    if view.moves[0]["type"] == "call":
        strength = sum([_weight(card, trump) // 4 for card in view.hand])
        wishes = ["bet", "buy_in", "call", "all_in", "check"]
        if strength >= 8:
            wishes.insert(0, "raise")
        elif strength < 4:
            wishes = ["check", "fold", "stay_out", *wishes]
        calls = _calls(view)
        return calls[next(wish for wish in wishes if wish in calls)]
    ordered = sorted(view.moves, key=lambda move: _weight(_names(move)[0], trump))
    if ordered[0]["type"] == "discard":
        return ordered[0]
    laid = [Card(card) for laid in view.play["table"] for card in laid["cards"]]
    if not laid:
        return ordered[-1]
    bar = laid[0]
    for card in laid[1:]:
        bar = card if svoi.beats(card, bar, trump) else bar
    return next(
        (move for move in ordered if svoi.beats(_names(move)[0], bar, trump)),
        ordered[0],
    )


def _svoi(view: View) -> Json:
    """The lowest card that beats, then the lowest on top; it takes when it must."""
    trump = trump_of(view.play, view.seat)
    shows = [move for move in view.moves if move["type"] == "show"]
    if not shows:
        return view.moves[-1]
    return min(shows, key=lambda move: [_weight(card, trump) for card in _names(move)])


def _weight(card: Card, trump: str) -> int:
    """How high a card is, trumps above all."""
    ranks = len(FRENCH_RANKS)
    return FRENCH_RANKS.index(rank_of(card)) + (ranks if suit_of(card) == trump else 0)


_GREEDY: Final = {"kozel": _kozel, "mus": _mus, "azi": _azi, "svoi": _svoi}
