"""A strict reader of request bodies, before any model sees them.

Python's own reader takes duplicate keys, NaN, lone surrogates and numbers of any size. The fast
C scanner is kept, and told to refuse these by its hooks.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final, NoReturn

from fairdeal_api.problems import Problem

MAX_BODY: Final = 64 * 1024
MAX_DEPTH: Final = 16
MAX_INTEGER: Final = 2**53 - 1

_SPACE: Final = " \t\n\r"
# A text that does not end is a token as well. Were its last quote asked for, the search would begin
# anew at each quote inside it: a quarter of a minute for 64 KiB.
_TOKENS = re.compile(rb'"(?:[^"\\]|\\.)*"?|[\[\]{}]', re.DOTALL)


def _refuse_number(_text: str) -> NoReturn:
    raise Problem("number_not_allowed")


def _integer(text: str) -> int:
    # The length first: a number of 5,000 digits is expensive to read.
    if len(text) > 17:
        raise Problem("number_not_allowed")
    number = int(text)
    if not -MAX_INTEGER <= number <= MAX_INTEGER:
        raise Problem("number_not_allowed")
    return number


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise Problem("duplicate_key")
    return value


_read = json.JSONDecoder(
    object_pairs_hook=_object,
    parse_float=_refuse_number,
    parse_int=_integer,
    parse_constant=_refuse_number,
).raw_decode


def _too_deep(body: bytes) -> bool:
    # Without more brackets than levels there cannot be more levels: true of almost every body.
    if body.count(b"{") + body.count(b"[") <= MAX_DEPTH:
        return False
    depth = 0
    for match in _TOKENS.finditer(body):
        token = match[0]
        if token in (b"{", b"["):
            depth += 1
            if depth > MAX_DEPTH:
                return True
        elif token in (b"}", b"]"):
            depth -= 1
    return False


def parse(body: bytes) -> Any:  # noqa: ANN401 - any JSON value
    """Read a body.

    Raises:
        Problem: `malformed_json` (not JSON, not UTF-8, a byte order mark, a lone surrogate, too
            deep), `duplicate_key`, `number_not_allowed`.
    """
    if _too_deep(body):
        raise Problem("malformed_json")
    try:
        # UTF-16 and a byte order mark fail here or in the scanner: neither is a JSON value.
        text = body.decode("utf-8").strip(_SPACE)
        value, end = _read(text)
        if end != len(text):
            raise Problem("malformed_json")
        if b"\\u" in body:
            # Only an escape can bring a lone surrogate into a text that was UTF-8.
            json.dumps(value, ensure_ascii=False).encode("utf-8")
    except (ValueError, RecursionError):
        raise Problem("malformed_json") from None
    return value
