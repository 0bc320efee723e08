"""Before the first byte of a 2xx answer its events are on disk: the log's, then the anchor's.

A small library, preloaded into the service, writes down the syncs and the answers in their order.
SIGKILL does not tell whether anything was synced; only a power cut would, and this.
"""

from __future__ import annotations

import contextlib
import random
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.faults.players import Call, Play, Table
from tests.faults.site import Site
from tests.faults.wire import Broken, request, volley

WAL, ANCHOR = "ledger.db-wal", "data.anchor"
TABLE = {"game": "kozel", "custody": "operator"}


@pytest.fixture(scope="module")
def library(tmp_path_factory) -> Path:
    compiler = shutil.which("gcc")
    assert compiler, "these tests need gcc, as CONTRIBUTING.md says"
    found = tmp_path_factory.mktemp("syncs") / "syncs.so"
    source = Path(__file__).with_name("syncs.c")
    command = [compiler, "-shared", "-fPIC", "-O1", "-Wall", "-o", found, source, "-ldl"]
    subprocess.run(command, check=True)
    return found


class Book:
    """What the library has written, read piece by piece."""

    def __init__(self, path: Path) -> None:
        self.path, self.offset = path, 0

    def news(self) -> list[tuple[str, str]]:
        with self.path.open() as file:
            file.seek(self.offset)
            lines = file.readlines()
            self.offset = file.tell()
        pairs = [line.rstrip("\n").split(" ", 1) for line in lines]
        return [(what, Path(name).name) for what, name in pairs]


@pytest.fixture
def book(site: Site, library: Path) -> Book:
    path = site.folder / "syncs.log"
    site.environment = {"LD_PRELOAD": str(library), "SYNCS_LOG": str(path)}
    return Book(path)


def fault_of(lines: list[tuple[str, str]], *, moved: bool) -> str:
    """What is wrong with what happened until an answer; empty if nothing is."""
    answers = [at for at, (what, _) in enumerate(lines) if what == "answered"]
    if len(answers) != 1:
        return f"{len(answers)} answers"
    before = lines[: answers[0]]
    if ("synced", WAL) not in before:
        return "answered before the database was synced"
    if moved and ("synced", ANCHOR) not in before:
        return "answered before the anchor was synced"
    if moved and before.index(("synced", ANCHOR)) < before.index(("synced", WAL)):
        return "the anchor went before the database"
    return ""


def faults(site: Site, book: Book, play: Play[None]) -> list[str]:
    """Drive a play and judge each of its writes."""
    found, count = [], 0
    with site.wire() as wire:
        answer = None
        while True:
            try:
                call = next(play) if answer is None else play.send(answer)
            except StopIteration:
                break
            count += 1
            book.news()
            answer = wire.ask(*call[:3], bearer=call.bearer, key=f"write-{count}")
            assert answer.ok, answer.body
            if call.method != "GET":
                moved = bool(answer.json().get("events"))
                if fault := fault_of(book.news(), moved=moved):
                    found.append(f"{call.method} {call.path}: {fault}")
    assert count > 10
    return found


def hands(key: str, custody: str) -> Play[None]:
    table = Table(random.Random(4), key, "mus", custody, ruleset={}, abort_rate=0)
    yield from table.open()
    yield from table.hand()
    yield from table.post(f"/v1/tables/{table.id}/close", {})


def tables(key: str) -> Play[None]:
    for _ in range(12):
        yield Call("POST", "/v1/tables", TABLE, key, "operator")


@pytest.mark.parametrize("custody", ["seats", "operator"])
def test_nothing_is_answered_before_it_is_on_disk(site, book, custody):
    site.start("exec", init=True)
    assert faults(site, book, hands(site.operator_key("club"), custody)) == []


@pytest.mark.parametrize(
    ("variant", "fault"),
    [
        ("without_syncs", "before the database was synced"),
        ("without_anchor_syncs", "before the anchor was synced"),
        ("ack_before_commit", "before the database was synced"),
    ],
)
def test_a_service_that_does_not_wait_for_the_disk_is_caught(site, book, variant, fault):
    site.start(f"exec {variant}", init=True)
    found = faults(site, book, tables(site.operator_key("club")))
    assert found
    assert all(fault in sentence for sentence in found)


def test_many_requests_share_a_sync(site, book):
    site.start("exec", init=True)
    key = site.operator_key("club")
    data = [request("POST", "/v1/tables", TABLE, bearer=key, key=f"k{n}") for n in range(50)]
    book.news()
    assert {answer.status for answer in volley(site.port, data)} == {201}
    lines = book.news()
    assert lines.count(("answered", "201")) == 50
    assert 1 <= lines.count(("synced", WAL)) <= 25
    assert lines.count(("synced", ANCHOR)) == lines.count(("synced", WAL))


@pytest.mark.parametrize("name", [WAL, ANCHOR])
def test_a_sync_that_fails_ends_the_process_and_nothing_is_acknowledged(site, book, name):
    """Whether it is on disk is not known: nobody is told, and the same request finds out."""
    site.environment["SYNCS_FAIL"] = f"{name}:6"
    site.start("exec", init=True)
    key = site.operator_key("club")
    told = []
    with site.wire() as wire, contextlib.suppress(Broken):
        for number in range(20):
            answer = wire.ask("POST", "/v1/tables", TABLE, bearer=key, key=f"k{number}")
            told.append(answer)
    assert 0 < len(told) < 20
    assert {answer.status for answer in told} == {201}
    assert site.died() == 70
    lines = book.news()
    assert ("answered", "201") not in lines[lines.index(("failed", name)) :]
    del site.environment["SYNCS_FAIL"]
    site.start("exec")
    with site.wire() as wire:
        for number, answer in enumerate(told):
            again = wire.ask("POST", "/v1/tables", TABLE, bearer=key, key=f"k{number}")
            assert again.body == answer.body
            assert again.replayed
        last = wire.ask("POST", "/v1/tables", TABLE, bearer=key, key=f"k{len(told)}")
        assert last.status == 201
    site.terminate()
    assert site.fsck()[0] == 0
