"""A whole log replayed: clean if honest, the same report after any kill. Spec: AUD-2, AUD-3."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from contextlib import contextmanager

import pytest

from fairdeal_audit.store import NAME
from seeds.local import Book
from tests.audit.cheats import digest, encode, events_of, honest, log_with
from tests.audit.conftest import HANDS
from tests.audit.generate import (
    ORIGIN,
    LogWriter,
    generate,
    other_prev,
    write_book,
    write_log,
)

KEY = str(Book(ORIGIN).key.verifier)


@pytest.fixture(scope="module")
def fetched(honest_log, tmp_path_factory):
    folder = tmp_path_factory.mktemp("replayed")
    shutil.copytree(honest_log, folder, dirs_exist_ok=True)
    return folder


@pytest.fixture(scope="module")
def report(fetched):
    subprocess.run(
        [sys.executable, "-m", "fairdeal_audit", "replay", str(fetched), "--quiet"],
        check=True, stdout=subprocess.DEVNULL,
    )  # fmt: skip
    return (fetched / "report.json").read_bytes()


def test_an_honest_log_is_clean(report):
    found = json.loads(report)
    assert found["findings"] == []
    counts = found["counts"]
    assert counts["hands"] == HANDS
    assert counts["verified"] == HANDS - counts["running"] - counts["hidden"]
    assert counts["aborted"] > 20
    assert counts["empty"] > 100


def test_many_processes_say_the_same(fetched, report, tmp_path, run):
    shutil.copytree(fetched, tmp_path / "dir", ignore=shutil.ignore_patterns("replay*", "report*"))
    assert run("replay", tmp_path / "dir", "-j", 3)[0] == 0
    assert (tmp_path / "dir/report.json").read_bytes() == report


def test_a_log_that_grows_is_replayed_from_where_it_was(tmp_path, run):
    """In three parts, none of which ends with a bundle; the second has hands under way."""
    book = LogWriter(None)
    write_log(book, 60)
    for size in (300, 611, book.size):
        part = Book(ORIGIN)
        for raw in book.entries[:size]:
            part.append(raw)
        write_book(part, tmp_path / "dir")
        assert run("replay", tmp_path / "dir")[1]["findings"] == []
    grown = (tmp_path / "dir/report.json").read_bytes()
    (tmp_path / "dir" / NAME).unlink()
    assert run("replay", tmp_path / "dir", "-j", 2)[1]["counts"]["hands"] == 60
    assert (tmp_path / "dir/report.json").read_bytes() == grown


def test_another_log_in_the_folder_is_replayed_anew(tmp_path, run):
    for name in ("c0", "c1"):
        events = events_of(honest(name=name, hands=1))
        write_book(log_with([encode(event) for event in events]), tmp_path)
        assert run("replay", tmp_path)[1]["findings"] == []


# --- one fault in many hands ----------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
def test_one_fault_among_many_hands_is_found(seed, tmp_path, run):
    """The server seed disclosed for a random hand of 150 is another one."""
    book = LogWriter(None)
    write_log(book, 150, seed=seed + 10)
    events = [json.loads(raw) for raw in book.entries]
    places = [k for k, event in enumerate(events) if event["type"] == "hand.disclosed"]
    at = places[(seed * 37 + 5) % len(places)]
    table = events[at]["table"]
    events[at]["server_seed"] = "11" * 32
    last = events[at]
    for event in events[at + 1 :]:  # the rest of the table's chain is made to fit
        if event["table"] == table:
            event["prev"] = digest(last)
            if "head" in event:
                event["head"] = last["prev"] if event["head"] == last["prev"] else event["prev"]
            last = event
    changed = Book(ORIGIN)
    for event in events:
        changed.append(encode(event))
    write_book(changed, tmp_path)
    code, found = run("replay", tmp_path)
    assert code == 1
    first = found["findings"][0]
    assert (first["code"], first["entry"], first["table"]) == ("HAND", at, table)
    assert "server.commitment" in first["text"]
    assert run("judge", tmp_path / first["evidence"], "--key", KEY)[0] == 1
    assert {one["table"] for one in found["findings"]} == {table}


def test_one_event_among_thousands_is_found(tmp_path, run):
    at = 3331
    generate(tmp_path, 600, tamper={at: other_prev})
    code, found = run("replay", tmp_path, "-j", 2)
    assert code == 1
    first = found["findings"][0]
    assert (first["code"], first["entry"]) == ("CHAIN", at)
    assert run("judge", tmp_path / first["evidence"], "--key", KEY)[0] == 1
    assert {one["table"] for one in found["findings"]} == {first["table"]}


def test_what_is_not_what_the_root_says_is_not_replayed(tmp_path, run):
    generate(tmp_path, 100)
    path = tmp_path / "tile/entries/000"
    data = bytearray(path.read_bytes())
    data[300] ^= 1
    path.write_bytes(data)
    assert run("replay", tmp_path)[0] == 3
    path.unlink()
    assert run("replay", tmp_path)[0] == 3
    (tmp_path / "checkpoint").unlink()
    assert run("replay", tmp_path)[0] == 3


# --- kills ----------------------------------------------------------------------------------------

DIES = """
import os, signal, sys
from fairdeal_audit import replay, store
from fairdeal_audit.command import main
replay.BUNDLES = 4
name, left, together = sys.argv[1], int(sys.argv[2]), sys.argv[3] == "1"
real = getattr(store.Store, name)
def dies(self, *arguments):
    global left
    left -= 1
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return real(self, *arguments)
if not together:
    store.Store.begin = store.Store.end = lambda self: None
    opens = store.Store.__init__
    def opened(self, *arguments, **options):
        opens(self, *arguments, **options)
        self._db.execute("PRAGMA synchronous = OFF")  # each statement is a step: do not wait for it
    store.Store.__init__ = opened
