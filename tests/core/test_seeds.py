"""Server seeds, seat seeds, seals, the deal key. Spec: SEED-1..3, SEAL-1, KEY-1."""

import copy
import hashlib
import json
import pickle
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairdeal.cards import spanish_deck
from fairdeal.errors import FairdealError, VerificationError
from fairdeal.hashing import Digest, digest
from fairdeal.log.note import SigningKey
from fairdeal.seeds import (
    LAST_EPOCH,
    Commitment,
    DealKey,
    SeatSeed,
    Secret,
    ServerSeed,
    commit,
    deal_key,
    link,
    seal,
    seed_chain,
    verify_commitment,
    verify_link,
)
from fairdeal.shuffle import shuffle
from tests.core import naive
from tests.core.naive import flip

# The example of seeds.md.
S = ServerSeed(bytes(range(32)))
T = digest(b"terms")
X = [SeatSeed(hashlib.sha256(bytes([i])).digest()) for i in range(4)]
C = commit(S)
PUBLISHED = json.loads((Path(__file__).parents[2] / "seeds" / "seeds.json").read_text("utf-8"))

words = st.binary(min_size=32, max_size=32)
SECRETS = [Secret, ServerSeed, SeatSeed, DealKey]


def test_the_values_of_the_page():
    assert C.hex() == "0f5b851abe1236cfef27b9d7b8ad699ddc2fbe66df8c49e8d230ccaa77c239df"
    assert (
        seal(T, 1, 2, C, X[2]).hex()
        == "c6b12140d4db45afd8a1db67e4b5efd3a309725a5fce86e49c467f205f4f6f77"
    )
    assert (
        deal_key(T, 1, 0, X, S).hex()
        == "4e1789c1a992eecab96acef0b02bbb2e270cb8a0ada0268ad134f5a7164dde4e"
    )


def test_the_published_vectors():
    seats = [SeatSeed.from_hex(text) for text in PUBLISHED["seat_seeds"]]
    server, terms = (
        ServerSeed.from_hex(PUBLISHED["server_seed"]),
        Digest.from_hex(PUBLISHED["terms"]),
    )
    assert commit(server).hex() == PUBLISHED["commitment"]
    for row in PUBLISHED["links"]:
        assert link(SeatSeed.from_hex(row["later"])).hex() == row["earlier"]
    chain = seed_chain(seats[0])
    for name, text in PUBLISHED["chain"].items():
        assert chain[int(name[2:])].hex() == text
    for row in PUBLISHED["seals"]:
        made = seal(terms, row["hand"], row["seat"], commit(server), seats[row["seat"]])
        assert made.hex() == row["seal"]
    for row in PUBLISHED["deal_keys"]:
        key = deal_key(terms, row["hand"], row["epoch"], seats[: row["seats"]], server)
        assert key.hex() == row["key"]


@given(words)
def test_a_chain_is_walked_backwards(last):
    chain = seed_chain(SeatSeed(last))
    assert len(chain) == LAST_EPOCH + 1 == 33
    assert chain[-1] == last
    for earlier, later in pairwise(chain):
        assert earlier == naive.framed("link", later)
        verify_link(earlier, later)
    assert len(set(chain)) == 33


def test_another_seed_is_no_link(refused):
    chain = seed_chain(X[0])
    for earlier, later in ((chain[1], chain[0]), (chain[0], chain[2]), (chain[0], chain[0])):
        with refused("chain_mismatch", kind=VerificationError):
            verify_link(earlier, later)


