"""Players that are programs: for tests under load, for vectors, for a game in the terminal.

A bot picks one of the choices that the rules list, so it cannot move illegally, and it knows what
its seat can see and nothing else. The greedy one is no master: its hands look like hands.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from random import Random
from typing import Final, NamedTuple

from fairdeal.cards import FRENCH_RANKS, Card, rank_of, suit_of
from fairdeal.games.rules import kozel, mus, svoi
from fairdeal.games.rules.azi import AziPlay, best
from fairdeal.games.rules.base import Choice, Move, Play
from fairdeal.games.rules.kozel import KozelPlay
from fairdeal.games.rules.mus import MusPlay
from fairdeal.games.rules.svoi import SvoiPlay

Bot = Callable[[Play, int], Move]
"""What a seat that has choices does."""
Choices = Sequence[Choice]

WORTH: Final = 4
"""Card points for which Kozel's bot beats."""


class Sight(NamedTuple):
    """What a seat sees of a hand being played."""

    game: str
    hand: tuple[Card, ...] = ()
    trump: str = ""
    table: tuple[Card, ...] = ()
    """The cards to beat."""
    worth: int = 0
    """Card points that lie open and would go to the other team (Kozel)."""
    lance: str = ""
    """What is being bet on (Mus)."""


def random_bot(rng: Random) -> Bot:
    """Any choice; of several amounts half of the time the lowest.

    In Svoi Kozyri, where one may always take, its hands often run to the limit of moves.
    """

    def choose(play: Play, seat: int) -> Move:
        choice = rng.choice(play.choices(seat))
        if choice.low is None or choice.high is None or rng.random() < 0.5:
            return choice.move(seat)
        return choice.move(seat, rng.randint(choice.low, choice.high))

    return choose


def greedy_bot(see: Callable[[Play, int], Sight] | None = None) -> Bot:
    """The choice that looks best now; `see` says what a seat sees (`sight_of` by default)."""

    def choose(play: Play, seat: int) -> Move:
        sight = (see or sight_of)(play, seat)
        return greedy(play.choices(seat), sight).move(seat)

    return choose


def greedy(choices: Choices, sight: Sight) -> Choice:
    """The choice that looks best now, its amount being the lowest."""
    return _GREEDY[sight.game](choices, sight)


# --- what a seat sees -----------------------------------------------------------------------------


def sight_of(play: Play, seat: int) -> Sight:
    """What a seat sees of a play in memory, which knows every card."""
    if isinstance(play, KozelPlay):
        return _sight_of_kozel(play, seat)
    if isinstance(play, MusPlay):
        return Sight("mus", play.hands[seat], lance=play.lance if play.stage == "bet" else "")
    if isinstance(play, AziPlay):
        unseen = play.rules["blind"] and seat not in play.looked
        table: tuple[Card, ...] = ()
        if play.trick:
            winner = best(play.trick, play.trump, six_on_stage=play.six_on_stage)
            table = (dict(play.trick)[winner],)
        return Sight("azi", () if unseen else play.hands[seat], play.trump, table)
    if isinstance(play, SvoiPlay):
        return Sight("svoi", tuple(play.holdings[seat]), play.trumps[seat], play.pile[-1:])
    raise TypeError("no bot knows this game")


def _sight_of_kozel(play: KozelPlay, seat: int) -> Sight:
    trick, hand = play.trick, play.hands[seat]
    if trick.opener is None:
        return Sight("kozel", hand, play.trump)
    table = trick.laid[(trick.taker - trick.opener) % kozel.SEATS]
    down = {card for _, cards in trick.thrown for card in cards}
    laid = [card for cards in trick.laid for card in cards if card not in down]
    theirs = trick.taker % kozel.TEAMS != seat % kozel.TEAMS
    return Sight("kozel", hand, play.trump, table, kozel.points_of(laid) if theirs else 0)


# --- the games ------------------------------------------------------------------------------------


