"""From a stream of bytes to uniform numbers, to an order. Spec: shuffle.md."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from fairdeal.cards import Card, Deck
from fairdeal.errors import FormatError
from fairdeal.hashing import MAX_STREAM, stream
from fairdeal.seeds import DealKey

# Enough for every deck here but for one in 2^200; then the stream is read anew, longer.
_FIRST_READ: Final = 128

# For each m the first byte that would favour small remainders (STREAM-2).
LIMITS: Final = tuple(256 - 256 % m if m else 0 for m in range(257))


def stream_bytes(key: DealKey, name: str) -> Iterator[int]:
    """A stream's bytes one by one. Spec: STREAM-1.

    Raises:
        FormatError: `stream_exhausted`, after 8160 bytes.
    """
    taken = 0
    for length in (_FIRST_READ, MAX_STREAM):
        yield from stream(key, name, length)[taken:]
        taken = length
    raise FormatError("stream_exhausted", "a stream has 8160 bytes")


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
    following: Callable[[], int] = source.__next__
    limits = LIMITS
    for i in range(len(order) - 1, 0, -1):
        m = i + 1
        limit = limits[m]
        try:
            byte = following()
            while byte >= limit:
                byte = following()
        except StopIteration:
            raise FormatError("stream_exhausted", "the source of bytes has ended") from None
        j = byte % m
        order[i], order[j] = order[j], order[i]
    return tuple(order)


def shuffle(deck: Deck, key: DealKey) -> Deck:
    """The order of an epoch. Spec: SHUF-2."""
    return shuffled(deck, stream_bytes(key, "shuffle"))


def pick(key: DealKey, name: str, m: int) -> int:
    """A drawn number below m that is not a card. Spec: SHUF-3."""
    return uniform(stream_bytes(key, f"pick {name}"), m)
