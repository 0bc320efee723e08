"""Checkpoints: read, trusted, and kept one by one. Spec: LOG-2, LOG-3, AUD-1."""

import os
import re
from collections.abc import Sequence
from pathlib import Path

from fairdeal_verifier.encoding import FormatError, UnreadableError, read_json
from fairdeal_verifier.note import MAX_NOTE, Checkpoint, LogKey
from fairdeal_verifier.rotation import Keys, Rotation
from fairdeal_verifier.trusted import read_key

KEY_FILE = "log.vkey"
HEAD_FILE = "checkpoint"
_KEPT = "checkpoints"
_KEPT_NAME = re.compile(r"([0-9]+)-[0-9a-f]{16}\.note")


def parse_head(data: bytes) -> Checkpoint:
    """Reads a signed checkpoint.

    Raises:
        FormatError: It is none.
    """
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        raise FormatError("a checkpoint is not UTF-8") from None
    if len(data) > MAX_NOTE:
        raise FormatError("a checkpoint is longer than 64 KiB")
    return Checkpoint.parse(text.split("\n"))


def note_in(data: bytes) -> bytes:
    """Finds the checkpoint in a receipt, in a hand's file, or as it is.

    Raises:
        FormatError: There is none.
    """
    if data[:1] == b"{":
        try:
            value = read_json(data)[1]
        except UnreadableError as error:
            raise FormatError(str(error)) from None
        proof = value.get("proof") if type(value) is dict else None
        if type(proof) is not str:
            raise FormatError("the file holds no proof")
        data = proof.encode()
    if data.startswith(b"c2sp.org/tlog-proof@v1\n"):
        return data.partition(b"\n\n")[2]
    return data


def write(path: Path, data: bytes) -> None:
    """Writes a file whole or not at all, also when the program is killed meanwhile."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{path.name}.part")
    try:
        part.write_bytes(data)
        os.replace(part, path)  # noqa: PTH105 - the same, and shorter
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def trusted_key(folder: Path, option: str | None, rotations: Sequence[Rotation] = ()) -> LogKey:
    """Gives the log key to trust: the option, which is kept, or the one kept.

    Args:
        folder: Of `fetch`.
        option: A key given now.
        rotations: Those that the folder holds: any key of the log will do.

    Raises:
        ValueError: There is none, the one kept cannot be read, or the option is another.
    """
    kept = folder / KEY_FILE
    text = read_key(kept) if kept.exists() else None
    if (
        option is not None
        and text is not None
        and LogKey.parse(option) not in Keys.of(LogKey.parse(text), rotations).keys
    ):
        raise ValueError(f"{kept} holds another key: this folder is of another log")
    if option is None and text is None:
        raise ValueError(
            "give the log's key with --key the first time, from elsewhere than the log"
        )
    return LogKey.parse(text or option or "")


def keep_key(folder: Path, option: str | None) -> None:
    """Keeps the key for the next time."""
    if option is not None and not (folder / KEY_FILE).exists():
        write(folder / KEY_FILE, f"{option}\n".encode())


def keep(folder: Path, note: bytes, head: Checkpoint) -> None:
    """Keeps a checkpoint that was seen."""
    name = f"{head.size}-{head.root.hex()[:16]}.note"
    if not (folder / _KEPT / name).exists():
        write(folder / _KEPT / name, note)


def kept(folder: Path, keys: Keys) -> list[tuple[bytes, Checkpoint]]:
    """Gives the checkpoints that were seen and one of the keys has signed, the smallest first."""
    found = []
    for path in (folder / _KEPT).glob("*.note"):
        if _KEPT_NAME.fullmatch(path.name):
            note = path.read_bytes()
            try:
                head = parse_head(note)
            except FormatError:
                continue
            if any(head.is_signed_by(key) for key in keys.keys):
                found.append((note, head))
    return sorted(found, key=lambda one: (one[1].size, one[1].root))
