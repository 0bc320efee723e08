"""The hashes of the protocol: framed hash, deal key, streams, shuffle, sealed deck, Merkle tree."""

import hmac
from collections.abc import Iterator, Sequence
from hashlib import sha256
from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hashlib import _Hash

LIMIT = 8160  # what HKDF-Expand can give: 255 blocks of 32 bytes

TAGS = (
    "server seed",
    "link",
    "seat seed",
    "deal",
    "discard",
    "declare",
    "seal",
    "open",
    "lock",
    "rotate",
    "continue",
)


class StreamError(ValueError):
    """A stream needs more than 8160 bytes, which does not happen by chance. Spec: STREAM-1."""


def u8(number: int) -> bytes:
    """Writes one byte."""
    return number.to_bytes(1, "big")


def u32be(number: int) -> bytes:
    """Writes four bytes, big endian."""
    return number.to_bytes(4, "big")


def frame(field: bytes) -> bytes:
    """Puts its length before a field."""
    return len(field).to_bytes(4, "big") + field


_TAG_FRAMES = {tag: frame(f"fairdeal/1 {tag}".encode("ascii")) for tag in TAGS}


def message(tag: str, *fields: bytes) -> bytes:
    """Frames a tag and fields: what a seat signs. Spec: TAG-1."""
    return _TAG_FRAMES[tag] + b"".join([len(x).to_bytes(4, "big") + x for x in fields])


def framed_hash(tag: str, *fields: bytes) -> bytes:
    """Hashes a framed tag and fields. Spec: ENC-9, TAG-1."""
    return sha256(message(tag, *fields)).digest()


def commitment_to(server_seed: bytes) -> bytes:
    """Gives C, what the service publishes of its seed. Spec: SEED-1."""
    return framed_hash("server seed", server_seed)


def seal_of(terms: bytes, hand: int, seat: int, commitment: bytes, seed: bytes) -> bytes:
    """Gives what a seat publishes of its `x_0`. Spec: SEAL-1."""
    return framed_hash("seat seed", terms, u32be(hand), u8(seat), commitment, seed)


def link_to(seed: bytes) -> bytes:
    """Gives the seat seed before this one in the chain. Spec: SEED-2, SEED-3."""
    return framed_hash("link", seed)


def lock_of(hand: int, seat: int, k: int, salt: bytes, places: Sequence[tuple[int, int]]) -> bytes:
    """Gives what a seat publishes of a face-down discard. Spec: HAND-10."""
    cards = b"".join([u32be(epoch) + u32be(position) for epoch, position in sorted(places)])
    return framed_hash("discard", u32be(hand), u8(seat), u32be(k), salt, cards)


_COUNTERS = [counter.to_bytes(1, "big") for counter in range(1, 256)]
_INNER_PAD = bytes(b ^ 0x36 for b in range(256))
_OUTER_PAD = bytes(b ^ 0x5C for b in range(256))


