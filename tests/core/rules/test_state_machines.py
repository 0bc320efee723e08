"""Hypothesis plays: it picks every move, and looks for one after which something does not hold.

Cards are conserved at each step, somebody is on turn or something is due, points add up, and each
hand hands its match on to the next. Spec: PLAY-2..5.
"""

import math
from random import Random

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from fairdeal.games.rules.base import Close
from tests.core.rules.test_interface import NAMES, SEATS, Table, check_result, ruleset

picks = st.floats(0, 1, exclude_max=True)
"""Which of so many: Hypothesis shrinks it towards the first."""


def pick(values, share):
    return values[math.floor(share * len(values))]


class Match(RuleBasedStateMachine):
    """Hands of one table, one after the other."""

    game = ""

    @initialize(seed=st.integers(0, 2**32), seats=picks)
    def sit_down(self, seed, seats):
        self.rng = Random(seed)
        self.seats = pick(SEATS[self.game], seats)
        fixed = {"stack": 60} if self.game == "azi" else {}
        self.rules = ruleset(self.rng, self.game, **fixed)
        self.number, self.match, self.first = 0, None, None
        self.deal()

    def deal(self):
        self.number += 1
        self.table = Table(
            self.game,
            self.rng,
            self.rules,
            self.seats,
            self.match,
            first=self.first,
            number=self.number,
        )

    @precondition(lambda self: self.table.play.due is None)
    @rule(seat=picks, choice=picks, amount=picks)
    def move(self, seat, choice, amount):
        play = self.table.play
        able = [other for other in range(self.seats) if play.choices(other)]
        mover = pick(able, seat)
        chosen = pick(play.choices(mover), choice)
        bid = None
        if chosen.low is not None:
            bid = chosen.low + math.floor(amount * (chosen.high - chosen.low + 1))
        self.table.move(chosen.move(mover, bid))

    @precondition(lambda self: self.table.play.due is not None)
    @rule()
    def follow(self):
        if not isinstance(self.table.play.due, Close):
            self.table.happen()
            return
        result = self.table.play.due.result
        check_result(self.table, result)
        self.check_points(result)
        self.match = None if result["winner"] is not None else result["match"]
        self.first = result["first"]
        self.deal()

    def check_points(self, result):
        score, match = result["score"], result["match"]
        if self.game == "kozel":
            assert sum(score["points"]) == 120
        elif self.game == "mus":
            target = self.rules["target"]
            assert result["winner"] is not None or max(match["score"]) < target
        elif self.game == "azi":
            assert sum(match["stacks"]) + match["bank"] == self.seats * self.rules["stack"]
        else:
            assert match["draws"] + sum(match["wins"]) == self.number

    @invariant()
    def all_holds(self):
        if hasattr(self, "table"):
            self.table.check()


@pytest.mark.parametrize("name", NAMES)
def test_whatever_is_played(name):
    """PLAY-2..5."""
    machine = type(name, (Match,), {"game": name}).TestCase
    machine.settings = settings(
        max_examples=25,
        stateful_step_count=60,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow],
    )
    machine().runTest()


def test_a_lost_card_is_found():
    """Control: the machine would see a card that is nowhere."""

    class Careless(Match):
        game = "kozel"

        @rule()
        def lose(self):
            self.table.stock = self.table.stock[1:]

    machine = Careless.TestCase
    machine.settings = settings(max_examples=5, stateful_step_count=5, deadline=None)
    with pytest.raises(AssertionError):
        machine().runTest()
