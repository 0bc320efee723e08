"""What a seat must not forget, in a file of its own on its own device."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from fairdeal.codecs import Lock, Place
from fairdeal.ed25519 import public_key
from fairdeal.encoding import unhex
from fairdeal.errors import StateError
from fairdeal.hashing import Digest
from fairdeal.hashing import digest as hash_of
from fairdeal.seeds import LAST_EPOCH, Commitment, Seal, SeatSeed, seed_chain

_FORMAT = "fairdeal-seat/1"


@dataclass(frozen=True, slots=True)
class Opened:
    """That a seed was opened, and what the client had in its hands when it did. Spec: OPEN-2."""

    head: Digest
    seq: int
    receipt: str


@dataclass(frozen=True, slots=True)
class Thrown:
    """A discard that was sent, and the lock that it must get. Spec: HAND-10."""

    k: int
    places: tuple[Place, ...]
    """Ascending."""
    lock: Lock


@dataclass(slots=True)
class HandMemory:
    """A hand as this seat entered it."""

    last_seed: SeatSeed
    """x_32 in a game that can reshuffle, else x_0: the only one that was drawn. Spec: SEED-2."""
    reshuffles: bool
    commitment: Commitment
    first: int | None
    seal: Seal
    suits: list[str] = field(default_factory=list)
    """Trumps that were sent; more than one if an earlier one was refused, or its answer lost."""
    opened: dict[int, Opened] = field(default_factory=dict)
    """By epoch. Written before anything is sent."""
    thrown: list[Thrown] = field(default_factory=list)
    """Written before each is sent. Whether one has arrived, and which of two for the same k, is
    told by the lock in the log."""

    def seed(self, epoch: int) -> SeatSeed:
        """x_e of this hand."""
        return seed_chain(self.last_seed, LAST_EPOCH if self.reshuffles else 0)[epoch]


@dataclass(slots=True)
class Memory:
    """One seat of one table: its secrets, and what it has seen and done.

    The file holds secrets and is readable by its owner alone. It is replaced as a whole: after a
    crash the old or the new one is there, never half of one.
    """

    path: Path
    table: str
    seat: int
    token: str = field(repr=False)
    log_key: str
    terms: Digest
    signing_key: bytes | None = field(default=None, repr=False)
    checkpoint: str | None = None
    hands: dict[int, HandMemory] = field(default_factory=dict, repr=False)
    _written: bytes = field(default=b"", repr=False, compare=False)
    """The file as this program has read or written it last; empty before the first time."""

    @property
    def public_key(self) -> bytes | None:
        """The key that the table's terms name for this seat, if it has one."""
        return None if self.signing_key is None else public_key(self.signing_key)

    def opened_at(self, seq: int) -> list[Opened]:
        """What this seat has opened under the table's event of this number."""
        records = [record for hand in self.hands.values() for record in hand.opened.values()]
        return [record for record in records if record.seq == seq]

    def save(self) -> None:
        """Write the file, so that it survives a loss of power.

        Raises:
            StateError: Another program has written it meanwhile. Two that share a seat would each
                forget what the other has opened, so the second one to write stops.
        """
        content = json.dumps(self._to_dict(), indent=1).encode()
        there = self.path.read_bytes() if self.path.exists() else b""
        if there != self._written:
            raise StateError("memory_in_use", f"another program plays this seat, from {self.path}")
        replace(self.path, content)
        self._written = content

    def notes_path(self, hand: int) -> Path:
        """Where the notes of a hand are."""
        return self.path.with_name(f"hand-{hand}.notes.json")

    def keep_evidence(self, evidence: dict[str, str]) -> None:
        """Write down, beside this file, what contradicts what. Spec: OPEN-2.

        What was kept before is never written over.
        """
        content = json.dumps(evidence, indent=1, sort_keys=True).encode()
        number, path = 1, self.path.with_name("evidence.json")
        while path.exists():
            number += 1
            path = self.path.with_name(f"evidence-{number}.json")
        replace(path, content)

    def stopped(self) -> tuple[str, str] | None:
        """The code of what has stopped this seat in an earlier run, and where it is kept."""
        path = self.path.with_name("evidence.json")
        try:
            return str(json.loads(path.read_bytes())["code"]), str(path)
        except FileNotFoundError:
            return None
        except (ValueError, KeyError, TypeError):
            return "evidence_malformed", str(path)

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read the file that `save` wrote."""
        content = path.read_bytes()
        value = json.loads(content)
        if value.get("format") != _FORMAT:
            raise ValueError(f"{path} is not a seat's memory")
        key = value["signing_key"]
        return cls(
            path,
            value["table"],
            value["seat"],
            value["token"],
            value["log_key"],
            Digest.from_hex(value["terms"]),
            None if key is None else bytes.fromhex(key),
            value["checkpoint"],
            {int(number): _read_hand(hand) for number, hand in value["hands"].items()},
            content,
        )

    def _to_dict(self) -> dict[str, Any]:
        return {
            "format": _FORMAT,
            "table": self.table,
            "seat": self.seat,
            "token": self.token,
            "log_key": self.log_key,
            "terms": self.terms.hex(),
            "signing_key": None if self.signing_key is None else self.signing_key.hex(),
            "checkpoint": self.checkpoint,
            "hands": {str(number): _write_hand(hand) for number, hand in self.hands.items()},
        }


def _write_hand(hand: HandMemory) -> dict[str, Any]:
    return {
        "last_seed": hand.last_seed.hex(),
        "reshuffles": hand.reshuffles,
        "commitment": hand.commitment.hex(),
        "first": hand.first,
        "seal": hand.seal.hex(),
        "suits": hand.suits,
        "opened": {
            str(epoch): {"head": opened.head.hex(), "seq": opened.seq, "receipt": opened.receipt}
            for epoch, opened in hand.opened.items()
        },
        "thrown": [
            {
                "k": one.k,
                "cards": [list(place) for place in one.places],
                "lock": one.lock.lock.hex(),
            }
            for one in hand.thrown
        ],
    }


def _read_hand(value: dict[str, Any]) -> HandMemory:
    return HandMemory(
        SeatSeed.from_hex(value["last_seed"]),
        value["reshuffles"],
        Commitment.from_hex(value["commitment"]),
        value["first"],
        Seal.from_hex(value["seal"]),
        value["suits"],
        {
            int(epoch): Opened(Digest.from_hex(one["head"]), one["seq"], one["receipt"])
            for epoch, one in value["opened"].items()
        },
        [
            Thrown(
                one["k"],
                tuple([Place(*place) for place in one["cards"]]),
                Lock(len(one["cards"]), unhex(one["lock"], 32)),
            )
            for one in value["thrown"]
        ],
    )


@dataclass(slots=True)
class Invitation:
    """A claim code that is being exchanged, in a file until the token has come and is kept.

    A code works once. With the same key its answer comes again, so a crash costs no seat.
    """

    path: Path
    key: str

    @classmethod
    def of(cls, folder: Path, code: str, key: str) -> Self:
        """The one of this code that there is, or a new one with this key."""
        path, name = folder / "claim.json", hash_of(code.encode()).hex()
        try:
            value = json.loads(path.read_bytes())
            if value["code"] == name:
                return cls(path, str(value["key"]))
        except (FileNotFoundError, ValueError, KeyError, TypeError):
            pass  # there is none, or what there is helps nobody
        replace(path, json.dumps({"code": name, "key": key}).encode())
        return cls(path, key)

    def used(self) -> None:
        """The token is kept."""
        self.path.unlink(missing_ok=True)


def replace(path: Path, content: bytes) -> None:
    """Put a content in the place of a file, durably, for its owner's eyes only."""
    part = path.with_name(path.name + ".part")
    descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(descriptor)
    part.replace(path)
    # Without this a loss of power may bring back the file before, and what was opened is forgotten.
    _sync_names(path.parent)


def make_folder(folder: Path) -> None:
    """Make a folder, durably, for its owner's eyes only, and those above it that are missing."""
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for path in missing:
        _sync_names(path.parent)


def _sync_names(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
