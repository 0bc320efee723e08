"""The single writer: everything in flight goes into one transaction, with one checkpoint.

The event loop decides the order: it places the entries of a batch in the log, signs the
checkpoint that covers them, and writes their answers. A thread commits the batch and moves the
anchor. Only then is anybody told. While it commits, the next batch gathers by itself.

Whatever goes wrong between the two ends the process: a commit of unknown result must not be
followed by an acknowledgement, nor a commit that another process has prevented. Spec: LOG-1,
LOG-6, LOG-7, LOG-20.
"""

from __future__ import annotations

import asyncio
import os
import queue
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final, NamedTuple, NoReturn

from fairdeal.log.checkpoint import Checkpoint
from fairdeal.log.entries import LogRotated
from fairdeal.log.note import SigningKey
from fairdeal.log.proof import Receipt, Receipts
from fairdeal.log.tiles import Tile, hash_tile
from fairdeal.merkle import Tree, leaf_hash
from fairdeal_api import system
from fairdeal_api.anchor import Anchor
from fairdeal_api.kept import Key
from fairdeal_api.logging import LOG
from fairdeal_api.problems import Problem
from fairdeal_api.stopping import Stopped
from fairdeal_api.store import (
    Batch,
    Head,
    Reseal,
    Row,
    Rows,
    Step,
    Writer,
)

# A batch has its own costs, as much as two requests: a checkpoint's signature, two syncs, some
# twenty changes of threads. A few turns of the loop, microseconds when nothing else goes on, bring
# in who is just arriving; past a number of entries that costs little each, waiting would only keep
# the disk idle.
_TURNS: Final = 8
_ENOUGH: Final = 32


class Frozen(Exception):  # noqa: N818 - what has happened
    """A witness holds what this log does not extend. Spec: WIT-7."""


def end_process(error: BaseException) -> NoReturn:
    """Stop at once, without running anything that could still answer somebody. Spec: LOG-20."""
    lost = isinstance(error, system.Overtaken)
    LOG.write("ledger.lost" if lost else "ledger.broken", error=type(error).__name__)
    if isinstance(error, Frozen):
        os._exit(system.EXIT_FROZEN)
    os._exit(system.EXIT_LOST if lost else system.EXIT_BROKEN)


@dataclass(slots=True)
class Entry:
    """What one request writes.

    Attributes:
        table: Id of the table.
        seq: The table's newest event number, after this entry.
        events: `(seq, hand, bytes)` of each event.
        finish: Makes the answer's bytes, given the log index of the first event, and a receipt for
            the last, in UTF-8; empty if there was no event. It must not fail, as its events may
            be on disk by then.
        rows: What else is written. A log index in them counts from this entry's first event.
        step: The table's, if there was a table before.
        key: Under what to keep the answer, if it is to be kept.
        apart: Whether it is kept by this key; else by the last of the events.
        hand: Number of the hand that it is about, 0 for none: under it it is sealed and dropped.
        status: Of the answer.
        kept: What to keep of the answer if its events and its receipt can be put back in; else the
            whole answer is kept.
        settle: Called when all this is durable, with the log index of the first event, before
            anybody is told; whoever awaits the answer may be gone by then.
        first: Log index of the first event, once there is one.
        answer: Once it is made.
    """

    table: str
    seq: int
    events: list[tuple[int, int, bytes]]
    finish: Callable[[int, bytes], bytes]
    rows: Sequence[Row] = ()
    step: Step | None = None
    key: Key | None = None
    apart: bool = False
    hand: int = 0
    status: int = 200
    kept: bytes | None = None
    settle: Callable[[int], None] | None = None
    first: int = -1
    answer: bytes | None = field(default=None, repr=False)
    future: asyncio.Future[bytes] | None = field(default=None, repr=False)


class _Job(NamedTuple):
    """A batch, and what its callers are told once it is durable."""

    batch: Batch
    entries: list[Entry]
    receipts: Receipts | None
    """None without an event."""


Seal = Callable[[str, int, bytes], bytes]
"""Seals an answer for a table and a hand."""