setattr(store.Store, name, dies)
if __name__ == "__main__":
    sys.exit(main(sys.argv[4:]))
"""


def killed(tmp_path, name, left, *, together=True, processes=1):
    """Kills a replay where it writes something for the n-th time."""
    program = tmp_path / "dies.py"
    program.write_text(DIES)
    argv = ["replay", str(tmp_path / "dir"), "--quiet", "-j", str(processes)]
    command = [sys.executable, str(program), name, str(left), str(int(together)), *argv]
    assert subprocess.run(command, check=False).returncode == -signal.SIGKILL


STOPPED = """
import os, sys, time
from contextlib import nullcontext
from multiprocessing.process import BaseProcess
from fairdeal_audit import replay, worker
from fairdeal_audit.command import main
def waits(self, *asked):
    os.write(1, b"here\\n")  # at once: two of them write to one pipe
    time.sleep(600)
worker.Worker.run = waits
if sys.argv[1] == "control":
    replay._deaf_to_ctrl_c = nullcontext
    BaseProcess.terminate = lambda self: None  # it may say all that it has to say
if __name__ == "__main__":
    sys.exit(main(sys.argv[2:]))
"""


@contextmanager
def two_at_work(fetched, tmp_path, what):
    """A replay, in a group of its own, whose two processes have said that they work."""
    program = tmp_path / "stopped.py"
    program.write_text(STOPPED)
    folder = tmp_path / "dir"
    shutil.copytree(fetched, folder, ignore=shutil.ignore_patterns("replay*", "report*"))
    with subprocess.Popen(
        [sys.executable, str(program), what, "replay", str(folder), "--quiet", "-j", "2"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509 - nothing else
    ) as process:  # fmt: skip
        assert [process.stdout.readline() for _ in range(2)] == ["here\n"] * 2
        yield process


@pytest.mark.parametrize("what", ["as it is", "control"])
def test_ctrl_c_ends_all_processes_of_a_replay_without_a_page_of_text(fetched, tmp_path, what):
    """A terminal sends it to each of them."""
    with two_at_work(fetched, tmp_path, what) as process:
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=120)
    assert (process.returncode, out) == (3, "")
    words = "\nfairdeal-audit: stopped; what was done is kept\n"
    if what == "control":
        assert "Traceback" in err
        assert words in err
    else:
        assert err == words


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_replay_that_is_told_to_end_ends_its_processes(fetched, tmp_path, number):
    """Only the first of them is told; the control is the test of a fetch."""
    with two_at_work(fetched, tmp_path, "as it is") as process:
        process.send_signal(number)
        # Both pipes end when the last of the processes has.
        out, err = process.communicate(timeout=30)
    words = "\nfairdeal-audit: stopped; what was done is kept\n"
    assert (process.returncode, out, err) == (3, "", words)


@pytest.fixture(scope="module")
def faulty(tmp_path_factory):
    """A log with findings, and the report of a replay that nobody disturbed."""
    folder = tmp_path_factory.mktemp("faulty")
    book = LogWriter(None)
    write_log(book, 400)
    log = Book(ORIGIN)
    for at, raw in enumerate(book.entries):
        log.append(raw)
        if at % 100 == 50:
            log.append(raw)  # an event twice
    write_book(log, folder)
    command = [sys.executable, "-m", "fairdeal_audit", "replay", str(folder), "--quiet"]
    assert subprocess.run(command, check=False, stdout=subprocess.DEVNULL).returncode == 1
    report = (folder / "report.json").read_bytes()
    assert len(json.loads(report)["findings"]) > 20
    shutil.rmtree(folder / "evidence", ignore_errors=True)
    for name in (NAME, "report.json"):
        (folder / name).unlink()
    return folder, report


@pytest.mark.parametrize(
    ("name", "left", "processes"),
    [("begin", 1, 1), ("save", 2, 1), ("add", 3, 1), ("set", 6, 2), ("end", 2, 1), ("end", 1, 2)],
)
def test_killed_it_comes_to_the_same(name, left, processes, faulty, tmp_path, run):
    shutil.copytree(faulty[0], tmp_path / "dir")
    killed(tmp_path, name, left, processes=processes)
    assert run("replay", tmp_path / "dir")[0] == 1
    assert (tmp_path / "dir/report.json").read_bytes() == faulty[1]


def test_control_what_is_not_written_together_comes_to_something_else(faulty, tmp_path, run):
    shutil.copytree(faulty[0], tmp_path / "dir")
    killed(tmp_path, "set", 5, together=False)
    run("replay", tmp_path / "dir")
    assert (tmp_path / "dir/report.json").read_bytes() != faulty[1]


# --- memory ---------------------------------------------------------------------------------------

# Not ru_maxrss: that begins with the size of the process that forked, which is this one.
MEASURED = """
import sys
from fairdeal_audit.command import main
code = main(sys.argv[1:])
status = open("/proc/self/status").read()
print(status.partition("VmHWM:")[2].split()[0])
sys.exit(code)
"""


def peak(folder, *more):
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, "replay", str(folder), "--quiet", *more],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    return int(done.stdout.split()[-1]) / 1024


def test_memory_does_not_grow_with_the_log(fetched, tmp_path):
    generate(tmp_path, HANDS // 4)
    (fetched / NAME).unlink(missing_ok=True)
    small, large = peak(tmp_path), peak(fetched)
    assert large < 300, "MB"
    assert large < small + 24, (small, large)


@pytest.mark.soak
def test_memory_of_a_hundred_thousand_hands(tmp_path):
    generate(tmp_path, 100_000)
    assert peak(tmp_path) < 300
    assert json.loads((tmp_path / "report.json").read_bytes())["findings"] == []
