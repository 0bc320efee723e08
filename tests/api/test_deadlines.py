"""Deadlines: a hand that nobody ends is ended, a table that nobody uses is closed."""

from __future__ import annotations

import json
import time

import pytest

from fairdeal_api import system
from fairdeal_api.service import initialise
from tests.api.conftest import Site
from tests.api.play import Devices, Operator, bearer, expect, head_of


def wait_for(read, wanted, seconds=6.0):
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
def test_a_seat_that_does_not_come_ends_the_hand(shared, phase, reason, missing):
    """Spec: HAND-18."""
    table = Devices(shared.client, shared.key(), "mus", timeouts={"seal": 1, "open": 1})
    table.open()
    if phase == "sealing":
        expect(table.put(0, "seal", {"seal": table.secrets.seals["0"]}), 201)
    else:
        head = table.seal_all()
        for seat in (0, 1):
            body = {"epoch": 0, "head": head, "seed": table.secrets.seeds()[str(seat)]}
            expect(table.put(seat, "seed", body), 201)
    wait_for(lambda: table.operator.state()["state"], "aborted")
    state = table.operator.state()
    assert (state["reason"], state["missing"]) == (reason, missing)
    assert state["server_seed"]
    types = [event["type"] for event in last_event(table.table, shared.client)]
    assert types[-2:] == ["hand.aborted", "hand.disclosed"]


@pytest.mark.parametrize("phase", ["sealing", "opening"])
def test_a_seat_that_comes_gives_the_others_no_more_time(site, monkeypatch, phase):
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
    passed = 0
    wall, steady = system.wall_clock, system.monotonic
    monkeypatch.setattr(site.service.clock, "_read", lambda: wall() + passed)
    monkeypatch.setattr(system, "monotonic", lambda: steady() + passed)
    for seat in range(3):
        passed = (0, 25_000, 45_000)[seat]
        expect(come(seat), 201)
        assert table.operator.state()["deadline"] == deadline
    passed = 51_000
    expect(come(3), 409, "already_final")
    assert table.operator.state()["missing"] == [3]


def test_an_idle_hand_ends(shared):
    table = Operator(shared.client, shared.key(), "kozel", timeouts={"hand": 1})
    table.open()
    table.deal()
    wait_for(lambda: table.state()["state"], "aborted")
    assert table.state()["reason"] == "idle"
    assert table.state()["missing"] == []


def test_an_idle_table_is_disclosed_and_closed(shared):
    """Spec: TBL-3, HAND-17."""
    table = Operator(
        shared.client, shared.key(), "kozel", timeouts={"table": 1}, disclosure="table"
    )
    table.open()
    table.deal()
    table.close()
    wait_for(lambda: expect(shared.client.get(f"/v1/tables/{table.table}"))["state"], "closed", 12)
    types = [event["type"] for event in last_event(table.table, shared.client)]
    assert types[-2:] == ["hand.disclosed", "table.closed"]


def test_a_passed_deadline_counts_at_the_next_touch(shared, monkeypatch):
    async def never(_self, _turn):
        return

    monkeypatch.setattr("fairdeal_api.service.Service.sweep", never)
    table = Devices(shared.client, shared.key(), "svoi", timeouts={"seal": 1})
    table.open()
    time.sleep(1.1)
    expect(table.put(0, "trump", {"suit": "H"}), 409, "already_final")
    assert table.operator.state()["reason"] == "seal_timeout"


def test_a_restart_gives_a_hand_its_full_time_again(settings):
    """Spec: HAND-18."""
    initialise(settings)
    with Site(settings) as site:
        key = site.key()
        table = Operator(site.client, key, "mus", timeouts={"open": 2})
        opened = table.open()
    time.sleep(1.5)
    with Site(settings) as site:
        started = time.monotonic()
        table.client = site.client
        time.sleep(1)  # past the first deadline
        assert table.state()["state"] == "opening"
        assert table.state()["due_head"] == head_of(opened) == opened["sealed_head"]
        wait_for(lambda: table.state()["state"], "aborted")
        assert time.monotonic() - started >= 1.9


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