class DealKey:
    """K_e, from which everything of an epoch is derived.

    HMAC-SHA256 with the two padded halves of the key hashed once: a stream of 20 blocks then costs
    a third of 20 calls of `hmac.digest`.

    Spec: KEY-1, KEY-2, STREAM-1
    """

    __slots__ = ("_inner", "_outer", "raw")

    def __init__(self, raw: bytes) -> None:
        """Takes the key's 32 bytes."""
        self.raw = raw
        self._inner, self._outer = _pads(raw)

    @classmethod
    def derive(
        cls, server_seed: bytes, terms: bytes, hand: int, epoch: int, seeds: Sequence[bytes]
    ) -> "DealKey":
        """Derives the key.

        Args:
            server_seed: s_n, 32 bytes.
            terms: T, the digest of `table.opened`.
            hand: The number of the hand.
            epoch: 0 for the deal, e for the e-th reshuffle.
            seeds: x_e of each contributing seat, in the order of the seats.
        """
        beacon = b""  # B of KEY-1: there is no beacon in this version
        salt = framed_hash("deal", terms, u32be(hand), u32be(epoch), *seeds, beacon)
        return cls(hmac.digest(salt, server_seed, "sha256"))  # HKDF-Extract

    def blocks(self, name: str) -> Iterator[bytes]:
        """Gives the blocks of HKDF-Expand one after the other, 255 at most."""
        info = f"fairdeal/1 {name}".encode("ascii")
        block = b""
        for counter in _COUNTERS:
            inner, outer = self._inner.copy(), self._outer.copy()
            inner.update(block + info + counter)
            outer.update(inner.digest())
            block = outer.digest()
            yield block

    def stream(self, name: str, length: int) -> bytes:
        """Gives the first bytes of a stream. Spec: STREAM-1."""
        if length > LIMIT:
            raise StreamError(name)
        return b"".join(islice(self.blocks(name), (length + 31) // 32))[:length]

    def numbers(self, name: str) -> Iterator[int]:
        """Gives a stream byte by byte."""
        for block in self.blocks(name):
            yield from block
        raise StreamError(name)

    def pick(self, name: str, below: int) -> int:
        """Draws a number that is not a card. Spec: SHUF-3."""
        stream = self.numbers(f"pick {name}")
        return uniform(stream, below)[0]


def _pads(key: bytes) -> "tuple[_Hash, _Hash]":
    padded = key.ljust(64, b"\0")
    return sha256(padded.translate(_INNER_PAD)), sha256(padded.translate(_OUTER_PAD))


def uniform(stream: Iterator[int], below: int) -> tuple[int, list[int]]:
    """Draws a number below a bound, exactly uniform.

    Returns:
        The number, and the bytes taken for it: all but the last were refused.

    Spec: STREAM-2
    """
    limit = 256 - 256 % below
    taken = [next(stream)]
    while taken[-1] >= limit:
        taken.append(next(stream))
    return taken[-1] % below, taken


def shuffle(key: DealKey, cards: Sequence[str]) -> list[str]:
    """Shuffles a deck in canonical order; position 0 is the top.

    The same as `trace_shuffle` without a record of each draw.

    Spec: SHUF-2
    """
    order = list(cards)
    take = key.numbers("shuffle").__next__
    for i in range(len(order) - 1, 0, -1):
        below = i + 1
        limit = 256 - 256 % below
        byte = take()
        while byte >= limit:
            byte = take()
        j = byte % below
        order[i], order[j] = order[j], order[i]
    return order


def trace_shuffle(key: DealKey, cards: Sequence[str]) -> Iterator[tuple[int, int, list[int]]]:
    """Gives each draw of a shuffle: i, j and the bytes taken. Spec: SHUF-2."""
    stream = key.numbers("shuffle")
    for i in range(len(cards) - 1, 0, -1):
        j, taken = uniform(stream, i + 1)
        yield i, j, taken


class SealedDeck:
    """One epoch's order, its salts and its root. Spec: DECK-1, DECK-2."""

    __slots__ = ("_root", "cards", "epoch", "key", "order", "salts")

    def __init__(self, key: DealKey, epoch: int, cards: Sequence[str]) -> None:
        """Shuffles and salts.

        Args:
            key: K_e.
            epoch: Its number.
            cards: The deck, or the pool of a reshuffle, in canonical order.
        """
        self.key = key
        self.epoch = epoch
        self.cards = tuple(cards)
        self.order = shuffle(key, cards)
        salts = key.stream("salts", 16 * len(cards)).hex()
        self.salts = [salts[i : i + 32] for i in range(0, len(salts), 32)]
        self._root = b""

    @property
    def root(self) -> bytes:
        """The deck root."""
        if not self._root:
            self._root = tree_hash(
                [
                    sha256(f"\0{self.epoch} {p} {card} {salt}".encode("ascii")).digest()
                    for p, (card, salt) in enumerate(zip(self.order, self.salts, strict=True))
                ]
            )
        return self._root


def leaf_hash(entry: bytes) -> bytes:
    """Hashes one entry of a Merkle tree. Spec: LOG-1."""
    return sha256(b"\0" + entry).digest()


def tree_hash(leaves: list[bytes]) -> bytes:
    """Gives the RFC 6962 root over hashed leaves.

    Level by level, an odd last node moves up as it is; this is the tree that splits at the largest
    power of two. Nothing is doubled and an inner node is never read as a leaf.

    Spec: DECK-2
    """
    level = leaves
    while len(level) > 1:
        pairs = [
            sha256(b"\1" + level[i] + level[i + 1]).digest() for i in range(0, len(level) - 1, 2)
        ]
        if len(level) % 2:
            pairs.append(level[-1])
        level = pairs
    return level[0] if level else sha256().digest()


def root_by_path(leaf: bytes, index: int, size: int, path: Sequence[bytes]) -> bytes | None:
    """Walks from a hashed leaf to the root, RFC 9162 2.1.3.2.

    Returns:
        The root that this leaf at this index of a tree of this size gives, or None if the path is
        not as long as it has to be.

    Spec: DECK-3, LOG-5
    """
    if index >= size:
        return None
    node, last = index, size - 1
    root = leaf
    for sibling in path:
        if last == 0:
            return None
        if node & 1 or node == last:
            root = sha256(b"\1" + sibling + root).digest()
            while not node & 1 and node:
                node >>= 1
                last >>= 1
        else:
            root = sha256(b"\1" + root + sibling).digest()
        node >>= 1
        last >>= 1
    return root if last == 0 else None
