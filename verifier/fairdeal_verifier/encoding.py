"""Reads JSON strictly: one text for one value, and no value twice.

Three readers, from lax to strict: `read_json` for the file (sizes and nesting are refused before
anything is parsed), `read_event` for the bytes of one event (the profile of ENC-1 to ENC-8), and
`encode_file` to write a file's value again, so that two texts of one meaning cannot both pass.
"""

import json
import re
from datetime import datetime, timedelta
from typing import Any

from fairdeal_verifier.words import Said, say

MAX_FILE = 5 * 1024 * 1024
MAX_EVENT = 65_535
MAX_DEPTH = 16
# A hand's file holds its events as strings. So many objects and lists beside them never occur, and
# a text of nothing but brackets would take a hundred times its own size in memory.
MAX_CONTAINERS = 200_000
LARGEST_INTEGER = 2**53 - 1

_SQUARE = bytes.maketrans(b"{}", b"[]")
_NOT_BRACKETS = bytes(b for b in range(256) if b not in b"[]{}")
_LONG_INTEGER = re.compile(rb"[0-9]{17}")
_TIME = re.compile(
    r"[2-9][0-9]{3}-[0-9]{2}-[0-9]{2}T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]\.[0-9]{3}Z"
)
# Both without a zone, which is UTC throughout.
_YEAR_2000 = datetime(2000, 1, 1)  # noqa: DTZ001
_MILLISECOND = timedelta(milliseconds=1)
_NAME = re.compile(r"[a-z0-9_]+")


class UnreadableError(ValueError):
    """The input is no file of a version that this tool knows. Spec: VER-1.

    Attributes:
        why: Of a hand's file, a sentence of the catalogue.
    """

    def __init__(self, why: Said | str) -> None:
        """Takes the reason."""
        super().__init__(why)
        self.why = why


class FormatError(ValueError):
    """The file is not as file.md, events.md and encoding.md say."""


class Unfit:
    """Stands for a number that the profile does not have. It cannot be encoded, so it fails."""


_UNFIT = Unfit()


def _unfit(_text: str) -> Unfit:
    return _UNFIT


def _integer(text: str) -> int | Unfit:
    return int(text) if len(text) < 18 else _UNFIT


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


_decoder = json.JSONDecoder(parse_float=_unfit, parse_constant=_refuse_constant)
# Only for texts that hold a long integer: a call for each number would cost the others too much.
_wary_decoder = json.JSONDecoder(
    parse_float=_unfit, parse_int=_integer, parse_constant=_refuse_constant
)
_event_encoder = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), check_circular=False, allow_nan=False
)
_file_encoder = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), check_circular=False, allow_nan=False, ensure_ascii=False
)


def outline(data: bytes) -> bytes:
    """Leaves out the strings of a JSON text, so that brackets and digits can be counted.

    Up to the first fault in the text this is exact, and no parser reads on after that.
    """
    if b"\\" in data:
        data = data.replace(rb"\\", b"").replace(rb"\"", b"")
    return b"".join(data.split(b'"')[::2])


def is_too_deep(shape: bytes) -> bool:
    """Says if an outline nests deeper than 16, or its brackets do not match.

    Each pass takes away the innermost pairs. Nothing recurses, so no input exhausts the stack.

    Spec: ENC-8, VER-1
    """
    brackets = shape.translate(_SQUARE, _NOT_BRACKETS)
    for _ in range(MAX_DEPTH):
        if not brackets:
            return False
        brackets = brackets.replace(b"[]", b"")
    return bool(brackets)


def _decode(text: str, shape: bytes) -> Any:  # noqa: ANN401 (JSON is anything)
    if _LONG_INTEGER.search(shape):
        return _wary_decoder.decode(text)
    return _decoder.decode(text)


