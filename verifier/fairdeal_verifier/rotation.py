"""The keys that one log has had, one after the other. Spec: LOG-26, LOG-27, LOG-32."""

import json
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from fairdeal_verifier import log_events
from fairdeal_verifier.ed25519 import verify_signature
from fairdeal_verifier.encoding import (
    FormatError,
    UnreadableError,
    read_json,
)
from fairdeal_verifier.note import Checkpoint, LogKey, Receipt

FORMAT = "fairdeal-rotations/1"
MAX_ROTATIONS = 1000


@dataclass(frozen=True, slots=True)
class Rotated:
    """The event by which a log's key changes.

    Attributes:
        raw: Its bytes.
        origin: The log's.
        old: The key before it.
        new: The key after it.
        size: How many entries are before it.
        root: Of these.
    """

    raw: bytes
    origin: str
    old: LogKey
    new: LogKey
    size: int
    root: bytes
    message: bytes
    signatures: tuple[bytes, bytes]

    @classmethod
    def parse(cls, text: str) -> "Rotated":
        """Reads the event.

        Raises:
            UnreadableError: It is of another version.
            FormatError: It is another event, or none. Spec: EVT-4
        """
        step = log_events.parse(text)
        if step.type != "log.rotated":
            raise FormatError("an entry is no log.rotated")
        body = step.body
        return cls(
            step.raw,
            body["origin"],
            LogKey.parse(body["old_key"]),
            LogKey.parse(body["new_key"]),
            body["size"],
            bytes.fromhex(body["root"]),
            log_events.signed_message("rotate", body),
            (bytes.fromhex(body["sigs"]["old"]), bytes.fromhex(body["sigs"]["new"])),
        )

    def fault(self) -> str:
        """Says what is wrong with it, wherever it stands, or "". Spec: LOG-26."""
        if not self.origin == self.old.name == self.new.name:
            return "a key of log.rotated is of another origin"
        if self.old.public_key == self.new.public_key:
            return "the new key of log.rotated is the old one"
        for key, name, signature in zip(
            (self.old, self.new), ("old", "new"), self.signatures, strict=True
        ):
            if not verify_signature(key.public_key, self.message, signature):
                return f"the {name} key has not signed log.rotated"
        return ""


@dataclass(frozen=True, slots=True)
class Rotation:
    """A change of a log's key, and the proof that the log has it.

    Attributes:
        event: The change.
        receipt: Against the first checkpoint that covers it, which the new key has signed.
        texts: Both as they were read.
    """

    event: Rotated
    receipt: Receipt
    texts: tuple[str, str]

    @classmethod
    def parse(cls, entry: str, receipt: str) -> "Rotation":
        """Reads a change that is good by itself and by its receipt.

        Raises:
            UnreadableError: It is of another version.
            FormatError: It is none. Spec: LOG-32
        """
        event, proof = Rotated.parse(entry), Receipt.parse(receipt)
        fault = event.fault()
        if fault:
            raise FormatError(fault)
        if proof.index != event.size or not proof.includes(event.raw):
            raise FormatError("the receipt of a log.rotated does not include it at its size")
        if proof.checkpoint.size <= event.size or not proof.checkpoint.is_signed_by(event.new):
            raise FormatError("the receipt of a log.rotated is not signed by its new key")
        return cls(event, proof, (entry, receipt))

    @property
    def note(self) -> bytes:
        """The receipt's checkpoint, signed."""
        return self.texts[1].partition("\n\n")[2].encode()

    def to_json(self) -> dict[str, str]:
        """Gives it as LOG-32 has it."""
        return {"entry": self.texts[0], "receipt": self.texts[1]}


