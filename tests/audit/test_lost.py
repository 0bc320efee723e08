"""What a log says of the one that it continues is proved wrong by its own words. Spec: AUD-5."""

from __future__ import annotations

import json
from functools import cache
from itertools import combinations, permutations, product
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from fairdeal_audit import continued, judge_lost
from fairdeal_audit.evidence import Evidence, entry_of
from fairdeal_audit.judge import judge
from fairdeal_audit.tiles import Folder
from fairdeal_verifier.ed25519 import verify_signature
from fairdeal_verifier.note import LogKey, Receipt
from seeds.local import Book, LocalTable
from tests.audit.generate import ORIGIN
from tests.audit.rotated import play
from tests.audit.test_continued import (
    KEY,
    OLD_KEY,
    ended,
    fetched,
    open_hands,
    successor,
)

KEPT = 4
"""So many entries of the old log were lost."""


def going_on() -> Book:
    """A log whose last entries end one hand, go on in one, and open another; one just stands."""
    book = Book(ORIGIN)
    play(book, "r0")
    tables = [LocalTable(book, "kozel", name=f"r{number}") for number in range(1, 5)]
    for table in tables[:3]:
        table.open_hand()
    # From here on nothing is kept.
    tables[0].abort()
    tables[1].seal()
    tables[3].open_hand()
    return book


def kept_of(book: Book) -> int:
    """Up to and with the third hand.opened of `going_on`."""
    opened = [n for n, raw in enumerate(book.entries) if b'"type":"hand.opened"' in raw]
    return opened[-2] + 1


def told(folder: Path, old: Path, run) -> list[dict[str, Any]]:
    code, report = run("replay", folder, "--continues", old)
    assert code == 1
    assert {one["code"] for one in report["findings"]} == {"LOST"}
    return report["findings"]


def name(number: int) -> str:
    return f"tbl_{'r' + str(number):0>26}"


@pytest.mark.parametrize("parts", [1, 2])
def test_a_hand_that_was_open_and_is_not_named(parts, tmp_path, run):
    old = going_on()
    kept = kept_of(old)
    hands = open_hands(old.entries[:kept])
    assert [table for table, _ in hands] == [name(1), name(2), name(3)]
    before = fetched(old, tmp_path / "old", run)
    book = successor(old, kept, lost=[], parts=parts)
    book.rotate("later")
    after = fetched(book, tmp_path / "new", run)
    found = {one["text"].split()[3]: one["evidence"] for one in told(after, before, run)}
    # Of the last one the old log says nothing more: no part of it shows that it did not end.
    assert {table for table, evidence in found.items() if evidence} == {name(1), name(2)}
    for table in (name(1), name(2)):
        for key in (KEY, str(book.key.verifier)):
            code, said = run("judge", after / found[table], "--key", key)
            assert (code, said["code"]) == (1, "LOST")
            assert f"hand 1 of {table} was open" in said["text"]
        assert run("judge", after / found[table], "--key", OLD_KEY)[0] == 0


@pytest.mark.parametrize("parts", [1, 2])
def test_a_hand_that_was_not_open_and_is_named(parts, tmp_path, run):
    old = going_on()
    kept = kept_of(old)
    before = fetched(old, tmp_path / "old", run)
    # One that had ended, one that was opened later, and one that there never was.
    wrong = [[name(0), 2], [name(4), 1], [name(9), 1]]
    hands = sorted([*open_hands(old.entries[:kept]), *wrong])
    after = fetched(successor(old, kept, lost=hands, parts=parts), tmp_path / "new", run)
    found = {one["text"].split()[3]: one["evidence"] for one in told(after, before, run)}
    assert {table for table, evidence in found.items() if evidence} == {name(0), name(4)}
    for table in (name(0), name(4)):
        code, said = run("judge", after / found[table], "--key", KEY)
        assert (code, said["code"]) == (1, "LOST")
        assert f"of {table} is said to be lost" in said["text"]


@pytest.mark.parametrize("more", [0, 1])
def test_a_hand_that_was_opened_by_the_first_entry_not_kept(more, tmp_path, run):
    """It is not lost, as nothing of it was kept. Control: one entry more, and it is."""
    old = Book(ORIGIN)
    play(old, "r0")
    table = LocalTable(old, "kozel", name="r1")
    kept = len(old.entries) + more
    table.open_hand()
    table.seal()
    before = fetched(old, tmp_path / "old", run)
    after = fetched(successor(old, kept, lost=[[name(1), 1]]), tmp_path / "new", run)
    if more:
        assert run("replay", after, "--continues", before)[1]["findings"] == []
        return
    (found,) = told(after, before, run)
    code, said = run("judge", after / found["evidence"], "--key", KEY)
    assert (code, said["code"]) == (1, "LOST")


