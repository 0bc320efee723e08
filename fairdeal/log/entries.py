"""Entries of the log that belong to no table: it changes its key, or follows another log.

Like other events they are written once, and know their bytes. Spec: EVT-4, LOG-26, LOG-30.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Final, NamedTuple, Self

from fairdeal.ed25519 import verify_signature
from fairdeal.encoding import (
    MAX_EVENT,
    MAX_INTEGER,
    encode,
    format_time,
    parse,
    parse_time,
    unhex,
)
from fairdeal.errors import FormatError, VerificationError
from fairdeal.hashing import framed_message
from fairdeal.log.checkpoint import Checkpoint
from fairdeal.log.note import SigningKey, VerifierKey

MAX_PARTS: Final = 65_535
_VERSION: Final = "fairdeal/1"
_TABLE: Final = re.compile(r"tbl_[0-9a-hjkmnp-tv-z]{26}")
_MAX_HAND: Final = 2**32 - 1

Lost = tuple[tuple[str, int], ...]
"""Hands, by table and number."""


class LogSignatures(NamedTuple):
    """By the key that goes on, and by the one that ends. `old` is None if that key is lost."""

    new: bytes
    old: bytes | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LogEntry:
    """An event of no table. Subclasses say which fields it has."""

    TYPE: ClassVar[str]
    TAG: ClassVar[str]
    FIELDS: ClassVar[frozenset[str]]

    at: int
    """Milliseconds since 1970."""
    origin: str
    sigs: LogSignatures
    raw: bytes = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        sigs = {"new": self.sigs.new.hex()}
        if self.sigs.old is not None:
            sigs["old"] = self.sigs.old.hex()
        raw = encode(self._members() | {"sigs": sigs})
        if len(raw) > MAX_EVENT:
            raise FormatError("event_too_long", "an event has at most 65,535 bytes")
        object.__setattr__(self, "raw", raw)

    def _members(self) -> dict[str, object]:
        """What is signed."""
        return {
            "v": _VERSION,
            "type": self.TYPE,
            "at": format_time(self.at),
            "origin": self.origin,
        } | self._own()

    def _own(self) -> dict[str, object]:
        raise NotImplementedError

    def message(self) -> bytes:
        """What both keys sign: the entry without its signatures. Spec: TAG-1."""
        return framed_message(self.TAG, encode(self._members()))

    def verify_signatures(self, new: VerifierKey, old: VerifierKey) -> None:
        """Check those that are there.

        Raises:
            VerificationError: `signature_invalid`.
        """
        message = self.message()
        verify_signature(new.key, message, self.sigs.new)
        if self.sigs.old is not None:
            verify_signature(old.key, message, self.sigs.old)


@dataclass(frozen=True, slots=True, kw_only=True)
class LogRotated(LogEntry):
    """The log has another key from here on. Spec: LOG-26."""

    TYPE: ClassVar[str] = "log.rotated"
    TAG: ClassVar[str] = "rotate"
    FIELDS: ClassVar[frozenset[str]] = frozenset({"old_key", "new_key", "size", "root"})

    old_key: VerifierKey
    new_key: VerifierKey
    size: int
    """Of the log before, so the entry's index."""
    root: bytes
    """Of the log before."""

    def _own(self) -> dict[str, object]:
        return {
            "old_key": str(self.old_key),
            "new_key": str(self.new_key),
            "size": self.size,
            "root": self.root.hex(),
        }

    @classmethod
    def make(cls, at: int, size: int, root: bytes, old: SigningKey, new: SigningKey) -> Self:
        """Sign one with both keys."""
        bare = cls(
            at=at,
            origin=old.name,
            sigs=LogSignatures(bytes(64), bytes(64)),
            old_key=old.verifier,
            new_key=new.verifier,
            size=size,
            root=root,
        )
        message = bare.message()
        return replace(bare, sigs=LogSignatures(new.sign_bytes(message), old.sign_bytes(message)))

    @classmethod
    def _read(cls, value: dict[str, Any], at: int, sigs: LogSignatures) -> Self:
        if sigs.old is None:
            raise _malformed("both signatures")
        return cls(
            at=at,
            origin=_text(value["origin"]),
            sigs=sigs,
            old_key=VerifierKey.parse(_text(value["old_key"])),
            new_key=VerifierKey.parse(_text(value["new_key"])),
            size=_integer(value["size"]),
            root=unhex(value["root"], 32),
        )

    def verify(self) -> None:
        """Check what the entry shows by itself.

        Raises:
            VerificationError: `rotation_invalid` or `signature_invalid`. Spec: LOG-26.
        """
        if not self.origin == self.old_key.name == self.new_key.name:
            raise VerificationError("rotation_invalid", "a key of another name than the log's")
        if self.old_key.key == self.new_key.key:
            raise VerificationError("rotation_invalid", "the new key is the old one")
        self.verify_signatures(self.new_key, self.old_key)


