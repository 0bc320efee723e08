"""Framing, the table of tags, streams. Spec: ENC-9, TAG-1, STREAM-1."""

import hashlib
import json
import re
from itertools import permutations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairdeal import seeds
from fairdeal.codecs import Place
from fairdeal.discards import discard_lock
from fairdeal.errors import FormatError
from fairdeal.hashing import (
    MAX_STREAM,
    TAGS,
    Bytes32,
    Digest,
    digest,
    frame,
    framed_hash,
    framed_message,
    hkdf_extract,
    stream,
)
from fairdeal.log.entries import parse_log_entry
from fairdeal.seeds import Commitment, DealKey, Seal, SeatSeed, ServerSeed
from tests.core import naive

SPEC = Path(__file__).parents[2] / "docs" / "spec"
SEEDS = Path(__file__).parents[2] / "seeds"
fields = st.lists(st.binary(max_size=40), max_size=5)
tags = st.sampled_from(TAGS)

T, HEAD = Digest(b"T" * 32), Digest(b"h" * 32)
C, SEAL, LOCK = Commitment(b"C" * 32), Seal(b"l" * 32), b"k" * 32
S, X, Y = ServerSeed(b"s" * 32), SeatSeed(b"x" * 32), SeatSeed(b"y" * 32)


def tags_of_the_specification() -> dict[str, str]:
    """Tag -> form, from the table under TAG-1."""
    page = (SPEC / "encoding.md").read_text(encoding="utf-8")
    table = page[page.index("**TAG-1**") :]
    return dict(re.findall(r"^\| `([a-z ]+)` \| ([HM]) \|", table, re.MULTILINE))


def test_the_tags_are_those_of_the_specification():
    assert list(TAGS) == list(tags_of_the_specification())


@pytest.mark.parametrize(("one", "other"), list(permutations(TAGS, 2)))
def test_no_tag_begins_with_another(one, other):
    assert not one.startswith(other)
    assert not frame(f"fairdeal/1 {one}".encode()).startswith(frame(f"fairdeal/1 {other}".encode()))


@given(tags, fields)
def test_framing_is_the_specification_s(tag, parts):
    assert framed_message(tag, *parts) == naive.message(tag, *parts)
    assert framed_hash(tag, *parts) == naive.framed(tag, *parts)


def test_an_unknown_tag_has_no_hash():
    with pytest.raises(KeyError):
        framed_hash("seat", b"")


def test_no_byte_moves_from_field_to_field():
    """F11: what plain concatenation cannot tell apart."""
    abc = b"abc", b""
    split = [(b"ab", b"c"), (b"a", b"bc"), abc, abc[::-1], abc[:1], (b"a", b"b", b"c")]
    assert len({framed_hash("deal", *parts) for parts in split}) == len(split)


@given(tags, fields, tags, fields)
def test_framing_is_injective(tag, parts, other_tag, other_parts):
    same = (tag, parts) == (other_tag, other_parts)
    assert (framed_message(tag, *parts) == framed_message(other_tag, *other_parts)) == same


@given(tags, fields.filter(any), st.data())
def test_moving_bytes_changes_the_hash(tag, parts, data):
    cut = data.draw(st.sampled_from([i for i, part in enumerate(parts) if part]))
    moved = [*parts, b""]
    moved[cut], moved[cut + 1] = moved[cut][:-1], moved[cut][-1:] + moved[cut + 1]
    assert b"".join(moved) == b"".join(parts)
    assert framed_hash(tag, *moved) != framed_hash(tag, *parts)


def log_entry(kind):
    """What an entry of the log is signed over, and the same read from its bytes."""
    forms = json.loads((SEEDS / "rotation.json").read_text("utf-8"))["forms"]["valid"]
    entry = next(parse_log_entry(text.encode()) for text in forms if kind in text)
    bare = json.loads(entry.raw)
    del bare["sigs"]
    return entry.message(), (json.dumps(bare, sort_keys=True, separators=(",", ":")).encode(),)


