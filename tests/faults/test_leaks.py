"""Before a hand is disclosed, nothing shows its seed, its salts, or a card to who may not see it.

Whole hands are played while everybody pries and errs; everything that leaves the service is kept:
answers, output, metrics, files, environment. Then each secret is searched in all of it, in many
forms. Beside it stand services that leak one secret each, all of which must be found.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import os
import random
import socket
from pathlib import Path
from typing import Any, Self

import pytest

from fairdeal.games import GAMES
from fairdeal.hashing import u32be
from tests.faults.leaks import (
    OPERATOR,
    PUBLIC,
    Capture,
    Finding,
    Needle,
    Story,
    forms,
    read_cards,
    search,
)
from tests.faults.players import RULESETS, Call, Play, Refused, Table, seat_name
from tests.faults.site import Site
from tests.faults.wire import Answer, Broken, Wire, request

OTHER = "another operator"
KEY_FOLDER = "the key folder"
# Sent in many wrong places, and never to be seen again.
PROBE = hashlib.sha256(b"what a caller sends by mistake").digest()


class Spy:
    """Plays, pries, and keeps all that it gets to see."""

    def __init__(self, site: Site, variant: str = "exec", detail: str = "") -> None:
        self.site, self.variant, self.detail = site, variant, detail
        self.rng = random.Random(5)
        self.captures: list[Capture] = []
        self.needles = [Needle("what was sent by mistake", PROBE)]
        self.tables: list[Table] = []
        self.first_seen: dict[str, dict[int, tuple[int, bytes]]] = {}
        self.requests = 0
        self.files: dict[str, bytes] = {}
        site.folder.joinpath("config.toml").write_text("log_requests = true\n")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.metrics_port = free.getsockname()[1]
        site.flags += ["--metrics-port", str(self.metrics_port)]
        site.flags += ["--config", str(site.folder / "config.toml")]
        self.wire: Wire | None = None
        self.start(init=True)
        self.keys = {OPERATOR: site.operator_key("club"), OTHER: site.operator_key("rival")}
        for name, key in self.keys.items():
            self.needles.append(credential(f"the key of {name}", key))
        self.key_folder = KEY_FOLDER
        self.key_needles = [self.key_needle(name) for name in ("sealing.key", "log.key")]

    def key_needle(self, name: str) -> Needle:
        """A key, which may be in its folder as that is now, and nowhere else."""
        secret = bytes.fromhex((self.site.data / "keys" / name).read_text().strip())
        needle = Needle(name, secret)
        needle.tell(self.key_folder, 0)
        self.needles.append(needle)
        return needle

    def start(self, *, init: bool = False) -> None:
        self.site.start(self.variant, self.detail, init=init)
        self.wire = self.site.wire()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.wire.close()

    # --- what is seen ---------------------------------------------------------------------------

    @property
    def now(self) -> int:
        return len(self.captures)

    def keep(self, caller: str, name: str, data: bytes, table: str = "") -> None:
        self.captures.append(Capture(self.now, caller, table, name, data))

    def ask(self, call: Call, table: str = "", key: str = "", **more: Any) -> Answer:
        self.requests += 1
        key = key or f"spy-{self.requests}"
        answer = self.wire.ask(*call[:3], bearer=call.bearer, key=key, **more)
        self.got(call, answer, table)
        return answer

    def got(self, call: Call, answer: Answer, table: str = "") -> None:
        at = self.now
        self.keep(call.caller, f"{call.method} {call.path}", answer.head + answer.body, table)
        if answer.ok and answer.headers["content-type"].startswith("application/json"):
            value = answer.json()
            if "/transcript" in call.path:
                return  # a file's events are texts, and were all answered before
            for event in value.get("events", []):
                seen = self.first_seen.setdefault(value.get("table", table), {})
                seen.setdefault(event["seq"], (at, event["event"].encode()))

    def look_at_files(self) -> None:
        """Everything on disk, as it is now; and what the process shows of itself."""
        for path in sorted(self.site.folder.rglob("*")):
            name = str(path.relative_to(self.site.folder))
            # Not the service's: what the rig itself was told when it made the operators' keys.
            # The keys' own folder is captured as nobody's: it may hold the keys and nothing else.
            if path.is_file() and not name.startswith("run-"):
                caller = self.key_folder if name.startswith("data/keys/") else "a thief"
                data = path.read_bytes()
                for part in news(self.files.get(name, b""), data):
                    self.keep(caller, name, part)
                self.files[name] = data
        for name in ("environ", "cmdline"):
            if self.site.pid:
                self.keep("a neighbour", name, Path(f"/proc/{self.site.pid}/{name}").read_bytes())
        if self.site.pid:
            with Wire(self.metrics_port) as wire:
                wire.send(b"GET /metrics HTTP/1.1\r\n\r\n")
                answer = wire.receive()
                assert answer.status == 200
                self.keep("the monitoring", "metrics", answer.head + answer.body)

    # --- who asks -------------------------------------------------------------------------------

    def table(self, game: str, custody: str, policy: str, ruleset: dict[str, Any]) -> Table:
        seed = self.rng.randbytes(32)
        self.needles.append(Needle("a test seed", seed))
        found = Table(
            self.rng,
            self.keys[OPERATOR],
            game,
            custody,
            ruleset=ruleset,
            seats=min(3, max(GAMES[game].seats)) if game == "azi" else None,
            disclosure=policy,
            test_seed=seed.hex(),
            abort_rate=0,
        )
        self.tables.append(found)
        return found

    def drive(self, table: Table, play: Play[None], *, pry: bool = True) -> None:
        answer: Answer | None = None
        while True:
            try:
                call = next(play) if answer is None else play.send(answer)
            except StopIteration:
                return
            if pry and call.method == "PUT" and call.path.endswith("/seed"):
                self.err_with_seeds(table)
            answer = self.ask(call, table.id)
            if not answer.ok:
                raise Refused(answer)
            self.note_credentials(table, call, answer)
            if pry and call.method != "GET" and table.number:
                self.pry(table)

    def note_credentials(self, table: Table, call: Call, answer: Answer) -> None:
        value = answer.json()
        codes = value.get("claim_codes", {})
        if "claim_code" in value:
            codes = {str(value["seat"]): value["claim_code"]}
        for seat, code in codes.items():
            needle = credential(f"the claim code of seat {seat}", code)
            needle.table = value["table"]
            needle.tell(OPERATOR, self.now - 1)
            self.needles.append(needle)
        if "token" in value:
            needle = credential(f"the token of {call.caller}", value["token"])
            needle.table = value["table"]
            needle.tell(call.caller, self.now - 1)
            self.needles.append(needle)

    def pry(self, table: Table) -> None:
        """Everybody asks for everything."""
        hand = table.url()
        for path in (hand, f"{hand}/transcript", f"{hand}/events", f"/v1/tables/{table.id}"):
            self.ask(Call("GET", path, None, "", PUBLIC), table.id)
        self.ask(Call("GET", f"/v1/tables/{table.id}/events", None, "", PUBLIC), table.id)
        for seat in range(table.seats):
            path = f"{hand}/seats/{seat}/cards"
            self.ask(Call("GET", path, None, "", PUBLIC), table.id)
            self.ask(Call("GET", path, None, self.keys[OPERATOR], OPERATOR), table.id)
            self.ask(Call("GET", path, None, self.keys[OTHER], OTHER), table.id)
            for other, token in table.tokens.items():
                self.ask(Call("GET", path, None, token, seat_name(other)), table.id)
        for stranger in self.tables[-2:-1]:
            for token in stranger.tokens.values():
                call = Call("GET", f"{hand}/seats/0/cards", None, token, "a stranger")
                self.ask(call, table.id)

    def err_with_seeds(self, table: Table) -> None:
        """Seeds that are wrong, early, or in the wrong place."""
        seeds, wrong = table.seeds(), PROBE.hex()
        early = table.chains[table.number][0][1].hex() if table.game == "mus" else wrong
        head = hashlib.sha256(b"no head").hexdigest()
        path = table.url("/seats/0/seed")
        for body in (
            {"epoch": 0, "head": head, "seed": seeds["0"]},
            {"epoch": 1, "head": head, "seed": early},
            {"epoch": 0, "head": wrong, "seed": seeds["0"]},
            {"epoch": 0, "head": head, "seed": wrong},
            {"epoch": 0, "head": head, "seed": seeds["0"], wrong: 1},
            {"epoch": 0, "head": head, "seed": [seeds["0"]]},
            {"epoch": 0, "head": head, "seed": seeds["0"].upper()},
        ):
            # Refused, unless the seat has opened this seed: then it is public, and may come again.
            self.ask(table.call("PUT", path, body, 0), table.id)
        due = self.ask(Call("GET", table.url(), None, "", PUBLIC), table.id).json()["due_head"]
        if due:
            call = table.call("PUT", path, {"epoch": 0, "head": due, "seed": wrong}, 0)
            assert not self.ask(call, table.id).ok

    def err(self, table: Table) -> None:
        """Every kind of error, each with something that must not come back."""
        wrong, key = PROBE.hex(), self.keys[OPERATOR]
        hands = f"/v1/tables/{table.id}/hands"
        bodies: tuple[Any, ...] = (
            {wrong: wrong},
            {"seals": {"0": wrong + wrong}},
            {"seals": {wrong: wrong}},
            {"first": wrong},
            {"trumps": {"0": wrong}},
            [wrong],
            wrong,
        )
        for body in bodies:
            self.ask(Call("POST", hands, body, key, OPERATOR), table.id)
        raws = (
            b'{"seals": {"0": "%s"' % wrong.encode(),
            b'{"a": "%s", "a": 1}' % wrong.encode(),
            PROBE,
            b'\xef\xbb\xbf{"%s": NaN}' % wrong.encode(),
            b"[" * 100 + wrong.encode(),
            wrong.encode() * 2000,
        )
        for raw in raws:
            call = Call("POST", hands, None, key, OPERATOR)
            assert not self.ask(call, table.id, raw=raw).ok
        for call in (
            Call("GET", f"/v1/tables/{wrong}", None, "", PUBLIC),
            Call("GET", f"/v1/{wrong}?{wrong}={wrong}", None, "", PUBLIC),
            Call("GET", f"/v1/hands?after={wrong}", None, "", PUBLIC),
            Call("GET", f"{hands}/{wrong}", None, "", PUBLIC),
            Call("DELETE", hands, {"seed": wrong}, key, OPERATOR),
            Call("POST", hands, {}, f"fd_test_{wrong}", PUBLIC),
            Call("POST", hands, {}, f"fds_{base64.urlsafe_b64encode(PROBE).decode()}", PUBLIC),
            Call("POST", "/v1/seats/claim", {"code": f"fdc_{wrong[:43]}"}, "", PUBLIC),
        ):
            assert not self.ask(call, table.id).ok
        mistaken = (f"If-Match: {wrong}", f"Content-Type: {wrong}", f"Cookie: seed={wrong}")
        for header in mistaken:
            call = Call("POST", f"{hands}/1/close", {}, key, OPERATOR)
            self.ask(call, table.id, key=f"{wrong}{self.requests}", headers=(header,))
        self.wire.send(b"GET /%s HTTP/9.9\r\n\r\n" % wrong.encode())
        with contextlib.suppress(Broken):
            answer = self.wire.receive()
            self.keep(PUBLIC, "no HTTP", answer.head + answer.body)
        self.wire.close()
        self.wire = self.site.wire()

    def break_connections(self, table: Table) -> None:
        """Requests that are cut off, and answers that nobody waits for."""
        call = table.call("POST", table.url("/actions"), {"actions": [{"type": PROBE.hex()}]})
        data = request(*call[:3], bearer=call.bearer, key="cut")
        for end in (20, len(data) - 10, len(data)):
            with self.site.wire() as wire:
                wire.send(data[:end])

    def stop_and_start(self, table: Table, how: str) -> None:
        """SIGTERM or SIGKILL, with requests under way."""
        wires = [self.site.wire() for _ in range(8)]
        call = Call("GET", f"/v1/tables/{table.id}/events?wait=1&after=999", None, "", PUBLIC)
        for number, wire in enumerate(wires):
            mine = call
            if number % 2:
                mine = table.call("POST", table.url("/deal"), {"seeds": {"0": PROBE.hex()}})
            wire.send(request(*mine[:3], bearer=mine.bearer, key=f"{how}-{number}"))
        if how == "kill":
            self.site.kill()
        else:
            self.site.terminate()
        for number, wire in enumerate(wires):
            with contextlib.suppress(Broken):
                self.got(call if number % 2 == 0 else mine, wire.receive(), table.id)
            wire.close()
        self.wire.close()
        self.look_at_files()
        self.start()

    def rotate_sealing(self, variant: str = "exec") -> None:
        """Another sealing key; from then on the old one may be nowhere, its folder included."""
        self.wire.close()
        self.site.terminate()
        self.look_at_files()
        out, err = self.site.folder / "rotate.out", self.site.folder / "rotate.err"
        pid = self.site.launcher.start(
            ["keys", "rotate-sealing", "--data", str(self.site.data), *self.site.identity],
            out, err, variant,
        )  # fmt: skip
        assert self.site.launcher.wait(pid, 60) == 0, err.read_text()
        self.key_folder = f"{KEY_FOLDER}, after the rotation"
        old, log_key = self.key_needles
        log_key.tell(self.key_folder, 0)
        old.name = "the old sealing.key"
        self.key_needles = [self.key_needle("sealing.key"), log_key]
        assert self.key_needles[0].value != old.value
        # Nobody has un-learnt what was there before, but the files should have: all of them again.
        self.files = {
            name: data for name, data in self.files.items() if name.startswith(("out-", "err-"))
        }
        self.look_at_files()
        self.start()

    # --- the verdict ----------------------------------------------------------------------------

    def findings(self) -> list[Finding]:
        """Every secret that was where it should not be."""
        needles, found = list(self.needles), []
        for table in self.tables:
            events = self.first_seen[table.id]
            assert sorted(events) == list(range(len(events)))
            told = [events[seq] for seq in range(len(events))]
            story = Story(table.id, told, table.chains)
            needles += story.needles
            for number in range(1, table.number + 1):
                seed = b"fairdeal test seed" + bytes.fromhex(table.test_seed) + u32be(number)
                expected = hashlib.sha256(seed).digest()
                assert any(needle.value == expected for needle in story.needles)
            for capture in self.captures:
                if capture.table == table.id:
                    found += read_cards(story, capture)
        self.needle_count = len(needles)
        return found + search(needles, self.captures)


BLOCK, MARGIN = 4096, 512


def news(before: bytes, data: bytes) -> list[bytes]:
    """The parts of a file that are not as they were, and a little around them.

    Nobody un-learns anything: what was allowed in a file stays so, and need not be searched again.
    """
    parts: list[bytes] = []
    start = 0
    while start < len(data):
        end = start
        while end < len(data) and before[end : end + BLOCK] != data[end : end + BLOCK]:
            end += BLOCK
        if end > start:
            parts.append(data[max(0, start - MARGIN) : end + MARGIN])
        start = end + BLOCK
    return parts


def credential(name: str, text: str) -> Needle:
    """A bearer's 32 bytes: its text is their base64url, which is one of the forms."""
    secret = text[text.index("_", 3) + 1 if text.startswith("fd_") else 4 :]
    return Needle(name, base64.urlsafe_b64decode(secret + "="))


