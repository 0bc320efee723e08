"""Server seeds, seat seeds, seals and the deal key.

Spec: seeds.md. Entropy arrives as an argument: this module draws nothing.
"""

from __future__ import annotations

import hmac
from collections.abc import Sequence
from typing import Final, NoReturn

from fairdeal.errors import VerificationError
from fairdeal.hashing import Bytes32, Digest, framed_hash, framed_message, hkdf_extract, u8, u32be

LAST_EPOCH: Final = 32


class Secret(Bytes32):
    """32 secret bytes: compared in constant time, never shown, never pickled."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"{type(self).__name__}(<secret>)"

    __str__ = __repr__

    def __format__(self, spec: str) -> str:
        return repr(self)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, bytes) and hmac.compare_digest(self, other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = Bytes32.__hash__

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("secrets are not pickled")


class ServerSeed(Secret):
    """The service's secret of one hand. Spec: SEED-1."""

    __slots__ = ()


class SeatSeed(Secret):
    """One epoch's secret of a seat. Spec: SEED-2."""

    __slots__ = ()


class DealKey(Secret):
    """K_e: everything of an epoch comes from it. Spec: KEY-1."""

    __slots__ = ()


class Commitment(Bytes32):
    """What the service publishes of a server seed."""

    __slots__ = ()


class Seal(Bytes32):
    """What a seat publishes of its x_0."""

    __slots__ = ()


def commit(seed: ServerSeed) -> Commitment:
    """C = H("server seed", s). Spec: SEED-1."""
    return Commitment(framed_hash("server seed", seed))


def verify_commitment(commitment: Commitment, seed: ServerSeed) -> None:
    """Raise `commitment_mismatch` unless the seed opens the commitment."""
    if not hmac.compare_digest(commit(seed), commitment):
        raise VerificationError("commitment_mismatch", "this seed was not committed to")


def link(later: SeatSeed) -> SeatSeed:
    """x_e from x_{e+1}. Spec: SEED-2."""
    return SeatSeed(framed_hash("link", later))


def seed_chain(last: SeatSeed, length: int = LAST_EPOCH) -> tuple[SeatSeed, ...]:
    """x_0 .. x_length from the last one, which alone was drawn at random. Spec: SEED-2."""
    chain = [last]
    for _ in range(length):
        chain.append(link(chain[-1]))
    return tuple(reversed(chain))


def verify_link(earlier: SeatSeed, later: SeatSeed) -> None:
    """Raise `chain_mismatch` unless `later` precedes `earlier` in a seat's chain. Spec: SEED-3."""
    if not hmac.compare_digest(link(later), earlier):
        raise VerificationError("chain_mismatch", "this seed is not the next of the seat's chain")


def seal(terms: Digest, hand: int, seat: int, commitment: Commitment, seed: SeatSeed) -> Seal:
    """A seat's commitment to its x_0, bound to table, hand, seat and server. Spec: SEAL-1."""
    return Seal(framed_hash("seat seed", terms, u32be(hand), u8(seat), commitment, seed))


def deal_key(
    terms: Digest,
    hand: int,
    epoch: int,
    seat_seeds: Sequence[SeatSeed],
    server_seed: ServerSeed,
) -> DealKey:
    """K_e from committed values, and from nothing else.

    Args:
        terms: T, the digest of `table.opened`.
        hand: Number of the hand.
        epoch: 0 for the deal, e for the e-th reshuffle.
        seat_seeds: x_e of each contributing seat, in seat order.
        server_seed: s of this hand.

    Spec: KEY-1, KEY-2.
    """
    beacon = b""  # no beacon in this version, framed all the same
    salt = framed_hash("deal", terms, u32be(hand), u32be(epoch), *seat_seeds, beacon)
    return DealKey(hkdf_extract(salt, server_seed))


# What a seat with a key of its own signs (TAG-1, SIG-2).


def declare_message(
    terms: Digest, hand: int, seat: int, commitment: Commitment, suit: str
) -> bytes:
    """Signed with a declaration of trumps."""
    return framed_message("declare", terms, u32be(hand), u8(seat), commitment, suit.encode())


def seal_message(terms: Digest, hand: int, seat: int, commitment: Commitment, value: Seal) -> bytes:
    """Signed with a seal."""
    return framed_message("seal", terms, u32be(hand), u8(seat), commitment, value)


def open_message(head: Digest, epoch: int, seat: int, seed: SeatSeed) -> bytes:
    """Signed with an opening: it binds the seed to the head that the seat saw."""
    return framed_message("open", head, u32be(epoch), u8(seat), seed)


def lock_message(terms: Digest, hand: int, seat: int, k: int, count: int, lock: bytes) -> bytes:
    """Signed with a lock."""
    return framed_message("lock", terms, u32be(hand), u8(seat), u32be(k), u8(count), lock)
