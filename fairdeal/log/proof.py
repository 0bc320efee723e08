"""Receipts: C2SP tlog-proof, an entry's inclusion and the checkpoint it leads to. Spec: LOG-5."""

from __future__ import annotations

import re
from binascii import b2a_base64
from dataclasses import dataclass
from typing import Final, Self

from fairdeal.errors import FormatError
from fairdeal.log.checkpoint import Checkpoint
from fairdeal.log.note import VerifierKey, unbase64
from fairdeal.merkle import leaf_hash, verify_inclusion

_HEAD: Final = "c2sp.org/tlog-proof@v1\n"
_PROOF: Final = re.compile(
    re.escape(_HEAD) + r"index (0|[1-9][0-9]{0,15})\n((?:[A-Za-z0-9+/=]+\n){0,63})\n(.+)",
    re.ASCII | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Receipt:
    """That an entry is in the log, checkable without the log."""

    index: int
    path: tuple[bytes, ...]
    note: str
    """The signed checkpoint."""

    def text(self) -> str:
        """As it is sent and kept."""
        path = b"".join([b2a_base64(node) for node in self.path]).decode()
        return f"{_HEAD}index {self.index}\n{path}\n{self.note}"

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a receipt. An `extra` line is refused.

        Raises:
            FormatError: `receipt_malformed` or `not_base64`.
        """
        match = _PROOF.fullmatch(text)
        path = [unbase64(line) for line in match[2].splitlines()] if match else []
        if match is None or any(len(node) != 32 for node in path):
            raise FormatError("receipt_malformed", "expected a C2SP tlog-proof")
        return cls(int(match[1]), tuple(path), match[3])

    def verify(self, entry: bytes, key: VerifierKey, *, lone: bool = False) -> Checkpoint:
        """The checkpoint under which this entry is in the log of this key.

        Raises:
            FormatError: The checkpoint is malformed.
            VerificationError: Its signature or the path does not fit.
        """
        checkpoint = Checkpoint.open(self.note, key, lone=lone)
        verify_inclusion(leaf_hash(entry), self.index, checkpoint.size, self.path, checkpoint.root)
        return checkpoint
