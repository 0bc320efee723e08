"""All games through the interface of their rules, by a dealer that knows nothing else of them.

The dealer keeps its own books of where each card is. Spec: PLAY-2..5, GAME-1..4.
"""

import re
from collections.abc import Iterator
from itertools import islice
from random import Random

import pytest

from fairdeal.cards import Card, rank_of, suit_of
from fairdeal.games import GAMES, game_named, rules_of
from fairdeal.games.base import Span
from fairdeal.games.rules.base import (
    Choice,
    Close,
    Deal,
    Declare,
    Draw,
    Move,
    Play,
    RuleError,
    Serve,
    Show,
)
from seeds.bots import Bot, Sight, greedy, greedy_bot, random_bot, sight_of

NAMES = ("azi", "kozel", "mus", "svoi")
MOST_STEPS = 3000
LARGEST = 2**53
SEATS = {"azi": (2, 3, 4, 5, 6), "kozel": (4,), "mus": (4,), "svoi": (2,)}


def any_value(rng: Random, values):
    if isinstance(values, Span):
        near = min(values.high, values.low + rng.randrange(200))
        return rng.choice((values.default, values.low, near))
    return rng.choice(values)


def ruleset(rng: Random, name: str, **fixed) -> dict:
    """A whole ruleset with a referee."""
    game = game_named(name)
    every = {**game.options, **rules_of(game).options}
    return {option: any_value(rng, every[option]) for option in sorted(every)} | fixed


def defaults(name: str, **fixed) -> dict:
    game = game_named(name)
    every = {**game.options, **rules_of(game).options}
    return {
        option: values.default if isinstance(values, Span) else values[0]
        for option, values in every.items()
    } | fixed


