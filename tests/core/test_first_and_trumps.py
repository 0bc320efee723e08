"""Who receives the first card, and who names which trumps. Spec: HAND-2, HAND-3, GAME-2, SVO-1."""

from dataclasses import replace

import pytest

from fairdeal.events import TrumpsDeclared
from seeds.local import Book
from tests.core.stages import SlowTable, attempt, outcome


def ended(game: str, how: str) -> SlowTable:
    """A table whose first hand was closed, or aborted at a stage."""
    table = SlowTable(Book(), game, name=game[0])
    table.open_hand()
    if how == "sealing":
        table.abort()
    else:
        if table.table.game.declares_trumps:
            table.declare({0: "H", 1: "S"})
        table.seal()
        table.open_seeds()
        table.follow()
        table.close() if how == "closed" else table.abort()
    table.disclose()
    return table


@pytest.mark.parametrize("game", ["kozel", "mus", "azi", "svoi"])
def test_the_first_seat_of_the_next_hand(game):
    for how in ("closed", "dealt", "sealing"):
        table = ended(game, how)
        seats = table.table.terms_event.seats
        dealt = table.hand.dealt.first if table.hand.dealt else None
        everyone = {*range(seats)} | ({None} if game == "azi" else set())
        allowed = everyone if how == "closed" else {dealt}
        event = attempt(table, "hand.opened")
        for first in (None, *range(seats), seats, 9):
            expected = "legal" if first in allowed else "first_not_allowed"
            assert outcome(table, replace(event, first=first)) == expected
        assert {*table.table.first_choices()} == allowed
        if how == "closed":
            assert table.table.first_choices()[0] == (dealt + 1) % seats


@pytest.mark.parametrize("game", ["kozel", "mus", "azi", "svoi"])
def test_an_aborted_hand_s_own_first_seat_stays(game):
    """Hand 2 was given a seat and is aborted before it is dealt: hand 3 has the same."""
    table = ended(game, "closed")
    for first in range(table.table.terms_event.seats):
        table.open_hand(first)
        table.abort()
        table.disclose()
        assert table.table.first_choices() == (first,)
        table.open_hand()
        assert table.hand.first == first
        if game == "svoi":
            table.declare({first: "H"})
            table.declare({1 - first: "S"})
        table.seal()
        table.open_seeds()
        event = attempt(table, "hand.dealt")
        assert event.first == first
        table.log(event)
        table.close()
        table.disclose()


def test_the_seat_that_was_given_is_dealt_first():
    """GAME-2: though the cards would go round rightly from another one."""
    table = ended("mus", "closed")
    for seat in range(4):
        table.open_hand(seat)
        table.seal()
        table.open_seeds()
        event = attempt(table, "hand.dealt")
        assert event.first == seat
        for first in {0, 1, 2, 3} - {seat}:
            layout = table.table.game.deal(table.hand.table.ruleset, 4, first, 2, None)
            rows = [tuple(place.position for place in row) for row in layout.received]
            other_deal = replace(event, first=first, positions=dict(enumerate(rows)))
            assert outcome(table, other_deal) == "wrong_event"
        table.abort()
        table.disclose()
        table = ended("mus", "closed")


@pytest.mark.parametrize("distinct", [True, False])
@pytest.mark.parametrize("first", [None, 1])
def test_declarations(distinct, first):
    table = SlowTable(Book(), "svoi", ruleset={"distinct_trumps": distinct})
    if first is not None:
        table.open_hand()
        table.declare({0: "H", 1: "S"})
        table.seal()
        table.open_seeds()
        table.follow()
        table.close()
        table.disclose()
    table.open_hand(first)
    lead = first or 0
    assert table.hand.declarations_due == (lead, 1 - lead)

    def declare(**trumps) -> str:
        named_seats = {int(seat[1:]): suit for seat, suit in trumps.items()}
        event = TrumpsDeclared(header=table.header(), hand=table.hand.number, trumps=named_seats)
        return outcome(table, event)

    same = "trump_not_allowed" if distinct else "legal"
    assert declare(s0="H", s1="S") == declare(**{f"s{lead}": "H"}) == "legal"
    assert declare(s0="H", s1="H") == same
    assert declare(**{f"s{1 - lead}": "H"}) == "not_your_turn"
    assert declare(s0="H", s1="S", s2="D") == "not_your_turn"
    assert outcome(table, attempt(table, "seeds.sealed")) == "wrong_phase"
    table.declare({lead: "H"})
    assert declare(**{f"s{1 - lead}": "H"}) == same
    assert declare(**{f"s{1 - lead}": "C"}) == "legal"
    assert declare(**{f"s{lead}": "C"}) == declare(s0="C", s1="D") == "not_your_turn"
    assert outcome(table, attempt(table, "seeds.sealed")) == "wrong_phase"
    table.declare({1 - lead: "C"})
    assert declare(**{f"s{lead}": "C"}) == "not_your_turn"
    table.seal((1,))
    assert declare(s0="C", s1="D") == "not_your_turn"
    table.seal((0,))
    assert declare(s0="C", s1="D") == "wrong_phase"
