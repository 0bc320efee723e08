"""SIG-1: RFC 8032 vectors, and the edges on which libraries disagree."""

import hashlib

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from fairdeal_verifier import ed25519 as ed

RFC_8032 = [
    (
        "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
        "",
        (
            "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46b"
            "d25bf5f0595bbe24655141438e7a100b"
        ),
    ),
    (
        "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
        "72",
        (
            "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c"
            "387b2eaeb4302aeeb00d291612bb0c00"
        ),
    ),
    (
        "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
        "af82",
        (
            "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc659"
            "4a7c15e9716ed28dc027beceea1ec40a"
        ),
    ),
    (
        "ec172b93ad5e563bf4932c70e1245034c35467ef2efd4d64ebf819683467e2bf",
        (
            "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
            "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f"
        ),
        (
            "dc2a4459e7369633a52b1bf277839a00201009a3efbf3ecb69bea2186c26b58909351fc9ac90b3ecfdfbc7c66431e030"
            "3dca179c138ac17ad9bef1177331a704"
        ),
    ),
]

BASE = ed.decode_point(ed._BASE_Y.to_bytes(32, "little"))
ORDER_8 = ed.decode_point(ed._ORDER_8_Y.to_bytes(32, "little"))


def times(k, point):
    result = ed.IDENTITY
    for bit in f"{k:b}":
        result = ed.add(result, ed.as_addend(result))
        if bit == "1":
            result = ed.add(result, ed.as_addend(point))
    return result


def plus(a, b):
    return ed.add(a, ed.as_addend(b))


def challenge(r, a, data):
    return int.from_bytes(hashlib.sha512(r + a + data).digest(), "little") % ed.L


@pytest.mark.parametrize(("public", "data", "signature"), RFC_8032)
def test_rfc_8032(public, data, signature):
    public, data, signature = map(bytes.fromhex, (public, data, signature))
    assert ed.verify_signature(public, data, signature)
    assert not ed.verify_signature(public, data + b"x", signature)
    for i in range(64):
        broken = bytearray(signature)
        broken[i] ^= 1
        assert not ed.verify_signature(public, data, bytes(broken))


def test_agrees_with_a_library_on_honest_signatures():
    for i in range(40):
        key = Ed25519PrivateKey.from_private_bytes(hashlib.sha256(bytes([i])).digest())
        data = bytes(range(i))
        signature = key.sign(data)
        public = key.public_key().public_bytes_raw()
        assert ed.verify_signature(public, data, signature)
        assert not ed.verify_signature(public, data + b"\0", signature)


def test_the_points_of_small_order_are_the_eight_multiples_of_one():
    points = {ed.encode_point(times(k, ORDER_8)) for k in range(8)}
    assert points == ed.SMALL_ORDER
    assert len(points) == 8


def test_s_not_below_l_is_refused():
    key = Ed25519PrivateKey.from_private_bytes(bytes(32))
    public, signature = key.public_key().public_bytes_raw(), key.sign(b"m")
    s = int.from_bytes(signature[32:], "little")
    assert ed.verify_signature(public, b"m", signature)
    for more in range(1, 15):
        number = s + more * ed.L
        if number < 2**256:
            again = signature[:32] + number.to_bytes(32, "little")
            assert not ed.verify_signature(public, b"m", again)


def sign_with(a, public, r_point, r, data):
    """Signs with whatever encodings are wanted for A and R."""
    encoded = ed.encode_point(r_point)
    s = (r + challenge(encoded, public, data) * a) % ed.L
    return encoded + s.to_bytes(32, "little")


@pytest.mark.parametrize("multiple", range(8))
def test_a_of_small_order_is_refused(multiple):
    # With A of small order and k a multiple of 8, `[S]B = R + [k]A` holds for S = r.
    public = ed.encode_point(times(multiple, ORDER_8))
    r_point = times(12345, BASE)
    for i in range(200):
        data = b"%d" % i
        encoded = ed.encode_point(r_point)
        if challenge(encoded, public, data) % 8 == 0:
            signature = encoded + (12345).to_bytes(32, "little")
            assert not ed.verify_signature(public, data, signature)
            return
    pytest.fail("no message found")


@pytest.mark.parametrize("multiple", range(8))
def test_r_of_small_order_is_refused(multiple):
    a = 999
    public = ed.encode_point(times(a, BASE))
    r_point = times(multiple, ORDER_8)
    encoded = ed.encode_point(r_point)
    s = challenge(encoded, public, b"m") * a % ed.L
    assert not ed.verify_signature(public, b"m", encoded + s.to_bytes(32, "little"))


def test_encodings_that_are_not_canonical_are_refused():
    for y in range(19):
        for sign in (0, 1):
            encoding = (ed.P + y | sign << 255).to_bytes(32, "little")
            assert ed.decode_point(encoding) is None
            assert not ed.verify_signature(encoding, b"m", bytes(64))
            r_first = encoding + (5).to_bytes(32, "little")
            assert not ed.verify_signature(ed.encode_point(times(7, BASE)), b"m", r_first)
    for y in (1, ed.P - 1):  # x = 0 with sign bit 1
        assert ed.decode_point((y | 1 << 255).to_bytes(32, "little")) is None


def test_a_signature_good_for_the_cofactored_equation_only_is_refused():
    # R has a part of order 8: [8][S]B = [8]R + [8][k]A holds, [S]B = R + [k]A does not.
    a, r = 424242, 171717
    public = ed.encode_point(times(a, BASE))
    r_point = plus(times(r, BASE), ORDER_8)
    signature = sign_with(a, public, r_point, r, b"m")
    s = int.from_bytes(signature[32:], "little")
    k = challenge(signature[:32], public, b"m")
    left = times(8 * s, BASE)
    right = plus(times(8, r_point), times(8 * k, times(a, BASE)))
    assert ed.encode_point(left) == ed.encode_point(right)
    assert not ed.verify_signature(public, b"m", signature)


def test_a_of_mixed_order_is_checked_without_cofactor():
    # A = [a]B + T8. The plain equation holds if and only if 8 divides k.
    a, r = 31337, 65537
    a_point = plus(times(a, BASE), ORDER_8)
    public = ed.encode_point(a_point)
    r_point = times(r, BASE)
    seen = set()
    for i in range(100):
        data = b"%d" % i
        signature = sign_with(a, public, r_point, r, data)
        divides = challenge(signature[:32], public, data) % 8 == 0
        assert ed.verify_signature(public, data, signature) == divides
        seen.add(divides)
    assert seen == {True, False}


def test_wrong_lengths_are_refused():
    key = Ed25519PrivateKey.from_private_bytes(bytes(32))
    public, signature = key.public_key().public_bytes_raw(), key.sign(b"m")
    assert not ed.verify_signature(public[:31], b"m", signature)
    assert not ed.verify_signature(public, b"m", signature[:63])
    assert not ed.verify_signature(public, b"m", signature + b"\0")


def test_a_point_off_the_curve_is_refused():
    refused = [y for y in range(2, 40) if ed.decode_point(y.to_bytes(32, "little")) is None]
    assert 5 < len(refused) < 33
