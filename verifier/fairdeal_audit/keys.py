"""A log's keys, as the log itself and others tell of them. Spec: AUD-9, LOG-26, LOG-27, LOG-32."""

from pathlib import Path

from fairdeal_audit.evidence import Evidence, rotations_of
from fairdeal_audit.heads import write
from fairdeal_audit.source import Source
from fairdeal_audit.tiles import IncompleteError
from fairdeal_verifier.encoding import MAX_FILE, FormatError, UnreadableError
from fairdeal_verifier.events import Step
from fairdeal_verifier.note import Checkpoint, LogKey
from fairdeal_verifier.rotation import (
    Keys,
    Rotated,
    Rotation,
    read_rotations,
    served,
    write_rotations,
)

ROTATIONS_FILE = "rotations"


def kept_rotations(folder: Path) -> tuple[Rotation, ...]:
    """Reads the rotations that a folder holds.

    Raises:
        IncompleteError: They lead nowhere.
    """
    path = folder / ROTATIONS_FILE
    try:
        return read_rotations(path.read_bytes())
    except FileNotFoundError:
        return ()
    except (OSError, UnreadableError) as error:
        raise IncompleteError(f"{path}: {error}") from None


def served_rotations(source: Source) -> tuple[tuple[Rotation, ...], str]:
    """Fetches the rotations that a log serves.

    Returns:
        They, and what is wrong with them, or "".

    Raises:
        IncompleteError: What is served is something else.
    """
    data = source.read(ROTATIONS_FILE, MAX_FILE)
    try:
        return served(data) if data is not None else (), ""
    except UnreadableError as error:
        raise IncompleteError(f"what the log serves of its keys cannot be read: {error}") from None
    except FormatError as error:
        return (), f"what it serves of its keys leads nowhere: {error}"


def stray(rotations: tuple[Rotation, ...], known: tuple[Rotation, ...], trusted: LogKey) -> str:
    """Says why what a log serves of its keys does not follow from the trusted one, or "".

    A log of another origin is not this one, and says nothing about it.

    Args:
        rotations: What is served.
        known: What was taken before; to serve its beginning is to serve an older state.
        trusted: The key.

    Spec: AUD-9
    """
    if [one.event for one in rotations] == [one.event for one in known[: len(rotations)]]:
        return ""
    is_own = any(one.event.origin == trusted.name for one in rotations)
    if is_own and not Keys.of(trusted, rotations).rotations:
        return (
            f"what it serves of its keys does not lead from {trusted.key_id.hex()}, the one trusted"
        )
    return ""


def keep_rotations(folder: Path, keys: Keys) -> None:
    """Keeps the rotations that the trusted key leads to."""
    if keys.rotations and kept_rotations(folder) != keys.rotations:
        write(folder / ROTATIONS_FILE, write_rotations(keys.rotations))


def keys_of(folder: Path, trusted: LogKey) -> Keys:
    """Gives a folder's keys.

    Raises:
        IncompleteError: Its rotations lead nowhere.
    """
    return Keys.of(trusted, kept_rotations(folder))


def fork_of_keys(
    kept: tuple[Rotation, ...], served: tuple[Rotation, ...], trusted: LogKey
) -> Evidence | None:
    """Finds a key of the log that has named two successors. Spec: AUD-5."""
    for rotations, others in ((kept, served), (served, kept)):
        keys = Keys.of(trusted, rotations)
        for one in keys.rotations:
            for other in others:
                if other.event.old == one.event.old and other.event.raw != one.event.raw:
                    pair = (one.to_json(), other.to_json())
                    return Evidence("FORK", pair, None, rotations_of(keys))
    return None


def out_of_force(note: bytes, head: Checkpoint, keys: Keys) -> Evidence | None:
    """Finds a key of the log that has signed a checkpoint of a size at which it is not in force.

    Spec: LOG-27, AUD-5
    """
    for one in keys.rotations:
        if is_out_of_force(one.event, head):
            statements = (one.to_json(), {"checkpoint": note.decode("utf-8")})
            return Evidence("KEY", statements, None, rotations_of(keys))
    return None


def is_out_of_force(event: Rotated, head: Checkpoint) -> bool:
    """Says if a change of keys and a checkpoint contradict each other. Spec: AUD-5, LOG-27."""
    if head.size <= event.size and head.is_signed_by(event.new):
        return True
    if head.size < event.size or not head.is_signed_by(event.old):
        return False
    return head.size > event.size or head.root != event.root


def table_fault(keys: Keys, index: int, table: Step) -> tuple[str, tuple[int, ...]]:
    """Says what is wrong with the log that a table names, or "", and the entries that prove it.

    Spec: LOG-28
    """
    named = LogKey.parse(table.body["log_key"])
    if table.body["origin"] != keys.name or named.name != keys.name:
        return "the table names another log's origin", (index,)
    if named == keys.at(index + 1):
        return "", ()
    changes = [
        one.event.size
        for one in keys.rotations
        if named == (one.event.old if one.event.size < index else one.event.new)
    ]
    entries = (changes[0], index) if changes else ()
    return "the table names a key of the log that is not in force", entries
