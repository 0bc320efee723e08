"""A command that writes is told to end, or killed, at every one of its calls that change a file.

Told to end (SIGTERM, SIGHUP, Ctrl-C), it has taken back what it had begun, and says so; or it is
done, and has said that. Killed, it leaves what the next run removes, goes on from, or names.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import pytest
from typer.testing import CliRunner

from fairdeal_api import backup, stopping
from fairdeal_api.cli import app
from fairdeal_api.export import export
from fairdeal_api.fsck import check
from fairdeal_api.keyring import log_keys
from fairdeal_api.service import initialise
from fairdeal_api.settings import Settings
from fairdeal_api.stopping import Stopped, heard, may_stop, too_late, whole
from fairdeal_api.store.reading import SQLiteReader
from tests.api.conftest import Site
from tests.api.play import Operator
from tests.faults.cutting import ORIGIN, calls, settings_of

MODE = ["--mode", "test"]
HOME = ["--data", "{}/data", *MODE]
NAMED = [*HOME, "--origin", ORIGIN]
ASKED = {"t": 143, "i": 130}
"""SIGTERM and Ctrl-C, and the exit codes."""
NAMES = ("mkdir", "rename", "link")
STEP_IN_PART = 25
"""`make test` cuts at every so many calls only, and wherever a name has been made."""


class Command(NamedTuple):
    """A command, and what is true of it when it was told to end."""

    words: list[str]
    says: str
    keeps: str = ""
    """What may stay, as the next run goes on from it."""
    is_ours: bool = False
    """Whether the databases are gone before it."""
    changes: tuple[str, ...] = ()
    """What may have become different, as a start does it."""


COMMANDS = {
    "backup": Command(["backup", "create", "{}/copies/of/it", *HOME], "No backup was made."),
    "export": Command(
        ["log", "export", "{}/public/log", *NAMED],
        "The next export goes on from what was written.",
        "public",
    ),
    "restore": Command(
        ["restore", "{}/backup", "--tiles", "{}/tiles", "--operator", "club", *NAMED],
        "Nothing was put in place.",
        is_ours=True,
    ),
    "continue": Command(
        [
            "restore", "{}/backup", "--data", "{}/new", *MODE, "--new-origin", "deal.example/log2",
            "--public", "{}/public/log", "--tiles", "{}/tiles",
            "--old-keys", "{}/data/keys", "--old-anchor", "{}/data.anchor",
        ],
        "Nothing was made.",
    ),
    "init": Command(["init", "--data", "{}/new"], "Nothing was made."),
    "operator-key": Command(["operator-key", "create", "--name", "x", *HOME], "No key was made."),
    "witness": Command(
        ["witness", "init", "--data", "{}/new", "--name", "witness.example/w"], "Nothing was made."
    ),
}  # fmt: skip
ROTATIONS = {
    "rotate": Command(
        ["keys", "rotate", *NAMED],
        "The log's key is the old one; hands and tables may have been ended for it.",
        changes=("data/ledger.db", "data.anchor"),
    ),
    "reseal": Command(
        ["keys", "rotate-sealing", *NAMED],
        "The sealing key is the old one.",
        "data/keys/sealing.next.key",
        changes=("data/ledger.db", "data.anchor"),
    ),
}
"""What comes of one that is killed is in files of their own."""
ALL = COMMANDS | ROTATIONS
IN_ONE = {"init", "witness"}
"""These take a moment, end with a key to be shown, and are done to their end."""


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A service that has gone on after its backup, stopped, and its public files."""
    folder = tmp_path_factory.mktemp("played") / "site"
    folder.mkdir()
    settings = settings_of(folder)
    initialise(settings)
    with Site(settings) as site:
        table = Operator(site.client, site.key(), "kozel")
        for number in range(3):
            table.open()
            table.deal()
            table.close()
            if number == 1:
                backup.create(settings, folder / "backup")
        export(settings, folder / "tiles")
    return folder


