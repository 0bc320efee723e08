"""The log's key is changed by a process that is cut off at every one of its calls. F5, LOG-29.

Whatever is left, the next start is a service with one key: the old one if the entry is not in the
log, the new one if it is. Nothing is missing, and both keys' heads verify.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
from pathlib import Path

import apsw
import pytest

from fairdeal.log.keys import LogKeys
from fairdeal.log.note import VerifierKey
from fairdeal_api import keyring
from fairdeal_api.fsck import check
from fairdeal_api.rotation import rotate
from fairdeal_api.service import initialise
from fairdeal_api.store.reading import SQLiteReader
from fairdeal_api.system import StartRefused
from tests.api.conftest import Site
from tests.api.play import Operator
from tests.faults.cutting import Cutter, calls, settings_of

MIDDLE = re.compile("end it first|cannot be opened")
STEP_IN_PART = 20
"""`make test` cuts at these of the database's writes only, and at all other calls."""


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a table between hands, one in the middle of a hand, and one that is closed."""
    folder = tmp_path_factory.mktemp("played") / "site"
    folder.mkdir()
    settings = settings_of(folder)
    initialise(settings)
    with Site(settings) as site:
        key = site.key()
        tables = [Operator(site.client, key, "kozel") for _ in range(3)]
        for table in tables:
            table.open()
            table.deal()
        for table in tables[:2]:
            table.close()
        tables[0].post(f"/v1/tables/{tables[0].table}/close", {})
    return folder


class Run:
    """A copy of the folder, to be cut at."""

    def __init__(self, played: Path, tmp_path: Path, number: int) -> None:
        self.folder = tmp_path / f"cut-{number}"
        shutil.copytree(played, self.folder)
        self.settings = settings_of(self.folder)
        self.old = self.keys().current
        self.size = self.head()

    def _reader(self) -> SQLiteReader:
        return SQLiteReader(self.settings.data / "ledger.db")

    def keys(self) -> LogKeys:
        with contextlib.closing(self._reader()) as reader:
            return keyring.log_keys(reader)

    def head(self) -> int:
        with contextlib.closing(self._reader()) as reader:
            return reader.head().size

    def judge(self) -> tuple[bool, VerifierKey]:
        """Start it; whether the key has changed, and the key that it signs with."""
        assert self.head() >= self.size
        with Site(self.settings) as site:
            keys, signing = site.service.log_keys, site.service.signing_key.verifier
            assert signing == keys.current
            assert len(keys.rotations) in (0, 1)
            assert keys.first == self.old
            changed = bool(keys.rotations)
            if not changed:
                assert signing == self.old
            # And it goes on: a table that names the key, and its events under it.
            table = Operator(site.client, site.key(), "kozel")
            assert table.opened["log_key"] == str(signing)
            table.open()
            table.deal()
            table.close()
        assert check(self.settings).faults == []
        names = {path.name for path in self.settings.keys_path.iterdir()}
        assert {"log.key", "sealing.key"} <= names
        return changed, signing

    def drop(self) -> None:
        shutil.rmtree(self.folder)


def chosen(made: list[tuple[str, str]], in_full: bool) -> list[int]:
    """Every call; in part all but most of the writes that the database makes in a row."""
    return [
        number
        for number, (what, name) in enumerate(made, 1)
        if in_full or what != "write" or "/keys/" in name or number % STEP_IN_PART == 0
    ]


def count(cutter: Cutter, played: Path, tmp_path: Path) -> list[tuple[str, str]]:
    whole = Run(played, tmp_path, 0)
    assert cutter.run("rotate", whole.folder, 0) == 0
    made = calls(whole.folder)
    assert whole.judge()[0]
    return made


def test_the_steps_are_durable_one_after_the_other(cutter, played, tmp_path):
    made = count(cutter, played, tmp_path)
    key = next(n for n, (what, name) in enumerate(made) if what == "link")
    assert made[key] == ("link", "/data/keys/log.next.key")
    rename = made.index(("rename", "/data/keys/log.key"))
    before = [n for n, (what, _) in enumerate(made[:key]) if what == "fsync"]
    assert before, "the new key's bytes are not durable before it has a name"
    named = next(n for n in range(key, len(made)) if made[n] == ("fsync", "/data/keys"))
    commits = [n for n in range(key, rename) if made[n] == ("fdatasync", "/data/ledger.db-wal")]
    anchors = [n for n in range(key, rename) if made[n] == ("fdatasync", "/data.anchor")]
    assert len(commits) == len(anchors) == 1
    assert key < named < commits[0] < anchors[0] < rename
    assert ("fsync", "/data/keys") in made[rename:]


def test_killed_at_any_call_it_is_the_old_key_or_the_new_one(cutter, played, tmp_path, in_full):
    made = count(cutter, played, tmp_path)
    rename = made.index(("rename", "/data/keys/log.key")) + 1
    seen = []
    for number in chosen(made, in_full):
        run = Run(played, tmp_path, number)
        # The anchor may take another turn or two; at what is cut does not matter.
        status = cutter.run("rotate", run.folder, number)
        assert status in (-signal.SIGKILL, 0), status
        changed, key = run.judge()
        seen.append((number, changed))
        if changed:
            assert not (run.settings.keys_path / "log.next.key").exists()
        else:
            # Tried again it goes through, with the key that was left there if one was.
            left = run.settings.keys_path / "log.next.key"
            secret = left.read_bytes() if left.exists() else None
            done = rotate(run.settings, abort_hands=True)
            assert done.old == key
            if secret is not None:
                assert (run.settings.keys_path / "log.key").read_bytes() == secret
            assert run.judge() == (True, done.new)
        run.drop()
    print(f"{len(seen)} of {len(made)} calls, {sum(changed for _, changed in seen)} changed")
    # Both outcomes were met, in this order.
    assert [changed for _, changed in seen] == sorted(changed for _, changed in seen)
    assert {changed for _, changed in seen} == {False, True}
    assert any(number <= rename and changed for number, changed in seen)


def test_a_call_that_fails_leaves_the_old_key_or_the_new_one(cutter, played, tmp_path, in_full):
    """EIO, at any call: what follows is not guessed."""
    made = count(cutter, played, tmp_path)
    endings = set()
    for number in chosen(made, in_full):
        run = Run(played, tmp_path, number)
        status = cutter.run("rotate", run.folder, number, "f")
        changed, _ = run.judge()
        # 0: the call was one that nothing depends on, such as tidying away.
        assert status in (0, 1, 3, 70), (status, made[number - 1])
        assert changed or status != 0, made[number - 1]
        endings.add(status)
        run.drop()
    assert 70 in endings


def test_it_sleeps_and_another_takes_over(cutter, played, tmp_path, in_full, monkeypatch):
    """LOG-20: what was asleep has lost, or the other has found its rotation."""
    # How long one waits for who has stopped in the middle of something: here it never goes on.
    monkeypatch.setattr("fairdeal_api.anchor._PATIENCE", 0.2)
    for module in ("reading", "sqlite"):
        monkeypatch.setattr(f"fairdeal_api.store.{module}._BUSY_MS", 200)
    made = count(cutter, played, tmp_path)
    outcomes = []
    # Not at all of them: for one that sleeps while it opens the database SQLite waits ten seconds.
    for number in chosen(made, in_full)[::3]:
        run = Run(played, tmp_path, number)
        pid = cutter.begin("rotate", run.folder, number, "s")
        if not cutter.stopped(pid):
            assert cutter.wait(pid) == 0
            run.drop()
            continue
        try:
            (run.settings.data / "LOCK").unlink(missing_ok=True)  # what --take-over comes to
            changed, key = run.judge()
        except (StartRefused, apsw.ProtocolError, apsw.BusyError) as refused:
            # It sleeps in the middle of the database, or of the anchor.
            if isinstance(refused, StartRefused) and not MIDDLE.search(str(refused)):
                raise
            os.kill(pid, signal.SIGKILL)
            cutter.wait(pid)
            changed, key = run.judge()
            outcomes.append(("ended", changed))
        else:
            os.kill(pid, signal.SIGCONT)
            status = cutter.wait(pid)
            outcomes.append((status, changed))
            if status == 0 and not changed:
                # It slept before it had the log: the other has gone, and now it takes over itself.
                changed, key = True, run.keys().current
        assert run.judge() == (changed, key)
        run.drop()
    assert {status for status, _ in outcomes} <= {"ended", 0, 1, 3, 75}
    assert (75, False) in outcomes
    assert {changed for _, changed in outcomes} == {False, True}


def test_names_given_before_the_commit_are_caught(cutter, played, tmp_path):
    """The control: cut between the two, the key that the log names is gone."""
    whole = Run(played, tmp_path, 0)
    assert cutter.run("rotate_names_first", whole.folder, 0) == 0
    made = calls(whole.folder)
    rename = made.index(("rename", "/data/keys/log.key")) + 1
    caught = []
    for number in range(rename - 1, rename + 8):
        run = Run(played, tmp_path, number)
        cutter.run("rotate_names_first", run.folder, number)
        try:
            run.judge()
        except StartRefused as error:
            caught.append(str(error))
        run.drop()
    assert caught
    assert all("log key is another one" in sentence for sentence in caught)
