"""Backups: a consistent copy of the databases, with a manifest that says how long the log was.

Never the keys, which would make every backup worth stealing, and never the anchor: restored with
the database it could no longer tell that the database is old. Spec: LOG-23.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import apsw

from fairdeal.errors import FairdealError
from fairdeal.log.note import VerifierKey
from fairdeal_api import fsck, stopping, system
from fairdeal_api.keyring import log_keys
from fairdeal_api.sealing import Sealer
from fairdeal_api.service import DATABASE, OPERATORS, database_path
from fairdeal_api.settings import Settings
from fairdeal_api.store.reading import SQLiteReader, connect
from fairdeal_api.store.sqlite import check_library, is_older
from fairdeal_api.system import StartRefused

FORMAT: Final = "fairdeal-backup/1"
MANIFEST: Final = "manifest.json"
_CHUNK: Final = 1 << 20
_PAGES: Final = 4096
_PART: Final = re.compile(r".+\.[a-z0-9_]{8}\.part")
"""A folder that is being filled, as `mkdtemp` names it."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a backup is of.

    Attributes:
        origin: Of the log.
        log_key: The vkey in force at its size.
        sealing_id: Names the sealing key that its seeds open with.
        size: Entries.
        root: Over them, hex.
        checkpoint: The signed note of this size; null of an empty log.
        at: When it was made, ms since 1970.
        files: SHA-256 of each file, hex.
        format: Of this file.
    """

    origin: str
    log_key: str
    sealing_id: str
    size: int
    root: str
    checkpoint: str | None
    at: int
    files: dict[str, str]
    format: str = FORMAT

    @classmethod
    def read(cls, folder: Path) -> Manifest:
        """Read a backup's manifest.

        Raises:
            StartRefused: There is none, or it is not one.
        """
        path = folder / MANIFEST
        try:
            value: dict[str, Any] = json.loads(path.read_text("utf-8"))
            manifest = cls(**value)
            texts = [manifest.origin, manifest.log_key, manifest.sealing_id, manifest.root]
            texts += [manifest.checkpoint or "", *manifest.files.values()]
            if not all(isinstance(text, str) for text in texts):
                raise TypeError
            names = set(manifest.files)
        except OSError as error:
            raise StartRefused(f"{path} cannot be read ({error.strerror}).") from None
        except (ValueError, TypeError, AttributeError):
            raise StartRefused(f"{path} is not the manifest of a backup.") from None
        if manifest.format != FORMAT or names != {DATABASE, OPERATORS}:
            raise StartRefused(f"{path} is not the manifest of a backup that this version knows.")
        return manifest


def create(settings: Settings, target: Path) -> Manifest:
    """Copy the databases, beside a service that may be running. Spec: LOG-23.

    Args:
        settings: Whose.
        target: A folder that is not there yet; it becomes the owner's alone.

    Raises:
        StartRefused: There is nothing to copy, or something at the target.
        OSError, apsw.Error: A file cannot be read or written. What was copied is removed again.
    """
    check_library()
    if target.exists() or target.is_symlink():
        raise StartRefused(f"{target} is there already and is never overwritten.")
    database_path(settings)
    if not (settings.data / OPERATORS).exists():
        raise StartRefused(f"There is no database {settings.data / OPERATORS}.")
    target.parent.mkdir(parents=True, exist_ok=True)
    with contextlib.ExitStack() as undo:
        with stopping.whole():
            part = _begin(target, undo)
        manifest = _fill(settings, part)
        stopping.too_late()
        try:
            part.rename(target)
        except OSError as error:
            raise StartRefused(f"{target} cannot be made ({error.strerror}).") from None
        system.sync_folder(target.parent)
    return manifest


def _begin(target: Path, undo: contextlib.ExitStack) -> Path:
    """An empty folder beside the target, locked as long as it is being filled.

    Its name is one that nobody has: two backups at once, or a folder of somebody's, are not in the
    way. How to remove it is left in `undo`.
    """
    while True:
        part = Path(tempfile.mkdtemp(prefix=f"{target.name}.", suffix=".part", dir=target.parent))
        with contextlib.suppress(FileNotFoundError, BlockingIOError):
            descriptor = os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            undo.callback(os.close, descriptor)
            _lock(descriptor)
            if part.exists():
                undo.callback(_remove, part)
                return part
        # Taken for one that was left, before it was locked. There are not many who look.


def _lock(descriptor: int) -> bool:
    """Lock a folder; whether that is possible there, which it is not on some network disks.

    Raises:
        BlockingIOError: Another process has locked it.
    """
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise
    except OSError:
        return False
    return True


def _remove(part: Path) -> None:
    with stopping.whole():
        shutil.rmtree(part, ignore_errors=True)


def remove_left(folder: Path) -> Iterator[tuple[Path, bool]]:
    """Remove what backups that were cut off, by a kill or a crash, have left in a folder.

    What is somebody else's, or is being filled, is left alone. Gives the folders, and whether each
    is gone: where nothing can be locked, nobody can tell it from one that is being filled.
    """
    for part in sorted(folder.glob("*.part")):
        with contextlib.suppress(OSError), contextlib.ExitStack() as undo:
            if not _PART.fullmatch(part.name) or not _is_ours(part):
                continue
            descriptor = os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
            undo.callback(os.close, descriptor)
            if is_free := _lock(descriptor):
                _remove(part)
            yield part, is_free and not part.exists()


def _is_ours(part: Path) -> bool:
    """Whether a folder holds nothing but what a backup is made of, and is this user's alone."""
    status = part.lstat()
    return (
        status.st_uid == os.geteuid()
        and not status.st_mode & 0o077
        and all(path.name.startswith((OPERATORS, DATABASE, MANIFEST)) for path in part.iterdir())
    )


