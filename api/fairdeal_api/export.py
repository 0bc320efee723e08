"""The public log as plain static files, for a web server or a disk of somebody else's.

It only reads the data folder, so it may run beside the service, again and again: a later export
adds what is new. What it writes leads to a checkpoint that may be shown, cosigned if there are
witnesses, and never past it.
Spec: LOG-10..13.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from fairdeal.encoding import encode, parse_time
from fairdeal.errors import FairdealError
from fairdeal.log.checkpoint import Checkpoint
from fairdeal.log.keys import LogKeys
from fairdeal.log.tiles import WIDTH, Tile, entry_bundle, hash_tile, tiles_of
from fairdeal.log.tree import LogTree
from fairdeal.merkle import Tree, leaf_hash
from fairdeal_api import stopping
from fairdeal_api.anchor import Anchor, verify_start
from fairdeal_api.keyring import log_keys, published
from fairdeal_api.service import database_path, verify_origin
from fairdeal_api.settings import Settings
from fairdeal_api.store.reading import SQLiteReader
from fairdeal_api.store.sqlite import check_library
from fairdeal_api.system import StartRefused, lies_in, sync_folder, wall_clock
from fairdeal_api.witnessing.kept import kept

CHECKPOINT: Final = "checkpoint"
ROTATIONS: Final = "rotations"
_PART: Final = ".part"
_FILE_MODE: Final = 0o644
_FOLDER_MODE: Final = 0o755


@dataclass(frozen=True, slots=True)
class Exported:
    """What an export has done. `old` is the size of the one before it, if there was one."""

    size: int
    old: int | None
    written: int


def export(settings: Settings, folder: Path) -> Exported:
    """Write the log into a folder, or what is new of it.

    Args:
        settings: Whose log. The service may be running.
        folder: Where to; it is made if it is not there.

    Raises:
        StartRefused: The folder holds another log, or one that this log does not extend; or the
            database is not what the anchor has seen.
        OSError: A file cannot be written. The old checkpoint stands, all its tiles are there.
    """
    check_library()
    path = database_path(settings)
    if lies_in(folder, settings.data):
        raise StartRefused(f"{folder} lies in the data folder, which is nobody else's to read.")
    reader = SQLiteReader(path)
    try:
        keys = _keys(reader, settings)
        # The anchor first: beside a running service the database is never behind it.
        anchor = Anchor(settings.anchor_path, moves=False)
        with contextlib.closing(anchor):
            released = anchor.load(keys)
        tree = LogTree(reader.leaves())
        verify_start(tree, released)
        with locked(folder):
            old = _previous(folder, keys, tree, released)
            cosigned = _cosigned(settings, reader, tree, released, old)
            head, text = cosigned or (released, anchor.note)
            written = write_tiles(folder, reader, tree, head.size, old)
            _write_rotations(folder, reader, tree, head.size)
            note = text.encode()
            target = folder / CHECKPOINT
            if not target.exists() or target.read_bytes() != note:
                _replace(folder, target, note)
                sync_folder(folder)
    finally:
        reader.close()
    return Exported(head.size, old, written)


def _keys(reader: SQLiteReader, settings: Settings) -> LogKeys:
    verify_origin(reader.identity(), settings)
    return log_keys(reader)


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """One export at a time: the slower of two would put an older checkpoint in place."""
    for changed in _make_folders(folder):
        sync_folder(changed)
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        _drop_part(folder)
        yield
    except BlockingIOError:
        raise StartRefused(f"Another export is writing to {folder}.") from None
    finally:
        os.close(descriptor)


def _previous(folder: Path, keys: LogKeys, tree: Tree, released: Checkpoint) -> int | None:
    """The size that the folder holds, if this log extends it. Spec: LOG-13."""
    path = folder / CHECKPOINT
    try:
        held = keys.open(path.read_bytes().decode("utf-8"))
    except FileNotFoundError:
        return None
    except (FairdealError, UnicodeDecodeError):
        raise StartRefused(
            f"{path} is not a checkpoint that {keys.current}, or the key before it, has signed; "
            "another log's folder is not written to."
        ) from None
    if held.size > released.size:
        raise StartRefused(
            f"{path} is of {held.size} entries and the log has {released.size}: one of the two "
            "was rolled back. Nothing was written."
        )
    if tree.root(held.size) != held.root:
        raise StartRefused(
            f"{path} is of {held.size} entries, and the first {held.size} of the log's "
            f"{released.size} are others: the two are a fork under one key. Nothing was written."
        )
    return held.size


def _cosigned(
    settings: Settings, reader: SQLiteReader, tree: Tree, released: Checkpoint, old: int | None
) -> tuple[Checkpoint, str] | None:
    """The head with its cosignatures that is to be exported, if there is one.

    Spec: LOG-10, WIT-8
    """
    found = kept(settings.data, log_keys(reader), tree)
    if found is None or not (old or 0) <= found[0].size <= released.size:
        return None
    if found[0].size < released.size:
        # The log has gone on beyond it when it got the next entry: the service waits no longer.
        (next_entry,) = reader.entries(found[0].size, found[0].size + 1)
        waited = wall_clock() - parse_time(json.loads(next_entry).get("at"))
        if waited > 1000 * settings.witness_patience:
            return None
    return found


class Entries(Protocol):
    """Gives entries of a log by their indices."""

    def entries(self, start: int, end: int) -> list[bytes]:
        """From one up to, and without, another."""


def write_file(path: Path, content: bytes) -> None:
    """A new public file, and the folders above it."""
    for changed in _make_folders(path.parent):
        sync_folder(changed)
    _replace(path.parent, path, content)
    sync_folder(path.parent)


def write_tiles(folder: Path, reader: Entries, tree: Tree, size: int, old: int | None) -> int:
    """Write what is not there, and make its names durable. Spec: LOG-11, LOG-12."""
    written = 0
    folders: set[Path] = set()
    for tile in tiles_of(size):
        path = folder / tile.path
        there = path.exists()
        if there and tile.exists(old or 0):
            continue  # written before the checkpoint that is in place, and for good
        content = _content(reader, tree, tile)
        if there:
            # From an export that did not get to its checkpoint; or from nobody knows where.
            if path.read_bytes() != content:
                raise StartRefused(
                    f"{path} is there with another content, and tiles are never changed. "
                    "Export into a new folder."
                )
        else:
            folders |= _make_folders(path.parent)
            _replace(folder, path, content)
            written += 1
        folders.add(path.parent)
    for made in sorted(folders):
        sync_folder(made)
    return written


def _write_rotations(folder: Path, reader: SQLiteReader, tree: Tree, size: int) -> None:
    """What leads to the key of the checkpoint, before the checkpoint. Spec: LOG-32."""
    document = published(reader, tree, size)
    if document["rotations"]:
        content = encode(document) + b"\n"
        target = folder / ROTATIONS
        if not target.exists() or target.read_bytes() != content:
            _replace(folder, target, content)
            sync_folder(folder)


def _content(reader: Entries, tree: Tree, tile: Tile) -> bytes:
    if tile.level >= 0:
        return hash_tile(tree, tile)
    start = tile.number * WIDTH
    entries = reader.entries(start, start + tile.width)
    if [leaf_hash(entry) for entry in entries] != tree.levels[0][start : start + tile.width]:
        raise StartRefused(
            f"Among the entries {start} to {start + tile.width - 1} are bytes that are not those "
            "that were hashed; `fairdeal fsck` says more."
        )
    return entry_bundle(entries)


def _make_folders(path: Path) -> set[Path]:
    """Make a folder and those above it; gives the ones that have got a new name in them."""
    changed = set()
    missing = []
    while not path.exists():
        missing.append(path)
        path = path.parent
    for folder in reversed(missing):
        with stopping.whole():
            folder.mkdir()
            folder.chmod(_FOLDER_MODE)  # whatever the umask
        changed.add(folder.parent)
    return changed


def _replace(folder: Path, path: Path, content: bytes) -> None:
    """A whole file, or none: written aside, made durable, then named."""
    part = folder / _PART
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
    with stopping.whole():
        try:
            with os.fdopen(os.open(part, flags, 0o600), "wb") as file:
                file.write(content)
                file.flush()
                os.fchmod(file.fileno(), _FILE_MODE)
                os.fsync(file.fileno())
            part.replace(path)
        except OSError:
            _drop_part(folder)
            raise


def _drop_part(folder: Path) -> None:
    """Remove what stands aside; it may be of an export that was cut off."""
    with contextlib.suppress(OSError):
        (folder / _PART).unlink()