class Table:
    """A hand at a table, and where each card is."""

    def __init__(self, name: str, rng: Random, rules: dict, seats: int, match=None, **hand) -> None:
        self.name, self.rng, self.rules, self.seats = name, rng, rules, seats
        self.referee = rules_of(game_named(name))
        self.match = self.referee.fresh(rules, seats) if match is None else match
        self.out = self.referee.out(self.match)
        first = hand.get("first")
        self.first = rng.randrange(seats) if first is None else first
        game = game_named(name)
        order, each = list(game.deck(rules)), game.cards_each(rules)
        self.deck = frozenset(order)
        rng.shuffle(order)
        hands: list[list[Card]] = [[] for _ in range(seats)]
        for n in range(seats * each):
            hands[(self.first + n) % seats].append(order[n])
        self.stock, self.turned, self.trumps = order[seats * each :], None, {}
        getattr(self, f"_begin_{name}")(hands)
        self.holdings = [set(cards) for cards in hands]
        self.table: list[tuple[int, Card]] = []
        """Cards in the trick or on the pile, whose they were, the last on top."""
        self.down: list[tuple[int, Card]] = []
        """Those of them that lie face down."""
        self.gone: list[Card] = []
        self.heap: list[list[tuple[int, Card]]] = []
        """Discards of Mus, by round."""
        self.round: list[tuple[int, Card]] = []
        self.discards: dict[int, set[Card]] = {}
        number = hand.get("number", 1)
        self.deal = Deal(
            number,
            seats,
            self.first,
            tuple(map(tuple, hands)),
            len(self.stock),
            self.turned,
            self.trumps,
        )
        self.play: Play = self.referee.start(rules, self.match, self.deal)
        self.story: list = []
        self.reshuffles = 0

    def _begin_kozel(self, hands) -> None:
        """KOZ-1, KOZ-2."""
        index = {"interior": 1 + self.rng.randrange(18), "all": self.rng.randrange(20)}
        place = index.get(self.rules["indicator"], 10)
        self.turned = self.stock[place]
        if self.rules["indicator_place"] == "bottom":
            self.stock.append(self.stock.pop(place))

    def _begin_mus(self, hands) -> None:
        assert len(self.stock) == 24

    def _begin_azi(self, hands) -> None:
        """AZI-1."""
        last = self.rules["trump"] == "dealer_last"
        self.turned = hands[(self.first - 1) % self.seats][-1] if last else self.stock[0]

    def _begin_svoi(self, hands) -> None:
        """SVO-1..3."""
        suits = self.rng.sample("CDHS", 2)
        if not self.rules["distinct_trumps"] and self.rng.random() < 0.5:
            suits[1] = suits[0]
        self.trumps = dict(enumerate(suits))
        if self.rules["sixes"] == "exchange" and suits[0] != suits[1]:
            gifts = [
                (seat, card)
                for seat in (0, 1)
                for card in hands[seat]
                if rank_of(card) == "6" and suit_of(card) == suits[1 - seat]
            ]
            for seat, card in gifts:
                hands[seat].remove(card)
                hands[1 - seat].append(card)

    # What happens.

    def move(self, move: Move) -> None:
        self.play = self.play.apply(move)
        self.story.append(move)
        if move.kind == "pull":
            for seat, card in self.table:
                self.holdings[seat].add(card)
            self.table, self.down = [], []
        if move.cards:
            assert self.holdings[move.seat].issuperset(move.cards)
            self.holdings[move.seat].difference_update(move.cards)
            laid = [(move.seat, card) for card in move.cards]
            if move.kind != "throw" or self.name == "kozel":
                self.table += laid
                self.down += laid if move.kind == "throw" else []
            elif self.name == "mus":
                self.round += laid
            else:
                self.gone += move.cards
        if move.call == "take":
            assert move.amount
            for _ in range(move.amount):
                self.holdings[move.seat].add(self.table.pop()[1])

    def happen(self) -> None:
        """What is due."""
        due = self.play.due
        if isinstance(due, Draw):
            self._clear()
            room = 4 - len(self.holdings[0])
            served = [(due.first + n) % self.seats for n in range(self.seats)] * room
            self._done(due, self._draw(served))
        elif isinstance(due, Serve):
            self._serve(due)
        elif isinstance(due, Show):
            self._shown(due)
            self._done(due)
        else:
            assert isinstance(due, Declare)
            assert list(due.seats) == sorted(set(due.seats))
            assert set(due.seats) <= set(range(self.seats))
            self._done(due)

    def _done(self, due, drawn=()) -> None:
        self.play = self.play.done(due, drawn)
        self.story.append((due, drawn))

    def _clear(self) -> None:
        """The trick is over."""
        for seat, card in self.down:
            self.discards.setdefault(seat, set()).add(card)
        self.gone += [card for _, card in self.table]
        self.table, self.down = [], []

    def _draw(self, seats: list[int]) -> list[tuple[int, Card]]:
        """Cards from the top of the stock, as long as there are some."""
        drawn = []
        for seat in seats[: len(self.stock)]:
            card = self.stock.pop(0)
            self.holdings[seat].add(card)
            drawn.append((seat, card))
        return drawn

    def _serve(self, due: Serve) -> None:
        """MUS-2..4: what is left first, then the reshuffled discards."""
        owed = [seat for seat, _ in self.round]
        if self.rules["service"] != "block" and len(owed) == 16:
            owed = owed[::4] * 4
        drawn = self._draw(owed)
        if drawn:
            self._done(due, drawn)
        owed = owed[len(drawn) :]
        kept: list[tuple[int, Card]] = []
        if owed:
            if self.rules["reshuffle"] == "previous":
                kept = self.round
            elif self.rules["reshuffle"] == "all_but_own_last" and len(set(owed)) == 1:
                kept = [(seat, card) for seat, card in self.round if seat == owed[0]]
            heap = [entry for thrown in (*self.heap, self.round) for entry in thrown]
            self.stock = [card for seat, card in heap if (seat, card) not in kept]
            self.rng.shuffle(self.stock)
            self.reshuffles += 1
            self.heap, self.round = [kept], []
            assert self.play.due == due
            self._done(due, self._draw(owed))
        self.heap.append(self.round)
        self.round = []

    def _shown(self, due: Show) -> None:
        """Everybody's cards, or the discards of Kozel."""
        if self.name == "kozel":
            self._clear()
            shown = {seat: set(cards) for seat, cards in due.cards.items()}
            assert shown == self.discards
            assert list(shown) == sorted(shown)
        else:
            assert [set(due.cards[seat]) for seat in range(self.seats)] == self.holdings

    # What must always hold.

    def check(self) -> None:
        play = self.play
        assert bool(play.turn) != (play.due is not None)
        assert list(play.turn) == sorted(set(play.turn))
        assert not self.out & set(play.turn)
        cards = [card for cards in self.holdings for card in cards]
        cards += [card for _, card in self.table] + self.gone + self.stock
        cards += [card for thrown in (*self.heap, self.round) for _, card in thrown]
        assert len(cards) == len(self.deck)
        assert set(cards) == self.deck
        for seat in range(self.seats):
            choices = play.choices(seat)
            assert choices or seat not in play.turn
            assert not choices or (play.due is None and seat not in self.out)
            assert len(set(choices)) == len(choices)
            assert choices == play.choices(seat)
            for choice in choices:
                check_choice(choice, self.holdings[seat])

    def check_choices(self) -> None:
        """Each is accepted, its neighbours are not, and the play remains what it was."""
        before = self.play.turn, [self.play.choices(seat) for seat in range(self.seats)]
        legal = {move for seat in range(self.seats) for move in moves(self.play, seat)}
        for move in sorted(legal, key=repr):
            after = self.play.apply(move)
            assert bool(after.turn) != (after.due is not None)
        for move in sorted(neighbours(legal, self.seats), key=repr):
            if not is_legal(self.play, move, self.seats):
                with pytest.raises(RuleError) as caught:
                    self.play.apply(move)
                assert re.fullmatch(r"(PLAY|KOZ|MUS|AZI|SVO)-\d+", caught.value.rule)
                assert not any(card in str(caught.value) for card in move.cards)
        assert before == (
            self.play.turn,
            [self.play.choices(seat) for seat in range(self.seats)],
        )


