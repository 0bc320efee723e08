"""Evidence files: written from what a replay found, and read again. Spec: AUD-4."""

import base64
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from fairdeal_audit.tiles import Folder
from fairdeal_verifier.encoding import (
    MAX_CONTAINERS,
    UnreadableError,
    encode_file,
    is_too_deep,
    outline,
)
from fairdeal_verifier.file import FORMAT as FILE_FORMAT
from fairdeal_verifier.rotation import Keys, is_list

FORMAT = "fairdeal-evidence/1"
MAX_EVIDENCE = 16 * 1024 * 1024
MAX_STATEMENTS = 64
CODES = (
    "FORK",
    "CHAIN",
    "NUMBER",
    "KEY",
    "TERMS",
    "COMMITMENT",
    "REUSE",
    "CARD",
    "WITHHELD",
    "HAND",
    "LOST",
)

Statement = dict[str, str]


@dataclass(frozen=True, slots=True)
class Evidence:
    """What is said to prove something.

    Attributes:
        code: What.
        statements: As AUD-4 has them.
        consistency: Nodes between two heads, or None.
        rotations: Of the log's key, as LOG-32 has them, or None.
    """

    code: str
    statements: tuple[Statement, ...]
    consistency: tuple[bytes, ...] | None = None
    rotations: tuple[Statement, ...] | None = None

    def encode(self) -> bytes:
        """Writes the file. Spec: AUD-4."""
        value: dict[str, Any] = {
            "code": self.code,
            "format": FORMAT,
            "statements": list(self.statements),
        }
        if self.consistency is not None:
            value["consistency"] = [node.hex() for node in self.consistency]
        if self.rotations is not None:
            value["rotations"] = list(self.rotations)
        text = encode_file(value)
        if text is None:
            raise ValueError("the statements cannot be written")
        return text.encode()

    @classmethod
    def parse(cls, data: bytes) -> "Evidence":
        """Reads a file.

        Raises:
            UnreadableError: It is not evidence of this format. Spec: AUD-6
        """
        text, value = _read(data)
        if type(value) is not dict or value.get("format") != FORMAT:
            raise UnreadableError(f"the file is not of the format {FORMAT}")
        if value.keys() - {"consistency", "rotations"} != {"code", "format", "statements"}:
            raise UnreadableError("a member of the file is missing, or one is too many")
        if encode_file(value) != text:
            raise UnreadableError("the file is not written in its one form")
        if value["code"] not in CODES:
            raise UnreadableError("the code is not one that there is")
        statements = _statements(value["statements"])
        return cls(value["code"], statements, _nodes(value), _rotations(value))


def _read(data: bytes) -> tuple[str, Any]:
    """Reads JSON as the verifier does, of evidence's own length."""
    if len(data) > MAX_EVIDENCE:
        raise UnreadableError("the file is longer than 16 MiB")
    shape = outline(data)
    if is_too_deep(shape) or shape.count(b"[") + shape.count(b"{") > MAX_CONTAINERS:
        raise UnreadableError("the file is not JSON, or has more parts than any evidence")
    try:
        text = data.decode("utf-8")
        return text, json.loads(text)
    except (ValueError, RecursionError):
        raise UnreadableError("the file is not JSON in UTF-8") from None


def _statements(value: Any) -> tuple[Statement, ...]:  # noqa: ANN401 (JSON is anything)
    kinds = ({"entry", "receipt"}, {"checkpoint"}, {"file"})
    if type(value) is not list or not 1 <= len(value) <= MAX_STATEMENTS:
        raise UnreadableError("statements is not a list of 1 to 64")
    for one in value:
        if type(one) is not dict or set(one) not in kinds:
            raise UnreadableError("a statement is not an entry, a checkpoint or a file")
        if not all(type(text) is str for text in one.values()):
            raise UnreadableError("a statement holds something else than strings")
    return tuple(value)


def _nodes(value: dict[str, Any]) -> tuple[bytes, ...] | None:
    nodes = value.get("consistency")
    if "consistency" not in value:
        return None
    if type(nodes) is not list or not 1 <= len(nodes) <= 130:
        raise UnreadableError("consistency is not a list of hashes")
    for node in nodes:
        if type(node) is not str or len(node) != 64 or node.strip("0123456789abcdef"):
            raise UnreadableError("consistency is not a list of hashes")
    return tuple([bytes.fromhex(node) for node in nodes])


def _rotations(value: dict[str, Any]) -> tuple[Statement, ...] | None:
    members = value.get("rotations")
    if "rotations" not in value:
        return None
    if not is_list(members) or not members or any(len(one) != 2 for one in members):
        raise UnreadableError("rotations is not a list of entries and receipts")
    return tuple(members)


def rotations_of(keys: Keys) -> tuple[Statement, ...] | None:
    """Gives what evidence has to say of a log's keys."""
    return tuple([one.to_json() for one in keys.rotations]) or None


def fork_of(smaller: bytes, larger: bytes, nodes: Sequence[bytes], keys: Keys) -> Evidence:
    """Two signed heads that cannot belong to one log, and the nodes if their sizes differ."""
    notes = tuple([{"checkpoint": note.decode("utf-8")} for note in (smaller, larger)])
    return Evidence("FORK", notes, tuple(nodes) or None, rotations_of(keys))


def receipt_of(tree: Folder, note: str, index: int, size: int | None = None) -> str:
    """Writes the receipt of an entry against a checkpoint of a folder's log. Spec: LOG-5."""
    path = [base64.b64encode(one).decode("ascii") for one in tree.inclusion(index, size)]
    return "\n".join(["c2sp.org/tlog-proof@v1", f"index {index}", *path, "", note])


def entry_of(tree: Folder, note: str, index: int, size: int | None = None) -> Statement:
    """Makes the statement that the log holds an entry.

    Args:
        tree: The log.
        note: A checkpoint of it.
        index: Of the entry.
        size: The checkpoint's, if it is not the whole folder's.
    """
    receipt = receipt_of(tree, note, index, size)
    return {"entry": tree.entry(index).decode("utf-8"), "receipt": receipt}


def hand_file(
    tree: Folder, note: str, indices: Sequence[int], disclosed: dict[str, Any] | None
) -> str:
    """Writes a hand's file from the log: `table.opened`, its events, the proof of the last.

    Spec: FILE-1, FILE-2, FILE-3
    """
    value: dict[str, Any] = {
        "events": [tree.entry(index).decode("utf-8") for index in indices],
        "format": FILE_FORMAT,
        "openings": [],
        "proof": receipt_of(tree, note, indices[-1]),
    }
    if disclosed is not None:
        value["disclosed"] = {name: disclosed[name] for name in ("discards", "server_seed")}
    return encode_file(value) or ""
