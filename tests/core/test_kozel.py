"""Kozel with 4 cards. Spec: KOZ-1..7, HAND-10, HAND-11."""

from dataclasses import replace
from itertools import product

import pytest

from fairdeal.codecs import Lock, Place, Shown
from fairdeal.discards import discard_lock
from fairdeal.errors import StateError, VerificationError
from fairdeal.events import CardsDiscarded, CardsShown, Timeouts
from seeds.local import Book, LocalTable
from tests.core import naive
from tests.core.stages import SlowTable, attempt, key_of, outcome, table_at

INDICATORS = ("interior", "all", "index10")
PLACES = ("stays", "bottom")
RULES = [
    {"indicator": indicator, "indicator_place": place}
    for indicator, place in product(INDICATORS, PLACES)
]
every_rule = pytest.mark.parametrize("rules", RULES, ids=lambda rules: "-".join(rules.values()))


def expected_index(key: bytes, indicator: str) -> int:
    """KOZ-1."""
    if indicator == "index10":
        return 10
    return (
        1 + naive.pick(key, "indicator", 18)
        if indicator == "interior"
        else naive.pick(key, "indicator", 20)
    )


def trick(table: LocalTable, leader: int, size: int = 1, hidden: tuple[int, ...] = ()) -> None:
    """Everybody lays `size` cards, face down where the seat is hidden."""
    for step in range(4):
        seat = (leader + step) % 4
        cards = table.secrets.holding(seat)[:size]
        if seat in hidden:
            table.discard({seat: cards})
        else:
            table.show(seat, cards)


@every_rule
def test_the_indicator(rules):
    """KOZ-1, KOZ-2, KOZ-3: which card, where it lies, what is said of it."""
    seen = set()
    for n in range(40):
        table = LocalTable(Book(), "kozel", name=f"k{n}", ruleset=rules)
        table.deal()
        dealt, deck = table.hand.dealt, table.secrets.decks[0]
        index = expected_index(key_of(table), rules["indicator"])
        seen.add(index)
        place = Place(0, 16 + index)
        assert dealt.indicator == deck.order[place.position]
        public = rules["indicator_place"] == "bottom" or rules["indicator"] == "index10"
        salt = deck.salt(place.position)
        assert dealt.shown == ((Shown(None, place, dealt.indicator, salt),) if public else ())
        stock = [Place(0, p) for p in range(16, 36)]
        if rules["indicator_place"] == "bottom":
            stock.remove(place)
            stock.append(place)
        assert list(table.hand.layout.stock) == stock
    reach = {"interior": range(1, 19), "all": range(20), "index10": range(10, 11)}
    assert seen <= set(reach[rules["indicator"]])
    assert len(seen) > 10 or rules["indicator"] == "index10"


@every_rule
def test_the_stock_is_drawn_from_its_top(rules):
    """KOZ-2, GAME-4: in order to the last card, which with `bottom` is the indicator."""
    table = LocalTable(Book(), "kozel", ruleset=rules)
    table.deal()
    stock = list(table.hand.layout.stock)
    drawn = []
    for leader in (2, 0, 3, 3, 1):
        trick(table, leader)
        table.draw(leader)
        drawn += [place for _, place in table.events[-1].draws]
    assert drawn == stock
    if rules["indicator_place"] == "bottom":
        assert table.secrets.card(drawn[-1]) == table.hand.dealt.indicator


HIDDEN_PLACE = {"indicator": "interior", "indicator_place": "stays"}
PUBLIC = [rules for rules in RULES if "bottom" in rules.values() or "index10" in rules.values()]


@pytest.mark.parametrize("rules", PUBLIC, ids=lambda rules: "-".join(rules.values()))
def test_a_public_indicator_is_shown_where_it_can_be(rules):
    table = table_at("dealing", "kozel", ruleset=rules)
    event = attempt(table, "hand.dealt")
    assert outcome(table, event) == "legal"
    (shown,) = event.shown
    start, choices = {"interior": (17, 18), "all": (16, 20), "index10": (26, 1)}[rules["indicator"]]
    for position in range(36):
        moved = (shown._replace(place=Place(0, position)),)
        inside = start <= position < start + choices
        expected = "legal" if inside else "wrong_event"
        assert outcome(table, replace(event, shown=moved)) == expected
    for wrong in (
        {"shown": ()},
        {"shown": event.shown * 2},
        {"shown": (shown._replace(seat=0),)},
        {"shown": (shown._replace(place=Place(1, shown.place.position)),)},
        {"shown": (shown._replace(card="6C" if shown.card != "6C" else "7C"),)},
        {"indicator": "6C" if shown.card != "6C" else "7C"},
        {"indicator": None},
    ):
        assert outcome(table, replace(event, **wrong)) == "wrong_event"