def check_choice(choice: Choice, holding: set[Card]) -> None:
    """A choice is well formed, and of the cards that the seat holds.

    The one exception is a pull: what the seat has laid in the trick comes back first, but in Kozel
    only those pull that still hold four.
    """
    assert holding.issuperset(choice.cards)
    assert len(set(choice.cards)) == len(choice.cards)
    assert (choice.call is not None) == (choice.kind == "call")
    assert bool(choice.cards) == (choice.kind in {"show", "throw", "pull"})
    assert (choice.low is None) == (choice.high is None)
    if choice.low is not None:
        assert choice.kind == "call"
        assert 0 <= choice.low <= choice.high < LARGEST


def moves(play: Play, seat: int) -> Iterator[Move]:
    """The legal moves of a seat; of amounts the least, the greatest and one between."""
    for choice in play.choices(seat):
        if choice.low is None or choice.high is None:
            yield choice.move(seat)
        else:
            middle = (choice.low + choice.high) // 2
            yield from (choice.move(seat, n) for n in {choice.low, middle, choice.high})


def neighbours(legal: set[Move], seats: int) -> set[Move]:
    """Moves that differ from a legal one in one thing."""
    found = set()
    for move in sorted(legal, key=repr)[:40]:
        found |= {move._replace(seat=seat) for seat in range(-1, seats + 1)}
        found |= {move._replace(cards=move.cards[1:]), move._replace(cards=move.cards * 2)}
        found |= {move._replace(kind=kind) for kind in ("show", "throw", "call", "pull", "look")}
        found |= {move._replace(call=call) for call in (None, "", "mus", "take", "fold")}
        amounts = {None, 0, -1, LARGEST} | (
            set() if move.amount is None else {move.amount - 1, move.amount + 1}
        )
        found |= {move._replace(amount=amount) for amount in amounts}
    return found


def is_legal(play: Play, move: Move, seats: int) -> bool:
    """Whether a move is among the choices; the order of cards matters in Svoi Kozyri only.

    With an empty trick, Kozel's pull may be said as a show: to the log they are the same.
    """
    if move.seat not in range(seats):
        return False
    for choice in play.choices(move.seat):
        same = move.cards == choice.cards or (
            set(move.cards) == set(choice.cards)
            and len(move.cards) == len(choice.cards)
            and not isinstance(play, type(SVOI))
        )
        kinds = {choice.kind} | ({"show"} if choice.kind == "pull" else set())
        if move.kind in kinds and same and move.call == choice.call:
            if choice.low is None and move.amount is None:
                return True
            if choice.low is not None and move.amount is not None:
                return choice.low <= move.amount <= choice.high
    return False


SVOI = Table("svoi", Random(0), defaults("svoi"), 2).play


def check_json(value: object) -> None:
    """A value of the profile of events: ENC."""
    if isinstance(value, dict):
        for key, inner in value.items():
            assert isinstance(key, str)
            assert re.fullmatch("[a-z0-9_]+", key)
            check_json(inner)
    elif isinstance(value, list):
        for inner in value:
            check_json(inner)
    else:
        assert value is None or type(value) in {int, str, bool}
        assert type(value) is not int or abs(value) < LARGEST


def check_result(table: Table, result) -> None:
    """PLAY-5."""
    assert sorted(result) == ["first", "match", "score", "winner"]
    check_json(dict(result))
    first = result["first"]
    assert (first is None and table.name == "azi") or first in range(table.seats)
    assert sorted(result["match"]) == sorted(table.referee.fresh(table.rules, table.seats))
    assert table.referee.out(result["match"]) < set(range(table.seats))


