"""An operator's bad day: full disks, files in the way, closed streams, files cut short.

Each command refuses in one sentence, and what it has begun is not half there afterwards.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import resource
import shutil
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from typer.testing import CliRunner

from fairdeal.log.checkpoint import Checkpoint
from fairdeal.merkle import EMPTY_ROOT
from fairdeal_api import backup, system
from fairdeal_api.anchor import Anchor, AnchorMoved
from fairdeal_api.cli import app
from fairdeal_api.credentials import OperatorKeys
from fairdeal_api.logging import LOG
from fairdeal_api.service import _REVOKED_EVERY, Service, initialise
from fairdeal_api.settings import Settings
from fairdeal_api.store import sqlite as sqlite_store
from fairdeal_api.system import StartRefused
from tests.api.conftest import Site
from tests.api.play import Operator

FULL = Path("/dev/full")
LENGTH = 300


@pytest.fixture(scope="module")
def template(tmp_path_factory):
    """A service that has played, stopped."""
    settings = Settings(data=tmp_path_factory.mktemp("operator") / "data")
    initialise(settings)
    with Site(settings) as site:
        table = Operator(site.client, site.key(), "kozel")
        table.open()
        table.deal()
        table.close()
    return settings


@pytest.fixture
def made(template, tmp_path):
    """A copy of it."""
    shutil.copytree(template.data, tmp_path / "data")
    shutil.copy(template.anchor_path, tmp_path / "data.anchor")
    return Settings(data=tmp_path / "data")


def snapshot(folder):
    """All files and folders, with what is in them; the lock says only who has tried last."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in folder.rglob("*")
        if path.name != "LOCK"
    }


def run(*arguments):
    """A command in this process: one sentence, if it is refused."""
    done = CliRunner().invoke(app, list(map(str, arguments)))
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    if done.exit_code:
        assert done.stderr.count("\n") == 1, done.stderr
    return done


def command(*arguments, limit=None, **more):
    """A process; `limit` is the longest file that it may write."""

    def cut():
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    more = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | more
    done = subprocess.run(
        [sys.executable, "-m", "fairdeal_api", *map(str, arguments)],
        text=True,
        timeout=120,
        check=False,
        preexec_fn=cut if limit is not None else None,
        **more,
    )
    assert "Traceback" not in (done.stderr or "")
    return done


# --- a disk that is full ------------------------------------------------------------------------


