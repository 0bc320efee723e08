"""Which fields each event has, and of what kind. Spec: EVT-1, EVT-2, EVT-3, ENC-4, ENC-5, ENC-6."""

from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from fairdeal_verifier.encoding import (
    LARGEST_INTEGER,
    FormatError,
    UnreadableError,
    check_characters,
    milliseconds,
    read_event,
)
from fairdeal_verifier.games import GAMES, SUITS
from fairdeal_verifier.kinds import (
    MAX_SEATS,
    Fits,
    by_seat,
    either,
    is_boolean,
    is_card,
    is_count,
    is_discards,
    is_draw,
    is_epoch,
    is_head,
    is_hex16,
    is_hex32,
    is_null,
    is_object,
    is_position,
    is_position_list,
    is_seat,
    is_seat_list,
    is_seconds,
    is_shown,
    is_sigs,
    is_string,
    is_table,
    is_word,
    many,
    one_of,
    record,
    within,
)
from fairdeal_verifier.note import LogKey
from fairdeal_verifier.words import say

VERSION = "fairdeal/1"

Body = dict[str, Any]

_REASONS = ("seal_timeout", "open_timeout", "turn_timeout", "idle", "operator", "epochs", "lost")
_HAND_PREFIXES = ("hand.", "seeds.", "cards.", "trumps.", "stock.", "play.")


@dataclass(frozen=True, slots=True)
class Step:
    """One event.

    Attributes:
        raw: Its bytes.
        digest: Their hash.
        head: The hash as the next event writes it.
        type: Its type.
        body: Its members.
        at: Its time in milliseconds.
    """

    raw: bytes
    digest: bytes
    head: str
    type: str
    body: Body
    at: int


def is_log_key(value: object, _seats: int) -> bool:
    """A vkey. Spec: LOG-3."""
    try:
        return type(value) is str and bool(LogKey.parse(value))
    except FormatError:
        return False


FIELDS: dict[str, dict[str, Fits]] = {
    "table.opened": {
        "origin": is_string,
        "log_key": is_log_key,
        "game": is_string,
        "ruleset": is_object,
        "seats": within(1, MAX_SEATS),
        "contribute": is_seat_list,
        "keys": by_seat(is_hex32, empty=True),
        "custody": one_of("seats", "operator"),
        "timeouts": record(
            seal=is_seconds, open=is_seconds, hand=is_seconds, table=is_seconds, turn=is_seconds
        ),
        "disclosure": one_of("hand", "table"),
        "referee": is_boolean,
        "beacon": is_null,
        "next_commitment": is_hex32,
    },
    "hand.opened": {
        "terms": is_hex32,
        "commitment": is_hex32,
        "next_commitment": is_hex32,
        "first": either(is_seat),
        "match": either(is_object),
        "round": is_null,
    },
    "trumps.declared": {"trumps": by_seat(one_of(*SUITS)), "sigs": is_sigs},
    "seeds.sealed": {"seals": by_seat(is_hex32), "sigs": is_sigs},
    "seeds.opened": {
        "epoch": is_epoch,
        "head": is_hex32,
        "seeds": by_seat(is_hex32),
        "sigs": is_sigs,
    },
    "hand.dealt": {
        "deck_root": is_hex32,
        "first": is_seat,
        "positions": by_seat(is_position_list),
        "indicator": either(is_card),
        "shown": many(is_shown, empty=True),
        "beacon": is_null,
    },
    "cards.drawn": {"draws": many(is_draw)},
    "cards.discarded": {
        "discards": by_seat(record(count=is_count, lock=is_hex32)),
        "sigs": is_sigs,
    },
    "cards.shown": {"shown": many(is_shown)},
    "cards.given": {
        "given": many(
            record(
                from_=is_seat,
                to=is_seat,
                epoch=is_epoch,
                position=is_position,
                card=is_card,
                salt=is_hex16,
            )
        )
    },
    "cards.returned": {},
    "cards.looked": {"seat": is_seat},
    "play.called": {
        "seat": is_seat,
        "call": is_word,
        "amount": either(within(0, LARGEST_INTEGER)),
    },
    "play.declared": {"what": is_word, "seats": is_seat_list},
    "stock.reshuffled": {"epoch": is_epoch, "count": is_count, "deck_root": is_hex32},
    "hand.closed": {"result": either(is_object)},
    "hand.aborted": {"reason": one_of(*_REASONS), "missing": is_seat_list},
    # These three never stand in a hand's file; they are here because they are events.
    "hand.disclosed": {"server_seed": is_hex32, "discards": is_discards},
    "seat.reissued": {"seat": is_seat},
    "table.closed": {"unused_seed": is_hex32},
}

_COMMON: dict[str, Fits] = {
    "v": one_of(VERSION),
    "type": is_string,
    "table": is_table,
    "seq": within(0, LARGEST_INTEGER),
    "prev": is_head,
    "at": is_string,
}
_HAND: dict[str, Fits] = {"hand": within(1, 2**32 - 1)}


def _all_fields(kind: str) -> tuple[frozenset[str], tuple[tuple[str, Fits], ...]]:
    fields = _COMMON | (_HAND if kind.startswith(_HAND_PREFIXES) else {}) | FIELDS[kind]
    # `v` and `type` have been read when the others are looked at.
    return frozenset(fields), tuple((n, f) for n, f in fields.items() if n not in ("v", "type"))


_TABLES = {kind: _all_fields(kind) for kind in FIELDS}


def parse(text: str, seats: int) -> Step:
    """Reads one event.

    Args:
        text: Its bytes, as the file's string holds them.
        seats: The table's number of seats; for `table.opened` any.

    Raises:
        UnreadableError: It is of another version, or opens a table of an unknown game.
        FormatError: It is no event.

    Spec: EVT-1, EVT-3, VER-1
    """
    raw, body = read_event(text)
    version = body.get("v")
    if type(version) is str and version != VERSION:
        raise UnreadableError(say("unreadable.version"))
    kind = body.get("type")
    if kind == "table.opened":
        game = body.get("game")
        if type(game) is str and game not in GAMES:
            raise UnreadableError(say("unreadable.game"))
        if is_seat(body.get("seats"), MAX_SEATS + 1):
            seats = body["seats"]
    check_characters(text)
    known = _TABLES.get(kind) if type(kind) is str else None
    if known is None or type(kind) is not str:
        raise FormatError("an event is of no type that there is")
    names, fields = known
    if body.keys() != names or version != VERSION:
        raise FormatError(f"a field of {kind} is missing, or one is too many")
    for name, fits in fields:
        if not fits(body[name], seats):
            raise FormatError(f"{name} of {kind} is not what it has to be")
    at = milliseconds(body["at"])
    if at is None:
        raise FormatError(f"at of {kind} is not a time")
    digest = sha256(raw).digest()
    return Step(raw, digest, digest.hex(), kind, body, at)
