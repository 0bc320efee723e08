"""Mistakes planted in the core's rules: the pairs with the verifier see each of them."""

from __future__ import annotations

from collections import Counter

import pytest

from fairdeal.games import GAMES, rules_of
from tests.interop.rule_faults import FAULTS, MOST_GAMES, Fault, compiled, hunt


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: f"{fault.game}: {fault.name}")
def test_the_verifier_sees(fault, record_property):
    games, seen = hunt(fault.game, fault)
    record_property("games", games)
    assert seen, f"not in {games} games"


@pytest.mark.parametrize("game", sorted(GAMES))
def test_without_a_fault_nothing_is_seen(game):
    """The control: the same rules, compiled in the same way, over as many games."""
    assert hunt(game) == (MOST_GAMES, [])


def test_there_are_enough_faults():
    assert min(Counter(fault.game for fault in FAULTS).values()) >= 8
    assert len({(fault.game, fault.old, fault.new) for fault in FAULTS}) == len(FAULTS)
    assert len({(fault.game, fault.name) for fault in FAULTS}) == len(FAULTS)


def test_a_fault_whose_place_is_gone_is_noticed():
    with pytest.raises(ValueError, match="0 x"):
        compiled("mus", Fault("mus", "stale", "this text is nowhere", ""))


def test_the_real_rules_stay_as_they_are():
    for game in GAMES.values():
        before = rules_of(game)
        fault = next(fault for fault in FAULTS if fault.game == game.name)
        assert type(compiled(game.name, fault)) is not type(before)
        assert rules_of(game) is before
        assert type(before).__module__ == f"fairdeal.games.rules.{game.name}"
