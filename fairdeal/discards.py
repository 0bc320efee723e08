"""Face-down discards: the lock on each, and what is checked once they are disclosed.

Spec: HAND-10, HAND-11, HAND-17.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from fairdeal.codecs import Lock, Place
from fairdeal.errors import VerificationError
from fairdeal.events import Discards
from fairdeal.hashing import framed_hash, stream, u8, u32be
from fairdeal.seeds import DealKey


class Claim(NamedTuple):
    """A card shown, or a discard made: to be held against the discards once they are disclosed."""

    seat: int
    k: int | None
    """Which discard it was; None for a card that was shown."""
    places: tuple[Place, ...]
    """The card shown; for a discard the places it can have come from."""
    down: tuple[int, ...]
    """The seat's discards that lay face down then: the cards are in none of them."""
    from_down: bool = False
    """A card shown out of the seat's discards, at the count of a Kozel hand."""


def discard_salt(key: DealKey, seat: int, k: int) -> bytes:
    """The salt of a seat's k-th discard, from K_0. Spec: HAND-10."""
    return stream(key, f"discard {seat} {k}", 32)


def discard_lock(hand: int, seat: int, k: int, salt: bytes, cards: tuple[Place, ...]) -> bytes:
    """The lock on a discard. Spec: HAND-10, TAG-1."""
    joined = b"".join([u32be(place.epoch) + u32be(place.position) for place in sorted(cards)])
    return framed_hash("discard", u32be(hand), u8(seat), u32be(k), salt, joined)


def verify_discards(
    hand: int,
    locks: Mapping[tuple[int, int], Lock],
    claims: tuple[Claim, ...],
    discards: Discards,
    key: DealKey | None,
) -> None:
    """Raise unless the locks open to these cards, which were in their holdings then.

    Args:
        hand: Number of the hand.
        locks: Every lock of the hand, by (seat, k).
        claims: Every card shown and every discard made.
        discards: As disclosed.
        key: K_0; None only if there are no locks.

    Raises:
        VerificationError: `lock_mismatch` or `not_in_holding`. Spec: HAND-10, HAND-11.
    """
    listed = {(seat, k): cards for seat, ks in discards.items() for k, cards in enumerate(ks)}
    if listed.keys() != locks.keys():
        raise VerificationError("lock_mismatch", "each discard of the hand is listed once")
    for (seat, k), cards in listed.items():
        lock = locks[seat, k]
        if (
            key is None
            or len(cards) != lock.size
            or list(cards) != sorted(cards)
            or lock.lock != discard_lock(hand, seat, k, discard_salt(key, seat, k), cards)
        ):
            raise VerificationError("lock_mismatch", "a lock opens to other cards")
    for claim in claims:
        down = {place for k in claim.down for place in listed[claim.seat, k]}
        if claim.k is None:
            fits = (claim.places[0] in down) == claim.from_down
        else:
            cards = listed[claim.seat, claim.k]
            fits = len(set(cards)) == len(cards) and set(cards) <= set(claim.places) - down
        if not fits:
            raise VerificationError("not_in_holding", "a card was not in the holding then")
