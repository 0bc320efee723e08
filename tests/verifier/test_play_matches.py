"""A match before a hand: what there can be, and what there cannot. Spec: PLAY-2.

Each wrong one is a right one with one thing changed.
"""

import pytest

from fairdeal_verifier.play import PLAYS
from seeds.hands import new_table

AZI = {
    "bank": 0,
    "contributions": {},
    "players": [0, 1, 2],
    "stacks": [900, 1100, 1000],
    "winner": 1,
}
CARRIED = {
    "bank": 90,
    "contributions": {"0": 30, "1": 30, "2": 30},
    "players": [0, 1, 2],
    "stacks": [870, 1070, 970],
    "winner": 1,
}
KOZEL = {"defeat": [2, 4], "doubled": False, "eggs": False, "leader": 3}
DOUBLED = {"defeat": [2, 4], "doubled": True, "eggs": True, "leader": 3}

RIGHT = [
    ("kozel", {}, KOZEL),
    ("kozel", {}, KOZEL | {"eggs": True}),
    ("kozel", {"eggs": "double_next"}, DOUBLED),
    ("mus", {}, {"games": [0, 0], "score": [39, 0]}),
    ("mus", {"games": 5}, {"games": [2, 2], "score": [0, 1]}),
    ("azi", {}, AZI),
    ("azi", {}, AZI | {"players": [0, 1], "stacks": [1500, 1500, 0]}),
    ("azi", {}, CARRIED),
    ("svoi", {}, {"draws": 4, "wins": [0, 9]}),
]

WRONG = [
    # KOZ-20
    ("kozel", {}, KOZEL | {"defeat": [2, 3]}),
    ("kozel", {}, KOZEL | {"defeat": [2, 12]}),
    ("kozel", {"target": 6}, KOZEL | {"defeat": [2, 6]}),
    ("kozel", {}, KOZEL | {"defeat": [2, -2]}),
    ("kozel", {}, KOZEL | {"defeat": [2]}),
    ("kozel", {}, KOZEL | {"defeat": [True, 2]}),
    ("kozel", {}, KOZEL | {"leader": None}),
    ("kozel", {}, KOZEL | {"leader": 4}),
    ("kozel", {}, KOZEL | {"defeat": [0, 0]}),
    ("kozel", {}, KOZEL | {"eggs": 0}),
    ("kozel", {}, KOZEL | {"more": 0}),
    ("kozel", {}, DOUBLED),
    ("kozel", {"eggs": "double_next"}, DOUBLED | {"eggs": False}),
    ("kozel", {"eggs": "double_next"}, DOUBLED | {"doubled": False, "defeat": [2, 2]}),
    # MUS-26
    ("mus", {}, {"games": [0, 0], "score": [40, 0]}),
    ("mus", {"target": 30}, {"games": [0, 0], "score": [0, 30]}),
    ("mus", {}, {"games": [1, 0], "score": [0, 0]}),
    ("mus", {"games": 3}, {"games": [0, 2], "score": [0, 0]}),
    ("mus", {}, {"games": [0, 0], "score": [0, -1]}),
    ("mus", {}, {"games": [0, 0]}),
    # AZI-19
    ("azi", {}, AZI | {"stacks": [900, 1100, 1001]}),
    ("azi", {}, AZI | {"players": [0, 1]}),
    ("azi", {}, AZI | {"winner": None}),
    ("azi", {}, AZI | {"winner": 3}),
    ("azi", {}, AZI | {"players": [1], "stacks": [0, 3000, 0]}),
    ("azi", {}, AZI | {"players": [0, 2], "stacks": [1500, 0, 1500]}),
    ("azi", {}, CARRIED | {"contributions": {"0": 30, "1": 30, "2": 31}}),
    ("azi", {}, CARRIED | {"bank": 91}),
    ("azi", {}, CARRIED | {"players": [0, 1]}),
    ("azi", {}, CARRIED | {"contributions": {"0": 45, "1": 45}}),
    ("azi", {}, CARRIED | {"winner": None}),
    # SVO-15
    ("svoi", {}, {"draws": -1, "wins": [0, 0]}),
    ("svoi", {}, {"draws": 0, "wins": [0]}),
    ("svoi", {}, {"draws": 0, "wins": [0, "1"]}),
    ("svoi", {}, {"wins": [0, 0]}),
]


def fault(game, options, match):
    seats = 3 if game == "azi" else None
    table = new_table(game, "0", referee=True, ruleset=options, seats=seats)
    terms = table.table.terms_event
    return PLAYS[game].match_fault(terms.ruleset, terms.seats, match)


@pytest.mark.parametrize(("game", "options", "match"), RIGHT)
def test_a_match_that_can_be(game, options, match):
    """KOZ-20, MUS-26, AZI-19, SVO-15."""
    assert fault(game, options, match) == ""


@pytest.mark.parametrize(("game", "options", "match"), WRONG)
def test_a_match_that_cannot_be(game, options, match):
    """KOZ-20, MUS-26, AZI-19, SVO-15."""
    assert fault(game, options, match)


@pytest.mark.parametrize("game", PLAYS)
def test_a_fresh_match_can_be(game):
    """PLAY-2: and core and verifier begin it alike."""
    table = new_table(game, "0", referee=True).table
    terms = table.terms_event
    fresh = PLAYS[game].fresh(terms.ruleset, terms.seats)
    assert fresh == table.next_match()
    assert not PLAYS[game].match_fault(terms.ruleset, terms.seats, fresh)
