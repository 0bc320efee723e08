"""C2SP signed notes and vkeys. Spec: LOG-3, LOG-4."""

from __future__ import annotations

import base64
import binascii
import contextlib
import functools
import hashlib
import re
from dataclasses import dataclass
from typing import Final, NoReturn, Self

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from fairdeal.ed25519 import private_key, public_key, verify_signature
from fairdeal.errors import FormatError, VerificationError

_NAME: Final = re.compile(r"[!-*,-~]+")
_SIGNATURE_LINE: Final = re.compile(r"— ([!-*,-~]+) ([A-Za-z0-9+/=]+)\n")
_ED25519: Final = b"\x01"


def unbase64(text: str) -> bytes:
    """Standard, padded, canonical base64, or `not_base64`. Spec: LOG-4."""
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        data = None
    # b64decode ignores spare bits, so that several texts would mean the same bytes.
    if data is None or base64.b64encode(data).decode() != text:
        raise FormatError("not_base64", "expected canonical base64")
    return data


def _key_id(name: str, key: bytes) -> bytes:
    return hashlib.sha256(name.encode() + b"\n" + _ED25519 + key).digest()[:4]


@dataclass(frozen=True)
class VerifierKey:
    """A log's name and public key, as `<name>+<key id>+<base64>`."""

    name: str
    key: bytes

    @functools.cached_property
    def id(self) -> bytes:
        """The four bytes by which signature lines name this key."""
        return _key_id(self.name, self.key)

    def __str__(self) -> str:
        encoded = base64.b64encode(_ED25519 + self.key).decode()
        return f"{self.name}+{self.id.hex()}+{encoded}"

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a vkey.

        Raises:
            FormatError: `log_key_malformed`.
        """
        parts = text.split("+", 2)
        malformed = FormatError("log_key_malformed", "expected <name>+<key id>+<base64 key>")
        if len(parts) != 3 or not _NAME.fullmatch(parts[0]):
            raise malformed
        data = unbase64(parts[2])
        key = cls(parts[0], data[1:])
        if len(data) != 33 or data[:1] != _ED25519 or parts[1] != key.id.hex():
            raise malformed
        return key


@dataclass(frozen=True)
class SigningKey:
    """A log's name and Ed25519 secret."""

    name: str
    secret: bytes

    def __repr__(self) -> str:
        return f"SigningKey({self.name}, <secret>)"

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("secrets are not pickled")

    @functools.cached_property
    def verifier(self) -> VerifierKey:
        """The public half."""
        return VerifierKey(self.name, public_key(self.secret))

    @functools.cached_property
    def _private(self) -> Ed25519PrivateKey:
        return private_key(self.secret)

    def sign_bytes(self, message: bytes) -> bytes:
        """The bare signature of what is not a note. Spec: LOG-26, LOG-30."""
        return self._private.sign(message)

    def sign(self, text: str) -> str:
        """A note over this text with one signature line."""
        signature = base64.b64encode(self.verifier.id + self.sign_bytes(text.encode())).decode()
        return f"{text}\n— {self.name} {signature}\n"


def lone_note(note: str, key: VerifierKey) -> str:
    """The same note with the signature of this key alone. Spec: FILE-5.

    Raises:
        FormatError: `note_malformed`.
        VerificationError: `signature_invalid`.
    """
    text = open_note(note, key)
    for line in note.rpartition("\n\n")[2].splitlines(keepends=True):
        alone = f"{text}\n{line}"
        with contextlib.suppress(VerificationError):
            open_note(alone, key, lone=True)
            return alone
    raise VerificationError("signature_invalid", "the note is not signed by this key")


def open_note(note: str, key: VerifierKey, *, lone: bool = False) -> str:
    """The text of a note that the key has signed. Lines of other keys are left alone.

    Args:
        note: The whole note.
        key: Whose signature is asked for.
        lone: Whether it must be the only one. Spec: FILE-5.

    Raises:
        FormatError: `note_malformed`.
        VerificationError: `signature_invalid`, or no signature of this key.
    """
    try:
        note.encode()
    except UnicodeEncodeError:
        raise FormatError("note_malformed", "a note is Unicode text") from None
    text, separator, rest = note.rpartition("\n\n")
    lines = _SIGNATURE_LINE.findall(rest)
    if not separator or "".join(f"— {name} {data}\n" for name, data in lines) != rest or not lines:
        raise FormatError("note_malformed", "expected a text, an empty line and signatures")
    text += "\n"
    signed = False
    # Once each: a stranger can repeat a public line as often as there is room for it.
    for name, data in dict.fromkeys(lines):
        signature = unbase64(data)
        if name == key.name and signature[:4] == key.id:
            verify_signature(key.key, text.encode(), signature[4:])
            signed = True
    if not signed or (lone and len(lines) != 1):
        raise VerificationError("signature_invalid", "the note is not signed by this key")
    return text
