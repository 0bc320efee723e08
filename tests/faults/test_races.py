"""Fifty at once: equal and conflicting requests on one hand make one event.

Each volley arrives as one: fifty connections have sent all but the last byte before the first of
them sends it. Afterwards the public events are asked, and folded through the core.
"""

from __future__ import annotations

import json
import os
import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from fairdeal.events import TableOpened, parse_event
from fairdeal.table import Table as Fold
from tests.faults.players import Call, Play, Table
from tests.faults.site import STOPPED, Site
from tests.faults.test_retries import drive
from tests.faults.wire import Answer, Broken, request, volley

MANY = 50
ROUNDS, ROUNDS_IN_FULL, ROUNDS_OF_SOAK = 3, 20, 1000


@dataclass
class Field:
    """A running service, and an operator's key for it."""

    site: Site
    key: str
    rng: random.Random = field(default_factory=lambda: random.Random(7))

    def table(self, game: str, custody: str, **terms: Any) -> Table:
        """A table that is open, with seats that have their tokens."""
        terms.setdefault("ruleset", {})
        found = Table(self.rng, self.key, game, custody, abort_rate=0, **terms)
        self.play(found.open())
        return found

    def play(self, play: Play[Any]) -> None:
        with self.site.wire() as wire:
            drive(wire, play)

    def ask(self, call: Call, key: str = "") -> Answer:
        with self.site.wire() as wire:
            return wire.ask(*call[:3], bearer=call.bearer, key=key or fresh())

    def opened(self, table: Table, *, sealed: bool = True) -> dict[str, Any]:
        body = table.hand_body(sealed=sealed)
        answer = self.ask(table.call("POST", f"/v1/tables/{table.id}/hands", body))
        assert answer.ok, answer.body
        table.opened(answer.json())
        return answer.json()

    def dealt(self, table: Table) -> dict[str, Any]:
        """A hand of a table with custody `operator`, dealt."""
        self.opened(table)
        answer = self.ask(table.call("POST", table.url("/deal"), {"seeds": table.seeds()}))
        assert answer.ok, answer.body
        return answer.json()

    def at_once(self, calls: list[Call], keys: list[str]) -> list[Answer]:
        assert len(calls) == len(keys) == MANY
        pairs = zip(calls, keys, strict=True)
        return volley(
            self.site.port,
            [request(*call[:3], bearer=call.bearer, key=key) for call, key in pairs],
        )

    def events(self, table: Table) -> list[dict[str, Any]]:
        """The public events, with the chain held against the core and the log."""
        with self.site.wire() as wire:
            page = wire.ask("GET", f"/v1/tables/{table.id}/events?limit=200").json()
            assert not page["has_more"]
        fold: Fold | None = None
        for number, event in enumerate(page["events"]):
            assert event["seq"] == number
            parsed = parse_event(event["event"].encode())
            if isinstance(parsed, TableOpened):
                fold = Fold.open(parsed)
            else:
                assert fold is not None
                fold = fold.apply(parsed)
        return [json.loads(event["event"]) for event in page["events"]]

    def count(self, table: Table, kind: str) -> int:
        return [event["type"] for event in self.events(table)].count(kind)

    def check_told(self, table: Table, answers: list[Answer]) -> None:
        """Each event in a 2xx answer is in the log, and no two requests made the same one."""
        with self.site.wire() as wire:
            page = wire.ask("GET", f"/v1/tables/{table.id}/events?limit=200").json()["events"]
        for answer in answers:
            if answer.ok:
                for event in answer.json()["events"]:
                    assert page[event["seq"]] == event


def fresh() -> str:
    return os.urandom(8).hex()


def keys(kind: str) -> list[str]:
    """`same`: fifty times one key; `different`: fifty keys; `none`."""
    one = fresh()
    return [
        {"same": one, "none": ""}.get(kind) if kind != "different" else fresh() for _ in range(MANY)
    ]


def codes(answers: list[Answer]) -> Counter[str]:
    return Counter(str(a.status) if a.ok else f"{a.status} {a.code}" for a in answers)


def bodies(answers: list[Answer]) -> set[bytes]:
    return {answer.body for answer in answers if answer.ok}


@pytest.fixture(scope="module")
def running(launcher, tmp_path_factory) -> Iterator[Field]:
    with Site(launcher, tmp_path_factory.mktemp("races")) as site:
        site.start(init=True)
        yield Field(site, site.operator_key("club"))
        assert site.terminate() == STOPPED
        status, said = site.fsck()
        assert status == 0, said


@pytest.fixture
def rounds(in_full, request) -> range:
    return range(ROUNDS_IN_FULL if in_full else ROUNDS)