class Run:
    """A copy of the folder, in which a command is cut off."""

    def __init__(self, played: Path, tmp_path: Path, name: str, number: object = 0) -> None:
        self.name, self.command = name, ALL[name]
        self.folder = tmp_path / f"{name}-{number}"
        shutil.copytree(played, self.folder)
        if self.command.is_ours:
            for path in (self.folder / "data").glob("*.db*"):
                path.unlink()
        self.before = self.tree()
        words = "\n".join(word.replace("{}", str(self.folder)) for word in self.command.words)
        self.file("words").write_text(words, "utf-8")

    def file(self, ending: str) -> Path:
        return self.folder.with_name(f"{self.folder.name}.{ending}")

    @property
    def words(self) -> list[str]:
        return self.file("words").read_text("utf-8").splitlines()

    def said(self) -> tuple[str, str]:
        return self.file("out").read_text("utf-8"), self.file("err").read_text("utf-8")

    def tree(self) -> dict[str, bytes | None]:
        """All there is; without locks, and without what SQLite has beside a database."""
        return {
            str(path.relative_to(self.folder)): path.read_bytes() if path.is_file() else None
            for path in self.folder.rglob("*")
            if path.name != "LOCK" and not path.name.startswith(("ledger.db-", "operators.db-"))
        }

    def keys(self) -> tuple[str, str]:
        """The log's key in force, and the id of the sealing key."""
        with contextlib.closing(SQLiteReader(self.folder / "data" / "ledger.db")) as reader:
            return str(log_keys(reader).current), reader.identity().sealing_id

    def again(self) -> tuple[int, str]:
        """Run it once more, in this process; the exit code, and what it said to the operator."""
        done = CliRunner().invoke(app, self.words)
        assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
        return done.exit_code, done.stderr

    def judge(self) -> None:
        """It is done, and whole, and nothing else has become of the folder."""
        after = {name: content for name, content in self.tree().items() if name not in self.before}
        names = {name for name in after if not name.startswith("public")}
        assert not [name for name in after if ".part" in name or "restoring" in name]
        unchanged = {
            name: content
            for name, content in self.before.items()
            if name not in self.command.changes
        }
        if self.name in ROTATIONS:
            assert names == set()
            for name in ("data/keys/log.key", "data/keys/sealing.key"):
                unchanged.pop(name)
            assert check(settings_of(self.folder)).faults == []
        elif self.name == "backup":
            copy = "copies/of/it"
            files = {f"{copy}/{one}" for one in ("ledger.db", "operators.db", "manifest.json")}
            assert names == {"copies", "copies/of", copy, *files}
            assert backup.verify(self.folder / copy, None).report.faults == []
        elif self.name == "export":
            assert names == set()
            for name, content in self.before.items():
                if name.startswith("tiles/"):
                    assert after[name.replace("tiles", "public/log", 1)] == content
        elif self.name == "restore":
            assert names == {"data/ledger.db", "data/operators.db"}
            assert check(settings_of(self.folder)).faults == []
        elif self.name == "operator-key":
            assert names == set()
            unchanged.pop("data/operators.db")
        elif self.name == "witness":
            assert names == {"new", "new/name", "new/heads.json", "new/witness.key"}
        else:
            made = settings_of(self.folder).model_copy(update={"data": self.folder / "new"})
            origin = "deal.example/log2" if self.name == "continue" else "fairdeal.localhost/log"
            mode = "test" if self.name == "continue" else "live"
            assert check(made.model_copy(update={"origin": origin, "mode": mode})).faults == []
        if self.name == "continue":
            hands = {name for name in after if name.endswith(".fair.json")}
            assert len(hands) == 3
            assert "public/log/checkpoint" in after
        assert {name: self.tree().get(name) for name in unchanged} == unchanged

    def drop(self) -> None:
        for path in self.folder.parent.glob(f"{self.folder.name}*"):
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink()


def chosen(made: list[tuple[str, str]], in_full: bool, after: int = 0) -> list[int]:
    """Every call; in part those that make a name, or so many after them, and some of the others.

    A process that is told to end hears it after the call, one that is killed does not make it.
    """
    last = len(made)
    named = [n + after for n, (what, _) in enumerate(made, 1) if what in NAMES]
    part = {1, *named, *range(STEP_IN_PART, last, STEP_IN_PART), last}
    return [n for n in range(1, last + 1) if in_full or n in part]


