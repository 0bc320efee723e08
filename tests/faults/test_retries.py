"""A process that is killed at the worst moments, and the same request again: the same bytes.

Each write of two tables is the victim in turn, at each point between its arrival and its answer.
"""

from __future__ import annotations

import json
import os
import random
from pathlib import Path

import pytest

from tests.faults.players import Call, Play, Refused, Table
from tests.faults.site import Site
from tests.faults.wire import Answer, Broken, request

POINTS = ("before commit", "committed", "anchored", "half answered", "answered")


def seats_table(key: str) -> Play[None]:
    """A hand with seats on devices of their own, step by step, then a new seat and the end."""
    table = Table(random.Random(1), key, "mus", "seats", ruleset={}, abort_rate=0)
    yield from table.open()
    opened = yield from table.post(f"/v1/tables/{table.id}/hands", table.hand_body(sealed=False))
    table.opened(opened)
    sealed = yield from table.seal_seats()
    yield from table.open_seeds(0, sealed["sealed_head"])
    first = (yield from table.state())["first"]
    for step in range(4):
        seat = (first + step) % 4
        cards = (yield from table.held(seat))[:2]
        yield from table.act(seat, {"type": "discard", "seat": seat, "cards": cards})
    yield from table.post(table.url("/close"), {})
    yield from table.post(f"/v1/tables/{table.id}/seats/2/reissue", {})
    yield from table.post(f"/v1/tables/{table.id}/close", {})


def operator_table(key: str) -> Play[None]:
    """Two hands under policy `table`, one of them aborted, the next one opened with the close."""
    rng = random.Random(2)
    table = Table(rng, key, "kozel", "operator", ruleset={}, disclosure="table", abort_rate=0)
    yield from table.open()
    opened = yield from table.post(f"/v1/tables/{table.id}/hands", table.hand_body(sealed=True))
    table.opened(opened)
    yield from table.post(table.url("/deal"), {"seeds": table.seeds()})
    shows = []
    for seat in range(4):
        cards = (yield from table.held(seat))[:1]
        kind = "discard" if seat == 2 else "show"
        shows.append({"type": kind, "seat": seat, "cards": cards})
    yield from table.act(None, *shows, {"type": "draw", "first": 3})
    closed = yield from table.post(table.url("/close"), {"next": table.hand_body(sealed=True)})
    table.opened(closed["next"])
    yield from table.abort()
    yield from table.post(table.url("/disclose", 1), {})
    yield from table.post(f"/v1/tables/{table.id}/close", {})


class Victim:
    """Drives a play, and has the service killed at each of its writes."""

    def __init__(self, site: Site, armed: Path, points: list[str]) -> None:
        self.site, self.armed, self.points = site, armed, points
        self.writes = 0
        self.seen: set[tuple[str, str]] = set()

    def drive(self, play: Play[None]) -> None:
        call = next(play)
        while True:
            answer = self.ask(call) if call.method == "GET" else self.ask_and_kill(call)
            assert answer.ok, (call.path, answer.body)
            try:
                call = play.send(answer)
            except StopIteration:
                return

    def bytes_of(self, call: Call) -> bytes:
        key = f"write-{self.writes}" if call.method == "POST" else ""
        return request(call.method, call.path, call.body, bearer=call.bearer, key=key)

    def ask(self, call: Call) -> Answer:
        with self.site.wire() as wire:
            wire.send(self.bytes_of(call))
            return wire.receive()

    def ask_and_kill(self, call: Call) -> Answer:
        self.writes += 1
        point = self.points[self.writes % len(self.points)]
        route = call.path.rsplit("/", 1)[-1]
        if route == "claim" and point == "anchored":
            point = "committed"  # no event, so the anchor does not move
        self.seen.add((f"{call.method} {route}", point))
        first = self.answered_and_killed(call) if point == "answered" else None
        if first is None:
            self.armed.write_text(point)
            with pytest.raises(Broken):
                self.ask(call)
            assert self.site.died() == -9, self.site.err.read_text()
            self.armed.unlink()
        self.site.start("mortal", str(self.armed))
        again = self.ask(call)
        assert again.ok, (call.path, point, again.body)
        third = self.ask(call)
        if call.method == "POST":
            assert again.replayed == (point != "before commit"), (call.path, point)
            assert third.replayed
            assert third.body == again.body
            assert (third.status, third.headers["etag"]) == (again.status, again.headers["etag"])
        else:
            assert again.status == (201 if point == "before commit" else 200)
            assert third.json()["events"][0] == again.json()["events"][0]
        if first is not None:
            if call.method == "POST":
                assert again.body == first.body
                assert again.status == first.status
            else:
                assert again.json()["events"][0] == first.json()["events"][0]
        self.check_once(again)
        return again

    def answered_and_killed(self, call: Call) -> Answer:
        answer = self.ask(call)
        self.site.kill()
        return answer

    def check_once(self, answer: Answer) -> None:
        """What was answered is in the log, once, where the answer says."""
        value = answer.json()
        if "events" not in value:
            return
        with self.site.wire() as wire:
            page = wire.ask("GET", f"/v1/tables/{value['table']}/events").json()["events"]
        assert [event["seq"] for event in page] == list(range(len(page)))
        for event in value["events"]:
            assert page[event["seq"]] == event
        types = [json.loads(event["event"])["type"] for event in page]
        for once in ("table.opened", "hand.dealt", "table.closed", "seat.reissued"):
            assert types.count(once) <= 2 if once == "hand.dealt" else types.count(once) <= 1


