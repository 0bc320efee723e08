"""The log's tree: as any other, in a third of the memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final, overload

from fairdeal.log.tiles import WIDTH
from fairdeal.merkle import Tree

_HASH: Final = 32
_AT_ONCE: Final = 16 * WIDTH


class _Packed:
    """A level of a long tree: as many hashes as a tile has are one piece of bytes.

    An object for each hash would take 73 bytes of memory, and not 32.
    """

    __slots__ = ("_full", "_rest")

    def __init__(self, nodes: Iterable[bytes]) -> None:
        self._full: list[bytes] = []
        self._rest: list[bytes] = []
        self.extend(nodes)

    def __len__(self) -> int:
        return len(self._full) * WIDTH + len(self._rest)

    def __iter__(self) -> Iterator[bytes]:
        return map(self.__getitem__, range(len(self)))

    def extend(self, nodes: Iterable[bytes]) -> None:
        """Add hashes at the end."""
        rest = self._rest
        rest.extend(nodes)
        if len(rest) >= WIDTH:
            ends = range(WIDTH, len(rest) + 1, WIDTH)
            self._full.extend([b"".join(rest[end - WIDTH : end]) for end in ends])
            del rest[: len(ends) * WIDTH]

    @overload
    def __getitem__(self, index: int) -> bytes: ...
    @overload
    def __getitem__(self, index: slice) -> list[bytes]: ...
    def __getitem__(self, index: int | slice) -> bytes | list[bytes]:
        if isinstance(index, slice):
            return [self[one] for one in range(*index.indices(len(self)))]
        if index < 0:
            index += len(self)
            if index < 0:
                raise IndexError(index)
        tile, place = divmod(index, WIDTH)
        if tile == len(self._full):
            return self._rest[place]
        return self._full[tile][_HASH * place : _HASH * (place + 1)]


class LogTree(Tree):
    """A tree that grows to millions of leaves: 64 bytes of memory for each."""

    __slots__ = ()

    def extend(self, leaves: Iterable[bytes]) -> None:
        """Add leaf hashes, in order, of which few are looked at at a time."""
        left = iter(leaves)
        while some := list(islice(left, _AT_ONCE)):
            super().extend(some)

    def _level(self, nodes: list[bytes]) -> _Packed:
        return _Packed(nodes)
