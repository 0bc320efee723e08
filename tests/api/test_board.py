"""The board: that what it has is documented, and in Mus who has pares and juego.

Spec: MUS-14, MUS-15.
"""

from __future__ import annotations

import re
from pathlib import Path
from random import Random

import pytest

from fairdeal.cards import Card
from fairdeal.games import GAMES, rules_of
from fairdeal.games.rules.base import Close, Deal, Declare, Move
from fairdeal_api import board
from tests.core.rules.test_interface import SEATS, Table, defaults

NONE, PAIR, JUEGO, BOTH = "6 5 4 1", "7 7 5 1", "12 11 7 4", "12 12 10 10"
API = Path(__file__).parents[2] / "docs" / "api.md"
LANCES = ["grande", "chica", "pares", "juego", "punto"]


def hands_of(texts):
    """Four hands from ranks, with the first suits that are left."""
    left = {rank: list("oceb") for text in texts for rank in text.split()}
    return tuple(tuple(Card(rank + left[rank].pop()) for rank in text.split()) for text in texts)


def start(texts):
    mus, rules = rules_of(GAMES["mus"]), defaults("mus")
    return mus.start(rules, mus.fresh(rules, 4), Deal(1, 4, 0, hands_of(texts), 24, None, {}))


def passed(play):
    """A hand without a bet: each lance with what the board says in it, and what was declared."""
    said = {"pares": None, "juego": None}
    boards = []
    while not isinstance(play.due, Close):
        if play.due is not None:
            if isinstance(play.due, Declare):
                assert board.of(play)["declared"] == said  # not before it is in the log
                said = said | {play.due.what: list(play.due.seats)}
            play = play.done(play.due)
            continue
        shown = board.of(play)
        assert shown["declared"] == said
        boards.append((shown["lance"], shown["declared"]))
        call = "no_mus" if shown["stage"] == "talk" else "paso"
        play = play.apply(Move(play.turn[0], "call", (), call))
    return boards


@pytest.mark.parametrize(
    ("hands", "pares", "juego", "lances"),
    [
        ((NONE, NONE, NONE, NONE), [], [], "grande chica punto"),
        ((PAIR, NONE, NONE, NONE), [0], [], "grande chica punto"),
        ((PAIR, PAIR, NONE, NONE), [0, 1], [], "grande chica pares punto"),
        ((NONE, BOTH, NONE, JUEGO), [1], [1, 3], "grande chica"),
        ((JUEGO, BOTH, NONE, NONE), [1], [0, 1], "grande chica juego"),
        ((PAIR, BOTH, BOTH, NONE), [0, 1, 2], [1, 2], "grande chica pares juego"),
    ],
)
def test_who_has_declared_stays_on_the_board(hands, pares, juego, lances):
    """Also where all are of one team, so that nobody speaks; null until it was said."""
    boards = passed(start(hands))
    played = [lance for lance, _ in boards if lance is not None]
    assert sorted(set(played), key=LANCES.index) == lances.split()
    for lance, declared in boards:
        at = LANCES.index(lance) if lance else 0
        expected = {"pares": pares if at >= 2 else None, "juego": juego if at >= 3 else None}
        assert declared == expected


def test_nothing_is_declared_during_the_talk():
    """The hands are known to the service then, and change."""
    play = start((PAIR, BOTH, BOTH, NONE))
    for seat in range(4):
        play = play.apply(Move(seat, "call", (), "mus"))
        assert board.of(play)["declared"] == {"pares": None, "juego": None}


@pytest.mark.parametrize(
    ("game", "row"), [("kozel", "Kozel"), ("mus", "Mus"), ("azi", "Azi"), ("svoi", "Svoi Kozyri")]
)
def test_each_field_of_a_board_is_documented(game, row):
    line = re.search(rf"^\| {row} \| (`.*) \|$", API.read_text("utf-8"), re.MULTILINE)
    fields = set(board.of(Table(game, Random(1), defaults(game), SEATS[game][0]).play))
    assert fields <= set(re.findall(r"`(\w+)`", line[1]))
