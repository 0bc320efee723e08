"""An order sealed card by card, and what opens one. Spec: DECK-1..3."""

import hashlib
import json
import pickle
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairdeal.cards import CARDS, french_deck, spanish_deck
from fairdeal.codecs import Place
from fairdeal.errors import FormatError, VerificationError
from fairdeal.games import GAMES
from fairdeal.hashing import Digest
from fairdeal.merkle import leaf_hash
from fairdeal.sealed_deck import Opening, SealedDeck
from fairdeal.seeds import DealKey
from tests.core import naive

VECTORS = Path(__file__).parents[2] / "seeds"
DECKS = {
    **{name: (0, game.deck(game.ruleset({}))) for name, game in GAMES.items()},
    "pool of 28": (1, spanish_deck()[3:31]),
    "pool of 17": (32, spanish_deck()[:34:2]),
    "one card": (2, spanish_deck()[:1]),
}
every_deck = pytest.mark.parametrize(("epoch", "deck"), DECKS.values(), ids=DECKS)


def key_of(name: str) -> DealKey:
    return DealKey(hashlib.sha256(name.encode()).digest())


KEY = key_of("sealed deck")


def opens(opening: Opening, place: Place, root: Digest, size: int) -> bool:
    try:
        opening.verify(place, root, size)
    except VerificationError:
        return False
    return True


@every_deck
def test_a_deck_is_the_specification_s(epoch, deck):
    sealed = SealedDeck.from_key(KEY, epoch, deck)
    leaves = naive.leaves(deck, KEY, epoch)
    assert list(sealed.order) == naive.order(deck, KEY)
    assert sealed.root == naive.mth(leaves)
    assert len(sealed) == len(deck)
    for p, entry in enumerate(leaves):
        opening = sealed.opening(p)
        assert entry == f"{epoch} {p} {opening.card} {opening.salt.hex()}".encode("ascii")
        assert list(opening.path) == naive.path(p, leaves)


@every_deck
def test_every_card_opens_at_its_own_place_only(epoch, deck):
    sealed = SealedDeck.from_key(KEY, epoch, deck)
    size, root = len(deck), sealed.root
    for p in range(size):
        opening, place = sealed.opening(p), Place(epoch, p)
        assert opens(opening, place, root, size)
        for other in range(-1, size + 2):
            if other != p:
                assert not opens(opening, Place(epoch, other), root, size)
                assert not opens(replace(opening, position=other), place, root, size)
                assert not opens(replace(opening, position=other), Place(epoch, other), root, size)
        for other in {0, 1, 31, 32} - {epoch}:
            assert not opens(opening, Place(other, p), root, size)
            assert not opens(replace(opening, epoch=other), place, root, size)
            assert not opens(replace(opening, epoch=other), Place(other, p), root, size)


def shape(index: int, size: int) -> list[bool]:
    """At which heights a path has a node, and on which side."""
    path = naive.path(index, [b"%d" % n for n in range(size)])
    sides = []
    last = size - 1
    for _ in path:
        while index == last and not index & 1:
            index, last = index >> 1, last >> 1
        sides.append(bool(index & 1))
        index, last = index >> 1, last >> 1
    return sides


@every_deck
def test_a_deck_of_another_size_is_refused_where_the_path_differs(epoch, deck):
    """DECK-3: the size is given by the rules; a claimed one decides which paths there can be."""
    sealed = SealedDeck.from_key(KEY, epoch, deck)
    for p, size in product(range(len(deck)), range(1, 60)):
        opening = sealed.opening(p)
        expected = p < size and shape(p, size) == shape(p, len(deck))
        assert opens(opening, Place(epoch, p), sealed.root, size) == expected


@pytest.mark.parametrize(
    ("epoch", "deck"), [DECKS["azi"], DECKS["pool of 17"]], ids=["azi", "pool"]
)
def test_any_change_to_an_opening_is_seen(epoch, deck):
    sealed = SealedDeck.from_key(KEY, epoch, deck)
    for p in range(len(deck)):
        opening, place = sealed.opening(p), Place(epoch, p)
        changed = [replace(opening, card=card) for card in CARDS if card != opening.card]
        for i in range(16):
            salt = bytearray(opening.salt)
            salt[i] ^= 1
            changed.append(replace(opening, salt=bytes(salt)))
        path = opening.path
        for i, node in enumerate(path):
            changed += [
                replace(
                    opening, path=(*path[:i], bytes([node[0] ^ 128]) + node[1:], *path[i + 1 :])
                ),
                replace(opening, path=path[:i] + path[i + 1 :]),
            ]
        changed += [
            replace(opening, path=()),
            replace(opening, path=(*path, sealed.root)),
            replace(opening, path=path[::-1]),
            replace(opening, salt=b""),
            replace(opening, card=f"{opening.card} "),
            replace(opening, card=f"{p} {opening.card}"),
        ]
        for other in changed:
            assert other == opening or not opens(other, place, sealed.root, len(deck))
        assert not opens(opening, place, Digest(leaf_hash(b"")), len(deck))


