"""Deadlines of hands and tables: one sweeper, beside the look at each next touch.

A passed deadline aborts the hand (HAND-18), and a table that nobody uses is closed (TBL-3). After
a restart each open hand gets its full time again: the service was away, not the seats.
"""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from fairdeal_api import system
from fairdeal_api.logging import LOG
from fairdeal_api.store import TableRow

if TYPE_CHECKING:
    from fairdeal_api.service import Service

TICK_SECONDS: Final = 0.25
_REVOKED_EVERY: Final = 4
_IDLE_EVERY: Final = 20
_FORGET_EVERY: Final = 1200
_AT_A_TIME: Final = 100
DAY: Final = 86_400_000


class Deadlines:
    """When each open hand ends by itself, in monotonic milliseconds."""

    def __init__(self) -> None:
        """Nothing is open."""
        self._by_table: dict[str, int] = {}
        # A table is looked at no later than its deadline; each has one live entry in the heap.
        self._queued: dict[str, int] = {}
        self._heap: list[tuple[int, str]] = []
        self._more_to_forget = False

    def restart(self, tables: Iterable[TableRow]) -> None:
        """Give each open hand its full time again. Spec: HAND-18."""
        for table in tables:
            self.set(table.id, table.patience)

    def set(self, table: str, seconds: int) -> None:
        """The hand of this table has so much time from now."""
        due = system.monotonic() + 1000 * seconds
        self._by_table[table] = due
        queued = self._queued.get(table)
        if queued is None or due < queued:
            self._queue(table, due)

    def _queue(self, table: str, due: int) -> None:
        self._queued[table] = due
        heapq.heappush(self._heap, (due, table))

    def drop(self, table: str) -> None:
        """No hand is open at this table."""
        self._by_table.pop(table, None)

    def passed(self, table: str) -> bool:
        """Whether the time of this table's hand is over."""
        due = self._by_table.get(table)
        return due is not None and system.monotonic() >= due

    def take_passed(self, limit: int) -> list[str]:
        """Tables whose time is over; each is named once for each deadline."""
        now = system.monotonic()
        found: list[str] = []
        while self._heap and self._heap[0][0] <= now and len(found) < limit:
            queued, table = heapq.heappop(self._heap)
            if self._queued.get(table) != queued:
                continue  # an earlier entry has taken its place
            del self._queued[table]
            due = self._by_table.get(table)
            if due is None:
                continue
            if due <= now:
                found.append(table)
            else:
                self._queue(table, due)
        return found

    async def watch(self, service: Service) -> None:
        """Sweep until cancelled."""
        turn = 0
        while True:
            await asyncio.sleep(TICK_SECONDS)
            turn += 1
            try:
                await self._sweep(service, turn)
            except Exception as error:  # noqa: BLE001 - the next sweep tries again
                LOG.write("sweep.failed", error=type(error).__name__)

    async def _sweep(self, service: Service, turn: int) -> None:
        if turn % _REVOKED_EVERY == 0:
            service.operators.refresh()
            service.ledger.look_at_epoch(service.reader.head())
        service.heads.sweep()
        service.bodies.sweep()
        if service.frozen:
            return  # nothing is written any more
        for table in self.take_passed(_AT_A_TIME):
            if not await service.dealer.expire(table):
                self.set(table, 1)
        if turn % _IDLE_EVERY == 0:
            for row in service.reader.idle_before(service.clock.now(), _AT_A_TIME):
                await service.dealer.close_idle(row.id)
        if turn % _FORGET_EVERY == 0 or self._more_to_forget:
            self._more_to_forget = await service.dealer.forget(service.clock.now() - DAY)


class Bodies:
    """Requests whose body has not come yet, and until when it may.

    A timer for each would cost more than reading the body, which is almost always there.
    """

    def __init__(self, seconds: int) -> None:
        """Give each body so much time."""
        self._patience = 1000 * seconds
        self._tasks: dict[asyncio.Task[object], int] = {}
        self._late: set[asyncio.Task[object]] = set()

    def begin(self) -> asyncio.Task[object]:
        """The current task waits for a body."""
        task = asyncio.current_task()
        if task is None:
            raise RuntimeError("a request is a task")
        self._tasks[task] = system.monotonic() + self._patience
        return task

    def end(self, task: asyncio.Task[object]) -> None:
        """It has come, or nobody waits any more."""
        self._tasks.pop(task, None)

    def was_late(self, task: asyncio.Task[object]) -> bool:
        """Whether the task was cancelled from here, which is thereby taken back."""
        if task not in self._late:
            return False
        self._late.discard(task)
        task.uncancel()
        return True

    def sweep(self) -> None:
        """Cancel those whose time is over."""
        now = system.monotonic()
        for task, due in list(self._tasks.items()):
            if now >= due:
                self.end(task)
                self._late.add(task)
                task.cancel()