@given(words, st.integers(0, 255))
def test_a_commitment_opens_to_one_seed(seed, bit):
    other = bytearray(seed)
    other[bit // 8] ^= 1 << bit % 8
    verify_commitment(commit(ServerSeed(seed)), ServerSeed(seed))
    with pytest.raises(VerificationError) as caught:
        verify_commitment(commit(ServerSeed(seed)), ServerSeed(bytes(other)))
    assert caught.value.code == "commitment_mismatch"


SEALED = {"terms": T, "hand": 1, "seat": 2, "commitment": C, "seed": X[2]}
KEYED = {"terms": T, "hand": 1, "epoch": 0, "seat_seeds": X, "server_seed": S}


@pytest.mark.parametrize(
    "other",
    [
        {"terms": Digest(flip(T))},
        {"hand": 2},
        {"seat": 1},
        {"commitment": Commitment(flip(C))},
        {"seed": SeatSeed(flip(X[2]))},
    ],
    ids=lambda other: next(iter(other)),
)
def test_a_seal_is_bound_to_all_of_its_fields(other):
    """F9, F21: what one seat sealed at one hand is no seal of another seat, hand or table."""
    assert seal(**SEALED) != seal(**SEALED | other)


@pytest.mark.parametrize(
    "other",
    [
        {"terms": Digest(flip(T))},
        {"hand": 2},
        {"epoch": 1},
        {"server_seed": ServerSeed(flip(S))},
        {"seat_seeds": X[:3]},
        {"seat_seeds": [*X, X[0]]},
        {"seat_seeds": X[::-1]},
        *({"seat_seeds": [*X[:i], SeatSeed(flip(X[i])), *X[i + 1 :]]} for i in range(4)),
    ],
)
def test_the_deal_key_takes_every_named_value(other):
    assert deal_key(**KEYED) != deal_key(**KEYED | other)
    assert shuffle(spanish_deck(), deal_key(**KEYED)) != shuffle(
        spanish_deck(), deal_key(**KEYED | other)
    )


def test_a_seed_of_zeros_is_a_seed():
    """F5: no value of a seed stands for its absence."""
    zero = SeatSeed(bytes(32))
    keys = {deal_key(T, 1, 0, seats, S) for seats in ([], [zero], [zero, zero], X)}
    assert len(keys) == 4


def test_the_commitment_tells_nothing_of_the_deck():
    """F7: everything public before the deal, with C in the place of s, gives other decks."""
    equal = 0
    for hand in range(1, 201):
        server = ServerSeed(hashlib.sha256(b"server %d" % hand).digest())
        deck = shuffle(spanish_deck(), deal_key(T, hand, 0, X, server))
        guess = shuffle(spanish_deck(), deal_key(T, hand, 0, X, ServerSeed(commit(server))))
        equal += deck == guess
    assert equal == 0


def test_hmac_padding_makes_no_two_openings():
    """Why a commitment is an H: HMAC cannot tell k from k and zeros, but seeds have one length."""
    short = b"k" * 20
    assert naive.hkdf_extract(short, b"m") == naive.hkdf_extract(short + bytes(12), b"m")
    with pytest.raises(FairdealError):
        ServerSeed(short)


# Secrets do not leak (the service's logs, tracebacks and debuggers show what these give).


def shapes(value: bytes) -> tuple[str, ...]:
    return value.hex(), value.hex().upper(), repr(bytes(value)), str(list(value))


@pytest.mark.parametrize("cls", SECRETS)
def test_a_secret_is_not_shown(cls):
    secret = cls(X[0])
    shown = [
        repr(secret),
        str(secret),
        format(secret),
        f"{secret!r:>80} {secret!s} {secret:>70} {secret!a}",
        "%s %r" % (secret, secret),  # noqa: UP031
        "{} {!r}".format(*[secret, secret]),
        repr([secret]),
        repr({"seed": secret}),
        str((secret, [secret])),
    ]
    for text in shown:
        assert "<secret>" in text
        assert not any(form in text for form in shapes(secret))
    assert repr(secret) == f"{cls.__name__}(<secret>)"


@pytest.mark.parametrize("cls", SECRETS)
@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_secret_is_not_pickled(cls, protocol):
    for value in (cls(X[0]), [cls(X[0])], {"a": (cls(X[0]),)}):
        with pytest.raises(TypeError, match="not pickled"):
            pickle.dumps(value, protocol)


@pytest.mark.parametrize("cls", SECRETS)
def test_a_secret_is_not_copied(cls):
    for duplicate in (copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="not pickled"):
            duplicate(cls(X[0]))


@pytest.mark.parametrize("cls", SECRETS)
def test_secrets_are_compared_in_constant_time(cls, monkeypatch):
    calls = []

    def compare(one, other):
        calls.append((bytes(one), bytes(other)))
        return bytes(one) == bytes(other)

    monkeypatch.setattr("fairdeal.seeds.hmac.compare_digest", compare)
    one, same, other = cls(X[0]), cls(X[0]), cls(X[1])
    compared = [one == same, other == one, one == bytes(X[0]), bytes(X[0]) == one]
    assert compared == [True, False, True, True]
    assert [one != same, other != one] == [False, True]
    assert len(calls) == 6
    assert [one == X[0].hex(), one == 3, one == bytearray(X[0])] == [False, False, False]
    assert len(calls) == 6
    assert hash(one) == hash(same)


def test_the_log_s_key_is_a_secret():
    key = SigningKey("log.example", bytes(X[0]))
    for text in (repr(key), str(key), f"{key}", repr([key])):
        assert not any(form in text for form in shapes(X[0]))
    with pytest.raises(TypeError):
        pickle.dumps(key)
