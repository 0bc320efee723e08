"""Writes evidence for what a replay found. Spec: AUD-4, AUD-5."""

from base64 import b64encode
from collections.abc import Iterable, Mapping
from dataclasses import replace

from fairdeal_audit.evidence import CODES, Evidence, entry_of, hand_file, rotations_of
from fairdeal_audit.progress import Finding
from fairdeal_audit.table import event_at
from fairdeal_audit.tiles import WIDTH, Folder
from fairdeal_audit.worker import table_of
from fairdeal_verifier.encoding import FormatError, UnreadableError
from fairdeal_verifier.events import parse
from fairdeal_verifier.kinds import MAX_SEATS
from fairdeal_verifier.note import Checkpoint
from fairdeal_verifier.rotation import Keys

Place = tuple[str, int]
"""A table, and an event's `seq`."""


def own_note(head: Checkpoint, keys: Keys) -> str:
    """Writes a checkpoint with no signature line but the log's. Spec: FILE-5."""
    key = keys.at(head.size)
    line = next(
        data for name, data in head.signatures if name == key.name and data[:4] == key.key_id
    )
    return f"{head.text}\n— {key.name} {b64encode(line).decode('ascii')}\n"


def evidence_for(
    finding: Finding, tree: Folder, note: str, keys: Keys, twins: Mapping[int, int]
) -> list[Evidence]:
    """Writes what may prove a finding; which of it does, if any, is for a judge to say.

    Args:
        finding: Of a replay of the tree.
        tree: The whole log.
        note: Its checkpoint, with one signature line.
        keys: The log's.
        twins: As `twins_of` gives them.
    """
    entries, rotations = finding.entries, rotations_of(keys)
    if finding.code not in CODES or not entries:
        return []
    if finding.code == "CHAIN" and len(entries) == 1:
        if entries[0] not in twins:
            return []
        entries = (twins[entries[0]], *entries)
    if finding.code != "HAND":
        statements = tuple([entry_of(tree, note, one) for one in entries])
        plain = Evidence(finding.code, statements, None, rotations)
        if finding.code != "KEY" or len(entries) != 1:
            return [plain]
        more = [replace(plain, statements=(*statements, {"checkpoint": note}))]
        if 0 < entries[0] < tree.size:
            more.append(replace(plain, consistency=tuple(tree.consistency(entries[0]))))
        return [plain, *more]
    if finding.disclosed is None:
        file = {"file": hand_file(tree, note, entries, None)}
        return [Evidence("HAND", (file,), None, rotations)]
    body = event_at(tree, finding.disclosed).body
    file = {"file": hand_file(tree, note, entries, body)}
    disclosed = entry_of(tree, note, finding.disclosed)
    return [Evidence("HAND", (file, disclosed), None, rotations)]


def twins_of(tree: Folder, findings: Iterable[Finding]) -> dict[int, int]:
    """Searches the log for events with the table and the `seq` of another one, after it.

    Once for all: a log may have thousands of them, and to each a search of its own.

    Returns:
        By the index of an event that a `CHAIN` names alone, that of the first other one, if any.
    """
    asked: dict[int, tuple[Place, bytes]] = {}
    for finding in findings:
        if finding.code == "CHAIN" and len(finding.entries) == 1:
            raw = tree.entry(finding.entries[0])
            asked[finding.entries[0]] = (_place(raw), raw)
    # Of each place the first event, and the first that is not the same: one of them is another
    # than the one asked for.
    found: dict[Place, list[tuple[int, bytes]]] = {place: [] for place, _ in asked.values()}
    names = {table.encode() for table, _ in found}
    for number in range(max(asked, default=-1) // WIDTH + 1):
        for at, raw in enumerate(tree.bundle(number)):
            if table_of(raw) not in names:
                continue
            try:
                there = found.get(_place(raw), [])
            except (FormatError, UnreadableError, UnicodeDecodeError):
                continue
            if len(there) < 2 and all(raw != known for _, known in there):
                there.append((number * WIDTH + at, raw))
    return {
        index: other
        for index, (place, raw) in asked.items()
        for other in [one for one, known in found[place] if known != raw and one < index][:1]
    }


def _place(raw: bytes) -> Place:
    body = parse(raw.decode("ascii"), MAX_SEATS).body
    return body["table"], body["seq"]
