"""A log that is made to keep an audit busy: the work grows with the log, not with its square."""

from __future__ import annotations

import pytest

from fairdeal_audit import table
from fairdeal_audit.chain import Chain
from fairdeal_audit.progress import Finding
from fairdeal_audit.proofs import twins_of
from fairdeal_audit.replay import replay
from fairdeal_audit.report import write_evidence
from fairdeal_audit.tiles import WIDTH, Folder
from fairdeal_verifier.note import LogKey
from seeds.local import Book
from tests.audit.cheats import digest, encode, events_of, honest
from tests.audit.generate import ORIGIN, LogWriter

KEY = LogKey.parse(str(Book(ORIGIN).key.verifier))


def write(folder, events):
    folder.mkdir()
    log = LogWriter(folder)
    for event in events:
        log.append(encode(event))
    log.finish()


def one_hand(count):
    """A hand of many events, each with a gap before it, and as many with a `seq` nobody has."""
    events = events_of(honest())
    start = next(n for n, one in enumerate(events) if one["type"] == "hand.dealt") + 1
    yield from events[:start]
    last = events[start - 1]
    common = {name: last[name] for name in ("v", "table", "hand", "at")}
    seq = last["seq"]
    for number in range(2 * count):
        seq = seq + 2 if number < count else events[start - 1]["seq"] + 1
        last = common | {"type": "cards.returned", "seq": seq, "prev": digest(last)}
        yield last


def many_tables(count):
    """Tables that each have three events with a `seq` at which the log has no other."""
    opened = events_of(honest())[0]
    for number in range(count):
        first = opened | {"table": f"tbl_{number:026}"}
        yield first
        common = {name: first[name] for name in ("v", "table", "at")}
        for seq in (9, 1, 3, 5):
            yield common | {
                "type": "seat.reissued",
                "seat": 0,
                "seq": seq,
                "prev": digest(first),
            }


def looks(folder, count, monkeypatch):
    """How often the replay of such a hand looks at an event."""
    write(folder, one_hand(count))
    seen = []
    step = Chain.step
    with monkeypatch.context() as patched:
        patched.setattr(Chain, "step", lambda self, index: seen.append(index) or step(self, index))
        outcome = replay(folder, KEY)
    assert {one.code for one in outcome.findings} >= {"GAP", "CHAIN"}
    return len(seen)


@pytest.mark.parametrize(("told", "is_linear"), [(5, True), (10**9, False)])
def test_events_with_a_number_that_the_table_does_not_have(told, is_linear, tmp_path, monkeypatch):
    """The control tells of each of them, and looks for its twin."""
    monkeypatch.setattr(table, "MOST_OF_A_CODE", told)
    few = looks(tmp_path / "few", 100, monkeypatch)
    many = looks(tmp_path / "many", 400, monkeypatch)
    assert (many < 6 * few) == is_linear, (few, many)


def test_twins_that_are_not_there_are_searched_for_once(tmp_path, monkeypatch):
    write(tmp_path / "log", many_tables(400))
    outcome = replay(tmp_path / "log", KEY)
    alone = [one for one in outcome.findings if one.code == "CHAIN" and len(one.entries) == 1]
    assert len(alone) == 1200
    tree = Folder(tmp_path / "log", outcome.head.size)
    assert twins_of(tree, alone[:1]) == {}
    read = []
    bundle = Folder.bundle
    monkeypatch.setattr(Folder, "bundle", lambda self, n: read.append(n) or bundle(self, n))
    write_evidence(tmp_path / "log", KEY, outcome)
    bundles = outcome.head.size // WIDTH + 1
    assert 1 < len(read) <= bundles
    # Control: a search for each of them reads the log again and again.
    read.clear()
    for one in alone[:20]:
        twins_of(tree, [one])
    assert len(read) >= 20


def test_a_twin_is_the_first_other_event_of_its_number(tmp_path):
    opened, *_ = events_of(honest())
    common = {name: opened[name] for name in ("v", "table", "at")} | {"seq": 1, "seat": 0}
    one = common | {"type": "seat.reissued", "prev": digest(opened)}
    other = one | {"prev": "00" * 32}
    write(tmp_path / "log", [opened, one, other, one, other])
    tree = Folder(tmp_path / "log", 5)
    found = [Finding(n, "CHAIN", opened["table"], 0, "", (n,)) for n in range(5)]
    assert twins_of(tree, found) == {2: 1, 3: 2, 4: 1}
    assert twins_of(tree, found[3:4]) == {3: 2}
    assert twins_of(tree, []) == {}