def play_all(spy: Spy, game: str, custody: str, policy: str, ruleset: dict[str, Any]) -> None:
    """Two hands at one table with all that can go wrong; the second one is aborted."""
    table = spy.table(game, custody, policy, ruleset)
    spy.drive(table, table.open())
    spy.drive(table, table.hand())
    spy.look_at_files()
    spy.err(table)
    spy.drive(table, half_a_hand(table))
    spy.break_connections(table)
    spy.look_at_files()
    spy.pry(table)
    spy.drive(table, the_end(table))
    spy.look_at_files()


def half_a_hand(table: Table) -> Play[None]:
    """Up to the middle of the game."""
    body = table.hand_body(sealed=False)
    answer = yield from table.post(f"/v1/tables/{table.id}/hands", body)
    table.opened(answer)
    answer = yield from table.seal_seats()
    yield from table.open_seeds(0, answer["sealed_head"])
    yield from getattr(table, f"play_{table.game}")()


def the_end(table: Table) -> Play[None]:
    yield from table.abort()
    if table.disclosure == "table":
        yield from table.post(table.url("/disclose"), {})
    if table.custody == "seats":
        reissued = yield from table.post(f"/v1/tables/{table.id}/seats/1/reissue", {})
        table.codes[1] = reissued["claim_code"]
        yield from table.claim(1)
    yield from table.post(f"/v1/tables/{table.id}/close", {})


