"""A proxy before the service that loses, doubles, cuts, delays and changes answers."""

from __future__ import annotations

import contextlib
import http.client
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from random import Random
from typing import Any
from urllib.parse import urlsplit

FAULTS = ("lost", "unanswered", "doubled", "cut", "late", "page")
_HOP = {"connection", "content-length", "transfer-encoding", "keep-alive", "date", "server"}


class Proxy:
    """Honest unless told otherwise.

    Attributes:
        url: Where it listens.
        upstream: Base address of the service; may be set to another one, if it has moved.
        share: How many of a hundred requests meet one of `FAULTS`. Never two in a row of the same
            request, so that a client with patience comes through.
        met: How often each fault was met.
        change: From path and body of a good answer to the body that is sent on.
    """

    def __init__(self, upstream: str, *, share: int = 0, seed: int = 1) -> None:
        self.upstream, self.share = upstream, share
        self.met: Counter[str] = Counter()
        self.change: Callable[[str, bytes], bytes] = lambda _, body: body
        self._rng = Random(seed)
        self._spared: set[tuple[Any, ...]] = set()
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    @contextlib.contextmanager
    def running(self) -> Iterator[Proxy]:
        thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield self
        finally:
            self._server.shutdown()
            self._server.server_close()
            thread.join()

    def fault(self, request: tuple[Any, ...]) -> str:
        """What happens to a request: the empty text if nothing does."""
        with self._lock:
            if request in self._spared:
                self._spared.discard(request)
                return ""
            if self._rng.randrange(100) >= self.share:
                return ""
            self._spared.add(request)
            kind = self._rng.choice(FAULTS)
            self.met[kind] += 1
            return kind

    def ask(
        self, method: str, path: str, headers: dict[str, str], body: bytes
    ) -> tuple[Any, bytes]:
        """The service's answer.

        Raises:
            OSError: It does not answer.
        """
        place = urlsplit(self.upstream)
        connection = http.client.HTTPConnection(place.hostname or "", place.port, timeout=40)
        with contextlib.closing(connection):
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            return answer, answer.read()


def _handler(proxy: Proxy) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _pass(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", "0")))
            headers = {
                name: value for name, value in self.headers.items() if name.lower() != "host"
            }
            request = (self.command, self.path, body, headers.get("authorization"))
            fault = proxy.fault(request)
            self.close_connection = True
            if fault == "lost":
                return  # it never arrives
            try:
                if fault == "doubled":
                    proxy.ask(self.command, self.path, headers, body)
                answer, content = proxy.ask(self.command, self.path, headers, body)
            except (OSError, http.client.HTTPException):
                self._send(502, {"content-type": "text/html"}, b"<h1>Bad gateway</h1>")
                return
            if fault == "unanswered":
                return  # it has arrived, and nobody is told
            if fault == "late":
                time.sleep(0.3)
            if fault == "page":
                self._send(200, {"content-type": "text/html"}, b"<h1>Log in to go on</h1>")
                return
            if answer.status == 200:
                content = proxy.change(self.path, content)
            kept = {name: value for name, value in answer.getheaders() if name.lower() not in _HOP}
            self._send(answer.status, kept, content, cut=fault == "cut")

        def _send(
            self, status: int, headers: dict[str, str], content: bytes, *, cut: bool = False
        ) -> None:
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(content)))
            self.send_header("connection", "close")
            self.end_headers()
            with contextlib.suppress(OSError):
                self.wfile.write(content[: len(content) // 2] if cut else content)

        do_GET = do_POST = do_PUT = _pass  # noqa: N815 - names of the standard library

        def log_message(self, *_: Any) -> None:
            pass

    return Handler
