"""A witness as a process: C2SP tlog-witness over HTTP. Spec: WIT-4, WIT-5."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import uvicorn
from starlette.types import Receive, Scope, Send

from fairdeal.errors import FairdealError
from fairdeal.log.note import VerifierKey
from fairdeal.log.witness import MAX_BODY
from fairdeal_api import system
from fairdeal_api.connections import QuietConnections
from fairdeal_api.logging import LOG, tame_libraries, tell
from fairdeal_api.witnessing.memory import Memory

PATH: Final = "/add-checkpoint"
_SECONDS: Final = 10
"""For a request's head, and for its body."""
_TEXT: Final = b"text/plain; charset=utf-8"
_SIZE: Final = b"text/x.tlog.size"
_CLOSE: Final = (b"connection", b"close")
_WHY: Final = {
    400: "the request is not one of tlog-witness",
    403: "the log has not signed this checkpoint",
    404: "this log is not known here",
    422: "the proof does not lead from the head that is held to this checkpoint",
}


class WitnessApp:
    """One route."""

    def __init__(self, memory: Memory) -> None:
        """Answer from a folder."""
        self._memory = memory

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return
        if scope["path"] != PATH:
            await _send(send, 404, _TEXT, b"there is nothing at this address\n")
        elif scope["method"] != "POST":
            await _send(send, 405, _TEXT, b"POST only\n", (b"allow", b"POST"))
        else:
            try:
                async with asyncio.timeout(_SECONDS):
                    body = await _body(receive)
            except TimeoutError:
                await _send(send, 408, _TEXT, b"the body took too long\n", _CLOSE)
                return
            if body is not None:
                status, media, text = self.answer(body)
                # The rest of one that is too long is not waited for.
                await _send(send, status, media, text, *[_CLOSE] * (len(body) > MAX_BODY))

    def answer(self, body: bytes) -> tuple[int, bytes, bytes]:
        """Status, media type and body of the answer. Spec: WIT-4."""
        try:
            answer, line = self._memory.answer(body, system.wall_clock() // 1000)
        except FairdealError:
            return 400, _TEXT, _WHY[400].encode() + b"\n"
        except OSError as error:
            # Whether the head is held now is not known: only a new start can tell.
            LOG.write("witness.broken", error=type(error).__name__)
            os._exit(system.EXIT_BROKEN)
        if answer.size is not None:
            return answer.status, _SIZE, f"{answer.size}\n".encode()
        if line:
            return 200, _TEXT, line.encode()
        return answer.status, _TEXT, _WHY[answer.status].encode() + b"\n"


async def _body(receive: Receive) -> bytes | None:
    """The body; one that is too long as far as shows that it is. None if the client has gone."""
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        body += message.get("body", b"")
        if len(body) > MAX_BODY or not message.get("more_body", False):
            return bytes(body)


async def _send(
    send: Send, status: int, media: bytes, body: bytes, *more: tuple[bytes, bytes]
) -> None:
    headers = [
        (b"content-type", media),
        (b"content-length", str(len(body)).encode()),
        (b"cache-control", b"no-store"),
        (b"x-content-type-options", b"nosniff"),
        *more,
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


class Server(uvicorn.Server):
    """Says where it listens, once it does, and closes connections whose request does not come."""

    def __init__(self, memory: Memory) -> None:
        """Answer from a folder."""
        self._quiet = QuietConnections(_SECONDS)
        self._sweeper: asyncio.Task[None] | None = None
        app = WitnessApp(memory)
        super().__init__(self._quiet.serve(app, lifespan="off", timeout_graceful_shutdown=5))

    async def _sweep(self) -> None:
        while True:
            await asyncio.sleep(_SECONDS / 4)
            self._quiet.sweep()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, and say where."""
        await super().startup(sockets)
        if not self.should_exit and sockets:
            address = system.address_of(sockets[0])
            LOG.write("witness.listening", address=address)
            self._sweeper = asyncio.create_task(self._sweep())
            tell(f"listening on http://{address}")

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Let go of everything."""
        if self._sweeper is not None:
            self._sweeper.cancel()
        await super().shutdown(sockets)


def run(folder: Path, logs: Iterable[VerifierKey], host: str, port: int) -> None:
    """Serve until told to stop.

    Raises:
        StartRefused: One sentence says why.
    """
    memory = Memory(folder, logs)
    try:
        listening = system.listen(host, port)
        tame_libraries()
        Server(memory).run(sockets=[listening])
    finally:
        memory.close()