@pytest.mark.parametrize("custody", ["seats", "operator"])
def test_nothing_leaks(launcher, tmp_path, in_full, custody):
    with Site(launcher, tmp_path / "site", "--mode", "test") as site, Spy(site) as spy:
        for number, game in enumerate(GAMES):
            policies = ("hand", "table")
            plans = [(ruleset, policy) for ruleset in RULESETS[game] for policy in policies]
            if not in_full:
                rulesets = RULESETS[game][:2]
                plans = [(rulesets[number % 2], policies[custody == "seats"])]
            for ruleset, policy in plans:
                play_all(spy, game, custody, policy, ruleset)
        table = spy.table("mus", custody, "table", {})
        spy.drive(table, table.open())
        for how in ("terminate", "kill"):
            spy.drive(table, half_a_hand(table), pry=False)
            spy.stop_and_start(table, how)
            if how == "kill":
                spy.rotate_sealing()
            spy.pry(table)
            spy.drive(table, table.abort(), pry=False)
        spy.drive(table, table.post(f"/v1/tables/{table.id}/close", {}), pry=False)
        spy.look_at_files()
        found = spy.findings()
    size = sum(len(capture.data) for capture in spy.captures)
    print(f"{len(spy.captures)} captures, {size} bytes, {spy.needle_count} secrets")
    assert [str(finding) for finding in found[:20]] == []
    assert len(spy.captures) > 1000
    assert spy.needle_count > 1000


