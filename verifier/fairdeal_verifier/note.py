"""Reads what a log signs: keys, checkpoints and receipts.

The formats are C2SP's signed-note, tlog-checkpoint and tlog-proof.

Spec: LOG-1, LOG-2, LOG-3, LOG-4, LOG-5
"""

import base64
import binascii
import re
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256

from fairdeal_verifier.ed25519 import verify_signature
from fairdeal_verifier.encoding import FormatError
from fairdeal_verifier.primitives import leaf_hash, root_by_path

MAX_NOTE = 64 * 1024
MAX_SIGNATURES = 64
MAX_PATH = 64
_ED25519 = b"\x01"
_NAME = re.compile(r"[!-*,-~]+")  # U+0021..U+007E without `+`
_NUMBER = re.compile(r"0|[1-9][0-9]{0,15}")
_KEY_ID = re.compile(r"[0-9a-f]{8}")
_SIGNATURE = re.compile(r"— ([!-*,-~]+) ([A-Za-z0-9+/=]+)")


def decode_base64(text: str) -> bytes:
    """Reads base64 that is standard, padded and canonical. Spec: LOG-4."""
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise FormatError("a value is not base64") from None
    if base64.b64encode(data).decode("ascii") != text:
        raise FormatError("a value is not in canonical base64")
    return data


def _number(text: str) -> int:
    if not _NUMBER.fullmatch(text):
        raise FormatError("a number of the log is not decimal without leading zeros")
    return int(text)


def _hash(text: str) -> bytes:
    data = decode_base64(text)
    if len(data) != 32:
        raise FormatError("a hash of the log is not 32 bytes long")
    return data


@dataclass(frozen=True, slots=True)
class LogKey:
    """A log's name, key id and Ed25519 key. Spec: LOG-3."""

    name: str
    key_id: bytes
    public_key: bytes

    @classmethod
    @lru_cache(maxsize=8)  # one key is read again and again
    def parse(cls, text: str) -> "LogKey":
        """Reads a vkey.

        Raises:
            FormatError: It is not one, or not of type Ed25519.
        """
        parts = text.split("+", 2)
        if len(parts) != 3 or not _NAME.fullmatch(parts[0]) or not _KEY_ID.fullmatch(parts[1]):
            raise FormatError("a log key is not <name>+<8 hex digits>+<base64>")
        name = parts[0]
        data = decode_base64(parts[2])
        if len(data) != 33 or data[:1] != _ED25519:
            raise FormatError("a log key is not of type Ed25519")
        key_id = sha256(name.encode("ascii") + b"\n" + data).digest()[:4]
        if key_id.hex() != parts[1]:
            raise FormatError("a log key does not have the key id that it states")
        return cls(name, key_id, data[1:])


def checkpoint_text(origin: str, size: int, root: bytes) -> str:
    """Writes the three lines that a log signs. Spec: LOG-2."""
    return f"{origin}\n{size}\n{base64.b64encode(root).decode('ascii')}\n"


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A signed state of the log. Spec: LOG-2, LOG-3."""

    text: str
    origin: str
    size: int
    root: bytes
    signatures: tuple[tuple[str, bytes], ...]

    @classmethod
    def parse(cls, lines: list[str]) -> "Checkpoint":
        """Reads a signed note whose text is a checkpoint.

        Args:
            lines: The note, split at newlines; the last one is empty.
        """
        if len(lines) < 6 or lines[3] or lines[-1] or len(lines) > 5 + MAX_SIGNATURES:
            raise FormatError("a checkpoint is not three lines, an empty one and signatures")
        if not _NAME.fullmatch(lines[0]):
            raise FormatError("the origin of a checkpoint is not a name")
        signatures = []
        for line in lines[4:-1]:
            match = _SIGNATURE.fullmatch(line)
            if match is None:
                raise FormatError("a signature line is not `— <name> <base64>`")
            signatures.append((match[1], decode_base64(match[2])))
            if len(signatures[-1][1]) < 5:
                raise FormatError("a signature line has no signature")
        return cls(
            "\n".join(lines[:3]) + "\n",
            lines[0],
            _number(lines[1]),
            _hash(lines[2]),
            tuple(signatures),
        )

    def is_signed_by(self, key: LogKey) -> bool:
        """Says if this log signed it: at least one line by this key, and none of them bad.

        Spec: LOG-3, SIG-1
        """
        own = {
            data for name, data in self.signatures if name == key.name and data[:4] == key.key_id
        }
        return (
            self.origin == key.name
            and bool(own)
            and all(verify_signature(key.public_key, self.text.encode(), s[4:]) for s in own)
        )


@dataclass(frozen=True, slots=True)
class Receipt:
    """The proof that a log holds one entry. Spec: LOG-5."""

    index: int
    path: tuple[bytes, ...]
    checkpoint: Checkpoint

    @classmethod
    def parse(cls, text: str) -> "Receipt":
        """Reads a C2SP tlog-proof.

        Raises:
            FormatError: It is not one, or has an `extra` line.
        """
        if len(text) > MAX_NOTE:
            raise FormatError("a receipt is longer than 64 KiB")
        lines = text.split("\n")
        if lines[0] != "c2sp.org/tlog-proof@v1":
            raise FormatError("a receipt does not begin with c2sp.org/tlog-proof@v1")
        if len(lines) < 3 or not lines[1].startswith("index ") or "" not in lines:
            raise FormatError("a receipt has no index")
        end = lines.index("")
        if end > MAX_PATH + 2:
            raise FormatError("a receipt has a path longer than any tree is high")
        return cls(
            _number(lines[1].removeprefix("index ")),
            tuple([_hash(line) for line in lines[2:end]]),
            Checkpoint.parse(lines[end + 1 :]),
        )

    def includes(self, entry: bytes) -> bool:
        """Says if the checkpoint's tree holds this entry at this index. Spec: LOG-1, LOG-5."""
        root = root_by_path(leaf_hash(entry), self.index, self.checkpoint.size, self.path)
        return root == self.checkpoint.root
