"""Backups: a consistent copy of the databases, with a manifest that says how long the log was.

Never the keys, which would make every backup worth stealing, and never the anchor: restored with
the database it could no longer tell that the database is old. Spec: LOG-23.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import apsw

from fairdeal.errors import FairdealError
from fairdeal.log.note import VerifierKey
from fairdeal_api import fsck, system
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
    # Of a name that nobody has: two backups at once, or a folder of somebody's, are not in the way.
    part = Path(tempfile.mkdtemp(prefix=f"{target.name}.", suffix=".part", dir=target.parent))
    try:
        manifest = _fill(settings, part)
        try:
            part.rename(target)
        except OSError as error:
            raise StartRefused(f"{target} cannot be made ({error.strerror}).") from None
        system.sync_folder(target.parent)
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return manifest


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
        with writing.backup("main", reading, "main") as copying:
            copying.step(-1)  # in one go: one transaction of the reader
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