# --- seals --------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["same", "different", "none"])
def test_the_same_seal(running, rounds, kind):
    for _ in rounds:
        table = running.table("mus", "seats")
        running.opened(table, sealed=False)
        seal = table.call("PUT", table.url("/seats/1/seal"), {"seal": table.seals["1"]}, 1)
        answers = running.at_once([seal] * MANY, keys(kind))
        assert codes(answers) == {"201": 1, "200": MANY - 1}
        assert len({json.dumps(answer.json()["events"]) for answer in answers}) == 1
        assert running.count(table, "seeds.sealed") == 1
        running.check_told(table, answers)


@pytest.mark.parametrize("custody", ["seats", "operator"])
def test_conflicting_seals(running, rounds, custody):
    for _ in rounds:
        table = running.table("mus", custody)
        running.opened(table, sealed=False)
        url = table.url("/seats/0/seal")
        values = [os.urandom(32).hex() for _ in range(MANY)]
        calls = [table.call("PUT", url, {"seal": value}, 0) for value in values]
        answers = running.at_once(calls, keys("none"))
        assert codes(answers) == {"201": 1, "409 seal_fixed": MANY - 1}
        winner = values[[answer.status for answer in answers].index(201)]
        sealed = [e for e in running.events(table) if e["type"] == "seeds.sealed"]
        assert [event["seals"] for event in sealed] == [{"0": winner}]


def test_all_seats_seal_at_once(running, rounds):
    for _ in rounds:
        table = running.table("mus", "seats")
        running.opened(table, sealed=False)
        calls = [
            table.call("PUT", table.url(f"/seats/{s}/seal"), {"seal": table.seals[str(s)]}, s)
            for s in (number % 4 for number in range(MANY))
        ]
        answers = running.at_once(calls, keys("none"))
        assert codes(answers) == {"201": 4, "200": MANY - 4}
        assert running.count(table, "seeds.sealed") == 4
        heads = {a.json()["sealed_head"] for a in answers if "sealed_head" in a.json()}
        assert len(heads) == 1
        running.check_told(table, answers)


# --- hands that open ----------------------------------------------------------------------------


def test_the_same_hand_opened(running, rounds):
    for _ in rounds:
        table = running.table("kozel", "operator")
        body = table.hand_body(sealed=True)
        call = table.call("POST", f"/v1/tables/{table.id}/hands", body)
        answers = running.at_once([call] * MANY, keys("same"))
        assert codes(answers) == {"201": MANY}
        assert len(bodies(answers)) == 1
        assert sum(answer.replayed for answer in answers) == MANY - 1
        assert running.count(table, "hand.opened") == running.count(table, "seeds.sealed") == 1


def test_hands_opened_under_different_keys(running, rounds):
    for _ in rounds:
        table = running.table("kozel", "operator")
        body = table.hand_body(sealed=True)
        call = table.call("POST", f"/v1/tables/{table.id}/hands", body)
        answers = running.at_once([call] * MANY, keys("different"))
        assert codes(answers) == {"201": 1, "409 hand_open": MANY - 1}
        assert running.count(table, "hand.opened") == 1


def test_one_key_for_different_bodies(running, rounds):
    for _ in rounds:
        table = running.table("kozel", "operator")
        url = f"/v1/tables/{table.id}/hands"
        calls = [
            table.call("POST", url, {"seals": {str(s): os.urandom(32).hex() for s in range(4)}})
            for _ in range(MANY)
        ]
        answers = running.at_once(calls, keys("same"))
        assert codes(answers) == {"201": 1, "422 idempotency_key_reused": MANY - 1}
        assert running.count(table, "hand.opened") == 1


def test_one_key_for_different_new_tables(running, rounds):
    for _ in rounds:
        calls = [
            Call(
                "POST",
                "/v1/tables",
                {"game": "mus", "custody": "operator", "timeouts": {"seal": 1 + number}},
                running.key,
                "operator",
            )
            for number in range(MANY)
        ]
        answers = running.at_once(calls, keys("same"))
        assert codes(answers) == {"201": 1, "422 idempotency_key_reused": MANY - 1}


def test_the_same_table_opened(running, rounds):
    for _ in rounds:
        body = {"game": "mus", "custody": "seats"}
        call = Call("POST", "/v1/tables", body, running.key, "operator")
        answers = running.at_once([call] * MANY, keys("same"))
        assert codes(answers) == {"201": MANY}
        assert len(bodies(answers)) == 1


@pytest.mark.parametrize("kind", ["same", "different"])
def test_one_claim_code(running, rounds, kind):
    for _ in rounds:
        body = {"game": "svoi", "custody": "seats"}
        opened = running.ask(Call("POST", "/v1/tables", body, running.key, "operator")).json()
        code = {"code": opened["claim_codes"]["0"]}
        call = Call("POST", "/v1/seats/claim", code, "", "seat 0")
        answers = running.at_once([call] * MANY, keys(kind))
        if kind == "same":
            assert codes(answers) == {"200": MANY}
        else:
            assert codes(answers) == {"200": 1, "409 claim_used": MANY - 1}
        assert len(bodies(answers)) == 1


