"""From a stream of bytes to uniform numbers, to an order. Spec: shuffle.md."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, TypeVar

from fairdeal.cards import Card, Deck
from fairdeal.errors import FormatError
from fairdeal.hashing import MAX_STREAM, stream
from fairdeal.seeds import DealKey

T = TypeVar("T")

_FIRST_READ: Final = 96

# For each m the first byte that would favour small remainders (STREAM-2).
LIMITS: Final = tuple(256 - 256 % m if m else 0 for m in range(257))


def from_stream(key: DealKey, name: str, take: Callable[[Iterator[int]], T]) -> T:
    """What is taken from the bytes of a stream. Spec: STREAM-1.

    A short read suffices but for one time in 2^150; then the whole stream, which begins with the
    same bytes, is read from its start.

    Raises:
        FormatError: `stream_exhausted`, after 8160 bytes.
    """
    try:
        return take(iter(stream(key, name, _FIRST_READ)))
    except FormatError:
        return take(iter(stream(key, name, MAX_STREAM)))


def uniform(source: Iterator[int], m: int) -> int:
    """A number below m, each equally likely, 1 <= m <= 256. Spec: STREAM-2."""
    limit = LIMITS[m]
    for byte in source:
        if byte < limit:
            return byte % m
    raise FormatError("stream_exhausted", "the source of bytes has ended")


def shuffled(deck: Deck, source: Iterator[int]) -> Deck:
    """The order that a source of bytes gives a deck; position 0 on top. Spec: SHUF-2."""
    order: list[Card] = list(deck)
    left, limits = len(order), LIMITS
    if left < 2:
        return tuple(order)
    for byte in source:
        if byte < limits[left]:
            j = byte % left
            left -= 1
            order[left], order[j] = order[j], order[left]
            if left == 1:
                return tuple(order)
    raise FormatError("stream_exhausted", "the source of bytes has ended")


def shuffle(deck: Deck, key: DealKey) -> Deck:
    """The order of an epoch. Spec: SHUF-2."""
    return from_stream(key, "shuffle", lambda source: shuffled(deck, source))


def pick(key: DealKey, name: str, m: int) -> int:
    """A drawn number below m that is not a card. Spec: SHUF-3."""
    return from_stream(key, f"pick {name}", lambda source: uniform(source, m))
