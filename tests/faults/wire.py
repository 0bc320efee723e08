"""HTTP as bytes: what was sent, what came back, and whether all of it did."""

from __future__ import annotations

import json
import socket
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self


class Broken(Exception):  # noqa: N818 - what has happened
    """The connection ended before the whole answer was there: nothing was acknowledged."""


@dataclass(frozen=True)
class Answer:
    """A whole answer."""

    status: int
    head: bytes
    body: bytes

    @cached_property
    def headers(self) -> dict[str, str]:
        lines = self.head.decode("latin-1").split("\r\n")[1:]
        return {k.lower(): v for k, v in (line.split(": ", 1) for line in lines if line)}

    @property
    def ok(self) -> bool:
        return 200 <= self.status < 300

    @property
    def replayed(self) -> bool:
        return self.headers.get("idempotent-replayed") == "true"

    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def code(self) -> str:
        """Of a problem; empty for an answer that is none."""
        return "" if self.ok else self.json().get("code", "")


def request(
    method: str,
    path: str,
    body: Any = None,
    *,
    bearer: str = "",
    key: str = "",
    raw: bytes | None = None,
    headers: tuple[str, ...] = (),
) -> bytes:
    """A request's bytes."""
    content = raw if raw is not None else b"" if body is None else json.dumps(body).encode()
    lines = [f"{method} {path} HTTP/1.1", "Host: 127.0.0.1", f"Content-Length: {len(content)}"]
    if content and not any(line.lower().startswith("content-type:") for line in headers):
        lines.append("Content-Type: application/json")
    if bearer:
        lines.append(f"Authorization: Bearer {bearer}")
    if key:
        lines.append(f"Idempotency-Key: {key}")
    return "\r\n".join([*lines, *headers, "", ""]).encode() + content


class Wire:
    """One connection to the service."""

    def __init__(self, port: int, timeout: float = 60) -> None:
        try:
            self._socket = socket.create_connection(("127.0.0.1", port), timeout)
        except OSError as error:
            raise Broken from error
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._rest = b""

    def send(self, data: bytes) -> None:
        try:
            self._socket.sendall(data)
        except OSError as error:
            raise Broken from error

    def receive(self) -> Answer:
        head = self._until_head()
        status = int(head[9:12])
        length = 0
        for line in head.lower().split(b"\r\n"):
            if line.startswith(b"content-length:"):
                length = int(line[15:])
        while len(self._rest) < length:
            self._more()
        body, self._rest = self._rest[:length], self._rest[length:]
        return Answer(status, head, body)

    def _until_head(self) -> bytes:
        while (at := self._rest.find(b"\r\n\r\n")) < 0:
            self._more()
        head, self._rest = self._rest[: at + 4], self._rest[at + 4 :]
        return head

    def _more(self) -> None:
        try:
            data = self._socket.recv(1 << 16)
        except OSError as error:
            raise Broken from error
        if not data:
            raise Broken
        self._rest += data

    def ask(self, method: str, path: str, body: Any = None, **more: Any) -> Answer:
        self.send(request(method, path, body, **more))
        return self.receive()

    def close(self) -> None:
        self._socket.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def volley(port: int, requests: list[bytes], timeout: float = 60) -> list[Answer]:
    """Send requests on as many connections, all but their last bytes first: they arrive as one."""
    wires: list[Wire] = []
    try:
        for data in requests:
            wire = Wire(port, timeout)
            wires.append(wire)
            wire.send(data[:-1])
        for wire, data in zip(wires, requests, strict=True):
            wire.send(data[-1:])
        return [wire.receive() for wire in wires]
    finally:
        for wire in wires:
            wire.close()