def _kozel(choices: Choices, sight: Sight) -> Choice:
    """Four of a suit come in; leads are long; beats are for points; what is thrown is worthless."""

    def cost(choice: Choice) -> tuple[int, int]:
        weights = [kozel.RANKS.index(rank_of(card)) for card in choice.cards]
        trumps = sum([suit_of(card) == sight.trump for card in choice.cards])
        return kozel.points_of(choice.cards), sum(weights) + len(kozel.RANKS) * trumps

    pulls = [choice for choice in choices if choice.kind == "pull"]
    if pulls:
        return pulls[0]
    if not sight.table:
        return max(choices, key=lambda choice: (len(choice.cards), cost(choice)[1]))
    led = next((suit_of(card) for card in sight.table if suit_of(card) != sight.trump), sight.trump)
    bar = kozel.strengths(sight.table, led, sight.trump) or ()
    good = [
        choice
        for choice in choices
        if choice.kind == "show" and kozel.beats(choice.cards, bar, led, sight.trump)
    ]
    rest = [choice for choice in choices if choice not in good]
    if good:
        cheap = min(good, key=lambda choice: cost(choice)[1])
        if not rest or sight.worth + kozel.points_of(cheap.cards) >= WORTH:
            return cheap
    return min(rest, key=cost)


def _mus(choices: Choices, sight: Sight) -> Choice:
    """Kings and aces are kept; strong hands cut, bet and accept, others want mus and pass."""
    calls = {choice.call: choice for choice in choices}
    if choices[0].kind == "throw":
        low = [card for card in sight.hand if mus.rank(card, 8) not in {1, 12}] or sight.hand[:1]
        return next(choice for choice in choices if set(choice.cards) == set(low))
    strength = _strength_for_mus(sight.hand, sight.lance)
    if "mus" in calls:
        return calls["no_mus" if strength > 1 else "mus"]
    if "paso" in calls:
        return calls["envido" if strength else "paso"]
    if "raise" in calls and strength > 1 and (calls["raise"].high or 0) > 30:
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


def _azi(choices: Choices, sight: Sight) -> Choice:
    """It looks first; weak hands fold; the highest card leads, the lowest that wins follows."""
    if choices[-1].kind == "look" and not sight.hand:
        return choices[-1]

    def weight(card: Card) -> int:
        return _weight(card, sight.trump)

    if choices[0].kind == "throw":
        return min(choices, key=lambda choice: weight(choice.cards[0]))
    if choices[0].kind == "show":
        shows = sorted(choices, key=lambda choice: weight(choice.cards[0]))
        if not sight.table:
            return shows[-1]
        (bar,) = sight.table
        return next((c for c in shows if svoi.beats(c.cards[0], bar, sight.trump)), shows[0])
    strength = sum([weight(card) // 4 for card in sight.hand])
    wishes = ["bet", "buy_in", "call", "all_in", "check"]
    if strength >= 8:
        wishes.insert(0, "raise")
    elif strength < 4:
        wishes = ["check", "fold", "stay_out", *wishes]
    calls = {choice.call: choice for choice in choices}
    return calls[next(wish for wish in wishes if wish in calls)]


def _svoi(choices: Choices, sight: Sight) -> Choice:
    """The lowest card that beats, then the lowest on top; it takes when it must."""
    shows = [choice for choice in choices if choice.kind == "show"]
    if not shows:
        return choices[-1]
    return min(shows, key=lambda choice: [_weight(card, sight.trump) for card in choice.cards])


def _weight(card: Card, trump: str) -> int:
    """How high a card is, trumps above all."""
    ranks = len(FRENCH_RANKS)
    return FRENCH_RANKS.index(rank_of(card)) + (ranks if suit_of(card) == trump else 0)


_GREEDY: Final = {"kozel": _kozel, "mus": _mus, "azi": _azi, "svoi": _svoi}
