"""Svoi Kozyri: declarations, the whole deck, the exchange of sixes. Spec: SVO-1..3."""

from dataclasses import replace
from itertools import product

import pytest

from fairdeal.cards import Card, french_deck, rank_of, suit_of
from fairdeal.codecs import Given, Place
from fairdeal.events import CardsGiven
from seeds.local import Book
from tests.core.stages import SlowTable, attempt, outcome


def dealt(name: str, trumps: dict[int, str], sixes: str = "exchange") -> SlowTable:
    """A hand right after `hand.dealt`."""
    rules = {"sixes": sixes, "distinct_trumps": False}
    table = SlowTable(Book(), "svoi", name=name, ruleset=rules)
    table.deal(trumps=trumps)
    table.follow()
    return table


def sixes_to_give(table: SlowTable) -> list[tuple[int, int, Place, str]]:
    """SVO-3, six by six."""
    trumps, found = table.hand.trumps, []
    for seat in (0, 1):
        for place in table.hand.layout.received[seat]:
            card = table.secrets.card(place)
            theirs = suit_of(card) == trumps[1 - seat]
            if rank_of(card) == "6" and theirs and suit_of(card) != trumps[seat]:
                found.append((seat, 1 - seat, place, card))
    return found


def test_all_cards_are_dealt():
    """SVO-2."""
    table = dealt("0", {0: "H", 1: "S"})
    holdings = [table.secrets.holding(seat) for seat in (0, 1)]
    cards = [table.secrets.card(place) for places in holdings for place in places]
    assert sorted(cards) == sorted(french_deck())
    assert table.hand.layout.counts() == (18, 18)
    assert table.hand.layout.stock == ()


@pytest.mark.parametrize("trumps", [dict(enumerate(pair)) for pair in product("CDHS", repeat=2)])
def test_sixes_are_exchanged_exactly_when_due(trumps):
    """For each pair of suits, coinciding ones among them, hands with 0, 1 and 2 sixes to give."""
    seen = set()
    for n in range(40):
        table = dealt(f"s{n}", trumps)
        expected = sixes_to_give(table)
        seen.add(len(expected))
        due = table.secrets.due(table.header())
        if not expected:
            assert due is None
            continue
        assert isinstance(due, CardsGiven)
        salts = [table.secrets.opening(place).salt for _, _, place, _ in expected]
        assert list(due.given) == [
            Given(*parts, salt) for parts, salt in zip(expected, salts, strict=True)
        ]
        before = [set(table.secrets.holding(seat)) for seat in (0, 1)]
        table.log(due)
        for source, target, place, _ in expected:
            before[source].remove(place)
            before[target].add(place)
        assert [set(table.secrets.holding(seat)) for seat in (0, 1)] == before
        assert table.secrets.due(table.header()) is None
        again = replace(due, header=table.header())
        assert outcome(table, again) == "not_due"
        table.close()
        table.disclose()
    assert seen == ({0} if trumps[0] == trumps[1] else {0, 1, 2})


def test_without_exchange_sixes_stay():
    for n in range(8):
        table = dealt(f"s{n}", {0: "C", 1: "D"}, sixes="keep")
        assert table.secrets.due(table.header()) is None
        for seat, target, place, card in sixes_to_give(table):
            given = (Given(seat, target, place, card, bytes(16)),)
            event = replace(attempt(table, "cards.given"), given=given)
            assert outcome(table, event) == "wrong_event"


def with_sixes(count: int) -> SlowTable:
    """The first hand in which so many sixes are due."""
    tables = (dealt(f"x{n}", {0: "C", 1: "D"}) for n in range(64))
    return next(table for table in tables if len(sixes_to_give(table)) == count)


def test_other_gifts_are_refused():
    """SVO-3: as far as public events tell; the rest comes out with the seeds."""
    table = with_sixes(2)
    event = attempt(table, "cards.given")
    one, two = event.given
    (source, target, place, _, salt) = one
    assert (source, target) == (0, 1)
    wrong = {
        "descending": (two, one),
        "twice": (one, one),
        "another way": (one._replace(source=target, target=source),),
        "to itself": (one._replace(target=source), two),
        "no six": (one._replace(card=Card("7D")), two),
        "no trump": (one._replace(card=Card("6S")), two),
        "the giver's trump": (one._replace(card=Card("6C")), two),
        "a place of the other seat": (one._replace(place=two.place), two),
        "a place of nobody": (one._replace(place=Place(1, 0)), two),
    }
    expected = dict.fromkeys(wrong, "wrong_event") | {"descending": "not_due", "twice": "not_due"}
    found = {name: outcome(table, replace(event, given=given)) for name, given in wrong.items()}
    assert found == expected
    assert outcome(table, replace(event, given=(one._replace(source=9),))) == "seat_unknown"
    assert salt == table.secrets.opening(place).salt


def test_a_six_that_was_given_counts_as_shown():
    table = with_sixes(1)
    table.follow()
    (given,) = table.events[-1].given
    assert table.hand.shown == ((given.place, given.card, given.salt),)
    assert outcome(table, table.secrets.show(table.header(), given.target, [given.place])) == (
        "not_in_holding"
    )
    others = [place for place in table.secrets.holding(given.target) if place != given.place]
    table.show(given.target, others)
    table.show(given.source, table.secrets.holding(given.source))
    table.close()
    table.disclose()


def test_nothing_is_given_once_a_card_was_shown():
    table = with_sixes(1)
    event = attempt(table, "cards.given")
    table.show(0, table.secrets.holding(0)[:1])
    late = replace(event, header=table.header())
    assert outcome(table, late) == "not_due"


def test_cards_that_are_shown_stay():
    table = dealt("0", {0: "H", 1: "S"}, sixes="keep")
    places = table.secrets.holding(0)
    table.show(0, places[:3])
    assert table.secrets.holding(0) == places
    again = replace(table.events[-1], header=table.header())
    assert outcome(table, again) == "not_in_holding"
