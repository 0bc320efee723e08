"""One rule for Ed25519, and the edges on which libraries disagree. Spec: SIG-1."""

import hashlib
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairdeal.ed25519 import is_valid_point, public_key, sign, verify_signature
from fairdeal.errors import VerificationError
from seeds.edwards import BASE, L, P, Point, add, encode, times, with_y
from seeds.local import named

PUBLISHED = json.loads((Path(__file__).parents[2] / "seeds" / "ed25519.json").read_text("utf-8"))

RFC_8032 = {  # 7.1: secret, public, message, R, S
    "test 1": (
        "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
        "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
        "",
        "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e06522490155",
        "5fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b",
    ),
    "test 2": (
        "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
        "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
        "72",
        "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da",
        "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
    ),
    "test 3": (
        "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
        "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
        "af82",
        "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac",
        "18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a",
    ),
    "SHA(abc)": (
        "833fe62409237b9d62ec77587520911e9a759cec1d19755b7da901b96dca3d42",
        "ec172b93ad5e563bf4932c70e1245034c35467ef2efd4d64ebf819683467e2bf",
        hashlib.sha512(b"abc").hexdigest(),
        "dc2a4459e7369633a52b1bf277839a00201009a3efbf3ecb69bea2186c26b589",
        "09351fc9ac90b3ecfdfbc7c66431e0303dca179c138ac17ad9bef1177331a704",
    ),
}


def holds(key: bytes, message: bytes, signature: bytes) -> bool:
    """What the core says."""
    try:
        verify_signature(key, message, signature)
    except VerificationError:
        return False
    return True


@pytest.mark.parametrize("case", RFC_8032)
def test_rfc_8032(case):
    secret, key, message, r, s = map(bytes.fromhex, RFC_8032[case])
    assert public_key(secret) == key
    assert sign(secret, message) == r + s
    assert holds(key, message, r + s)
    assert not holds(key, message + b"\x00", r + s)


# The rule, read again with affine points.


def decode(encoded: bytes) -> Point | None:
    """The point, if the encoding is canonical and the point is on the curve."""
    number = int.from_bytes(encoded, "little")
    y, sign_bit = number & (1 << 255) - 1, number >> 255
    if y >= P:
        return None
    try:
        point = with_y(y, 0)
    except ValueError:
        return None
    if sign_bit:
        return None if point[0] == 0 else (P - point[0], y)
    return point


def challenge(r: bytes, a: bytes, message: bytes) -> int:
    return int.from_bytes(hashlib.sha512(r + a + message).digest(), "little") % L


def by_the_rule(key: bytes, message: bytes, signature: bytes) -> bool:
    a, r, s = decode(key), decode(signature[:32]), int.from_bytes(signature[32:], "little")
    if a is None or r is None or s >= L or (0, 1) in (times(8, a), times(8, r)):
        return False
    k = challenge(signature[:32], key, message)
    return times(s, BASE) == add(r, times(k, a))


def cofactored(key: bytes, message: bytes, signature: bytes) -> bool:
    """The equation that other libraries check: times eight, on both sides."""
    a, r, s = decode(key), decode(signature[:32]), int.from_bytes(signature[32:], "little")
    if a is None or r is None or s >= L:
        return False
    k = challenge(signature[:32], key, message)
    return times(8, times(s, BASE)) == times(8, add(r, times(k, a)))


TORSION = next(
    point
    for y in range(2, 100)
    if (root := decode(y.to_bytes(32, "little"))) and times(4, point := times(L, root)) != (0, 1)
)
SECRET, NONCE, MESSAGE = 1234567, 7654321, b"fairdeal"
A, R = times(SECRET, BASE), times(NONCE, BASE)


def by_hand(a: Point, r: Point, message: bytes = MESSAGE, offset: int = 0) -> tuple[bytes, ...]:
    """A signature for which the equation holds but for points of small order."""
    key, commitment = encode(a), encode(r)
    s = (NONCE + challenge(commitment, key, message) * SECRET) % L + offset
    return key, message, commitment + s.to_bytes(32, "little")


