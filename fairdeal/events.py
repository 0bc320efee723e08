"""One frozen class an event, to and from bytes. Spec: events.md.

An event knows its bytes from the moment it is made: they are written once (ENC-7) and are what
is hashed, logged, stored and sent.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from operator import attrgetter, call
from typing import Any, ClassVar, Final, NamedTuple

from fairdeal.cards import Card
from fairdeal.codecs import (
    BOOLEAN,
    CARD,
    COUNT,
    DRAW,
    EPOCH,
    GIVEN,
    LOCK,
    NULL,
    OBJECT,
    PLACE,
    POSITION,
    RULESET,
    SEAT,
    SEATS,
    SHOWN,
    Codec,
    Given,
    Lock,
    Place,
    Shown,
    by_seat,
    fail,
    fields_of,
    hex32,
    hex_bytes,
    integer,
    list_of,
    nullable,
    one_of,
    text,
)
from fairdeal.encoding import MAX_EVENT, encode_text, format_time, parse, parse_time
from fairdeal.errors import FormatError
from fairdeal.hashing import Digest, digest
from fairdeal.seeds import Commitment, Seal, SeatSeed, ServerSeed

VERSION: Final = "fairdeal/1"
ABORT_REASONS: Final = (
    "seal_timeout",
    "open_timeout",
    "turn_timeout",
    "idle",
    "operator",
    "epochs",
    "lost",
)

_TABLE = text(r"tbl_[0-9a-hjkmnp-tv-z]{26}")
_SEQ = integer(0)
_HAND = integer(1, 2**32 - 1)
_DIGEST = hex32(Digest)
_SECONDS = integer(1, 31_536_000)
_SIGNATURES = by_seat(hex_bytes(64), empty=True)

Signatures = Mapping[int, bytes]


class Header(NamedTuple):
    """What every event has. `prev` is None for a table's first event. Spec: EVT-2."""

    table: str
    seq: int
    prev: Digest | None
    at: int
    """Milliseconds since 1970."""


class Timeouts(NamedTuple):
    """Seconds that a missing seal or seed, an idle hand and table, and a turn are given."""

    seal: int = 120
    open: int = 60
    hand: int = 3600
    table: int = 86_400
    turn: int = 60


_TIMEOUT_FIELDS = frozenset(Timeouts._fields)


def _read_timeouts(value: object) -> Timeouts:
    got = fields_of(value, _TIMEOUT_FIELDS)
    return Timeouts(**{name: _SECONDS.read(got[name]) for name in Timeouts._fields})