def hand_out(table: Table, bots: list[Bot], often: float) -> dict:
    """Plays a hand to its end; sometimes a seat that is not on turn moves."""
    for _ in range(MOST_STEPS):
        table.check()
        if isinstance(table.play.due, Close):
            assert all(not table.play.choices(seat) for seat in range(table.seats))
            return table.play.due.result
        if table.play.due is not None:
            table.happen()
            continue
        if table.rng.random() < often:
            table.check_choices()
        seat = table.rng.choice(table.play.turn)
        others = [s for s in range(table.seats) if table.play.choices(s) and s != seat]
        if others and table.rng.random() < 0.2:
            seat = table.rng.choice(others)
        table.move(bots[seat](table.play, seat))
    raise AssertionError("the hand does not end")


def hands(name: str, rng: Random, rules: dict, seats: int, often: float = 0.0) -> Iterator[tuple]:
    """One hand after the other at one table: each match goes on where the last hand left it."""
    match, first, number = None, None, 0
    while True:
        number += 1
        table = Table(name, rng, rules, seats, match, first=first, number=number)
        greed = 0.9 if name == "svoi" else 0.6  # two that do anything play a thousand moves
        bots = [greedy_bot() if rng.random() < greed else random_bot(rng) for _ in range(seats)]
        result = hand_out(table, bots, often)
        yield table, result
        match = None if result["winner"] is not None else result["match"]
        first = result["first"]


def test_all_four_games_have_rules():
    """A game that is missing here would be tested by nobody."""
    assert sorted(GAMES) == sorted(NAMES)
    assert {type(rules_of(game)).__name__ for game in GAMES.values()} == {
        f"{name.capitalize()}Rules" for name in NAMES
    }


@pytest.mark.parametrize("name", NAMES)
def test_options_of_the_play_are_not_those_of_the_deal(name):
    """PLAY-1: each option has one meaning, its default comes first, and nothing is there twice."""
    game = game_named(name)
    options = rules_of(game).options
    assert not set(options) & set(game.options)
    for values in options.values():
        if isinstance(values, Span):
            assert values.low <= values.default <= values.high < LARGEST
        else:
            assert len(set(map(repr, values))) == len(values)


@pytest.mark.parametrize("table", range(25))
@pytest.mark.parametrize("name", NAMES)
def test_random_matches(name, table):
    """PLAY-2..5: 25 tables of 20 hands for each game, each table with a ruleset of its own."""
    rng = Random(f"{name} {table}")
    rules, seats = ruleset(rng, name), rng.choice(SEATS[name])
    for at, result in islice(hands(name, rng, rules, seats, often=0.02), 20):
        check_result(at, result)


SEEN = {
    "azi": "all_in bet buy_in call check fold look raise show stay_out throw",
    "kozel": "Draw Show pull show throw",
    "mus": "Declare Serve Show envido mus no_mus no_quiero ordago paso quiero raise throw",
    "svoi": "show take",
}


@pytest.mark.parametrize("name", NAMES)
def test_random_hands_have_everything_in_them(name):
    """Otherwise the tests above would say less than they seem to."""
    rng, seen, short = Random(f"seen {name}"), set(), 0
    for _ in range(10 if name == "svoi" else 120):
        rules, seats = ruleset(rng, name), rng.choice(SEATS[name])
        for at, _ in islice(hands(name, rng, rules, seats), 5):
            for step in at.story:
                if isinstance(step, Move):
                    seen.add(step.call or step.kind)
                else:
                    seen.add(type(step[0]).__name__)
            short += at.reshuffles
    assert seen == set(SEEN[name].split())
    assert bool(short) == game_named(name).can_reshuffle


@pytest.mark.parametrize("name", NAMES)
def test_every_value_of_every_option(name):
    """GAME-3, PLAY-1: a few hands with each value, the others being defaults."""
    rng = Random(name)
    game = game_named(name)
    for option, values in {**game.options, **rules_of(game).options}.items():
        known = (values.low, values.default, values.high) if isinstance(values, Span) else values
        for value in known:
            rules = defaults(name, **{option: value})
            for at, result in islice(hands(name, rng, rules, SEATS[name][-1]), 3):
                check_result(at, result)


