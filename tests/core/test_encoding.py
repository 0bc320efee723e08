"""Event bytes: one encoding for each value, and nothing else is read. Spec: ENC-1..8."""

import json
import re
from contextlib import suppress

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from fairdeal.encoding import MAX_EVENT, encode, format_time, parse, parse_time, unhex
from fairdeal.errors import FormatError
from fairdeal.events import Header, TableClosed, TableOpened, parse_event
from fairdeal.hashing import Digest
from fairdeal.seeds import ServerSeed
from seeds.local import Book, LocalTable

HEADER = Header("tbl_" + "0" * 26, 3, Digest(b"\x01" * 32), 1_764_450_000_123)
GOOD = TableClosed(header=HEADER, unused_seed=ServerSeed(bytes(range(32)))).raw
TERMS = LocalTable(Book(), "kozel").events[0].raw

text = st.text(st.characters(min_codepoint=0x20, max_codepoint=0x7E))
names = st.from_regex(r"[a-z0-9_]+", fullmatch=True)
scalars = text | st.integers(-(2**53) + 1, 2**53 - 1) | st.booleans() | st.none()
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(names, inner, max_size=4),
    max_leaves=24,
)
objects = st.dictionaries(names, values, max_size=6)


@given(objects)
def test_what_is_written_is_read_again(value):
    raw = encode(value)
    assert parse(raw) == value
    assert encode(parse(raw)) == raw
    assert raw == json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


@given(values)
def test_the_profile_is_rfc_8785(value):
    assert encode(value) == rfc8785.dumps(value)


def changed(old: str, new: str, raw: bytes = GOOD, count: int = 1) -> bytes:
    assert old.encode() in raw, old
    return raw.replace(old.encode(), new.encode(), count)