# --- controls -----------------------------------------------------------------------------------

CONTROLS = {
    "leak_to_log": "the server seed as hex in what a thief saw of err-",
    "leak_to_file": "the server seed as raw bytes in what a thief saw of data/core",
    "leak_in_answer": "as base64 shifted by 1 in what public saw of GET /v1/tables/",
    "leak_a_card": "as a card in what public saw of GET /v1/tables/",
    "leak_to_neighbours": "as an opening in what seat 1 saw of GET /v1/tables/",
    "leak_to_metrics": "deal key 0 as spaced decimal list in what the monitoring saw of metrics",
    "leak_of_tokens": "the token of seat 2 as base64",
    "leak_in_error": "what was sent by mistake as hex in what seat 0 saw of PUT /v1/tables/",
}


def control(launcher, folder: Path, variant: str) -> list[str]:
    """One hand of Kozel at a service that leaks."""
    with (
        Site(launcher, folder / "site", "--mode", "test") as site,
        Spy(site, variant, str(site.data / "core")) as spy,
    ):
        table = spy.table("kozel", "seats", "hand", {})
        spy.drive(table, table.open())
        spy.drive(table, half_a_hand(table), pry=variant != "raise_with_seed")
        if variant == "raise_with_seed":
            answer = spy.ask(Call("GET", table.url(), None, "", PUBLIC), table.id)
            assert answer.status == 500
        spy.look_at_files()
        spy.drive(table, the_end(table), pry=False)
        return [str(finding) for finding in spy.findings()]


