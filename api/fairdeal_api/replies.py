"""Answers, before they are sent."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from fairdeal_api.json_bytes import encode

Header = tuple[bytes, bytes]

JSON: Final[Header] = (b"content-type", b"application/json")
HTML: Final[Header] = (b"content-type", b"text/html; charset=utf-8")
TEXT: Final[Header] = (b"content-type", b"text/plain; charset=utf-8")
OCTETS: Final[Header] = (b"content-type", b"application/octet-stream")
NO_STORE: Final[Header] = (b"cache-control", b"no-store")
BRIEFLY: Final[Header] = (b"cache-control", b"public, max-age=2")
IMMUTABLE: Final[Header] = (b"cache-control", b"public, max-age=31536000, immutable")
REPLAYED: Final[Header] = (b"idempotent-replayed", b"true")
CORS: Final[Header] = (b"access-control-allow-origin", b"*")


@dataclass(slots=True)
class Reply:
    """An answer."""

    body: bytes
    status: int = 200
    headers: list[Header] = field(default_factory=lambda: [JSON, NO_STORE])
    whole: bool = False
    """Whether `headers` are all of them; else what every answer of the API has is added."""


def json_reply(
    value: dict[str, Any], *, status: int = 200, headers: list[Header] | None = None
) -> Reply:
    """An answer in JSON; `no-store` unless told otherwise."""
    return Reply(encode(value), status, [JSON, *(headers if headers is not None else [NO_STORE])])


def etag(seq: int) -> Header:
    """The table's newest event number."""
    return (b"etag", b'"%d"' % seq)