SEED = bytes(range(32)).hex()
MALFORMED = {
    "empty": b"",
    "only white space": b" ",
    "not JSON": b"{",
    "list": b"[" + GOOD + b"]",
    "string": b'"a"',
    "number": b"1",
    "null": b"null",
    "no members": b"{}",
    "trailing newline": GOOD + b"\n",
    "trailing object": GOOD + b"{}",
    "leading space": b" " + GOOD,
    "space after comma": changed(",", ", "),
    "space after colon": changed(":", ": "),
    "tab between": changed(",", ",\t"),
    "byte order mark": b"\xef\xbb\xbf" + GOOD,
    "UTF-16": GOOD.decode().encode("utf-16"),
    "not UTF-8": changed("fairdeal/1", "fairdeal/").replace(b"deal/", b"deal/\xff"),
    "non-ASCII letter": changed("fairdeal/1", "fairdeal/é"),
    "full-width digit": changed('"seq":3', '"seq":３'),
    "delete character": changed("fairdeal/1", "fairdeal/\x7f"),
    "NUL": changed("fairdeal/1", "fairdeal/\x00"),
    "raw newline in a string": changed("fairdeal/1", "fairdeal/\n"),
    "keys unsorted": b'{"v":"fairdeal/1",' + changed(',"v":"fairdeal/1"', "")[1:],
    "duplicate key": changed('"seq":3', '"seq":3,"seq":3'),
    "duplicate key, other value first": changed('"seq":3', '"seq":4,"seq":3'),
    "escaped letter": changed("fairdeal/1", "f\\u0061irdeal/1"),
    "escaped slash": changed("fairdeal/1", "fairdeal\\/1"),
    "escaped key": changed('"seq"', '"s\\u0065q"'),
    "newline escape": changed("fairdeal/1", "fairdeal/1\\n"),
    "lone surrogate": changed("fairdeal/1", "\\ud800"),
    "unfinished string": GOOD[:-2],
    "float": changed('"seq":3', '"seq":3.0'),
    "exponent": changed('"seq":3', '"seq":3e0'),
    "capital exponent": changed('"seq":3', '"seq":3E0'),
    "1e400": changed('"seq":3', '"seq":1e400'),
    "NaN": changed('"seq":3', '"seq":NaN'),
    "Infinity": changed('"seq":3', '"seq":Infinity'),
    "-Infinity": changed('"seq":3', '"seq":-Infinity'),
    "-0": changed('"seq":3', '"seq":-0'),
    "leading zero": changed('"seq":3', '"seq":03'),
    "plus sign": changed('"seq":3', '"seq":+3'),
    "underscore in a number": changed('"seq":3', '"seq":1_0'),
    "hex number": changed('"seq":3', '"seq":0x3'),
    "negative": changed('"seq":3', '"seq":-3'),
    "2^53": changed('"seq":3', '"seq":9007199254740992'),
    "2^53 + 1": changed('"seq":3', '"seq":9007199254740993'),
    "4,000 digits": changed('"seq":3', '"seq":' + "9" * 4000),
    "5,000 digits": changed('"seq":3', '"seq":' + "9" * 5000),
    "string for a number": changed('"seq":3', '"seq":"3"'),
    "true for a number": changed('"seq":3', '"seq":true'),
    "list for a number": changed('"seq":3', '"seq":[3]'),
    "null for a number": changed('"seq":3', '"seq":null'),
    "upper-case hex": changed("0a0b", "0A0B"),
    "31 bytes": changed(SEED, SEED[2:]),
    "33 bytes": changed(SEED, SEED + "20"),
    "odd hex": changed(SEED, SEED[1:]),
    "hex with a blank": changed(SEED, SEED[:-2] + " 0"),
    "hex with 0x": changed(SEED, "0x" + SEED[2:]),
    "hex with a letter too far": changed(SEED, SEED[:-1] + "g"),
    "second 60": changed("21:00:00", "21:00:60"),
    "minute 60": changed("21:00:00", "21:60:00"),
    "hour 24": changed("T21:00:00.123", "T24:00:00.000"),
    "February 30": changed("11-29", "02-30"),
    "February 29 in 2025": changed("11-29", "02-29"),
    "month 13": changed("11-29", "13-01"),
    "day 0": changed("11-29", "11-00"),
    "year 1999": changed("2025-", "1999-"),
    "no milliseconds": changed(".123Z", "Z"),
    "microseconds": changed(".123Z", ".123456Z"),
    "offset": changed(".123Z", ".123+00:00"),
    "lower-case z": changed(".123Z", ".123z"),
    "space for T": changed("T21", " 21"),
    "time as number": changed('"2025-11-29T21:00:00.123Z"', "1764450000123"),
    "other version": changed("fairdeal/1", "fairdeal/2"),
    "version number": changed('"fairdeal/1"', "1"),
    "unknown type": changed("table.closed", "table.open"),
    "type is a list": changed('"table.closed"', "[]"),
    "type is an object": changed('"table.closed"', "{}"),
    "unknown member": GOOD[:-1] + b',"w":0}',
    "missing member": changed(',"v":"fairdeal/1"', ""),
    "hand where there is none": changed(',"prev"', ',"hand":1,"prev"'),
    "table name with o": changed("tbl_0", "tbl_o"),
    "table name in capitals": changed("tbl_0", "TBL_0"),
    "short table name": changed("tbl_0", "tbl_"),
    "table name and newline": changed("0" * 26, "0" * 26 + "\\n"),
    "deep list": b"[" * 20_000 + b"]" * 20_000,
    "deep object": b'{"a":' * 9_000 + b"1" + b"}" * 9_000,
    "deep in a field": changed('"seq":3', '"seq":' + "[" * 9_000 + "]" * 9_000),
    "17 deep in a ruleset": changed('"hidden"', "[" * 15 + "]" * 15, TERMS),
    "too long": changed('"origin":"', '"origin":"' + "a" * MAX_EVENT, TERMS),
    "seat key with a zero": changed('"keys":{}', '"keys":{"01":"' + SEED + '"}', TERMS),
    "seat key ten": changed('"keys":{}', '"keys":{"10":"' + SEED + '"}', TERMS),
    "seat key negative": changed('"keys":{}', '"keys":{"-1":"' + SEED + '"}', TERMS),
    "seat key empty": changed('"keys":{}', '"keys":{"":"' + SEED + '"}', TERMS),
    "key in capitals": changed('"discards":', '"Discards":', TERMS),
    "key with a blank": changed('"discards":', '"discards ":', TERMS),
    "2^53 in a ruleset": changed('"hidden"', "9007199254740992", TERMS),
    "float in a ruleset": changed('"hidden"', "1.5", TERMS),
    "null in a ruleset": changed('"hidden"', "null", TERMS),
}