# --- seeds and deals ----------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["same", "different"])
def test_deals(running, rounds, kind):
    for _ in rounds:
        table = running.table("kozel", "operator")
        running.opened(table)
        call = table.call("POST", table.url("/deal"), {"seeds": table.seeds()})
        answers = running.at_once([call] * MANY, keys(kind))
        if kind == "same":
            assert codes(answers) == {"200": MANY}
        else:
            assert codes(answers) == {"200": 1, "409 wrong_phase": MANY - 1}
        assert len(bodies(answers)) == 1
        assert running.count(table, "hand.dealt") == 1
        assert running.count(table, "seeds.opened") == 1
        running.check_told(table, answers)


def test_all_seats_open_at_once(running, rounds):
    for _ in rounds:
        table = running.table("mus", "seats")
        running.opened(table, sealed=False)
        running.play(table.seal_seats())
        head = running.ask(table.call("GET", table.url(), None)).json()["due_head"]
        seeds = table.seeds()
        calls = [
            table.call(
                "PUT",
                table.url(f"/seats/{s}/seed"),
                {"epoch": 0, "head": head, "seed": seeds[str(s)]},
                s,
            )
            for s in (number % 4 for number in range(MANY))
        ]
        answers = running.at_once(calls, keys("none"))
        assert codes(answers) == {"201": 4, "200": MANY - 4}
        assert running.count(table, "seeds.opened") == 4
        assert running.count(table, "hand.dealt") == 1
        running.check_told(table, answers)