def test_entries_that_were_not_kept_as_they_were(tmp_path, run):
    old = ended()
    before = fetched(old, tmp_path / "old", run)

    def change(event):
        event["kept_root"] = "ab" * 32

    after = fetched(successor(old, change=change), tmp_path / "new", run)
    (found,) = told(after, before, run)
    code, said = run("judge", after / found["evidence"], "--key", KEY)
    assert (code, said["code"]) == (1, "LOST")


@pytest.mark.parametrize("later", [0, 3])
def test_an_old_head_that_is_not_the_old_logs_is_a_fork_of_that(later, tmp_path, run):
    """The old key has signed two: the one that is named, and the one that was fetched."""
    old = ended()
    forked = Book(ORIGIN)
    for raw in [*old.entries[:-9], *old.entries[-9:][::-1]]:
        forked.append(raw)
    for number in range(later):
        old.append(f"another {number}".encode())
    before = fetched(old, tmp_path / "old", run)
    after = fetched(successor(forked, lost=open_hands(old.entries[:-KEPT])), tmp_path / "new", run)
    found = [one for one in told(after, before, run) if one["text"].startswith("old_root")]
    assert len(found) == 1
    assert found[0]["evidence"].endswith("FORK.json")
    assert run("judge", after / found[0]["evidence"], "--key", OLD_KEY)[0] == 1
    assert run("judge", after / found[0]["evidence"], "--key", KEY)[0] == 0


def test_less_of_the_old_log_than_is_named_shows_nothing(tmp_path, run):
    """It was kept as far as this, and the checkpoint that is named is later."""
    old = going_on()
    kept = kept_of(old)
    shorter = Book(ORIGIN)
    for raw in old.entries[:kept]:
        shorter.append(raw)
    before = fetched(shorter, tmp_path / "old", run)
    after = fetched(successor(old, kept, lost=[]), tmp_path / "new", run)
    assert [one["evidence"] for one in told(after, before, run)] == [None] * 3


# --- what proves nothing --------------------------------------------------------------------------


class Honest:
    """A log and its honest successor, and every statement that can be made of them."""

    def __init__(self, folder: Path, run, parts: int = 1) -> None:
        old = going_on()
        self.kept, self.size = kept_of(old), len(old.entries)
        before = fetched(old, folder / "old", run)
        after = fetched(successor(old, self.kept, parts=parts), folder / "new", run)
        note = (after / "checkpoint").read_text("utf-8")
        self.old, self.log = Folder(before, self.size), Folder(after, int(note.split("\n")[1]))
        old_note = (before / "checkpoint").read_text("utf-8")
        self.parts = [entry_of(self.log, note, index) for index in range(parts)]
        self.entries = [entry_of(self.old, old_note, index) for index in range(self.size)]
        self.own = [entry_of(self.log, note, index) for index in range(parts, self.log.size)]


@pytest.fixture(scope="module")
def honest(tmp_path_factory) -> Honest:
    from fairdeal_audit.command import main  # noqa: PLC0415 - as the fixture `run`, for a module

    def run(*arguments):
        return main([str(one) for one in (*arguments, "--quiet")]), None

    return Honest(tmp_path_factory.mktemp("honest"), run)


def verdicts(statements, nodes=None) -> str:
    return judge(Evidence("LOST", tuple(statements), nodes), LogKey.parse(KEY))


@pytest.fixture
def quicker(quick, monkeypatch):
    """Here the signatures are those of `log.continued`."""
    monkeypatch.setattr(continued, "verify_signature", cache(verify_signature))


def test_nothing_follows_from_an_honest_successor(honest, quicker):
    """Every one and every two entries of both logs beside what it says, in any order."""
    part = honest.parts[0]
    assert verdicts([part]) == ""
    for one in (*honest.entries, *honest.own):
        assert verdicts([part, one]) == verdicts([one, part]) == verdicts([one]) == ""
    for pair in permutations(honest.entries, 2):
        assert verdicts([part, *pair]) == ""
    for size, larger in combinations(range(1, honest.size + 1), 2):
        nodes = tuple(honest.old.consistency(size, larger))
        assert verdicts([part], nodes) == ""


