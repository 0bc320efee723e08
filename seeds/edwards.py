"""Just enough of edwards25519 to build signatures that libraries disagree about.

Affine coordinates, slow and plain. It makes vectors; nothing is verified with it.
"""

from __future__ import annotations

import hashlib
from typing import Any

P = 2**255 - 19
L = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P
Point = tuple[int, int]


def add(a: Point, b: Point) -> Point:
    """Sum of two points."""
    product = D * a[0] * b[0] * a[1] * b[1] % P
    x = (a[0] * b[1] + a[1] * b[0]) * pow(1 + product, P - 2, P) % P
    y = (a[1] * b[1] + a[0] * b[0]) * pow(1 - product, P - 2, P) % P
    return x, y


def times(scalar: int, point: Point) -> Point:
    """A multiple of a point."""
    result = (0, 1)
    while scalar:
        if scalar & 1:
            result = add(result, point)
        point = add(point, point)
        scalar >>= 1
    return result


def with_y(y: int, sign: int) -> Point:
    """The point with this y and the parity of x."""
    square = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P:
        x = x * pow(2, (P - 1) // 4, P) % P
    if (x * x - square) % P:
        raise ValueError("no such point")
    return (P - x if x % 2 != sign else x), y


BASE = with_y(4 * pow(5, P - 2, P) % P, 0)


def encode(point: Point) -> bytes:
    """The canonical 32 bytes."""
    return (point[1] | (point[0] & 1) << 255).to_bytes(32, "little")


def _challenge(r: bytes, a: bytes, message: bytes) -> int:
    return int.from_bytes(hashlib.sha512(r + a + message).digest(), "little") % L


def _case(
    name: str, a: bytes, message: bytes, r: bytes, s: int, valid: bool = False
) -> dict[str, Any]:
    signature = r + s.to_bytes(32, "little")
    return {
        "case": name,
        "key": a.hex(),
        "message": message.hex(),
        "signature": signature.hex(),
        "valid": valid,
    }


def _torsion() -> Point:
    """A point of order eight."""
    for y in range(2, 100):
        try:
            point = times(L, with_y(y, 0))
        except ValueError:
            continue
        if times(4, point) != (0, 1):
            return point
    raise ValueError("none found")


def edge_cases() -> list[dict[str, Any]]:
    """Signatures of which each satisfies some equation, and only some the rule."""
    cases: list[dict[str, Any]] = []
    secret, nonce, message = 1234567, 7654321, b"fairdeal"
    public, commitment = times(secret, BASE), times(nonce, BASE)
    a, r = encode(public), encode(commitment)
    s = (nonce + _challenge(r, a, message) * secret) % L
    cases.append(_case("made by hand", a, message, r, s, valid=True))
    cases.append(_case("S + L", a, message, r, s + L))
    cases.append(_case("S off by one", a, message, r, s + 1))
    cases.append(_case("another message", a, b"fairdeaL", r, s))

    torsion = _torsion()
    for i in range(8):
        small = encode(times(i, torsion))
        # A of small order: with k a multiple of its order the equation holds for any S.
        for salt in range(256):
            text = message + bytes([salt])
            if _challenge(r, small, text) % 8 == 0:
                cases.append(_case(f"key of small order {i}", small, text, r, nonce))
                break
    # R = identity: the equation holds for S = k * a.
    for name, identity in (
        ("R of small order", encode((0, 1))),
        ("R not canonical (y = p + 1)", (P + 1).to_bytes(32, "little")),
        ("R not canonical (x = 0, sign 1)", (1 | 1 << 255).to_bytes(32, "little")),
    ):
        k = _challenge(identity, a, message)
        cases.append(_case(name, a, message, identity, k * secret % L))
    for name, key in (
        ("key not canonical (y = p + 1)", (P + 1).to_bytes(32, "little")),
        ("key not canonical (y = p)", P.to_bytes(32, "little")),
        ("key not canonical (x = 0, sign 1)", (1 | 1 << 255).to_bytes(32, "little")),
        ("key not on the curve", (2).to_bytes(32, "little")),
    ):
        cases.append(_case(name, key, message, r, nonce))

    mixed = add(public, torsion)
    key = encode(mixed)
    for salt in range(256):
        text = message + bytes([salt])
        k = _challenge(r, key, text)
        s = (nonce + k * secret) % L
        if k % 8:
            if not any(case["case"].startswith("mixed-order key, c") for case in cases):
                cases.append(_case("mixed-order key, cofactored only", key, text, r, s))
        elif not any(case["case"].startswith("mixed-order key, e") for case in cases):
            # The rule's equation holds exactly, and the key is not of small order.
            cases.append(_case("mixed-order key, equation exact", key, text, r, s, valid=True))
    twisted = encode(add(commitment, torsion))
    s = (nonce + _challenge(twisted, a, message) * secret) % L
    cases.append(_case("mixed-order R, cofactored only", a, message, twisted, s))
    return cases