def counted(cutter, played: Path, tmp_path: Path, name: str) -> list[tuple[str, str]]:
    """The calls of a run that nothing has come between."""
    run = Run(played, tmp_path, name)
    assert cutter.run("command", run.folder, 0) == 0, run.said()
    run.judge()
    made = calls(run.folder)
    run.drop()
    return made


def says(run: Run) -> tuple[str, str]:
    """What it said, without what a service logs."""
    out, said = run.said()
    return out, "".join(line for line in said.splitlines(True) if not line.startswith("{"))


TOLD = [*((name, "t") for name in ALL), ("backup", "i"), ("reseal", "i")]


@pytest.mark.parametrize(("name", "how"), TOLD)
def test_told_to_end_it_takes_back_what_it_has_begun_or_is_done(
    cutter, played, tmp_path, in_full, name, how
):
    made = counted(cutter, played, tmp_path, name)
    keys = Run(played, tmp_path, name).keys() if name in ROTATIONS else None
    codes = []
    for number in chosen(made, in_full):
        run = Run(played, tmp_path, name, number)
        codes.append(cutter.run("command", run.folder, number, how))
        out, said = says(run)
        same = [a == b for a, b in zip(run.keys(), keys, strict=True)] if keys else []
        if codes[-1] == 0:
            assert out, made[number - 1]
            assert "Stopped" not in said
            assert same in ([], [name == "reseal", name == "rotate"])
        else:
            assert codes[-1] == ASKED[how], (made[number - 1], said)
            assert (out, said) == ("", f"Stopped. {run.command.says}\n"), made[number - 1]
            # Folders for a backup to stand in are no part of it.
            left = {name for name in run.tree() if name not in ("copies", "copies/of")}
            more = {one for one in left if one not in run.before}
            assert all(run.command.keeps and one.startswith(run.command.keeps) for one in more)
            assert not [one for one in more if one.endswith(".part")]
            now = {one: run.tree().get(one) for one in run.before}
            assert same in ([], [True, True])
            assert {one for one in now if now[one] != run.before[one]} <= {*run.command.changes}
            assert run.again()[0] == 0, made[number - 1]
        run.judge()
        run.drop()
    print(f"{name}: {len(codes)} of {len(made)} calls, {codes.count(0)} done")
    assert 0 in codes
    assert (ASKED[how] in codes) == (name not in IN_ONE)


@pytest.mark.parametrize("name", COMMANDS)
def test_killed_it_leaves_what_the_next_run_knows(cutter, played, tmp_path, in_full, name):
    made = counted(cutter, played, tmp_path, name)
    ends = set()
    for number in chosen(made, in_full, 1):
        run = Run(played, tmp_path, name, number)
        assert cutter.run("command", run.folder, number, "k") == -signal.SIGKILL
        left = [path for path in run.folder.rglob("*.part") if path.is_dir()]
        code, said = run.again()
        if code:
            # It says what is in the way; that is all that was to be done, or is to be removed.
            assert said.count("\n") == 1
            assert "never" in said or "not empty" in said
            ends.add("refused")
            if name in ("init", "continue", "witness"):
                try:
                    run.judge()
                except Exception:  # noqa: BLE001 - whatever is missing, it was not done
                    assert "cut off" in said, (made[number - 1], said)
                    for path in (run.folder / "new", run.folder / "public"):
                        shutil.rmtree(path, ignore_errors=True)
                    (run.folder / "new.anchor").unlink(missing_ok=True)
                    ends.add("removed")
                    assert run.again()[0] == 0
        elif name == "backup":
            words = [
                f"{part} was left by a backup that was cut off; it is gone.\n" for part in left
            ]
            assert said == "".join(words)
            ends.add("told" if words else "done")
        else:
            ends.add("done")
        run.judge()
        run.drop()
    assert ends == {
        "backup": {"told", "done", "refused"},
        "restore": {"done", "refused"},
        "witness": {"done", "refused", "removed"},
        "init": {"done", "refused", "removed"},
        "continue": {"done", "refused", "removed"},
    }.get(name, {"done"})


