"""Cosignatures of witnesses under checkpoints: C2SP tlog-cosignature. Spec: WIT-1, WIT-2."""

from __future__ import annotations

import base64
import functools
import hashlib
import re
from dataclasses import dataclass
from typing import Final, NoReturn, Self

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from fairdeal.ed25519 import private_key, public_key, verify_signature
from fairdeal.errors import FormatError, VerificationError
from fairdeal.log.checkpoint import Checkpoint
from fairdeal.log.note import unbase64

_NAME: Final = re.compile(r"[!-*,-~]+")
_LINE: Final = re.compile(r"— ([!-*,-~]+) ([A-Za-z0-9+/=]+)\n")
_COSIGNATURE: Final = b"\x04"
_LENGTH: Final = 4 + 8 + 64
LATEST: Final = 2**63 - 1
"""The greatest time that a cosignature may state."""


def _message(time: int, text: str) -> bytes:
    return f"cosignature/v1\ntime {time}\n{text}".encode()


@dataclass(frozen=True, slots=True)
class Cosignature:
    """That a witness has seen a head as the newest of its log at a time, checked."""

    time: int
    """Seconds since 1970."""
    line: str
    """As it stands below the checkpoint, with its newline."""


@dataclass(frozen=True)
class WitnessKey:
    """A witness's name and public key. Spec: WIT-1."""

    name: str
    key: bytes

    @functools.cached_property
    def id(self) -> bytes:
        """The four bytes by which signature lines name this key."""
        data = self.name.encode() + b"\n" + _COSIGNATURE + self.key
        return hashlib.sha256(data).digest()[:4]

    def __str__(self) -> str:
        encoded = base64.b64encode(_COSIGNATURE + self.key).decode()
        return f"{self.name}+{self.id.hex()}+{encoded}"

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a vkey of type 0x04.

        Raises:
            FormatError: `witness_key_malformed`, `not_base64`.
        """
        parts = text.split("+", 2)
        malformed = FormatError("witness_key_malformed", "expected <name>+<key id>+<base64 key>")
        if len(parts) != 3 or not _NAME.fullmatch(parts[0]):
            raise malformed
        data = unbase64(parts[2])
        key = cls(parts[0], data[1:])
        if len(data) != 33 or data[:1] != _COSIGNATURE or parts[1] != key.id.hex():
            raise malformed
        return key

    def find(self, checkpoint: Checkpoint, lines: str) -> Cosignature:
        """This witness's newest cosignature of a checkpoint.

        Args:
            checkpoint: What must be cosigned.
            lines: Signature lines; those of others are left alone.

        Raises:
            FormatError: `note_malformed`, `not_base64`: these are no signature lines.
            VerificationError: `signature_invalid`: there is none of this witness, or a bad one.
                Spec: WIT-2.
        """
        found = _LINE.findall(lines)
        if "".join(f"— {name} {data}\n" for name, data in found) != lines:
            raise FormatError("note_malformed", "expected signature lines")
        good: list[Cosignature] = []
        for name, encoded in dict.fromkeys(found):  # a repeated line is checked once
            data = unbase64(encoded)
            if name != self.name or data[:4] != self.id:
                continue
            time = int.from_bytes(data[4:12], "big")
            if len(data) != _LENGTH or time > LATEST:
                raise VerificationError("signature_invalid", "a cosignature of another form")
            verify_signature(self.key, _message(time, checkpoint.text()), data[12:])
            good.append(Cosignature(time, f"— {name} {encoded}\n"))
        if not good:
            raise VerificationError("signature_invalid", "the witness has not cosigned this")
        return max(good, key=lambda one: one.time)


@dataclass(frozen=True)
class CosigningKey:
    """A witness's name and Ed25519 secret."""

    name: str
    secret: bytes

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise FormatError("witness_key_malformed", "a name is visible ASCII without `+`")

    def __repr__(self) -> str:
        return f"CosigningKey({self.name}, <secret>)"

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("secrets are not pickled")

    @functools.cached_property
    def verifier(self) -> WitnessKey:
        """The public half."""
        return WitnessKey(self.name, public_key(self.secret))

    @functools.cached_property
    def _private(self) -> Ed25519PrivateKey:
        return private_key(self.secret)

    def cosign(self, checkpoint: Checkpoint, time: int) -> str:
        """A signature line, with its newline. Spec: WIT-2.

        Args:
            checkpoint: What is cosigned.
            time: Seconds since 1970.
        """
        if not 0 <= time <= LATEST:
            raise ValueError("no time that a cosignature can state")
        signature = self._private.sign(_message(time, checkpoint.text()))
        data = self.verifier.id + time.to_bytes(8, "big") + signature
        return f"— {self.name} {base64.b64encode(data).decode()}\n"
