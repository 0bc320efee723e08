"""The event profile: JSON that has exactly one encoding, and is written once.

Spec: encoding.md. In this profile the bytes equal RFC 8785.
"""

from __future__ import annotations

import functools
import json
import re
from datetime import UTC, datetime, timedelta
from typing import Any, Final, NoReturn

from fairdeal.errors import FormatError

MAX_EVENT: Final = 65_535
MAX_INTEGER: Final = 2**53 - 1

# ENC-2: printable ASCII, and no escape but \" and \\. Both hold for the whole event, since
# outside strings JSON has no backslash and the profile no white space.
_PRINTABLE = bytes(range(0x20, 0x7F))
_EVENT_BYTES = re.compile(rb'(?:[\x20-\x5b\x5d-\x7e]|\\["\\])*')
_TIME = re.compile(r"[2-9]\d{3}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", re.ASCII)
_HEX = re.compile(r"[0-9a-f]*")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def _refuse(_: str) -> NoReturn:
    raise FormatError("number_not_allowed", "only integers are numbers in this profile")


_decode = json.JSONDecoder(parse_float=_refuse, parse_constant=_refuse).decode
_encode = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
).encode


def encode_text(value: object) -> str:
    """Write a value in canonical form.

    The caller gives values of the profile only: typed events see to that. Spec: ENC-1.
    """
    return _encode(value)


def encode(value: object) -> bytes:
    """The same, as bytes."""
    return encode_text(value).encode("utf-8")


def same_json(one: object, other: object) -> bool:
    """Whether two values have one encoding. To Python alone 1 and true are equal."""
    return one is other or encode(one) == encode(other)


def parse(data: bytes) -> dict[str, Any]:
    """Read the bytes of one event as an object, without looking at its fields.

    Whether the bytes are *the* encoding of the object is settled by whoever writes it again
    and compares (ENC-7): `events.parse` does.

    Raises:
        FormatError: The bytes are not an object of the profile. Spec: ENC-1, ENC-2, ENC-3, ENC-8.
    """
    if len(data) > MAX_EVENT:
        raise FormatError("event_too_long", "an event has at most 65,535 bytes")
    # Escapes are rare, and the pattern that knows them is slow.
    if data.translate(None, _PRINTABLE) or (b"\\" in data and not _EVENT_BYTES.fullmatch(data)):
        raise FormatError("event_bytes", "an event is printable ASCII without odd escapes")
    try:
        value = _decode(data.decode("ascii"))
    except (ValueError, RecursionError) as error:
        raise FormatError("malformed_json", "these bytes are not JSON of the profile") from error
    if not isinstance(value, dict):
        raise FormatError("malformed_json", "an event is a JSON object")
    return value


def unhex(text: object, length: int) -> bytes:
    """Decode lower-case hex of exactly `length` bytes. Spec: ENC-5."""
    # The pattern comes first: bytes.fromhex also takes capitals and white space.
    if not isinstance(text, str) or len(text) != 2 * length or not _HEX.fullmatch(text):
        raise FormatError("not_hex", f"expected {2 * length} lower-case hex digits")
    return bytes.fromhex(text)


def parse_time(text: object) -> int:
    """Read a time as milliseconds since 1970. Spec: ENC-6."""
    if not isinstance(text, str) or not _TIME.fullmatch(text):
        raise FormatError("not_a_time", "expected a UTC time with milliseconds")
    try:
        instant = datetime.fromisoformat(text)
    except ValueError as error:
        raise FormatError("not_a_time", "there is no such instant") from error
    return (instant - _EPOCH) // timedelta(milliseconds=1)


@functools.lru_cache(maxsize=16)
def _to_the_second(seconds: int) -> str:
    return (_EPOCH + timedelta(seconds=seconds)).isoformat()[:19]


@functools.lru_cache(maxsize=16)  # the events of a request have one time
def format_time(milliseconds: int) -> str:
    """Write milliseconds since 1970 as the profile's time. Spec: ENC-6."""
    seconds, rest = divmod(milliseconds, 1000)
    return f"{_to_the_second(seconds)}.{rest:03}Z"
