"""Two heads, and a watch. Spec: AUD-7, AUD-8."""

from __future__ import annotations

import json
import shutil

import pytest

from seeds.hands import new_table
from seeds.local import Book
from tests.audit.cheats import encode, events_of, honest, log_with, note_at, two_histories
from tests.audit.generate import ORIGIN, write_book

KEY = str(Book(ORIGIN).key.verifier)


@pytest.fixture
def note(tmp_path):
    """Writes a head into a file."""

    def note(book, size=None, name=None):
        path = tmp_path / (name or f"{id(book)}-{size}.note")
        path.write_text(note_at(book, size or len(book.entries)), "utf-8")
        return path

    return note


def test_two_roots_of_one_size_are_a_fork(note, tmp_path, run):
    one, other = two_histories(30, 50, 50)
    out = tmp_path / "fork.json"
    code, said = run("compare", note(one), note(other), "--key", KEY, "-o", out)
    assert (code, said["code"]) == (1, "FORK")
    assert run("judge", out, "--key", KEY)[0] == 1
    assert run("compare", note(one), note(one), "--key", KEY)[0] == 0


@pytest.mark.parametrize("sizes", [(50, 90), (64, 300), (257, 700)])
def test_a_head_that_is_not_extended_is_a_fork(sizes, note, tmp_path, run):
    one, other = two_histories(30, *sizes)
    write_book(other, tmp_path / "dir")
    out = tmp_path / "fork.json"
    heads = (note(one), note(other))
    assert run("compare", *heads, "--key", KEY)[0] == 3  # nobody shows how they go together
    code, said = run("compare", *heads[::-1], "--dir", tmp_path / "dir", "-o", out)
    assert (code, said["code"]) == (1, "FORK")
    assert run("judge", out, "--key", KEY)[1]["code"] == "FORK"


def test_control_a_head_that_is_extended_is_not(note, tmp_path, run):
    one, longer = two_histories(10_000, 50, 700)
    write_book(longer, tmp_path / "dir")
    assert run("compare", note(one), note(longer), "--dir", tmp_path / "dir")[0] == 0
    # The folder may have grown since.
    assert run("compare", note(one), note(longer, 600), "--dir", tmp_path / "dir")[0] == 0


def test_receipts_and_hands_files_hold_heads(tmp_path, run):
    """Two receipts for one index: the player's, and the one in the file that is shown later."""
    table = new_table("kozel", "c0")
    table.deal()
    table.close()
    file = tmp_path / "hand.fair.json"
    file.write_bytes(table.transcript().encode())
    assert table.last_receipt is not None
    index, size = table.last_receipt.index, int(table.last_receipt.note.split("\n")[1])
    other = Book(table.book.key.name)
    for at, raw in enumerate(table.book.entries[:size]):
        other.append(raw if at != index else b"another end")
    receipt = tmp_path / "kept.receipt"
    receipt.write_text(other.receipt(index).text(), "utf-8")
    key = str(table.book.key.verifier)
    out = tmp_path / "fork.json"
    assert run("compare", receipt, file, "--key", key, "-o", out)[0] == 1
    assert run("judge", out, "--key", key)[0] == 1
    honest_one = tmp_path / "honest.receipt"
    honest_one.write_text(table.book.receipt(index, size).text(), "utf-8")
    assert run("compare", honest_one, file, "--key", key)[0] == 0


def test_two_files_of_a_hand_that_end_otherwise_need_no_folder(tmp_path, run):
    """The hand was closed for one player and aborted for the other; the logs went on."""
    files = []
    for more in (0, 9):
        table = new_table("kozel", "c0")
        table.deal()
        table.close() if more else table.abort()
        index = table.last_receipt.index
        for at in range(more):
            table.book.append(b"more %d" % at)
        table.last_receipt = table.book.receipt(index)
        files.append(tmp_path / f"{more}.fair.json")
        files[-1].write_bytes(table.transcript().encode())
    out = tmp_path / "fork.json"
    key = str(table.book.key.verifier)
    code, said = run("compare", *files, "--key", key, "-o", out)
    assert (code, said["code"]) == (1, "FORK")
    assert len(json.loads(out.read_text())["statements"]) == 2
    assert run("judge", out, "--key", key)[0] == 1
    # Control: two receipts of one file, of two sizes, say nothing by themselves.
    later = tmp_path / "later.fair.json"
    table.book.append(b"and more")
    table.last_receipt = table.book.receipt(index)
    later.write_bytes(table.transcript().encode())
    assert run("compare", files[1], later, "--key", key)[0] == 3


