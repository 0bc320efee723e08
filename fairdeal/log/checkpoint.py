"""Checkpoints: what a log's key signs. Spec: LOG-2, LOG-3."""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass
from typing import Final, Self

from fairdeal.errors import FormatError
from fairdeal.log.note import SigningKey, VerifierKey, open_note, unbase64

_TEXT: Final = re.compile(r"([!-*,-~]+)\n(0|[1-9][0-9]{0,15})\n([A-Za-z0-9+/=]+)\n", re.ASCII)


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """Origin, number of entries, root."""

    origin: str
    size: int
    root: bytes

    def text(self) -> str:
        """Exactly three lines, no extensions. Spec: LOG-2."""
        return f"{self.origin}\n{self.size}\n{base64.b64encode(self.root).decode()}\n"

    def sign(self, key: SigningKey) -> str:
        """The signed note."""
        return key.sign(self.text())

    @classmethod
    def parse_text(cls, text: str) -> Self:
        """Read the text of a note.

        Raises:
            FormatError: `checkpoint_malformed`.
        """
        match = _TEXT.fullmatch(text)
        root = unbase64(match[3]) if match else b""
        if match is None or len(root) != 32:
            raise FormatError("checkpoint_malformed", "expected origin, size and root")
        return cls(match[1], int(match[2]), root)

    @classmethod
    def open(cls, note: str, key: VerifierKey, *, lone: bool = False) -> Self:
        """Read a checkpoint that this key has signed. Its name is the origin.

        Raises:
            FormatError: The note or its text is malformed, or of another origin.
            VerificationError: The key has not signed it.
        """
        checkpoint = cls.parse_text(open_note(note, key, lone=lone))
        if checkpoint.origin != key.name:
            raise FormatError("checkpoint_malformed", "the checkpoint has another origin")
        return checkpoint
