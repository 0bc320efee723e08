"""Deadlines: a hand that nobody ends is ended, a table that nobody uses is closed."""

from __future__ import annotations

import json
import time

import pytest

from fairdeal_api import system
from fairdeal_api.deadlines import Deadlines
from fairdeal_api.service import initialise
from tests.api.conftest import Site
from tests.api.play import Devices, Operator, bearer, expect, head_of


def wait_for(read, wanted, seconds=60.0):
    """Until a sweep, four times a second, has done it; the limit only ends a test that hangs."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if (found := read()) == wanted:
            return found
        time.sleep(0.05)
    raise AssertionError(f"{read()} is not {wanted}")


def last_event(table, client):
    events = expect(client.get(f"/v1/tables/{table}/events"))["events"]
    return [json.loads(event["event"]) for event in events]


@pytest.mark.parametrize(
    ("phase", "reason", "missing"),
    [("sealing", "seal_timeout", [1, 2, 3]), ("opening", "open_timeout", [2, 3])],
)
def test_a_seat_that_does_not_come_ends_the_hand(site, later, phase, reason, missing):
    """Spec: HAND-18."""
    table = Devices(site.client, site.key(), "mus", timeouts={"seal": 50, "open": 50})
    table.open()
    if phase == "sealing":
        expect(table.put(0, "seal", {"seal": table.secrets.seals["0"]}), 201)
    else:
        head = table.seal_all()
        for seat in (0, 1):
            body = {"epoch": 0, "head": head, "seed": table.secrets.seeds()[str(seat)]}
            expect(table.put(seat, "seed", body), 201)
    later(site, 51)
    wait_for(lambda: table.operator.state()["state"], "aborted")
    state = table.operator.state()
    assert (state["reason"], state["missing"]) == (reason, missing)
    assert state["server_seed"]
    types = [event["type"] for event in last_event(table.table, site.client)]
    assert types[-2:] == ["hand.aborted", "hand.disclosed"]


@pytest.mark.parametrize("phase", ["sealing", "opening"])
def test_a_seat_that_comes_gives_the_others_no_more_time(site, later, phase):
    """HAND-16, HAND-18: the hand ends at the deadline that it names. Control: not before it."""
    table = Devices(site.client, site.key(), "mus", timeouts={"seal": 50, "open": 50})
    table.open()
    head = table.seal_all() if phase == "opening" else ""

    def come(seat):
        if phase == "sealing":
            return table.put(seat, "seal", {"seal": table.secrets.seals[str(seat)]})
        seed = table.secrets.seeds()[str(seat)]
        return table.put(seat, "seed", {"epoch": 0, "head": head, "seed": seed})

    deadline = table.operator.state()["deadline"]
    for seat in range(3):
        later(site, (0, 25, 20)[seat])
        expect(come(seat), 201)
        assert table.operator.state()["deadline"] == deadline
    later(site, 6)
    expect(come(3), 409, "already_final")
    assert table.operator.state()["missing"] == [3]


def test_an_idle_hand_ends(site, later):
    table = Operator(site.client, site.key(), "kozel", timeouts={"hand": 50})
    table.open()
    table.deal()
    later(site, 51)
    wait_for(lambda: table.state()["state"], "aborted")
    assert table.state()["reason"] == "idle"
    assert table.state()["missing"] == []


def test_an_idle_table_is_disclosed_and_closed(site, later, monkeypatch):
    """Spec: TBL-3, HAND-17."""
    monkeypatch.setattr("fairdeal_api.service._IDLE_EVERY", 1)
    table = Operator(site.client, site.key(), "kozel", timeouts={"table": 50}, disclosure="table")
    table.open()
    table.deal()
    table.close()
    later(site, 51)
    wait_for(lambda: expect(site.client.get(f"/v1/tables/{table.table}"))["state"], "closed")
    types = [event["type"] for event in last_event(table.table, site.client)]
    assert types[-2:] == ["hand.disclosed", "table.closed"]


@pytest.mark.parametrize(("seconds", "state"), [(49, "idle"), (51, "closed")])
def test_a_table_that_is_used_again_before_its_turn_is_not_closed(site, later, seconds, state):
    """TBL-3: it is looked at once more, by whoever holds it. Control: one that is idle still."""
    table = Operator(site.client, site.key(), "kozel", timeouts={"table": 50})
    later(site, seconds)
    site.client.portal.call(site.service.dealer.close_idle, table.table)
    assert expect(site.client.get(f"/v1/tables/{table.table}"))["state"] == state


def test_a_deadline_has_passed_for_all_who_ask_in_the_same_millisecond(monkeypatch):
    """HAND-18: what the sweep takes is over for the table as well, or nobody would end it."""
    now = 1_000
    monkeypatch.setattr(system, "monotonic", lambda: now)
    deadlines = Deadlines()
    deadlines.set("tbl", 5)
    now = 5_999
    assert not deadlines.passed("tbl")
    assert deadlines.take_passed(9) == []
    now = 6_000
    assert deadlines.passed("tbl")
    assert deadlines.take_passed(9) == ["tbl"]


def test_a_deadline_that_comes_nearer_is_kept(monkeypatch):
    now = 0
    monkeypatch.setattr(system, "monotonic", lambda: now)
    deadlines = Deadlines()
    deadlines.set("tbl", 3600)
    deadlines.set("tbl", 5)
    now = 5_000
    assert deadlines.take_passed(9) == ["tbl"]
    now = 3_600_000
    assert deadlines.take_passed(9) == []  # once


def test_a_passed_deadline_counts_at_the_next_touch(site, later, monkeypatch):
    async def never(_self, _turn):
        return

    monkeypatch.setattr("fairdeal_api.service.Service.sweep", never)
    table = Devices(site.client, site.key(), "svoi", timeouts={"seal": 50})
    table.open()
    later(site, 51)
    expect(table.put(0, "trump", {"suit": "H"}), 409, "already_final")
    assert table.operator.state()["reason"] == "seal_timeout"


def test_a_restart_gives_a_hand_its_full_time_again(settings, later):
    """Spec: HAND-18."""
    initialise(settings)
    with Site(settings) as site:
        key = site.key()
        table = Operator(site.client, key, "mus", timeouts={"open": 50})
        opened = table.open()
        later(site, 40)
    with Site(settings) as site:
        table.client = site.client
        later(site, 40)  # past the first deadline
        site.client.portal.call(site.service.sweep, 1)
        assert table.state()["state"] == "opening"
        assert table.state()["due_head"] == head_of(opened) == opened["sealed_head"]
        later(site, 11)
        wait_for(lambda: table.state()["state"], "aborted")


def test_a_seat_reads_its_cards_after_a_restart_as_before(settings):
    initialise(settings)
    with Site(settings) as site:
        table = Operator(site.client, site.key(), "mus")
        table.open()
        dealt = table.deal()
        turn = dealt["first"]
        cards = [[c["epoch"], c["position"]] for c in dealt["cards"][str(turn)][:2]]
        table.act({"type": "discard", "seat": turn, "cards": cards})
        before = table.cards(turn)
    with Site(settings) as site:
        table.client = site.client
        assert table.cards(turn) == before
        assert before["next_discard"]["k"] == 1
        url = table.url(f"/seats/{turn}/cards")
        assert site.client.get(url, headers=bearer(table.key)).headers["etag"] == '"5"'
