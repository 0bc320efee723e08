"""Connections whose request does not come: a head has a time and a size, as a body has.

uvicorn waits for the rest of a head for ever and takes one of any length. Some hundred sockets
that send a byte now and then would keep every descriptor from everybody else.
"""

from __future__ import annotations

import asyncio
from typing import Any, Final

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from fairdeal_api import system

MAX_HEAD: Final = 32 * 1024
IDLE_SECONDS: Final = 30
"""How long a connection may stay open between two requests."""


class Heads:
    """Connections that have not sent a whole head, and until when they may."""

    def __init__(self, seconds: int) -> None:
        """Give each head so much time."""
        self._patience = 1000 * seconds
        self._due: dict[HeadProtocol, int] = {}

    def __contains__(self, connection: HeadProtocol) -> bool:
        return connection in self._due

    def begin(self, connection: HeadProtocol, idle: int = 0) -> None:
        """A head is due, after so many seconds of silence that are allowed."""
        self._due[connection] = system.monotonic() + 1000 * idle + self._patience

    def end(self, connection: HeadProtocol) -> None:
        """It has come, or will not."""
        self._due.pop(connection, None)

    def sweep(self) -> None:
        """Close those whose time is over."""
        now = system.monotonic()
        for connection in [found for found, due in self._due.items() if now >= due]:
            self.end(connection)
            connection.transport.close()


class HeadProtocol(HttpToolsProtocol):
    """uvicorn's, with an end to waiting."""

    def __init__(self, heads: Heads, **uvicorn: Any) -> None:  # noqa: ANN401 - uvicorn's own
        """Be watched by `heads`."""
        super().__init__(**uvicorn)
        self._heads = heads
        self._received = 0
        self._in_body = False

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
        # What comes of a body after its answer is no head, though the next one is waited for.
        had_body = self._in_body
        super().data_received(data)
        if self in self._heads and not had_body:
            self._received += len(data)
            if self._received > MAX_HEAD:
                self.transport.close()

    def on_headers_complete(self) -> None:
        """The head is there."""
        self._heads.end(self)
        self._received = 0
        self._in_body = True
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """The body is there, if there was one."""
        self._in_body = False
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """Wait for the next head, unless it has come already."""
        super().on_response_complete()
        if self.cycle.response_complete and not self.transport.is_closing():
            self._heads.begin(self, IDLE_SECONDS)