def test_seeds_and_aborts(running, rounds):
    """The last seed against the end of the hand: either order, and nothing between."""
    orders = Counter()
    for number in rounds:
        table = running.table("kozel", "operator")
        running.opened(table)
        seed = table.call("POST", table.url("/deal"), {"seeds": table.seeds()})
        abort = table.call("POST", table.url("/abort"), {})
        calls = [seed, abort] * (MANY // 2)
        answers = running.at_once(calls if number % 2 else calls[::-1], keys("different"))
        types = [event["type"] for event in running.events(table)]
        assert types.count("hand.aborted") == 1
        assert types.count("hand.disclosed") == 1
        assert types[-1] == "hand.disclosed"
        assert types.count("hand.dealt") == types.count("seeds.opened") <= 1
        dealt = types.count("hand.dealt")
        assert codes(answers)["200"] == 1 + dealt
        assert set(codes(answers)) <= {"200", "409 already_final", "409 wrong_phase"}
        running.check_told(table, answers)
        orders[dealt] += 1
    print(f"dealt before the abort in {orders[1]} of {len(rounds)}")


# --- playing ------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["same", "different"])
def test_the_same_discard(running, rounds, kind):
    for _ in rounds:
        table = running.table("mus", "operator")
        seat = running.dealt(table)["first"]
        positions = running.ask(table.call("GET", table.url(), None)).json()["positions"]
        cards = [[0, position] for position in positions[str(seat)][:2]]
        action = {"type": "discard", "seat": seat, "cards": cards}
        call = table.call("POST", table.url("/actions"), {"actions": [action]})
        answers = running.at_once([call] * MANY, keys(kind))
        if kind == "same":
            assert codes(answers) == {"200": MANY}
        else:
            assert codes(answers) == {"200": 1, "409 not_in_holding": MANY - 1}
        assert len(bodies(answers)) == 1
        assert running.count(table, "cards.discarded") == 1


def test_conflicting_discards(running, rounds):
    for _ in rounds:
        table = running.table("mus", "seats")
        running.opened(table, sealed=False)
        running.play(whole_deal(table))
        state = running.ask(table.call("GET", table.url(), None)).json()
        seat = state["first"]
        mine = [[0, position] for position in state["positions"][str(seat)]]
        some = [mine[:2], mine[2:], mine[:1], mine[1:]]
        calls = [
            table.call(
                "POST",
                table.url("/actions"),
                {"actions": [{"type": "discard", "seat": seat, "cards": some[number % len(some)]}]},
                seat,
            )
            for number in range(MANY)
        ]
        answers = running.at_once(calls, keys("different"))
        assert sum(answer.ok for answer in answers) == 1
        assert set(codes(answers)) == {"200", "409 not_in_holding", "409 not_your_turn"}
        assert running.count(table, "cards.discarded") == 1
        winner = next(index for index, answer in enumerate(answers) if answer.ok)
        cards = running.ask(table.call("GET", table.url(f"/seats/{seat}/cards"), None, seat)).json()
        gone = [c for c in cards["cards"] if c["state"] == "discarded"]
        assert len(gone) == len(some[winner % len(some)])
        running.check_told(table, answers)


def whole_deal(table: Table) -> Play[None]:
    sealed = yield from table.seal_seats()
    yield from table.open_seeds(0, sealed["sealed_head"])


@pytest.mark.parametrize("kind", ["same", "different"])
def test_draws(running, rounds, kind):
    for _ in rounds:
        table = running.table("kozel", "operator")
        dealt = running.dealt(table)
        shows = [
            {"type": "show", "seat": seat, "cards": [[0, dealt["positions"][str(seat)][0]]]}
            for seat in range(4)
        ]
        shown = running.ask(table.call("POST", table.url("/actions"), {"actions": shows}))
        assert shown.ok
        drawing = {"actions": [{"type": "draw", "first": 1}]}
        call = table.call("POST", table.url("/actions"), drawing)
        answers = running.at_once([call] * MANY, keys(kind))
        if kind == "same":
            assert codes(answers) == {"200": MANY}
        else:
            assert codes(answers) == {"200": 1, "409 draw_not_due": MANY - 1}
        assert len(bodies(answers)) == 1
        assert running.count(table, "cards.drawn") == 1
        running.check_told(table, answers)


def test_shows_of_one_version(running, rounds):
    """If-Match lets one of many through."""
    for _ in rounds:
        table = running.table("svoi", "operator")
        dealt = running.dealt(table)
        mine = dealt["positions"]["0"]
        tag = f'If-Match: "{dealt["seq"]}"'
        data = []
        for number in range(MANY):
            show = {"type": "show", "seat": 0, "cards": [[0, mine[number % len(mine)]]]}
            call = table.call("POST", table.url("/actions"), {"actions": [show]})
            data.append(request(*call[:3], bearer=call.bearer, key=fresh(), headers=(tag,)))
        answers = volley(running.site.port, data)
        assert codes(answers) == {"200": 1, "412 version_mismatch": MANY - 1}
        assert running.count(table, "cards.shown") == 1


# --- ends ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("end", ["close", "abort"])
@pytest.mark.parametrize("kind", ["same", "different"])
def test_ends(running, rounds, end, kind):
    for _ in rounds:
        table = running.table("azi", "operator", seats=3)
        running.dealt(table)
        call = table.call("POST", table.url(f"/{end}"), {})
        answers = running.at_once([call] * MANY, keys(kind))
        if kind == "same":
            assert codes(answers) == {"200": MANY}
        else:
            assert codes(answers) == {"200": 1, "409 already_final": MANY - 1}
        assert len(bodies(answers)) == 1
        ended = {"close": "hand.closed", "abort": "hand.aborted"}[end]
        assert running.count(table, ended) == 1
        assert running.count(table, "hand.disclosed") == 1


def test_closes_that_open_the_next_hand(running, rounds):
    for _ in rounds:
        table = running.table("kozel", "operator")
        running.dealt(table)
        calls = []
        for _ in range(MANY):
            body = {"next": table.hand_body(sealed=True)}
            calls.append(table.call("POST", table.url("/close"), body))
        answers = running.at_once(calls, keys("different"))
        assert codes(answers) == {"200": 1, "409 already_final": MANY - 1}
        assert running.count(table, "hand.opened") == 2
        assert len({event.get("commitment") for event in running.events(table)} - {None}) == 2


def test_closes_of_a_table_and_new_hands(running, rounds):
    for number in rounds:
        table = running.table("kozel", "operator")
        close = table.call("POST", f"/v1/tables/{table.id}/close", {})
        body = table.hand_body(sealed=True)
        hand = table.call("POST", f"/v1/tables/{table.id}/hands", body)
        calls = [close, hand] * (MANY // 2)
        answers = running.at_once(calls if number % 2 else calls[::-1], keys("different"))
        types = [event["type"] for event in running.events(table)]
        assert types.count("table.closed") + types.count("hand.opened") == 1
        assert sum(answer.ok for answer in answers) == 1
        assert set(codes(answers)) <= {"200", "201", "409 hand_open", "409 table_closed"}


def test_a_service_without_locks_is_caught(launcher, tmp_path):
    with Site(launcher, tmp_path / "site") as site:
        site.start("without_locks", init=True)
        running = Field(site, site.operator_key("club"))
        with pytest.raises((AssertionError, Broken)):
            test_deals(running, range(20), "different")
        # It may have ended itself: two events of one number are the end of a ledger.
        site.pid = site.pid if site.died_already() is None else 0


@pytest.mark.soak
def test_conflicts_for_long(running):
    for number in range(ROUNDS_OF_SOAK):
        test_seeds_and_aborts(running, range(number % 2, number % 2 + 1))
        test_all_seats_open_at_once(running, range(1))
        test_closes_that_open_the_next_hand(running, range(1))
