"""Every event, to bytes and back; every member changed, left out or added. Spec: EVT-1..3."""

import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import FrozenInstanceError
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairdeal.errors import FormatError
from fairdeal.events import (
    EVENTS,
    CardsDiscarded,
    CardsDrawn,
    CardsGiven,
    CardsShown,
    HandEvent,
    Header,
    SeedsOpened,
    SeedsSealed,
    TrumpsDeclared,
    parse_event,
)
from fairdeal.hashing import Digest
from fairdeal.log.entries import LogContinued, LogRotated
from tests.core.strategies import events_of

SPEC = Path(__file__).parents[2] / "docs" / "spec"
COMMON = {"v", "type", "table", "seq", "prev", "at"}
every_type = pytest.mark.parametrize("name", EVENTS)


def written(value: Any) -> bytes:
    """JSON as the profile has it, for values that it may not have."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def fields_of_the_specification() -> dict[str, set[str]]:
    """Type -> names of its fields, from the table of events.md."""
    page = (SPEC / "events.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([a-z]+\.[a-z]+)` \| (.*) \|$", page, re.MULTILINE)
    found = {}
    for name, text in rows:
        outer, depth = "", 0
        for char in text:
            depth += (char in "{[") - (char in "}]")
            outer += char if not depth else ""
        found[name] = set(re.findall(r"`([a-z_]+)`", outer))
        if name.split(".")[0] in {"hand", "seeds", "cards", "trumps", "stock", "play"}:
            found[name].add("hand")
    return found


def test_types_and_fields_are_those_of_the_specification():
    assert fields_of_the_specification() == {
        **{name: set(cls.CODECS) for name, cls in EVENTS.items()},
        **{cls.TYPE: {"origin", "sigs", *cls.FIELDS} for cls in (LogRotated, LogContinued)},
    }
    for name, cls in EVENTS.items():
        assert issubclass(cls, HandEvent) == ("hand" in cls.CODECS)
        assert name == cls.TYPE


@every_type
@settings(max_examples=30)
@given(st.data())
def test_an_event_is_read_as_it_was_written(name, data):
    event = data.draw(events_of(name))
    again = parse_event(event.raw)
    assert again == event
    assert again.raw == event.raw == written(json.loads(event.raw))
    assert type(again) is type(event)
    assert again.digest == hashlib.sha256(event.raw).digest()
    assert json.loads(event.raw).keys() == COMMON | EVENTS[name].CODECS.keys()


@every_type
@settings(max_examples=10)
@given(st.data())
def test_an_event_does_not_change(name, data):
    event = data.draw(events_of(name))
    for field in ("header", "raw", *event.CODECS):
        with pytest.raises(FrozenInstanceError):
            setattr(event, field, None)


# One sample of each type with every part that a field can have.

HEX, SALT, SIG = "ab" * 32, "cd" * 16, "ef" * 64
SHOWN = {"card": "10H", "epoch": 1, "position": 2, "salt": SALT, "seat": 3}
SAMPLES = {
    "table.opened": {
        "origin": "a.example/log",
        "log_key": "a.example/log+00000000+AAAA",
        "game": "mus",
        "ruleset": {"a": "all", "b": True, "c": 1},
        "seats": 4,
        "contribute": [0, 2],
        "keys": {"1": HEX},
        "custody": "seats",
        "timeouts": {"seal": 1, "open": 2, "hand": 3, "table": 4, "turn": 5},
        "disclosure": "hand",
        "referee": True,
        "beacon": None,
        "next_commitment": HEX,
    },
    "hand.opened": {
        "terms": HEX,
        "commitment": HEX,
        "next_commitment": HEX,
        "first": 1,
        "match": {},
        "round": None,
    },
    "trumps.declared": {"trumps": {"0": "H", "1": "S"}, "sigs": {"1": SIG}},
    "seeds.sealed": {"seals": {"0": HEX}, "sigs": {"0": SIG}},
    "seeds.opened": {"epoch": 3, "head": HEX, "seeds": {"0": HEX}, "sigs": {"0": SIG}},
    "hand.dealt": {
        "deck_root": HEX,
        "first": 0,
        "positions": {"0": [1, 3], "1": [0, 2]},
        "indicator": "6C",
        "shown": [SHOWN],
        "beacon": None,
    },
    "cards.drawn": {"draws": [[0, 1, 2], [1, 1, 3]]},
    "cards.discarded": {"discards": {"0": {"count": 2, "lock": HEX}}, "sigs": {"0": SIG}},
    "cards.shown": {"shown": [SHOWN]},
    "cards.given": {
        "given": [{"from": 0, "to": 1, "epoch": 0, "position": 2, "card": "6S", "salt": SALT}]
    },
    "cards.returned": {},
    "cards.looked": {"seat": 0},
    "stock.reshuffled": {"epoch": 1, "count": 28, "deck_root": HEX},
    "play.called": {"seat": 0, "call": "no_mus", "amount": 2},
    "play.declared": {"what": "pares", "seats": [1, 3]},
    "hand.closed": {"result": {}},
    "hand.aborted": {"reason": "idle", "missing": [0, 3]},
    "hand.disclosed": {"server_seed": HEX, "discards": {"0": [[[0, 1], [1, 0]]]}},
    "seat.reissued": {"seat": 0},
    "table.closed": {"unused_seed": HEX},
}


def sample(name: str) -> dict[str, Any]:
    value = {
        "v": "fairdeal/1",
        "type": name,
        "table": "tbl_" + "0" * 26,
        "seq": 1,
        "prev": HEX,
        "at": "2025-11-29T21:00:00.123Z",
    }
    return value | ({"hand": 1} if "hand" in EVENTS[name].CODECS else {}) | SAMPLES[name]


# What may be null, what may be empty, and what may be any word or number.
NULLABLE = re.compile(
    r"hand\.opened/(first|match)|hand\.dealt/indicator|.*/shown/0/seat"
    r"|hand\.closed/result|play\.called/amount"
)
MAY_BE_EMPTY = re.compile(
    r".*/(keys|sigs|contribute|missing|ruleset|match|result)|hand\.disclosed/discards(/\d){0,2}"
    r"|hand\.dealt/(shown|positions/\d)|play\.declared/seats"
)
WORDS = re.compile(
    r"table\.opened/(origin|log_key|game|ruleset/.*)|play\.(called/call|declared/what)"
)
SEATS = re.compile(r".*/(contribute|missing)|play\.declared/seats")
TUPLES = re.compile(r".*/(draws/\d+|discards/\d/\d/\d)")


def other_types(value: Any, path: str) -> Iterator[Any]:
    """A value of each JSON type but the right ones."""
    right = {type(value)} | ({str, int, bool} if "/ruleset/" in path else set())
    if NULLABLE.fullmatch(path):
        right.add(type(None))
    yield from (other for other in (None, True, 1, 1.5, "a", [], {}) if type(other) not in right)


def bad_ones(value: Any, path: str) -> Iterator[Any]:
    """Values of the right type that are out of range, or not of the form."""
    match value:
        case bool() | None:
            pass
        case int():
            yield from (2**53, -(2**53)) if "/ruleset/" in path else (-1, 2**53)
            yield from () if path.endswith(("/seq", "/amount")) or "/ruleset/" in path else (2**32,)
        case str():
            yield from ("é", value + "é", value + "\n")
            if not WORDS.fullmatch(path):
                yield from (value + "x", "x" + value, value[:-1], value + value, value + " ")
            if re.fullmatch(r"[0-9a-f]{32,}", value):
                yield from (value.upper(), value[2:], value + "00", value[:-1] + "g")
        case list():
            yield from ([None], [*value, None])
            yield from () if MAY_BE_EMPTY.fullmatch(f"{path}/0") else ([[]],)
            yield from () if MAY_BE_EMPTY.fullmatch(path) else ([],)
            yield from (
                (value[::-1], [value[0], *value], [*value, 10]) if SEATS.fullmatch(path) else ()
            )
            yield from (value[:-1], [*value, 0]) if TUPLES.fullmatch(path) else ()
        case dict():
            yield from () if MAY_BE_EMPTY.fullmatch(path) or path in EVENTS else ({},)
            for key, item in value.items():
                rest = {other: value[other] for other in value if other != key}
                if key.isdigit():
                    yield from (
                        rest | {seat: item}
                        for seat in ("10", "01", "00", "-1", "a", "", "0 ", "１")
                    )
                elif "/ruleset" in path:
                    yield from (rest | {name: item} for name in ("", "A", "a b", "a-b", "é"))
                else:
                    yield from (rest, rest | {key + "_": item}, value | {"zz": 0})


def changes(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Every way to put what no reader may take in the place of a part, and where."""
    yield from ((path, other) for other in (*other_types(value, path), *bad_ones(value, path)))
    if isinstance(value, list | dict):
        for key, item in enumerate(value) if isinstance(value, list) else value.items():
            for where, changed in changes(item, f"{path}/{key}"):
                copy = value.copy()
                copy[key] = changed
                yield where, copy


