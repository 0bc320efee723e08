"""RFC 6962 trees against its own recursive definitions, and proofs that must not pass.

Spec: DECK-2, DECK-3, LOG-1, LOG-5.
"""

from itertools import pairwise, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairdeal.errors import VerificationError
from fairdeal.merkle import (
    EMPTY_ROOT,
    Tree,
    leaf_hash,
    node_hash,
    root_from_path,
    verify_consistency,
    verify_inclusion,
)
from tests.core import naive

SIZE = 70
ENTRIES = [b"entry %d" % n for n in range(SIZE)]
LEAVES = [leaf_hash(entry) for entry in ENTRIES]
TREE = Tree(LEAVES)
ROOTS = [naive.mth(ENTRIES[:size]) for size in range(SIZE + 1)]
CONSISTENCY = 40

# The tree of the certificate-transparency project's own tests: eight entries, and its roots.
CT_ENTRIES = [
    "",
    "00",
    "10",
    "2021",
    "3031",
    "40414243",
    "5051525354555657",
    bytes(range(96, 112)).hex(),
]
CT_ROOTS = [
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
]
CT_PATHS = [  # leaf, size, path, all counted from 1 in those tests; here from 0
    (0, 1, []),
    (
        0,
        8,
        [
            "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7",
            "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
            "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4",
        ],
    ),
    (
        5,
        8,
        [
            "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
            "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
            "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
        ],
    ),
    (2, 3, ["fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125"]),
    (
        1,
        5,
        [
            "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
            "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
            "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
        ],
    ),
]


def holds(verify, *args) -> bool:
    try:
        verify(*args)
    except VerificationError:
        return False
    return True


def included(leaf, index, size, path, root):
    return holds(verify_inclusion, leaf, index, size, path, root)


def consistent(old, old_root, size, root, path):
    return holds(verify_consistency, old, old_root, size, root, path)