@pytest.mark.parametrize(
    ("name", "left"), [("backup", ".part"), ("export", ".part"), ("restore", "restoring")]
)
def test_control_by_python_s_own_way_something_is_left(cutter, played, tmp_path, name, left):
    made = counted(cutter, played, tmp_path, name)
    seen = 0
    for number in chosen(made, in_full=False):
        run = Run(played, tmp_path, name, number)
        assert cutter.run("command_deaf", run.folder, number, "t") == -signal.SIGTERM
        seen += any(left in one for one in run.tree() if one not in run.before)
        run.drop()
    assert seen


@pytest.mark.parametrize("name", ["backup", "init"])
def test_control_a_step_that_is_not_whole_is_not_undone(cutter, played, tmp_path, name):
    made = counted(cutter, played, tmp_path, name)
    seen = 0
    for number in [n for n, (what, _) in enumerate(made, 1) if what in ("mkdir", "open")]:
        run = Run(played, tmp_path, name, number)
        code = cutter.run("command_bare", run.folder, number, "t")
        seen += code != 0 and len(run.tree()) > len(run.before) + 2
        run.drop()
    assert seen


def test_control_a_rotation_that_stops_anywhere_says_what_is_not_so(cutter, played, tmp_path):
    made = counted(cutter, played, tmp_path, "rotate")
    before = Run(played, tmp_path, "rotate").keys()
    seen = 0
    for number in range(1, len(made) + 1):
        run = Run(played, tmp_path, "rotate", number)
        code = cutter.run("command_bare", run.folder, number, "t")
        seen += code != 0 and run.keys() != before
        run.drop()
    assert seen


# --- what backups that were cut off have left ---------------------------------------------------


def left_behind(folder: Path, name: str = "old.a1b2c3d4.part", files: Iterable[str] = ()) -> Path:
    part = folder / name
    part.mkdir(0o700)
    for file in files:
        (part / file).write_text("x")
    return part


def backed_up(folder: Path, name: str = "new") -> str:
    words = ["backup", "create", str(folder / name), "--data", str(folder / "data")]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    return done.stderr


@pytest.fixture
def service(tmp_path: Path) -> Path:
    initialise(Settings(data=tmp_path / "data"))
    return tmp_path


def test_what_a_backup_of_another_name_has_left_goes_as_well(service):
    """Names are often dates, so that none comes twice."""
    parts = [
        left_behind(service, "2026-11-29.abcd_123.part", ["operators.db", "ledger.db-journal"]),
        left_behind(service, "2026-11-30.abcdefgh.part"),
    ]
    said = "".join(f"{one} was left by a backup that was cut off; it is gone.\n" for one in parts)
    assert backed_up(service) == said
    assert not any(part.exists() for part in parts)


def test_what_may_be_somebody_else_s_stays(service):
    kept = [
        left_behind(service, "old.a1b2c3d4.part", ["ledger.db", "of somebody"]),
        left_behind(service, "copy.part", ["ledger.db"]),
        left_behind(service, ".abcdefgh.part"),
        left_behind(service, "old.a1b2c3d5.part"),
        left_behind(service, "old.a1b2c3d6.part"),
    ]
    kept[-2].chmod(0o755)
    kept[-1].rmdir()
    kept[-1].symlink_to(service / "data")
    (service / "file.a1b2c3d4.part").write_text("x")
    assert backed_up(service) == ""
    assert all(os.path.lexists(path) for path in kept)
    assert (service / "data" / "ledger.db").exists()
    assert (service / "file.a1b2c3d4.part").exists()


def test_what_is_being_filled_stays(service, monkeypatch):
    """The control is the test of what was left: there nobody holds it."""
    settings, seen = Settings(data=service / "data"), []
    digest_of = backup.digest_of

    def meanwhile(path: Path) -> str:
        with monkeypatch.context() as patch:
            patch.setattr(backup, "digest_of", digest_of)
            seen.append(backed_up(service, f"second-{len(seen)}"))
        return digest_of(path)

    monkeypatch.setattr(backup, "digest_of", meanwhile)
    backup.create(settings, service / "first")
    assert seen == ["", ""]
    assert backup.verify(service / "first", None).report.faults == []


def test_where_nothing_can_be_locked_it_is_only_named(service, monkeypatch):
    part = left_behind(service, files=["operators.db"])

    def cannot(*_: object) -> None:
        raise OSError(9, os.strerror(9))  # as on NFS, of a folder

    monkeypatch.setattr(backup.fcntl, "flock", cannot)
    said = backed_up(service)
    assert said == f"If no other backup runs, remove {part}: one was cut off.\n"
    assert part.exists()


