"""What a log asks of a witness, and how a witness judges it: C2SP tlog-witness.

Pure: the head that a witness holds comes as an argument, the one to hold from now on is given back.

Spec: WIT-3, WIT-4.
"""

from __future__ import annotations

import base64
import contextlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, Self

from fairdeal.errors import FairdealError, FormatError, VerificationError
from fairdeal.log.checkpoint import Checkpoint
from fairdeal.log.note import VerifierKey, unbase64
from fairdeal.merkle import EMPTY_ROOT, verify_consistency

MAX_BODY: Final = 64 * 1024
MAX_PROOF: Final = 63
_BODY: Final = re.compile(
    r"old (0|[1-9][0-9]{0,15})\n((?:[A-Za-z0-9+/=]+\n){0,63})\n(.+)", re.ASCII | re.DOTALL
)


@dataclass(frozen=True, slots=True)
class Submission:
    """The body of `add-checkpoint`. Spec: WIT-3."""

    old: int
    """Size of the head that the witness is thought to hold."""
    proof: tuple[bytes, ...]
    note: str
    """The signed checkpoint."""

    def encode(self) -> bytes:
        """As it is sent."""
        proof = "".join([base64.b64encode(node).decode() + "\n" for node in self.proof])
        return f"old {self.old}\n{proof}\n{self.note}".encode()

    @classmethod
    def parse(cls, data: bytes) -> Self:
        """Read a body.

        Raises:
            FormatError: `submission_malformed`, `not_base64`.
        """
        malformed = FormatError("submission_malformed", "expected an old size, a proof and a note")
        if len(data) > MAX_BODY:
            raise malformed
        try:
            match = _BODY.fullmatch(data.decode("utf-8"))
        except UnicodeDecodeError:
            raise malformed from None
        proof = [unbase64(line) for line in match[2].splitlines()] if match else []
        if match is None or any(len(node) != 32 for node in proof):
            raise malformed
        return cls(int(match[1]), tuple(proof), match[3])


class Answer(NamedTuple):
    """What a witness makes of a submission."""

    status: int
    checkpoint: Checkpoint | None = None
    """With 200: what to hold from now on, and then to cosign."""
    size: int | None = None
    """With 409: the size that is held."""


def judge(
    submission: Submission,
    logs: Mapping[str, Sequence[VerifierKey]],
    held: Mapping[str, Checkpoint],
) -> Answer:
    """Judge a submission.

    Args:
        submission: What was sent.
        logs: The keys of the logs that are known, by origin; several where the key has changed.
        held: The newest head of each log that was cosigned.

    Raises:
        FormatError: The note is none: 400.

    Spec: WIT-4
    """
    text, _, _ = submission.note.partition("\n\n")
    checkpoint = Checkpoint.parse_text(text + "\n")
    keys = logs.get(checkpoint.origin)
    if keys is None:
        return Answer(404)
    for key in keys:
        with contextlib.suppress(VerificationError):
            checkpoint = Checkpoint.open(submission.note, key)
            break
    else:
        return Answer(403)
    if submission.old > checkpoint.size:
        return Answer(400)
    mine = held.get(checkpoint.origin, Checkpoint(checkpoint.origin, 0, EMPTY_ROOT))
    if submission.old != mine.size:
        return Answer(409, size=mine.size)
    if mine.size == checkpoint.size and mine.root != checkpoint.root and mine.size:
        return Answer(409, size=mine.size)
    return Answer(200, checkpoint) if _extends(mine, checkpoint, submission) else Answer(422)


def _extends(mine: Checkpoint, checkpoint: Checkpoint, submission: Submission) -> bool:
    if mine.size == 0:
        is_a_tree = checkpoint.size > 0 or checkpoint.root == EMPTY_ROOT
        return is_a_tree and not submission.proof
    try:
        verify_consistency(mine.size, mine.root, checkpoint.size, checkpoint.root, submission.proof)
    except FairdealError:
        return False
    return True