def lead(members: Any) -> tuple[Rotation, ...]:  # noqa: ANN401 (JSON is anything)
    """Reads a list of rotations that lead from one key to the next.

    Raises:
        UnreadableError: It is no list of rotations, or one is of another version.
        FormatError: They do not lead from one to the next.

    Spec: LOG-32
    """
    if not is_list(members):
        raise UnreadableError("rotations is not a list of entries and receipts")
    rotations: list[Rotation] = []
    had: set[bytes] = set()
    for one in members:
        rotation = Rotation.parse(one["entry"], one["receipt"])
        event = rotation.event
        if rotations:
            before = rotations[-1]
            if event.old != before.event.new:
                raise FormatError("a log.rotated does not go on from the key before it")
            if before.receipt.checkpoint.size > event.size:
                raise FormatError("the receipt of a log.rotated is later than the next one")
        had.add(event.old.public_key)
        if event.new.public_key in had:
            raise FormatError("a log.rotated goes back to a key that the log has had")
        rotations.append(rotation)
    return tuple(rotations)


def is_list(members: Any) -> bool:  # noqa: ANN401 (JSON is anything)
    """Says if this is a list of rotations by its shape."""
    return (
        type(members) is list
        and len(members) <= MAX_ROTATIONS
        and all(
            type(one) is dict and type(one.get("entry")) is str and type(one.get("receipt")) is str
            for one in members
        )
    )


def served(data: bytes) -> tuple[Rotation, ...]:
    """Reads what `/log/rotations` serves, and tells what is not it from what is not good.

    Raises:
        UnreadableError: It is not that, or of another version.
        FormatError: It does not lead from one key to the next. Spec: LOG-32
    """
    _, value = read_json(data)
    if type(value) is not dict or value.get("format") != FORMAT:
        raise UnreadableError(f"the rotations are not of the format {FORMAT}")
    return lead(value.get("rotations"))


def read_rotations(data: bytes) -> tuple[Rotation, ...]:
    """Reads what `/log/rotations` serves.

    Raises:
        UnreadableError: It is not that, or does not lead from one key to the next. Spec: VER-8
    """
    try:
        return served(data)
    except FormatError as error:
        raise UnreadableError(f"the rotations do not lead anywhere: {error}") from None


def write_rotations(rotations: Sequence[Rotation]) -> bytes:
    """Writes what `read_rotations` reads."""
    value = {"format": FORMAT, "rotations": [one.to_json() for one in rotations]}
    return json.dumps(value, ensure_ascii=False, indent=1, sort_keys=True).encode() + b"\n"


@dataclass(frozen=True, slots=True)
class Keys:
    """The keys of one log, all of which one of them vouches for.

    Attributes:
        keys: The first one first.
        rotations: Between them.
    """

    keys: tuple[LogKey, ...]
    rotations: tuple[Rotation, ...] = ()

    @classmethod
    def of(cls, trusted: LogKey, rotations: Sequence[Rotation] = ()) -> "Keys":
        """Takes the keys that a trusted one leads to; if it leads nowhere, it is the only one.

        Spec: VER-8, AUD-9
        """
        keys = [one.event.old for one in rotations[:1]] + [one.event.new for one in rotations]
        return cls(tuple(keys), tuple(rotations)) if trusted in keys else cls((trusted,))

    @property
    def name(self) -> str:
        """The log's origin."""
        return self.keys[0].name

    def at(self, size: int) -> LogKey:
        """Gives the key in force for checkpoints of a size. Spec: LOG-27."""
        return self.keys[bisect_left(self.rotations, size, key=lambda one: one.event.size)]

    def ended_between(self, start: int, index: int) -> int:
        """Gives where a key has ended between two entries, or -1. Spec: LOG-28."""
        if not self.rotations:
            return -1
        at = bisect_left(self.rotations, start, key=lambda one: one.event.size)
        ends = [one.event.size for one in self.rotations[at : at + 1]]
        return ends[0] if ends and start < ends[0] < index else -1

    def have_signed(self, head: Checkpoint) -> bool:
        """Says if the key in force at its size has signed a checkpoint. Spec: LOG-27."""
        return head.is_signed_by(self.at(head.size))
