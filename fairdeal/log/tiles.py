"""C2SP tlog-tiles: a log as static files. Spec: LOG-8."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from fairdeal.errors import FormatError
from fairdeal.merkle import Tree

WIDTH: Final = 256
_HEIGHT: Final = 8
_PATH: Final = re.compile(
    r"tile/(entries|[0-9]|[1-5][0-9]|6[0-3])/((?:x[0-9]{3}/){0,5}[0-9]{3})(?:\.p/([1-9][0-9]{0,2}))?",
    re.ASCII,
)


class Tile(NamedTuple):
    """Which 256 hashes (level 0..) or entries (level -1), and how many of them there are."""

    level: int
    number: int
    width: int = WIDTH

    @property
    def path(self) -> str:
        """Path below the log's prefix, such as `tile/0/x001/234.p/17`."""
        groups = [f"{self.number % 1000:03}"]
        rest = self.number // 1000
        while rest:
            groups.append(f"x{rest % 1000:03}")
            rest //= 1000
        level = "entries" if self.level < 0 else str(self.level)
        partial = "" if self.width == WIDTH else f".p/{self.width}"
        return f"tile/{level}/{'/'.join(reversed(groups))}{partial}"

    @property
    def is_partial(self) -> bool:
        """Whether it has fewer than 256 members."""
        return self.width < WIDTH

    def exists(self, size: int) -> bool:
        """Whether a log of this size has this tile."""
        full = size >> (_HEIGHT * max(self.level, 0))
        return self.number * WIDTH + self.width <= full


def parse_path(path: str) -> Tile:
    """The tile that a path below the log's prefix names, or `tile_unknown`."""
    match = _PATH.fullmatch(path)
    width = int(match[3]) if match and match[3] else WIDTH
    if match is None or (match[3] and width >= WIDTH):
        raise FormatError("tile_unknown", "there is no tile of this name")
    index = int(match[2].replace("x", "").replace("/", ""))
    tile = Tile(-1 if match[1] == "entries" else int(match[1]), index, width)
    if tile.path != path:
        raise FormatError("tile_unknown", "a tile has one name")
    return tile


def tiles_of(size: int) -> Iterator[Tile]:
    """Every tile of a log of this size, partial ones last at each level."""
    for level in (-1, *range(64 // _HEIGHT)):
        count = size >> (_HEIGHT * max(level, 0))
        for index in range(count // WIDTH):
            yield Tile(level, index)
        if count % WIDTH:
            yield Tile(level, count // WIDTH, count % WIDTH)


def hash_tile(tree: Tree, tile: Tile) -> bytes:
    """The bytes of a hash tile."""
    level = tree.levels[_HEIGHT * tile.level]
    start = tile.number * WIDTH
    return b"".join(level[start : start + tile.width])


def entry_bundle(entries: Iterable[bytes]) -> bytes:
    """The bytes of an entry bundle: big-endian uint16 length, entry, and so on."""
    return b"".join([len(entry).to_bytes(2, "big") + entry for entry in entries])


def parse_bundle(data: bytes) -> list[bytes]:
    """The entries of a bundle, or `bundle_malformed`."""
    entries, at = [], 0
    while at < len(data):
        end = at + 2 + int.from_bytes(data[at : at + 2], "big")
        if end > len(data) or at + 2 > len(data):
            raise FormatError("bundle_malformed", "the bundle is cut off")
        entries.append(data[at + 2 : end])
        at = end
    return entries
