"""Asks whether the witnesses that a player trusts have seen the same log.

Spec: WIT-1, WIT-2, WIT-10
"""

import re
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from hashlib import sha256

from fairdeal_verifier.ed25519 import verify_signature
from fairdeal_verifier.encoding import FormatError
from fairdeal_verifier.note import Checkpoint, decode_base64

_TYPE = b"\x04"
_VKEY = re.compile(r"([!-*,-~]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/=]+)")
_LAST = 2**63 - 1
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)  # noqa: UP017 - reads the same everywhere
_SHOWN = 253_402_300_799  # the last second of the year 9999


@dataclass(frozen=True, slots=True)
class WitnessKey:
    """A witness's name, key id and Ed25519 key. Spec: WIT-1."""

    name: str
    key_id: bytes
    public_key: bytes

    @classmethod
    def parse(cls, text: str) -> "WitnessKey":
        """Reads a witness's vkey.

        Raises:
            FormatError: It is not one, or not of the type of cosignatures.
        """
        match = _VKEY.fullmatch(text)
        if match is None:
            raise FormatError("a witness's key is not <name>+<8 hex digits>+<base64>")
        typed = decode_base64(match[3])
        if len(typed) != 33 or not typed.startswith(_TYPE):
            raise FormatError("a witness's key is not of the type of cosignatures (0x04)")
        key_id = sha256(match[1].encode("ascii") + b"\n" + typed).digest()[:4]
        if key_id.hex() != match[2]:
            raise FormatError("a witness's key does not have the key id that it states")
        return cls(match[1], key_id, typed[1:])

    def times(self, checkpoint: Checkpoint) -> "list[int] | None":
        """Gives the times at which this witness cosigned; None if a line of its own is bad.

        Spec: WIT-2
        """
        times = []
        # A line that stands there 64 times is looked at once: to check a signature takes a while.
        for name, data in dict.fromkeys(checkpoint.signatures):
            if name != self.name or data[:4] != self.key_id:
                continue
            time = int.from_bytes(data[4:12], "big")
            said = f"cosignature/v1\ntime {time}\n{checkpoint.text}".encode()
            if len(data) != 76 or time > _LAST:
                return None
            if not verify_signature(self.public_key, said, data[12:]):
                return None
            times.append(time)
        return times


def shown_time(time: int) -> str:
    """Writes seconds since 1970 for a reader."""
    if time > _SHOWN:
        return f"{time} s after 1970"
    return (_EPOCH + timedelta(seconds=time)).strftime("%Y-%m-%dT%H:%M:%SZ")
