"""Connections that stand still: a head and a body have a time, an answer waits to be taken.

uvicorn waits for the rest of a head for ever and takes one of any length, and it goes on with the
requests of a connection whose answers nobody reads. Some hundred sockets that send a byte now and
then, or read none, would keep every descriptor, or every place at work, from everybody else.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.httptools_impl import (
    STATUS_LINE,
    HttpToolsProtocol,
    RequestResponseCycle,
)

from fairdeal_api import system
from fairdeal_api.replies import Header

if TYPE_CHECKING:
    from uvicorn._types import ASGI3Application

MAX_HEAD: Final = 32 * 1024
IDLE_SECONDS: Final = 30
"""How long a connection may stay open between two requests, besides the time for a head."""
CONNECTION: Final = "fairdeal.connection"
"""Where a request's scope has its connection, a `WatchedProtocol`."""
CLOSE: Final[Header] = (b"connection", b"close")


class Quiet(NamedTuple):
    """A connection without a request under way, as it was last looked at."""

    newest: object
    """Its newest request, which has its answer; None before the first."""
    due: int
    """When it is closed, if nothing happens, in monotonic milliseconds."""
    left: int
    """Bytes of the answer that the other side has not taken."""


class QuietConnections:
    """Connections, and until when those that have no request under way may go on without one.

    They are looked at now and then. A timer for each head would cost each request more than its
    body takes to read.
    """

    def __init__(self, seconds: int) -> None:
        """Give each head so much time, and as much to each part of an answer to be taken."""
        self._patience = 1000 * seconds
        self._seen: dict[WatchedProtocol, Quiet] = {}

    def serve(
        self,
        app: ASGIApp,
        no_http: Callable[[], bytes] | None = None,
        **more: Any,  # noqa: ANN401 - uvicorn's own
    ) -> uvicorn.Config:
        """How an application is served whose connections are watched here.

        Args:
            app: The application.
            no_http: Makes the whole answer to what is no HTTP; else uvicorn sends its own.
            more: Settings of uvicorn.
        """
        protocol: Any = partial(WatchedProtocol, self, no_http)  # uvicorn calls it like a class
        return uvicorn.Config(
            app,
            loop="uvloop",
            http=protocol,
            ws="none",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,  # nothing here asks who the peer is
            **more,
        )

    def begin(self, connection: WatchedProtocol) -> None:
        """A connection is made: its first head is due."""
        self._seen[connection] = Quiet(None, system.monotonic() + self._patience, 0)

    def end(self, connection: WatchedProtocol) -> None:
        """It is closed."""
        self._seen.pop(connection, None)

    def sweep(self) -> None:
        """Close those whose time is over."""
        now = system.monotonic()
        for connection, seen in list(self._seen.items()):
            if not connection.answered:
                continue
            if connection.cycle is not seen.newest:
                # One was answered since. Silence is allowed for longer than a head is.
                due = now + 1000 * IDLE_SECONDS + self._patience
                self._seen[connection] = Quiet(connection.cycle, due, connection.left)
            elif now >= seen.due:
                if connection.left < seen.left:
                    self._seen[connection] = Quiet(
                        seen.newest, now + self._patience, connection.left
                    )
                else:
                    self.end(connection)
                    connection.transport.abort()  # to close it would be to wait for who reads it


def head_of(status: int, headers: Iterable[Header]) -> bytes:
    """The head of an answer.

    Raises:
        ValueError: A header has a line break: it would be two headers, or two answers.
    """
    lines = [b"%b: %b\r\n" % header for header in headers]
    head = b"".join((STATUS_LINE[status], *lines, b"\r\n"))
    if not head.count(b"\n") == head.count(b"\r") == len(lines) + 2:
        raise ValueError("a line break in a header")
    return head


