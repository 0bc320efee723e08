"""Mus: rounds of discards, service, reshuffles. Spec: MUS-1..5, HAND-10..14."""

from dataclasses import replace
from itertools import product

import pytest

from fairdeal.cards import spanish_deck
from fairdeal.codecs import Lock, Place
from fairdeal.errors import StateError
from fairdeal.hand import Phase
from fairdeal.seeds import LAST_EPOCH
from seeds.local import Book, LocalTable
from tests.core import naive
from tests.core.stages import SlowTable, attempt, key_of, outcome, table_at

RESHUFFLES = ("all", "previous", "all_but_own_last")
SERVICES = ("block", "one_by_one_if_all_four")
SIZES = list(product(range(1, 5), repeat=4))


def discard(table: LocalTable, sizes: tuple[int, ...], start: int | None = None) -> None:
    """Seats in turn throw their newest cards; nothing else."""
    start = table.hand.playing.first if start is None else start
    for step, size in enumerate(sizes):
        seat = (start + step) % 4
        table.discard({seat: table.secrets.holding(seat)[-size:]})


def play_round(table: LocalTable, *sizes: int) -> None:
    """A whole round, its reshuffle included."""
    discard(table, sizes)
    while table.hand.missing_seeds:
        table.open_seeds()


def service(first: int, sizes: tuple[int, ...], rule: str) -> list[int]:
    """MUS-2, card by card."""
    left = {(first + step) % 4: size for step, size in enumerate(sizes)}
    if rule != "block" and set(sizes) == {4}:
        return list(left) * 4
    return [seat for seat, size in left.items() for _ in range(size)]


@pytest.fixture(scope="module")
def dealt():
    """A dealt table of each service; its states are values, so that it is dealt once."""
    tables = {}
    for rule in SERVICES:
        tables[rule] = SlowTable(Book(), "mus", ruleset={"service": rule})
        tables[rule].deal()
        tables[rule].follow()
    return tables


@pytest.mark.parametrize("rule", SERVICES)
def test_each_seat_gets_as_many_as_it_threw(rule, dealt):
    """MUS-2, MUS-3: all 256 rounds there can be, from a full stock."""
    table = dealt[rule]
    first = table.hand.dealt.first
    for sizes in SIZES:
        locks = {(first + step) % 4: Lock(size, bytes(32)) for step, size in enumerate(sizes)}
        event = replace(attempt(table, "cards.discarded"), discards=locks)
        hand = table.table.apply(event).hand
        assert hand.phase is Phase.SERVING
        assert list(hand.layout.owed) == service(first, sizes, rule)


def test_one_event_serves_all_that_is_owed(dealt):
    table = SlowTable(Book(), "mus")
    table.deal()
    table.follow()
    discard(table, (1, 2, 3, 4))
    event = attempt(table, "cards.drawn")
    seats = service(table.hand.dealt.first, (1, 2, 3, 4), "block")
    assert event.draws == tuple((seat, Place(0, 16 + i)) for i, seat in enumerate(seats))
    table.log(event)
    assert table.hand.phase is Phase.PLAYING
    assert table.hand.layout.counts() == (4, 4, 4, 4)
    assert table.hand.layout.stock[0] == Place(0, 26)


@pytest.mark.parametrize("order", list(product(range(4), repeat=2)))
def test_locks_are_made_in_turn(order):
    """MUS-1: whoever is next, alone or with those after, and nobody else."""
    table = table_at("playing", "mus")
    first = table.hand.dealt.first
    turns = [(first + step) % 4 for step in range(4)]

    def lock(*seats: int) -> str:
        locks = {seat: Lock(1, bytes(32)) for seat in seats}
        return outcome(table, replace(attempt(table, "cards.discarded"), discards=locks))

    done, more = order
    for seat in turns[:done]:
        table.discard({seat: table.secrets.holding(seat)[:1]})
    rest = turns[done:]
    assert lock(*rest[: more + 1]) == "legal"
    assert lock(*reversed(rest[: more + 1])) == "legal"
    for seat in range(4):
        assert lock(seat) == ("legal" if seat == rest[0] else "not_your_turn")
    if len(rest) > 2:
        assert lock(rest[0], rest[2]) == "not_your_turn"
    if done:
        assert lock(turns[0], *rest) == "not_your_turn"


