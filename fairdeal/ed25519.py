"""Ed25519 by one written rule. Spec: SIG-1.

Libraries disagree on edge cases, and a signature that one verifier accepts and another refuses
is a way to make two players see two verdicts. OpenSSL applies the cofactorless equation, S < L
and a canonical R; it does not refuse keys or R of small order, nor a non-canonical key.
"""

from __future__ import annotations

from typing import Final

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from fairdeal.errors import VerificationError

_P: Final = 2**255 - 19
_D: Final = -121665 * pow(121666, -1, _P) % _P
_Y: Final = 2**255 - 1
"""The bits of an encoding that are y; the other one is the sign of x."""

# The canonical encodings of the eight points whose order divides eight.
_SMALL_ORDER: Final = frozenset(
    bytes.fromhex(text)
    for text in (
        "0100000000000000000000000000000000000000000000000000000000000000",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "0000000000000000000000000000000000000000000000000000000000000000",
        "0000000000000000000000000000000000000000000000000000000000000080",
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
    )
)


def is_valid_point(encoded: bytes) -> bool:
    """Whether 32 bytes are a canonical encoding and not of small order.

    That they lie on the curve is left to the library, which must decode them anyway.
    """
    y = int.from_bytes(encoded, "little") & _Y
    if y >= _P:
        return False
    if y in (1, _P - 1):  # x = 0: order one or two, with either sign bit
        return False
    return encoded not in _SMALL_ORDER


def is_on_curve(encoded: bytes) -> bool:
    """Whether the curve has a point with this y: else nobody can sign with such a key.

    RFC 8032, 5.1.3: x^2 = (y^2 - 1) / (d y^2 + 1); a quotient is a square if the product is.
    """
    yy = pow(int.from_bytes(encoded, "little") & _Y, 2, _P)
    return pow((yy - 1) * (_D * yy + 1), (_P - 1) // 2, _P) <= 1


def verify_signature(public_key: bytes, message: bytes, signature: bytes) -> None:
    """Check a signature, or raise.

    Args:
        public_key: 32 bytes.
        message: What was signed.
        signature: 64 bytes, R then S.

    Raises:
        VerificationError: `signature_invalid`.
    """
    try:
        if len(signature) != 64 or not (
            is_valid_point(public_key) and is_valid_point(signature[:32])
        ):
            raise InvalidSignature
        Ed25519PublicKey.from_public_bytes(public_key).verify(signature, message)
    except (InvalidSignature, ValueError):
        raise VerificationError("signature_invalid", "the signature does not fit") from None


def private_key(secret: bytes) -> Ed25519PrivateKey:
    """The key of a 32-byte secret. Who signs often keeps it: making it costs more than signing."""
    return Ed25519PrivateKey.from_private_bytes(secret)


def sign(secret: bytes, message: bytes) -> bytes:
    """Sign with a 32-byte Ed25519 secret."""
    return private_key(secret).sign(message)


def public_key(secret: bytes) -> bytes:
    """The 32-byte public key of a secret."""
    return private_key(secret).public_key().public_bytes_raw()
