"""The log's keys as its entries name them, the sealing key, and the files that hold them.

Which key is the log's is said by the entries of the database alone. A file that they do not name
signs nothing, however it came to be there. Spec: LOG-27, LOG-29. Which one is the sealing key the
database says as well, by its id.
"""

from __future__ import annotations

import contextlib
import hmac
from pathlib import Path
from typing import Final

from fairdeal.errors import FairdealError, FormatError
from fairdeal.log.entries import LogContinued, LogRotated, parse_log_entry
from fairdeal.log.keys import LogKeys, rotations_document
from fairdeal.log.note import SigningKey, VerifierKey
from fairdeal.log.proof import Receipt
from fairdeal.merkle import Tree
from fairdeal_api import system
from fairdeal_api.anchor import Anchor
from fairdeal_api.store import EventRow, Identity, Reader
from fairdeal_api.system import (
    EXIT_LOST,
    LOG_KEY,
    NEXT_LOG_KEY,
    NEXT_SEALING_KEY,
    SEALING_KEY,
    Keys,
    SealingKey,
    StartRefused,
)

NO_TABLE: Final = ""
"""In the place of a table's id, of entries that belong to none."""


def log_entries(reader: Reader) -> list[tuple[EventRow, LogRotated | LogContinued]]:
    """The entries of a log that belong to no table, with their rows.

    Raises:
        StartRefused: One of them is none.
    """
    try:
        return [(row, parse_log_entry(row.body)) for row in reader.own_entries()]
    except FairdealError as error:
        raise StartRefused(
            f"An entry of the log itself is {error.code}; `fairdeal fsck` says more."
        ) from None


def own_entry(body: bytes) -> LogRotated | LogContinued | None:
    """An entry that belongs to no table; None if it is not one."""
    try:
        return parse_log_entry(body)
    except FormatError:
        return None


def log_keys(reader: Reader) -> LogKeys:
    """The keys that a database's log has had; that their roots are the log's is checked elsewhere.

    Raises:
        StartRefused: A rotation does not follow from what was before it.
    """
    try:
        keys = LogKeys(VerifierKey.parse(reader.identity().log_key))
        for row, entry in log_entries(reader):
            if isinstance(entry, LogRotated):
                keys = keys.rotate(entry, row.idx, entry.root)
    except FairdealError as error:
        raise StartRefused(
            f"The database's keys do not follow each other ({error.code}); "
            "`fairdeal fsck` says more."
        ) from None
    return keys


def follows(reader: Reader) -> LogContinued | None:
    """The entry by which a log begins that continues another one. Spec: LOG-30."""
    for _, entry in log_entries(reader):
        return entry if isinstance(entry, LogContinued) else None
    return None


def verify_roots(keys: LogKeys, tree: Tree) -> None:
    """Hold each rotation against the log.

    Raises:
        StartRefused: One is of another log. Spec: LOG-26.
    """
    for rotation in keys.rotations:
        if rotation.size >= len(tree) or tree.root(rotation.size) != rotation.root:
            raise StartRefused(
                f"The rotation at entry {rotation.size} is of another log; "
                "`fairdeal fsck` says more."
            )


def find(origin: str, keys: Keys, named: VerifierKey) -> SigningKey | None:
    """The private half of a key, from whichever file holds it."""
    for secret in (keys.log, keys.next_log):
        if secret is not None:
            found = SigningKey(origin, secret)
            if found.verifier == named:
                return found
    return None


def in_force(
    origin: str, keys: Keys, chain: LogKeys, anchor: Anchor | None = None, size: int = 0
) -> SigningKey:
    """The private half of the key that signs what comes next. Spec: LOG-29.

    Args:
        origin: Of the log.
        keys: What the files hold.
        chain: What the entries say.
        anchor: To say more of what is wrong.
        size: Of the database's log, for the same.

    Raises:
        StartRefused: No file holds it.
    """
    found = find(origin, keys, chain.current)
    if found is not None:
        return found
    wrong = "The log key is another one than the database's"
    if anchor is not None:
        seen = 0
        with contextlib.suppress(StartRefused):
            seen = anchor.load(LogKeys(SigningKey(origin, keys.log).verifier)).size
        if seen > size:
            raise StartRefused(
                f"{wrong}: it holds {size} entries and the anchor has seen {seen}, under a "
                "key that came later. It was rolled back, for example by restoring a backup."
            )
    raise StartRefused(f"{wrong}.")


def settle(folder: Path, signing: SigningKey) -> bool:
    """Finish a rotation that was cut off after it was committed: the new key takes its name.

    Args:
        folder: Of the keys.
        signing: The key in force.

    Returns:
        Whether there was something to finish.
    """
    return _give_name(folder, signing.secret, NEXT_LOG_KEY, LOG_KEY)


def _give_name(folder: Path, secret: bytes, following: str, name: str) -> bool:
    """Give a rotation's key its name, which ends the old key's file; False if it has it."""
    if hmac.compare_digest(system.read_key(folder / name), secret):
        return False
    if not hmac.compare_digest(system.read_key(folder / following), secret):
        raise StartRefused(
            f"{following} is another key than the one in force; another process has changed it.",
            EXIT_LOST,
        )
    (folder / following).replace(folder / name)
    system.sync_folder(folder)
    return True


def sealing_key(keys: Keys, identity: Identity, whose: str = "database") -> SealingKey:
    """The key that a database's values are sealed under, from whichever file holds it.

    Args:
        keys: What the files hold.
        identity: What the database says.
        whose: What to call it.

    Raises:
        StartRefused: No file holds it, or it waits for a name that another key has.
    """
    wanted, found = identity.sealing_id, keys.sealing.id
    if found == wanted:
        return keys.sealing
    if keys.next_sealing is None or keys.next_sealing.id != wanted:
        raise StartRefused(
            f"The sealing key is another one than the {whose}'s: {SEALING_KEY} is {found}, and "
            f"what the {whose} holds is sealed under {wanted}."
        )
    if found != identity.old_sealing_id:
        # Not left by a rotation: finished like one, it would remove a key that backups may need.
        raise StartRefused(
            f"{NEXT_SEALING_KEY} holds {wanted}, the sealing key of the {whose}, and {SEALING_KEY} "
            f"holds {found}, which is not to be lost: keep that one elsewhere, and give "
            f"{NEXT_SEALING_KEY} its name."
        )
    return keys.next_sealing


def settle_sealing(folder: Path, key: SealingKey) -> bool:
    """The same for the sealing key: the new one takes its name, and the old one is gone.

    Args:
        folder: Of the keys.
        key: The database's, as `sealing_key` has found it.

    Returns:
        Whether there was something to finish.
    """
    return _give_name(folder, key.secret, NEXT_SEALING_KEY, SEALING_KEY)


def published(reader: Reader, tree: Tree, size: int | None = None) -> dict[str, object]:
    """What the log says of its rotations to everybody. Spec: LOG-32.

    Args:
        reader: Of the database.
        tree: Of the log.
        size: Up to which entries are shown; all by default.
    """
    found = []
    for row, entry in log_entries(reader):
        covering = reader.checkpoint_over(row.idx)
        if isinstance(entry, LogRotated) and covering is not None:
            end, note = covering
            if size is None or end <= size:
                path = tuple(tree.inclusion_path(row.idx, end))
                found.append((entry, Receipt(row.idx, path, note)))
    return rotations_document(found)
