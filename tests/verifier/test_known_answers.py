"""The values printed on the pages of docs/spec."""

import hmac
import re
from hashlib import sha256
from pathlib import Path

import pytest

from fairdeal_verifier import primitives
from fairdeal_verifier.games import GAMES

SPEC = Path(__file__).parents[2] / "docs" / "spec"
S = bytes(range(32))
T = sha256(b"terms").digest()
X = [sha256(bytes([seat])).digest() for seat in range(4)]
C = primitives.commitment_to(S)
KEY = primitives.DealKey.derive(S, T, 1, 0, X)


def page(name: str) -> str:
    return (SPEC / name).read_text(encoding="utf-8")


def test_seeds():
    text = page("seeds.md")
    assert f"= {C.hex()}\n" in text
    assert f"= {primitives.seal_of(T, 1, 2, C, X[2]).hex()}\n" in text
    assert f"= {KEY.raw.hex()}\n" in text


def test_shuffle():
    text = page("shuffle.md")
    rules = {"indicator": "interior", "indicator_place": "stays", "discards": "hidden"}
    game = GAMES["kozel"](rules, 4, 1)
    deck = primitives.SealedDeck(KEY, 0, game.deck())
    assert f"order  {' '.join(deck.order[:8])} .." in text
    assert f'"0 0 {deck.order[0]} {deck.salts[0]}"' in text
    assert f"deck root {deck.root.hex()}" in text
    assert f"indicator index {game.indicator_index(KEY) - 16}\n" in text


def test_every_tag_is_there_and_none_is_a_prefix_of_another():
    text = page("encoding.md")
    stated = re.findall(r"^\| `([a-z ]+)` \| [HM] \|", text, re.MULTILINE)
    assert sorted(stated) == sorted(primitives.TAGS)
    for one in stated:
        assert not any(other != one and other.startswith(one) for other in stated)


def test_framing_keeps_fields_apart():
    assert primitives.framed_hash("link", b"ab", b"c") != primitives.framed_hash(
        "link", b"a", b"bc"
    )
    assert primitives.framed_hash("link", b"abc") != primitives.framed_hash("link", b"abc", b"")


def test_rfc_6962_trees():
    # The test vectors that Certificate Transparency implementations share.
    entries = [
        b"",
        b"\x00",
        b"\x10",
        b"\x20\x21",
        b"\x30\x31",
        b"\x40\x41\x42\x43",
        b"\x50\x51\x52\x53\x54\x55\x56\x57",
        b"\x60\x61\x62\x63\x64\x65\x66\x67\x68\x69\x6a\x6b\x6c\x6d\x6e\x6f",
    ]
    leaves = [primitives.leaf_hash(entry) for entry in entries]
    assert primitives.tree_hash([]).hex() == sha256(b"").hexdigest()
    assert primitives.tree_hash(leaves[:1]).hex() == (
        "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d"
    )
    assert primitives.tree_hash(leaves).hex() == (
        "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328"
    )


def test_streams_are_hkdf_expand():
    first = hmac.digest(KEY.raw, b"fairdeal/1 x\x01", "sha256")
    second = hmac.digest(KEY.raw, first + b"fairdeal/1 x\x02", "sha256")
    assert KEY.stream("x", 50) == (first + second)[:50]


def test_a_stream_ends_after_8160_bytes():
    assert len(KEY.stream("x", 8160)) == 8160
    with pytest.raises(primitives.StreamError):
        KEY.stream("x", 8161)
    with pytest.raises(primitives.StreamError):
        list(KEY.numbers("x"))


def test_uniform_refuses_exactly_the_bytes_above_the_last_multiple():
    for below in range(1, 257):
        limit = 256 - 256 % below
        for byte in range(256):
            number, taken = primitives.uniform(iter([byte, 0]), below)
            assert number < below
            assert taken == ([byte] if byte < limit else [byte, 0])


def test_uniform_takes_a_byte_for_one():
    stream = iter([200, 7])
    assert primitives.uniform(stream, 1) == (0, [200])
    assert next(stream) == 7


def test_each_permutation_comes_from_as_many_streams():
    class Scripted(primitives.DealKey):
        def __init__(self, numbers):
            self.script = numbers

        def numbers(self, name):
            return iter(self.script)

    counts: dict[str, int] = {}
    for first in range(252):
        for second in range(256):
            order = "".join(primitives.shuffle(Scripted([first, second]), "abc"))
            counts[order] = counts.get(order, 0) + 1
    assert len(counts) == 6
    assert len(set(counts.values())) == 1


def test_decks_are_whole_and_in_canonical_order():
    for game, size in (("kozel", 36), ("mus", 40), ("azi", 27), ("svoi", 36)):
        kind = GAMES[game]
        rules = {name: values[0] for name, values in kind.options.items()}
        deck = kind(rules, kind.seat_numbers[0], 1).deck()
        assert len(deck) == len(set(deck)) == size
    assert GAMES["azi"]({"suits": "CDS"}, 2, 1).deck()[:10] == [
        *("6C", "7C", "8C", "9C", "10C", "JC", "QC", "KC", "AC"),
        "6D",
    ]