class WatchedProtocol(HttpToolsProtocol):
    """uvicorn's, with an end to waiting. Its `cycle` is the connection's newest request.

    An application that finds it in the scope takes the body and sends the answer here in one
    piece, where ASGI has several messages: almost every body has come with its head, and every
    answer is whole when it is sent, with one system call and one packet for uvicorn's two.
    """

    _asked: RequestResponseCycle
    """The request that the application has; those after it wait."""

    def __init__(
        self,
        quiet: QuietConnections,
        no_http: Callable[[], bytes] | None,
        **uvicorn: Any,  # noqa: ANN401 - uvicorn's own
    ) -> None:
        """Be watched by `quiet`; `no_http` as in its `serve`."""
        super().__init__(**uvicorn)
        self._quiet = quiet
        self._no_http = no_http
        self._received = 0
        self._full = False

    @property
    def answered(self) -> bool:
        """Whether every request has its answer, though one's body may still be coming."""
        newest: RequestResponseCycle | None = self.cycle  # none at first, whatever uvicorn says
        return newest is None or newest.response_complete

    @property
    def left(self) -> int:
        """Bytes of answers that have not left."""
        return self.transport.get_write_buffer_size()

    @property
    def _in_head(self) -> bool:
        newest: RequestResponseCycle | None = self.cycle
        return newest is None or (newest.response_complete and not newest.more_body)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for the first head."""
        super().connection_made(transport)
        self._quiet.begin(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no more."""
        self._quiet.end(self)
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

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no HTTP, if that is the next answer of this connection.

        uvicorn would write it at once, and who awaits the answer to an earlier request, which may
        well be done, would take the refusal for that.
        """
        newest: RequestResponseCycle | None = self.cycle
        if newest is None or newest.response_complete:
            if self._in_head:
                self._refuse(msg)
            else:
                self.transport.close()  # in a body that was answered before it had come
        elif not newest.more_body:
            newest.keep_alive = False  # it is whole: its answer is sent, and is the last
        elif not self.pipeline:
            self._refuse(msg)  # its own body is wrong, and nothing before it is unanswered
        else:
            # The same, but others are to be answered before: what comes after them is this.
            newest.more_body = False
            self.pipeline[0] = (newest, partial(self._refuse_next, msg))

    def _refuse(self, msg: str) -> None:
        if self._no_http is None:
            super().send_400_response(msg)
        else:
            self.transport.write(self._no_http())
            self.transport.close()

    async def _refuse_next(self, msg: str, *_: object) -> None:
        """Stand in the place of the application, for the newest request."""
        self.cycle.response_started = self.cycle.response_complete = True
        self._refuse(msg)

    def on_headers_complete(self) -> None:
        """The head is there.

        Where another protocol is asked for, the parser skips the body, and reads it as the next
        request if it comes later. So there is no such request here: one with a body is no HTTP.
        """
        if self.parser.should_upgrade() and any(
            name in (b"content-length", b"transfer-encoding") for name, _ in self.headers
        ):
            raise ValueError("a body before another protocol")
        super().on_headers_complete()

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: ASGI3Application) -> None:
        self._asked = cycle
        cycle.scope[CONNECTION] = self  # type: ignore[typeddict-unknown-key]
        super()._start_asgi_task(cycle, app)

    def body(self) -> bytes | None:
        """The request's body, if all of it is there; else it is to be received."""
        cycle = self._asked
        return None if cycle.more_body or cycle.disconnected else bytes(cycle.body)

    async def answer(self, status: int, headers: list[Header], body: bytes) -> None:
        """Send the answer, once the one before is taken."""
        cycle = self._asked
        if self.flow.write_paused and not cycle.disconnected:
            await self.flow.drain()
        if self.transport.is_closing():
            cycle.disconnected = True  # uvicorn says so of the newest request only
        if cycle.disconnected:
            return
        last = () if cycle.keep_alive else (CLOSE,)
        head = head_of(status, (*cycle.default_headers, *headers, *last))
        cycle.response_started = cycle.response_complete = True
        self.transport.write(head if cycle.scope["method"] == "HEAD" else head + body)
        cycle.message_event.set()
        if not cycle.keep_alive:
            self.transport.close()
        self.on_response_complete()

    def on_message_complete(self) -> None:
        """The body is there, if there was one."""
        super().on_message_complete()
        self.cycle.more_body = False  # uvicorn says so only while the answer has not gone

    def on_response_complete(self) -> None:
        """Go on with the next request, but not before so large an answer is taken."""
        if self.flow.write_paused and not self.transport.is_closing():
            self._full = True
            self.flow.pause_reading()
        else:
            self._go_on()

    def resume_writing(self) -> None:
        """Most of the answer is taken."""
        super().resume_writing()
        if self._full:
            self._full = False
            self._go_on()

    def _go_on(self) -> None:
        # As uvicorn does, but for its timer: those that are silent are looked at anyway.
        self.server_state.total_requests += 1
        if not self.transport.is_closing():
            self.flow.resume_reading()
            if self.pipeline:
                self._start_asgi_task(*self.pipeline.pop())


class Bodies:
    """Requests whose body has not come yet, and until when it may.

    A timer for each would cost more than reading the body, which is almost always there.
    """

    def __init__(self, seconds: int, limit: int) -> None:
        """Give each body so much time, and wait for so many at a time."""
        self._patience = 1000 * seconds
        self._limit = limit
        self._tasks: dict[asyncio.Task[object], int] = {}
        self._late: set[asyncio.Task[object]] = set()

    def __len__(self) -> int:
        """How many are waited for: such a request is not at work."""
        return len(self._tasks)

    def begin(self) -> asyncio.Task[object]:
        """The current task waits for a body; if there are too many, whoever began first no more."""
        task = asyncio.current_task()
        if task is None:
            raise RuntimeError("a request is a task")
        if len(self._tasks) >= self._limit:
            self._give_up(next(iter(self._tasks)))
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

    def _give_up(self, task: asyncio.Task[object]) -> None:
        self.end(task)
        self._late.add(task)
        task.cancel()

    def sweep(self) -> None:
        """Cancel those whose time is over."""
        now = system.monotonic()
        for task, due in list(self._tasks.items()):
            if now >= due:
                self._give_up(task)