@pytest.mark.parametrize("corrido", [False, True])
def test_mus_corrido(corrido):
    """MUS-1: in hand 1 the round's first seat moves on; in other hands mano is first."""
    table = LocalTable(Book(), "mus", ruleset={"mus_corrido": corrido})
    for number in (1, 2):
        table.deal()
        mano = table.hand.dealt.first
        for r in range(6):
            start = (mano + r) % 4 if corrido and number == 1 else mano
            for seat in {0, 1, 2, 3} - {start}:
                locks = {seat: Lock(1, bytes(32))}
                event = replace(attempt(table, "cards.discarded"), discards=locks)
                assert outcome(table, event) == "not_your_turn"
            discard(table, (1, 1, 1, 1), start)
            served = [seat for seat, _ in table.events[-1].draws]
            assert served == [(start + step) % 4 for step in range(4)]
            assert table.hand.playing.rounds == r + 1
        table.close()


@pytest.mark.parametrize("size", [0, 5, 255])
def test_a_discard_is_one_to_four_cards(size):
    table = table_at("playing", "mus")
    locks = {table.hand.dealt.first: Lock(size, bytes(32))}
    event = replace(attempt(table, "cards.discarded"), discards=locks)
    assert outcome(table, event) == "action_not_allowed"


def test_a_seat_throws_what_it_holds(refused):
    table = table_at("playing", "mus")
    first = table.hand.dealt.first
    mine, others = table.secrets.holding(first), table.secrets.holding((first + 1) % 4)
    for places in (
        others[:1],
        [*mine, others[0]],
        [mine[0], mine[0]],
        [Place(0, 16)],
        [Place(1, 0)],
    ):
        with refused("not_in_holding", kind=StateError):
            table.discard({first: places})
    assert table.secrets.thrown == {}


def test_after_a_card_was_shown_nothing_is_discarded(refused):
    """MUS-5; and a shown card stays in the holding, but is not shown twice."""
    table = table_at("playing", "mus")
    other = (table.hand.dealt.first + 2) % 4
    places = table.secrets.holding(other)
    table.show(other, places[:2])
    assert table.secrets.holding(other) == places
    assert outcome(table, attempt(table, "cards.discarded")) == "wrong_phase"
    with refused("not_in_holding", kind=StateError):
        table.show(other, places[1:3])
    table.show(other, places[2:])
    table.close()
    table.disclose()


def test_no_seat_shows_more_than_it_holds():
    """HAND-11: public events tell that four of the received places are thrown."""
    table = LocalTable(Book(), "mus")
    table.deal()
    play_round(table, 4, 1, 2, 3)
    seat = table.hand.dealt.first
    table.show(seat, table.secrets.holding(seat))
    thrown = table.secrets.thrown[seat][0][0]
    shown = table.events[-1].shown[0]._replace(place=thrown)
    event = replace(table.events[-1], header=table.header(), shown=(shown,))
    assert outcome(table, event) == "not_in_holding"


def test_a_card_that_is_thrown_is_not_shown(refused):
    table = LocalTable(Book(), "mus")
    table.deal()
    seat = table.hand.dealt.first
    play_round(table, 2, 1, 1, 1)
    with refused("not_in_holding", kind=StateError):
        table.show(seat, table.secrets.thrown[seat][0])


# Reshuffles.


ROUNDS = [(1, 1, 1, 1), (2, 1, 2, 3), (2, 2, 2, 2), (3, 3, 3, 3), (3, 3, 2, 4), (4, 4, 4, 4)]


