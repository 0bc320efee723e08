"""Deadlines of hands. A passed one aborts the hand, at the next touch or the next sweep (HAND-18).

After a restart each open hand gets its full time again: the service was away, not the seats.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable

from fairdeal_api import system
from fairdeal_api.store import TableRow


class Deadlines:
    """When each open hand ends by itself, in monotonic milliseconds."""

    def __init__(self) -> None:
        """Nothing is open."""
        self._by_table: dict[str, int] = {}
        # A table is looked at no later than its deadline; each has one live entry in the heap.
        self._queued: dict[str, int] = {}
        self._heap: list[tuple[int, str]] = []

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
