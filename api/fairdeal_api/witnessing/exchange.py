"""One witness as the log sees it: what to ask it next, and what its answer means.

Nothing here sends or waits: start-up asks with threads, the running service with tasks.

Spec: WIT-6, WIT-7.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import Enum
from typing import Final

from fairdeal.errors import FairdealError
from fairdeal.log.checkpoint import Checkpoint
from fairdeal.log.cosignature import Cosignature, WitnessKey
from fairdeal.log.witness import Submission
from fairdeal.merkle import Tree

PATH: Final = "/add-checkpoint"
MAX_ANSWER: Final = 64 * 1024
MAX_TURNS: Final = 4
"""Requests that one head may take: a size from memory, one that is named, one after a refusal."""
_SIZE: Final = re.compile(rb"(0|[1-9][0-9]{0,15})\n")


class Said(Enum):
    """What an answer without a cosignature means."""

    AGAIN = "again"
    """Ask again: the witness holds another head than was thought."""
    PASSED = "passed"
    """It holds a newer head of ours already; only a newer one will do."""
    UNWILLING = "unwilling"
    """No cosignature now; later perhaps."""
    CONFLICT = "conflict"
    """It holds a head that this log does not extend."""


@dataclass(slots=True)
class Head:
    """A head that is to be cosigned."""

    checkpoint: Checkpoint
    note: str
    chosen: int
    """When, on the monotonic clock."""
    passed: int | None = None
    """When the log went on beyond it."""
    lines: dict[str, Cosignature] = field(default_factory=dict)
    """By the witness's vkey."""


@dataclass(slots=True)
class Witness:
    """One witness."""

    url: str
    key: WitnessKey
    held: int = 0
    """The size that it is thought to hold."""
    failures: int = 0
    """Attempts since the last that brought something."""
    status: int = 0
    """Of its last answer; 0 if it did not answer."""
    _named: bool = False
    """Whether `held` is what it has said itself, in the answer before."""
    _asked: int = 0

    @property
    def vkey(self) -> str:
        """Its name and key."""
        return str(self.key)

    def body(self, head: Head, tree: Tree) -> bytes:
        """What to send for a head of at least the size held."""
        old, size = min(self.held, head.checkpoint.size), head.checkpoint.size
        self._asked = old
        proof = tuple(tree.consistency_path(old, size)) if 0 < old < size else ()
        return Submission(old, proof, head.note).encode()

    def take(self, head: Head, newest: int, status: int, media: str, body: bytes) -> Said | None:
        """What an answer means; None if the head has this witness's cosignature now.

        Args:
            head: What was asked for.
            newest: Size of the log when the answer came.
            status: Of the answer.
            media: Its media type.
            body: At most `MAX_ANSWER` bytes of it.
        """
        self.status = status
        was_named, self._named = self._named, False
        if status == 200:
            try:
                found = self.key.find(head.checkpoint, body.decode("utf-8"))
            except (FairdealError, UnicodeDecodeError):
                return Said.UNWILLING
            head.lines[self.vkey] = found
            self.held = head.checkpoint.size
            return None
        if status == 409:
            match = _SIZE.fullmatch(body)
            if match is None or media.partition(";")[0].strip().lower() != "text/x.tlog.size":
                return Said.UNWILLING
            return self._other_size(head, newest, int(match[1]))
        if status == 422 and self._asked:
            if was_named:
                # Our proof is right for our own heads, so the head that it has named is another's.
                return Said.CONFLICT
            self.held = 0  # makes it name the size that it holds
            return Said.AGAIN
        return Said.UNWILLING

    def _other_size(self, head: Head, newest: int, size: int) -> Said:
        if size > newest:
            return Said.CONFLICT
        if size == self._asked:
            same = size == head.checkpoint.size
            return Said.CONFLICT if same else Said.UNWILLING
        self.held, self._named = size, True
        return Said.PASSED if size > head.checkpoint.size else Said.AGAIN