def test_no_leaf_is_guessed_without_its_salt():
    """F2, F26: all cards at all positions against all leaves, without salts or with wrong ones."""
    deck = french_deck()
    published = {leaf_hash(entry) for entry in naive.leaves(deck, KEY)}
    guesses = {
        leaf_hash(f"0 {p} {card}{salt}".encode())
        for p, card, salt in product(range(36), deck, ("", " ", " " + "00" * 16))
    }
    assert len(guesses) == 36 * 36 * 3
    assert not guesses & published


def test_no_two_hands_share_a_leaf():
    """F3: nothing that is published of a hidden card is the same in another hand."""
    seen = [leaf for n in range(500) for leaf in naive.leaves(french_deck(), key_of(str(n)))]
    salts = [leaf.split()[-1] for leaf in seen]
    assert len(set(seen)) == len(set(salts)) == 500 * 36


@every_deck
def test_an_opening_is_read_as_it_was_written(epoch, deck):
    sealed = SealedDeck.from_key(KEY, epoch, deck)
    for p in range(len(deck)):
        opening = sealed.opening(p)
        value = json.loads(json.dumps(opening.to_dict()))
        assert Opening.from_dict(value) == opening
        assert Opening.from_dict(value | {"seat": 2}) == opening
        assert list(value) == ["card", "epoch", "path", "position", "salt"]


GOOD = SealedDeck.from_key(KEY, 0, spanish_deck()).opening(7).to_dict()
WRONG = {
    "card": [None, 1, "", "1x", "10H ", "\ud800", ["1o"], "10h"],
    "epoch": [None, "0", 0.0, 0.9, True, -1, 33, [0], 2**70],
    "position": [None, "7", 7.0, True, -1, 256, [7], 2**70, float("nan")],
    "salt": [None, "", "00" * 15, "00" * 17, "AA" * 16, 0, "0" * 33, ["00" * 16]],
    "path": [None, "", {}, "aa" * 32, [None], ["aa"], ["aa" * 33], ["AA" * 32], [["aa" * 32]], 3],
}


@pytest.mark.parametrize("member", WRONG)
def test_other_openings_are_none(member, refused):
    with refused(kind=FormatError):
        Opening.from_dict({name: value for name, value in GOOD.items() if name != member})
    for value in WRONG[member]:
        with refused(kind=FormatError):
            Opening.from_dict(GOOD | {member: value})


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=70),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
)


@given(st.dictionaries(st.sampled_from(sorted(GOOD)), anything))
def test_no_opening_raises_anything_else(value):
    root = Digest(bytes(32))
    try:
        opening = Opening.from_dict(GOOD | value)
    except FormatError:
        return
    assert not opens(opening, Place(opening.epoch, opening.position), root, 40)


def test_a_sealed_deck_does_not_show_its_cards():
    sealed = SealedDeck.from_key(KEY, 0, french_deck())
    for text in (repr(sealed), str(sealed), f"{sealed}", repr([sealed])):
        assert "<secret>" in text
        assert not any(card in text.split() for card in sealed.order)
        assert not any(sealed.salt(p).hex() in text for p in range(36))
        assert KEY.hex() not in text
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        with pytest.raises(TypeError, match="not pickled"):
            pickle.dumps(sealed, protocol)


def test_the_values_of_the_page():
    key = DealKey.from_hex("4e1789c1a992eecab96acef0b02bbb2e270cb8a0ada0268ad134f5a7164dde4e")
    sealed = SealedDeck.from_key(key, 0, french_deck())
    first = sealed.opening(0)
    assert f"0 0 {first.card} {first.salt.hex()}" == "0 0 8S 4a731dbc29b7699bcf4ec4878926bb12"
    assert sealed.root.hex() == "952e9a4b2231e271d83e7008c8ea63e2e92a33cd99b0ce566dbfab8c896d5561"


def test_the_published_vectors():
    for row in json.loads((VECTORS / "deck.json").read_text("utf-8"))["decks"]:
        deck, epoch = tuple(row["deck"]), row["epoch"]
        sealed = SealedDeck.from_key(DealKey.from_hex(row["key"]), epoch, deck)
        assert sealed.root.hex() == row["root"]
        assert naive.mth([leaf.encode() for leaf in row["leaves"]]).hex() == row["root"]
        for value in row["openings"]:
            opening = Opening.from_dict(value)
            assert opening == sealed.opening(value["position"])
            opening.verify(Place(epoch, value["position"]), sealed.root, len(deck))
