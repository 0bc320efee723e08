"""Holds a log against the one that it continues, and writes what proves a difference.

Spec: AUD-5, AUD-10
"""

import json
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from fairdeal_audit.continued import Difference, Hand, compare_with, parse, parts_of
from fairdeal_audit.evidence import MAX_STATEMENTS, Evidence, entry_of, fork_of, rotations_of
from fairdeal_audit.heads import HEAD_FILE, parse_head, trusted_key
from fairdeal_audit.keys import keys_of
from fairdeal_audit.proofs import own_note
from fairdeal_audit.tiles import WIDTH, Folder, IncompleteError
from fairdeal_verifier.encoding import FormatError
from fairdeal_verifier.note import Checkpoint, LogKey, checkpoint_text
from fairdeal_verifier.rotation import Keys

_ENDS = ("hand.closed", "hand.aborted")


@dataclass(frozen=True, slots=True)
class Proof:
    """What proves a difference, and the key by which it is judged."""

    evidence: Evidence
    key: LogKey


@dataclass(frozen=True, slots=True)
class Log:
    """A fetched log.

    Attributes:
        tree: Its entries.
        keys: Its keys.
        note: Its checkpoint, as it was signed.
    """

    tree: Folder
    keys: Keys
    note: bytes

    @classmethod
    def open(cls, path: Path) -> "Log":
        """Opens the folder of `fetch`, and checks its tiles.

        Raises:
            IncompleteError: It does not hold what its checkpoint says.
        """
        keys = keys_of(path, trusted_key(path, None))
        try:
            note = (path / HEAD_FILE).read_bytes()
            head = parse_head(note)
        except (OSError, FormatError) as error:
            raise IncompleteError(f"{path / HEAD_FILE}: {error}") from None
        if not keys.have_signed(head):
            raise IncompleteError(f"{path / HEAD_FILE} is not signed by the log's key")
        tree = Folder(path, head.size)
        tree.check()
        if tree.root() != head.root:
            raise IncompleteError(f"the tiles in {path} do not have its checkpoint's root")
        return cls(tree, keys, note)


Lost = Mapping[str, Proof | None]
"""What a log says of the one before it and is not so, in sentences, and what may prove each."""


def held_against(log: Folder, head: Checkpoint, keys: Keys, continues: Path) -> Lost:
    """Holds a log against the one that it continues.

    Args:
        log: The log that continues.
        head: Its checkpoint.
        keys: Its keys.
        continues: The folder of the other one.

    Raises:
        IncompleteError: The other log was not fetched as far as it was kept.
        ValueError: This log continues none, or another.

    Spec: AUD-10
    """
    old = Log.open(continues)
    found = list(compare_with(log, old.tree, old.keys))
    made = _proofs(log, own_note(head, keys), keys, old, found)
    return {one.text: made.get(one.text) for one in found}


def _proofs(
    log: Folder, note: str, keys: Keys, old: Log, found: Sequence[Difference]
) -> dict[str, Proof]:
    """Writes what may prove differences, by their texts; whether it does is for a judge to say.

    Args:
        log: The log that continues.
        note: Its checkpoint, with no signature line but its own.
        keys: Its keys.
        old: The log that it continues.
        found: What does not fit.
    """
    first = parse(log.entry(0)) if log.size else None
    if first is None:
        return {}
    body = first.body
    size, kept = body["old_size"], body["kept_size"]
    text = checkpoint_text(body["old_origin"], size, bytes.fromhex(body["old_root"]))
    old_key = LogKey.parse(body["old_key"])
    line = b64encode(old_key.key_id + bytes.fromhex(body["old_sig"])).decode("ascii")
    named = f"{text}\n— {old_key.name} {line}\n"
    rotations = rotations_of(keys)
    made: dict[str, Proof] = {}
    # Another root at old_size, or too little of the old log: nothing of it can be shown by the
    # checkpoint that is named.
    is_known = size <= old.tree.size and old.tree.root(size).hex() == body["old_root"]
    entries = _entries(old.tree, size, found) if is_known else {}
    parts = [entry_of(log, note, index) for index in range(min(parts_of(log), log.size))]
    for one in found:
        evidence, key = None, keys.keys[0]
        if one.kind == "old_root":
            evidence, key = _fork(named, old), old.keys.keys[0]
        elif one.kind == "kept_root" and is_known and 0 < kept < size:
            nodes = tuple(old.tree.consistency(kept, size))
            evidence = Evidence("LOST", (parts[0],), nodes, rotations)
        elif one.hand is not None and is_known:
            table, hand = one.hand
            shown = _shown(entries.get(one.hand, []), kept, is_open=one.kind == "unsaid")
            those = tuple([entry_of(old.tree, named, index, size) for index in shown])
            if one.kind == "wrong":
                said = [n for n, part in enumerate(parts) if _names(part["entry"], table, hand)]
                own = tuple([parts[n] for n in said[:1]])
            else:
                own = tuple(parts) if len(parts) + 2 <= MAX_STATEMENTS else ()
            if own and those:
                evidence = Evidence("LOST", (*own, *those), None, rotations)
        if evidence is not None:
            made[one.text] = Proof(evidence, key)
    return made


def _names(entry: str, table: str, hand: int) -> bool:
    step = parse(entry.encode())
    return step is not None and [table, hand] in step.body["lost"]


def _fork(named: str, old: Log) -> Evidence:
    """The checkpoint that is named, and the one that was fetched: two of one key."""
    head, own = parse_head(named.encode()), parse_head(old.note)
    smaller, larger = sorted(((head, named.encode()), (own, old.note)), key=_size)
    nodes: list[bytes] = []
    if 0 < smaller[0].size < larger[0].size <= old.tree.size:
        nodes = old.tree.consistency(smaller[0].size, larger[0].size)
    return fork_of(smaller[1], larger[1], nodes, old.keys)


def _size(one: tuple[Checkpoint, bytes]) -> int:
    return one[0].size


def _entries(
    old: Folder, size: int, found: Sequence[Difference]
) -> dict[Hand, list[tuple[int, str]]]:
    """Finds the events of the hands in question: their indices and types."""
    events: dict[Hand, list[tuple[int, str]]] = {one.hand: [] for one in found if one.hand}
    names = {table.encode() for table, _ in events}
    for number in range(-(-size // WIDTH) if events else 0):
        for at, raw in enumerate(islice(old.bundle(number), size - number * WIDTH)):
            if b'"hand":' not in raw or not any(name in raw for name in names):
                continue
            try:
                event = json.loads(raw)
                hand = (event["table"], event["hand"])
                if hand in events:
                    events[hand].append((number * WIDTH + at, event["type"]))
            except (ValueError, LookupError, TypeError, RecursionError):
                continue  # what is no event is found elsewhere
    return events


def _shown(events: list[tuple[int, str]], kept: int, *, is_open: bool) -> list[int]:
    """Gives the indices of what shows that a hand was open, or was not, after so many entries."""
    before = [one for one in events if one[0] < kept]
    after = [one for one in events if one[0] >= kept]
    if is_open:
        return [before[-1][0], after[0][0]] if before and after else []
    ends = [index for index, kind in before if kind in _ENDS]
    opened = [index for index, kind in after if kind == "hand.opened"]
    return ends[:1] or opened[:1]