@dataclass(frozen=True, slots=True, kw_only=True)
class LogContinued(LogEntry):
    """This log follows another one, which has ended. Spec: LOG-30."""

    TYPE: ClassVar[str] = "log.continued"
    TAG: ClassVar[str] = "continue"
    FIELDS: ClassVar[frozenset[str]] = frozenset(
        {
            "log_key",
            "old_origin",
            "old_key",
            "old_size",
            "old_root",
            "old_sig",
            "kept_size",
            "kept_root",
            "part",
            "parts",
            "lost",
        }
    )

    log_key: VerifierKey
    old_key: VerifierKey
    old: Checkpoint
    """The newest that is known of the old log."""
    old_sig: bytes
    """Its signature by the old key."""
    kept_size: int
    kept_root: bytes
    part: int
    parts: int
    lost: Lost
    """Hands of the old log that were open at `kept_size`."""

    def _own(self) -> dict[str, object]:
        return {
            "log_key": str(self.log_key),
            "old_origin": self.old.origin,
            "old_key": str(self.old_key),
            "old_size": self.old.size,
            "old_root": self.old.root.hex(),
            "old_sig": self.old_sig.hex(),
            "kept_size": self.kept_size,
            "kept_root": self.kept_root.hex(),
            "part": self.part,
            "parts": self.parts,
            "lost": [list(hand) for hand in self.lost],
        }

    def signed(self, new: SigningKey, old: SigningKey | None) -> Self:
        """The same, signed; without the old key if that is lost."""
        message = self.message()
        sigs = LogSignatures(new.sign_bytes(message), old.sign_bytes(message) if old else None)
        return replace(self, sigs=sigs)

    @classmethod
    def _read(cls, value: dict[str, Any], at: int, sigs: LogSignatures) -> Self:
        parts, part = _integer(value["parts"]), _integer(value["part"])
        if not part < parts <= MAX_PARTS:
            raise _malformed("a part of its parts")
        return cls(
            at=at,
            origin=_text(value["origin"]),
            sigs=sigs,
            log_key=VerifierKey.parse(_text(value["log_key"])),
            old_key=VerifierKey.parse(_text(value["old_key"])),
            old=Checkpoint(
                _text(value["old_origin"]),
                _integer(value["old_size"]),
                unhex(value["old_root"], 32),
            ),
            old_sig=unhex(value["old_sig"], 64),
            kept_size=_integer(value["kept_size"]),
            kept_root=unhex(value["kept_root"], 32),
            part=part,
            parts=parts,
            lost=_lost(value["lost"]),
        )

    def verify(self, index: int, before: LogContinued | None = None) -> None:
        """Check it where it stands.

        Args:
            index: In the log.
            before: The entry before it, if that is one as well.

        Raises:
            VerificationError: `continuation_invalid` or `signature_invalid`. Spec: LOG-30.
        """

        def fail(why: str) -> VerificationError:
            return VerificationError("continuation_invalid", why)

        if index != self.part:
            raise fail("it is not where its part belongs")
        if self.origin != self.log_key.name or self.old.origin != self.old_key.name:
            raise fail("a key of another name than its log's")
        if self.origin == self.old.origin or self.log_key.key == self.old_key.key:
            raise fail("the log follows itself")
        if self.kept_size > self.old.size or (
            self.kept_size == self.old.size and self.kept_root != self.old.root
        ):
            raise fail("what was kept is not of the log that ended")
        if (self.part > 0) != (before is not None) or (
            before is not None and not self._follows(before)
        ):
            raise fail("its parts do not follow each other")
        verify_signature(self.old_key.key, self.old.text().encode(), self.old_sig)
        self.verify_signatures(self.log_key, self.old_key)

    def _follows(self, before: LogContinued) -> bool:
        apart = {"at", "part", "lost"}
        mine, other = self._members(), before._members()
        return (
            all(mine[name] == other[name] for name in mine.keys() - apart)
            and (self.sigs.old is None) == (before.sigs.old is None)
            and (not self.lost or not before.lost or before.lost[-1] < self.lost[0])
        )


_ENTRIES: Final[Mapping[str, type[LogRotated | LogContinued]]] = {
    cls.TYPE: cls for cls in (LogRotated, LogContinued)
}
_COMMON: Final = frozenset({"v", "type", "at", "origin", "sigs"})


def parse_log_entry(data: bytes) -> LogRotated | LogContinued:
    """Read an entry of no table strictly.

    Raises:
        FormatError: It is none, or not in the bytes that it has. Spec: ENC-7, EVT-4.
    """
    value = parse(data)
    kind = value.get("type")
    cls = _ENTRIES.get(kind) if isinstance(kind, str) else None
    if cls is None:
        raise _malformed("a known type of entry")
    if value.get("v") != _VERSION:
        raise FormatError("version_unknown", "this version of the protocol is not known")
    if value.keys() != _COMMON | cls.FIELDS:
        raise _malformed("exactly the fields of its type")
    entry = cls._read(value, parse_time(value["at"]), _signatures(value["sigs"]))
    if entry.raw != data:
        raise FormatError(
            "not_canonical", "these are not the bytes that an event with this content has"
        )
    return entry


def _malformed(expected: str) -> FormatError:
    return FormatError("field_malformed", f"expected {expected}")


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise _malformed("a string")
    return value


def _integer(value: object) -> int:
    if type(value) is not int or not 0 <= value <= MAX_INTEGER:
        raise _malformed("an integer of 0 or more")
    return value


def _signatures(value: object) -> LogSignatures:
    if not isinstance(value, dict) or not {"new"} <= value.keys() <= {"new", "old"}:
        raise _malformed("the signatures of the new and the old key")
    return LogSignatures(
        unhex(value["new"], 64), unhex(value["old"], 64) if "old" in value else None
    )


def _lost(value: object) -> Lost:
    if not isinstance(value, list):
        raise _malformed("a list of hands")
    found: list[tuple[str, int]] = []
    for hand in value:
        if (
            not isinstance(hand, list)
            or len(hand) != 2
            or not isinstance(hand[0], str)
            or not _TABLE.fullmatch(hand[0])
            or type(hand[1]) is not int
            or not 1 <= hand[1] <= _MAX_HAND
            or (found and not found[-1] < (hand[0], hand[1]))
        ):
            raise _malformed("hands in ascending order, by table and number")
        found.append((hand[0], hand[1]))
    return tuple(found)
