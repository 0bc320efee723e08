"""Receipts: C2SP tlog-proof, an entry's inclusion and the checkpoint it leads to. Spec: LOG-5."""

from __future__ import annotations

import re
from binascii import b2a_base64
from dataclasses import dataclass
from typing import Final, Self

from fairdeal.errors import FormatError
from fairdeal.log.checkpoint import Checkpoint
from fairdeal.log.note import VerifierKey, unbase64
from fairdeal.merkle import Tree, leaf_hash, verify_inclusion

_HEAD: Final = b"c2sp.org/tlog-proof@v1\n"
_PROOF: Final = re.compile(
    re.escape(_HEAD.decode()) + r"index (0|[1-9][0-9]{0,15})\n((?:[A-Za-z0-9+/=]+\n){0,63})\n(.+)",
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
        lines = [b2a_base64(node) for node in self.path]
        return _encode(self.index, lines, self.note.encode()).decode()

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


class Receipts:
    """Receipts under one checkpoint, as they are sent.

    Entries of one batch are neighbours, and above the highest bit in which two indices differ
    their paths are the same: that is not looked up and written again.
    """

    def __init__(self, tree: Tree, size: int, note: str) -> None:
        """Begin.

        Args:
            tree: The log.
            size: Of the checkpoint.
            note: The checkpoint, signed.
        """
        self._tree, self._size, self._note = tree, size, note.encode()
        self._last = 1 << 63  # so far from every index that nothing is the same
        self._lines: list[bytes] = []

    def encode(self, index: int) -> bytes:
        """An entry's text in UTF-8; the entry must be one that the checkpoint covers."""
        nodes = self._tree.siblings(index, self._size, (index ^ self._last).bit_length())
        self._lines[: len(nodes)] = [b2a_base64(node) if node else b"" for node in nodes]
        self._last = index
        return _encode(index, self._lines, self._note)


def _encode(index: int, lines: list[bytes], note: bytes) -> bytes:
    return b"%bindex %d\n%b\n%b" % (_HEAD, index, b"".join(lines), note)