_TIMEOUTS: Final[Codec[Timeouts]] = Codec(
    _read_timeouts, lambda value: encode_text(value._asdict())
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """An event of a table. Subclasses name their type and the codec of each field."""

    TYPE: ClassVar[str]
    CODECS: ClassVar[Mapping[str, Codec[Any]]]

    header: Header
    raw: bytes = field(init=False, repr=False, compare=False)
    digest: Digest = field(init=False, repr=False, compare=False)
    """SHA-256 of the event's bytes."""

    def __post_init__(self) -> None:
        text, values, writers = _FORMS[self.TYPE]
        raw = (text % tuple(map(call, writers, values(self)))).encode("utf-8")
        if len(raw) > MAX_EVENT:
            raise FormatError("event_too_long", "an event has at most 65,535 bytes")
        object.__setattr__(self, "raw", raw)
        object.__setattr__(self, "digest", digest(raw))


@dataclass(frozen=True, slots=True, kw_only=True)
class HandEvent(Event):
    """An event of a hand."""

    hand: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TableOpened(Event):
    """The terms: everything that is fixed for all hands of a table. Spec: TBL-1."""

    TYPE: ClassVar[str] = "table.opened"
    CODECS: ClassVar[Mapping[str, Codec[Any]]] = {
        "origin": text(r"[!-*,-~]{1,200}"),
        "log_key": text(r"[!-~]{1,400}"),
        "game": text(r"[a-z0-9_]{1,32}"),
        "ruleset": RULESET,
        "seats": integer(1, 10),
        "contribute": SEATS,
        "keys": by_seat(hex_bytes(32), empty=True),
        "custody": one_of("seats", "operator"),
        "timeouts": _TIMEOUTS,
        "disclosure": one_of("hand", "table"),
        "referee": BOOLEAN,
        "beacon": NULL,
        "next_commitment": hex32(Commitment),
    }

    origin: str
    log_key: str
    game: str
    ruleset: Mapping[str, str | int | bool]
    seats: int
    contribute: tuple[int, ...]
    keys: Mapping[int, bytes]
    custody: str
    timeouts: Timeouts
    disclosure: str
    next_commitment: Commitment
    referee: bool = False
    beacon: None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HandOpened(HandEvent):
    """A new deck's life begins, bound to a server seed committed one hand before. Spec: HAND-1."""

    TYPE: ClassVar[str] = "hand.opened"
    CODECS: ClassVar[Mapping[str, Codec[Any]]] = {
        "hand": _HAND,
        "terms": _DIGEST,
        "commitment": hex32(Commitment),
        "next_commitment": hex32(Commitment),
        "first": nullable(SEAT),
        "match": nullable(OBJECT),
        "round": NULL,
    }

    terms: Digest
    commitment: Commitment
    next_commitment: Commitment
    first: int | None
    match: Mapping[str, Any] | None = None
    """The match as it stands, where there is a referee. Spec: PLAY-2."""
    round: None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TrumpsDeclared(HandEvent):
    """Seats name their trump suits, before any seal. Spec: HAND-3."""

    TYPE: ClassVar[str] = "trumps.declared"
    CODECS: ClassVar[Mapping[str, Codec[Any]]] = {
        "hand": _HAND,
        "trumps": by_seat(one_of("C", "D", "H", "S")),
        "sigs": _SIGNATURES,
    }

    trumps: Mapping[int, str]
    sigs: Signatures = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class SeedsSealed(HandEvent):
    """Seats bind themselves to their seeds. Spec: HAND-4."""

    TYPE: ClassVar[str] = "seeds.sealed"
    CODECS: ClassVar[Mapping[str, Codec[Any]]] = {
        "hand": _HAND,
        "seals": by_seat(hex32(Seal)),
        "sigs": _SIGNATURES,
    }

    seals: Mapping[int, Seal]
    sigs: Signatures = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class SeedsOpened(HandEvent):
    """Seats open their seeds of an epoch, under the head that they saw. Spec: HAND-5, HAND-12."""

    TYPE: ClassVar[str] = "seeds.opened"
    CODECS: ClassVar[Mapping[str, Codec[Any]]] = {
        "hand": _HAND,
        "epoch": EPOCH,
        "head": _DIGEST,
        "seeds": by_seat(hex32(SeatSeed)),
        "sigs": _SIGNATURES,
    }

    epoch: int
    head: Digest
    seeds: Mapping[int, SeatSeed]
    sigs: Signatures = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class HandDealt(HandEvent):
    """Every card of every position is sealed, and the first ones are dealt. Spec: HAND-6."""

    TYPE: ClassVar[str] = "hand.dealt"
    CODECS: ClassVar[Mapping[str, Codec[Any]]] = {
        "hand": _HAND,
        "deck_root": _DIGEST,
        "first": SEAT,
        "positions": by_seat(list_of(POSITION, empty=True)),
        "indicator": nullable(CARD),
        "shown": list_of(SHOWN, empty=True),
        "beacon": NULL,
    }

    deck_root: Digest
    first: int
    positions: Mapping[int, tuple[int, ...]]
    indicator: Card | None
    shown: tuple[Shown, ...]
    beacon: None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CardsDrawn(HandEvent):
    """A service from the top of the stock. Spec: GAME-4."""

    TYPE: ClassVar[str] = "cards.drawn"
    CODECS: ClassVar[Mapping[str, Codec[Any]]] = {"hand": _HAND, "draws": list_of(DRAW)}

    draws: tuple[tuple[int, Place], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CardsDiscarded(HandEvent):
    """Seats throw cards face down and are bound to which. Spec: HAND-10."""

    TYPE: ClassVar[str] = "cards.discarded"
    CODECS: ClassVar[Mapping[str, Codec[Any]]] = {
        "hand": _HAND,
        "discards": by_seat(LOCK),
        "sigs": _SIGNATURES,
    }

    discards: Mapping[int, Lock]
    sigs: Signatures = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class CardsShown(HandEvent):
    """Cards become public. Spec: HAND-11."""

    TYPE: ClassVar[str] = "cards.shown"
    CODECS: ClassVar[Mapping[str, Codec[Any]]] = {"hand": _HAND, "shown": list_of(SHOWN)}

    shown: tuple[Shown, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CardsGiven(HandEvent):
    """Cards go openly from seat to seat. Spec: SVO-3."""

    TYPE: ClassVar[str] = "cards.given"
    CODECS: ClassVar[Mapping[str, Codec[Any]]] = {"hand": _HAND, "given": list_of(GIVEN)}

    given: tuple[Given, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CardsReturned(HandEvent):
    """The trick goes back to where it came from. Spec: KOZ-6."""

    TYPE: ClassVar[str] = "cards.returned"
    CODECS: ClassVar[Mapping[str, Codec[Any]]] = {"hand": _HAND}


@dataclass(frozen=True, slots=True, kw_only=True)
class CardsLooked(HandEvent):
    """A seat that could bid blind has looked at its cards. Spec: AZI-3."""

    TYPE: ClassVar[str] = "cards.looked"
    CODECS: ClassVar[Mapping[str, Codec[Any]]] = {"hand": _HAND, "seat": SEAT}

    seat: int


_WORD: Final = text(r"[a-z_]{1,16}")


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayCalled(HandEvent):
    """A move that is said and not played: a bet, a pass, a pick-up. Spec: PLAY-3."""

    TYPE: ClassVar[str] = "play.called"
    CODECS: ClassVar[Mapping[str, Codec[Any]]] = {
        "hand": _HAND,
        "seat": SEAT,
        "call": _WORD,
        "amount": nullable(_SEQ),
    }

    seat: int
    call: str
    amount: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayDeclared(HandEvent):
    """Which seats have something, as their cards say. Spec: PLAY-4."""

    TYPE: ClassVar[str] = "play.declared"
    CODECS: ClassVar[Mapping[str, Codec[Any]]] = {"hand": _HAND, "what": _WORD, "seats": SEATS}

    what: str
    seats: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StockReshuffled(HandEvent):
    """A pool of discards has become the new stock. Spec: HAND-13."""

    TYPE: ClassVar[str] = "stock.reshuffled"
    CODECS: ClassVar[Mapping[str, Codec[Any]]] = {
        "hand": _HAND,
        "epoch": EPOCH,
        "count": COUNT,
        "deck_root": _DIGEST,
    }

    epoch: int
    count: int
    deck_root: Digest


@dataclass(frozen=True, slots=True, kw_only=True)
class HandClosed(HandEvent):
    """The hand was finished. Spec: HAND-15, PLAY-5."""

    TYPE: ClassVar[str] = "hand.closed"
    CODECS: ClassVar[Mapping[str, Codec[Any]]] = {"hand": _HAND, "result": nullable(OBJECT)}

    result: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HandAborted(HandEvent):
    """The hand ended early. Spec: HAND-16."""

    TYPE: ClassVar[str] = "hand.aborted"
    CODECS: ClassVar[Mapping[str, Codec[Any]]] = {
        "hand": _HAND,
        "reason": one_of(*ABORT_REASONS),
        "missing": SEATS,
    }

    reason: str
    missing: tuple[int, ...]


Discards = Mapping[int, tuple[tuple[Place, ...], ...]]
"""What each seat threw: by k, then the cards in ascending order."""

_DISCARDS: Final = by_seat(list_of(list_of(PLACE, empty=True), empty=True), empty=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class HandDisclosed(HandEvent):
    """The service opens its secret. Spec: HAND-17."""

    TYPE: ClassVar[str] = "hand.disclosed"
    CODECS: ClassVar[Mapping[str, Codec[Any]]] = {
        "hand": _HAND,
        "server_seed": hex32(ServerSeed),
        "discards": _DISCARDS,
    }

    server_seed: ServerSeed
    discards: Discards


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatReissued(Event):
    """A seat's credentials were given anew. Spec: TBL-2."""

    TYPE: ClassVar[str] = "seat.reissued"
    CODECS: ClassVar[Mapping[str, Codec[Any]]] = {"seat": SEAT}

    seat: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TableClosed(Event):
    """Nothing follows. Spec: TBL-2."""

    TYPE: ClassVar[str] = "table.closed"
    CODECS: ClassVar[Mapping[str, Codec[Any]]] = {"unused_seed": hex32(ServerSeed)}

    unused_seed: ServerSeed


EVENTS: Final[Mapping[str, type[Event]]] = {
    cls.TYPE: cls
    for cls in (
        TableOpened,
        HandOpened,
        TrumpsDeclared,
        SeedsSealed,
        SeedsOpened,
        HandDealt,
        CardsDrawn,
        CardsDiscarded,
        CardsShown,
        CardsGiven,
        CardsReturned,
        CardsLooked,
        PlayCalled,
        PlayDeclared,
        StockReshuffled,
        HandClosed,
        HandAborted,
        HandDisclosed,
        SeatReissued,
        TableClosed,
    )
}

_COMMON = frozenset({"v", "type", "table", "seq", "prev", "at"})


class _Form(NamedTuple):
    """How an event of one type is written."""

    text: str
    """With a gap for each value, its members in ascending order. Spec: ENC-1."""
    values: Callable[[Event], tuple[Any, ...]]
    """Those that belong in the gaps."""
    writers: tuple[Callable[[Any], str], ...]


def _form(cls: type[Event]) -> _Form:
    fixed = {"v": f'"{VERSION}"', "type": f'"{cls.TYPE}"'}
    writers = {**_HEADER_WRITERS, **{name: codec.write for name, codec in cls.CODECS.items()}}
    names = sorted(writers)
    members = [f'"{name}":{fixed.get(name, "%s")}' for name in sorted([*fixed, *writers])]
    places = [f"header.{name}" if name in _HEADER_WRITERS else name for name in names]
    return _Form(
        f"{{{','.join(members)}}}", attrgetter(*places), tuple([writers[name] for name in names])
    )


_HEADER_WRITERS: Final[Mapping[str, Callable[[Any], str]]] = {
    "table": lambda table: f'"{table}"',  # an id has nothing to escape (EVT-2)
    "seq": str,
    "prev": lambda prev: '""' if prev is None else f'"{prev.hex()}"',
    "at": lambda at: f'"{format_time(at)}"',
}
_FORMS: Final = {name: _form(cls) for name, cls in EVENTS.items()}
_FIELDS: Final = {name: _COMMON | cls.CODECS.keys() for name, cls in EVENTS.items()}


def parse_event(data: bytes) -> Event:
    """Read an event strictly.

    Raises:
        FormatError: Not an event, or not in the bytes that an event has. Spec: ENC-7, EVT-1.
    """
    value = parse(data)
    cls = EVENTS.get(value.get("type", "")) if isinstance(value.get("type"), str) else None
    if cls is None:
        raise fail("a known event type")
    if value.get("v") != VERSION:
        raise FormatError("version_unknown", "this version of the protocol is not known")
    fields_of(value, _FIELDS[cls.TYPE])
    prev = value["prev"]
    header = Header(
        _TABLE.read(value["table"]),
        _SEQ.read(value["seq"]),
        None if prev == "" else Digest.from_hex(prev),
        parse_time(value["at"]),
    )
    fields = {name: codec.read(value[name]) for name, codec in cls.CODECS.items()}
    event = cls(header=header, **fields)
    if event.raw != data:
        raise FormatError(
            "not_canonical", "these are not the bytes that an event with this content has"
        )
    return event