def test_known_trees():
    entries = [bytes.fromhex(text) for text in CT_ENTRIES]
    tree = Tree(map(leaf_hash, entries))
    assert EMPTY_ROOT.hex() == ("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
    assert [tree.root(size).hex() for size in range(1, 9)] == CT_ROOTS
    assert [naive.mth(entries[:size]).hex() for size in range(1, 9)] == CT_ROOTS
    for index, size, path in CT_PATHS:
        assert [node.hex() for node in tree.inclusion_path(index, size)] == path


def test_roots_are_the_definition_s():
    assert Tree().root() == EMPTY_ROOT == ROOTS[0]
    for size in range(SIZE + 1):
        assert TREE.root(size) == ROOTS[size]
        assert Tree(LEAVES[:size]).root() == ROOTS[size]


def test_a_tree_that_grew_is_the_tree():
    grown = Tree()
    for size, leaf in enumerate(LEAVES):
        assert len(grown) == size
        assert grown.root() == ROOTS[size]
        grown.append(leaf)
    assert grown.levels == TREE.levels


@pytest.mark.parametrize("step", range(1, 12))
def test_a_tree_that_grew_by_many_at_a_time_is_the_tree(step):
    grown, sizes = Tree(), [*range(0, SIZE, step), SIZE]
    for start, end in pairwise(sizes):
        grown.extend(iter(LEAVES[start:end]))
        grown.extend([])
        assert grown.levels == Tree(LEAVES[:end]).levels
        assert [grown.root(size) for size in range(end + 1)] == ROOTS[: end + 1]


@pytest.mark.parametrize("size", range(1, SIZE + 1))
def test_siblings_are_the_path_with_its_gaps(size):
    for index in range(size):
        found = TREE.siblings(index, size)
        assert [node for node in found if node] == naive.path(index, ENTRIES[:size])
        assert len(found) == size.bit_length()
        for below in range(len(found) + 2):
            assert TREE.siblings(index, size, below) == found[:below]


@pytest.mark.parametrize(("index", "size"), [(-1, 3), (3, 3), (0, 0), (0, SIZE + 1)])
def test_there_is_no_path_without_a_leaf(index, size):
    for asked in (TREE.siblings, TREE.inclusion_path):
        with pytest.raises(ValueError, match="no such leaf"):
            asked(index, size)


def test_what_is_kept_of_a_size_is_of_that_size():
    """A tree keeps the right edge of the size asked for last; then it grows."""
    grown = Tree()
    for size, leaf in enumerate(LEAVES, 1):
        for asked in (size - 1, (size + 1) // 2, size - 1):
            if 0 < asked < size:
                assert grown.root(asked) == ROOTS[asked]
                assert grown.inclusion_path(0, asked) == naive.path(0, ENTRIES[:asked])
        grown.append(leaf)
        assert grown.root() == ROOTS[size]
        assert grown.inclusion_path(0) == naive.path(0, ENTRIES[:size])


@pytest.mark.parametrize("size", range(1, SIZE + 1))
def test_every_path_is_the_definition_s_and_leads_to_the_root(size):
    for index in range(size):
        path = naive.path(index, ENTRIES[:size])
        assert TREE.inclusion_path(index, size) == path
        assert root_from_path(LEAVES[index], index, size, path) == ROOTS[size]
        assert included(LEAVES[index], index, size, path, ROOTS[size])


@pytest.mark.parametrize("size", range(1, SIZE + 1))
def test_no_changed_path_leads_to_the_root(size):
    """F27: another leaf, place, size, root, node, side, order; one node more or less."""
    root = ROOTS[size]
    for index in range(size):
        leaf, path = LEAVES[index], TREE.inclusion_path(index, size)
        for other in {*range(size)} - {index}:
            assert not included(leaf, other, size, path, root)
        for i, node in enumerate(path):
            flipped = bytes([node[0] ^ 1]) + node[1:]
            assert not included(leaf, index, size, [*path[:i], flipped, *path[i + 1 :]], root)
            assert not included(leaf, index, size, path[:i] + path[i + 1 :], root)
            assert not included(leaf, index, size, [*path[:i], node, *path[i:]], root)
            # The side swapped: what stands on the left is proved as if it stood on the right.
            assert not included(leaf, index ^ 1 << i, size, path, root)
            assert not included(node, index, size, [*path[:i], leaf, *path[i + 1 :]], root)
        if len(path) > 1:
            assert not included(leaf, index, size, path[::-1], root)
        assert not included(leaf, index, size, [*path, root], root)
        assert not included(leaf, index, size, [*path, bytes(32)], root)
        assert not included(root, index, size, path, root) or size == 1
        assert not included(LEAVES[index - 1], index, size, path, root) or size == 1
        assert not included(leaf, index, size, path, ROOTS[size - 1])
        assert not included(leaf, -1, size, path, root)
        assert not included(leaf, size, size, path, root)
        assert not included(leaf, index - size, size, path, root)
        assert not included(leaf, 1 << 70, size, path, root)
        assert not included(leaf, index, 0, path, root)


def test_a_path_has_one_length(refused):
    """No root at all comes of a path that is too long or too short, nor of a leaf outside."""
    for size in range(1, SIZE + 1):
        for index in range(size):
            path = TREE.inclusion_path(index, size)
            for other in (path[:-1] if path else [bytes(32)], [*path, bytes(32)], path * 2 + path):
                if other != path:
                    with refused("path_invalid", kind=VerificationError):
                        root_from_path(LEAVES[index], index, size, other)
        for outside in (-1, size, size + 1):
            with refused("path_invalid", kind=VerificationError):
                root_from_path(LEAVES[0], outside, size, TREE.inclusion_path(0, size))


def test_other_sizes_are_refused():
    """The tree's size comes from the rules (DECK-3): under another one no path fits this root.

    Two sizes may share the shape of a path; then it is the root, bound to its size, that differs.
    """
    for size, claimed in product(range(1, 41), repeat=2):
        if size == claimed:
            continue
        for index in range(min(size, claimed)):
            path = TREE.inclusion_path(index, size)
            same_shape = len(TREE.inclusion_path(index, claimed)) == len(path)
            if not same_shape:
                assert not included(LEAVES[index], index, claimed, path, ROOTS[size])
            assert not included(LEAVES[index], index, claimed, path, ROOTS[claimed])


def test_no_inner_node_is_a_leaf():
    """F27: neither as a leaf hash with the rest of its path, nor as the entry that hashes to it."""
    for height, level in enumerate(TREE.levels[1:], 1):
        for i, node in enumerate(level):
            path = TREE.inclusion_path(i << height)[height:]
            for index in (i, i << height):
                assert not included(node, index, SIZE, path, ROOTS[SIZE])
            left, right = TREE.levels[height - 1][2 * i : 2 * i + 2]
            assert node == node_hash(left, right)
            assert node not in (leaf_hash(left + right), leaf_hash(b"\x01" + left + right))
    assert not included(ROOTS[SIZE], 0, SIZE, [], ROOTS[SIZE])


def test_a_doubled_last_leaf_is_another_tree():
    """F27: trees that pad by doubling have two sizes with one root. These have not."""
    for size in range(1, SIZE):
        assert Tree([*LEAVES[:size], LEAVES[size - 1]]).root() != ROOTS[size]


@pytest.mark.parametrize("size", range(1, CONSISTENCY + 1))
def test_consistency(size):
    for old in range(1, size + 1):
        path = TREE.consistency_path(old, size)
        assert path == naive.proof(old, ENTRIES[:size])
        assert consistent(old, ROOTS[old], size, ROOTS[size], path)


@pytest.mark.parametrize("size", range(1, CONSISTENCY + 1))
def test_no_changed_consistency_proof_holds(size):
    for old in range(1, size + 1):
        path = TREE.consistency_path(old, size)
        first, second = ROOTS[old], ROOTS[size]
        for i, node in enumerate(path):
            flipped = bytes([node[0] ^ 1]) + node[1:]
            assert not consistent(old, first, size, second, [*path[:i], flipped, *path[i + 1 :]])
            assert not consistent(old, first, size, second, path[:i] + path[i + 1 :])
            assert not consistent(old, first, size, second, [*path[:i], node, *path[i:]])
        for extra in (first, second, bytes(32)):
            assert not consistent(old, first, size, second, [*path, extra])
            assert not consistent(old, first, size, second, [extra, *path])
        other = Tree([leaf_hash(b"other"), *LEAVES[1:size]])
        assert not consistent(old, other.root(old), size, second, path)
        assert not consistent(old, first, size, other.root(), path)
        assert not consistent(old, first, size, other.root(), other.consistency_path(old))
        assert not consistent(old, second, size, first, path) or old == size
        if old != size:
            assert not consistent(old, first, size, second, [])
            assert not consistent(size, second, old, first, path)
            assert not consistent(0, EMPTY_ROOT, size, second, path)
            assert not consistent(-old, first, size, second, path)


def test_a_tree_is_consistent_with_itself_without_a_proof():
    assert consistent(7, ROOTS[7], 7, ROOTS[7], [])
    assert not consistent(7, ROOTS[7], 7, ROOTS[7], [ROOTS[7]])
    assert not consistent(7, ROOTS[7], 7, ROOTS[8], [])


@pytest.mark.parametrize(
    ("proof", "args"),
    [
        ("inclusion_path", (-1,)),
        ("inclusion_path", (SIZE,)),
        ("inclusion_path", (5, 5)),
        ("inclusion_path", (0, SIZE + 1)),
        ("inclusion_path", (0, 0)),
        ("consistency_path", (0,)),
        ("consistency_path", (-1,)),
        ("consistency_path", (6, 5)),
        ("consistency_path", (1, SIZE + 1)),
    ],
)
def test_there_is_no_proof_of_what_is_not(proof, args):
    with pytest.raises(ValueError, match="no such"):
        getattr(TREE, proof)(*args)


nodes = st.lists(st.sampled_from(LEAVES[:3] + ROOTS[:5]) | st.binary(max_size=40), max_size=9)
numbers = st.integers(-2, 12) | st.integers()


@given(st.sampled_from(LEAVES), numbers, numbers, nodes, st.sampled_from(ROOTS))
def test_no_path_raises_anything_else(leaf, index, size, path, root):
    if included(leaf, index, size, path, root):
        assert naive.path(index, ENTRIES[:size]) == path
        assert ROOTS[size] == root


@given(numbers, numbers, nodes, st.sampled_from(ROOTS), st.sampled_from(ROOTS))
def test_no_consistency_proof_raises_anything_else(old, size, path, old_root, root):
    if consistent(old, old_root, size, root, path):
        same = (old, old_root, path) == (size, root, [])
        assert same or (old_root, root) == (ROOTS[old], ROOTS[size])