def first(a: Point, r: Point, multiple: bool) -> tuple[bytes, ...]:
    """A message for which k is a multiple of eight, or is none."""
    for salt in range(256):
        case = by_hand(a, r, b"message %d" % salt)
        if (challenge(case[2][:32], case[0], case[1]) % 8 == 0) == multiple:
            return case
    raise AssertionError


EDGES = {  # case -> (holds by the rule, holds by the cofactored equation)
    "made by hand": (by_hand(A, R), True, True),
    "S + L": (by_hand(A, R, offset=L), False, False),
    "S + 1": (by_hand(A, R, offset=1), False, False),
    "mixed-order R": (by_hand(A, add(R, TORSION)), False, True),
    "mixed-order key": (first(add(A, TORSION), R, multiple=False), False, True),
    "mixed-order key, equation exact": (first(add(A, TORSION), R, multiple=True), True, True),
    "mixed-order key and R": (
        first(add(A, TORSION), add(R, TORSION), multiple=True),
        False,
        True,
    ),
    **{f"R of small order {i}": (by_hand(A, times(i, TORSION)), False, False) for i in range(8)},
    **{
        f"key of small order {i}": (
            (encode(times(i, TORSION)), MESSAGE, encode(R) + NONCE.to_bytes(32, "little")),
            False,
            True,
        )
        for i in range(8)
    },
    "key and R the identity, S = 0": (
        (encode((0, 1)), MESSAGE, encode((0, 1)) + bytes(32)),
        False,
        True,
    ),
}


@pytest.mark.parametrize("case", EDGES)
def test_the_rule_on_its_edges(case):
    """Each case is what it says it is, and the core follows the rule."""
    signed, expected, other_equation = EDGES[case]
    assert by_the_rule(*signed) == expected
    assert cofactored(*signed) == other_equation
    assert holds(*signed) == expected


@pytest.mark.parametrize("case", PUBLISHED["cases"], ids=lambda case: case["case"])
def test_the_published_edges(case):
    signed = tuple(bytes.fromhex(case[name]) for name in ("key", "message", "signature"))
    assert holds(*signed) == by_the_rule(*signed) == case["valid"]


def test_no_torsion_point_has_a_valid_encoding():
    """The eight points, and every other encoding of them that some library takes."""
    points = {encode(times(i, TORSION)) for i in range(8)}
    assert len(points) == 8
    ys = {int.from_bytes(point, "little") & (1 << 255) - 1 for point in points}
    encodings = points | {
        (y + shift | sign_bit << 255).to_bytes(32, "little")
        for y in ys
        for shift in (0, P)
        if y + shift < 1 << 255
        for sign_bit in (0, 1)
    }
    assert len(encodings) >= 14
    assert not any(is_valid_point(encoded) for encoded in encodings)
    assert is_valid_point(encode(A))


def test_no_y_from_p_on_is_canonical():
    for y in range(P, 1 << 255):
        for sign_bit in (0, 1):
            assert not is_valid_point((y | sign_bit << 255).to_bytes(32, "little"))


KEY = public_key(named("signer"))
SIGNATURE = sign(named("signer"), MESSAGE)


@given(st.integers(0, 511))
def test_any_flipped_bit_is_seen(bit):
    flipped = bytearray(SIGNATURE)
    flipped[bit // 8] ^= 1 << bit % 8
    assert holds(KEY, MESSAGE, SIGNATURE)
    assert not holds(KEY, MESSAGE, bytes(flipped))
    key = bytearray(KEY)
    key[bit % 256 // 8] ^= 1 << bit % 8
    assert not holds(bytes(key), MESSAGE, SIGNATURE)


def test_a_refusal_has_its_code(refused):
    with refused("signature_invalid", kind=VerificationError):
        verify_signature(KEY, MESSAGE, bytes(64))


@given(st.binary(max_size=40), st.binary(max_size=70))
def test_lengths_are_part_of_the_rule(key, signature):
    assert not holds(key, MESSAGE, SIGNATURE)
    assert not holds(KEY, MESSAGE, signature)
    assert not holds(KEY, MESSAGE, SIGNATURE + signature[:1] + b"\x00")
