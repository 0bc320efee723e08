"""What is secret is stored only sealed: AES-256-GCM under a key of its own for each hand.

A key for each hand takes away the limit on random nonces, and the associated data ties a sealed
value to its place, so that rows cannot be swapped.
"""

from __future__ import annotations

from functools import lru_cache

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from fairdeal.errors import VerificationError
from fairdeal.hashing import frame
from fairdeal_api import system

NONCE_BYTES = 12


class Sealer:
    """Seals and opens under one sealing key, for one log."""

    def __init__(self, keys: system.Keys, origin: str) -> None:
        """Keep the key in memory; it is nowhere else outside its file."""
        self._key = keys.sealing
        self._key_id = keys.sealing_id.encode()
        self._origin = frame(origin.encode())
        # Deriving costs more than sealing, and a hand seals several times.
        self._cipher = lru_cache(maxsize=4096)(self._derive)

    def __repr__(self) -> str:
        return "Sealer(<secret>)"

    def _derive(self, table: str, hand: int) -> AESGCM:
        info = b"".join(
            frame(part)
            for part in (b"fairdeal seal", self._key_id, table.encode(), hand.to_bytes(4, "big"))
        )
        return AESGCM(HKDF(SHA256(), 32, None, info).derive(self._key))

    def _place(self, kind: str, table: str, hand: int, commitment: bytes) -> bytes:
        return self._origin + b"".join(
            frame(part)
            for part in (
                kind.encode(),
                table.encode(),
                hand.to_bytes(4, "big"),
                self._key_id,
                commitment,
            )
        )

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
        """
        nonce = system.entropy(NONCE_BYTES)
        place = self._place(kind, table, hand, commitment)
        return nonce + self._cipher(table, hand).encrypt(nonce, secret, place)

    def open(
        self, kind: str, table: str, hand: int, sealed: bytes, commitment: bytes = b""
    ) -> bytes:
        """Open a value.

        Raises:
            VerificationError: `sealed_value`, this is not what was sealed in this place.
        """
        place = self._place(kind, table, hand, commitment)
        try:
            return self._cipher(table, hand).decrypt(
                sealed[:NONCE_BYTES], sealed[NONCE_BYTES:], place
            )
        except InvalidTag:
            raise VerificationError("sealed_value", "a sealed value does not open") from None
