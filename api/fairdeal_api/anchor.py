"""The last checkpoint that may be shown, kept outside the database, and what a start makes of it.

A database restored from its backup is a shorter log that looks whole. Only something that was
not restored with it can tell: signing on from there would make two logs under one key.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final, Protocol

from fairdeal.errors import FairdealError
from fairdeal.log.checkpoint import Checkpoint
from fairdeal.log.keys import LogKeys
from fairdeal.merkle import Tree
from fairdeal_api.system import (
    EXIT_LOST,
    Overtaken,
    StartRefused,
    create_file,
    replace_file,
    sync_folder,
)

SLOT: Final = 4096
_SLOTS: Final = 2
_PATIENCE: Final = 5.0


class Opens(Protocol):
    """Reads checkpoints that a log's keys have signed, each in force at its size."""

    def open(self, note: str, *, lone: bool = False) -> Checkpoint:
        """Read one. Spec: LOG-27."""


class AnchorMoved(Overtaken):
    """Somebody else has changed the anchor."""


def _slot(note: str) -> bytes:
    content = note.encode()
    if len(content) > SLOT:
        raise ValueError("a checkpoint does not fit")
    return content.ljust(SLOT, b"\n")


class Anchor:
    """A file with the last two checkpoints, moved by compare-and-set.

    A checkpoint is written over the older one, in place: no new blocks and no new names, so one
    `fdatasync` makes it durable, which is what the hot path waits for. A write that a crash has
    torn does not carry the log's signature, and the other slot still holds what was shown last.
    """

    def __init__(self, path: Path, *, moves: bool = True) -> None:
        """Nothing is read or written yet.

        Args:
            path: The file.
            moves: Whether it is to be moved; it may be on a read-only disk if it is not.
        """
        self.path = path
        self._flags = os.O_NOFOLLOW | os.O_CLOEXEC | (os.O_RDWR if moves else os.O_RDONLY)
        self._descriptor = -1
        self._file: os.stat_result
        """Which file is open; after `load`."""
        self._content = b""
        self._newest = 0

    def create(self, note: str) -> None:
        """Write the first checkpoint.

        Raises:
            StartRefused: There is an anchor, which belongs to some log.
            OSError: It cannot be written. Nothing is there then.
        """
        if self.path.exists() or self.path.is_symlink():
            raise StartRefused(f"The anchor {self.path} is there already and is never overwritten.")
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        create_file(self.path, _slot(note) * _SLOTS)

    def load(self, keys: Opens) -> Checkpoint:
        """Read the newest checkpoint that is kept, and keep the file open. Spec: LOG-21.

        Args:
            keys: The log's.

        Raises:
            StartRefused: There is nothing, or nothing that this log has signed.
        """
        try:
            if self._descriptor < 0:
                self._descriptor = os.open(self.path, self._flags)
                self._file = os.fstat(self._descriptor)
            self._content = os.pread(self._descriptor, SLOT * _SLOTS, 0)
        except OSError as error:
            raise StartRefused(
                f"The anchor {self.path} cannot be read ({error.strerror}). Without it nobody can "
                "tell whether the database is the newest; it is never made anew. `--anchor` says "
                "where it is, if that is elsewhere."
            ) from None
        found: list[tuple[int, int, Checkpoint]] = []
        for number in range(_SLOTS):
            text = self._content[SLOT * number : SLOT * (number + 1)].rstrip(b"\n") + b"\n"
            with contextlib.suppress(FairdealError, UnicodeDecodeError):
                checkpoint = keys.open(text.decode("utf-8"), lone=True)
                found.append((checkpoint.size, number, checkpoint))
        if not found:
            raise StartRefused(f"The anchor {self.path} holds no checkpoint of this log.")
        _, self._newest, newest = max(found, key=lambda item: item[:2])
        return newest

    @property
    def note(self) -> str:
        """The newest checkpoint that is kept, as it was signed; after `load`."""
        slot = self._content[SLOT * self._newest : SLOT * (self._newest + 1)]
        return slot.rstrip(b"\n").decode("utf-8") + "\n"

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """Let nobody else move it meanwhile, after whoever is about to.

        Raises:
            StartRefused: Somebody is in the middle of it and does not go on.
        """
        until = time.monotonic() + _PATIENCE
        while True:
            try:
                fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() >= until:
                    raise StartRefused(
                        f"Another process has stopped in the middle of writing {self.path}; "
                        "end it first.",
                        EXIT_LOST,
                    ) from None
                time.sleep(0.005)
        try:
            yield
        finally:
            fcntl.flock(self._descriptor, fcntl.LOCK_UN)

    def move(self, note: str) -> None:
        """Replace the older checkpoint, if the file is as this process left it. Spec: LOG-21.

        Raises:
            AnchorMoved: It is not, or somebody else is about to change it.
            OSError: The result is unknown.
        """
        # Between looking and writing a process may sleep for hours: nobody may move it then.
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise AnchorMoved from None
        try:
            self.replace(note)
        finally:
            fcntl.flock(self._descriptor, fcntl.LOCK_UN)

    def replace(self, note: str) -> None:
        """The same, by whoever holds it.

        Raises:
            AnchorMoved: The file is not as this process left it.
            OSError: The result is unknown.
        """
        if not os.path.samestat(self.path.stat(), self._file) or (
            os.pread(self._descriptor, SLOT * _SLOTS, 0) != self._content
        ):
            raise AnchorMoved
        number, slot = 1 - self._newest, _slot(note)
        if os.pwrite(self._descriptor, slot, SLOT * number) != SLOT:
            raise OSError(errno.EIO, "half written", str(self.path))
        os.fdatasync(self._descriptor)
        slots = [self._content[:SLOT].ljust(SLOT, b"\n"), self._content[SLOT:].ljust(SLOT, b"\n")]
        slots[number] = slot
        self._content, self._newest = b"".join(slots), number

    @property
    def seen_path(self) -> Path:
        """Where a checkpoint is kept that somebody has presented and the log does not extend."""
        return self.path.with_name(self.path.name + ".seen")

    def keep_seen(self, note: str) -> None:
        """Keep such a checkpoint: no start will go past it. Spec: LOG-22."""
        if not self.seen_path.exists():
            replace_file(self.seen_path, note.encode())

    def verify_seen(self, tree: Tree, keys: LogKeys) -> None:
        """Hold the database's log against such a checkpoint, if there is one. Spec: LOG-22.

        Raises:
            StartRefused: The log does not extend it.
        """
        try:
            found = keys.signer(self.seen_path.read_text("utf-8"))
        except FileNotFoundError:
            return
        except (OSError, ValueError):
            found = None
        if found is None:
            raise StartRefused(f"{self.seen_path} holds no checkpoint of this log.")
        signer, checkpoint = found
        verify_start(tree, checkpoint, f"checkpoint in {self.seen_path}")
        if keys.at(checkpoint.size) != signer:
            raise StartRefused(
                f"The checkpoint in {self.seen_path} is of {checkpoint.size} entries, for which "
                "another key than the one that has signed it is the log's."
            )

    def forget_seen(self) -> None:
        """The log extends it now."""
        if self.seen_path.exists():
            self.seen_path.unlink()
            sync_folder(self.path.parent)

    def close(self) -> None:
        """Let go of the file."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


def verify_start(tree: Tree, anchored: Checkpoint, what: str = "anchor") -> bool:
    """Hold the database's log against the anchor. Spec: LOG-21.

    Args:
        tree: The log, rebuilt from the database.
        anchored: What the anchor has seen.
        what: Who has seen it.

    Returns:
        Whether the anchor has to catch up: the process died between commit and anchor.

    Raises:
        StartRefused: The database is not the log that the anchor has seen. Spec: LOG-7.
    """
    size = len(tree)
    if anchored.size > size:
        raise StartRefused(
            f"The database holds {size} entries and the {what} has seen {anchored.size}: "
            "it was rolled back, for example by restoring a backup. Signing on would fork the log."
        )
    if tree.root(anchored.size) != anchored.root:
        raise StartRefused(
            f"The database's first {anchored.size} of {size} entries are not those that the "
            f"{what} has seen: history was rewritten."
        )
    return anchored.size < size
