"""A log is fetched whole, or not at all. Spec: AUD-1."""

from __future__ import annotations

import functools
import gzip
import shutil
import signal
import subprocess
import sys
import threading
import time
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from fairdeal.log.checkpoint import Checkpoint
from fairdeal_audit.heads import kept
from fairdeal_audit.source import HttpSource
from fairdeal_audit.tiles import Folder, IncompleteError, levels, tile_path, tiles_at
from fairdeal_verifier.note import LogKey
from fairdeal_verifier.rotation import Keys
from seeds.local import Book
from tests.audit.cheats import log_with, note_at, two_histories
from tests.audit.generate import ORIGIN, write_book

KEY = str(Book(ORIGIN).key.verifier)


def files(folder):
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted((folder / "tile").rglob("*"))
        if path.is_file()
    }


class Handler(SimpleHTTPRequestHandler):
    """Static files; now and then an answer that is none, or a compressed bundle."""

    asked: list[str]

    def do_GET(self):
        self.asked.append(self.path)
        if len(self.asked) % 5 == 1:
            self.send_error(503)
            return
        if "entries" in self.path and len(self.asked) % 2:
            path = self.translate_path(self.path)
            if Path(path).is_file():
                data = gzip.compress(Path(path).read_bytes())
                self.send_response(200)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)
                return
        super().do_GET()

    def log_message(self, *_arguments):
        pass


@pytest.fixture
def serve():
    """Serves a folder over HTTP; gives the address and what is asked for."""
    servers = []

    def serve(folder):
        asked: list[str] = []
        handler = type("One", (Handler,), {"asked": asked})
        server = ThreadingHTTPServer(
            ("127.0.0.1", 0), functools.partial(handler, directory=str(folder))
        )
        servers.append(server)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{server.server_address[1]}", asked

    yield serve
    for server in servers:
        server.shutdown()
        server.server_close()


def test_over_http_and_from_a_folder_the_same_comes(honest_log, serve, tmp_path, run, monkeypatch):
    monkeypatch.setattr("time.sleep", lambda _seconds: None)
    url, _ = serve(honest_log)
    assert run("fetch", url, tmp_path / "a", "--key", KEY)[0] == 0
    assert run("fetch", honest_log, tmp_path / "b", "--key", KEY)[0] == 0
    assert run("fetch", honest_log.as_uri(), tmp_path / "c", "--key", KEY)[0] == 0
    assert (
        files(tmp_path / "a") == files(tmp_path / "b") == files(tmp_path / "c") == files(honest_log)
    )


def test_what_is_there_is_not_fetched_again(tmp_path, serve, run, monkeypatch):
    monkeypatch.setattr("time.sleep", lambda _seconds: None)
    one, _ = two_histories(0, 1000, 0)
    write_book(one, tmp_path / "log")
    assert run("fetch", tmp_path / "log", tmp_path / "dir", "--key", KEY)[0] == 0
    longer, _ = two_histories(0, 1300, 0)
    write_book(longer, tmp_path / "log")
    url, asked = serve(tmp_path / "log")
    assert run("fetch", url, tmp_path / "dir")[0] == 0
    assert not [path for path in asked if path.endswith(("entries/000", "0/002"))]
    assert files(tmp_path / "dir").keys() == {
        name
        for name in files(tmp_path / "log")
        if not name.endswith(("000.p/3", "003.p/232"))  # of the smaller log
    }
    assert [head.size for _, head in kept(tmp_path / "dir", Keys.of(LogKey.parse(KEY)))] == [
        1000,
        1300,
    ]


def test_a_partial_tile_may_be_served_whole_by_now(tmp_path, run):
    shorter, longer = two_histories(10_000, 500, 700)
    for book in (shorter, longer):
        write_book(book, tmp_path / "log")
    (tmp_path / "log/checkpoint").write_text(note_at(longer, 500))
    for kind in ("entries", 0):
        (tmp_path / "log" / tile_path(kind, 1, 244)).unlink()
    assert run("fetch", tmp_path / "log", tmp_path / "dir", "--key", KEY)[0] == 0
    assert Folder(tmp_path / "dir", 500).root() == longer.tree.root(500)


# --- what is not believed -----------------------------------------------------------------------


def flipped(path, at=7):
    data = bytearray(path.read_bytes())
    data[at] ^= 1
    path.write_bytes(data)


def cut(path):
    path.write_bytes(path.read_bytes()[:-1])


