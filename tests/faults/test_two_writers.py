"""Two writers on one log: exactly one goes on, whatever became of locks and of the other's sleep.

Spec: LOG-20, LOG-21.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from fairdeal.log.checkpoint import Checkpoint
from fairdeal.log.keys import LogKeys
from fairdeal.log.note import SigningKey
from fairdeal.merkle import Tree, leaf_hash
from fairdeal_api import system
from fairdeal_api.anchor import Anchor, AnchorMoved
from fairdeal_api.service import initialise
from fairdeal_api.settings import Settings
from fairdeal_api.store import Batch, EventRow, Head, Rows
from fairdeal_api.store.reading import SQLiteReader
from fairdeal_api.store.sqlite import SQLiteWriter
from fairdeal_api.system import Overtaken, StartRefused
from tests.faults.site import Site
from tests.faults.test_folder import BODY, refused, size, tables
from tests.faults.wire import Broken, Wire

STEPS, WRITERS = 40, 4


# --- a process that is paused, and wakes up -----------------------------------------------------


def successor(site: Site, *flags: str, name: str = "second") -> Site:
    """Another process on the same folder."""
    found = Site(site.launcher, site.folder / name, *flags)
    found.data, found.anchor, found.starts = site.data, site.anchor, 500
    return found


def ask_late(site: Site, key: str, answers: list[int]) -> threading.Thread:
    """Send a writing request, and note the status of the answer, if there is one."""
    wire = Wire(site.port, 30)

    def ask() -> None:
        with wire, contextlib.suppress(Broken):
            answer = wire.ask("POST", "/v1/tables", BODY, bearer=key, key="late")
            answers.append(answer.status)

    thread = threading.Thread(target=ask)
    thread.start()
    return thread


@pytest.mark.parametrize("armed", ["", "before commit", "committed"])
def test_a_writer_that_wakes_up_after_a_take_over_acknowledges_nothing(site, armed):
    """Paused between batches, before a commit, and between commit and anchor."""
    point = site.folder / "point"
    site.start("sleepy", str(point), init=True)
    tables(site, 3)
    key = site.operator_key("club")
    answers: list[int] = []
    late = None
    if armed:
        point.write_text(armed)
        late = ask_late(site, key, answers)
        until_stopped(site.pid)
        point.unlink()
    else:
        os.kill(site.pid, signal.SIGSTOP)
    with successor(site) as second:
        refused(second, f"locked by pid {site.pid}", "--take-over", code=75)
        second.flags.append("--take-over")
        second.start()
        tables(second, 2)
        # What was committed before the take-over is in the log; what was not, is not.
        expected = 3 + 2 + (armed == "committed")
        with second.wire() as wire:
            assert size(wire) == expected
        os.kill(site.pid, signal.SIGCONT)
        if not armed:
            late = ask_late(site, key, answers)
        assert site.died() == 75
        assert late is not None
        late.join(60)
        assert answers == []
        assert '"ledger.lost"' in site.err.read_text()
        # The other one has not noticed.
        second.flags.remove("--take-over")
        tables(second, 2)
        with second.wire() as wire:
            assert size(wire) == expected + 2
        assert second.terminate() in (0, -15)
        assert second.fsck()[0] == 0


def test_an_idle_writer_that_was_overtaken_ends_by_itself(site):
    """It would go on to show a log that grows old."""
    site.start(init=True)
    tables(site, 1)
    with successor(site, "--take-over") as second:
        second.start()
        assert site.died() == 75
        with second.wire() as wire:
            assert size(wire) == 1


def test_without_an_epoch_a_writer_that_wakes_up_goes_on(site):
    """The control: where nobody compares epochs the paused one stays, and answers."""
    site.start("without_epochs", init=True)
    tables(site, 2)
    key = site.operator_key("club")
    os.kill(site.pid, signal.SIGSTOP)
    with successor(site, "--take-over") as second:
        second.start("without_epochs")
        os.kill(site.pid, signal.SIGCONT)
        answers: list[int] = []
        ask_late(site, key, answers).join(60)
        assert answers == [201]
        site.kill()


def until_stopped(pid: int) -> None:
    for _ in range(12_000):
        if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "T":
            return
        time.sleep(0.005)
    raise AssertionError("it did not stop")


def test_a_writer_paused_inside_a_transaction_must_be_ended_first(site):
    point = site.folder / "point"
    site.start("sleepy", str(point), init=True)
    tables(site, 2)
    key = site.operator_key("club")
    point.write_text("inside")
    answers: list[int] = []
    late = ask_late(site, key, answers)
    until_stopped(site.pid)
    with successor(site, "--take-over") as second:
        refused(second, "in the middle of writing to the database", code=75)
        site.kill()
        late.join(60)
        assert answers == []
        second.start()
        with second.wire() as wire:
            assert size(wire) == 2


def test_the_name_of_the_lock_follows_who_took_over(site):
    site.start(init=True)
    with successor(site, "--take-over") as second:
        second.start()
        assert site.died() == 75
        third = successor(site, name="third")
        refused(third, f"locked by pid {second.pid}", code=75)
        second.kill()
        third.start()
        third.terminate()


# --- without any lock ---------------------------------------------------------------------------


def entry(head: Head, tree: Tree, key: SigningKey, name: str) -> tuple[Batch, bytes]:
    """A batch of one entry."""
    body = f"{name} {head.size}".encode()
    leaf = leaf_hash(body)
    longer = Tree([*tree.levels[0], leaf])
    new = Head(head.size + 1, longer.root(), head.epoch, head.at + 1)
    note = Checkpoint(key.name, new.size, new.root).sign(key)
    row = EventRow(head.size, f"{name:0>30}", head.size, 0, None, body, leaf)
    return Batch(head, new, note, Rows(events=[row])), leaf


@pytest.fixture
def made(tmp_path) -> tuple[Settings, SigningKey]:
    settings = Settings(data=tmp_path / "data")
    initialise(settings)
    keys = system.read_keys(settings.keys_path)
    return settings, SigningKey(settings.log_origin, keys.log)


def race(count: int, step: Callable[[int], object]) -> list[object]:
    """What each of some threads got, begun at one moment."""
    barrier = threading.Barrier(count)
    results: list[object] = [None] * count

    def run(number: int) -> None:
        barrier.wait()
        try:
            results[number] = step(number)
        except Exception as error:  # noqa: BLE001 - told to who has asked
            results[number] = error

    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def winners(results: list[object], refusal: type[Exception]) -> list[int]:
    assert all(result is None or isinstance(result, refusal) for result in results), results
    return [number for number, result in enumerate(results) if result is None]


@pytest.mark.parametrize("logs", [True, False])
def test_of_writers_with_one_head_exactly_one_wins_each_step(made, logs):
    """Also where nothing is logged, such as when a seat claims its token."""
    settings, key = made
    path = settings.data / "ledger.db"
    writers = [SQLiteWriter(path) for _ in range(WRITERS)]
    reader, tree = SQLiteReader(path), Tree()
    won = []
    for _ in range(STEPS):
        # All are of one epoch, as if nobody had counted them; one of them moves the head.
        head = reader.head()
        made_by = [entry(head, tree, key, str(number)) for number in range(WRITERS)]
        batches = [batch for batch, _ in made_by]
        if not logs:
            # Without entries the log time is all that moves; the epoch tells.
            batches = [Batch(head, head, None, Rows()) for _ in range(WRITERS)]
            batches[1:] = [Batch(head._replace(epoch=9), head, None, Rows())] * (WRITERS - 1)
        results = race(WRITERS, lambda number, b=batches: writers[number].commit(b[number]))
        first = winners(results, Overtaken)
        assert len(first) == 1
        won += first
        if logs:
            tree.append(made_by[first[0]][1])
            assert reader.head().root == tree.root()
    for writer in writers:
        writer.close()
    stored = list(reader.leaves())
    reader.close()
    assert stored == tree.levels[0]


def test_without_comparing_heads_more_than_one_wins(made):
    """The control: the same race, the comparison taken out."""
    settings, _ = made
    path = settings.data / "ledger.db"
    writers = [SQLiteWriter(path) for _ in range(2)]
    head = SQLiteReader(path).head()
    for writer in writers:
        writer._move_head = lambda _batch: None
    stale = Batch(head._replace(epoch=9), head, None, Rows())
    assert winners(race(2, lambda number: writers[number].commit(stale)), Overtaken) == [0, 1]
    for writer in writers:
        writer.close()


def notes(key: SigningKey, name: str, count: int) -> Iterator[str]:
    for number in range(1, count + 1):
        yield Checkpoint(key.name, number, leaf_hash(f"{name}{number}".encode())).sign(key)


def test_of_two_that_move_one_anchor_exactly_one_wins_each_step(made):
    settings, key = made
    anchors = [Anchor(settings.anchor_path) for _ in range(2)]
    first, second = notes(key, "a", STEPS), notes(key, "b", STEPS)
    for pair in zip(first, second, strict=True):
        for anchor in anchors:
            anchor.load(LogKeys(key.verifier))
        results = race(2, lambda number, p=pair: anchors[number].move(p[number]))
        won = winners(results, AnchorMoved)
        # Two that meet in the same instant may both give way, and both end; never do both win.
        assert len(won) <= 1
        if won:
            assert Anchor(settings.anchor_path).load(LogKeys(key.verifier)).text() in pair[won[0]]
    for anchor in anchors:
        anchor.close()


def test_who_sleeps_between_looking_and_writing_keeps_the_others_out(made, monkeypatch):
    """And the control: without that the older checkpoint would be put over the newest."""
    settings, key = made
    one, two = Anchor(settings.anchor_path), Anchor(settings.anchor_path)
    mine, other = next(notes(key, "a", 1)), next(notes(key, "b", 1))
    write = os.pwrite

    def results_of(step: Callable[[str], object]) -> list[object]:
        seen: list[object] = []

        def asleep(*args: Any) -> int:
            monkeypatch.setattr(os, "pwrite", write)
            seen.extend(race(1, lambda _: step(other)))
            return write(*args)

        one.load(LogKeys(key.verifier))
        two.load(LogKeys(key.verifier))
        monkeypatch.setattr(os, "pwrite", asleep)
        one.move(mine)
        return seen

    assert winners(results_of(two.move), AnchorMoved) == []
    assert winners(results_of(two.replace), AnchorMoved) == [0]
    one.close()
    two.close()


def test_a_start_waits_for_the_anchor_and_then_refuses(made, monkeypatch):
    settings, key = made
    one, two = Anchor(settings.anchor_path), Anchor(settings.anchor_path)
    monkeypatch.setattr("fairdeal_api.anchor._PATIENCE", 0.05)
    one.load(LogKeys(key.verifier))
    two.load(LogKeys(key.verifier))
    with one.held(), pytest.raises(StartRefused, match="in the middle") as caught, two.held():
        pass
    assert caught.value.code == 75
    with two.held():
        pass
    one.close()
    two.close()


def test_two_processes_without_a_lock(site):
    """As on a disk where `flock` does nothing: the second takes the epoch, the first ends."""
    site.start("without_flock", init=True)
    tables(site, 2)
    key = site.operator_key("club")
    with successor(site) as second:
        second.start("without_flock")
        answers: list[int] = []
        with contextlib.suppress(Broken):  # it may have seen by itself, and be gone
            ask_late(site, key, answers).join(60)
        assert site.died() == 75
        assert answers == []
        tables(second, 1)
        with second.wire() as wire:
            assert size(wire) == 3
        second.terminate()
        assert second.fsck()[0] == 0


def test_the_lock_is_given_back_by_the_end_of_a_process(tmp_path):
    path = tmp_path / "LOCK"
    code = "import sys; from fairdeal_api.system import *; hold_lock(Path(sys.argv[1]))"
    subprocess.run([sys.executable, "-c", code, str(path)], check=True)
    system.release_lock(system.hold_lock(path))
    assert path.read_text() == f"{os.getpid()}\n"
