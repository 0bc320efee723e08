"""What is secret is stored only sealed: AES-256-GCM under a key of its own for each hand.

A key for each hand takes away the limit on random nonces, and the associated data ties a sealed
value to its place, so that rows cannot be swapped. In front of each value stands the id of its
sealing key, which the associated data holds as well: a value under a key that is not here is told
from one that is damaged.
"""

from __future__ import annotations

import hmac
from functools import lru_cache

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from fairdeal.errors import VerificationError
from fairdeal.hashing import frame, hkdf_extract, u32be
from fairdeal_api import stopping, system

KINDS = ("server seed", "discards", "answer", "test seed")
ID_BYTES = 4
NONCE_BYTES = 12
_FRONT = ID_BYTES + NONCE_BYTES
_NOTHING = frame(b"")


class Sealer:
    """Seals and opens under one sealing key, for one log."""

    def __init__(self, key: system.SealingKey, origin: str) -> None:
        """Keep the key in memory; it is nowhere else outside its file."""
        # HKDF (RFC 5869): extracted once, expanded by one block for each hand.
        self._extracted = hkdf_extract(bytes(32), key.secret)
        self._key_id = key.id.encode()
        self._named = bytes.fromhex(key.id)
        self._kinds = {kind: frame(origin.encode()) + frame(kind.encode()) for kind in KINDS}
        # Deriving costs more than sealing, and a hand seals several times.
        self._of_hand = lru_cache(maxsize=4096)(self._derive)

    def __repr__(self) -> str:
        return "Sealer(<secret>)"

    def _derive(self, table: str, hand: int) -> tuple[AESGCM, bytes]:
        """A hand's cipher, and the part of its places that is the same for every kind."""
        name, number, key_id = frame(table.encode()), frame(u32be(hand)), frame(self._key_id)
        info = frame(b"fairdeal seal") + key_id + name + number
        key = hmac.digest(self._extracted, info + b"\x01", "sha256")
        return AESGCM(key), name + number + key_id

    def _in_place(
        self, kind: str, table: str, hand: int, commitment: bytes
    ) -> tuple[AESGCM, bytes]:
        cipher, of_hand = self._of_hand(table, hand)
        framed = frame(commitment) if commitment else _NOTHING
        return cipher, self._kinds[kind] + of_hand + framed

    def seal(
        self, kind: str, table: str, hand: int, secret: bytes, commitment: bytes = b""
    ) -> bytes:
        """Seal a value in its place.

        Args:
            kind: What it is: a value of one kind is not opened as another.
            table: Id of the table.
            hand: Number of the hand; 0 for the table itself.
            secret: The value.
            commitment: For server seeds, their commitment.

        Returns:
            4 bytes that name the key, 12 of the nonce, the ciphertext and its tag of 16.
        """
        nonce = system.entropy(NONCE_BYTES)
        cipher, place = self._in_place(kind, table, hand, commitment)
        return self._named + nonce + cipher.encrypt(nonce, secret, place)

    def open(
        self, kind: str, table: str, hand: int, sealed: bytes, commitment: bytes = b""
    ) -> bytes:
        """Open a value.

        Raises:
            VerificationError: `sealed_elsewhere`, it is sealed under another key; `sealed_value`,
                this is not what was sealed in this place.
        """
        cipher, place = self._in_place(kind, table, hand, commitment)
        if len(sealed) < _FRONT:
            raise VerificationError("sealed_value", "was lost")
        if (named := sealed[:ID_BYTES]) != self._named:
            raise VerificationError(
                "sealed_elsewhere", f"is sealed under the key {named.hex()}, which is not here"
            )
        try:
            return cipher.decrypt(sealed[ID_BYTES:_FRONT], sealed[_FRONT:], place)
        except InvalidTag:
            raise VerificationError("sealed_value", "does not open") from None


class Resealer:
    """Seals anew, under another key, what one key has sealed."""

    def __init__(self, old: Sealer, new: Sealer) -> None:
        """Begin."""
        self._old, self._new = old, new
        self.done = 0
        self.stuck = 0
        """Values that do not open; they stay as they are."""

    def __call__(self, kind: str, table: str, hand: int, sealed: bytes, commitment: bytes) -> bytes:
        """Seal a value anew, in its place; one that does not open is given back as it is.

        Raises:
            Stopped: If the command was told to end: it seals thousands of them.
        """
        stopping.may_stop()
        try:
            secret = self._old.open(kind, table, hand, sealed, commitment)
        except VerificationError:
            self.stuck += 1
            return sealed
        self.done += 1
        return self._new.seal(kind, table, hand, secret, commitment)
