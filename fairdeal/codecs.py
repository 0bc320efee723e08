"""Readers and writers of event fields. Each refuses what is not of its form. Spec: EVT-1, EVT-3.

Fields are read from JSON values and written as canonical text: written as values, which a general
encoder then sorts and walks through, an event would take three times as long. Members stand here
in ascending order (ENC-1); tests hold the text against the general encoder.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Generic, NamedTuple, TypeVar

from fairdeal.cards import CARDS, Card
from fairdeal.encoding import MAX_INTEGER, encode_text, unhex
from fairdeal.errors import FormatError
from fairdeal.hashing import Bytes32

MAX_SEAT: Final = 9
LAST_EPOCH: Final = 32
T = TypeVar("T")
B = TypeVar("B", bound=Bytes32)

_SEAT_KEYS: Final = {str(seat): seat for seat in range(MAX_SEAT + 1)}


class Place(NamedTuple):
    """Where a card lies: a position of an epoch's order."""

    epoch: int
    position: int


class Shown(NamedTuple):
    """A card made public. `seat` is None for a card of the stock."""

    seat: int | None
    place: Place
    card: Card
    salt: bytes


class Given(NamedTuple):
    """A card that goes openly from one seat to another."""

    source: int
    target: int
    place: Place
    card: Card
    salt: bytes


class Lock(NamedTuple):
    """How many cards a seat threw face down, and its commitment to which."""

    size: int
    lock: bytes


@dataclass(frozen=True, slots=True)
class Codec(Generic[T]):
    """How a field is read from a JSON value, and written as canonical JSON."""

    read: Callable[[Any], T]
    write: Callable[[T], str]


def fail(what: str) -> FormatError:
    """The one error of a malformed field."""
    return FormatError("field_malformed", f"expected {what}")


def fields_of(value: object, names: frozenset[str]) -> dict[str, Any]:
    """An object with exactly these members."""
    if not isinstance(value, dict) or value.keys() != names:
        raise fail(f"an object with {', '.join(sorted(names))}")
    return value


def integer(low: int, high: int = MAX_INTEGER) -> Codec[int]:
    """An integer within bounds. A boolean is none."""

    def read(value: object) -> int:
        if type(value) is not int or not low <= value <= high:
            raise fail(f"an integer from {low} to {high}")
        return value

    return Codec(read, str)


def text(pattern: str) -> Codec[str]:
    """A string that matches."""
    matches = re.compile(pattern, re.ASCII).fullmatch

    def read(value: object) -> str:
        if not isinstance(value, str) or not matches(value):
            raise fail(f"a string like {pattern}")
        return value

    return Codec(read, encode_text)


def one_of(*values: str) -> Codec[str]:
    """One of a few words."""

    def read(value: object) -> str:
        if not isinstance(value, str) or value not in values:
            raise fail(f"one of {', '.join(values)}")
        return value

    return Codec(read, encode_text)


def _write_hex(value: bytes) -> str:
    return f'"{value.hex()}"'


def hex_bytes(length: int) -> Codec[bytes]:
    """Bytes of a length that have no type of their own."""
    return Codec(lambda value: unhex(value, length), _write_hex)


def hex32(cls: type[B]) -> Codec[B]:
    """32 bytes of one meaning."""
    return Codec(cls.from_hex, _write_hex)


def nullable(codec: Codec[T]) -> Codec[T | None]:
    """A value or null."""
    read, write = codec.read, codec.write
    return Codec(
        lambda value: None if value is None else read(value),
        lambda value: "null" if value is None else write(value),
    )


def _read_null(value: object) -> None:
    if value is not None:
        raise fail("null")


def list_of(codec: Codec[T], *, empty: bool = False) -> Codec[tuple[T, ...]]:
    """A list; not empty unless told."""
    read, write = codec.read, codec.write

    def read_list(value: object) -> tuple[T, ...]:
        if not isinstance(value, list) or not (value or empty):
            raise fail("a list" if empty else "a list that is not empty")
        return tuple([read(item) for item in value])

    def write_list(values: tuple[T, ...]) -> str:
        if not (values or empty):
            raise fail("a list that is not empty")
        return f"[{','.join(map(write, values))}]"

    return Codec(read_list, write_list)


def by_seat(codec: Codec[T], *, empty: bool = False) -> Codec[Mapping[int, T]]:
    """An object whose keys are seats. Spec: ENC-4."""
    read, write = codec.read, codec.write

    def read_map(value: object) -> Mapping[int, T]:
        if not isinstance(value, dict) or not (value or empty):
            raise fail("an object with seats as keys")
        if not value.keys() <= _SEAT_KEYS.keys():
            raise fail("seats as keys")
        return {_SEAT_KEYS[seat]: read(item) for seat, item in value.items()}

    def write_map(values: Mapping[int, T]) -> str:
        if not values and empty:
            return "{}"
        if not values:
            raise fail("an object with seats as keys")
        # A seat has one digit: the order of numbers is that of strings.
        members = [f'"{seat}":{write(values[seat])}' for seat in sorted(values)]
        return f"{{{','.join(members)}}}"

    return Codec(read_map, write_map)


SEAT: Final = integer(0, MAX_SEAT)
EPOCH: Final = integer(0, LAST_EPOCH)
POSITION: Final = integer(0, 255)
COUNT: Final = integer(1, 255)
NULL: Final[Codec[None]] = Codec(_read_null, lambda _: "null")
_SALT: Final = hex_bytes(16)
_SEAT_OR_NULL: Final = nullable(SEAT)