def in_a_child(step, limit):
    """Do something in a process that may write files of so many bytes; what it said."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        with contextlib.suppress(BaseException):
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
            os.write(writing, str(step()).encode())
            status = 0
        os._exit(status)
    os.close(writing)
    with os.fdopen(reading) as said:
        text = said.read()
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status), text


def test_a_file_is_never_replaced_by_half_of_another(tmp_path):
    path = tmp_path / "state"
    path.write_bytes(b"before")

    def replace():
        try:
            system.replace_file(path, b"x" * LENGTH)
        except OSError as error:
            return error.errno
        return "done"

    assert in_a_child(replace, LENGTH // 2) == (0, str(errno.EFBIG))
    assert path.read_bytes() == b"before"
    assert in_a_child(replace, LENGTH) == (0, "done")
    assert path.read_bytes() == b"x" * LENGTH


def test_control_a_write_alone_says_nothing(tmp_path):
    with (tmp_path / "state").open("wb", buffering=0) as file:
        written = in_a_child(lambda: os.write(file.fileno(), b"x" * LENGTH), LENGTH // 2)
    assert written == (0, str(LENGTH // 2))


def test_half_a_write_of_the_anchor_is_no_other_process(made, monkeypatch):
    """It is not known what is on the disk: exit code 70, not 75."""
    with Site(made) as site:
        note = site.service.ledger.checkpoint
        mine = Anchor(made.anchor_path)
        with contextlib.closing(mine):
            mine.load(site.service.log_keys)
            with monkeypatch.context() as patch:
                patch.setattr(os, "pwrite", lambda *_: 100)
                with pytest.raises(OSError, match="half written"):
                    mine.move(note)
            mine.move("the control: somebody else's\n")
            with pytest.raises(AnchorMoved):
                site.service._anchor.move(note)
            mine.move(note)


@pytest.mark.parametrize("limit", [0, 4, 64, 4096, 8191, 40_000, 100_000])
def test_a_service_is_made_whole_or_not_at_all(tmp_path, limit):
    arguments = ["init", "--data", tmp_path / "data"]
    done = command(*arguments, limit=limit)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    # Where not even the lock could be written, it is there, empty, and in nobody's way.
    assert snapshot(tmp_path) == ({} if limit else {"data": None})
    assert command(*arguments).returncode == 0


# --- init ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("where", ["parent", "folder", "keys"])
def test_what_init_cannot_finish_it_removes(tmp_path, where):
    (tmp_path / "file").touch()
    data = tmp_path / "data"
    data.mkdir()
    if where == "folder":
        data.rmdir()
    elsewhere = {"keys": {"keys": tmp_path / "keys"}}.get(where, {})
    before = snapshot(tmp_path)
    settings = Settings(data=data, anchor=tmp_path / "file" / "anchor", **elsewhere)
    with pytest.raises(FileExistsError):
        initialise(settings)
    assert snapshot(tmp_path) == before
    assert not (data / "LOCK").exists()
    initialise(Settings(data=data, **elsewhere))


def test_init_never_removes_what_was_there(tmp_path, made):
    """Keys of another service, and an anchor that comes while it works."""
    before = snapshot(tmp_path)
    other = Settings(data=tmp_path / "other", keys=made.keys_path)
    with pytest.raises(StartRefused, match="never overwritten"):
        initialise(other)
    assert snapshot(tmp_path) == before
    (made.keys_path / "sealing.key").rename(tmp_path / "kept")
    with pytest.raises(StartRefused, match=r"log\.key is there already"):
        initialise(other)
    (tmp_path / "kept").rename(made.keys_path / "sealing.key")
    assert snapshot(tmp_path) == before


@pytest.mark.parametrize("step", ["create", "close"])
def test_an_init_that_is_interrupted_leaves_nothing(tmp_path, monkeypatch, step):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    settings = Settings(data=tmp_path / "data")
    with monkeypatch.context() as patch:
        if step == "create":
            patch.setattr(sqlite_store, "create", interrupted)
        else:
            patch.setattr(Anchor, "create", interrupted)
        with pytest.raises(KeyboardInterrupt):
            initialise(settings)
    assert list(tmp_path.iterdir()) == []
    initialise(settings)


def test_an_anchor_that_came_meanwhile_is_not_written_over(tmp_path, monkeypatch):
    settings = Settings(data=tmp_path / "data")
    create = Anchor.create

    def late(self, note):
        self.path.write_bytes(b"of another log\n")
        monkeypatch.setattr(Path, "exists", lambda _: False)  # as it was when it was looked for
        try:
            create(self, note)
        finally:
            monkeypatch.undo()

    monkeypatch.setattr(Anchor, "create", late)
    with pytest.raises(StartRefused, match="never overwritten"):
        initialise(settings)
    assert settings.anchor_path.read_bytes() == b"of another log\n"
    assert [path.name for path in tmp_path.iterdir()] == ["data.anchor"]


def test_control_a_killed_init_leaves_half_of_it_and_the_start_says_so(tmp_path, monkeypatch):
    settings = Settings(data=tmp_path / "data")

    def killed(*_, **__):
        os._exit(9)

    def make():
        sqlite_store.create = killed
        initialise(settings)

    assert in_a_child(make, resource.RLIM_INFINITY)[0] == 9
    assert (settings.keys_path / "log.key").exists()
    said = run("serve", "--data", settings.data).stderr
    assert "`fairdeal init` was cut off" in said
    assert "not empty" in run("init", "--data", settings.data).stderr


def test_a_service_without_its_database_is_told_of_restore_not_of_init(made):
    shutil.rmtree(made.data)
    assert "`fairdeal restore`" in run("serve", "--data", made.data).stderr
    made.anchor_path.unlink()
    assert "`fairdeal init` makes one" in run("serve", "--data", made.data).stderr


@pytest.mark.parametrize("words", [["fsck"], ["serve", "--port", "0"], ["keys"]])
def test_lost_keys_are_to_be_restored_and_not_made(made, words):
    shutil.rmtree(made.keys_path)
    said = run(*words, "--data", made.data).stderr
    assert "keys is missing. Keys are never made anew" in said
    assert "init" not in said


@pytest.mark.parametrize(
    "words",
    [["fsck"], ["keys"], ["backup", "create", "{}/copy"], ["log", "export", "{}/public"],
     ["operator-key", "list"], ["operator-key", "create", "--name", "x"]],
)  # fmt: skip
def test_who_forgets_where_the_service_is_is_told_of_the_option(made, tmp_path, words):
    words = [word.format(tmp_path) for word in words]
    said = run(*words, "--data", tmp_path / "elsewhere").stderr
    assert "`--data` says where the service is" in said
    assert run(*words, "--data", made.data).exit_code == 0  # the control


@pytest.mark.parametrize("words", [["fsck"], ["keys"], ["serve"], ["log", "export", "{}/public"]])
def test_a_command_under_another_name_says_both(made, tmp_path, words):
    """And nothing else: under that name no key would fit, and no sealed value open."""
    words = [word.format(tmp_path) for word in words]
    said = run(*words, "--data", made.data, "--origin", "other.example/log")
    assert said.stderr == (
        "The data folder is of the log fairdeal.localhost/log, and the settings name "
        "other.example/log.\n"
    )


@pytest.mark.parametrize(
    ("own", "other", "kind"),
    [([], ["--mode", "test"], "live"), (["--mode", "test"], [], "test")],
)
def test_a_key_of_the_mode_that_the_service_is_not_in_is_not_made(tmp_path, own, other, kind):
    """It would be refused for good, and whoever has it would not know why. Spec: LOG-33."""
    where = ["--data", tmp_path / "data"]
    # The origin is no setting of this command, and may be any.
    assert run("init", *where, *own, "--origin", "deal.example/log").exit_code == 0
    create = ["operator-key", "create", "--name", "club", *where]
    refused = run(*create, *other)
    assert (refused.exit_code, refused.stdout) == (1, "")
    wrong = "live" if kind == "test" else "test"
    assert refused.stderr == (
        f"The service in {tmp_path / 'data'} is in {kind} mode, where keys of {wrong} mode are "
        f"refused; `--mode {kind}` makes one that works.\n"
    )
    assert run("operator-key", "list", *where).stdout == ""
    assert run(*create, *own).stdout.startswith(f"fd_{kind}_")  # the control
    assert run("operator-key", "list", *where).stdout.count("\n") == 1


def test_a_live_log_is_not_named_as_a_test_one(tmp_path):
    """An audit would not look for what repeats. Spec: LOG-33."""
    words = ["init", "--data", tmp_path / "data", "--origin", "deal.example/test"]
    refused = run(*words)
    assert refused.exit_code == 2
    assert refused.stderr.startswith("origin: must not end in `/test`")
    assert list(tmp_path.iterdir()) == []
    assert run(*words, "--mode", "test").exit_code == 0  # the control


def test_who_revokes_a_name_is_told_of_the_ids(made):
    assert "`fairdeal operator-key list` shows" in (
        run("operator-key", "revoke", "club", "--data", made.data).stderr
    )


# --- files cut short, or none -------------------------------------------------------------------

READERS = [["fsck"], ["keys"], ["backup", "create", "{}/copy"], ["log", "export", "{}/public"]]


@pytest.mark.parametrize("length", [0, 1, 100, 4096, 20_000, -1])
def test_a_database_that_was_cut_is_a_sentence(made, tmp_path, length):
    path = made.data / "ledger.db"
    if length < 0:
        path.unlink()
        path.mkdir()
    else:
        os.truncate(path, length)
    before = snapshot(tmp_path)
    for words in [
        *READERS,
        ["serve", "--port", "0"],
        ["keys", "rotate"],
        ["keys", "rotate-sealing"],
    ]:
        done = run(*(word.format(tmp_path) for word in words), "--data", made.data)
        assert done.exit_code == 1, words
        assert done.stderr.endswith(".\n")
        assert done.stdout == ""
        for rest in made.data.glob("ledger.db-*"):
            rest.unlink()
        assert snapshot(tmp_path) == before, words


def test_control_a_whole_one_is_read(made, tmp_path):
    for words in READERS:
        assert run(*(word.format(tmp_path) for word in words), "--data", made.data).exit_code == 0


@pytest.mark.parametrize("name", ["log.key", "sealing.key"])
def test_a_key_that_is_a_pipe_holds_up_nothing(made, name):
    path = made.keys_path / name
    path.unlink()
    os.mkfifo(path, 0o600)
    done = command("keys", "--data", made.data)
    assert done.returncode == 1
    assert "not a plain file" in done.stderr


def test_a_lock_that_is_none_is_a_sentence(made):
    lock = made.data / "LOCK"
    for make in (lock.mkdir, lambda: lock.symlink_to("nowhere/at/all")):
        lock.unlink(missing_ok=True)
        make()
        assert str(lock) in run("serve", "--data", made.data).stderr
        if lock.is_dir():
            lock.rmdir()


@pytest.mark.parametrize("name", [f.name for f in backup.Manifest.__dataclass_fields__.values()])
@pytest.mark.parametrize("value", [None, 3, ["x"], {"ledger.db": 1, "operators.db": 2}])
def test_a_manifest_of_other_types_is_a_sentence(made, tmp_path, name, value):
    folder = tmp_path / "copy"
    folder.mkdir()
    good = {
        "origin": "a/log", "log_key": "x", "sealing_id": "0" * 8, "size": 1, "root": "00",
        "checkpoint": "c", "at": 1, "files": {"ledger.db": "0", "operators.db": "0"},
        "format": backup.FORMAT,
    }  # fmt: skip
    (folder / "manifest.json").write_text(json.dumps(good | {name: value}))
    assert run("backup", "verify", folder).exit_code == 1


# --- a disk that cannot be written --------------------------------------------------------------

READING = [["fsck"], ["log", "export", "out"], ["keys"], ["backup", "create", "copy"]]


def reading(made, words, tmp_path):
    return run(*[tmp_path / word if word in {"out", "copy"} else word for word in words],
               "--data", made.data)  # fmt: skip


@pytest.mark.parametrize("words", READING)
def test_where_sqlite_cannot_write_beside_a_database_it_says_what_to_do(made, tmp_path, words):
    """What it needs has no place, as on a read-only disk."""
    in_the_way = made.data / "ledger.db-shm"
    in_the_way.symlink_to(tmp_path / "nowhere" / "file")
    refused = reading(made, words, tmp_path)
    assert refused.exit_code == 1
    assert "ledger.db cannot be opened: to read it, SQLite has to write" in refused.stderr
    assert "copy the whole folder and the anchor" in refused.stderr
    in_the_way.unlink()
    assert reading(made, words, tmp_path).exit_code == 0  # the control


@pytest.mark.parametrize("words", READING)
def test_what_only_reads_does_so_on_a_read_only_disk(made, tmp_path, monkeypatch, words):
    """The anchor may lie there, and beside a service that runs SQLite's files are there."""
    open_file, asked = os.open, []

    def read_only(path, flags, *more, **named):
        if Path(path).is_relative_to(tmp_path / "data.anchor"):
            asked.append(flags)
            if flags & (os.O_RDWR | os.O_WRONLY):
                raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(path))
        return open_file(path, flags, *more, **named)

    monkeypatch.setattr(os, "open", read_only)
    assert reading(made, words, tmp_path).exit_code == 0
    assert bool(asked) == (words[0] in {"fsck", "log"})
    with pytest.raises(StartRefused, match="Read-only file system"):  # the control: a start writes
        Service(made)