def test_a_secret_place_is_not_told():
    """KOZ-3: the same public events, whichever place of the stock the indicator has."""
    table = table_at("dealing", "kozel", ruleset=HIDDEN_PLACE)
    event = attempt(table, "hand.dealt")
    assert event.shown == ()
    assert b'shown":[]' in event.raw
    told = Shown(None, Place(0, 17), event.indicator, bytes(16))
    assert outcome(table, replace(event, shown=(told,))) == "wrong_event"
    assert outcome(table, replace(event, indicator=None)) == "wrong_event"


# Draws.


def owed(taker: int, held: int, stock: int) -> list[int]:
    """KOZ-5, card by card."""
    counts, seats = [held] * 4, []
    while stock and min(counts) < 4:
        for step in range(4):
            seat = (taker + step) % 4
            if stock and counts[seat] < 4:
                counts[seat] += 1
                seats.append(seat)
                stock -= 1
    return seats


@pytest.mark.parametrize("sizes", [(1, 1), (2, 2, 1), (3, 3, 1), (4, 1), (4, 4, 1), (1, 4, 3, 2)])
@pytest.mark.parametrize("taker", range(4))
def test_everyone_draws_up_to_four(sizes, taker):
    table = LocalTable(Book(), "kozel")
    table.deal()
    for size in sizes:
        stock = len(table.hand.layout.stock)
        trick(table, taker, min(size, *table.hand.layout.counts()), hidden=(1,))
        held = table.hand.layout.counts()[0]
        if not stock:
            assert outcome(table, attempt(table, "cards.drawn")) == "draw_not_due"
            continue
        first = table.hand.layout.stock[0].position
        table.draw(taker)
        draws = table.events[-1].draws
        assert [seat for seat, _ in draws] == owed(taker, held, stock)
        assert [place.position for _, place in draws] == list(range(first, first + len(draws)))


def test_a_draw_is_due_when_all_hold_the_same_and_less_than_four():
    table = table_at("playing", "kozel")

    def draw(table: SlowTable) -> str:
        stock = table.hand.layout.stock
        draws = tuple(zip((0, 1, 2, 3), stock, strict=False))
        return outcome(table, replace(attempt(table, "cards.drawn"), draws=draws))

    assert draw(table) == "draw_not_due"
    for seat in range(4):
        table.show(seat, table.secrets.holding(seat)[:1])
        assert draw(table) == ("legal" if seat == 3 else "draw_not_due")
    for wrong in ((0, 1, 2), (0, 1, 2, 3, 0), (0, 2, 1, 3), (3, 2, 1, 0), (0, 0, 1, 1)):
        draws = tuple(zip(wrong, table.hand.layout.stock, strict=False))
        event = replace(attempt(table, "cards.drawn"), draws=draws)
        assert outcome(table, event) == "wrong_event"
    event = replace(attempt(table, "cards.drawn"), draws=((9, Place(0, 16)),))
    assert outcome(table, event) == "seat_unknown"


def test_a_draw_may_be_left_for_later():
    """KOZ-5: it is due to nobody by itself."""
    table = table_at("playing", "kozel")
    for _ in range(4):
        trick(table, 0)
    assert table.hand.layout.counts() == (0, 0, 0, 0)
    event = attempt(table, "cards.shown")
    assert outcome(table, event) == "not_in_holding"
    assert outcome(table, attempt(table, "hand.closed")) == "legal"
    table.draw(2)
    assert [seat for seat, _ in table.events[-1].draws] == [2, 3, 0, 1] * 4


# Discards and pulls.


@pytest.mark.parametrize("size", range(7))
def test_a_discard_is_one_to_four_cards_that_are_held(size):
    """KOZ-4."""
    for played in range(5):
        table = table_at("playing", "kozel")
        if played:
            table.show(0, table.secrets.holding(0)[:played])
        if size == 0:
            continue
        lock = Lock(size, bytes(32))
        event = CardsDiscarded(header=table.header(), hand=1, discards={0: lock})
        expected = "legal" if size <= 4 - played else "not_in_holding"
        assert outcome(table, event) == expected
        both = replace(event, discards={0: lock, 1: Lock(1, bytes(32))})
        assert outcome(table, both) == expected