def _read_card(value: object) -> Card:
    if not isinstance(value, str) or value not in CARDS:
        raise fail("a card")
    return Card(value)


CARD: Final[Codec[Card]] = Codec(_read_card, encode_text)


def _read_seats(value: object) -> tuple[int, ...]:
    seats = list_of(SEAT, empty=True).read(value)
    if list(seats) != sorted(set(seats)):
        raise fail("seats in ascending order, each once")
    return seats


SEATS: Final[Codec[tuple[int, ...]]] = Codec(_read_seats, list_of(SEAT, empty=True).write)

_SHOWN_FIELDS = frozenset({"card", "epoch", "position", "salt", "seat"})
_GIVEN_FIELDS = frozenset({"card", "epoch", "from", "position", "salt", "to"})
_LOCK_FIELDS = frozenset({"count", "lock"})


def _read_shown(value: object) -> Shown:
    got = fields_of(value, _SHOWN_FIELDS)
    place = Place(EPOCH.read(got["epoch"]), POSITION.read(got["position"]))
    seat = _SEAT_OR_NULL.read(got["seat"])
    return Shown(seat, place, _read_card(got["card"]), _SALT.read(got["salt"]))


def _write_shown(shown: Shown) -> str:
    seat, (epoch, position), card, salt = shown
    return (
        f'{{"card":{CARD.write(card)},"epoch":{epoch},"position":{position},'
        f'"salt":"{salt.hex()}","seat":{_SEAT_OR_NULL.write(seat)}}}'
    )


def _read_given(value: object) -> Given:
    got = fields_of(value, _GIVEN_FIELDS)
    place = Place(EPOCH.read(got["epoch"]), POSITION.read(got["position"]))
    source, target = SEAT.read(got["from"]), SEAT.read(got["to"])
    return Given(source, target, place, _read_card(got["card"]), _SALT.read(got["salt"]))


def _write_given(given: Given) -> str:
    source, target, (epoch, position), card, salt = given
    return (
        f'{{"card":{CARD.write(card)},"epoch":{epoch},"from":{source},"position":{position},'
        f'"salt":"{salt.hex()}","to":{target}}}'
    )


def _read_lock(value: object) -> Lock:
    got = fields_of(value, _LOCK_FIELDS)
    return Lock(COUNT.read(got["count"]), unhex(got["lock"], 32))


def _read_draw(value: object) -> tuple[int, Place]:
    if not isinstance(value, list) or len(value) != 3:
        raise fail("[seat, epoch, position]")
    seat, epoch, position = value
    return SEAT.read(seat), Place(EPOCH.read(epoch), POSITION.read(position))


def _read_place(value: object) -> Place:
    if not isinstance(value, list) or len(value) != 2:
        raise fail("[epoch, position]")
    epoch, position = value
    return Place(EPOCH.read(epoch), POSITION.read(position))


SHOWN: Final[Codec[Shown]] = Codec(_read_shown, _write_shown)
GIVEN: Final[Codec[Given]] = Codec(_read_given, _write_given)
LOCK: Final[Codec[Lock]] = Codec(
    _read_lock, lambda lock: f'{{"count":{lock.size},"lock":"{lock.lock.hex()}"}}'
)
DRAW: Final[Codec[tuple[int, Place]]] = Codec(
    _read_draw, lambda draw: f"[{draw[0]},{draw[1].epoch},{draw[1].position}]"
)
PLACE: Final[Codec[Place]] = Codec(_read_place, lambda place: f"[{place.epoch},{place.position}]")


_option_name = text(r"[a-z0-9_]{1,32}")
_option_number = integer(-MAX_INTEGER)


def _read_ruleset(value: object) -> Mapping[str, str | int | bool]:
    if not isinstance(value, dict):
        raise fail("an object")
    for name, option in value.items():
        _option_name.read(name)
        if type(option) is int:
            _option_number.read(option)
        elif not isinstance(option, (str, bool)):
            raise fail("options that are words, numbers or booleans")
    return value


def _read_boolean(value: object) -> bool:
    if not isinstance(value, bool):
        raise fail("true or false")
    return value


BOOLEAN: Final[Codec[bool]] = Codec(_read_boolean, encode_text)


_member_name = text(r"[a-z0-9_]+")
_MAX_DEPTH = 14
"""Of an object that is a field of an event, which nests at most 16 deep. Spec: ENC-8."""


def _check_plain(value: object, depth: int) -> None:
    """Raise unless a value is in the profile of events. Spec: ENC-1, ENC-3."""
    if depth > _MAX_DEPTH and isinstance(value, (dict, list)):
        raise fail("values that nest less deep")
    match value:
        case dict():
            for name, member in value.items():
                _member_name.read(name)
                _check_plain(member, depth + 1)
        case list():
            for member in value:
                _check_plain(member, depth + 1)
        case bool() | str() | None:
            pass
        case int():
            _option_number.read(value)
        case _:
            raise fail("values of the profile")


def _read_object(value: object) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise fail("an object")
    _check_plain(value, 0)
    return value


OBJECT: Final[Codec[Mapping[str, Any]]] = Codec(_read_object, encode_text)
"""An object of any content that the profile allows."""

RULESET: Final[Codec[Mapping[str, str | int | bool]]] = Codec(_read_ruleset, encode_text)