def guilty(honest: Honest, run, tmp_path: Path) -> list[dict[str, Any]]:
    """One evidence of each kind."""
    old = going_on()
    found = []
    hands = sorted([*open_hands(old.entries[: honest.kept]), [name(0), 2], [name(4), 1]])

    def change(event):
        event["kept_root"] = "ab" * 32

    for number, options in enumerate(({"lost": []}, {"lost": hands}, {"change": change})):
        folder = tmp_path / f"{number}"
        before = fetched(old, folder / "old", run)
        after = fetched(successor(old, honest.kept, **options), folder / "new", run)
        names = [one["evidence"] for one in told(after, before, run) if one["evidence"]]
        found += [json.loads((after / name).read_bytes()) for name in names]
    return found


def judged(value: dict[str, Any]) -> str:
    nodes = value.get("consistency")
    evidence = Evidence(
        value["code"],
        tuple(value["statements"]),
        None if nodes is None else tuple(bytes.fromhex(one) for one in nodes),
    )
    return judge(evidence, LogKey.parse(KEY))


def test_each_statement_is_needed_as_it_is(honest, run, tmp_path, quicker):
    """Left out, put elsewhere, of the honest logs instead, or with a receipt that is another's."""
    cases = guilty(honest, run, tmp_path)
    assert len(cases) == 5
    for value in cases:
        assert judged(value)
        statements = value["statements"]
        for at in range(len(statements)):
            left = [*statements[:at], *statements[at + 1 :]]
            assert not left or not judged(value | {"statements": left})
        for other in permutations(statements):
            assert bool(judged(value | {"statements": list(other)})) == (list(other) == statements)
        for at, other in product(range(len(statements)), (*honest.entries, *honest.parts)):
            if other["entry"] == statements[at]["entry"]:
                continue
            swapped = [*statements[:at], other, *statements[at + 1 :]]
            said = judged(value | {"statements": swapped})
            # Another entry of the same hand may say the same; the honest log's own words do not.
            assert not said or (at > 0 and other in honest.entries)
            mixed = [*statements[:at], {**statements[at], "receipt": other["receipt"]}]
            assert not judged(value | {"statements": [*mixed, *statements[at + 1 :]]})
        if "consistency" in value:
            nodes = value["consistency"]
            for at in range(len(nodes)):
                assert not judged(value | {"consistency": [*nodes[:at], *nodes[at + 1 :]]})
                assert not judged(
                    value | {"consistency": [*nodes[:at], "00" * 32, *nodes[at + 1 :]]}
                )
        else:
            assert not judged(value | {"consistency": ["00" * 32]})


def made_up(honest: Honest) -> list[dict[str, str]]:
    """Who has stolen the old key makes up how the old log went on after what was kept."""
    thief = Book(ORIGIN)
    for raw in going_on().entries[: honest.kept]:
        thief.append(raw)
    table = LocalTable(thief, "kozel", name="r7")
    table.open_hand()
    opened = thief.entries.index(table.events[-1].raw)
    table.abort()
    ends = next(n for n, raw in enumerate(thief.entries) if n > opened and b"hand.aborted" in raw)
    return [
        {"entry": thief.entries[n].decode(), "receipt": thief.receipt(n).text()}
        for n in (opened, ends)
    ]


def test_the_old_logs_key_accuses_nobody(honest):
    """By its checkpoint a hand was open and is not named; the successor has named another one."""
    statements = made_up(honest)
    assert Receipt.parse(statements[0]["receipt"]).checkpoint.is_signed_by(LogKey.parse(OLD_KEY))
    assert verdicts([honest.parts[0], *statements]) == ""


def test_control_a_judge_that_takes_any_receipt_is_deceived(honest):
    """Of the old key: the one that looks by which checkpoint is not."""
    statements = made_up(honest)

    def careless(_body, statement):
        receipt = Receipt.parse(statement["receipt"])
        return receipt.index, judge_lost.parse(statement["entry"], 10)

    with mock.patch.object(judge_lost, "_old_entry", careless):
        # The first of the two is past what was kept; a careless judge needs only one that is not.
        early = [statements[0] | {"receipt": honest.entries[1]["receipt"]}, statements[1]]
        assert verdicts([honest.parts[0], *early])
    assert verdicts([honest.parts[0], *early]) == ""
