"""The two events that belong to no table: a log's key changes, a log follows another.

Spec: EVT-4
"""

from hashlib import sha256
from itertools import pairwise

from fairdeal_verifier.encoding import (
    LARGEST_INTEGER,
    FormatError,
    UnreadableError,
    are_in_one_form,
    check_characters,
    encode_event,
    milliseconds,
    read_event,
)
from fairdeal_verifier.events import VERSION, Body, Step, is_log_key
from fairdeal_verifier.kinds import (
    Fits,
    is_hex32,
    is_hex64,
    is_string,
    is_table,
    one_of,
    record,
    within,
)
from fairdeal_verifier.primitives import message

MAX_PARTS = 65_535

_is_size = within(0, LARGEST_INTEGER)
_is_hand = within(1, 2**32 - 1)
_both = record(new=is_hex64, old=is_hex64)
_only_new = record(new=is_hex64)


def _is_sigs(value: object, seats: int) -> bool:
    return _both(value, seats) or _only_new(value, seats)


def _is_lost(value: object, _seats: int) -> bool:
    """Pairs of table and hand, ascending, none twice."""
    if type(value) is not list:
        return False
    for one in value:
        if type(one) is not list or len(one) != 2:
            return False
        if not is_table(one[0], 0) or not _is_hand(one[1], 0):
            return False
    return all(before < after for before, after in pairwise(value))


_COMMON: dict[str, Fits] = {"v": one_of(VERSION), "type": is_string, "at": is_string}
_TYPES: dict[str, dict[str, Fits]] = {
    "log.rotated": _COMMON
    | {
        "origin": is_string,
        "old_key": is_log_key,
        "new_key": is_log_key,
        "size": _is_size,
        "root": is_hex32,
        "sigs": _both,
    },
    "log.continued": _COMMON
    | {
        "origin": is_string,
        "log_key": is_log_key,
        "old_origin": is_string,
        "old_key": is_log_key,
        "old_size": _is_size,
        "old_root": is_hex32,
        "old_sig": is_hex64,
        "kept_size": _is_size,
        "kept_root": is_hex32,
        "part": within(0, MAX_PARTS - 1),
        "parts": within(1, MAX_PARTS),
        "lost": _is_lost,
        "sigs": _is_sigs,
    },
}
TYPES = frozenset(_TYPES)


def parse(text: str) -> Step:
    """Reads one of these events, in its one form.

    Raises:
        UnreadableError: It is of another version.
        FormatError: It is none.

    Spec: EVT-4, ENC-7
    """
    raw, body = read_event(text)
    check_characters(text)
    version, kind = body.get("v"), body.get("type")
    if type(version) is str and version != VERSION:
        raise UnreadableError("an event is of a version that this tool does not know")
    fields = _TYPES.get(kind) if type(kind) is str else None
    if fields is None or type(kind) is not str:
        raise FormatError("an event is of no type that there is")
    if body.keys() != fields.keys():
        raise FormatError(f"a field of {kind} is missing, or one is too many")
    for name, fits in fields.items():
        if not fits(body[name], 0):
            raise FormatError(f"{name} of {kind} is not what it has to be")
    at = milliseconds(body["at"])
    if at is None:
        raise FormatError(f"at of {kind} is not a time")
    if body.get("part", 0) >= body.get("parts", 1):
        raise FormatError(f"part of {kind} is not below its parts")
    if not are_in_one_form([text], [body]):
        raise FormatError("an event is not written in its one form")
    digest = sha256(raw).digest()
    return Step(raw, digest, digest.hex(), kind, body, at)


def signed_message(tag: str, body: Body) -> bytes:
    """Gives what the two keys of such an event sign. Spec: TAG-1."""
    unsigned = {name: value for name, value in body.items() if name != "sigs"}
    return message(tag, encode_event(unsigned))
