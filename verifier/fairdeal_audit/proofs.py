"""Writes evidence for what a replay found. Spec: AUD-4, AUD-5."""

from base64 import b64encode
from dataclasses import replace

from fairdeal_audit.evidence import CODES, Evidence, entry_of, hand_file, rotations_of
from fairdeal_audit.progress import Finding
from fairdeal_audit.tiles import WIDTH, Folder
from fairdeal_verifier.encoding import FormatError, UnreadableError
from fairdeal_verifier.events import parse
from fairdeal_verifier.kinds import MAX_SEATS
from fairdeal_verifier.note import Checkpoint
from fairdeal_verifier.rotation import Keys


def own_note(head: Checkpoint, keys: Keys) -> str:
    """Writes a checkpoint with no signature line but the log's. Spec: FILE-5."""
    key = keys.at(head.size)
    line = next(
        data for name, data in head.signatures if name == key.name and data[:4] == key.key_id
    )
    return f"{head.text}\n— {key.name} {b64encode(line).decode('ascii')}\n"


def evidence_for(finding: Finding, tree: Folder, note: str, keys: Keys) -> list[Evidence]:
    """Writes what may prove a finding; which of it does, if any, is for a judge to say.

    Args:
        finding: Of a replay of the tree.
        tree: The whole log.
        note: Its checkpoint, with one signature line.
        keys: The log's.
    """
    entries, rotations = finding.entries, rotations_of(keys)
    if finding.code not in CODES or not entries:
        return []
    if finding.code == "CHAIN" and len(entries) == 1:
        twin = _twin(tree, entries[0])
        if twin is None:
            return []
        entries = (twin, *entries)
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
    body = parse(tree.entry(finding.disclosed).decode("ascii"), MAX_SEATS).body
    file = {"file": hand_file(tree, note, entries, body)}
    disclosed = entry_of(tree, note, finding.disclosed)
    return [Evidence("HAND", (file, disclosed), None, rotations)]


def _twin(tree: Folder, index: int) -> int | None:
    """Searches the log for the event before this one that has its table and its `seq`."""
    raw = tree.entry(index)
    wanted = parse(raw.decode("ascii"), MAX_SEATS).body
    place = (wanted["table"], wanted["seq"])
    name = place[0].encode()
    for number in range(index // WIDTH + 1):
        for at, entry in enumerate(tree.bundle(number)):
            if number * WIDTH + at >= index:
                return None
            if name in entry and entry != raw:
                try:
                    body = parse(entry.decode("ascii"), MAX_SEATS).body
                except (FormatError, UnreadableError, UnicodeDecodeError):
                    continue
                if (body["table"], body["seq"]) == place:
                    return number * WIDTH + at
    return None
