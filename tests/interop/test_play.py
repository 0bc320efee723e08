"""Core and verifier agree on the play: in every state, on whole files, and on changed ones.

Spec: PLAY-1..6, PLAY-9, VER-7, and the pages play-azi, play-kozel, play-mus, play-svoi.
"""

from __future__ import annotations

from random import Random
from unittest import mock

import pytest

from fairdeal.games import game_named, rules_of
from fairdeal.games.base import Span
from fairdeal_verifier.play import PLAYS, follow
from tests.interop.play_files import change_counts, verified_tables
from tests.interop.play_pair import (
    DISCARDED,
    DRAWN,
    NAMES,
    SEATS,
    SHOWN,
    Dealer,
    DisagreementError,
    Looks,
    Pair,
    any_ruleset,
    called,
    check_state,
    choose,
    every_fact,
    lock_step,
    play,
    tables,
)

GAMES = 500
SEEN = {
    "azi": "azi bank part match cards.discarded cards.looked cards.shown "
    "bet check fold call raise all_in buy_in stay_out",
    "kozel": "match eggs cards.discarded cards.drawn cards.returned cards.shown "
    "penalty_2 penalty_4 penalty_6 penalty_8",
    "mus": "match reshuffle paso accepted refused ordago uncontested cards.discarded cards.drawn "
    "play.declared cards.shown mus no_mus envido raise quiero no_quiero",
    "svoi": "out last_card repetition limit cards.shown take",
}


@pytest.mark.parametrize("name", NAMES)
def test_both_have_the_same_options(name):
    """PLAY-1: names, values, bounds."""
    theirs = PLAYS[name].options
    ours = {
        option: range(values.low, values.high + 1) if isinstance(values, Span) else values
        for option, values in rules_of(game_named(name)).options.items()
    }
    assert ours == dict(theirs)
    assert repr(ours) == repr({option: theirs[option] for option in ours})  # 1 is not true


@pytest.mark.parametrize("name", NAMES)
def test_both_play_the_same_games(name):
    """PLAY-2..5: whole matches with random rulesets, in lock step, everything conserved."""
    work = lock_step(name, "test", GAMES)
    assert work.games == GAMES
    assert set(SEEN[name].split()) <= {what.replace(" ", "_") for what in work.seen}
    assert work.candidates > 2 * work.facts
    assert 0.15 * work.candidates < work.legal < 0.7 * work.candidates


@pytest.mark.parametrize("name", NAMES)
def test_both_allow_the_same_in_every_state(name):
    """PLAY-3: all that could be done, in all states of some hands."""
    looks = Looks(tries=0, often=1.0 if name != "svoi" else 0.1, check=check_state)
    assert lock_step(name, "every state", 4, looks).candidates > 1000


def test_a_talk_without_end_ends_with_the_seeds():
    """MUS-11, HAND-14."""
    rng = Random(1)
    dealer = Dealer("mus", rng, any_ruleset("mus", rng), 4, 0)
    rules = rules_of(game_named("mus"))
    pair = Pair(rules, dealer, rules.fresh(dealer.rules, 4), 1)

    def talk(pair, rng):
        (seat,) = pair.ours.turn
        may_talk = any(choice.call == "mus" for choice in pair.choices(seat))
        return called(seat, "mus") if may_talk else choose(pair, rng)

    assert play(pair, rng, Looks(check=check_state), talk).result is None
    assert dealer.reshuffles == 32
    assert {fact.kind for fact in pair.facts} == {"play.called", DISCARDED, DRAWN}


@pytest.mark.parametrize("name", NAMES)
def test_a_pair_notices_when_one_side_is_elsewhere(name):
    """The control: with the cards of another deal the two do not go far together.

    Sometimes they do: in Azi all but one may fold.
    """
    seen = 0
    for seed in range(20):
        rng = Random(seed)
        ruleset, seats = any_ruleset(name, rng), SEATS[name][0]
        rules = rules_of(game_named(name))
        match = rules.fresh(ruleset, seats)
        one, other = (Pair(rules, Dealer(name, rng, ruleset, seats, 0), match, 1) for _ in "ab")
        one.theirs = other.theirs
        try:
            play(one, rng, Looks())
        except DisagreementError:
            seen += 1
    assert seen >= 15


@pytest.mark.parametrize("name", NAMES)
def test_files_of_random_matches_are_verified(name):
    """PLAY-8, PLAY-9, VER-7: both bots, random rulesets, reshuffles, keyed seats, stopped hands."""
    count, wrong = verified_tables(name, 0, 16)
    assert wrong == []
    assert count >= 60


@pytest.mark.parametrize("name", NAMES)
def test_both_judge_changed_files_alike(name):
    """PLAY-3..5: a change passes exactly if the hand can be played so."""
    counts, wrong = change_counts(name, 1000, 1025)
    assert wrong == []
    legal = sum(number for kind, number in counts.items() if kind.endswith(" legal"))
    assert sum(counts.values()) == 200
    assert 5 <= legal <= 80


def test_a_verifier_that_does_not_look_at_results_is_noticed():
    """The control of the test above."""
    with mock.patch.object(follow, "is_same", return_value=True):
        _, wrong = change_counts("kozel", 1000, 1010)
    assert wrong
    assert all("result: core False, verifier True" in one for one in wrong)


def test_candidates_are_of_all_kinds():
    """Otherwise the tests above would say less than they seem to."""
    for name in NAMES:
        pair = next(tables(name, "kinds")).pair
        kinds = {fact.kind for fact in every_fact(pair, Random(1))}
        assert {SHOWN, "cards.looked", "cards.returned", "play.called"} <= kinds