@pytest.mark.parametrize(("play", "turn"), [(seats_table, 1), (operator_table, 3)])
def test_the_same_request_after_a_kill_gets_the_same_bytes(launcher, tmp_path, in_full, play, turn):
    # Five turns bring every write to every point; one brings each write to some point.
    for number in range(len(POINTS)) if in_full else [turn]:
        armed = tmp_path / "armed"
        with Site(launcher, tmp_path / f"turn-{number}") as site:
            site.start("mortal", str(armed), init=True)
            key = site.operator_key("club")
            victim = Victim(site, armed, [*POINTS[number:], *POINTS[:number]])
            victim.drive(play(key))
            assert victim.writes >= 8
            assert {point for _, point in victim.seen} == set(POINTS)
            site.terminate()
            assert site.fsck()[0] == 0


def test_another_body_under_the_same_key_is_refused_after_a_kill(site):
    site.start(init=True)
    key = site.operator_key("club")
    body = {"game": "mus", "custody": "operator"}
    with site.wire() as wire:
        first = wire.ask("POST", "/v1/tables", body, bearer=key, key="one")
        assert first.status == 201
    site.kill()
    site.start()
    with site.wire() as wire:
        other = wire.ask("POST", "/v1/tables", {**body, "game": "kozel"}, bearer=key, key="one")
        assert other.code == "idempotency_key_reused"
        same = wire.ask("POST", "/v1/tables", body, bearer=key, key="one")
        assert same.body == first.body
        assert same.replayed


def test_a_client_that_goes_away_leaves_no_table_locked(site):
    """The write it asked for is there or not, and the next one is answered."""
    site.start(init=True)
    key = site.operator_key("club")
    table = Table(random.Random(3), key, "kozel", "operator", ruleset={}, abort_rate=0)
    with site.wire() as wire:
        drive(wire, table.open())
        for number in range(1, 31):
            call = table.call("POST", f"/v1/tables/{table.id}/hands", table.hand_body(sealed=True))
            with site.wire() as other:
                other.send(request(*call[:3], bearer=key, key=f"open-{number}"))
                if number % 2:
                    other._socket.setsockopt(1, 13, b"\1\0\0\0\0\0\0\0")  # SO_LINGER 0: a reset
            answer = wire.ask(*call[:3], bearer=key, key=f"open-{number}")
            assert answer.ok, answer.body
            table.opened(answer.json())
            drive(wire, table.abort())
            assert table.number == number
    site.terminate()
    assert site.fsck()[0] == 0


def drive(wire, play: Play[None]) -> None:
    """Run a play without any disturbance."""
    answer, number = None, 0
    try:
        while True:
            call = next(play) if answer is None else play.send(answer)
            number += 1
            key = f"drive-{os.urandom(8).hex()}"
            answer = wire.ask(*call[:3], bearer=call.bearer, key=key)
            if not answer.ok:
                play.throw(Refused(answer))
    except StopIteration:
        return
