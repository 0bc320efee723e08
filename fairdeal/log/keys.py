"""The keys that a log has had, and which of them is in force at which size.

Spec: LOG-26..28, LOG-32.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Self

from fairdeal.errors import FairdealError, FormatError, VerificationError
from fairdeal.log.checkpoint import Checkpoint
from fairdeal.log.entries import LogRotated, parse_log_entry
from fairdeal.log.note import VerifierKey
from fairdeal.log.proof import Receipt


@dataclass(frozen=True, slots=True)
class LogKeys:
    """The first key of a log, and the rotations that lead from it to the newest."""

    first: VerifierKey
    rotations: tuple[LogRotated, ...] = ()

    def __iter__(self) -> Iterator[VerifierKey]:
        """All keys, the first one first."""
        yield self.first
        for rotation in self.rotations:
            yield rotation.new_key

    @property
    def origin(self) -> str:
        """The log's; no rotation changes it."""
        return self.first.name

    @property
    def current(self) -> VerifierKey:
        """The one that signs what comes next."""
        return self.rotations[-1].new_key if self.rotations else self.first

    def at(self, size: int) -> VerifierKey:
        """The key in force for checkpoints of a size. Spec: LOG-27."""
        found = self.first
        for rotation in self.rotations:
            if size <= rotation.size:
                break
            found = rotation.new_key
        return found

    def rotate(self, rotation: LogRotated, size: int, root: bytes) -> Self:
        """The keys of the log with one rotation more.

        Args:
            rotation: The entry.
            size: Of the log before it, so its index.
            root: Of the log before it.

        Raises:
            VerificationError: `rotation_invalid` or `signature_invalid`. Spec: LOG-26.
        """
        rotation.verify()
        if (rotation.size, rotation.root) != (size, root):
            raise VerificationError("rotation_invalid", "it is of another tree")
        if rotation.old_key != self.current:
            raise VerificationError("rotation_invalid", "its old key is not the one in force")
        if any(key.key == rotation.new_key.key for key in self):
            raise VerificationError("rotation_invalid", "the log had this key before")
        return type(self)(self.first, (*self.rotations, rotation))

    def verify_terms(self, log_key: str, index: int) -> None:
        """Check that an event may stand where it does: its table's terms name the key in force.

        Args:
            log_key: Of the terms.
            index: Of the event, the terms themselves among them.

        Raises:
            VerificationError: `log_key_not_in_force`. Spec: LOG-28.
        """
        if log_key != str(self.at(index + 1)):
            raise VerificationError("log_key_not_in_force", "the terms name another key")

    def open(self, note: str, *, lone: bool = False) -> Checkpoint:
        """Read a checkpoint that the key in force at its size has signed. Spec: LOG-27.

        Raises:
            FormatError: The note or its text is malformed, or of another origin.
            VerificationError: That key has not signed it.
        """
        text, _, _ = note.partition("\n\n")
        return Checkpoint.open(note, self.at(Checkpoint.parse_text(text + "\n").size), lone=lone)

    def signer(self, note: str) -> tuple[VerifierKey, Checkpoint] | None:
        """Which of the log's keys has signed a checkpoint, in force at its size or not.

        Spec: LOG-22.
        """
        for key in reversed(list(self)):
            try:
                return key, Checkpoint.open(note, key)
            except FairdealError:
                continue
        return None


FORMAT: Final = "fairdeal-rotations/1"
MAX_ROTATIONS: Final = 1000


def rotations_document(rotations: Sequence[tuple[LogRotated, Receipt]]) -> dict[str, object]:
    """What the log publishes of its rotations. Spec: LOG-32."""
    return {
        "format": FORMAT,
        "rotations": [
            {"entry": entry.raw.decode("ascii"), "receipt": receipt.text()}
            for entry, receipt in rotations
        ],
    }


def parse_rotations(value: object) -> LogKeys | None:
    """The keys that a published document leads through; None if it has no rotation.

    Args:
        value: The document, decoded; members that are not known are left alone.

    Raises:
        FormatError: It is none.
        VerificationError: It does not lead from one key to the next. Spec: LOG-32.
    """
    entries = tuple(entry for entry, _ in read_rotations(value))
    return LogKeys(entries[0].old_key, entries) if entries else None


def read_rotations(value: object) -> list[tuple[LogRotated, Receipt]]:
    """The same, as the entries and their receipts."""
    listed = value.get("rotations") if isinstance(value, dict) else None
    if not isinstance(listed, list) or len(listed) > MAX_ROTATIONS:
        raise FormatError("field_malformed", "expected a list of rotations")
    found: list[tuple[LogRotated, Receipt]] = []
    keys: LogKeys | None = None
    end = 0
    for entry, receipt in map(_published, listed):
        if keys is None:
            keys = LogKeys(entry.old_key)
        if entry.size < end:
            raise VerificationError("rotation_invalid", "the one before was shown too late")
        # Its root cannot be seen here; that the log has the entry at its index, the receipt says.
        keys = keys.rotate(entry, entry.size, entry.root)
        end = receipt.verify(entry.raw, entry.new_key).size
        if receipt.index != entry.size:
            raise VerificationError("rotation_invalid", "it is not at its index")
        found.append((entry, receipt))
    return found


def _published(value: object) -> tuple[LogRotated, Receipt]:
    if not isinstance(value, dict):
        raise FormatError("field_malformed", "expected an entry and its receipt")
    raw, text = value.get("entry"), value.get("receipt")
    if not isinstance(raw, str) or not isinstance(text, str):
        raise FormatError("field_malformed", "expected an entry and its receipt")
    entry = parse_log_entry(raw.encode("utf-8", "replace"))
    if not isinstance(entry, LogRotated):
        raise FormatError("field_malformed", "expected a rotation")
    return entry, Receipt.parse(text)