DAMAGES = {
    "an entry": lambda log: flipped(log / tile_path("entries", 1)),
    "a leaf hash": lambda log: flipped(log / tile_path(0, 1)),
    "an upper hash": lambda log: flipped(log / tile_path(1, 0, 3)),
    "a cut bundle": lambda log: cut(log / tile_path("entries", 2)),
    "a cut tile": lambda log: cut(log / tile_path(0, 2)),
    "no bundle": lambda log: (log / tile_path("entries", 3, 32)).unlink(),
    "no checkpoint": lambda log: (log / "checkpoint").unlink(),
    "a root": lambda log: (log / "checkpoint").write_text(
        note_at(Book(ORIGIN), 0).replace("\n0\n", "\n800\n", 1)
    ),
    "no note": lambda log: (log / "checkpoint").write_text("no note"),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_damage_is_not_fetched(name, tmp_path, run):
    one, _ = two_histories(0, 800, 0)
    write_book(one, tmp_path / "log")
    DAMAGES[name](tmp_path / "log")
    code, text = run("fetch", tmp_path / "log", tmp_path / "dir", "--key", KEY)
    assert code == 3, text
    assert "incomplete" in text
    assert not (tmp_path / "dir/checkpoint").exists()
    # Mended, it goes on from what was good.
    write_book(one, tmp_path / "log")
    assert run("fetch", tmp_path / "log", tmp_path / "dir")[0] == 0


def test_an_entry_and_its_hash_changed_together_are_not_fetched(tmp_path, run):
    """A tool that trusts tiles which it does not compare with those above accepts this one."""
    one, other = two_histories(300, 800, 800)
    write_book(one, tmp_path / "log")
    write_book(other, tmp_path / "other")
    for kind in ("entries", 0):
        shutil.copy(tmp_path / "other" / tile_path(kind, 1), tmp_path / "log" / tile_path(kind, 1))
    assert run("fetch", tmp_path / "log", tmp_path / "dir", "--key", KEY)[0] == 3


def test_another_key_is_not_believed(tmp_path, run):
    write_book(log_with([]), tmp_path / "log")
    other = str(Book("other.example/log").key.verifier)
    assert run("fetch", tmp_path / "log", tmp_path / "dir", "--key", other)[0] == 3
    assert run("fetch", tmp_path / "log", tmp_path / "two")[0] == 2  # none was ever given
    assert run("fetch", tmp_path / "log", tmp_path / "three", "--key", KEY)[0] == 0
    assert run("fetch", tmp_path / "log", tmp_path / "three", "--key", other)[0] == 2


def test_what_does_not_answer_is_incomplete(monkeypatch):
    monkeypatch.setattr("time.sleep", lambda _seconds: None)
    with pytest.raises(IncompleteError, match="does not answer"):
        HttpSource("http://127.0.0.1:1").read("checkpoint", 100)


def head_of(folder, size):
    """A checkpoint of any size at all, which the log's key has signed."""
    note = Checkpoint(ORIGIN, size, bytes(32)).sign(Book(ORIGIN).key)
    (folder / "checkpoint").write_text(note, "utf-8")


def by_its_size(folder, size):
    """Takes away every tile that a log of this size has."""
    for level in levels(size):
        for one in tiles_at(level, size):
            (folder / tile_path(level, *one)).unlink(missing_ok=True)


def test_a_checkpoint_of_more_entries_than_are_served(tmp_path, run):
    """A number is signed at once: to give up what it stands for must not be to count up to it."""
    one, _ = two_histories(0, 800, 0)
    write_book(one, tmp_path / "log")
    assert run("fetch", tmp_path / "log", tmp_path / "dir", "--key", KEY)[0] == 0
    before = files(tmp_path / "dir")
    head_of(tmp_path / "log", 2**53 - 1)
    code, text = run("fetch", tmp_path / "log", tmp_path / "dir")
    assert code == 3, text
    assert files(tmp_path / "dir") == before
    # What an interrupted fetch has left is taken away, and nothing that was verified.
    left = [tile_path("entries", 3), tile_path(0, 3), tile_path(0, 1_234_567), tile_path(1, 0)]
    for name in left:
        (tmp_path / "dir" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "dir" / name).write_bytes(b"bad")
    assert run("fetch", tmp_path / "log", tmp_path / "dir")[0] == 3
    assert files(tmp_path / "dir") == before
    # Control: to count up to a thousandth of a millionth of that size is felt.
    took = []
    for size in (2**20, 2**24):
        start = time.thread_time()
        by_its_size(tmp_path, size)
        took.append(time.thread_time() - start)
    assert took[1] > 4 * took[0]


# --- histories ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shared", "first", "second"),
    [(300, 500, 500), (300, 500, 900), (256, 512, 600), (10, 300, 301), (600, 700, 650)],
)
def test_another_history_is_a_fork_with_evidence(shared, first, second, tmp_path, run):
    one, other = two_histories(shared, first, second)
    for book, name in ((one, "one"), (other, "other")):
        write_book(book, tmp_path / name)
    assert run("fetch", tmp_path / "one", tmp_path / "dir", "--key", KEY)[0] == 0
    code, said = run("fetch", tmp_path / "other", tmp_path / "dir")
    assert (code, said["code"]) == (1, "FORK"), said
    (evidence,) = (tmp_path / "dir/evidence").glob("fork-*.json")
    assert run("judge", evidence, "--key", KEY)[1]["code"] == "FORK"
    # What had been verified is still there.
    assert Folder(tmp_path / "dir", first).root() == one.tree.root()