def test_open_discards_are_none(refused):
    table = table_at("playing", "kozel", ruleset={"discards": "open"})
    with refused("action_not_allowed", kind=StateError):
        table.discard({0: table.secrets.holding(0)[:1]})


def test_a_card_is_played_once(refused):
    table = table_at("playing", "kozel")
    place = table.secrets.holding(0)[0]
    table.show(0, [place])
    with refused("not_in_holding", kind=StateError):
        table.show(0, [place])
    with refused("not_in_holding", kind=StateError):
        table.discard({0: [place]})


def test_a_pull_gives_everything_back():
    """KOZ-6: shown and hidden cards since the last draw, and none from before it."""
    table = LocalTable(Book(), "kozel")
    table.deal()
    trick(table, 1, hidden=(0, 2))
    table.draw(1)
    before = [set(table.secrets.holding(seat)) for seat in range(4)]
    table.show(1, table.secrets.holding(1)[:2])
    table.discard({2: table.secrets.holding(2)[:2]})
    table.discard({3: table.secrets.holding(3)[:1]})
    table.discard({3: table.secrets.holding(3)[:1]})
    assert table.hand.layout.counts() == (4, 2, 2, 2)
    table.give_back()
    assert [set(table.secrets.holding(seat)) for seat in range(4)] == before
    assert table.hand.layout.counts() == (4, 4, 4, 4)
    assert outcome(table, attempt(table, "cards.returned")) == "not_due"
    # Whatever came back is played like any other card.
    table.show(1, sorted(before[1]))
    table.discard({2: sorted(before[2])})
    table.discard({3: sorted(before[3])})
    table.show(0, sorted(before[0]))
    assert table.hand.layout.thrown == (1, 0, 3, 3)
    table.draw(0)
    table.close()
    assert [len(row) for row in table.hand.disclosed.discards[3]] == [1, 1, 4]


def test_a_pull_needs_a_trick_and_a_seat_with_four():
    table = table_at("playing", "kozel")
    assert outcome(table, attempt(table, "cards.returned")) == "not_due"
    for seat in range(4):
        table.show(seat, table.secrets.holding(seat)[:1])
        expected = "legal" if seat < 3 else "not_due"
        assert outcome(table, attempt(table, "cards.returned")) == expected
    table.draw(0)
    assert outcome(table, attempt(table, "cards.returned")) == "not_due"
    table.discard({1: table.secrets.holding(1)})
    assert outcome(table, attempt(table, "cards.returned")) == "legal"


def play_out(table: LocalTable, pulled: bool = False) -> None:
    """A whole hand of one-card tricks; seat 1 always throws face down, seat 2 does so once."""
    if pulled:
        table.discard({1: table.secrets.holding(1)[3:]})
        table.give_back()
    number = 0
    while any(table.hand.layout.counts()):
        trick(table, number % 4, hidden=(1, 2) if number == 0 else (1,))
        if table.hand.layout.stock:
            table.draw(number % 4)
        number += 1
    assert number == 9


@pytest.mark.parametrize("pulled", [False, True])
def test_the_count_shows_the_discards(pulled):
    """KOZ-7: each once, at the end only, and none that went back."""
    table = LocalTable(Book(), "kozel")
    table.deal()
    play_out(table, pulled)
    thrown = table.secrets.thrown
    mine = [place for cards in thrown[1][pulled:] for place in cards]
    assert sorted(table.hand.layout.received[1]) == sorted(mine)
    assert len(mine) == 9
    for place in mine[::-1]:
        table.show(1, [place])
        assert outcome(table, table.secrets.show(table.header(), 2, [thrown[2][0][0]])) == "legal"
        again = replace(table.events[-1], header=table.header())
        assert outcome(table, again) == "not_in_holding"
    table.show(2, thrown[2][0])
    for seat in (0, 3):
        event = table.events[-1]
        other = replace(event, header=table.header(), shown=(event.shown[0]._replace(seat=seat),))
        assert outcome(table, other) == "not_in_holding"
    assert outcome(table, attempt(table, "cards.drawn")) == "draw_not_due"
    table.close()
    assert table.hand.disclosed is not None


def test_nothing_is_counted_before_the_end(refused):
    table = LocalTable(Book(), "kozel")
    table.deal()
    trick(table, 0, hidden=(1,))
    place = table.secrets.thrown[1][0][0]
    with refused("not_in_holding", kind=StateError):
        table.show(1, [place])
    while table.hand.layout.stock:
        table.draw(0)
        trick(table, 0, hidden=(1,))
    with refused("not_in_holding", kind=StateError):
        table.show(1, [place])