def test_a_folder_that_another_backup_takes_for_left_is_made_again(service, monkeypatch):
    """Between its making and its lock."""
    taken, make = [], backup.tempfile.mkdtemp

    def looked_at(**options: object) -> str:
        part = make(**options)
        if not taken:
            taken.append(part)
            assert list(backup.remove_left(service)) == [(Path(part), True)]
        return part

    monkeypatch.setattr(backup.tempfile, "mkdtemp", looked_at)
    assert backed_up(service) == ""
    assert taken
    assert backup.verify(service / "new", None).report.faults == []


def test_a_restore_between_two_databases_goes_on_but_over_no_other(played, tmp_path):
    run = Run(played, tmp_path, "restore")
    there = run.folder / "data" / "operators.db"
    content = (run.folder / "backup" / "operators.db").read_bytes()
    there.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    code, said = run.again()
    assert code == 1
    assert f"{there} is there already and is never overwritten" in said
    there.write_bytes(content)
    beside = there.with_name("operators.db-journal")
    beside.write_bytes(b"of a change that was cut off")
    assert run.again()[0] == 1
    beside.unlink()
    assert run.again()[0] == 0
    run.judge()


# --- what a stop is -----------------------------------------------------------------------------


def tell(number: int = signal.SIGTERM) -> None:
    os.kill(os.getpid(), number)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_stop_waits_for_a_step_and_no_longer(number):
    done = []
    with pytest.raises(Stopped) as stopped, heard():  # noqa: PT012 - where it comes is the test
        with whole():
            with whole():
                tell(number)
            done.append("first")
        done.append("never")
    assert done == ["first"]
    assert stopped.value.code == 128 + number


def test_the_second_of_two_at_once_does_not_end_the_tidying_up(monkeypatch):
    done = []
    with pytest.raises(Stopped), heard():  # noqa: PT012
        try:
            tell()
        finally:
            tell()
            done.append("tidied")
    assert done == ["tidied"]
    monkeypatch.setattr(stopping, "_AT_ONCE", -1.0)  # the control: another one, later
    with pytest.raises(Stopped), heard():  # noqa: PT012
        try:
            tell()
        finally:
            tell()
            done.append("never")
    assert done == ["tidied"]


def test_a_stop_comes_through_where_it_may():
    done = []
    with pytest.raises(Stopped) as stopped, heard(), whole():  # noqa: PT012
        may_stop()  # nobody has asked
        tell()
        done.append("step")
        may_stop()
        done.append("never")
    assert done == ["step"]
    assert stopped.value.code == 143


def test_where_it_is_too_late_it_changes_nothing_and_afterwards_all_is_as_before():
    before = [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)]
    with heard():
        too_late()
        tell()
        with whole():
            tell(signal.SIGINT)
    assert [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)] == before
    with pytest.raises(Stopped), heard():  # the control, and nothing is held from before
        tell()


def test_who_starts_a_command_deaf_has_it_so():
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with heard():
            tell(signal.SIGHUP)
    finally:
        signal.signal(signal.SIGHUP, before)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_backup_of_a_process_that_is_told_to_end(service, number):
    """Without the rig: in the middle of its work, and twice, as `timeout` does it."""
    program = (
        "import sys\nfrom fairdeal_api import backup, cli\n"
        "def waits(path):\n    print('here', flush=True)\n    sys.stdin.readline()\n"
        "backup.digest_of = waits\ncli.main()\n"
    )
    before = sorted(service.iterdir())
    words = ["backup", "create", str(service / "copy"), "--data", str(service / "data")]
    with subprocess.Popen(
        [sys.executable, "-c", program, *words],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        assert process.stdout.readline() == "here\n"
        assert len(list(service.glob("copy.*.part/*"))) == 1
        process.send_signal(number)
        process.send_signal(number)
        out, err = process.communicate(timeout=30)
    assert (process.returncode, out, err) == (128 + number, "", "Stopped. No backup was made.\n")
    assert sorted(service.iterdir()) == before
