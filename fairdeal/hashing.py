"""Framed hashes under the one table of tags, and named streams.

Spec: encoding.md (Framed hashes), shuffle.md (STREAM).
"""

from __future__ import annotations

import hashlib
import hmac
from typing import Final, Self

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDFExpand

from fairdeal.encoding import unhex
from fairdeal.errors import FormatError

MAX_STREAM: Final = 8160
_SHA256 = SHA256()


class Bytes32(bytes):
    """Exactly 32 bytes of one meaning. Subclasses keep meanings apart in types."""

    __slots__ = ()

    def __new__(cls, value: bytes) -> Self:
        """Check the length, which is the only thing that can be checked."""
        if len(value) != 32:
            raise FormatError("wrong_length", f"a {cls.__name__} has exactly 32 bytes")
        return bytes.__new__(cls, value)

    @classmethod
    def from_hex(cls, text: object) -> Self:
        """Read 64 lower-case hex digits. Spec: ENC-5."""
        return cls(unhex(text, 32))


class Digest(Bytes32):
    """A SHA-256 value that names an event, a root or a table's terms."""

    __slots__ = ()


def frame(value: bytes) -> bytes:
    """Prefix a field with its length. Spec: ENC-9."""
    return len(value).to_bytes(4, "big") + value


def u8(number: int) -> bytes:
    """One byte."""
    return number.to_bytes(1, "big")


def u32be(number: int) -> bytes:
    """Four bytes, big endian."""
    return number.to_bytes(4, "big")


# TAG-1: every tag there is. None is a prefix of another, so no label runs into a field.
TAGS: Final = (
    "server seed",
    "link",
    "seat seed",
    "deal",
    "discard",
    "declare",
    "seal",
    "open",
    "lock",
    "rotate",
    "continue",
)
_FRAMED_TAGS: Final = {tag: frame(b"fairdeal/1 " + tag.encode()) for tag in TAGS}


def framed_message(tag: str, *fields: bytes) -> bytes:
    """M of the specification: what a seat's key signs. Spec: ENC-9, TAG-1."""
    # As `frame` does, without a call for each field.
    framed = [len(field).to_bytes(4, "big") + field for field in fields]
    return _FRAMED_TAGS[tag] + b"".join(framed)


def framed_hash(tag: str, *fields: bytes) -> bytes:
    """H of the specification. Spec: ENC-9, TAG-1."""
    return hashlib.sha256(framed_message(tag, *fields)).digest()


def digest(event: bytes) -> Digest:
    """The plain SHA-256 that names an event by its bytes."""
    return Digest(hashlib.sha256(event).digest())


def hkdf_extract(salt: bytes, material: bytes) -> bytes:
    """RFC 5869 extract step with SHA-256."""
    return hmac.digest(salt, material, "sha256")


def stream(key: bytes, name: str, length: int) -> bytes:
    """The first `length` bytes of a named stream of a deal key.

    Raises:
        FormatError: More than 8160 bytes. Spec: STREAM-1.
    """
    if length > MAX_STREAM:
        raise FormatError("stream_exhausted", "a stream has 8160 bytes")
    return HKDFExpand(_SHA256, length, b"fairdeal/1 " + name.encode()).derive(key)
