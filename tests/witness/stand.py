"""A witness of ours that listens in a thread, and may be told to behave badly."""

from __future__ import annotations

import asyncio
import hashlib
import socket
import threading
import time
from pathlib import Path
from typing import Self

import uvicorn

from fairdeal.log.checkpoint import Checkpoint
from fairdeal.log.note import SigningKey, VerifierKey
from fairdeal.log.witness import Submission
from fairdeal.merkle import Tree, leaf_hash
from fairdeal_api.settings import WitnessAt
from fairdeal_api.witnessing.memory import Memory, initialise
from fairdeal_api.witnessing.server import WitnessApp


def wait_until(what, seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end, "it did not come to that"
        time.sleep(0.01)


class OneLog:
    """A log in memory, and submissions of its heads."""

    def __init__(self, origin: str = "deal.example/log", secret: bytes = b"log") -> None:
        self.key = SigningKey(origin, hashlib.sha256(secret).digest())
        self.tree = Tree(leaf_hash(b"%d" % n) for n in range(300))

    def head(self, size: int, root: bytes | None = None) -> Checkpoint:
        return Checkpoint(self.key.name, size, self.tree.root(size) if root is None else root)

    def proof(self, old: int, size: int) -> tuple[bytes, ...]:
        return tuple(self.tree.consistency_path(old, size)) if 0 < old < size else ()

    def ask(self, old: int, size: int) -> bytes:
        return Submission(old, self.proof(old, size), self.head(size).sign(self.key)).encode()


class Stand:
    """A witness on a port of its own; the port stays when it is stopped and started again."""

    def __init__(self, folder: Path, name: str = "witness.example/w1") -> None:
        self.folder = folder
        self.key = initialise(folder, name)
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        self._socket.close()
        self.logs: list[VerifierKey] = []
        self.bodies: list[bytes] = []
        self.status = 0
        """What to answer instead, if it is not 0."""
        self.text = b""
        self.media = b"text/plain"
        self.delay = 0.0
        self.asleep = False
        """Whether it answers nobody until it is woken."""
        self.under_way = self.most_under_way = 0
        self._server: uvicorn.Server | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def at(self) -> WitnessAt:
        return WitnessAt(url=self.url, vkey=str(self.key))

    def held(self, origin: str) -> int:
        assert self.memory is not None
        return self.memory.held(origin)

    async def _app(self, scope, receive, send) -> None:
        if scope["type"] != "http":
            return
        self.under_way += 1
        self.most_under_way = max(self.most_under_way, self.under_way)
        try:
            body = b""
            more = True
            while more:
                message = await receive()
                body, more = body + message.get("body", b""), message.get("more_body", False)
            self.bodies.append(body)
            if self.delay:
                await asyncio.sleep(self.delay)
            while self.asleep:  # noqa: ASYNC110 - it is woken from another thread
                await asyncio.sleep(0.01)
            if self.status:
                head = {"type": "http.response.start", "status": self.status}
                await send({**head, "headers": [(b"content-type", self.media)]})
                await send({"type": "http.response.body", "body": self.text})
                return

            async def again():
                return {"type": "http.request", "body": body}

            await WitnessApp(self.memory)(scope, again, send)
        finally:
            self.under_way -= 1

    def start(self, *logs: VerifierKey) -> Self:
        self.logs = list(logs) or self.logs
        self.memory = Memory(self.folder, self.logs)
        config = uvicorn.Config(
            self._app,
            host="127.0.0.1",
            port=self.port,
            lifespan="off",
            log_config=None,
            interface="asgi3",
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, daemon=True)
        self._thread.start()
        wait_until(lambda: self._server.started)
        return self

    def stop(self) -> None:
        if self._server is not None:
            self._server.should_exit = self._server.force_exit = True
            self._thread.join(60)
            assert not self._thread.is_alive()
            self.memory.close()
            self._server = None