@pytest.mark.parametrize("raw", MALFORMED.values(), ids=MALFORMED)
def test_malformed_bytes_are_refused(raw, refused):
    assert raw not in (GOOD, TERMS)
    with refused(kind=FormatError):
        parse_event(raw)


@pytest.mark.parametrize(
    "number", ["1.0", "0.0", "1e0", "1E5", "1e400", "-1e-400", "NaN", "Infinity", "-Infinity"]
)
def test_only_integers_are_numbers(number, refused):
    """ENC-3, F33: in any object of the profile, before anybody looks at its fields."""
    with refused("number_not_allowed", kind=FormatError):
        parse(b'{"a":[' + number.encode() + b"]}")


def test_the_length_limit_is_exact(refused):
    def padded(length: int) -> bytes:
        return b'{"a":"' + b"x" * (length - 8) + b'"}'

    assert len(padded(MAX_EVENT)) == MAX_EVENT == 65_535
    assert parse(padded(MAX_EVENT))
    with refused("event_too_long"):
        parse(padded(MAX_EVENT + 1))
    with refused("event_too_long"):
        ruleset = {f"a{n}": "x" * 100 for n in range(700)}
        opened = parse_event(TERMS)
        fields = {name: getattr(opened, name) for name in TableOpened.CODECS}
        TableOpened(header=opened.header, **(fields | {"ruleset": ruleset}))


@pytest.mark.parametrize("raw", [GOOD, TERMS], ids=["table.closed", "table.opened"])
def test_no_changed_byte_goes_unseen(raw):
    """Every byte replaced, doubled and left out: another event, or a FormatError."""
    replacements = b'"\\{}[]:,0 1a.-\x00\x7f\xff'
    for i, byte in enumerate(raw):
        variants = [raw[:i] + raw[i + 1 :], raw[:i] + raw[i : i + 1] + raw[i:]]
        variants += [raw[:i] + bytes([new]) + raw[i + 1 :] for new in replacements if new != byte]
        for variant in variants:
            try:
                event = parse_event(variant)
            except FormatError:
                continue
            assert event.raw == variant


@given(st.binary(max_size=80) | text.map(str.encode))
def test_no_input_raises_anything_else(raw):
    with pytest.raises(FormatError):
        parse_event(raw)


@given(objects)
def test_no_object_of_the_profile_raises_anything_else(value):
    """Members of an event, with values of any shape."""
    members = json.loads(TERMS) | value
    with suppress(FormatError):
        assert parse_event(encode(members)).raw == encode(members)


@given(st.binary(max_size=40), st.integers(0, 40))
def test_hex_is_exact(data, length):
    if len(data) == length:
        assert unhex(data.hex(), length) == data
    else:
        with pytest.raises(FormatError):
            unhex(data.hex(), length)


NOT_HEX = [
    "AA",
    "aA",
    " a",
    "a ",
    "a\n",
    "0x",
    "１２",
    "g0",
    "",
    "a",
    "aaa",
    b"aa",
    10,
    None,
    ["aa"],
]


@pytest.mark.parametrize("value", NOT_HEX)
def test_other_hex_is_none(value, refused):
    with refused("not_hex"):
        unhex(value, 1)


TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", re.ASCII)
YEAR_2000, YEAR_10000 = 946_684_800_000, 253_402_300_800_000


@given(st.integers(YEAR_2000, YEAR_10000 - 1))
def test_every_millisecond_has_one_time(milliseconds):
    written = format_time(milliseconds)
    assert TIME.fullmatch(written)
    assert parse_time(written) == milliseconds


@pytest.mark.parametrize(
    ("written", "milliseconds"),
    [
        ("2000-01-01T00:00:00.000Z", YEAR_2000),
        ("2026-11-29T20:30:01.250Z", 1_795_984_201_250),
        ("9999-12-31T23:59:59.999Z", YEAR_10000 - 1),
    ],
)
def test_known_times(written, milliseconds):
    assert parse_time(written) == milliseconds
    assert format_time(milliseconds) == written