@every_type
def test_the_samples_are_events(name):
    assert name == parse_event(written(sample(name))).TYPE


@every_type
def test_no_changed_member_is_read(name):
    """F45: each part of each field, of another type, out of range, short, long, missing, added."""
    count = 0
    for where, value in changes(sample(name), name):
        count += 1
        try:
            event = parse_event(written(value))
        except FormatError:
            continue
        pytest.fail(f"{where} was changed and read as {event!r}")
    assert count > 100


LIMITS = [  # type, path, the largest that is read; one more is not
    ("cards.looked", "seat", 9),
    ("hand.opened", "first", 9),
    ("hand.opened", "hand", 2**32 - 1),
    ("seeds.opened", "epoch", 32),
    ("stock.reshuffled", "epoch", 32),
    ("stock.reshuffled", "count", 255),
    ("table.opened", "seats", 10),
    ("table.opened", "seq", 2**53 - 1),
]


@pytest.mark.parametrize(("name", "field", "largest"), LIMITS)
def test_limits_are_exact(name, field, largest, refused):
    assert parse_event(written(sample(name) | {field: largest}))
    with refused(kind=FormatError):
        parse_event(written(sample(name) | {field: largest + 1}))


@pytest.mark.parametrize("seconds", [0, 31_536_001])
@pytest.mark.parametrize("name", ["seal", "open", "hand", "table", "turn"])
def test_timeouts_are_up_to_a_year(name, seconds, refused):
    value = sample("table.opened")
    for good in (1, 31_536_000):
        assert parse_event(written(value | {"timeouts": value["timeouts"] | {name: good}}))
    with refused(kind=FormatError):
        parse_event(written(value | {"timeouts": value["timeouts"] | {name: seconds}}))


@pytest.mark.parametrize(
    ("cls", "fields"),
    [
        (SeedsSealed, {"seals": {}}),
        (SeedsOpened, {"epoch": 0, "head": Digest(bytes(32)), "seeds": {}}),
        (TrumpsDeclared, {"trumps": {}}),
        (CardsDiscarded, {"discards": {}}),
        (CardsDrawn, {"draws": ()}),
        (CardsShown, {"shown": ()}),
        (CardsGiven, {"given": ()}),
    ],
)
def test_nothing_is_written_that_is_not_read(cls, fields, refused):
    """EVT-2: such an event would be in the log, and be none."""
    with refused(kind=FormatError):
        cls(header=Header("tbl_" + "0" * 26, 1, Digest(bytes(32)), 0), hand=1, **fields)
