"""RFC 6962 Merkle trees over SHA-256: one implementation, for decks and for the log.

Spec: DECK-2, LOG-1.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol, overload

from fairdeal.errors import VerificationError

_sha256 = hashlib.sha256

EMPTY_ROOT = _sha256(b"").digest()


def leaf_hash(entry: bytes) -> bytes:
    """SHA-256(0x00 || entry)."""
    return _sha256(b"\x00" + entry).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """SHA-256(0x01 || left || right)."""
    return _sha256(b"\x01" + left + right).digest()


def _parents(nodes: list[bytes]) -> list[bytes]:
    """The nodes above pairs of nodes; above a last one without a pair there is none."""
    pairs = iter(nodes)
    return [
        _sha256(b"\x01" + left + right).digest() for left, right in zip(pairs, pairs, strict=False)
    ]


class Level(Protocol):
    """The nodes of one height, of which a list is the plainest."""

    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[bytes]: ...
    @overload
    def __getitem__(self, index: int, /) -> bytes: ...
    @overload
    def __getitem__(self, index: slice, /) -> list[bytes]: ...
    def extend(self, nodes: Iterable[bytes], /) -> None:
        """Add nodes at the end."""


class Tree:
    """A tree that grows at its right edge.

    `levels[h][i]` is the hash of the full subtree over leaves `i * 2^h .. (i+1) * 2^h - 1`.
    Subtrees that are not full are hashed when asked for: there are at most log2(n) of them. Those
    of the size asked for last are kept, since a batch of receipts is for one size.
    """

    __slots__ = ("_edge", "levels")

    def __init__(self, leaves: Iterable[bytes] = ()) -> None:
        """Build over leaf hashes, in order."""
        self.levels: list[Level] = [self._level([])]
        self._edge: tuple[int, list[bytes | None], bytes] = (0, [], EMPTY_ROOT)
        self.extend(leaves)

    def __len__(self) -> int:
        """Number of leaves."""
        return len(self.levels[0])

    def extend(self, leaves: Iterable[bytes]) -> None:
        """Add leaf hashes, in order; O(1) amortised for each."""
        new = list(leaves)
        for level in self.levels:
            if not new:
                return
            unpaired = [level[-1], *new] if len(level) % 2 else new
            level.extend(new)
            new = _parents(unpaired)
        while new:
            self.levels.append(self._level(new))
            new = _parents(new)

    def _level(self, nodes: list[bytes]) -> Level:
        return nodes

    def append(self, leaf: bytes) -> None:
        """Add one leaf hash."""
        self.extend((leaf,))

    def edge(self, size: int) -> tuple[list[bytes | None], bytes]:
        """What the first `size` leaves have besides full subtrees.

        Returns:
            By height the hash of the last subtree, None if it is full; and the root.
        """
        if self._edge[0] != size:
            edge: list[bytes | None] = []
            node: bytes | None = None
            for height in range(size.bit_length()):
                edge.append(node)
                if size >> height & 1:
                    full = self.levels[height][(size >> height) - 1]
                    node = full if node is None else node_hash(full, node)
            self._edge = (size, edge, EMPTY_ROOT if node is None else node)
        return self._edge[1:]

    def root(self, size: int | None = None) -> bytes:
        """Root over the first `size` leaves (all by default)."""
        return self.edge(len(self) if size is None else size)[1]

    def _subtree(self, start: int, end: int) -> bytes:
        """Root over leaves start .. end-1; start is a multiple of a power of two >= the length."""
        node: bytes | None = None
        # The full subtrees of the range, smallest and rightmost first.
        length = end - start
        position = end
        while length:
            height = (length & -length).bit_length() - 1
            position -= 1 << height
            peak = self.levels[height][position >> height]
            node = peak if node is None else node_hash(peak, node)
            length &= length - 1
        if node is None:
            raise ValueError("an empty range has no subtree")
        return node

    def inclusion_path(self, index: int, size: int | None = None) -> list[bytes]:
        """Path of a leaf in the tree over the first `size` leaves, leaf side first."""
        end = len(self) if size is None else size
        return [node for node in self.siblings(index, end) if node is not None]

    def siblings(self, index: int, size: int, below: int | None = None) -> list[bytes | None]:
        """What stands beside a leaf's path in the tree over the first `size` leaves.

        Args:
            index: Of the leaf.
            size: It is among so many.
            below: Only heights below this one.

        Returns:
            By height, the leaf's own first; None where nothing does.

        Raises:
            ValueError: There is no such leaf.
        """
        if not 0 <= index < size <= len(self.levels[0]):
            raise ValueError("no such leaf in a tree of this size")
        found, full = [], size
        for level, partial in zip(self.levels[:below], self.edge(size)[0], strict=False):
            sibling = index ^ 1
            found.append(level[sibling] if sibling < full else partial if sibling == full else None)
            index >>= 1
            full >>= 1
        return found

    def consistency_path(self, old: int, size: int | None = None) -> list[bytes]:
        """Proof that the tree over `size` leaves extends the one over `old`. RFC 6962 2.1.2."""
        end = len(self) if size is None else size
        if not 0 < old <= end <= len(self):
            raise ValueError("no such trees")
        return [self._subtree(start, stop) for start, stop in consistency_ranges(old, end)]


def consistency_ranges(old: int, size: int) -> list[tuple[int, int]]:
    """Which ranges of leaves, start and end, a consistency proof has roots of. RFC 6962."""
    ranges: list[tuple[int, int]] = []
    start, end, complete = 0, size, True
    while old != end:
        split = start + (1 << (end - start - 1).bit_length() - 1)
        if old <= split:
            ranges.append((split, end))
            end = split
        else:
            ranges.append((start, split))
            start, complete = split, False
    if not complete:
        ranges.append((start, end))
    return ranges[::-1]


def root_from_path(leaf: bytes, index: int, size: int, path: Sequence[bytes]) -> bytes:
    """The root that a path leads to. RFC 9162 2.1.3.2.

    Raises:
        VerificationError: `path_invalid`, the path is not one of a tree of this size.
    """
    if not 0 <= index < size:
        raise VerificationError("path_invalid", "the index lies outside the tree")
    node, last = leaf, size - 1
    for sibling in path:
        if last == 0:
            raise VerificationError("path_invalid", "the path is too long")
        if index & 1 or index == last:
            node = node_hash(sibling, node)
            while not index & 1 and index:
                index >>= 1
                last >>= 1
        else:
            node = node_hash(node, sibling)
        index >>= 1
        last >>= 1
    if last:
        raise VerificationError("path_invalid", "the path is too short")
    return node


def verify_inclusion(
    leaf: bytes, index: int, size: int, path: Sequence[bytes], root: bytes
) -> None:
    """Raise unless the leaf hash is at `index` in the tree with this size and root."""
    if root_from_path(leaf, index, size, path) != root:
        raise VerificationError("path_invalid", "the path leads to another root")


def verify_consistency(
    old: int, old_root: bytes, size: int, root: bytes, path: Sequence[bytes]
) -> None:
    """Raise unless the tree (size, root) extends the tree (old, old_root). RFC 9162 2.1.4.2."""
    failure = VerificationError("not_consistent", "one tree does not extend the other")
    if not 0 < old <= size:
        raise failure
    if old == size:
        if path or old_root != root:
            raise failure
        return
    nodes = [old_root, *path] if old & (old - 1) == 0 else list(path)
    if not nodes:
        raise failure
    index, last = old - 1, size - 1
    while index & 1:
        index >>= 1
        last >>= 1
    first = second = nodes[0]
    for node in nodes[1:]:
        if last == 0:
            raise failure
        if index & 1 or index == last:
            first, second = node_hash(node, first), node_hash(node, second)
            while not index & 1 and index:
                index >>= 1
                last >>= 1
        else:
            second = node_hash(second, node)
        index >>= 1
        last >>= 1
    if last or first != old_root or second != root:
        raise failure
