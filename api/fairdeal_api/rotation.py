"""The log's key changes, or the sealing key, while the service is stopped. Spec: LOG-29.

Every table's terms name the log's key, so every table is ended first. Then one entry, signed by
both keys, moves the log from one to the next: one transaction with the checkpoint that the new key
signs. What the files are called comes last, for which key is the log's is not theirs to say.

The sealing key is nobody's but the service's, so nothing is ended for it. One transaction seals
everything anew and names the new key; then the old key's file goes.

A stop comes through between tables, and between values that are sealed anew: the key is the old one
then. Once the transaction is about to be committed, all is done to its end.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from fairdeal.log.entries import LogRotated
from fairdeal.log.note import SigningKey, VerifierKey
from fairdeal_api import keyring, stopping, system
from fairdeal_api.logging import LOG
from fairdeal_api.sealing import Resealer, Sealer
from fairdeal_api.service import Service
from fairdeal_api.settings import Settings
from fairdeal_api.store import TableRow
from fairdeal_api.system import SealingKey, StartRefused

_NAMED = 5
_WAITS = (
    "The sealing key is the new one, but the database could not be written anew without what the "
    "old one has sealed; its file stays until the next start or rotation does that. Is the disk "
    "full, or somebody reading?"
)


@dataclass(slots=True)
class Rotated:
    """What was done.

    Attributes:
        old: The key that was in force.
        new: The one that is now.
        size: Index of the entry.
        closed: Tables that were ended.
        aborted: Open hands that were ended for it, by table and number.
        stuck: Tables that cannot be closed, since their seeds are lost.
        finished: Whether this was the end of a rotation that had been cut off, and no new one.
    """

    old: VerifierKey
    new: VerifierKey
    size: int
    closed: list[str] = field(default_factory=list)
    aborted: list[tuple[str, int]] = field(default_factory=list)
    stuck: list[str] = field(default_factory=list)
    finished: bool = False


@dataclass(frozen=True, slots=True)
class Resealed:
    """What was done.

    Attributes:
        new: Id of the sealing key that is in force now.
        old: Of the one before, whose file is gone.
        values: How many were sealed anew.
        stuck: How many do not open: they were left as they are, and were lost before.
        finished: Whether this was the end of a rotation that had been cut off, and no new one.
    """

    new: str
    old: str
    values: int = 0
    stuck: int = 0
    finished: bool = False


def rotate(settings: Settings, *, abort_hands: bool = False) -> Rotated:
    """Change the log's key.

    Args:
        settings: Whose; the service is stopped.
        abort_hands: Whether hands that are open end here, with reason `operator`.

    Raises:
        StartRefused: It cannot be done; one sentence says why. The key is the old one.
        Stopped: The key is the old one.
    """
    with stopping.whole():
        return asyncio.run(_rotate(settings, abort_hands))


async def _rotate(settings: Settings, abort_hands: bool) -> Rotated:
    # The same checks, lock and epoch as a start: what is signed here, a start would sign.
    service = Service(settings)
    await service.start(watch=False)
    try:
        if service.settled:
            stopping.too_late()  # it is done
            last = service.log_keys.rotations[-1]
            return Rotated(last.old_key, last.new_key, last.size, finished=True)
        done = Rotated(service.verifier_key, service.verifier_key, 0)
        await _end_tables(service, done, abort_hands=abort_hands)
        stopping.may_stop()
        stopping.too_late()
        new = SigningKey(
            settings.log_origin, system.next_key(settings.keys_path / system.NEXT_LOG_KEY)
        )
        if any(key.key == new.verifier.key for key in service.log_keys):
            raise StartRefused(
                f"The key in {settings.keys_path / system.NEXT_LOG_KEY} is one that the log has "
                "had; remove it."
            )
        seq = len(keyring.log_entries(service.reader))
        entry: LogRotated = await service.ledger.rotate(new, seq)
        LOG.write("key.rotated", size=entry.size)
        service.settle_log_key(new)
        done.new, done.size = new.verifier, entry.size
    finally:
        await service.stop()
    return done


async def _end_tables(service: Service, done: Rotated, *, abort_hands: bool) -> None:
    """Disclose and close every table; hands that are open only if that was asked for.

    Spec: LOG-28
    """
    open_hands = service.reader.open_hands()
    if open_hands and not abort_hands:
        raise StartRefused(
            f"{_names(open_hands)}: a table's terms name the log's key, so the key changes when "
            "no hand is open. Let them end, or abort them with --abort-hands."
        )
    for row in open_hands:
        stopping.may_stop()
        await service.dealer.abort(row.id)
        done.aborted.append((row.id, row.hand))
    for table in service.reader.unclosed():
        stopping.may_stop()
        if await service.dealer.close(table):
            done.closed.append(table)
        else:
            done.stuck.append(table)
    if service.reader.open_hands():
        raise StartRefused("A hand that is open cannot be aborted; the key is the old one.")


def _names(rows: list[TableRow]) -> str:
    named = ", ".join(f"hand {row.hand} of {row.id}" for row in rows[:_NAMED])
    more = f" and {len(rows) - _NAMED} more" if len(rows) > _NAMED else ""
    return f"{named}{more} {'is' if len(rows) == 1 else 'are'} open"


def rotate_sealing(settings: Settings) -> Resealed:
    """Change the sealing key: everything that is sealed is sealed anew. Hands go on.

    Args:
        settings: Whose; the service is stopped.

    Raises:
        StartRefused: It cannot be done, or not to its end; one sentence says why, and which key it
            is.
        Stopped: The key is the old one.
    """
    with stopping.whole():
        return asyncio.run(_rotate_sealing(settings))


async def _rotate_sealing(settings: Settings) -> Resealed:
    # As above: under the lock, in an epoch of its own, on a log that was looked at.
    service = Service(settings)
    await service.start(watch=False)
    try:
        old = service.sealing_key
        if service.sealing_settled:
            stopping.too_late()  # it is done
            before = service.reader.identity().old_sealing_id or ""
            return Resealed(old.id, before, finished=True)
        if service.sealing_waits:
            raise StartRefused(_WAITS)
        path = settings.keys_path / system.NEXT_SEALING_KEY
        new = SealingKey(system.next_key(path))
        if new.id == old.id:
            raise StartRefused(f"The key in {path} is the one in force; remove it.")
        reseal = Resealer(service.sealer, Sealer(new, settings.log_origin))
        scrubbed = service.ledger.reseal(old.id, new.id, reseal)
        stopping.too_late()
        LOG.write("sealing.rotated", count=reseal.done)
        if not scrubbed:
            raise StartRefused(_WAITS)
        service.settle_sealing_key(new)
    finally:
        await service.stop()
    return Resealed(new.id, old.id, reseal.done, reseal.stuck)
