"""The tree of a folder against the core's. Spec: AUD-1, AUD-5."""

from __future__ import annotations

import random

import pytest

from fairdeal.log.tiles import tiles_of
from fairdeal.merkle import leaf_hash
from fairdeal_audit.tiles import (
    WIDTH,
    Folder,
    IncompleteError,
    levels,
    parse_bundle,
    roots_by_consistency,
    tile_path,
    tiles_at,
)
from fairdeal_verifier.primitives import root_by_path
from seeds.local import Book
from tests.audit.generate import write_book

SIZES = (1, 2, 3, 255, 256, 257, 511, 512, 513, 1000, 65_536, 66_000)


@pytest.fixture(scope="module")
def big(tmp_path_factory):
    book = Book("audit.example/log")
    for at in range(max(SIZES)):
        book.append(b"entry %d" % at)
    folder = tmp_path_factory.mktemp("big")
    write_book(book, folder)
    return book, folder


@pytest.mark.parametrize("size", SIZES)
def test_names_are_those_of_the_core(size):
    ours = {tile_path("entries", *one) for one in tiles_at(0, size)}
    ours |= {tile_path(level, *one) for level in levels(size) for one in tiles_at(level, size)}
    assert ours == {tile.path for tile in tiles_of(size)}


def test_names_of_large_numbers():
    assert tile_path(0, 1_234_067) == "tile/0/x001/x234/067"
    assert tile_path("entries", 1000, 17) == "tile/entries/x001/000.p/17"


@pytest.mark.parametrize("size", SIZES)
def test_roots_and_paths_are_those_of_the_core(big, size):
    book, folder = big
    tree = Folder(folder, size)
    assert tree.root() == book.tree.root(size)
    chance = random.Random(size)
    for index in {0, size - 1, chance.randrange(size)}:
        path = tree.inclusion(index)
        assert path == list(book.tree.inclusion_path(index, size))
        assert root_by_path(leaf_hash(book.entries[index]), index, size, path) == tree.root()
        assert tree.entry(index) == book.entries[index]
    for smaller in {1, size // 2, size - 1, chance.randrange(size)} - {0, size}:
        nodes = tree.consistency(smaller)
        both = (book.tree.root(smaller), book.tree.root(size))
        assert roots_by_consistency(smaller, size, nodes) == both
        assert roots_by_consistency(smaller, size, nodes[:-1]) is None
        assert roots_by_consistency(smaller, size, [*nodes, bytes(32)]) is None
        for at in range(len(nodes)):
            changed = [*nodes[:at], bytes(32), *nodes[at + 1 :]]
            found = roots_by_consistency(smaller, size, changed)
            assert found is None or found[1] != both[1]


@pytest.mark.parametrize(("smaller", "larger"), [(0, 3), (3, 3), (4, 3)])
def test_sizes_between_which_there_is_nothing(smaller, larger):
    assert roots_by_consistency(smaller, larger, [bytes(32)]) is None


def test_a_whole_folder_passes(big):
    folder = Folder(big[1], max(SIZES))
    folder.check()
    for number, _ in tiles_at(0, max(SIZES)):
        folder.bundle(number)


@pytest.mark.parametrize("name", ["tile/1/000", "tile/0/003", "tile/2/000.p/1", "tile/1/001.p/1"])
def test_control_a_changed_hash_is_found(big, name, tmp_path):
    book = Book("audit.example/log")
    book.entries, book.tree = big[0].entries, big[0].tree
    write_book(book, tmp_path)
    path = tmp_path / name
    data = bytearray(path.read_bytes())
    data[5] ^= 1
    path.write_bytes(data)
    with pytest.raises(IncompleteError, match="is not what lies below it"):
        Folder(tmp_path, max(SIZES)).check()


def test_a_bundle_is_read_as_it_was_written():
    assert parse_bundle(b"") == []
    assert parse_bundle(b"\0\1a\0\0\0\2bc") == [b"a", b"", b"bc"]
    for cut in (b"\0", b"\0\2a", b"\0\1a\0"):
        with pytest.raises(IncompleteError):
            parse_bundle(cut)
    assert WIDTH == 256
