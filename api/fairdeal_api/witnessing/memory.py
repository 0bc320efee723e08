"""What a witness must never forget: its key, and the newest head of each log it has cosigned.

A witness that forgets signs a second history. So the state is made once, replaced durably before
an answer is given, and never made anew. It holds the checkpoints themselves, signed by their logs:
a state that somebody has edited does not open.

Spec: WIT-5.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from fairdeal.errors import FairdealError, FormatError, VerificationError
from fairdeal.log.checkpoint import Checkpoint
from fairdeal.log.cosignature import CosigningKey, WitnessKey
from fairdeal.log.note import VerifierKey
from fairdeal.log.witness import Answer, Submission, judge
from fairdeal_api import system
from fairdeal_api.system import StartRefused

KEY: Final = "witness.key"
NAME: Final = "name"
STATE: Final = "heads.json"
LOCK: Final = "LOCK"
_FORMAT: Final = "fairdeal-witness/1"


def initialise(folder: Path, name: str) -> WitnessKey:
    """Make a key and an empty state.

    Raises:
        FormatError: The name is none.
        StartRefused: There is something in the folder.
    """
    CosigningKey(name, bytes(32))  # a name that is none is refused before anything is written
    _refuse_another(folder)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder.chmod(0o700)
    lock = system.hold_lock(folder / LOCK, advice="End it first.")
    try:
        _refuse_another(folder)  # once more: now nobody else makes one here
        system.replace_file(folder / NAME, f"{name}\n".encode())
        system.replace_file(folder / STATE, _encode({}))
        # Last, and whole or not at all: with its key there is a witness, and without there is none.
        return CosigningKey(name, system.create_key(folder / KEY)).verifier
    finally:
        system.release_lock(lock)


def _refuse_another(folder: Path) -> None:
    """Refuse a folder that holds something else than a making that was cut off has left.

    What a witness has seen is not that, nor a copy of its key: the key may only be away.
    """
    left = {NAME, f"{NAME}.part", f"{STATE}.part", LOCK}

    def is_left(file: Path) -> bool:
        return (
            file.name in left
            or system.is_part_of(folder / KEY, file)
            or (file.name == STATE and file.read_bytes() == _encode({}))
        )

    if folder.exists() and not (folder.is_dir() and all(map(is_left, folder.iterdir()))):
        raise StartRefused(
            f"{folder} is not empty; a witness is never made over another. If `fairdeal witness "
            "init` was cut off here and never printed a key, remove the folder, and begin again."
        )


def _encode(notes: dict[str, str]) -> bytes:
    document = {"format": _FORMAT, "heads": notes}
    return (json.dumps(document, indent=1, sort_keys=True) + "\n").encode()


class Memory:
    """A witness's folder, opened and held."""

    def __init__(self, folder: Path, logs: Iterable[VerifierKey]) -> None:
        """Open a folder.

        Args:
            folder: Made by `initialise`.
            logs: The keys of the logs that are known; those of one log oldest first.

        Raises:
            StartRefused: Something is not as it must be; one sentence says what.
        """
        if not (folder / KEY).exists():
            raise StartRefused(
                f"There is no witness in {folder}; `fairdeal witness init` makes one."
            )
        self._path = folder / STATE
        self._logs: dict[str, tuple[VerifierKey, ...]] = {}
        for key in logs:
            self._logs[key.name] = (*self._logs.get(key.name, ()), key)
        # Nothing but the lock keeps two processes from signing two histories: none is taken over.
        self._lock = system.hold_lock(folder / LOCK, advice="End it first.")
        try:
            name, newline, _ = (folder / NAME).read_text("ascii").partition("\n")
            if not newline:
                raise FormatError("state_malformed", "the name was cut off")
            self.key = CosigningKey(name, system.read_key(folder / KEY))
            self._notes = self._read()
            self._heads = {
                origin: self._take(origin, note)
                for origin, note in self._notes.items()
                if origin in self._logs
            }
        except (OSError, ValueError, FairdealError) as error:
            self.close()
            raise StartRefused(
                f"The state of the witness in {folder} is not one that it has made for these logs "
                f"({type(error).__name__}). It is never made anew: a witness that has forgotten "
                "what it signed would sign a fork."
            ) from None
        except BaseException:
            self.close()
            raise

    def _read(self) -> dict[str, str]:
        document: Any = json.loads(self._path.read_bytes())
        if not isinstance(document, dict) or document.get("format") != _FORMAT:
            raise FormatError("state_malformed", "another format")
        notes = document.get("heads")
        if not isinstance(notes, dict) or not all(isinstance(n, str) for n in notes.values()):
            raise FormatError("state_malformed", "no heads")
        return notes

    def _take(self, origin: str, note: str) -> Checkpoint:
        """Hold a head: from now on a key that is older than its signer's signs nothing.

        Spec: WIT-11.
        """
        keys = self._logs[origin]
        for number, key in enumerate(keys):
            with contextlib.suppress(VerificationError):
                checkpoint = Checkpoint.open(note, key)
                self._logs[origin] = keys[number:]
                return checkpoint
        raise VerificationError("signature_invalid", "none of the log's keys has signed this head")

    def held(self, origin: str) -> int:
        """Size of the head that was cosigned last."""
        head = self._heads.get(origin)
        return head.size if head else 0

    def answer(self, data: bytes, time: int) -> tuple[Answer, str]:
        """Judge a submission; a head that is accepted is held when this returns.

        Nothing else runs between the comparison and the replacement: this is one call, on one
        thread, under one lock on the folder. Spec: WIT-5.

        Args:
            data: The body that was sent.
            time: Seconds since 1970.

        Returns:
            What to answer, and with 200 the cosignature line.

        Raises:
            FormatError: 400.
            OSError: The state could not be written; nothing was cosigned.
        """
        submission = Submission.parse(data)
        answer = judge(submission, self._logs, self._heads)
        checkpoint = answer.checkpoint
        if answer.status != 200 or checkpoint is None:
            return answer, ""
        if self._heads.get(checkpoint.origin) != checkpoint:
            notes = self._notes | {checkpoint.origin: submission.note}
            system.replace_file(self._path, _encode(notes))
            self._notes = notes
            self._heads[checkpoint.origin] = self._take(checkpoint.origin, submission.note)
        return answer, self.key.cosign(checkpoint, time)

    def close(self) -> None:
        """Let go of the folder."""
        system.release_lock(self._lock)
