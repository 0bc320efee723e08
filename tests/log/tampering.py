"""Eight ways to tamper with a log of files: what a third party must see, and by what."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

from fairdeal.log.checkpoint import Checkpoint
from fairdeal.log.note import SigningKey
from fairdeal.log.tiles import Tile, entry_bundle, hash_tile, parse_bundle, tiles_of
from fairdeal.merkle import Tree, leaf_hash

AT = 300
"""The entry that is tampered with. Its tile is full, so the tile above has a hash of it."""
_TILE, _PLACE = divmod(AT, 256)

Tampering = Callable[[Path, SigningKey], None]


def flipped(data: bytes, at: int) -> bytes:
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]


def _bundle(folder: Path, change: Callable[[list[bytes]], None]) -> None:
    path = folder / Tile(-1, _TILE).path
    entries = parse_bundle(path.read_bytes())
    change(entries)
    path.write_bytes(entry_bundle(entries))


def _flip(entries: list[bytes]) -> None:
    entries[_PLACE] = flipped(entries[_PLACE], 40)


def _swap(entries: list[bytes]) -> None:
    entries[_PLACE : _PLACE + 2] = entries[_PLACE + 1], entries[_PLACE]


def entry(folder: Path, _: SigningKey) -> None:
    """A bit of an entry."""
    _bundle(folder, _flip)


def entry_and_leaf(folder: Path, _: SigningKey) -> None:
    """A bit of an entry, and the hash of its leaf with it."""
    _bundle(folder, _flip)
    changed = parse_bundle((folder / Tile(-1, _TILE).path).read_bytes())[_PLACE]
    path = folder / Tile(0, _TILE).path
    data = path.read_bytes()
    path.write_bytes(data[: 32 * _PLACE] + leaf_hash(changed) + data[32 * _PLACE + 32 :])


def upper_tile(folder: Path, _: SigningKey) -> None:
    """A bit of a hash in the tile above."""
    path = folder / Tile(1, 0, 3).path
    path.write_bytes(flipped(path.read_bytes(), 32 * _TILE))


def root(folder: Path, _: SigningKey) -> None:
    """Another root, under the old signature."""
    text = (folder / "checkpoint").read_text("utf-8").split("\n")
    text[2] = ("A" if text[2][0] != "A" else "B") + text[2][1:]
    (folder / "checkpoint").write_text("\n".join(text), "utf-8")


def other_key(folder: Path, key: SigningKey) -> None:
    """The same checkpoint, signed by a key of the same name."""
    path = folder / "checkpoint"
    checkpoint = Checkpoint.open(path.read_text("utf-8"), key.verifier)
    path.write_text(checkpoint.sign(SigningKey(key.name, bytes(range(32)))), "utf-8")


def cut(folder: Path, _: SigningKey) -> None:
    """A bundle without its last byte."""
    path = folder / Tile(-1, _TILE).path
    path.write_bytes(path.read_bytes()[:-1])


def swapped(folder: Path, _: SigningKey) -> None:
    """Two entries in each other's place."""
    _bundle(folder, _swap)


def rewritten(folder: Path, key: SigningKey) -> None:
    """Another history, whole and signed by the log's own key: only an older checkpoint tells."""
    checkpoint = Checkpoint.open((folder / "checkpoint").read_text("utf-8"), key.verifier)
    entries: list[bytes] = []
    for tile in tiles_of(checkpoint.size):
        if tile.level < 0:
            entries += parse_bundle((folder / tile.path).read_bytes())
    entries[AT] = flipped(entries[AT], 40)
    write(folder, entries, key)


def write(folder: Path, entries: list[bytes], key: SigningKey) -> None:
    """A log of these entries, over what is there."""
    tree = Tree(map(leaf_hash, entries))
    for tile in tiles_of(len(entries)):
        start = 256 * tile.number
        path = folder / tile.path
        path.write_bytes(
            hash_tile(tree, tile)
            if tile.level >= 0
            else entry_bundle(entries[start : start + tile.width])
        )
    note = Checkpoint(key.name, len(tree), tree.root()).sign(key)
    (folder / "checkpoint").write_text(note, "utf-8")


TAMPERINGS: dict[str, Tampering] = {
    "t1": entry,
    "t2": entry_and_leaf,
    "t3": upper_tile,
    "t4": root,
    "t5": other_key,
    "t6": cut,
    "t7": swapped,
    "t8": rewritten,
}


def tampered(name: str, honest: Path, folder: Path, key: SigningKey) -> Path:
    """A copy of a log, tampered with in one way."""
    shutil.copytree(honest, folder)
    TAMPERINGS[name](folder, key)
    return folder
