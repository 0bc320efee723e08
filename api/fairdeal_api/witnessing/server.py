"""A witness as a process: C2SP tlog-witness over HTTP. Spec: WIT-4, WIT-5."""

from __future__ import annotations

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
from fairdeal_api.logging import LOG
from fairdeal_api.system import StartRefused
from fairdeal_api.witnessing.memory import Memory

PATH: Final = "/add-checkpoint"
_TEXT: Final = b"text/plain; charset=utf-8"
_SIZE: Final = b"text/x.tlog.size"
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
            body = await _body(receive)
            if body is not None:
                status, media, text = self.answer(body)
                await _send(send, status, media, text)

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
    """The whole body, one byte more than is allowed at most; None if the client has gone."""
    body = b""
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        if len(body) <= MAX_BODY:
            body += message.get("body", b"")[: MAX_BODY + 1]
        if not message.get("more_body", False):
            return body


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


class _Server(uvicorn.Server):
    """Says where it listens, once it does."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if not self.should_exit and sockets:
            host, port = sockets[0].getsockname()[:2]
            shown = f"[{host}]" if ":" in host else host
            LOG.write("witness.listening", address=f"{shown}:{port}")
            print(f"listening on http://{shown}:{port}", flush=True)  # noqa: T201 - for who started us


def run(folder: Path, logs: Iterable[VerifierKey], host: str, port: int) -> None:
    """Serve until told to stop.

    Raises:
        StartRefused: One sentence says why.
    """
    memory = Memory(folder, logs)
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        listening = socket.socket(family, socket.SOCK_STREAM)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((host, port))
        except OSError as error:
            listening.close()
            raise StartRefused(f"{host}:{port} cannot be listened on ({error.strerror}).") from None
        config = uvicorn.Config(
            WitnessApp(memory),
            http="httptools",
            loop="uvloop",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=5,
        )
        _Server(config).run(sockets=[listening])
    finally:
        memory.close()