def test_control_a_longer_log_is_no_fork(tmp_path, run):
    one, longer = two_histories(10_000, 500, 900)
    write_book(one, tmp_path / "log")
    assert run("fetch", tmp_path / "log", tmp_path / "dir", "--key", KEY)[0] == 0
    write_book(longer, tmp_path / "log")
    assert run("fetch", tmp_path / "log", tmp_path / "dir")[1]["code"] == ""


def test_an_older_state_is_a_rollback(tmp_path, run):
    one, longer = two_histories(10_000, 500, 900)
    write_book(longer, tmp_path / "log")
    assert run("fetch", tmp_path / "log", tmp_path / "dir", "--key", KEY)[0] == 0
    write_book(one, tmp_path / "log")
    code, said = run("fetch", tmp_path / "log", tmp_path / "dir")
    assert (code, said["code"]) == (1, "ROLLBACK")


# --- kills --------------------------------------------------------------------------------------

DIES = """
import os, signal, sys
from fairdeal_audit import fetch
from fairdeal_audit.command import main
left, real = int(sys.argv[1]), fetch.write
def write(path, data):
    global left
    left -= 1
    if left == 0:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.with_name(path.name + ".part").write_bytes(data[: len(data) // 2])
        os.kill(os.getpid(), signal.SIGKILL)
    real(path, data)
fetch.write = write
sys.exit(main(sys.argv[2:]))
"""


@pytest.mark.parametrize("after", [1, 2, 7, 15, 18])
def test_killed_it_goes_on(after, tmp_path, run):
    one, _ = two_histories(0, 2000, 0)
    write_book(one, tmp_path / "log")
    argv = ["fetch", str(tmp_path / "log"), str(tmp_path / "dir"), "--key", KEY, "--quiet"]
    died = subprocess.run([sys.executable, "-c", DIES, str(after), *argv], check=False)
    assert died.returncode == -signal.SIGKILL
    assert not (tmp_path / "dir/checkpoint").exists()
    assert run("fetch", tmp_path / "log", tmp_path / "dir")[0] == 0
    assert {n: d for n, d in files(tmp_path / "dir").items() if not n.endswith(".part")} == files(
        tmp_path / "log"
    )


TOLD = """
import os, signal, sys
from fairdeal_audit import command, heads
how, left, *arguments = sys.argv[1:]
left, replace = int(left), os.replace
def told(*names):
    global left
    left -= 1
    if left == 0:
        os.kill(os.getpid(), signal.SIGTERM)
        os.kill(os.getpid(), signal.SIGTERM)  # `timeout` sends it twice
    replace(*names)
heads.os.replace = told
if how == "control":
    command._ended_by_signals = command.suppress
sys.exit(command.main(arguments))
"""


@pytest.mark.parametrize("how", ["as it is", "control"])
@pytest.mark.parametrize("left", [1, 3, 8])
def test_a_fetch_that_is_told_to_end_keeps_what_is_whole(tmp_path, run, how, left):
    one, _ = two_histories(0, 2000, 0)
    write_book(one, tmp_path / "log")
    folder = tmp_path / "dir"
    words = ["fetch", str(tmp_path / "log"), str(folder), "--key", KEY, "--quiet"]
    done = subprocess.run(
        [sys.executable, "-c", TOLD, how, str(left), *words],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    parts = list(folder.rglob("*.part"))
    if how == "control":
        assert done.returncode == -signal.SIGTERM
        assert parts
    else:
        said = "\nfairdeal-audit: stopped; what was done is kept\n"
        assert (done.returncode, done.stdout, done.stderr) == (3, "", said)
        assert parts == []
    assert run("fetch", tmp_path / "log", folder, "--key", KEY)[0] == 0