def test_what_holds_no_signed_head_is_unreadable(note, tmp_path, run):
    one, _ = two_histories(0, 20, 20)
    bad = tmp_path / "bad"
    for data in (b"no note", b"\xff", b"{}", b'{"proof":1}', note(one).read_bytes()[:-9]):
        bad.write_bytes(data)
        assert run("compare", bad, note(one), "--key", KEY)[0] == 4
    other = str(Book("other.example/log").key.verifier)
    assert run("compare", note(one), note(one), "--key", other)[0] == 4
    assert run("compare", tmp_path / "none", note(one), "--key", KEY)[0] == 2


def grown(events, size, folder):
    whole = log_with([encode(event) for event in events])
    part = Book(ORIGIN)
    for raw in whole.entries[:size]:
        part.append(raw)
    write_book(part, folder)
    return len(whole.entries)


def test_watch_ends_with_the_first_finding(tmp_path, monkeypatch, run):
    events = events_of(honest())
    bad = json.loads(json.dumps(events))
    bad[-1]["unused_seed"] = "00" * 32
    grown(events, 20, tmp_path / "log")
    slept = []

    def sleep(seconds):
        slept.append(seconds)
        if len(slept) == 2:
            grown(bad, 10_000, tmp_path / "log")
        else:
            grown(events, 30, tmp_path / "log")

    monkeypatch.setattr("time.sleep", sleep)
    argv = ("watch", tmp_path / "log", tmp_path / "dir", "--key", KEY, "--every", 7)
    code, report = run(*argv)
    assert code == 1
    assert [one["code"] for one in report["findings"]] == ["COMMITMENT"]
    assert slept == [7, 7]


def test_control_watch_goes_on_as_long_as_nothing_is_found(tmp_path, monkeypatch, run):
    grown(events_of(honest()), 10_000, tmp_path / "log")
    slept = []
    monkeypatch.setattr("time.sleep", slept.append)
    argv = ("watch", tmp_path / "log", tmp_path / "dir", "--key", KEY, "--times", 4)
    assert run(*argv)[0] == 0
    assert slept == [60, 60, 60]
    shutil.rmtree(tmp_path / "log/tile")
    assert run("watch", tmp_path / "log", tmp_path / "dir2", "--key", KEY)[0] == 3


def test_watch_asks_a_log_that_does_not_answer_again(tmp_path, monkeypatch, run):
    events = events_of(honest())
    grown(events, 20, tmp_path / "log")
    now = [0.0]
    gone = []

    def sleep(seconds):
        now[0] += seconds
        if now[0] == 7:
            (tmp_path / "log/checkpoint").rename(tmp_path / "away")
        elif now[0] == comes_back:
            (tmp_path / "away").rename(tmp_path / "log/checkpoint")
        elif comes_back == 21 and now[0] == 70:
            gone.append(True)
            (tmp_path / "log/checkpoint").rename(tmp_path / "away")

    monkeypatch.setattr("time.sleep", sleep)
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    argv = ("watch", tmp_path / "log", tmp_path / "dir", "--key", KEY, "--every", 7)
    comes_back = 21
    assert run(*argv, "--patience", 20, "--times", 6)[0] == 0
    # It is the whole time that counts, anew each time; then it ends, and not as clean.
    now[0] = 0
    assert run(*argv, "--patience", 20)[0] == 3
    assert gone
    assert now[0] == 63 + 21
    # One that was never there is told at once.
    now[0] = 0
    assert run(*argv, "--patience", 20)[0] == 3
    assert now[0] == 0


def test_watch_that_ends_with_an_incomplete_round_is_incomplete(tmp_path, monkeypatch, run):
    grown(events_of(honest()), 20, tmp_path / "log")
    monkeypatch.setattr("time.sleep", lambda _: (tmp_path / "log/checkpoint").unlink())
    argv = ("watch", tmp_path / "log", tmp_path / "dir", "--key", KEY, "--times", 2)
    assert run(*argv)[0] == 3
