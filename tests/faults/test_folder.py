"""A data folder that is in use, old, cut, or without its keys: refused in words, never mended."""

from __future__ import annotations

import hashlib
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from fairdeal.merkle import Tree, leaf_hash
from tests.faults.site import Site, StartFailed
from tests.faults.wire import Wire

KEYS = ("sealing.key", "log.key")
BODY = {"game": "kozel", "custody": "operator"}


def refused(site: Site, *words: str, code: int = 1) -> str:
    """It does not start: one sentence on standard error, and all of these words in it."""
    with pytest.raises(StartFailed) as failed:
        site.start()
    said = failed.value.said
    assert failed.value.status == code, said
    assert "Traceback" not in said
    assert said.count("\n") == 1
    for word in words:
        assert word in said
    return said


def tables(site: Site, count: int) -> None:
    """Open so many tables: an event each."""
    key = site.operator_key("club")
    with site.wire() as wire:
        for number in range(count):
            answer = wire.ask("POST", "/v1/tables", BODY, bearer=key, key=f"{site.starts}-{number}")
            assert answer.status == 201


def size(wire: Wire) -> int:
    return int(wire.ask("GET", "/log/checkpoint").body.split(b"\n")[1])


@pytest.fixture(scope="module")
def template(launcher, tmp_path_factory) -> Path:
    """The folder of a service that has five entries, stopped in order."""
    with Site(launcher, tmp_path_factory.mktemp("folder") / "site") as site:
        site.start(init=True)
        tables(site, 5)
        site.terminate()
        return site.folder


@pytest.fixture
def stopped(launcher, template, tmp_path) -> Iterator[Site]:
    """A copy of it."""
    folder = shutil.copytree(template, tmp_path / "site", symlinks=True)
    with Site(launcher, folder) as site:
        site.starts = 10
        yield site


def snapshot(folder: Path) -> dict[str, bytes]:
    """All files but the lock, which says who has tried last."""
    files = [p for p in folder.rglob("*") if p.is_file() and p.name != "LOCK"]
    return {str(p.relative_to(folder)): p.read_bytes() for p in files}


def database(site: Site) -> list[Path]:
    return sorted(site.data.glob("ledger.db*"))


# --- two at once --------------------------------------------------------------------------------


def test_a_second_process_refuses_and_the_first_goes_on(launcher, site):
    site.start(init=True)
    tables(site, 2)
    second = Site(launcher, site.folder / "second")
    second.data, second.anchor = site.data, site.anchor
    refused(
        second, "Another process is using", str(site.data), f"locked by pid {site.pid}", code=75
    )
    with site.wire() as wire:
        assert size(wire) == 2
    site.kill()
    # A killed process holds nothing.
    second.start()
    second.terminate()
    assert site.fsck()[0] == 0


def test_a_folder_that_is_not_empty_is_not_made_over(stopped):
    before = snapshot(stopped.folder)
    arguments = ["init", "--data", str(stopped.data)]
    status, _, said = stopped.launcher.run(arguments, stopped.folder.parent)
    assert status == 1
    assert "never made over another" in said
    assert snapshot(stopped.folder) == before


# --- an older database --------------------------------------------------------------------------


def test_a_restored_database_is_refused_with_both_sizes(stopped):
    kept = {path: path.read_bytes() for path in database(stopped)}
    stopped.start()
    tables(stopped, 3)
    stopped.terminate()
    newest = {path: path.read_bytes() for path in database(stopped)}
    for path in newest:
        path.unlink()
    for path, content in kept.items():
        path.write_bytes(content)
    refused(stopped, "holds 5 entries", "has seen 8", "rolled back")
    status, said = stopped.fsck()
    assert status == 1
    assert "5 entries" in said
    # The refusal has changed nothing that a way back would need.
    for path in database(stopped):
        path.unlink()
    for path, content in newest.items():
        path.write_bytes(content)
    stopped.start()
    with stopped.wire() as wire:
        assert size(wire) == 8


def test_a_lost_write_ahead_log_is_refused(site):
    """What a copy without the `-wal` file looks like."""
    site.start(init=True)
    tables(site, 1)
    site.terminate()
    site.start()
    tables(site, 4)
    site.kill()
    wal = site.data / "ledger.db-wal"
    assert wal.stat().st_size > 0
    wal.unlink()
    (site.data / "ledger.db-shm").unlink(missing_ok=True)
    refused(site, "has seen 5", "rolled back")


@pytest.mark.parametrize("thorough", [False, True])
def test_a_rewritten_event_is_refused(stopped, thorough):
    """Also when leaves and head were made to fit: the anchor remembers the root."""
    with sqlite3.connect(stopped.data / "ledger.db") as connection:
        names = connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")
        for (name,) in names.fetchall():
            connection.execute(f'DROP TRIGGER "{name}"')
        (body,) = connection.execute("SELECT body FROM events WHERE idx = 2").fetchone()
        body = body.replace(b"kozel", b"lezok")
        row = (body, leaf_hash(body) if thorough else hashlib.sha256(body).digest())
        connection.execute("UPDATE events SET body = ?, leaf = ? WHERE idx = 2", row)
        if thorough:
            leaves = connection.execute("SELECT leaf FROM events ORDER BY idx").fetchall()
            root = Tree(leaf for (leaf,) in leaves).root()
            connection.execute("UPDATE head SET root = ?", (root,))
    connection.close()
    if thorough:
        refused(stopped, "history was rewritten")
    else:
        refused(stopped, "its events are others", "fsck")
    status, _ = stopped.fsck()
    assert status == 1


