"""Connections whose request does not come: a head has a time and a size, and a body has a time.

uvicorn waits for the rest of a head for ever and takes one of any length. Some hundred sockets
that send a byte now and then would keep every descriptor from everybody else.
"""

from __future__ import annotations

import asyncio
from typing import Any, Final

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from fairdeal_api import system

MAX_HEAD: Final = 32 * 1024
IDLE_SECONDS: Final = 30
"""How long a connection may stay open between two requests."""


class Heads:
    """Connections, and until when those that have no request under way may go on without one.

    They are looked at now and then. A timer for each head would cost each request more than its
    body takes to read.
    """

    def __init__(self, seconds: int) -> None:
        """Give each head so much time."""
        self._patience = 1000 * seconds
        self._due: dict[HeadProtocol, tuple[object, int]] = {}
        """By connection: its newest request when it was last seen without one, and the time."""

    def begin(self, connection: HeadProtocol) -> None:
        """A connection is made: its first head is due."""
        self._due[connection] = None, system.monotonic() + self._patience

    def end(self, connection: HeadProtocol) -> None:
        """It is closed."""
        self._due.pop(connection, None)

    def sweep(self) -> None:
        """Close those whose time is over."""
        now = system.monotonic()
        for connection, (newest, due) in list(self._due.items()):
            if not connection.answered:
                continue
            if connection.cycle is not newest:
                # One was answered since. Silence is allowed for longer than a head is.
                end = now + 1000 * IDLE_SECONDS + self._patience
                self._due[connection] = connection.cycle, end
            elif now >= due:
                self.end(connection)
                connection.transport.close()


class HeadProtocol(HttpToolsProtocol):
    """uvicorn's, with an end to waiting. Its `cycle` is the connection's newest request."""

    def __init__(self, heads: Heads, **uvicorn: Any) -> None:  # noqa: ANN401 - uvicorn's own
        """Be watched by `heads`."""
        super().__init__(**uvicorn)
        self._heads = heads
        self._received = 0

    @property
    def answered(self) -> bool:
        """Whether every request has its answer, though one's body may still be coming."""
        newest: RequestResponseCycle | None = self.cycle  # none at first, whatever uvicorn says
        return newest is None or newest.response_complete

    @property
    def _in_head(self) -> bool:
        newest: RequestResponseCycle | None = self.cycle
        return newest is None or (newest.response_complete and not newest.more_body)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for the first head."""
        super().connection_made(transport)
        self._heads.begin(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no more."""
        self._heads.end(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take some bytes of a request."""
        in_head = self._in_head
        super().data_received(data)
        if not self._in_head:
            self._received = 0
        elif in_head:
            self._received += len(data)
            if self._received > MAX_HEAD:
                self.transport.close()

    def on_message_complete(self) -> None:
        """The body is there, if there was one."""
        super().on_message_complete()
        self.cycle.more_body = False  # uvicorn says so only while the answer has not gone


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