# What the disclosure must say: HAND-10, HAND-11, HAND-17.


def raw_discard(table: SlowTable, seat: int, places: list[Place]) -> None:
    """A service that locks what it likes."""
    k = table.hand.layout.thrown[seat]
    cards = tuple(sorted(places))
    salt = table.secrets.discard_salt(seat, k)
    lock = Lock(len(cards), discard_lock(1, seat, k, salt, cards))
    thrown = {**table.secrets.thrown}
    thrown[seat] = (*thrown.get(seat, ()), cards)
    table.dealing = replace(table.secrets, thrown=thrown)
    table.log(CardsDiscarded(header=table.header(), hand=1, discards={seat: lock}))


def raw_show(table: SlowTable, seat: int, place: Place) -> None:
    """A service that shows what it likes."""
    shown = Shown(seat, place, table.secrets.card(place), bytes(16))
    table.log(CardsShown(header=table.header(), hand=1, shown=(shown,)))


def cards_of(table: SlowTable, seat: int) -> list[Place]:
    return list(table.hand.layout.received[seat])


CHEATS = {
    "a card of another seat": lambda t: raw_discard(t, 0, cards_of(t, 1)[:1]),
    "a card of the stock": lambda t: raw_discard(t, 0, [Place(0, 20)]),
    "a card that is thrown already": lambda t: (
        raw_discard(t, 0, cards_of(t, 0)[:1]),
        raw_discard(t, 0, cards_of(t, 0)[:1]),
    ),
    "a card twice": lambda t: raw_discard(t, 0, cards_of(t, 0)[:1] * 2),
    "a card that was thrown is shown": lambda t: (
        raw_discard(t, 0, cards_of(t, 0)[:1]),
        raw_show(t, 0, cards_of(t, 0)[0]),
    ),
    "a card that was shown is thrown": lambda t: (
        played := cards_of(t, 0)[0],
        raw_show(t, 0, played),
        raw_discard(t, 0, [played]),
    ),
    "a card not yet drawn": lambda t: (
        raw_discard(t, 0, [Place(0, 16)]),
        [t.show(seat, t.secrets.holding(seat)[:1]) for seat in (1, 2, 3)],
        t.draw(0),
    ),
}


@pytest.mark.parametrize("cheat", CHEATS.values(), ids=CHEATS)
def test_a_card_that_was_not_held_comes_out(cheat, refused):
    """HAND-11: locks that open, to cards that were not in the holding then."""
    table = table_at("playing", "kozel")
    cheat(table)
    table.close()
    with refused("not_in_holding", kind=VerificationError):
        table.log(table.secrets.disclose(table.header()))


def test_a_disclosure_lists_each_discard_as_it_was_locked():
    table = table_at("playing", "kozel")
    for seat, size in ((0, 2), (1, 1), (0, 1), (3, 2)):
        table.discard({seat: table.secrets.holding(seat)[:size]})
    table.close()
    event = table.secrets.disclose(table.header())
    assert outcome(table, event) == "legal"
    (a, b), (c,) = event.discards[0]
    free = Place(0, 35)
    d1, d3 = event.discards[1], event.discards[3]
    for wrong in (
        {},
        {0: event.discards[0], 1: d1},
        {0: ((a, b),), 1: d1, 3: d3},
        {0: ((c,), (a, b)), 1: d1, 3: d3},
        {0: ((a, c), (b,)), 1: d1, 3: d3},
        {0: ((b, a), (c,)), 1: d1, 3: d3},
        {0: ((a, b), (c,), (free,)), 1: d1, 3: d3},
        {0: ((a, b, c),), 1: d1, 3: d3},
        {0: ((a, b), (free,)), 1: d1, 3: d3},
        {0: event.discards[0], 1: d3, 3: d1},
        {0: event.discards[0], 1: d1, 2: d3},
        {0: event.discards[0], 1: d1, 3: d3, 9: d3},
    ):
        assert outcome(table, replace(event, discards=wrong)) == "lock_mismatch"


def test_a_hand_without_discards_lists_none():
    table = table_at("playing", "kozel", timeouts=Timeouts(hand=1))
    table.abort("idle")
    assert table.secrets.disclose(table.header()).discards == {}
    table.disclose()