# --- backups ------------------------------------------------------------------------------------


def test_a_backup_leaves_other_folders_alone_and_nothing_of_its_own(made, tmp_path, monkeypatch):
    others = tmp_path / "copy.part"
    others.mkdir()
    (others / "of somebody").write_text("precious")
    before = snapshot(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(backup, "digest_of", lambda _: (_ for _ in ()).throw(OSError(28, "full")))
        assert run("backup", "create", tmp_path / "copy", "--data", made.data).exit_code == 1
    assert snapshot(tmp_path) == before
    assert run("backup", "create", tmp_path / "copy", "--data", made.data).exit_code == 0
    assert (others / "of somebody").read_text() == "precious"
    assert {path.name for path in tmp_path.iterdir()} == {
        "copy",
        "copy.part",
        "data",
        "data.anchor",
    }
    assert (tmp_path / "copy").stat().st_mode & 0o777 == 0o700


def test_of_two_backups_at_once_into_one_folder_one_is_made(made, tmp_path, monkeypatch):
    meet = threading.Barrier(2)
    digest_of = backup.digest_of

    def together(path):
        if path.name == "ledger.db":
            meet.wait(60)
        return digest_of(path)

    monkeypatch.setattr(backup, "digest_of", together)
    ends = []

    def create():
        try:
            ends.append(backup.create(made, tmp_path / "copy").size)
        except StartRefused as error:
            ends.append(str(error))

    threads = [threading.Thread(target=create) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    monkeypatch.undo()
    assert sum(isinstance(end, int) for end in ends) == 1, ends
    assert sum("cannot be made" in str(end) for end in ends) == 1, ends
    assert run("backup", "verify", tmp_path / "copy").exit_code == 0
    assert {path.name for path in tmp_path.iterdir()} == {"copy", "data", "data.anchor"}


# --- a folder that goes away --------------------------------------------------------------------


@pytest.mark.parametrize("what", ["removed", "moved", "replaced", "control"])
def test_a_service_whose_database_has_gone_goes_on_for_nobody(made, what):
    """Written to on its old descriptor it would acknowledge what no name leads to."""
    kept = made.data.with_name("kept")
    shutil.copytree(made.data, kept)
    ended = []
    with Site(made) as site:
        site.service._fatal = ended.append
        if what == "removed":
            shutil.rmtree(made.data)
        elif what != "control":
            made.data.rename(made.data.with_name("away"))
        if what == "replaced":
            kept.rename(made.data)
        site.client.portal.call(site.service.sweep, _REVOKED_EVERY)
        assert {type(error) for error in ended} == (
            set() if what == "control" else {FileNotFoundError}
        )


# --- streams ------------------------------------------------------------------------------------


def test_a_key_that_nobody_could_read_does_not_work(made):
    with FULL.open("w") as out:
        done = command("operator-key", "create", "--name", "c", "--data", made.data, stdout=out)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    keys = OperatorKeys(made.data / "operators.db")
    assert [key.revoked is None for key in keys.all() if key.name == "c"] == [False]
    command("operator-key", "create", "--name", "c", "--data", made.data)  # the control
    assert [key.revoked is None for key in keys.all() if key.name == "c"] == [False, True]


def test_a_reader_that_has_gone_gets_no_word(made):
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as out:
        done = command("keys", "--data", made.data, stdout=out)
    assert done.returncode == 1
    assert done.stderr == ""


@pytest.mark.parametrize("closed", [False, True])
def test_the_exit_code_is_right_although_nobody_can_be_told(made, closed):
    """75 says: do not start it again."""
    arguments = f'exec "$0" -m fairdeal_api serve --port 0 --data "{made.data}"'
    with Site(made):
        shell = ["/bin/sh", "-c", f"{arguments} {'2>&-' if closed else '2>/dev/full'}"]
        done = subprocess.run([*shell, sys.executable], check=False, timeout=120)
    assert done.returncode == system.EXIT_LOST


def test_a_log_that_freezes_is_kept_frozen_although_nobody_can_be_told(made, monkeypatch):
    with Site(made) as site, FULL.open("w", buffering=1) as full:
        with pytest.raises(OSError, match="No space"):
            full.write("the control\n")
        monkeypatch.setattr(sys, "stderr", full)
        note = Checkpoint(made.log_origin, 99, EMPTY_ROOT).sign(site.service.signing_key)
        site.service.freeze(note, 99)
        monkeypatch.undo()
        with contextlib.suppress(OSError):
            full.close()
    assert Anchor(made.anchor_path).seen_path.read_text() == note
    with pytest.raises(StartRefused, match="has seen 99"):
        Service(made)


def test_a_log_without_a_stream_is_silent_and_still_holds_its_list(monkeypatch):
    monkeypatch.setattr(sys, "stderr", None)
    LOG.write("service.started", size=1)
    with pytest.raises(ValueError, match="not a field"):
        LOG.write("service.started", seed="x")


HELD = """
import os, sys
from fairdeal_api import cli
if sys.argv[2] == "held":
    cli._hold_descriptors()
number = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT, 0o600)
os.write(number, b"%d" % number)
"""


@pytest.mark.parametrize(("held", "numbers"), [("held", range(3, 100)), ("control", range(3))])
def test_closed_streams_do_not_become_files(tmp_path, held, numbers):
    script = f'exec "$0" -c "$1" "$2" {held} <&- >&- 2>&-'
    subprocess.run(
        ["/bin/sh", "-c", script, sys.executable, HELD, tmp_path / "file"], check=True, timeout=120
    )
    assert int((tmp_path / "file").read_text()) in numbers


ASKED = """
import sys
from fairdeal_api import cli
if sys.argv[1] == "held":
    cli._hold_descriptors()
try:
    input()
except EOFError:
    sys.exit(3)
except RuntimeError:
    sys.exit(4)
"""


@pytest.mark.parametrize(("held", "code"), [("held", 3), ("control", 4)])
def test_a_closed_input_is_at_its_end(held, code):
    shell = ["/bin/sh", "-c", f'exec "$0" -c "$1" {held} <&-', sys.executable, ASKED]
    assert subprocess.run(shell, check=False, timeout=120).returncode == code


def listening(arguments, **streams):
    """A service whose output nobody reads answers."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, "-m", "fairdeal_api", *map(str, arguments), "--port", str(port)],
        **streams,
    )
    try:
        for _ in range(1200):
            assert process.poll() is None, process.returncode
            with (
                contextlib.suppress(ConnectionRefusedError),
                socket.create_connection(("127.0.0.1", port), 5) as connection,
            ):
                connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n")
                return connection.recv(4096).startswith(b"HTTP/1.1 200")
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(0.1)
    finally:
        process.terminate()
        process.wait(60)
    return False


def test_a_service_serves_whoever_does_not_read_what_it_says(made):
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as gone, FULL.open("w") as full:
        assert listening(["serve", "--data", made.data], stdout=gone, stderr=full)


# --- addresses ----------------------------------------------------------------------------------


def test_the_process_ends_once_its_folder_has_gone(made):
    process = subprocess.Popen(
        [sys.executable, "-m", "fairdeal_api", "serve", "--port", "0", "--data", made.data],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert process.stdout.readline().startswith("listening")
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(2.5)  # the control
        made.data.rename(made.data.with_name("away"))
        _, said = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == system.EXIT_BROKEN
    assert json.loads(said.splitlines()[-1])["event"] == "ledger.broken"


def test_a_metrics_port_in_use_is_one_sentence(made):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = command("serve", "--data", made.data, "--port", 0, "--metrics-port", port)
    assert done.returncode == 1
    assert done.stderr == f"127.0.0.1:{port} cannot be listened on (Address already in use).\n"
