"""Where a log is fetched from: HTTP, or a folder in the same layout. Spec: LOG-8, AUD-1."""

import time
import zlib
from functools import partial
from http.client import HTTPConnection, HTTPException, HTTPResponse
from io import BufferedReader, RawIOBase
from pathlib import Path
from socket import socket
from typing import Any, Protocol
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import (
    BaseHandler,
    HTTPDefaultErrorHandler,
    HTTPErrorProcessor,
    HTTPHandler,
    HTTPRedirectHandler,
    HTTPSHandler,
    OpenerDirector,
    ProxyHandler,
    Request,
    UnknownHandler,
    url2pathname,
)

from fairdeal_audit.tiles import IncompleteError

_SECONDS = 30
"""How long it may be silent."""
_TRIES = 4
_SLOWEST = 32 * 1024
"""Bytes a second: who serves less does not serve."""
_MOST_UNASKED = 64 * 1024
"""Bytes of an answer of which nothing is wanted: where it leads stands in its head."""
_MISSING = {404, 410}


class Source(Protocol):
    """Gives the files of a log by their names."""

    def read(self, name: str, most: int) -> bytes | None:
        """Gives a file of at most so many bytes, or None if there is none.

        Raises:
            IncompleteError: It cannot be read.
        """


class FolderSource:
    """A folder."""

    def __init__(self, path: Path) -> None:
        """Takes the folder."""
        self._path = path

    def read(self, name: str, most: int) -> bytes | None:
        """Reads a file."""
        try:
            with (self._path / name).open("rb") as source:
                return _bounded(source.read(most + 1), name, most)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise IncompleteError(f"{name} cannot be read: {error.strerror}") from None


class _Clock:
    """When whatever is being read has to be there."""

    def __init__(self) -> None:
        self.end = 0.0

    def left(self) -> float:
        """Gives the seconds until then."""
        return self.end - time.monotonic()


class _Timed(RawIOBase):
    """What comes from a socket until its time is over.

    A timeout of the socket's is one of silence: a byte now and then, heads without an end or
    trailers without an end would keep a reader for ever.
    """

    def __init__(self, stream: RawIOBase, plain: socket, clock: _Clock) -> None:
        self._stream = stream
        self._plain = plain
        self._clock = clock

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:  # noqa: ANN401 - typeshed's WriteableBuffer
        left = self._clock.left()
        if left <= 0:
            raise TimeoutError("it takes too long")
        self._plain.settimeout(min(_SECONDS, left))
        return self._stream.readinto(buffer)

    def close(self) -> None:
        self._stream.close()
        super().close()


class _Response(HTTPResponse):
    """An answer that is read until its time is over."""

    def __init__(self, clock: _Clock, sock: socket, **options: Any) -> None:  # noqa: ANN401
        super().__init__(sock, **options)
        self.fp = BufferedReader(_Timed(self.fp.detach(), sock, clock))

    def read(self, amt: int | None = None) -> bytes:
        """Reads; urllib asks without a number for all of a redirect's body, and drops it."""
        return super().read(_MOST_UNASKED if amt is None else amt)


def _connection(clock: _Clock, kind: Any, host: str, **options: Any) -> HTTPConnection:  # noqa: ANN401
    made: HTTPConnection = kind(host, **options)
    made.response_class = partial(_Response, clock)  # type: ignore[assignment]  # only called
    return made


class _Http(HTTPHandler):
    clock: _Clock

    def do_open(self, http_class: Any, req: Request, **options: Any) -> HTTPResponse:  # noqa: ANN401
        return super().do_open(partial(_connection, self.clock, http_class), req, **options)


class _Https(HTTPSHandler):
    clock: _Clock

    def do_open(self, http_class: Any, req: Request, **options: Any) -> HTTPResponse:  # noqa: ANN401
        return super().do_open(partial(_connection, self.clock, http_class), req, **options)


def _opener(clock: _Clock) -> OpenerDirector:
    """Makes what asks: by HTTP and nothing else, wherever an answer leads to."""
    plain, secure = _Http(), _Https()
    plain.clock = secure.clock = clock
    opener = OpenerDirector()
    handlers: list[BaseHandler] = [ProxyHandler(), UnknownHandler(), plain, secure]
    handlers += [HTTPDefaultErrorHandler(), HTTPRedirectHandler(), HTTPErrorProcessor()]
    for one in handlers:
        opener.add_handler(one)
    return opener


class HttpSource:
    """A service, or any host of static files. What fails for a moment is asked for again."""

    def __init__(self, url: str, pause: float = 0.5) -> None:
        """Takes the address below which `checkpoint` and `tile/` lie."""
        self._url = url.rstrip("/")
        self._pause = pause
        self._clock = _Clock()
        self._opener = _opener(self._clock)

    def read(self, name: str, most: int) -> bytes | None:
        """Gets a file, in a time that goes by how long it may be."""
        fault = ""
        self._clock.end = time.monotonic() + _TRIES * _SECONDS + most / _SLOWEST
        for attempt in range(_TRIES):
            if attempt:
                time.sleep(self._pause * 2**attempt)
            try:
                # The scheme is looked at in `source_of`.
                request = Request(f"{self._url}/{name}", headers={"User-Agent": "fairdeal-audit"})  # noqa: S310
                with self._opener.open(request, timeout=_SECONDS) as answer:
                    return _plain(answer.read(most + 1), name, most)
            except HTTPError as error:
                error.close()
                if error.code in _MISSING:
                    return None
                fault = f"answers {error.code}"
                if error.code < 500 and error.code != 429:
                    break
            except (URLError, HTTPException, OSError) as error:
                fault = f"does not answer ({_shown(error)})"
                if self._clock.left() <= 0:
                    break
        raise IncompleteError(f"{self._url}/{name} {fault}")


def source_of(where: str) -> Source:
    """Says where a log is to be fetched from.

    Raises:
        ValueError: It is neither an HTTP address nor a folder.
    """
    if urlsplit(where).scheme in ("http", "https"):
        return HttpSource(where)
    path = Path(url2pathname(urlsplit(where).path) if where.startswith("file:") else where)
    if not path.is_dir():
        raise ValueError(f"{where!r} is neither an http(s) address nor a folder")
    return FolderSource(path)


def _shown(error: Exception) -> str:
    """Says what went wrong; that may be a line of whoever answered, for a terminal."""
    return "".join([one if one.isprintable() else "?" for one in str(error)[:200]])


def _bounded(data: bytes, name: str, most: int) -> bytes:
    if len(data) > most:
        raise IncompleteError(f"{name} is longer than it can be")
    return data


def _plain(data: bytes, name: str, most: int) -> bytes:
    """Bundles may come compressed without being asked for so."""
    if data[:2] != b"\x1f\x8b":
        return _bounded(data, name, most)
    try:
        return _bounded(
            zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(data, most + 1), name, most
        )
    except zlib.error:
        return _bounded(data, name, most)
