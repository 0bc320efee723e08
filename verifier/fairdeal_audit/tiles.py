"""A folder that holds a log as tiles: entries, and every hash of the tree. Spec: LOG-8, AUD-1."""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from hashlib import sha256
from pathlib import Path

from fairdeal_verifier.primitives import leaf_hash, tree_hash

WIDTH = 256
HASH = 32
_HEIGHT = 8
_TILES_KEPT = 64


class IncompleteError(Exception):
    """Something of the log is not there, or is not what its checkpoint says."""


def tile_path(level: int | str, number: int, width: int = WIDTH) -> str:
    """Names a tile; the level is `entries` for a bundle."""
    groups = [f"{number % 1000:03}"]
    rest = number // 1000
    while rest:
        groups.append(f"x{rest % 1000:03}")
        rest //= 1000
    partial = "" if width == WIDTH else f".p/{width}"
    return f"tile/{level}/{'/'.join(reversed(groups))}{partial}"


def tiles_at(level: int, size: int, start: int = 0) -> Iterator[tuple[int, int]]:
    """Gives number and width of a level's tiles from one on, in a log of a size."""
    count = size >> (_HEIGHT * level)
    for number in range(start, count // WIDTH):
        yield number, WIDTH
    if count % WIDTH:
        yield count // WIDTH, count % WIDTH


def levels(size: int) -> Iterator[int]:
    """Gives the levels of hash tiles that a log of a size has."""
    level = 0
    while size >> (_HEIGHT * level):
        yield level
        level += 1


def parse_bundle(data: bytes) -> list[bytes]:
    """Reads the entries of a bundle.

    Raises:
        IncompleteError: It is cut off.
    """
    entries, at = [], 0
    while at < len(data):
        end = at + 2 + int.from_bytes(data[at : at + 2], "big")
        if end > len(data):
            raise IncompleteError("a bundle of entries is cut off")
        entries.append(data[at + 2 : end])
        at = end
    return entries


def node_hash(left: bytes, right: bytes) -> bytes:
    """Hashes two nodes of the tree."""
    return sha256(b"\1" + left + right).digest()


class Folder:
    """A log of a size in a folder.

    Attributes:
        path: The folder.
        size: How many entries of it are looked at.
    """

    def __init__(self, path: Path, size: int) -> None:
        """Takes the folder; nothing is read yet."""
        self.path = path
        self.size = size
        self._tile = lru_cache(maxsize=_TILES_KEPT)(self._read_tile)
        self._bundle = lru_cache(maxsize=4)(self._read_bundle)

    def _width(self, level: int, number: int) -> int:
        return min(WIDTH, (self.size >> (_HEIGHT * level)) - number * WIDTH)

    def _read(self, level: int | str, number: int, width: int) -> bytes:
        """Reads a tile, or the beginning of a fuller one."""
        for name in (tile_path(level, number, width), tile_path(level, number)):
            try:
                return (self.path / name).read_bytes()
            except FileNotFoundError:
                continue
        raise IncompleteError(f"{tile_path(level, number, width)} is not in the folder")

    def _read_tile(self, level: int, number: int) -> bytes:
        width = self._width(level, number)
        data = self._read(level, number, width)[: HASH * width]
        if len(data) != HASH * width:
            raise IncompleteError(f"{tile_path(level, number, width)} is cut off")
        return data

    def _read_bundle(self, number: int) -> list[bytes]:
        width = self._width(0, number)
        entries = parse_bundle(self._read("entries", number, width))[:width]
        if len(entries) != width:
            raise IncompleteError(f"{tile_path('entries', number, width)} is cut off")
        return entries

    def entry(self, index: int) -> bytes:
        """Gives one entry."""
        return self._bundle(index // WIDTH)[index % WIDTH]

    def entries(self, number: int) -> list[bytes]:
        """Gives the entries of a bundle as they lie there."""
        return self._read_bundle(number)

    def bundle(self, number: int) -> list[bytes]:
        """Gives the entries of a bundle, which hash to what the tree has.

        Raises:
            IncompleteError: They do not, or are not all there.
        """
        entries = self._read_bundle(number)
        if b"".join([leaf_hash(entry) for entry in entries]) != self._tile(0, number):
            raise IncompleteError(f"the entries of bundle {number} are not those of its hash tile")
        return entries

    def node(self, level: int, number: int) -> bytes:
        """Gives the hash above 2^level leaves, all of which must be there."""
        if level % _HEIGHT == 0:
            tile = self._tile(level // _HEIGHT, number // WIDTH)
            at = HASH * (number % WIDTH)
            return tile[at : at + HASH]
        return node_hash(self.node(level - 1, 2 * number), self.node(level - 1, 2 * number + 1))

    def range_hash(self, start: int, end: int) -> bytes:
        """Gives the tree hash of some entries, as RFC 6962 2.1 splits them."""
        count = end - start
        if count == 0:
            return sha256().digest()
        level = count.bit_length() - 1
        if count == 1 << level and start % count == 0:
            return self.node(level, start >> level)
        split = _split(count)
        return node_hash(self.range_hash(start, start + split), self.range_hash(start + split, end))

    def root(self, size: int | None = None) -> bytes:
        """Gives the root at a size."""
        return self.range_hash(0, self.size if size is None else size)

    def inclusion(self, index: int, size: int | None = None) -> list[bytes]:
        """Gives the path of an entry in the tree of a size, RFC 6962 2.1.1."""
        path: list[bytes] = []
        start, end = 0, self.size if size is None else size
        while end - start > 1:
            middle = start + _split(end - start)
            if index < middle:
                path.append(self.range_hash(middle, end))
                end = middle
            else:
                path.append(self.range_hash(start, middle))
                start = middle
        return path[::-1]

    def consistency(self, whole: int, larger: int | None = None) -> list[bytes]:
        """Gives the nodes from a size to a larger one, the first always written. Spec: AUD-5."""
        nodes: list[bytes] = []
        start, end = 0, self.size if larger is None else larger
        while whole != end:
            middle = start + _split(end - start)
            if whole <= middle:
                nodes.append(self.range_hash(middle, end))
                end = middle
            else:
                nodes.append(self.range_hash(start, middle))
                start = middle
        return [self.range_hash(start, end), *nodes[::-1]]

    def check(self, start: int = 0) -> None:
        """Checks hash tiles from an entry on: a hash of an upper one is that of a full lower one.

        Raises:
            IncompleteError: One is not, or is missing.

        Spec: AUD-1
        """
        for level in levels(self.size):
            if level == 0:
                continue
            first = start >> (_HEIGHT * (level + 1))
            for number, width in tiles_at(level, self.size, first):
                tile = self._tile(level, number)
                for at in range(width):
                    below = self._read_tile(level - 1, number * WIDTH + at)
                    if tree_hash(hashes(below)) != tile[HASH * at : HASH * at + HASH]:
                        raise IncompleteError(
                            f"{tile_path(level, number, width)} is not what lies below it"
                        )


def hashes(tile: bytes) -> list[bytes]:
    """Splits a hash tile."""
    return [tile[at : at + HASH] for at in range(0, len(tile), HASH)]


def _split(count: int) -> int:
    """Gives the largest power of two below a count."""
    return 1 << ((count - 1).bit_length() - 1)


def roots_by_consistency(
    smaller: int, larger: int, nodes: Sequence[bytes]
) -> tuple[bytes, bytes] | None:
    """Walks RFC 9162 2.1.4.2 with the first node written out.

    Returns:
        The roots of both sizes that the nodes give, or None if they are not as many as they have
        to be.

    Spec: AUD-5
    """
    if not 0 < smaller < larger or not nodes:
        return None
    node, last = smaller - 1, larger - 1
    while node & 1:
        node >>= 1
        last >>= 1
    old = new = nodes[0]
    for sibling in nodes[1:]:
        if last == 0:
            return None
        if node & 1 or node == last:
            old, new = node_hash(sibling, old), node_hash(sibling, new)
            while not node & 1 and node:
                node >>= 1
                last >>= 1
        else:
            new = node_hash(new, sibling)
        node >>= 1
        last >>= 1
    return (old, new) if last == 0 else None
