"""The log's tree packs its hashes; what it says is what any tree says. Spec: LOG-1, LOG-8."""

import random
import tracemalloc
from collections.abc import Callable, Iterator
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairdeal.log.tiles import WIDTH, hash_tile, tiles_of
from fairdeal.log.tree import LogTree
from fairdeal.merkle import Tree, leaf_hash

SIZE = WIDTH * (WIDTH + 2) + 3
"""Some tiles of the second level are full, and none of the levels ends with a tile."""
LEAVES = [leaf_hash(b"%d" % n) for n in range(SIZE)]
PLAIN = Tree(LEAVES)
EDGES = [1, 2, 255, 256, 257, 511, 512, 513, 4095, 4096, 4097, 65_535, 65_536, 65_537, SIZE]


def grown(seed: int) -> LogTree:
    """The tree, grown by batches of any length, an empty one among them."""
    rng, left, tree = random.Random(seed), iter(LEAVES), LogTree()
    while len(tree) < SIZE:
        tree.extend(islice(left, rng.choice((0, 1, 2, 16, 255, 256, 257, 5000))))
    return tree


PACKED = grown(1)


@pytest.mark.parametrize("seed", [2, 3])
def test_batches_do_not_matter(seed: int) -> None:
    other = grown(seed)
    assert [list(level) for level in other.levels] == [list(level) for level in PLAIN.levels]
    assert len(other) == SIZE


@given(st.one_of(st.sampled_from(EDGES), st.integers(1, SIZE)), st.data())
def test_roots_and_proofs(size: int, data: st.DataObject) -> None:
    index, old = data.draw(st.integers(0, size - 1)), data.draw(st.integers(1, size))
    assert PACKED.root(size) == PLAIN.root(size)
    assert PACKED.inclusion_path(index, size) == PLAIN.inclusion_path(index, size)
    assert PACKED.consistency_path(old, size) == PLAIN.consistency_path(old, size)


@given(
    st.sampled_from([0, 1, 7, 8, 9, 16]),
    st.one_of(st.none(), st.integers(-SIZE - 2, SIZE + 2)),
    st.one_of(st.none(), st.integers(-300, 600)),
)
def test_parts_of_levels(height: int, start: int | None, length: int | None) -> None:
    part = slice(start, None if start is None or length is None else start + length)
    if start is None:
        part = slice(-300, None)
    packed, plain = PACKED.levels[height], PLAIN.levels[height]
    assert packed[part] == plain[part]
    for index in (0, -1, len(plain) - 1, -len(plain)):
        assert packed[index] == plain[index]
    for index in (len(plain), -len(plain) - 1):
        with pytest.raises(IndexError):
            packed[index]


def test_tiles() -> None:
    for tile in tiles_of(SIZE):
        if tile.level >= 0:
            assert hash_tile(PACKED, tile) == hash_tile(PLAIN, tile)


def _memory(make: Callable[[], Tree]) -> int:
    tracemalloc.start()
    try:
        tree = make()
        return tracemalloc.get_traced_memory()[0] // len(tree)
    finally:
        tracemalloc.stop()


def test_memory() -> None:
    """Two nodes a leaf, and little else; the plain tree is the control."""

    def leaves() -> Iterator[bytes]:
        return (leaf_hash(b"%d" % n) for n in range(20_000))

    assert _memory(lambda: LogTree(leaves())) < 80
    assert _memory(lambda: Tree(leaves())) > 140
