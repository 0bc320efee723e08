"""Values as JSON bytes, for bodies that nobody has to read again here."""

from __future__ import annotations

from typing import Any

from pydantic_core import to_json


class Raw(bytes):
    """JSON already; only as a member of a body's outermost object."""

    __slots__ = ()


def encode_text(value: str | bytes) -> bytes:
    """A string in JSON, given as text or in UTF-8."""
    return to_json(value)


def encode_members(value: dict[str, Any]) -> bytes:
    """The members of an object in JSON, without its braces."""
    if Raw not in map(type, value.values()):
        return to_json(value)[1:-1]
    raw = [(name, member) for name, member in value.items() if type(member) is Raw]
    rest = to_json({n: member for n, member in value.items() if type(member) is not Raw})[1:-1]
    members = [b'"%b":%b' % (name.encode(), member) for name, member in raw]
    return b",".join([rest, *members] if rest else members)


def encode(value: dict[str, Any]) -> bytes:
    """A body in JSON."""
    return b"{%b}" % encode_members(value)
