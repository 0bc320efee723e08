"""A load generator on loopback, bounded in count and time.

It speaks just enough HTTP/1.1 to keep a server busy with requests, and not itself.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field
from typing import cast

Play = Generator[bytes, bytes, None]
"""Yields requests, and is sent the body of each answer."""


@dataclass
class Tally:
    """What a run measured."""

    seconds: float = 0.0
    latencies: list[float] = field(default_factory=list)

    @property
    def rate(self) -> float:
        """Requests a second."""
        return len(self.latencies) / self.seconds

    def percentile(self, share: float) -> float:
        """A latency, in seconds."""
        ordered = sorted(self.latencies)
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def request(method: str, path: str, body: bytes = b"", headers: str = "") -> bytes:
    """A request's bytes."""
    head = (
        f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        f"{headers}Content-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


class _Client(asyncio.Protocol):
    """One connection, which takes one play after the other until none is left."""

    def __init__(self, plays: Iterator[Play], tally: Tally, done: asyncio.Future[None]) -> None:
        self.plays, self.tally, self.done = plays, tally, done
        self.transport: asyncio.Transport | None = None
        self.play: Play | None = None
        self.buffer = b""
        self.sent = 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)  # uvloop's is no subclass
        self._go_on(b"")

    def _go_on(self, answer: bytes) -> None:
        assert self.transport is not None
        try:
            data = self.play.send(answer) if self.play is not None else b""
        except StopIteration:
            self.play, data = None, b""
        while not data:
            self.play = next(self.plays, None)
            if self.play is None:
                self.transport.close()
                self.done.set_result(None)
                return
            data = next(self.play, b"")
        self.sent = time.perf_counter()
        self.transport.write(data)

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        head, _, body = self.buffer.partition(b"\r\n\r\n")
        at = head.lower().find(b"content-length:")
        if at < 0 or len(body) < int(head[at + 15 :].split(b"\r\n", 1)[0]):
            return
        self.tally.latencies.append(time.perf_counter() - self.sent)
        self.buffer = b""
        if head[9:10] == b"2":
            self._go_on(body)
        elif not self.done.done():
            self.done.set_exception(RuntimeError((head + b"\n" + body[:300]).decode()))

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.done.done():
            self.done.set_exception(exc or RuntimeError("the server closed the connection"))


async def run(port: int, plays: Iterator[Play], connections: int, deadline: float = 120) -> Tally:
    """Play all of them over some connections, and say how long each request took."""
    tally = Tally()
    loop = asyncio.get_running_loop()
    futures: list[asyncio.Future[None]] = []
    start = time.perf_counter()
    for _ in range(connections):
        done = loop.create_future()
        futures.append(done)
        client = _Client(plays, tally, done)
        await loop.create_connection(lambda client=client: client, "127.0.0.1", port)  # type: ignore[misc]
    await asyncio.wait_for(asyncio.gather(*futures), deadline)
    tally.seconds = time.perf_counter() - start
    return tally