def _fill(settings: Settings, part: Path) -> Manifest:
    """What is in a backup."""
    files = {}
    for name in (OPERATORS, DATABASE):
        _copy(settings.data / name, part / name)
        files[name] = digest_of(part / name)
    # What the copy holds is what the manifest names, whatever has been written meanwhile.
    reader = SQLiteReader(part / DATABASE)
    try:
        identity, head, keys = reader.identity(), reader.head(), log_keys(reader)
        note = reader.checkpoint(head.size)
    finally:
        reader.close()
    manifest = Manifest(
        identity.origin,
        str(keys.current),
        identity.sealing_id,
        head.size,
        head.root.hex(),
        note,
        system.wall_clock(),
        files,
    )
    system.replace_file(part / MANIFEST, json.dumps(asdict(manifest), indent=1).encode() + b"\n")
    return manifest


def _copy(source: Path, target: Path) -> None:
    """One moment of a database, by SQLite's own means, as one file."""
    target.touch(0o600, exist_ok=False)
    reading = connect(source)
    writing = apsw.Connection(str(target), flags=apsw.SQLITE_OPEN_READWRITE)
    try:
        # One moment, of which a transaction of the reader holds on; in steps, between which the
        # command can be stopped.
        reading.execute("BEGIN")
        reading.execute("SELECT 1 FROM sqlite_schema").fetchall()
        with writing.backup("main", reading, "main") as copying:
            while not copying.done:
                copying.step(_PAGES)
        writing.pragma("journal_mode", "delete")
    finally:
        writing.close()
        reading.close()
    system.sync_file(target)


def digest_of(path: Path) -> str:
    """SHA-256 of a file, hex."""
    found = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            found.update(chunk)
    return found.hexdigest()


@dataclass(slots=True)
class Verified:
    """A backup that was looked at."""

    manifest: Manifest
    report: fsck.Report
    replayed: fsck.Replayed


def verify(folder: Path, key: VerifierKey | None, sealer: Sealer | None = None) -> Verified:
    """Recompute a backup's whole log from its stored bytes. Spec: LOG-23, LOG-25.

    Args:
        folder: The backup.
        key: One of the log's, from elsewhere; None takes the one that the backup names.
        sealer: Opens what is sealed as well, unless the backup is of an older version's form.

    Raises:
        StartRefused: It is not a backup at all.
    """
    check_library()
    manifest = Manifest.read(folder)
    try:
        named = VerifierKey.parse(manifest.log_key)
    except FairdealError:
        raise StartRefused(f"{folder / MANIFEST} names no key of a log.") from None
    for name in manifest.files:
        if not (folder / name).is_file():
            raise StartRefused(f"The backup {folder} has no {name}.")
    faults = [
        f"{name} is not the file that the manifest names."
        for name, digest in manifest.files.items()
        if digest_of(folder / name) != digest
    ]
    try:
        reader = SQLiteReader(folder / DATABASE)
        try:
            if is_older(reader, folder / DATABASE):
                sealer = None  # a restore brings up its copy, and opens everything then
            report, replayed = fsck.examine(reader, key or named, sealer)
            sealing_id = reader.identity().sealing_id
        finally:
            reader.close()
    except apsw.Error as error:
        raise StartRefused(
            f"{folder / DATABASE} cannot be read ({type(error).__name__})."
        ) from None
    report.faults[:0] = faults
    tree = replayed.tree
    if replayed.keys.current != named:
        report.fault("The manifest names another key than the one in force.")
    if manifest.sealing_id != sealing_id:
        report.fault("The manifest names another sealing key than its database.")
    if (manifest.size, manifest.root) != (len(tree), tree.root().hex()):
        report.fault(f"The manifest names {manifest.size} entries; {len(tree)} are here.")
    if manifest.size:
        try:
            checkpoint = replayed.keys.open(manifest.checkpoint or "", lone=True)
            if (checkpoint.size, checkpoint.root) != (len(tree), tree.root()):
                report.fault("The manifest's checkpoint is of another log.")
        except FairdealError:
            report.fault("The manifest's checkpoint is not signed by the log.")
    return Verified(manifest, report, replayed)


def whole(folder: Path, sealer: Sealer | None = None) -> Verified:
    """A backup to go on from.

    Raises:
        StartRefused: It is not a backup, or something in it is not as it must be.
    """
    verified = verify(folder, None, sealer)
    if verified.report.faults:
        raise StartRefused(
            f"The backup {folder} is not whole: {verified.report.faults[0]}"
            " `fairdeal backup verify` says more."
        )
    return verified
