"""The sealing key is changed by a process that is cut off at every one of its calls. F5.

Whatever is left, the next start opens everything that was sealed: requests made again get the same
bytes, hands that were open end, are disclosed and verify. The old key's file is gone in the end.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
from pathlib import Path

import apsw
import pytest

from fairdeal_api import anchor, system
from fairdeal_api.fsck import check
from fairdeal_api.rotation import rotate_sealing
from fairdeal_api.service import initialise
from fairdeal_api.store.reading import SQLiteReader
from fairdeal_api.system import NEXT_SEALING_KEY, StartRefused
from tests.api.conftest import Site
from tests.api.sealed import Played, remains, stored
from tests.faults.cutting import calls, settings_of

MIDDLE = re.compile("end it first|cannot be opened")
WAL = "/data/ledger.db-wal"
STEP_IN_PART = 40
"""`make test` cuts at every fortieth of the writes only, and at all other calls."""


class Before:
    """A folder with hands under way, and what was sealed in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        settings = settings_of(folder)
        initialise(settings)
        with Site(settings) as site:
            self.played = Played(site)
        self.sealed = stored(settings)
        self.key = system.read_keys(settings.keys_path).sealing


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory) -> Before:
    return Before(tmp_path_factory.mktemp("played") / "site")


class Run:
    """A copy of the folder, to be cut at."""

    def __init__(self, before: Before, tmp_path: Path, number: int) -> None:
        self.before = before
        self.folder = tmp_path / f"cut-{number}"
        shutil.copytree(before.folder, self.folder)
        self.settings = settings_of(self.folder)

    def database_key(self) -> str:
        reader = SQLiteReader(self.settings.data / "ledger.db")
        try:
            return reader.identity().sealing_id
        finally:
            reader.close()

    def files(self) -> set[str]:
        return {path.name for path in self.settings.keys_path.iterdir()}

    def judge(self) -> bool:
        """Start it, and go on with everything; whether the key has changed."""
        with Site(self.settings) as site:
            now = site.service.sealing_key
            # Whatever was cut off is finished by the start, and by nothing else.
            assert system.read_keys(self.settings.keys_path).sealing == now
            self.before.played.go_on(site)
        assert self.database_key() == now.id
        changed = now != self.before.key
        assert {value[:4].hex() for _, value in stored(self.settings) if value} == {now.id}
        if changed:
            assert self.files() == {"log.key", "sealing.key"}
            assert remains(self.settings, self.before.sealed) == []
        assert check(self.settings).faults == []
        return changed

    def again(self) -> None:
        """Tried again it goes through, with the key that was left there if one was."""
        left = self.settings.keys_path / NEXT_SEALING_KEY
        secret = left.read_bytes() if left.exists() else None
        rotate_sealing(self.settings)
        assert self.files() == {"log.key", "sealing.key"}
        if secret is not None:
            assert (self.settings.keys_path / "sealing.key").read_bytes() == secret
        assert remains(self.settings, self.before.sealed) == []
        assert check(self.settings).faults == []

    def drop(self) -> None:
        shutil.rmtree(self.folder)


def count(cutter, before, tmp_path) -> list[tuple[str, str]]:
    whole = Run(before, tmp_path, 0)
    assert cutter.run("rotate_sealing", whole.folder, 0) == 0
    made = calls(whole.folder)
    assert whole.judge()
    whole.drop()
    return made


def chosen(made: list[tuple[str, str]], in_full: bool) -> list[int]:
    numbered = enumerate(made, 1)
    return [
        number
        for number, (what, name) in numbered
        if in_full or what != "write" or "/keys/" in name or number % STEP_IN_PART == 0
    ]


def test_the_steps_are_durable_one_after_the_other(cutter, before, tmp_path):
    made = count(cutter, before, tmp_path)
    key = made.index(("link", "/data/keys/sealing.next.key"))
    rename = made.index(("rename", "/data/keys/sealing.key"))
    assert any(what == "fsync" and "/keys/" in name for what, name in made[:key])
    named = next(n for n in range(key, len(made)) if made[n] == ("fsync", "/data/keys"))
    commits = [n for n in range(key, rename) if made[n] == ("fdatasync", WAL)]
    emptied = [n for n in range(key, rename) if made[n] == ("ftruncate", WAL)]
    assert len(commits) >= 2  # what is sealed anew, and the file that is written anew
    assert key < named < commits[0] < commits[1] < emptied[-1] < rename
    assert ("fsync", "/data/keys") in made[rename:]


