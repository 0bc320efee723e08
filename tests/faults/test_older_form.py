"""A start that brings a database of an older form up, cut off at every one of its calls."""

from __future__ import annotations

import json
import shutil
import signal
import zipfile
from pathlib import Path

import apsw
import pytest

from fairdeal_api.fsck import check
from fairdeal_api.store.sqlite import migrations
from fairdeal_api.system import StartRefused
from tests.api.conftest import Site
from tests.api.test_links import OLD_FORM, form, go_on, look
from tests.faults.cutting import calls, settings_of

STEP_IN_PART = 15
"""`make test` cuts at every fifteenth of the calls only."""


class Run:
    """A copy of the folder, to be cut at."""

    def __init__(self, tmp_path: Path, number: int) -> None:
        self.folder = tmp_path / f"cut-{number}"
        with zipfile.ZipFile(OLD_FORM) as archive:
            archive.extractall(self.folder)
        for path in (self.folder, *self.folder.rglob("*")):
            path.chmod(0o700 if path.is_dir() else 0o600)
        self.settings = settings_of(self.folder)
        connection = apsw.Connection(str(self.settings.data / "ledger.db"))
        connection.pragma("journal_mode", "wal")  # as a service leaves it
        connection.close()
        self.old = json.loads((self.folder / "asked.json").read_text())

    def judge(self) -> int:
        """Start it, look at everything and go on; gives the form that was found."""
        found = form(self.settings)
        with Site(self.settings) as site:
            look(site, self.old)
            go_on(site, self.old)
        assert form(self.settings) == migrations()[-1][0]
        assert check(self.settings).faults == []
        return found

    def drop(self) -> None:
        shutil.rmtree(self.folder)


def count(cutter, task: str, tmp_path: Path) -> int:
    whole = Run(tmp_path, 0)
    assert cutter.run(task, whole.folder, 0) == 0
    made = len(calls(whole.folder))
    assert whole.judge() == migrations()[-1][0]
    whole.drop()
    return made


def chosen(made: int, in_full: bool) -> list[int]:
    return [n for n in range(1, made + 1) if in_full or n % STEP_IN_PART == 0]


@pytest.mark.parametrize("action", ["k", "f"])
def test_cut_off_at_any_call_the_next_start_does_the_rest(cutter, tmp_path, in_full, action):
    """Killed, or with EIO."""
    made = count(cutter, "bring_up", tmp_path)
    seen = []
    for number in chosen(made, in_full):
        run = Run(tmp_path, number)
        status = cutter.run("bring_up", run.folder, number, action)
        assert status in ((-signal.SIGKILL, 0) if action == "k" else (0, 1, 3)), status
        seen.append(run.judge())
        run.drop()
    # Forms in between were met as well as the oldest and the newest.
    print(f"{len(seen)} of {made} calls, forms {sorted(set(seen))}")
    assert {2, migrations()[-1][0]} <= set(seen)
    if in_full:
        assert set(seen) == set(range(2, migrations()[-1][0] + 1))


def test_without_transactions_something_is_lost(cutter, tmp_path):
    """The control."""
    made = count(cutter, "bring_up_in_parts", tmp_path)
    caught = 0
    for number in range(STEP_IN_PART, made, STEP_IN_PART):
        run = Run(tmp_path, number)
        cutter.run("bring_up_in_parts", run.folder, number)
        try:
            run.judge()
        except (StartRefused, AssertionError):
            caught += 1
        run.drop()
    assert caught > 3