@pytest.mark.parametrize("name", [name for name in NAMES if name != "svoi"])
def test_matches_end_and_begin_afresh(name):
    """PLAY-2, PLAY-5: after a winner the match is the fresh one again. Svoi Kozyri has no end."""
    rng = Random(f"ends {name}")
    rules = defaults(name, **({"stack": 50} if name == "azi" else {}))
    ended, before = 0, None
    for at, result in islice(hands(name, rng, rules, SEATS[name][0]), 400):
        if before is not None:
            fresh = at.referee.fresh(rules, at.seats)
            assert at.match == (before["match"] if before["winner"] is None else fresh)
        ended += result["winner"] is not None
        before = result
    assert ended > 2


@pytest.mark.parametrize("name", NAMES)
def test_the_same_moves_give_the_same_hand(name):
    """States are values: what is recorded can be played again from any of them."""
    rng = Random(f"again {name}")
    for _ in range(10):
        rules, seats = ruleset(rng, name), rng.choice(SEATS[name])
        table = Table(name, rng, rules, seats)
        start = table.play
        result = hand_out(table, [greedy_bot()] * seats, 0)
        states = [start]
        for step in table.story:
            play = states[-1]
            states.append(play.apply(step) if isinstance(step, Move) else play.done(*step))
        assert states[-1].due == Close(result)
        middle = len(table.story) // 2
        play = states[middle]
        for step in table.story[middle:]:
            play = play.apply(step) if isinstance(step, Move) else play.done(*step)
        assert play.due == Close(result)


@pytest.mark.parametrize("name", NAMES)
def test_rules_do_not_depend_on_more_than_the_deal(name):
    """`start` gives the same for the same, and changes neither ruleset nor match."""
    rng = Random(f"start {name}")
    rules, seats = ruleset(rng, name), SEATS[name][0]
    table = Table(name, rng, rules, seats)
    match, kept = dict(table.match), dict(rules)
    again = table.referee.start(rules, table.match, table.deal)
    for seat in range(seats):
        assert again.choices(seat) == table.play.choices(seat)
    hand_out(table, [random_bot(rng)] * seats, 0)
    assert (rules, table.match) == (kept, match)
    assert again.due == table.referee.start(rules, match, table.deal).due


# Bots.


@pytest.mark.parametrize("name", NAMES)
def test_bots_choose_what_is_legal(name):
    rng = Random(f"bots {name}")
    for _ in range(20):
        rules, seats = ruleset(rng, name), rng.choice(SEATS[name])
        table = Table(name, rng, rules, seats)
        bots = [greedy_bot(), random_bot(rng)]
        for _ in range(300):
            if isinstance(table.play.due, Close):
                break
            if table.play.due is not None:
                table.happen()
                continue
            seat = table.play.turn[0]
            for bot in bots:
                move = bot(table.play, seat)
                assert move.seat == seat
                assert is_legal(table.play, move, seats)
            table.move(rng.choice(bots)(table.play, seat))


def won_by_greed(name: str, hands_played: int) -> float:
    """How many hands (or chips) of all go to seats 0, 2, 4.., which are greedy."""
    rng = Random(f"greed {name}")
    rules, seats = defaults(name), SEATS[name][0]
    won = [0, 0]
    for n in range(hands_played):
        table = Table(name, rng, rules, seats, first=n % seats)
        bots = [random_bot(rng) if seat % 2 else greedy_bot() for seat in range(seats)]
        score = hand_out(table, bots, 0)["score"]
        if name in {"kozel", "mus"}:
            won[0] += score["points"][0]
            won[1] += score["points"][1]
        elif score["winner"] is not None:
            won[score["winner"] % 2] += 1
    return won[0] / sum(won)


@pytest.mark.parametrize(("name", "least"), [("kozel", 0.55), ("mus", 0.5), ("svoi", 0.9)])
def test_greed_pays(name, least):
    """Against seats that do anything."""
    assert won_by_greed(name, 100) > least


@pytest.mark.parametrize("name", NAMES)
def test_a_bot_sees_what_its_seat_sees(name):
    """Its choice follows from the choices and the sight alone."""
    rng = Random(f"sight {name}")
    table = Table(name, rng, defaults(name), SEATS[name][0])
    seat = table.play.turn[0]
    sight = sight_of(table.play, seat)
    assert isinstance(sight, Sight)
    assert set(sight.hand) == table.holdings[seat]
    choice = greedy(table.play.choices(seat), sight)
    assert choice.move(seat) == greedy_bot(lambda play, seat: sight)(table.play, seat)


def test_a_bot_does_not_see_cards_before_it_looks():
    table = Table("azi", Random(1), defaults("azi", blind=True), 4)
    assert sight_of(table.play, 0).hand == ()
    assert greedy_bot()(table.play, table.play.turn[0]).kind == "look"
