"""Where a log is fetched from: HTTP, or a folder in the same layout. Spec: LOG-8, AUD-1."""

import time
import zlib
from http.client import HTTPException
from pathlib import Path
from typing import Protocol
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import Request, url2pathname, urlopen

from fairdeal_audit.tiles import IncompleteError

_SECONDS = 30
_TRIES = 4
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


class HttpSource:
    """A service, or any host of static files. What fails for a moment is asked for again."""

    def __init__(self, url: str, pause: float = 0.5) -> None:
        """Takes the address below which `checkpoint` and `tile/` lie."""
        self._url = url.rstrip("/")
        self._pause = pause

    def read(self, name: str, most: int) -> bytes | None:
        """Gets a file."""
        fault = ""
        for attempt in range(_TRIES):
            if attempt:
                time.sleep(self._pause * 2**attempt)
            try:
                # The scheme is looked at in `source_of`.
                request = Request(f"{self._url}/{name}", headers={"User-Agent": "fairdeal-audit"})  # noqa: S310
                with urlopen(request, timeout=_SECONDS) as answer:  # noqa: S310
                    return _plain(answer.read(most + 1), name, most)
            except HTTPError as error:
                if error.code in _MISSING:
                    return None
                fault = f"answers {error.code}"
                if error.code < 500 and error.code != 429:
                    break
            except (URLError, HTTPException, OSError) as error:
                fault = f"does not answer ({error})"
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
