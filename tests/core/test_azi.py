"""Azi. Spec: AZI-1..3, HAND-15."""

from dataclasses import replace
from itertools import permutations, product

import pytest

from fairdeal.cards import suit_of
from fairdeal.codecs import Lock, Place, Shown
from fairdeal.errors import StateError
from seeds.local import Book
from tests.core.stages import SlowTable, attempt, outcome, table_at

SEATS = range(2, 7)
CARDS = (3, 4)
TRUMPS = ("next_card", "dealer_last")


def dealt(seats: int, first: int | None = None, **rules) -> SlowTable:
    """A table of Azi at its deal; with `first`, at its second hand."""
    table = SlowTable(Book(), "azi", seats=seats, ruleset=rules)
    for number in (1, 2):
        table.deal(first)
        if first is None or number == 2:
            break
        table.follow()
        table.close()
        table.disclose()
    return table


@pytest.mark.parametrize(("seats", "cards", "trump"), list(product(SEATS, CARDS, TRUMPS)))
def test_the_trump_card(seats, cards, trump):
    """AZI-1: the next card, in nobody's hand; or the dealer's last, which stays in the dealer's."""
    for first in (None, *range(seats)):
        table = dealt(seats, first, cards=cards, trump=trump)
        event = attempt(table, "hand.dealt")
        table.log(event)
        (shown,) = event.shown
        dealer = (event.first - 1) % seats
        last = seats * cards - 1
        if trump == "next_card":
            assert (shown.seat, shown.place) == (None, Place(0, last + 1))
            assert table.hand.layout.stock[0] == shown.place
        else:
            assert (shown.seat, shown.place) == (dealer, Place(0, last))
            assert table.secrets.holding(dealer)[-1] == shown.place
        assert shown.card == table.secrets.decks[0].order[shown.place.position]
        assert table.hand.layout.counts() == (cards,) * seats
        assert len(table.hand.layout.stock) == 27 - seats * cards


@pytest.mark.parametrize("trump", TRUMPS)
def test_another_trump_card_is_refused(trump):
    table = dealt(3, trump=trump)
    event = attempt(table, "hand.dealt")
    (shown,) = event.shown
    for wrong in (
        (),
        (shown, shown),
        (shown._replace(seat=None if shown.seat is not None else 0),),
        (shown._replace(seat=1 if shown.seat != 1 else 2),),
        (shown._replace(place=Place(0, shown.place.position + 1)),),
        (shown._replace(place=Place(1, shown.place.position)),),
    ):
        assert outcome(table, replace(event, shown=wrong)) == "wrong_event"
    assert outcome(table, replace(event, indicator="6H")) == "wrong_event"


@pytest.mark.parametrize("suits", ["DHS", "CDH", "CDS", "CHS"])
def test_only_the_named_suits_are_dealt(suits):
    table = dealt(6, suits=suits, cards=4)
    order = table.secrets.decks[0].order
    assert {suit_of(card) for card in order} == set(suits)
    assert len(order) == 27


@pytest.mark.parametrize("seats", SEATS)
def test_with_three_cards_nothing_is_discarded(seats):
    """AZI-2."""
    table = dealt(seats)
    table.follow()
    event = attempt(table, "cards.discarded")
    assert outcome(table, event) == "action_not_allowed"
    assert outcome(table, attempt(table, "cards.shown")) == "legal"


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_with_four_cards_each_seat_throws_one_first(seats):
    """AZI-2: in any order, once, and before a card is shown. HAND-15: no half locked round ends."""
    for order in permutations(range(seats)):
        table = dealt(seats, cards=4)
        table.follow()

        def lock(*chosen: int, size: int = 1, table: SlowTable = table) -> str:
            locks = {seat: Lock(size, bytes(32)) for seat in chosen}
            return outcome(table, replace(attempt(table, "cards.discarded"), discards=locks))

        assert lock(*order) == lock(*order[:1]) == "legal"
        assert lock(order[0], size=2) == "action_not_allowed"
        assert lock(9) == "seat_unknown"
        for done, seat in enumerate(order):
            closing = outcome(table, attempt(table, "hand.closed"))
            assert closing == ("legal" if done == 0 else "wrong_phase")
            assert outcome(table, attempt(table, "cards.shown")) == "wrong_phase"
            table.discard({seat: table.secrets.holding(seat)[1:2]})
            assert lock(seat) == "not_your_turn"
        assert table.hand.layout.counts() == (3,) * seats
        assert outcome(table, attempt(table, "hand.closed")) == "legal"
        for seat in order:
            table.show(seat, table.secrets.holding(seat))
        assert outcome(table, attempt(table, "cards.shown")) == "not_in_holding"
        table.close()
        table.disclose()


def test_a_card_that_is_thrown_is_not_played():
    table = dealt(2, cards=4)
    table.follow()
    for seat in (0, 1):
        table.discard({seat: table.secrets.holding(seat)[:1]})
    table.show(0, table.secrets.holding(0))
    thrown = table.secrets.thrown[0][0][0]
    shown = Shown(0, thrown, table.secrets.card(thrown), bytes(16))
    event = replace(table.events[-1], header=table.header(), shown=(shown,))
    assert outcome(table, event) == "not_in_holding"


@pytest.mark.parametrize("trump", TRUMPS)
def test_every_card_is_played(trump):
    """The dealer's turned card is played like another; the next card by nobody."""
    table = dealt(4, trump=trump)
    table.follow()
    turned = table.hand.dealt.shown[0].place
    for seat in range(4):
        table.show(seat, table.secrets.holding(seat))
        again = replace(table.events[-1], header=table.header())
        assert outcome(table, again) == "not_in_holding"
    played = {place for event in table.events[-4:] for _, place, _, _ in event.shown}
    assert (turned in played) == (trump == "dealer_last")
    assert outcome(table, attempt(table, "cards.drawn")) == "action_not_allowed"


@pytest.mark.parametrize("cards", CARDS)
def test_a_blind_seat_looks_once_and_before_it_plays(cards, refused):
    """AZI-3: it may throw its discard unseen."""
    table = dealt(3, blind=True, cards=cards)
    table.follow()
    if cards == 4:
        for seat in range(3):
            table.discard({seat: table.secrets.holding(seat)[:1]})
    assert outcome(table, attempt(table, "cards.shown")) == "not_looked"
    table.look(0)
    with refused("action_not_allowed", kind=StateError):
        table.look(0)
    assert outcome(table, attempt(table, "cards.shown")) == "legal"
    with refused("not_looked", kind=StateError):
        table.show(1, table.secrets.holding(1)[:1])
    with refused("seat_unknown", kind=StateError):
        table.look(3)
    table.show(0, table.secrets.holding(0)[:1])
    table.look(2)
    assert table.hand.layout.looked == {0, 2}
    table.close()


def test_without_blind_nobody_looks(refused):
    table = dealt(3)
    table.follow()
    with refused("action_not_allowed", kind=StateError):
        table.look(0)


def test_looking_is_of_one_hand():
    table = dealt(2, blind=True)
    table.follow()
    table.look(0)
    table.close()
    table.disclose()
    table.deal()
    table.follow()
    assert table.hand.layout.looked == frozenset()


def test_a_folded_hand_is_closed_without_a_card():
    table = table_at("playing", "azi")
    table.close()
    assert table.hand.shown == tuple((s.place, s.card, s.salt) for s in table.hand.dealt.shown)
