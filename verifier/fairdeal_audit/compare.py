"""Can two heads be of one log? Spec: AUD-7."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fairdeal_audit.evidence import Evidence, Statement, fork_of, rotations_of
from fairdeal_audit.heads import note_in, parse_head
from fairdeal_audit.judge import judge
from fairdeal_audit.keys import keys_of, out_of_force
from fairdeal_audit.replay import head_of
from fairdeal_audit.tiles import Folder, IncompleteError
from fairdeal_verifier.encoding import FormatError, UnreadableError, read_json
from fairdeal_verifier.note import Checkpoint, LogKey
from fairdeal_verifier.rotation import Keys, Rotation


@dataclass(frozen=True, slots=True)
class Compared:
    """What two heads have to do with each other.

    Attributes:
        code: `FORK`, `KEY`, or "".
        text: In a sentence.
        evidence: What proves it.
    """

    code: str
    text: str
    evidence: Evidence | None = None


def compare(
    first: bytes,
    second: bytes,
    key: LogKey,
    folders: Sequence[Path],
    rotations: Sequence[Rotation] = (),
) -> Compared:
    """Compares two heads.

    Args:
        first: A checkpoint, a receipt or a hand's file.
        second: Another.
        key: The log's key, or one of them if it has had several.
        folders: Of `fetch`, of which one may have the larger head's tree.
        rotations: Of the log's key; those of the folders are known.

    Raises:
        UnreadableError: One holds no checkpoint that the log's key has signed.
        IncompleteError: No folder shows how the sizes go together.
    """
    told = [Keys.of(key, rotations), *[keys_of(folder, key) for folder in folders]]
    keys = max(told, key=lambda one: len(one.keys))
    read = [_read(data, keys) for data in (first, second)]
    for note, head in read:
        accused = out_of_force(note, head, keys)
        if accused is not None:
            text = f"a key that is not in force has signed the checkpoint of {head.size:,} entries"
            return Compared("KEY", text, accused)
    (small_note, small), (large_note, large) = sorted(read, key=lambda one: one[1].size)
    if small.size == large.size:
        if small.root == large.root:
            return Compared("", f"both have {small.size:,} entries and one root")
        text = f"two roots for {small.size:,} entries"
        return Compared("FORK", text, fork_of(small_note, large_note, (), keys))
    pair = [_last_of(data) for data in (first, second)]
    statements = tuple([one for one in pair if one is not None])
    evidence = Evidence("FORK", statements, None, rotations_of(keys))
    why = judge(evidence, key) if len(evidence.statements) == 2 else ""
    if why:
        return Compared("FORK", why, evidence)
    for folder in folders:
        tree = Folder(folder, head_of(folder, keys).size)
        if tree.size < large.size or tree.root(large.size) != large.root:
            continue
        tree.check()
        if tree.root(small.size) == small.root:
            return Compared("", f"the {large.size:,} entries extend the {small.size:,}")
        nodes = tree.consistency(small.size, large.size) if small.size else ()
        text = f"the log of {large.size:,} entries does not extend the one of {small.size:,}"
        return Compared("FORK", text, fork_of(small_note, large_note, nodes, keys))
    raise IncompleteError(
        f"no folder has the tree of {large.size:,} entries and this root: fetch it, and give --dir"
    )


def _last_of(data: bytes) -> Statement | None:
    """Gives the last event of a hand's file, and its receipt. Spec: FILE-5."""
    if data[:1] != b"{":
        return None
    value = read_json(data)[1]
    events = value.get("events")
    if type(events) is not list or not events or type(events[-1]) is not str:
        return None
    return {"entry": events[-1], "receipt": value["proof"]}


def _read(data: bytes, keys: Keys) -> tuple[bytes, Checkpoint]:
    try:
        note = note_in(data)
        head = parse_head(note)
    except FormatError as error:
        raise UnreadableError(str(error)) from None
    if not any(head.is_signed_by(key) for key in keys.keys):
        raise UnreadableError("a checkpoint is not signed by the log's key")
    return note, head
