"""The log as a client sees it: one key known from elsewhere, and one checkpoint kept."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Final

from fairdeal.errors import FairdealError, FormatError
from fairdeal.log.checkpoint import Checkpoint
from fairdeal.log.keys import LogKeys, parse_rotations
from fairdeal.log.note import VerifierKey
from fairdeal.log.proof import Receipt
from fairdeal.log.tiles import WIDTH, Tile
from fairdeal.merkle import consistency_ranges, node_hash, verify_consistency
from fairdeal_api.client.api import Api, ApiError
from fairdeal_api.client.errors import CheckError

ROTATIONS: Final = "/log/rotations"
_HEIGHT: Final = 8
FetchTile = Callable[[Tile], bytes]


class PinnedLog:
    """Accepts receipts of one log, as long as that log only grows.

    A log that shows two players different contents must sign two heads of which neither extends the
    other. Each checkpoint is therefore held against the last one that was kept: both are under the
    log's signature, so a pair that does not fit is a proof of its fault.
    """

    def __init__(self, api: Api, key: VerifierKey, kept: str | None = None) -> None:
        """Follow a log.

        Args:
            api: Where its tiles are.
            key: Whose signature counts. It must not come from the service.
            kept: The signed checkpoint that was kept last, if there is one.
        """
        self.keys = LogKeys(key)
        """The pinned key, and those that the log's rotations lead to from it."""
        self.kept = kept
        self._key, self._api = key, api

    def knows(self, vkey: str) -> bool:
        """Whether a vkey is the pinned key, or one that it leads to. Spec: LOG-32."""
        return any(str(key) == vkey for key in self.keys) or (
            self._learn() and any(str(key) == vkey for key in self.keys)
        )

    def _learn(self) -> bool:
        """Ask for the rotations; whether they lead somewhere new from the pinned key.

        They need no trust: the key that is trusted has signed the next one.
        """
        try:
            found = parse_rotations(json.loads(self._api.content(ROTATIONS)))
        except ApiError as error:
            if error.retryable:
                raise  # who cannot be reached has not said that there are none
            return False
        except (FairdealError, ValueError):
            return False
        if found is None or self._key not in found or found == self.keys:
            return False
        self.keys = found
        return True

    def _open(self, note: str) -> Checkpoint:
        try:
            return self.keys.open(note)
        except FairdealError:
            if not self._learn():
                raise
            return self.keys.open(note)

    def accept(self, receipt: str, entry: bytes) -> Checkpoint:
        """Check a receipt for an entry, and keep its checkpoint if it is the newer one.

        Raises:
            CheckError: The receipt is not one of this entry under the pinned key, or its
                checkpoint and the kept one do not belong to one log. Spec: OPEN-1.
            ApiError: The log cannot be reached to find out. Nothing is accepted, or accused.
        """
        try:
            parsed = Receipt.parse(receipt)
            checkpoint = self._open(parsed.note)
            parsed.verify(entry, self.keys.at(checkpoint.size))
        except FairdealError as error:
            evidence = {"entry": entry.decode("ascii"), "receipt": receipt}
            what = "a receipt does not show that the log holds this step"
            raise CheckError.of(error, what, evidence) from error
        if self.kept is None:
            self.kept = parsed.note
            return checkpoint
        kept = self._open(self.kept)
        old, new = sorted((kept, checkpoint), key=lambda each: each.size)
        try:
            path = consistency_path(old.size, new.size, self._fetch) if old.size else []
            if old.size:
                verify_consistency(old.size, old.root, new.size, new.root, path)
        except (FairdealError, ApiError) as error:
            if isinstance(error, ApiError) and error.retryable:
                raise
            # Tiles that are refused prove nothing, and are no reason to go on either.
            evidence = {"kept": self.kept, "got": parsed.note, "why": str(error)}
            raise CheckError(
                "not_consistent", "a checkpoint does not extend the one kept before", evidence
            ) from error
        if new is checkpoint:
            self.kept = parsed.note
        return checkpoint

    def _fetch(self, tile: Tile) -> bytes:
        try:
            return self._api.content(f"/log/{tile.path}")
        except ApiError as error:
            if error.status != 404 or not tile.is_partial:
                raise
            # Once a tile is full, a log may forget its partial ones.
            return self._api.content(f"/log/{tile._replace(width=WIDTH).path}")


def consistency_path(old: int, size: int, fetch: FetchTile) -> list[bytes]:
    """The proof that the tree over `size` entries extends the one over `old`. RFC 6962 2.1.2.

    The tiles need no trust: a proof made of wrong hashes does not lead to the two signed roots.

    Args:
        old: Number of entries then, at least 1.
        size: Number of entries now.
        fetch: From tile to its bytes, level 0 and up.
    """
    nodes = _Nodes(size, fetch)
    return [nodes.subtree(start, end) for start, end in consistency_ranges(old, size)]


class _Nodes:
    """Inner nodes of a tree of one size, computed from its tiles. Spec: LOG-8."""

    def __init__(self, size: int, fetch: FetchTile) -> None:
        self._size = size
        self._fetch = fetch
        self._tiles: dict[Tile, bytes] = {}

    def subtree(self, start: int, end: int) -> bytes:
        """Root over leaves start .. end-1, as RFC 6962 splits them."""
        length = end - start
        if length & (length - 1) == 0:
            return self._full(length.bit_length() - 1, start)
        split = start + (1 << (length - 1).bit_length() - 1)
        return node_hash(self.subtree(start, split), self.subtree(split, end))

    def _full(self, height: int, start: int) -> bytes:
        """Root of the full subtree of 2^height leaves that begins with leaf `start`."""
        level, rest = divmod(height, _HEIGHT)
        first = start >> (_HEIGHT * level)
        number, offset = divmod(first, WIDTH)
        row = [self._hash(level, number, offset + i) for i in range(1 << rest)]
        while len(row) > 1:
            row = [node_hash(row[i], row[i + 1]) for i in range(0, len(row), 2)]
        return row[0]

    def _hash(self, level: int, number: int, offset: int) -> bytes:
        there = (self._size >> (_HEIGHT * level)) - number * WIDTH
        tile = Tile(level, number, min(there, WIDTH))
        if tile not in self._tiles:
            self._tiles[tile] = self._fetch(tile)
        found = self._tiles[tile][32 * offset : 32 * offset + 32]
        if len(found) != 32:
            raise FormatError("tile_malformed", "a tile is shorter than its name says")
        return found