class Ledger:
    """Owns the tree, the head, and the thread that owns the connection."""

    def __init__(
        self,
        *,
        writer: Writer,
        anchor: Anchor,
        key: SigningKey,
        tree: Tree,
        head: Head,
        note: str,
        clock: system.Clock,
        seal: Seal,
        fatal: Callable[[BaseException], object] = end_process,
    ) -> None:
        """Take over a log that `anchor.verify_start` has passed.

        Args:
            writer: The database.
            anchor: The outside checkpoint; it holds `note`.
            key: The log's key.
            tree: All leaf hashes.
            head: The database's head; it is that of `tree`.
            note: The checkpoint of `head`.
            clock: Log time.
            seal: Seals answers that are kept.
            fatal: What to do when the result of a commit is not known.
        """
        self._writer, self._anchor, self._key = writer, anchor, key
        self._tree, self._head, self._clock, self._seal = tree, head, clock, seal
        self._fatal = fatal
        self._released = (head.size, note)
        self._waiting: list[Entry] = []
        self._busy = False
        self._broken = False
        self._frozen = False
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread = threading.Thread(target=self._write, name="ledger", daemon=True)
        self.batches = 0
        self.on_release: Callable[[], None] | None = None
        """Called on the event loop when there is a newer checkpoint."""

    # --- on the event loop ----------------------------------------------------------------------

    def start(self, loop: asyncio.AbstractEventLoop) -> None:
        """Start the thread."""
        self._loop = loop
        self._thread.start()

    async def stop(self) -> None:
        """Finish what is in flight, and the thread."""
        # What waits when the log is frozen waits for ever: it must not be acknowledged.
        while (self._busy or self._waiting) and not (self._frozen or self._broken):  # noqa: ASYNC110 - once, at the end
            await asyncio.sleep(0.005)
        self._jobs.put(None)
        await asyncio.to_thread(self._thread.join)

    def submit(self, entry: Entry) -> asyncio.Future[bytes]:
        """Hand in what a request writes; the future gives its answer once that is durable."""
        loop = self._loop
        if loop is None:
            raise RuntimeError("the ledger was not started")
        future: asyncio.Future[bytes] = loop.create_future()
        entry.future = future
        if self._broken:
            return future  # never resolved: nothing is acknowledged any more
        self._waiting.append(entry)
        if self._frozen:
            self._refuse([entry])
        elif not self._busy:
            self._busy = True
            loop.call_soon(self._gather, loop, _TURNS)
        return future

    def _gather(self, loop: asyncio.AbstractEventLoop, turns: int) -> None:
        """Let some turns of the loop pass: what they bring goes into the same batch."""
        if turns and len(self._waiting) < _ENOUGH:
            loop.call_soon(self._gather, loop, turns - 1)
        else:
            self._place()

    def _place(self) -> None:
        """Give the waiting entries their places, and hand the batch to the thread."""
        if self._frozen:
            self._refuse(self._waiting)
            return
        entries, self._waiting = self._waiting, []
        try:
            job = self._make_batch(entries)
        except Exception as error:  # noqa: BLE001 - the tree may have grown: no way back
            self._break(error)
            return
        self._jobs.put(job)

    def _rows_of(self, entries: list[Entry]) -> Rows:
        """What a batch of entries writes, in their order, each given its place in the log."""
        rows, index = Rows(), self._head.size
        for entry in entries:
            entry.first = first = index
            table, step = entry.table, entry.step
            before = None if step is None else step[0]
            for seq, hand, raw in entry.events:
                rows.events.append((index, table, seq, hand, before, raw, leaf_hash(raw)))
                before = index if table else None
                index += 1
            if step is not None:
                newest, number, state, patience, due = step
                old = entry.seq - len(entry.events)
                rows.moves.append(
                    (table, old, newest, entry.seq, number, state, patience, due, index - 1)
                )
            for other in entry.rows:
                rows.add(other, first)
        return rows

    def _make_batch(self, entries: list[Entry]) -> _Job:
        rows, now, old = self._rows_of(entries), self._clock.now(), self._head
        new, note, receipts = old, None, None
        if rows.events:
            tree = self._tree
            tree.extend([row[-1] for row in rows.events])
            new = Head(len(tree), tree.root(), old.epoch, now)
            note = Checkpoint(self._key.name, new.size, new.root).sign(self._key)
            receipts = Receipts(tree, new.size, note)
        for entry in entries:
            if entry.key is not None:
                self._keep(entry, entry.key, receipts, now, rows)
        self._head = new
        return _Job(Batch(old, new, note, rows), entries, receipts)

    def _keep(
        self, entry: Entry, key: Key, receipts: Receipts | None, now: int, rows: Rows
    ) -> None:
        """Keep an answer, or what of it is not in the log anyway."""
        kept, out, last = entry.kept, 0, None
        if kept is None:
            kept = self._answer(entry, receipts)
        else:
            out = len(entry.events)
            last = entry.first + out - 1
        table, hand = entry.table, entry.hand
        sealed = self._seal(table, hand, kept)
        scope, request = key
        (rows.answers_apart if entry.apart else rows.answers).append(
            (last, scope, request, table, hand, entry.status, entry.seq, out, now, sealed)
        )

    def _answer(self, entry: Entry, receipts: Receipts | None) -> bytes:
        """An entry's answer, made once."""
        if entry.answer is None:
            receipt = b""
            if entry.events and receipts is not None:
                receipt = receipts.encode(entry.first + len(entry.events) - 1)
            entry.answer = entry.finish(entry.first, receipt)
        return entry.answer

    def _write_answers(self, job: _Job) -> None:
        """Make a batch's answers, while the disk has it."""
        try:
            for entry in job.entries:
                self._answer(entry, job.receipts)
        except Exception as error:  # noqa: BLE001 - what is being committed cannot be told
            self._break(error)

    def _done(self, loop: asyncio.AbstractEventLoop, job: _Job) -> None:
        """A batch is durable and anchored: tell everybody, and begin the next."""
        batch, entries, receipts = job
        if self._frozen:
            self._refuse(entries + self._waiting)
            return
        self.batches += 1
        if batch.note is not None:
            self._released = (batch.new.size, batch.note)
            if self.on_release is not None:
                self.on_release()
        for entry in entries:
            if entry.settle is not None:
                entry.settle(entry.first)
            if entry.future is not None and not entry.future.done():
                entry.future.set_result(self._answer(entry, receipts))
        if self._waiting:
            self._gather(loop, _TURNS)
        else:
            self._busy = False

    async def rotate(self, new: SigningKey, seq: int) -> LogRotated:
        """Change the log's key; everything after the entry is the new one's.

        The entry and the checkpoint that covers it, which the new key signs, are one transaction
        of their own; the anchor follows. Spec: LOG-29.

        Args:
            new: The key, whose file is durable.
            seq: How many entries of no table the log has.
        """
        if self._busy or self._waiting or self._frozen or self._broken:
            raise RuntimeError("a rotation is made by itself")
        size = len(self._tree)
        entry = LogRotated.make(self._clock.now(), size, self._tree.root(), self._key, new)
        self._key = new
        await self.submit(Entry("", seq, [(seq, 0, entry.raw)], lambda *_: b""))
        return entry

    def reseal(self, old: str, new: str, reseal: Reseal) -> bool:
        """Seal everything that is stored anew; by itself, and nobody is waiting for anything.

        Args:
            old: Id of the sealing key in force.
            new: Id of the one to come, whose file is durable.
            reseal: Seals one value anew.

        Returns:
            Whether the file was written anew as well, so that nothing in it is of the old key.

        Raises:
            StartRefused: It cannot be done. Nothing was written.
            Stopped: Nor was it then.
        """
        if self._busy or self._waiting or self._frozen or self._broken:
            raise RuntimeError("a rotation is made by itself")
        try:
            # The thread has nothing to do, so the connection is free.
            self._writer.reseal(self._head, old, new, reseal)
            return self._writer.scrub()
        except (system.StartRefused, Stopped):
            raise
        except BaseException as error:
            self._break(error)
            raise

    def freeze(self) -> None:
        """Sign nothing more, and tell nobody of what is under way. Spec: LOG-22."""
        self._frozen = True

    def _refuse(self, entries: list[Entry]) -> None:
        for entry in entries:
            if entry.future is not None and not entry.future.done():
                entry.future.set_exception(Problem("log_frozen"))
                entry.future.exception()  # seen, even if nobody waits any more

    def extends(self, checkpoint: Checkpoint) -> bool:
        """Whether this log extends a checkpoint. Spec: LOG-22."""
        size = checkpoint.size
        return size <= len(self._tree) and self._tree.root(size) == checkpoint.root

    def look_at_epoch(self, head: Head) -> None:
        """End the process if another one has taken the log over: what it shows grows old."""
        if head.epoch != self._head.epoch and not self._broken:
            self._break(system.Overtaken())

    def give_up(self, error: Frozen) -> None:
        """Sign and acknowledge nothing from now on, and end. Spec: WIT-7."""
        self._break(error)

    def _break(self, error: BaseException) -> None:
        self._broken = True
        self._fatal(error)

    # --- in the thread --------------------------------------------------------------------------

    def _write(self) -> None:
        loop = self._loop
        if loop is None:
            return
        while (job := self._jobs.get()) is not None:
            write_answers = partial(loop.call_soon_threadsafe, self._write_answers, job)
            try:
                self._writer.commit(job.batch, write_answers)
                if job.batch.note is not None:
                    self._anchor.move(job.batch.note)
                loop.call_soon_threadsafe(self._done, loop, job)
                self._writer.tidy()
            except BaseException as error:  # noqa: BLE001 - whatever it is, the result is unknown
                self._break(error)
                return

    # --- what may be shown ----------------------------------------------------------------------

    @property
    def size(self) -> int:
        """Entries that are committed and anchored."""
        return self._released[0]

    @property
    def released(self) -> tuple[int, str]:
        """Size and note of the newest checkpoint that may be shown. Spec: LOG-6."""
        return self._released

    @property
    def checkpoint(self) -> str:
        """The newest checkpoint that may be shown. Spec: LOG-6."""
        return self._released[1]

    def receipt(self, index: int) -> str | None:
        """A receipt against the newest checkpoint, or None if the entry is not in it."""
        size, note = self._released
        if not 0 <= index < size:
            return None
        return self.receipt_at(index, size, note).text()

    def receipt_at(self, index: int, size: int, note: str) -> Receipt:
        """A receipt against one of the log's checkpoints."""
        return Receipt(index, tuple(self._tree.inclusion_path(index, size)), note)

    def tile(self, tile: Tile) -> bytes | None:
        """A tile of hashes, or None if the released log does not have it. Spec: LOG-8."""
        return hash_tile(self._tree, tile) if tile.exists(self.size) else None
