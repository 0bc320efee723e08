"""A log that follows one which has ended, alone and beside it. Spec: LOG-30, AUD-10."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fairdeal.ed25519 import sign
from fairdeal.log.checkpoint import Checkpoint
from fairdeal.log.note import SigningKey
from seeds.local import Book, LocalTable
from tests.audit.cheats import encode
from tests.audit.generate import ORIGIN, keys_of, write_book
from tests.audit.rotated import Event, play, signed

SUCCESSOR = "audit.example/second"
KEY = str(SigningKey(SUCCESSOR, b"\x05" * 32).verifier)
OLD_KEY = str(Book(ORIGIN).key.verifier)


def ended() -> Book:
    """A log with a hand of which only the beginning is there, and one that goes on later."""
    book = Book(ORIGIN)
    play(book, "r0")
    for name in ("r1", "r2"):
        table = LocalTable(book, "kozel", name=name)
        table.open_hand()
        table.seal()
    play(book, "r3", 1)
    return book


def open_hands(entries: list[bytes]) -> list[list[Any]]:
    """The oracle: hands that were opened and have no end."""
    events = [json.loads(raw) for raw in entries]
    opened = [[e["table"], e["hand"]] for e in events if e["type"] == "hand.opened"]
    over = [[e["table"], e["hand"]] for e in events if e["type"] in ("hand.closed", "hand.aborted")]
    return sorted(one for one in opened if one not in over)


def successor(
    old: Book,
    kept: int | None = None,
    change: Callable[[Event], None] = lambda _event: None,
    lost: list[list[Any]] | None = None,
    parts: int = 1,
) -> Book:
    """The log that goes on, from a backup of so many entries."""
    size = len(old.entries)
    kept = size - 4 if kept is None else kept
    book = Book(SUCCESSOR, old.now)
    book.key = SigningKey(SUCCESSOR, b"\x05" * 32)
    old_key = old.key
    text = Checkpoint(ORIGIN, size, old.tree.root(size)).text()
    hands = open_hands(old.entries[:kept]) if lost is None else lost
    share = -(-len(hands) // parts)
    for part in range(parts):
        body = {
            "at": "2025-12-01T00:00:00.000Z",
            "kept_root": old.tree.root(kept).hex(),
            "kept_size": kept,
            "log_key": str(book.key.verifier),
            "lost": hands[part * share : (part + 1) * share],
            "old_key": str(old_key.verifier),
            "old_origin": ORIGIN,
            "old_root": old.tree.root(size).hex(),
            "old_sig": sign(old_key.secret, text.encode()).hex(),
            "old_size": size,
            "origin": SUCCESSOR,
            "part": part,
            "parts": parts,
            "type": "log.continued",
            "v": "fairdeal/1",
        }
        change(body)
        made = signed(body, old_key, book.key, "continue")
        if "unsigned" in made:
            del made["unsigned"]
            made = signed(made, old_key, book.key, "continue")
            del made["sigs"]["old"]
        book.append(encode(made))
    play(book, "n0")
    return book


def fetched(book: Book, folder: Path, run, trusted: int = 0) -> Path:
    write_book(book, folder / "log")
    key = str(keys_of(book)[trusted][1].verifier)
    assert run("fetch", folder / "log", folder / "dir", "--key", key)[0] == 0
    return folder / "dir"


@pytest.mark.parametrize("parts", [1, 2])
def test_a_successor_is_clean_and_says_what_it_follows(parts, tmp_path, run):
    old = ended()
    before = fetched(old, tmp_path / "old", run)
    after = fetched(successor(old, parts=parts), tmp_path / "new", run)
    code, report = run("replay", after)
    assert (code, report["findings"]) == (0, [])
    assert report["continues"] == {
        "old_origin": ORIGIN,
        "old_size": len(old.entries),
        "kept_size": len(old.entries) - 4,
        "lost": 3,
        "is_signed_by_old": True,
    }
    assert "it continues audit.example/log" in run("replay", after, "--text")[1]
    assert run("replay", after, "--continues", before)[0] == 0
    assert run("replay", before)[1]["continues"] is None


def test_a_successor_of_a_log_that_was_rotated(tmp_path, run):
    old = Book(ORIGIN)
    play(old, "r0")
    old.rotate("second")
    table = LocalTable(old, "kozel", name="r1")
    table.open_hand()
    table.seal()
    new = successor(old, len(old.entries))
    new.rotate("third")
    play(new, "n1")
    before = fetched(old, tmp_path / "old", run)
    for trusted in (0, 1):
        after = fetched(new, tmp_path / f"new{trusted}", run, trusted)
        assert run("replay", after, "--continues", before)[0] == 0
    # The control: the key that was in force before the last one.
    old.former, old.key = [], old.former[0][1]
    bad = fetched(successor(old, len(old.entries)), tmp_path / "bad", run)
    code, report = run("replay", bad, "--continues", before)
    assert code == 1
    assert [one["code"] for one in report["findings"]] == ["LOST"]
    assert "in force" in report["findings"][0]["text"]


def test_without_the_old_key_it_proves_nothing_about_the_old_log(tmp_path, run):
    book = successor(ended(), change=lambda event: event.update(unsigned=1))
    folder = fetched(book, tmp_path, run)
    code, report = run("replay", folder)
    assert (code, report["continues"]["is_signed_by_old"]) == (0, False)
    assert "proves nothing about it" in run("replay", folder, "--text")[1]


def test_hands_that_are_not_said_to_be_lost(tmp_path, run):
    old = ended()
    before = fetched(old, tmp_path / "old", run)
    hands = open_hands(old.entries[:-4])
    assert len(hands) == 3
    more = sorted([*hands, ["tbl_000000000000000000000000r0", 1]])
    for number, lost in enumerate((hands[1:], [], more)):
        after = fetched(successor(old, lost=lost), tmp_path / f"new{number}", run)
        assert run("replay", after)[0] == 0  # nobody who has only this log can tell
        code, report = run("replay", after, "--continues", before)
        assert code == 1
        assert {one["code"] for one in report["findings"]} == {"LOST"}
        assert len(report["findings"]) == abs(len(hands) - len(lost))
        # And it is not kept for a replay that was not asked.
        assert run("replay", after)[0] == 0


def test_roots_that_are_not_the_old_logs(tmp_path, run):
    old = ended()
    before = fetched(old, tmp_path / "old", run)
    forked = Book(ORIGIN)
    for raw in [*old.entries[:-9], *old.entries[-9:][::-1]]:
        forked.append(raw)
    after = fetched(successor(forked), tmp_path / "new", run)
    _, report = run("replay", after, "--continues", before)
    said = [one["text"] for one in report["findings"] if "root" in one["text"]]
    assert len(said) == 2


@pytest.mark.parametrize(("ending", "is_fault"), [("/test", True), ("/tests", False)])
def test_a_live_log_does_not_follow_one_of_a_test(ending, is_fault, tmp_path, run):
    """Spec: LOG-33. The control differs in the name alone."""

    def change(event: Event) -> None:
        old = SigningKey(ORIGIN + ending, Book(ORIGIN).key.secret)
        head = Checkpoint(old.name, event["old_size"], bytes.fromhex(event["old_root"]))
        signature = sign(old.secret, head.text().encode()).hex()
        event.update(old_origin=old.name, old_key=str(old.verifier), old_sig=signature)

    folder = fetched(successor(ended(), change=change), tmp_path, run)
    code, report = run("replay", folder)
    assert code == is_fault
    assert [one["code"] for one in report["findings"]] == ["KEY"] * is_fault
    for one in report["findings"]:
        assert run("judge", folder / one["evidence"], "--key", KEY)[0] == 1


def test_what_cannot_be_compared(tmp_path, run):
    old = ended()
    shorter = Book(ORIGIN)
    for raw in old.entries[:-5]:
        shorter.append(raw)
    before = fetched(shorter, tmp_path / "short", run)
    after = fetched(successor(old), tmp_path / "new", run)
    assert run("replay", after, "--continues", before)[0] == 3
    assert run("replay", before, "--continues", after)[0] == 2  # it continues none
    other = Book("other.example/log")
    play(other, "r0")
    stranger = fetched(other, tmp_path / "other", run)
    assert run("replay", after, "--continues", stranger)[0] == 2
    assert run("replay", after, "--continues", tmp_path / "none")[0] == 2


FAULTS: dict[str, Callable[[Event], Any]] = {
    "another origin": lambda e: e.update(origin="x.example"),
    "another key": lambda e: e.update(log_key=str(SigningKey(SUCCESSOR, b"\x06" * 32).verifier)),
    "its own origin": lambda e: e.update(old_origin=SUCCESSOR),
    "kept more than there was": lambda e: e.update(kept_size=e["old_size"] + 1),
    "kept all, and another root": lambda e: e.update(kept_size=e["old_size"]),
    "an old head that nobody signed": lambda e: e.update(old_size=e["old_size"] + 1),
    "another part": lambda e: e.update(part=1, parts=2),
    "a part that is not there": lambda e: e.update(parts=2),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_continuation_that_is_not_good(name, tmp_path, run):
    def change(event: Event) -> None:
        FAULTS[name](event)

    book = successor(ended(), change=change)
    for processes in (1, 2):
        code, report = run("replay", fetched(book, tmp_path / f"{processes}", run), "-j", processes)
        assert code == 1
        assert {one["code"] for one in report["findings"]} == {"KEY"}
        evidence = [one["evidence"] for one in report["findings"] if one["evidence"]]
        # That something is missing, no part of the log shows.
        assert len(evidence) == (name != "a part that is not there")
        for one in evidence:
            folder = tmp_path / f"{processes}/dir"
            assert run("judge", folder / one, "--key", KEY)[0] == 1


def test_not_at_the_beginning(tmp_path, run):
    late = Book(SUCCESSOR)
    one = successor(ended())
    late.key = one.key
    for raw in [*one.entries[1:], one.entries[0]]:
        late.append(raw)
    code, report = run("replay", fetched(late, tmp_path, run))
    assert (code, [f["code"] for f in report["findings"]]) == (1, ["KEY"])
    assert report["findings"][0]["entry"] == len(late.entries) - 1


def test_parts_that_do_not_fit_each_other(tmp_path, run):
    def later(event: Event) -> None:
        if event["part"] == 1:
            event["kept_size"] -= 1

    def again(event: Event) -> None:
        event["lost"] = [["tbl_000000000000000000000000r1", 1]]

    for number, change in enumerate((later, again)):
        book = successor(ended(), change=change, parts=2)
        code, report = run("replay", fetched(book, tmp_path / f"{number}", run))
        assert (code, [f["code"] for f in report["findings"]]) == (1, ["KEY"])
        assert report["findings"][0]["entry"] == 1
