"""The log as static files: over HTTP, and exported into a folder. Spec: LOG-8..13."""

from __future__ import annotations

import fcntl
import itertools
import os
import sqlite3
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from fairdeal.log.checkpoint import Checkpoint
from fairdeal.log.note import VerifierKey
from fairdeal.log.tiles import entry_bundle, parse_bundle, tiles_of
from fairdeal.merkle import EMPTY_ROOT, Tree, leaf_hash
from fairdeal_api import export as exports
from fairdeal_api.export import export
from fairdeal_api.service import database_path, initialise
from fairdeal_api.settings import Settings
from fairdeal_api.store.reading import SQLiteReader
from fairdeal_api.system import StartRefused
from tests.api.conftest import Site
from tests.api.play import Operator, expect
from tests.log.folder import append, signing_key

ENTRIES = [b'{"entry":%d}' % number for number in range(600)]
FAR = 256_044
"""The first size whose names need a second group of digits is 256,001."""


def fill(settings: Settings, size: int, *, anchored: bool = True) -> Tree:
    """Bring the log to a size, by one commit of the service's own writer."""
    reader = SQLiteReader(database_path(settings))
    old = reader.head().size
    reader.close()
    bodies = [b'{"entry":%d}' % number for number in range(old, size)]
    return append(settings, bodies, anchored=anchored)