# --- the anchor ---------------------------------------------------------------------------------


def test_a_missing_anchor_is_refused_and_not_made_anew(stopped):
    stopped.anchor.unlink()
    refused(stopped, "The anchor", "never made anew")
    assert not stopped.anchor.exists()


@pytest.mark.parametrize("content", [b"", b"\n" * 8192, b"deal.example/log\n5\n"])
def test_an_anchor_that_is_none_is_refused(stopped, content):
    stopped.anchor.write_bytes(content)
    refused(stopped, "holds no checkpoint of this log")
    assert stopped.anchor.read_bytes() == content


def test_an_anchor_of_another_log_is_refused(launcher, stopped, tmp_path):
    with Site(launcher, tmp_path / "other") as other:
        other.start(init=True)
        tables(other, 9)
        other.kill()
        shutil.copy(other.anchor, stopped.anchor)
    refused(stopped, "holds no checkpoint of this log")


def test_an_anchor_behind_a_link_is_refused(stopped):
    moved = stopped.anchor.rename(stopped.folder / "elsewhere")
    stopped.anchor.symlink_to(moved)
    refused(stopped, "The anchor", "cannot be read")


def test_half_an_anchor_is_enough(stopped):
    """A write that a crash has torn spoils one of its two slots."""
    whole = stopped.anchor.read_bytes()
    sizes = [int(half.split(b"\n")[1]) for half in (whole[:4096], whole[4096:])]
    older = sizes.index(min(sizes))
    torn = bytearray(whole)
    torn[4096 * older : 4096 * older + 60] = bytes(60)
    stopped.anchor.write_bytes(torn)
    stopped.start()
    stopped.kill()
    torn = bytearray(whole)
    torn[4096 * (1 - older) : 4096 * (1 - older) + 60] = bytes(60)
    stopped.anchor.write_bytes(torn)
    stopped.start()
    with stopped.wire() as wire:
        assert size(wire) == 5
    tables(stopped, 2)
    stopped.terminate()
    assert stopped.fsck()[0] == 0


# --- keys ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", KEYS)
def test_a_missing_key_is_refused_and_never_made_anew(stopped, name):
    path = stopped.data / "keys" / name
    kept = path.read_bytes()
    path.unlink()
    before = snapshot(stopped.data)
    refused(stopped, f"The key {path} is missing", "never made anew")
    assert not path.exists()
    assert snapshot(stopped.data) == before
    path.touch(0o600)
    path.write_bytes(kept)
    stopped.start()


@pytest.mark.parametrize("name", KEYS)
@pytest.mark.parametrize("mode", [0o604, 0o640, 0o620, 0o601])
def test_a_key_that_others_may_read_is_refused(stopped, name, mode):
    path = stopped.data / "keys" / name
    kept = path.read_bytes()
    path.chmod(mode)
    refused(stopped, str(path), "open to others")
    assert path.read_bytes() == kept
    assert path.stat().st_mode & 0o777 == mode
    path.chmod(0o600)
    stopped.start()


@pytest.mark.parametrize("name", KEYS)
def test_a_key_behind_a_link_is_refused(stopped, name):
    path = stopped.data / "keys" / name
    moved = path.rename(stopped.folder / "moved")
    path.symlink_to(moved)
    refused(stopped, f"The key {path} cannot be opened", "must be a plain file")
    assert path.is_symlink()


@pytest.mark.parametrize("name", KEYS)
@pytest.mark.parametrize("content", [b"", b"00" * 32, b"0" * 63 + b"\n", b"F" * 64 + b"\n"])
def test_a_key_that_is_none_is_refused(stopped, name, content):
    path = stopped.data / "keys" / name
    path.write_bytes(content)
    said = refused(stopped, f"The key {path} is not 64 hex digits")
    assert path.read_bytes() == content
    assert not content.strip() or content.strip().decode() not in said


@pytest.mark.parametrize(
    ("name", "word"), [("sealing.key", "The sealing key"), ("log.key", "The log key")]
)
def test_another_key_is_refused(stopped, name, word):
    path = stopped.data / "keys" / name
    path.write_bytes(b"5f" * 32 + b"\n")
    refused(stopped, word, "another one than the database's")


def test_a_key_folder_open_to_others_is_refused(stopped):
    folder = stopped.data / "keys"
    folder.chmod(0o750)
    refused(stopped, str(folder), "open to others")
    folder.chmod(0o700)
    shutil.rmtree(folder)
    refused(stopped, f"The key folder {folder} is missing")
    assert not folder.exists()


@pytest.mark.parametrize("mode", [["--mode", "test"], ["--origin", "other.example/log"]])
def test_the_folder_of_another_log_is_refused(stopped, mode):
    stopped.flags += mode
    refused(stopped, "of the log fairdeal.localhost/log")