def round_towards(count: int) -> list[int]:
    """A round that takes so many cards, or as many as it can while another can take the rest."""
    take = min(count, 16)
    if 0 < count - take < 4:
        take = count - 4
    return [take // 4 + (step < take % 4) for step in range(4)]


@pytest.mark.parametrize("stock", range(17))
@pytest.mark.parametrize("sizes", ROUNDS)
def test_a_reshuffle_is_due_exactly_when_a_card_is_owed_and_none_is_left(stock, sizes):
    """HAND-12, MUS-3: what is left is served first, in its own event; nothing if nothing is."""
    table = SlowTable(Book(), "mus")
    table.deal()
    table.follow()
    while len(table.hand.layout.stock) > stock:
        table.lock(*round_towards(len(table.hand.layout.stock) - stock))
        table.follow()
    assert len(table.hand.layout.stock) == stock
    table.lock(*sizes)
    last_lock = table.events[-1]
    owed = service(table.hand.dealt.first, sizes, "block")
    if stock:
        assert table.hand.phase is Phase.SERVING
        table.follow()
        draws = table.events[-1].draws
        assert [seat for seat, _ in draws] == owed[:stock]
        assert [place for _, place in draws] == [
            Place(0, 40 - stock + i) for i in range(len(draws))
        ]
    if sum(sizes) <= stock:
        assert table.hand.phase is Phase.PLAYING
        assert table.hand.epoch == 0
        return
    assert table.hand.phase is Phase.REOPENING
    assert (table.hand.epoch, table.hand.head) == (1, table.events[-1].digest)
    assert (table.events[-1] is last_lock) == (stock == 0)
    table.open_seeds((0, 3))
    assert table.hand.phase is Phase.REOPENING
    assert table.secrets.due(table.header()) is None
    table.open_seeds((1, 2))
    assert table.hand.phase is Phase.RESTOCKING
    table.follow()
    assert table.hand.phase is Phase.SERVING
    table.follow()
    assert table.hand.phase is Phase.PLAYING
    draws = table.events[-1].draws
    assert [seat for seat, _ in draws] == owed[stock:]
    assert [place for _, place in draws] == [Place(1, i) for i in range(len(draws))]


WORKED = {  # games.md's example: stock 8, 16 old discards; (pool, left in the stock, on the heap)
    ((3, 3, 3, 3), "all"): (28, 24, 0),
    ((3, 3, 3, 3), "previous"): (16, 12, 12),
    ((3, 3, 3, 3), "all_but_own_last"): (28, 24, 0),
    ((3, 3, 2, 4), "all"): (28, 24, 0),
    ((3, 3, 2, 4), "previous"): (16, 12, 12),
    ((3, 3, 2, 4), "all_but_own_last"): (24, 20, 4),
}


def heap_cards(table: LocalTable) -> set[str]:
    return {
        table.secrets.card(place)
        for throw in table.hand.layout.heap
        for place in table.secrets.thrown[throw.seat][throw.k]
    }


@pytest.mark.parametrize(("sizes", "rule"), WORKED)
def test_the_pool(sizes, rule):
    """MUS-4, HAND-13: which cards, in which order, how many are left where."""
    table = LocalTable(Book(), "mus", ruleset={"reshuffle": rule})
    table.deal()
    play_round(table, 4, 4, 4, 4)
    old = heap_cards(table)
    assert (len(old), len(table.hand.layout.stock)) == (16, 8)
    discard(table, sizes)
    first, last = table.hand.dealt.first, (table.hand.dealt.first + 3) % 4
    thrown = {
        seat: {table.secrets.card(place) for place in table.secrets.thrown[seat][1]}
        for seat in range(4)
    }
    alone = sizes == (3, 3, 2, 4)
    assert set(table.hand.layout.owed) == ({last} if alone else {(first + 2) % 4, last})
    pool = old | set().union(*thrown.values())
    if rule == "previous":
        pool = old
    elif rule == "all_but_own_last" and alone:
        pool -= thrown[last]
    table.open_seeds()
    count, stock, heap = WORKED[sizes, rule]
    event = next(event for event in table.events if event.TYPE == "stock.reshuffled")
    canonical = tuple(card for card in spanish_deck() if card in pool)
    key = key_of(table, 1)
    assert (event.epoch, event.count) == (1, count)
    assert list(table.secrets.decks[1].order) == naive.order(canonical, key)
    assert event.deck_root == naive.mth(naive.leaves(canonical, key, 1))
    assert len(table.hand.layout.stock) == stock
    assert len(heap_cards(table)) == heap
    assert table.hand.roots[1] == (event.deck_root, count)


@pytest.mark.parametrize("rule", RESHUFFLES)
def test_any_round_at_any_stock_leaves_forty_cards(rule):
    """F43: holdings, stock and heap are the deck, after each of many rounds of all kinds."""
    table = LocalTable(Book(), "mus", ruleset={"reshuffle": rule})
    table.deal()
    for sizes in SIZES[::7]:
        if table.hand.epoch > 28:
            break
        play_round(table, *sizes)
        cards = [table.secrets.card(p) for seat in range(4) for p in table.secrets.holding(seat)]
        cards += [table.secrets.card(place) for place in table.hand.layout.stock]
        cards += heap_cards(table)
        assert sorted(cards) == sorted(spanish_deck())
    assert table.hand.epoch > 3
    table.close()
    assert table.hand.disclosed is not None


@pytest.mark.parametrize("rule", RESHUFFLES)
def test_the_chains_end_after_32_reshuffles(rule):
    """HAND-14: then a reshuffle that is due can only abort the hand, and nobody is at fault."""
    table = LocalTable(Book(), "mus", ruleset={"reshuffle": rule})
    table.deal()
    rounds = 0
    while table.hand.phase is Phase.PLAYING:
        play_round(table, 4, 4, 4, 4)
        rounds += 1
    assert table.hand.epoch == LAST_EPOCH == 32
    assert rounds > 32
    assert table.hand.phase is Phase.RESTOCKING
    assert table.hand.layout.owed
    assert not table.hand.layout.stock
    assert table.secrets.due(table.header()) is None
    assert len(table.secrets.decks) == 33
    assert outcome(table, attempt(table, "seeds.opened")) == "wrong_phase"
    reshuffled = replace(attempt(table, "stock.reshuffled"), epoch=32)
    assert outcome(table, reshuffled) == "wrong_phase"
    for epoch in (1, 17, 32):
        pool = tuple(card for card in spanish_deck() if card in table.secrets.decks[epoch].order)
        assert list(table.secrets.decks[epoch].order) == naive.order(pool, key_of(table, epoch))
    table.abort("epochs")
    assert (table.hand.reason, table.hand.missing) == ("epochs", ())
    assert table.hand.disclosed is not None
    table.deal()
    assert table.hand.number == 2


def test_the_same_card_comes_back_in_a_new_place():
    """A reshuffled card may be thrown and shown again: its place is another one."""
    table = LocalTable(Book(), "mus")
    table.deal()
    seen = {}
    for _ in range(6):
        play_round(table, 4, 4, 4, 4)
        for seat in range(4):
            for place in table.secrets.holding(seat):
                seen.setdefault(table.secrets.card(place), set()).add(place)
    assert any(len({place.epoch for place in places}) > 2 for places in seen.values())
    for seat in range(4):
        table.show(seat, table.secrets.holding(seat))
    table.close()
    assert table.hand.disclosed is not None


def test_an_aborted_reshuffle_is_disclosed():
    for stage in ("reopening", "half reopened", "restocking", "restocked"):
        table = table_at(stage, "mus")
        table.abort("operator", table.hand.missing_seeds)
        table.disclose()
        assert table.hand.disclosed is not None
