"""Turns have deadlines. Spec: PLAY-6, HAND-16, HAND-18."""

from __future__ import annotations

import pytest

from fairdeal_api.service import initialise
from fairdeal_verifier.verify import verify
from tests.api.conftest import Site
from tests.api.play import event_types, expect
from tests.api.refereed import Refereed, judge
from tests.api.test_deadlines import last_event, wait_for

SLOW = {"turn": 1000}


def late(table):
    wait_for(lambda: table.operator.state()["state"], "aborted")
    return table.operator.state()


@pytest.mark.parametrize(
    ("game", "terms", "waiting"),
    [
        ("mus", {}, 1),
        ("kozel", {}, 1),
        ("svoi", {}, 1),
        ("azi", {"ruleset": {"cards": 4}}, 4),
    ],
)
def test_a_seat_that_does_not_move_ends_the_hand(site, later, game, terms, waiting):
    """The seats on turn are named, all of them and no others."""
    table = Refereed(site.client, site.key(), game, custody="seats", timeouts={"turn": 50}, **terms)
    dealt = table.deal()
    assert dealt["deadline"] is not None
    assert len(dealt["turn"]) == waiting
    match = table.operator.state()["match"]
    later(site, 51)
    state = late(table)
    assert (state["reason"], state["missing"]) == ("turn_timeout", dealt["turn"])
    assert (state["turn"], state["result"]) == ([], None)
    assert state["server_seed"]
    types = [event["type"] for event in last_event(table.operator.table, site.client)]
    assert types[-2:] == ["hand.aborted", "hand.disclosed"]
    content = site.client.get(table.operator.url("/transcript")).content
    judge(content)
    assert verify(content, key=str(site.service.verifier_key)).exit == 0
    # Such a hand counts for nothing: the next one begins with the same match.
    table.deal()
    assert table.operator.state()["match"] == match


def test_each_move_gives_the_next_seat_its_time(site, later):
    table = Refereed(site.client, site.key(), "mus", timeouts={"turn": 50})
    table.deal()
    for _ in range(3):
        later(site, 40)
        site.client.portal.call(site.service.sweep, 1)
        table.step()
    assert table.answer["state"] == "playing"
    turn = table.answer["turn"]
    later(site, 51)
    assert late(table)["missing"] == turn


def test_a_turn_that_has_passed_counts_at_the_next_touch(site, later, monkeypatch):
    async def never(_self, _turn):
        return

    monkeypatch.setattr("fairdeal_api.service.Service.sweep", never)
    table = Refereed(site.client, site.key(), "kozel", timeouts={"turn": 50})
    (seat,) = table.deal()["turn"]
    move = table.own(seat)["moves"][0]
    later(site, 51)
    action = {name: move[name] for name in ("type", "seat", "cards")}
    expect(table.act(action), 409, "already_final")
    state = table.operator.state()
    assert (state["reason"], state["missing"]) == ("turn_timeout", [seat])


def test_seeds_of_a_reshuffle_have_their_own_time(site, later):
    """A turn's deadline does not run while seeds are due; then it does again."""

    def changes(view):
        calls = {move.get("call"): move for move in view.moves}
        move = calls["mus"] if "mus" in calls else view.moves[-1]
        return {name: move[name] for name in ("type", "seat", "call", "cards") if name in move}

    table = Refereed(
        site.client,
        site.key(),
        "mus",
        custody="seats",
        players=[changes] * 4,
        timeouts={"turn": 600, "open": 50},
    )
    table.deal()
    while table.answer["state"] != "reopening":
        table.step()
    later(site, 51)
    state = late(table)
    assert (state["reason"], state["missing"]) == ("open_timeout", [0, 1, 2, 3])


def test_a_restart_gives_a_turn_its_full_time_again(settings, later):
    """Spec: HAND-18."""
    initialise(settings)
    with Site(settings) as site:
        table = Refereed(site.client, site.key(), "kozel", timeouts={"turn": 50})
        turn = table.deal()["turn"]
        later(site, 40)
    with Site(settings) as site:
        table.client = table.operator.client = site.client
        later(site, 40)  # past the first deadline
        site.client.portal.call(site.service.sweep, 1)
        assert table.operator.state()["turn"] == turn
        later(site, 11)
        assert late(table)["missing"] == turn


def test_an_operator_who_aborts_names_nobody(shared):
    table = Refereed(shared.client, shared.key(), "azi", timeouts=SLOW)
    table.deal()
    aborted = expect(table.operator.post(table.operator.url("/abort"), {}))
    assert event_types(aborted) == ["hand.aborted", "hand.disclosed"]
    state = table.operator.state()
    assert (state["reason"], state["missing"]) == ("operator", [])