def names(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def whole(folder: Path, key: VerifierKey) -> int:
    """The size of a folder whose tiles all lead to its checkpoint; it reads nothing else."""
    checkpoint = Checkpoint.open((folder / "checkpoint").read_text(), key)
    entries, hashes = [], {}
    for tile in tiles_of(checkpoint.size):
        data = (folder / tile.path).read_bytes()
        if tile.level < 0:
            entries += parse_bundle(data)
        else:
            hashes[tile.level] = hashes.get(tile.level, b"") + data
    tree = Tree(leaf_hash(entry) for entry in entries)
    assert (len(tree), tree.root()) == (checkpoint.size, checkpoint.root)
    for level, data in hashes.items():
        assert data == b"".join(tree.levels[8 * level])
    return checkpoint.size


@pytest.fixture
def made(settings: Settings) -> Settings:
    initialise(settings)
    return settings


# --- over HTTP ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    folder = tmp_path_factory.mktemp("served")
    settings = Settings(data=folder / "data", mode="test", origin="deal.example/log")
    initialise(settings)
    fill(settings, len(ENTRIES))
    with Site(settings) as running:
        yield running


def test_every_tile_of_every_size_is_served(served):
    """Spec: LOG-9."""
    tree = Tree(map(leaf_hash, ENTRIES))
    wanted = dict.fromkeys(tile for size in range(1, 601) for tile in tiles_of(size))
    assert sum(tile.is_partial for tile in wanted) == 2 * 598 + 2
    for tile in wanted:
        response = served.client.get(f"/log/{tile.path}")
        assert response.status_code == 200, tile.path
        start, end = 256 * tile.number, 256 * tile.number + tile.width
        if tile.level < 0:
            assert response.content == entry_bundle(ENTRIES[start:end])
        else:
            assert response.content == b"".join(tree.levels[8 * tile.level][start:end])


@pytest.mark.parametrize(
    ("path", "kind", "cache"),
    [
        ("checkpoint", "text/plain; charset=utf-8", "public, max-age=2"),
        *(
            (f"tile/{name}", "application/octet-stream", "public, max-age=31536000, immutable")
            for name in ("0/000", "0/001", "0/002.p/88", "0/000.p/1", "1/000.p/1", "1/000.p/2")
        ),
        *(
            (f"tile/entries/{name}", "application/octet-stream",
             "public, max-age=31536000, immutable")
            for name in ("000", "001.p/255", "002.p/88")
        ),
    ],
)  # fmt: skip
def test_headers(served, path, kind, cache):
    """Spec: LOG-9."""
    headers = served.client.get(f"/log/{path}").headers
    assert headers["content-type"] == kind
    assert headers["cache-control"] == cache
    assert headers["access-control-allow-origin"] == "*"
    assert headers["x-content-type-options"] == "nosniff"
    assert "set-cookie" not in headers


@pytest.mark.parametrize(
    "path",
    [
        "0/002", "0/002.p/89", "0/003.p/1", "0/000.p/0", "0/000.p/256", "0/000.p/01", "0/000.p",
        "0/000.p/", "0/000/", "0/0", "0/00", "0/0000", "0/x000/000", "0/x000", "0/000.p/1/2",
        "00/000", "1/000", "1/000.p/3", "1/001.p/1", "2/000", "2/000.p/1", "2/000.p/0", "63/000",
        "64/000", "-1/000", "0/-01", "0/x001/000", "0/x001/x000/000", "data/000", "8/0/000",
        "entries/002", "entries/002.p/89", "entries/003.p/1", "entries/x001/000", "entries/0",
        "entries/000.p/256", "entries", "entries/", "", "0", "0/", "%30/000.p/0", "0/٠٠٠",
        "0/x001/x001/x001/x001/x001/x001/000",
    ],
)  # fmt: skip
def test_what_is_not_there_is_not_found_and_not_kept(served, path):
    """Spec: LOG-9."""
    response = served.client.get(f"/log/tile/{path}")
    expect(response, 404)
    assert response.headers["cache-control"] == "no-store"


def test_nothing_is_served_of_an_empty_log(made):
    with Site(made) as site:
        text = site.client.get("/log/checkpoint").text
        assert text.split("\n")[1] == "0"
        for name in ("0/000", "0/000.p/1", "entries/000", "entries/000.p/1", "1/000"):
            assert site.client.get(f"/log/tile/{name}").status_code == 404


# --- exported -----------------------------------------------------------------------------------


def test_an_export_is_what_is_served(served, tmp_path):
    """Spec: LOG-10."""
    mask = os.umask(0o077)
    try:
        done = export(served.settings, tmp_path / "to" / "log")
    finally:
        os.umask(mask)
    folder = tmp_path / "to" / "log"
    assert (done.size, done.old) == (600, None)
    found = names(folder)
    assert set(found) == {"checkpoint", *(tile.path for tile in tiles_of(600))}
    assert done.written == len(found) - 1
    for name, content in found.items():
        assert served.client.get(f"/log/{name}").content == content
    for path in folder.rglob("*"):
        mode = stat.S_IMODE(path.stat().st_mode)
        assert mode == (0o755 if path.is_dir() else 0o644), path
    assert whole(folder, served.service.verifier_key) == 600
    assert export(served.settings, folder).written == 0


@pytest.mark.parametrize("sizes", [(1, 2, 255, 256, 257, 600), (0, 600), (511, 512, 513)])
def test_another_export_adds_what_is_new(made, tmp_path, sizes):
    """Spec: LOG-11."""
    key, folder = signing_key(made).verifier, tmp_path / "log"
    before: dict[str, bytes] = {}
    inodes: dict[str, int] = {}
    for old, size in itertools.pairwise([None, *sizes]):
        if size:
            fill(made, size)
        done = export(made, folder)
        assert (done.size, done.old) == (size, old)
        assert whole(folder, key) == size
        found = names(folder)
        assert before.keys() <= found.keys()
        for name in before.keys() - {"checkpoint"}:
            assert found[name] == before[name]
            assert (folder / name).stat().st_ino == inodes[name], "written again"
        assert done.written == len(found) - max(len(before), 1)
        before, inodes = found, {name: (folder / name).stat().st_ino for name in found}


def test_a_lost_tile_is_written_again(made, tmp_path):
    fill(made, 300)
    folder = tmp_path / "log"
    export(made, folder)
    (folder / "tile/0/000").unlink()
    assert export(made, folder).written == 1
    assert whole(folder, signing_key(made).verifier) == 300


def test_what_the_anchor_has_not_seen_is_not_exported(made, tmp_path):
    """Spec: LOG-10. The database is ahead after a crash between commit and anchor."""
    fill(made, 300)
    fill(made, 400, anchored=False)
    assert export(made, tmp_path / "log").size == 300
    assert whole(tmp_path / "log", signing_key(made).verifier) == 300
    assert not (tmp_path / "log/tile/0/001.p/144").exists()


def test_names_with_more_groups(made, tmp_path):
    """Spec: LOG-8, LOG-9, LOG-10."""
    tree = fill(made, FAR)
    with Site(made) as site:
        done = export(made, tmp_path / "log")
        assert done.size == FAR
        for name, size in (("0/x001/000.p/44", 44 * 32), ("1/003.p/232", 232 * 32)):
            content = site.client.get(f"/log/tile/{name}").content
            assert len(content) == size
            assert (tmp_path / "log/tile" / name).read_bytes() == content
        bundle = site.client.get("/log/tile/entries/x001/000.p/44").content
        assert parse_bundle(bundle)[0] == b'{"entry":256000}'
        assert site.client.get("/log/tile/0/x000/999").status_code == 404
        assert site.client.get("/log/tile/0/1000").status_code == 404
    assert whole(tmp_path / "log", signing_key(made).verifier) == FAR
    assert b"".join(tree.levels[0][-44:]) == (tmp_path / "log/tile/0/x001/000.p/44").read_bytes()


def test_the_command_beside_a_running_service(site, tmp_path):
    """Spec: LOG-10, LOG-11. Another process, on a log that moves."""
    folder = tmp_path / "log"
    command = [
        sys.executable, "-m", "fairdeal_api", "log", "export", str(folder), "--data",
        str(site.settings.data), "--mode", "test", "--origin", "deal.example/log",
    ]  # fmt: skip
    said = []
    key = site.key()
    for _ in range(2):
        table = Operator(site.client, key, "mus")
        for _ in range(4):
            table.open()
            table.deal()
            table.close()
        ran = subprocess.run(command, capture_output=True, text=True, check=False)
        assert (ran.returncode, ran.stderr) == (0, "")
        said.append(ran.stdout)
        size = whole(folder, site.service.verifier_key)
        assert size == site.service.ledger.size
    half = size // 2
    assert said == [
        f"{folder} holds {half} entries; 2 tiles are new.\n",
        f"{folder} holds {size} entries, {half} of them from before; 2 tiles are new.\n",
    ]
    ran = subprocess.run(
        [*command, "--anchor", str(tmp_path / "no")], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 1
    assert ran.stderr.count("\n") == 1
    assert "anchor" in ran.stderr


# --- refused ------------------------------------------------------------------------------------


def other_log(tmp_path: Path, origin: str = "deal.example/log") -> Settings:
    settings = Settings(data=tmp_path / "other" / "data", mode="test", origin=origin)
    settings.data.parent.mkdir()
    initialise(settings)
    return settings


def refused(settings: Settings, folder: Path, *words: str) -> None:
    """It says why in one sentence or two, and writes nothing."""
    before = names(folder)
    with pytest.raises(StartRefused) as said:
        export(settings, folder)
    for word in words:
        assert word in str(said.value)
    assert names(folder) == before


def signed(settings: Settings, size: int, root: bytes) -> str:
    key = signing_key(settings)
    return Checkpoint(key.name, size, root).sign(key)


def test_a_folder_that_holds_more_is_refused(made, tmp_path):
    """Spec: LOG-13."""
    fill(made, 300)
    folder = tmp_path / "log"
    export(made, folder)
    (folder / "checkpoint").write_text(signed(made, 301, bytes(32)))
    refused(made, folder, "301 entries", "has 300", "rolled back")


def test_a_folder_with_another_history_is_refused(made, tmp_path):
    """Spec: LOG-13."""
    fill(made, 300)
    folder = tmp_path / "log"
    folder.mkdir()
    for size in (0, 1, 256, 300):
        (folder / "checkpoint").write_text(signed(made, size, bytes(32)))
        refused(made, folder, f"first {size} of", "300", "fork")
    (folder / "checkpoint").write_text(signed(made, 0, EMPTY_ROOT))
    assert export(made, folder).size == 300  # control: an honest one goes on


def test_a_folder_of_another_log_is_refused(made, tmp_path):
    """Spec: LOG-13. Another key with the same name, another name, or no checkpoint at all."""
    fill(made, 300)
    other = other_log(tmp_path)
    fill(other, 300)
    folder = tmp_path / "log"
    export(other, folder)
    refused(made, folder, "not a checkpoint", str(signing_key(made).verifier))
    for text in ("", "deal.example/log/test\n300\n", "\udcff"):
        (folder / "checkpoint").write_bytes(text.encode(errors="surrogateescape"))
        refused(made, folder, "not a checkpoint")


def test_a_tile_of_another_log_is_refused(made, tmp_path):
    """Spec: LOG-11. There is no checkpoint to tell by: its export was cut off."""
    fill(made, 300)
    folder = tmp_path / "log"
    (folder / "tile/0").mkdir(parents=True)
    (folder / "tile/0/000").write_bytes(bytes(8192))
    with pytest.raises(StartRefused, match="another content"):
        export(made, folder)
    assert (folder / "tile/0/000").read_bytes() == bytes(8192)
    assert not (folder / "checkpoint").exists()


def test_one_export_at_a_time(made, tmp_path):
    """Spec: LOG-13."""
    fill(made, 3)
    folder = tmp_path / "log"
    export(made, folder)
    held = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(held, fcntl.LOCK_EX)
        refused(made, folder, "Another export")
    finally:
        os.close(held)
    assert export(made, folder).written == 0


def test_a_database_that_is_not_the_log_is_refused(made, tmp_path):
    fill(made, 300)
    folder = tmp_path / "log"
    folder.mkdir()
    refused(Settings(data=made.data, mode="test"), folder, "deal.example/log/test")
    refused(Settings(data=tmp_path / "none"), folder, "no database")
    refused(made, made.data, "data folder")
    with pytest.raises(StartRefused, match="data folder"):
        export(made, made.data / "public" / "log")
    connection = sqlite3.connect(database_path(made))
    connection.execute("DROP TRIGGER events_stay")
    connection.execute("DROP TRIGGER events_remain")
    connection.execute("UPDATE events SET body = ? WHERE idx = 299", (b"{}",))
    connection.commit()
    with pytest.raises(StartRefused, match="256 to 299"):
        export(made, tmp_path / "changed")
    assert not (tmp_path / "changed/checkpoint").exists()
    connection.execute("DELETE FROM events WHERE idx = 299")
    connection.commit()
    connection.close()
    refused(made, folder, "299 entries", "300", "rolled back")


# --- cut off ------------------------------------------------------------------------------------


class CutOffError(OSError):
    """The disk is full, or the power is gone."""


def cut_at(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    """Let so many files get their names, and none after."""
    real, left = Path.replace, [count]

    def replace(self, target):
        if left[0] == 0:
            raise CutOffError("cut off")
        left[0] -= 1
        return real(self, target)

    monkeypatch.setattr(Path, "replace", replace)


def cut_everywhere(settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    """Cut an export from 300 to 600 at each file; gives how often the folder was whole."""
    key, kept = signing_key(settings).verifier, 0
    for count in range(12):
        folder = tmp_path / f"log{count}"
        fill_once = export(settings, folder).size
        assert fill_once == 300
    fill(settings, 600)
    for count in range(12):
        folder = tmp_path / f"log{count}"
        with monkeypatch.context() as patch:
            cut_at(patch, count)
            try:
                export(settings, folder)
            except CutOffError:
                pass
            else:
                assert count == 6, "five tiles and a checkpoint"
                return kept
        try:
            assert whole(folder, key) == 300
        except FileNotFoundError:
            continue
        kept += 1
        export(settings, folder)
        assert whole(folder, key) == 600
        assert not (folder / ".part").exists()
    raise AssertionError("no export got to its end")


def test_an_export_that_is_cut_off_leaves_the_old_one(made, tmp_path, monkeypatch):
    """Spec: LOG-12."""
    fill(made, 300)
    assert cut_everywhere(made, tmp_path, monkeypatch) == 6


def test_control_with_the_checkpoint_first_the_same_cuts_are_seen(made, tmp_path, monkeypatch):
    fill(made, 300)
    write = exports.write_tiles

    def checkpoint_first(folder, reader, tree, size, old):
        exports._replace(folder, folder / "checkpoint", signed(made, size, tree.root()).encode())
        return write(folder, reader, tree, size, old)

    monkeypatch.setattr(exports, "write_tiles", checkpoint_first)
    key = signing_key(made).verifier
    export(made, tmp_path / "log")
    assert whole(tmp_path / "log", key) == 300
    fill(made, 600)
    with monkeypatch.context() as patch:
        cut_at(patch, 3)
        with pytest.raises(CutOffError):
            export(made, tmp_path / "log")
    with pytest.raises(FileNotFoundError):
        whole(tmp_path / "log", key)


def durable(trace: list[tuple[str, str]], folder: Path) -> list[str]:
    """What a power cut could take away although the checkpoint covers it.

    A name needs its file synced before, and its folder synced after it got the name and before
    the checkpoint gets its own.
    """
    synced: set[str] = set()
    open_names: set[str] = set()
    faults = []
    for do, what in trace:
        if do == "sync":
            synced.add(what)
            open_names = {name for name in open_names if str(Path(name).parent) != what}
        else:
            if str(folder / ".part") not in synced:
                faults.append(f"{what} was not synced")
            synced.discard(str(folder / ".part"))
            if what == str(folder / "checkpoint"):
                faults += [f"the name of {name} was not synced" for name in sorted(open_names)]
            open_names.add(what)
    return faults + [f"the name of {name} was not synced" for name in sorted(open_names)]


def traced(settings: Settings, folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    trace: list[tuple[str, str]] = []
    sync, replace, mkdir = os.fsync, Path.replace, Path.mkdir

    def noted_sync(descriptor):
        trace.append(("sync", str(Path(f"/proc/self/fd/{descriptor}").readlink())))
        sync(descriptor)

    def noted_replace(self, target):
        trace.append(("name", str(target)))
        return replace(self, target)

    made: list[str] = []

    def noted_mkdir(self, *args, **more):
        mkdir(self, *args, **more)
        made.append(str(self))

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", noted_sync)
        patch.setattr(Path, "replace", noted_replace)
        patch.setattr(Path, "mkdir", noted_mkdir)
        export(settings, folder)
    end = trace.index(("name", str(folder / "checkpoint")))
    early = {what for do, what in trace[:end] if do == "sync"}
    faults = durable(trace, folder)
    return faults + [name for name in made if str(Path(name).parent) not in early]


def test_all_is_durable_before_the_checkpoint(made, tmp_path, monkeypatch):
    """Spec: LOG-12."""
    for size in (300, 600):
        fill(made, size)
        assert traced(made, tmp_path / "to" / "log", monkeypatch) == []


def test_control_a_sync_that_is_left_out_is_seen(made, tmp_path, monkeypatch):
    fill(made, 300)
    with monkeypatch.context() as patch:
        patch.setattr(exports, "sync_folder", lambda _: None)
        assert len(traced(made, tmp_path / "one", monkeypatch)) > 5

    def careless(folder, path, content):
        (folder / ".part").write_bytes(content)
        (folder / ".part").replace(path)

    monkeypatch.setattr(exports, "_replace", careless)
    faults = traced(made, tmp_path / "two", monkeypatch)
    assert f"{tmp_path}/two/checkpoint was not synced" in faults
