"""Kinds of values: small functions that say if a value is of a kind.

Each takes the value and the table's number of seats. `type(x) is int` and not `isinstance`, since
`True` is an integer to Python and none to JSON.

Spec: EVT-2, EVT-3, ENC-4, ENC-5
"""

import re
from collections.abc import Callable
from typing import Any

from fairdeal_verifier.encoding import is_plain
from fairdeal_verifier.games import CARDS

MAX_SEATS = 10
MAX_EPOCH = 32

Fits = Callable[[Any, int], bool]

_HEX = {size: re.compile(f"[0-9a-f]{{{2 * size}}}").fullmatch for size in (16, 32, 64)}
_TABLE = re.compile("tbl_[0-9a-hjkmnp-tv-z]{26}").fullmatch
_WORD = re.compile("[a-z_]{1,16}").fullmatch
_SEATS = [frozenset(map(str, range(n))) for n in range(MAX_SEATS + 1)]


def is_seat(value: object, seats: int) -> bool:
    """A seat of this table."""
    return type(value) is int and 0 <= value < seats


def is_string(value: object, _seats: int) -> bool:
    """A string."""
    return type(value) is str


def is_hex32(value: object, _seats: int) -> bool:
    """32 bytes, matched before they are decoded. Spec: ENC-5."""
    return type(value) is str and _HEX[32](value) is not None


def is_hex16(value: object, _seats: int) -> bool:
    """16 bytes. Spec: ENC-5."""
    return type(value) is str and _HEX[16](value) is not None


def is_hex64(value: object, _seats: int) -> bool:
    """64 bytes. Spec: ENC-5."""
    return type(value) is str and _HEX[64](value) is not None


def is_boolean(value: object, _seats: int) -> bool:
    """True or false."""
    return type(value) is bool


def is_word(value: object, _seats: int) -> bool:
    """A word of the play. Spec: EVT-3."""
    return type(value) is str and _WORD(value) is not None


def is_object(value: object, _seats: int) -> bool:
    """An object of any content that keeps to the profile. Spec: EVT-3."""
    return type(value) is dict and is_plain(value)


def is_null(value: object, _seats: int) -> bool:
    """Nothing."""
    return value is None


def is_card(value: object, _seats: int) -> bool:
    """A card of any game; that it belongs to this deck is a check of its own."""
    return type(value) is str and value in CARDS


def within(low: int, high: int) -> Fits:
    """An integer between two others, both allowed."""
    return lambda value, _seats: type(value) is int and low <= value <= high


def either(fits: Fits) -> Fits:
    """What fits, or null."""
    return lambda value, seats: value is None or fits(value, seats)


def one_of(*choices: str) -> Fits:
    """One of these words."""
    return lambda value, _seats: type(value) is str and value in choices


def record(**fields: Fits) -> Fits:
    """An object with exactly these fields. A field called `from_` is `from`."""
    kinds = [(name.rstrip("_"), fits) for name, fits in fields.items()]
    names = frozenset(name for name, _ in kinds)

    def fits_record(value: object, seats: int) -> bool:
        if type(value) is not dict or value.keys() != names:
            return False
        for name, fits in kinds:  # noqa: SIM110 (a loop is much faster here than `all`)
            if not fits(value[name], seats):
                return False
        return True

    return fits_record


def many(kind: Fits, *, empty: bool = False) -> Fits:
    """A list of one kind."""

    def fits_list(value: object, seats: int) -> bool:
        if type(value) is not list or not (value or empty):
            return False
        for item in value:  # noqa: SIM110
            if not kind(item, seats):
                return False
        return True

    return fits_list


def by_seat(kind: Fits, *, empty: bool = False) -> Fits:
    """A map whose keys are seats. Spec: ENC-4."""

    def fits_map(value: object, seats: int) -> bool:
        if type(value) is not dict or not (value or empty) or not value.keys() <= _SEATS[seats]:
            return False
        for item in value.values():  # noqa: SIM110
            if not kind(item, seats):
                return False
        return True

    return fits_map


def is_seat_list(value: object, seats: int) -> bool:
    """Seats, ascending, none twice."""
    return (
        type(value) is list
        and all([is_seat(seat, seats) for seat in value])
        and value == sorted(set(value))
    )


def is_position_list(value: object, _seats: int) -> bool:
    """Positions, maybe none."""
    return type(value) is list and all([type(x) is int and 0 <= x <= 255 for x in value])


def is_place(value: object, _seats: int) -> bool:
    """A pair of epoch and position."""
    return (
        type(value) is list
        and len(value) == 2
        and type(value[0]) is type(value[1]) is int
        and 0 <= value[0] <= MAX_EPOCH
        and 0 <= value[1] <= 255
    )


def is_draw(value: object, seats: int) -> bool:
    """A seat and a place."""
    return (
        type(value) is list
        and len(value) == 3
        and type(value[0]) is type(value[1]) is type(value[2]) is int
        and 0 <= value[0] < seats
        and 0 <= value[1] <= MAX_EPOCH
        and 0 <= value[2] <= 255
    )


is_epoch = within(0, MAX_EPOCH)
is_position = within(0, 255)
is_count = within(1, 255)
is_seconds = within(1, 31_536_000)
is_sigs = by_seat(is_hex64, empty=True)
is_discards = by_seat(many(many(is_place, empty=True), empty=True), empty=True)
is_shown = record(
    card=is_card, epoch=is_epoch, position=is_position, salt=is_hex16, seat=either(is_seat)
)
is_opening = record(
    card=is_card,
    epoch=is_epoch,
    path=many(is_hex32, empty=True),
    position=is_position,
    salt=is_hex16,
)


def is_table(value: object, _seats: int) -> bool:
    """A table's name. Spec: EVT-2."""
    return type(value) is str and _TABLE(value) is not None


def is_head(value: object, seats: int) -> bool:
    """The digest of an event, or "" for none. Spec: EVT-2."""
    return value == "" or is_hex32(value, seats)