def read_json(data: bytes) -> tuple[str, Any]:
    """Reads a whole file.

    Returns:
        Its text and its value.

    Raises:
        UnreadableError: It is too long, not UTF-8, not JSON, or nested deeper than 16. Spec: VER-1
    """
    if len(data) > MAX_FILE:
        raise UnreadableError(say("unreadable.size"))
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        raise UnreadableError(say("unreadable.utf8")) from None
    shape = outline(data)
    if is_too_deep(shape):
        raise UnreadableError(say("unreadable.deep"))
    if shape.count(b"[") + shape.count(b"{") > MAX_CONTAINERS:
        raise UnreadableError(say("unreadable.parts"))
    try:
        return text, _decode(text, shape)
    except ValueError:
        raise UnreadableError(say("unreadable.json")) from None


def encode_file(value: object) -> str | None:
    """Writes the value of a file in its one form, or None if it has none. Spec: FILE-1."""
    try:
        return _file_encoder.encode(value)
    except (TypeError, ValueError):
        return None


def read_event(text: str) -> tuple[bytes, dict[str, Any]]:
    """Reads one event from the string that holds its bytes.

    Whether its characters are those of an event is left to `check_characters`: an event of a later
    version may have others. That the text is the only one for its value is left to
    `are_in_one_form`.

    Returns:
        Its bytes, to be hashed as they are, and its members.

    Raises:
        FormatError: It is no JSON, or too long.

    Spec: ENC-3, ENC-8
    """
    data = text.encode("utf-8", "replace")
    if len(data) > MAX_EVENT:
        raise FormatError("an event is longer than 65,535 bytes")
    shape = outline(data)
    if is_too_deep(shape):
        raise FormatError("an event is not JSON, or nested deeper than 16")
    try:
        value = _decode(text, shape)
    except ValueError:
        raise FormatError("an event is not JSON") from None
    if type(value) is not dict:
        raise FormatError("an event is not an object")
    return data, value


def check_characters(text: str) -> None:
    """Raises FormatError if an event has characters that no event has. Spec: ENC-1, ENC-2."""
    # Of the other characters outside U+0020..U+007E the parser refuses some; the encoder escapes
    # the rest, so that the event is not in its one form.
    if not text.isascii():
        raise FormatError("an event has a character that is not ASCII")
    # What may be escaped at all is written as an escape by the encoder, so this is looked at apart.
    if "\\" in text and "\\" in text.replace(r"\\", "").replace(r"\"", ""):
        raise FormatError("an event escapes a character that needs no escape")


def are_in_one_form(texts: list[str], values: list[dict[str, Any]]) -> bool:
    """Says if every text is what writing its value again gives.

    This finds white space, keys out of order, keys given twice, escapes, `-0` and `1.0` at once.
    All are written in one call, which is faster, and as strict: each text has been read as exactly
    one value, and in any text there is only one place where its first value can end.

    Spec: ENC-1, ENC-3, ENC-7
    """
    try:
        return _event_encoder.encode(values) == f"[{','.join(texts)}]"
    except TypeError:  # a number that is no integer
        return False


def encode_event(value: dict[str, Any]) -> bytes:
    """Writes the value of an event, or of a part of one, in its one form. Spec: ENC-1."""
    return _event_encoder.encode(value).encode("ascii")


def is_plain(value: object) -> bool:
    """Says if a value that no field table describes keeps to the profile. Spec: ENC-1, ENC-3."""
    if value is None or type(value) in (bool, str):
        return True
    if type(value) is int:
        return -LARGEST_INTEGER <= value <= LARGEST_INTEGER
    if type(value) is list:
        return all(is_plain(item) for item in value)
    if type(value) is dict:
        return all(_NAME.fullmatch(name) and is_plain(item) for name, item in value.items())
    return False


def milliseconds(text: object) -> int | None:
    """Reads a time as milliseconds since the year 2000, or None if it is not one.

    Spec: ENC-6
    """
    if type(text) is not str or _TIME.fullmatch(text) is None:
        return None
    try:
        return (datetime.fromisoformat(text[:-1]) - _YEAR_2000) // _MILLISECOND
    except ValueError:  # the 30th of February
        return None