def test_every_tag_is_used_with_its_fields():
    """Each row of TAG-1 against the function that uses it."""
    hand, epoch, seat, k = (naive.u32(258), naive.u32(3), b"\x02", naive.u32(7))
    cards = (Place(1, 2), Place(0, 9))
    joined = naive.u32(0) + naive.u32(9) + naive.u32(1) + naive.u32(2)
    used = {
        "server seed": (seeds.commit(S), (S,)),
        "link": (seeds.link(X), (X,)),
        "seat seed": (seeds.seal(T, 258, 2, C, X), (T, hand, seat, C, X)),
        "discard": (discard_lock(258, 2, 7, LOCK, cards), (hand, seat, k, LOCK, joined)),
        "declare": (seeds.declare_message(T, 258, 2, C, "H"), (T, hand, seat, C, b"H")),
        "seal": (seeds.seal_message(T, 258, 2, C, SEAL), (T, hand, seat, C, SEAL)),
        "open": (seeds.open_message(HEAD, 3, 2, X), (HEAD, epoch, seat, X)),
        "lock": (seeds.lock_message(T, 258, 2, 7, 4, LOCK), (T, hand, seat, k, b"\x04", LOCK)),
        "deal": (
            seeds.deal_key(T, 258, 3, [X, Y], S),
            (T, hand, epoch, X, Y, b""),
        ),
        "rotate": log_entry("log.rotated"),
        "continue": log_entry("log.continued"),
    }
    assert used.keys() == set(TAGS)
    for tag, form in tags_of_the_specification().items():
        value, parts = used[tag]
        if tag == "deal":
            assert bytes(value) == naive.hkdf_extract(naive.framed(tag, *parts), S)
        else:
            assert bytes(value) == (naive.framed if form == "H" else naive.message)(tag, *parts)


def test_a_digest_is_plain_sha_256():
    assert digest(b"abc") == hashlib.sha256(b"abc").digest()


@pytest.mark.parametrize("cls", [Bytes32, Digest, Commitment, Seal, SeatSeed, ServerSeed, DealKey])
@pytest.mark.parametrize("length", [0, 31, 33, 64])
def test_32_bytes_are_32_bytes(cls, length, refused):
    with refused("wrong_length", kind=FormatError):
        cls(bytes(length))
    with refused("not_hex", kind=FormatError):
        cls.from_hex("00" * length)
    assert cls.from_hex("0a" * 32) == cls(b"\n" * 32)


RFC_5869 = [  # key material, salt, info, length, PRK, OKM: test cases 1 to 3
    (
        b"\x0b" * 22,
        bytes(range(13)),
        bytes(range(0xF0, 0xFA)),
        "077709362c2e32df0ddc3f0dc47bba6390b6c73bb50f9c3122ec844ad7c2b3e5",
        "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865",
    ),
    (
        bytes(range(0x50)),
        bytes(range(0x60, 0xB0)),
        bytes(range(0xB0, 0x100)),
        "06a6b88c5853361a06104c9ceb35b45cef760014904671014a193f40c15fc244",
        (
            "b11e398dc80327a1c8e7f78c596a49344f012eda2d4efad8a050cc4c19afa97c59045a99cac782"
            "7271cb41c65e590e09da3275600c2f09b8367793a9aca3db71cc30c58179ec3e87c14c01d5c1f3"
            "434f1d87"
        ),
    ),
    (
        b"\x0b" * 22,
        b"",
        b"",
        "19ef24a32c717b167f33a91d6f648bdf96596776afdb6377ac434c1c293ccb04",
        "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8",
    ),
]


@pytest.mark.parametrize(("material", "salt", "info", "key", "output"), RFC_5869)
def test_hkdf_is_rfc_5869(material, salt, info, key, output):
    """Extract directly; expand through the naive reading, which streams must equal."""
    assert hkdf_extract(salt, material).hex() == naive.hkdf_extract(salt, material).hex() == key
    expanded = naive.hkdf_expand(bytes.fromhex(key), info, len(output) // 2)
    assert expanded.hex() == output


NAMES = ["shuffle", "salts", "pick first", "discard 3 12"]


@given(st.binary(min_size=32, max_size=32), st.sampled_from(NAMES))
def test_a_stream_is_hkdf_expand_under_its_name(key, name):
    whole = naive.hkdf_expand(key, b"fairdeal/1 " + name.encode(), MAX_STREAM)
    for length in (1, 31, 32, 33, 128, 640, MAX_STREAM):
        assert stream(key, name, length) == whole[:length]


def test_a_stream_ends(refused):
    assert MAX_STREAM == 8160 == 255 * 32
    with refused("stream_exhausted", kind=FormatError):
        stream(bytes(32), "shuffle", MAX_STREAM + 1)
