"""Uniform numbers, the shuffle, picks. Spec: STREAM-1, STREAM-2, SHUF-1..3.

Draws are scripted where a property must hold for all of them, and counted where it is of chance.
Every count is of fixed seeds, so a test gives the same verdict in each run.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import permutations, product
from math import factorial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairdeal.cards import CARDS, french_deck, in_canonical_order, rank_of, spanish_deck, suit_of
from fairdeal.errors import FormatError
from fairdeal.games import GAMES
from fairdeal.hashing import MAX_STREAM, stream
from fairdeal.seeds import DealKey
from fairdeal.shuffle import pick, shuffle, shuffled, uniform
from tests.core import naive

VECTORS = Path(__file__).parents[2] / "seeds"
DECKS = {name: game.deck(game.ruleset({})) for name, game in GAMES.items()}
every_deck = pytest.mark.parametrize("deck", DECKS.values(), ids=DECKS)


def keys(count: int, label: str = "deck") -> Iterator[DealKey]:
    for n in range(count):
        yield DealKey(hashlib.sha256(f"{label} {n}".encode()).digest())


class Script:
    """Bytes to be drawn, and how many were."""

    def __init__(self, numbers: Iterable[int]) -> None:
        self.numbers = iter(numbers)
        self.taken = 0

    def __iter__(self):
        return self

    def __next__(self) -> int:
        number = next(self.numbers)
        self.taken += 1
        return number


# Decks and their order, before any chance.


@pytest.mark.parametrize(
    ("game", "first", "last", "count"),
    [
        ("kozel", "6C 7C 8C 9C 10C JC QC KC AC 6D", "AH 6S 7S 8S 9S 10S JS QS KS AS", 36),
        ("svoi", "6C 7C 8C 9C 10C JC QC KC AC 6D", "AH 6S 7S 8S 9S 10S JS QS KS AS", 36),
        ("azi", "6D 7D 8D 9D 10D JD QD KD AD 6H", "AH 6S 7S 8S 9S 10S JS QS KS AS", 27),
        ("mus", "1o 2o 3o 4o 5o 6o 7o 10o 11o 12o 1c", "12e 1b 2b 3b 4b 5b 6b 7b 10b 11b 12b", 40),
    ],
)
def test_canonical_order(game, first, last, count):
    """SHUF-1."""
    deck = DECKS[game]
    assert len(deck) == len(set(deck)) == count
    text = " ".join(deck)
    assert text.startswith(first)
    assert text.endswith(last)


@pytest.mark.parametrize("suits", GAMES["azi"].options["suits"])
def test_a_suit_left_out_is_skipped(suits):
    deck = GAMES["azi"].deck(GAMES["azi"].ruleset({"suits": suits}))
    assert list(deck) == [card for card in french_deck() if suit_of(card) in suits]
    assert len(deck) == 27


@given(st.sets(st.sampled_from(spanish_deck())))
def test_a_pool_is_in_the_deck_s_order(pool):
    ordered = in_canonical_order(frozenset(pool), spanish_deck())
    assert set(ordered) == pool
    assert sorted(ordered, key=spanish_deck().index) == list(ordered)


def test_a_card_is_rank_then_suit():
    assert len(CARDS) == 76
    for card in CARDS:
        assert rank_of(card) + suit_of(card) == card


# Uniform numbers: every byte for every m.


@pytest.mark.parametrize("m", range(1, 257))
def test_every_number_has_as_many_bytes(m):
    """F14: each byte, for each m. What is not rejected is divided evenly; what is, is skipped."""
    limit = 256 - 256 % m
    found = Counter()
    for byte in range(256):
        source = Script([byte, 0])
        number = uniform(source, m)
        assert source.taken == (1 if byte < limit else 2)
        if byte < limit:
            assert number == byte % m
            found[number] += 1
        else:
            assert number == 0
    assert found == dict.fromkeys(range(m), limit // m)


@pytest.mark.parametrize("m", range(2, 41))
def test_the_edge_of_rejection(m):
    """The last byte that counts gives m - 1; the first that does not, and 255, are skipped."""
    limit = 256 - 256 % m
    assert uniform(iter([limit - 1]), m) == m - 1
    rejected = range(limit, 256)
    source = Script([*rejected, limit - 1])
    assert uniform(source, m) == m - 1
    assert source.taken == len(rejected) + 1


def test_one_of_one_takes_a_byte():
    source = Script([255, 7])
    assert uniform(source, 1) == 0
    assert source.taken == 1


@pytest.mark.parametrize("numbers", [[], [255], [255] * 1000])
def test_a_source_that_ends_is_an_error(numbers, refused):
    with refused("stream_exhausted", kind=FormatError):
        uniform(iter(numbers), 3)
    with refused("stream_exhausted", kind=FormatError):
        shuffled(DECKS["mus"], iter(numbers))


# The shuffle: every order, from every sequence of draws.


def script_of(draws: Iterable[int], sizes: Iterable[int], block: int, rejected: bool) -> list[int]:
    """Bytes that give these draws, from a block of each m, with every rejected byte before them."""
    numbers: list[int] = []
    for draw, m in zip(draws, sizes, strict=True):
        limit = 256 - 256 % m
        numbers += range(limit, 256) if rejected else ()
        numbers.append(block % (limit // m) * m + draw)
    return numbers


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("rejected", [False, True])
@pytest.mark.parametrize("block", [0, 1, 12, 63])
def test_every_order_is_as_likely(n, rejected, block):
    """F10, F13: all n! sequences of draws give all n! orders, once each, fixed points included.

    Since every draw has as many bytes as any other (above), each order has the same probability.
    """
    deck = tuple("abcde"[:n])
    sizes = range(n, 1, -1)
    orders = Counter()
    for draws in product(*(range(m) for m in sizes)):
        source = Script([*script_of(draws, sizes, block, rejected), 99])
        orders[shuffled(deck, source)] += 1
        skipped = sum(256 % m for m in sizes) if rejected else 0
        assert source.taken == max(n - 1, 0) + skipped
    assert orders == dict.fromkeys(permutations(deck), 1)
    assert orders.total() == factorial(n)


def naive_swap(deck, source):
    """Each place swaps with any place: the mistake of F13."""
    cards = list(deck)
    for i in range(len(cards)):
        j = uniform(source, len(cards))
        cards[i], cards[j] = cards[j], cards[i]
    return tuple(cards)


def sattolo(deck, source):
    """One short of the range: no card stays where it was, F10."""
    cards = list(deck)
    for i in range(len(cards) - 1, 0, -1):
        j = uniform(source, i)
        cards[i], cards[j] = cards[j], cards[i]
    return tuple(cards)


def modulo(deck, source):
    """No rejection: small remainders come more often, F14."""
    cards = list(deck)
    for i in range(len(cards) - 1, 0, -1):
        j = next(source) % (i + 1)
        cards[i], cards[j] = cards[j], cards[i]
    return tuple(cards)


def test_the_enumeration_finds_broken_shuffles():
    """The controls: they give other numbers of orders than all, once each."""
    deck = tuple("abc")
    swapped = Counter(naive_swap(deck, iter(draws)) for draws in product(range(3), repeat=3))
    assert len(set(swapped.values())) > 1
    assert len({sattolo(deck, iter(draws)) for draws in product(range(2), range(1))}) == 2


@given(st.sampled_from(list(DECKS)), st.binary(min_size=800, max_size=800))
def test_any_bytes_give_a_permutation(game, data):
    """F1, F15, F17: no byte leads out of range, and the bytes taken are counted."""
    deck = DECKS[game]
    source = Script(data)
    order = shuffled(deck, source)
    assert sorted(order) == sorted(deck)
    rejected, at = 0, 0
    for m in range(len(deck), 1, -1):
        while data[at] >= 256 - 256 % m:
            rejected, at = rejected + 1, at + 1
        at += 1
    assert source.taken == len(deck) - 1 + rejected


@every_deck
def test_ten_thousand_decks_are_whole(deck):
    whole = sorted(deck)
    seen = set()
    for key in keys(10_000, "whole"):
        order = shuffle(deck, key)
        assert sorted(order) == whole
        seen.add(order)
    assert len(seen) == 10_000


# Counting. O = how often a card lay at a position in n decks of N cards; E = n / N.
# X2 = sum (O - E)^2 / E over the N x N cells. Rows and columns have fixed sums, so that
# X2 * (N - 1) / N is distributed as chi-square with df = (N - 1)^2. The critical value is the
# one of one false alarm in 10^6, by Wilson and Hilferty: df (1 - 2/9df + 4.7534 sqrt(2/9df))^3.

CRITICAL = {27: 865.5, 36: 1474.9, 40: 1797.8}
Shuffle = Callable[[tuple[str, ...], Iterator[int]], tuple[str, ...]]


def chi_square(deck: tuple[str, ...], how: Shuffle, decks: int) -> float:
    size = len(deck)
    cells = [[0] * size for _ in deck]
    index = dict(zip(deck, cells, strict=True))
    for key in keys(decks, "chi"):
        for position, card in enumerate(how(deck, iter(stream(key, "shuffle", 256)))):
            index[card][position] += 1
    expected = decks / size
    return sum((o - expected) ** 2 for row in cells for o in row) / expected * (size - 1) / size


@pytest.mark.parametrize("deck", [DECKS["azi"], DECKS["kozel"], DECKS["mus"]], ids=len)
def test_cards_lie_anywhere(deck):
    assert chi_square(deck, shuffled, 20_000) < CRITICAL[len(deck)]


@pytest.mark.parametrize("broken", [naive_swap, modulo, sattolo])
def test_broken_shuffles_are_caught(broken):
    """The controls of the count above, with as many decks."""
    assert chi_square(DECKS["kozel"], broken, 20_000) > CRITICAL[36]


@pytest.mark.soak
@every_deck
def test_cards_lie_anywhere_in_many_decks(deck):
    assert chi_square(deck, shuffled, 400_000) < CRITICAL[len(deck)]


def test_the_critical_values():
    for size, value in CRITICAL.items():
        df = (size - 1) ** 2
        h = 2 / (9 * df)
        assert abs(df * (1 - h + 4.7534 * h**0.5) ** 3 - value) < 0.1


# Streams and known answers.


@every_deck
@pytest.mark.parametrize("rejected", [0, 60, 100, 500, 8100])
def test_bytes_are_taken_from_anywhere_in_the_stream(deck, rejected, monkeypatch):
    """However many bytes are skipped first, the draws are the next ones of the one stream."""
    whole = (b"\xff" * rejected + stream(bytes(32), "shuffle", MAX_STREAM))[:MAX_STREAM]
    monkeypatch.setattr("fairdeal.shuffle.stream", lambda key, name, length: whole[:length])
    key = next(keys(1))
    assert shuffle(deck, key) == shuffled(deck, iter(whole))
    assert pick(key, "first", 6) == next(b % 6 for b in whole[rejected:] if b < 252)


@pytest.mark.parametrize("last", [2, 255])
def test_a_stream_ends_after_8160_bytes(last, monkeypatch, refused):
    whole = b"\xff" * (MAX_STREAM - 1) + bytes([last])
    monkeypatch.setattr("fairdeal.shuffle.stream", lambda key, name, length: whole[:length])
    key = next(keys(1))
    if last == 2:
        assert pick(key, "first", 3) == 2
    else:
        with refused("stream_exhausted", kind=FormatError):
            pick(key, "first", 3)
    with refused("stream_exhausted", kind=FormatError):
        shuffle(DECKS["mus"], key)


@every_deck
def test_the_shuffle_is_the_specification_s(deck):
    for key in keys(20, "naive"):
        assert list(shuffle(deck, key)) == naive.order(deck, key)


@given(st.integers(1, 256), st.sampled_from(["first", "indicator"]))
def test_a_pick_is_the_first_number_of_its_stream(m, name):
    """SHUF-3."""
    key = next(keys(1))
    assert pick(key, name, m) == naive.pick(key, name, m)


def test_every_pick_comes_up():
    """F19: each of the documented outcomes is seen in 1,000 draws."""
    for name, m in (("first", 2), ("first", 6), ("indicator", 18), ("indicator", 20)):
        assert {pick(key, name, m) for key in keys(1_000)} == set(range(m))


PAGE = DealKey.from_hex("4e1789c1a992eecab96acef0b02bbb2e270cb8a0ada0268ad134f5a7164dde4e")


def test_the_values_of_the_page():
    assert " ".join(shuffle(french_deck(), PAGE)).startswith("8S 7H 9C 7D AS JD QS 6S")
    assert 1 + pick(PAGE, "indicator", 18) == 6


def test_the_published_vectors():
    """F20: whole decks, so that no version of anything may change them."""
    published = json.loads((VECTORS / "shuffle.json").read_text("utf-8"))
    for row in published["uniform"]:
        assert uniform(iter(bytes.fromhex(row["bytes"])), row["m"]) == row["number"]
    for row in published["orders"]:
        assert list(shuffle(tuple(row["deck"]), DealKey.from_hex(row["key"]))) == row["order"]
    for row in published["picks"]:
        assert pick(DealKey.from_hex(row["key"]), row["name"], row["m"]) == row["number"]