def test_a_rotation_that_says_its_keys_is_caught(launcher, tmp_path):
    with Site(launcher, tmp_path / "site", "--mode", "test") as site, Spy(site) as spy:
        old = (site.data / "keys" / "sealing.key").read_bytes()
        spy.rotate_sealing("leak_the_keys")
        found = [str(finding) for finding in spy.findings()]
        assert any("the old sealing.key as hex in what a thief saw" in one for one in found)
        assert any("sealing.key as spaced decimal list in what" in one for one in found)
        assert all("rotate.err" in one for one in found)
        # And an old key that stays in its folder.
        (site.data / "keys" / "sealing.old.key").write_bytes(old)
        spy.look_at_files()
        found = [str(finding) for finding in spy.findings()]
        assert any("sealing.old.key" in one for one in found)


@pytest.mark.parametrize("variant", CONTROLS)
def test_a_service_that_leaks_is_caught(launcher, tmp_path, variant):
    found = control(launcher, tmp_path, variant)
    assert any(CONTROLS[variant] in finding for finding in found), found[:5]


def test_an_exception_that_names_the_seed_reaches_nobody(launcher, tmp_path):
    assert control(launcher, tmp_path, "raise_with_seed") == []


def test_a_healthy_service_passes_where_the_leaking_ones_fail(launcher, tmp_path):
    assert control(launcher, tmp_path, "") == []


def test_the_news_of_a_file_are_complete():
    old = os.urandom(10 * BLOCK)
    new = bytearray(old + b"a tail")
    new[3 * BLOCK - 2 : 3 * BLOCK + 2] = b"both"
    parts = news(old, bytes(new))
    assert any(b"both" in part for part in parts)
    assert any(part.endswith(b"a tail") for part in parts)
    assert sum(map(len, parts)) < 5 * BLOCK
    assert news(old, old) == []
    assert news(b"", old) == [old]


@pytest.mark.parametrize("before", [b"", b"a", b"ab", b"abc"])
@pytest.mark.parametrize("length", [16, 32])
def test_every_form_is_found_wherever_it_stands(before, length):
    secret = os.urandom(length)
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        hidden = encode(before + secret + b"behind")
        capture = Capture(0, PUBLIC, "", "a file", b"{" + hidden + b"}")
        assert search([Needle("it", secret)], [capture])
    for _, form in forms(secret):
        capture = Capture(0, PUBLIC, "", "a file", before + form)
        assert search([Needle("it", secret)], [capture])
        assert not search([Needle("it", os.urandom(length))], [capture])