def test_killed_at_any_call_everything_opens(cutter, before, tmp_path, in_full):
    made = count(cutter, before, tmp_path)
    seen, waiting = [], 0
    for number in chosen(made, in_full):
        run = Run(before, tmp_path, number)
        status = cutter.run("rotate_sealing", run.folder, number)
        assert status in (-signal.SIGKILL, 0), status
        waiting += NEXT_SEALING_KEY in run.files() and run.database_key() != before.key.id
        changed = run.judge()
        seen.append(changed)
        if not changed:
            run.again()
        run.drop()
    print(f"{len(seen)} of {len(made)} calls, {sum(seen)} changed, {waiting} left both keys")
    # Both outcomes were met, in this order, and what lies between them.
    assert seen == sorted(seen)
    assert set(seen) == {False, True}
    assert waiting


def test_a_call_that_fails_leaves_everything_open(cutter, before, tmp_path, in_full):
    """EIO, at any call: what follows is not guessed."""
    made = count(cutter, before, tmp_path)
    endings = set()
    for number in chosen(made, in_full):
        run = Run(before, tmp_path, number)
        status = cutter.run("rotate_sealing", run.folder, number, "f")
        # 0: the call was one that nothing depends on, such as tidying away.
        assert status in (0, 1, 3, 70), (status, made[number - 1])
        changed = run.judge()
        assert changed or status != 0, made[number - 1]
        endings.add(status)
        if not changed:
            run.again()
        run.drop()
    assert {3, 70} <= endings


def test_it_sleeps_and_another_takes_over(cutter, before, tmp_path, in_full, monkeypatch):
    """LOG-20: what was asleep has lost, or the other has found its rotation and finished it."""
    made = count(cutter, before, tmp_path)
    monkeypatch.setattr(anchor, "_PATIENCE", 0.5)
    key = made.index(("link", "/data/keys/sealing.next.key")) + 1
    rename = made.index(("rename", "/data/keys/sealing.key")) + 1
    # Not all of them: to find that it sleeps in the middle of the database takes ten seconds.
    sleeps = [key, key + 1, rename, rename + 1]
    if in_full:
        sleeps += [n for n in range(key, rename) if made[n - 1] == ("fdatasync", WAL)]
    outcomes = []
    for number in sleeps:
        run = Run(before, tmp_path, number)
        pid = cutter.begin("rotate_sealing", run.folder, number, "s")
        assert cutter.stopped(pid)
        (run.settings.data / "LOCK").unlink()  # what --take-over comes to
        try:
            changed = run.judge()
        except (StartRefused, apsw.BusyError) as refused:
            if isinstance(refused, StartRefused) and not MIDDLE.search(str(refused)):
                raise
            os.kill(pid, signal.SIGKILL)
            cutter.wait(pid)
            outcomes.append(("ended", run.judge()))
        else:
            os.kill(pid, signal.SIGCONT)
            outcomes.append((cutter.wait(pid), changed))
        assert check(run.settings).faults == []
        assert (run.database_key() != before.key.id) == outcomes[-1][1]
        run.drop()
    # About to give the name it keeps others from giving one: it is ended, and then they do.
    assert outcomes[:4] == [(75, False), (75, False), ("ended", True), ("ended", True)]
    assert {status for status, _ in outcomes} <= {"ended", 0, 1, 75}


def test_a_name_given_before_the_commit_is_caught(cutter, before, tmp_path):
    """The control: cut between the two, the key that the database names is gone."""
    whole = Run(before, tmp_path, 0)
    assert cutter.run("rotate_sealing_names_first", whole.folder, 0) == 0
    rename = calls(whole.folder).index(("rename", "/data/keys/sealing.key")) + 1
    caught = []
    for number in range(rename, rename + 4):
        run = Run(before, tmp_path, number)
        cutter.run("rotate_sealing_names_first", run.folder, number)
        try:
            run.judge()
        except StartRefused as error:
            caught.append(str(error))
        run.drop()
    assert len(caught) >= 2
    assert all(sentence.endswith(f"under {before.key.id}.") for sentence in caught)
