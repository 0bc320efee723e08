"""Fetches a log, and believes nothing of it that its signed root does not say. Spec: AUD-1."""

import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from fairdeal_audit.evidence import Evidence, fork_of
from fairdeal_audit.heads import HEAD_FILE, keep, kept, parse_head, write
from fairdeal_audit.keys import (
    fork_of_keys,
    keep_rotations,
    kept_rotations,
    out_of_force,
    served_rotations,
    stray,
)
from fairdeal_audit.source import Source
from fairdeal_audit.tiles import (
    HASH,
    WIDTH,
    Folder,
    IncompleteError,
    levels,
    parse_bundle,
    tile_path,
    tiles_at,
)
from fairdeal_verifier.encoding import FormatError
from fairdeal_verifier.note import MAX_NOTE, Checkpoint, LogKey
from fairdeal_verifier.primitives import leaf_hash
from fairdeal_verifier.rotation import Keys

_TILE = re.compile(r"tile/(entries|[0-9]{1,2})/((?:x[0-9]{3}/)*[0-9]{3})(?:\.p/([0-9]{1,3}))?")
MAX_BUNDLE = WIDTH * (2 + 65_535)
Told = Callable[[int, int], None]
"""Is told how many entries are there, and of how many."""


@dataclass(frozen=True, slots=True)
class Fetched:
    """What a fetch came to.

    Attributes:
        head: The checkpoint that was served.
        code: `FORK`, `KEY`, `ROLLBACK` or "".
        text: What was found.
        evidence: What proves it.
    """

    head: Checkpoint
    code: str = ""
    text: str = ""
    evidence: Evidence | None = None


def fetch(
    source: Source, folder: Path, key: LogKey, told: Told = lambda _done, _all: None
) -> Fetched:
    """Fetches what is new of a log, and checks all of it.

    Args:
        source: Where from.
        folder: Where to; what is there is not fetched again.
        key: The log's key, or one of them if it has had several.
        told: Is told of progress.

    Raises:
        IncompleteError: The log does not answer, or serves what its checkpoint does not cover.

    Spec: AUD-1, AUD-9
    """
    note = source.read("checkpoint", MAX_NOTE)
    if note is None:
        raise IncompleteError("there is no checkpoint: the log of a service is below its /log")
    try:
        head = parse_head(note)
    except FormatError as error:
        raise IncompleteError(f"the checkpoint is none: {error}") from None
    before = kept_rotations(folder)
    served, fault = served_rotations(source)
    fork = fork_of_keys(before, served, key)
    if fork is not None:
        return Fetched(head, "FORK", "one of its keys has named two successors", fork)
    fault = fault or stray(served, before, key)
    if fault:
        return Fetched(head, "KEY", fault)
    # A log that serves fewer rotations than it did has not taken any back.
    keys = max(Keys.of(key, before), Keys.of(key, served), key=lambda one: len(one.keys))
    accused = out_of_force(note, head, keys)
    if accused is not None:
        text = f"a key that is not in force signs the checkpoint of {head.size} entries"
        return Fetched(head, "KEY", text, accused)
    if not keys.have_signed(head):
        raise IncompleteError("the checkpoint is not signed by the log's key")
    for one in keys.rotations:
        keep(folder, one.note, one.receipt.checkpoint)
    seen = kept(folder, keys)
    keep(folder, note, head)
    for old_note, old in seen:
        accused = out_of_force(old_note, old, keys)
        if accused is not None:
            text = f"a key that is not in force has signed the checkpoint of {old.size} entries"
            return Fetched(head, "KEY", text, accused)
        if old.size == head.size and old.root != head.root:
            evidence = fork_of(old_note, note, (), keys)
            return Fetched(head, "FORK", "two roots for one size", evidence)
    last = _present(folder, keys)
    if last is not None and head.size < last[1].size:
        return _smaller(folder, note, head, last, keys)
    verified = last[1].size if last else 0
    try:
        _take(source, folder, head, verified, told)
    except IncompleteError:
        # What lies there from an interrupted fetch may be bad; what has been verified is not.
        _drop_unverified(folder, verified)
        try:
            _take(source, folder, head, verified, told)
        except IncompleteError:
            if last is None:
                raise
            return _other_history(source, folder, (note, head), last, keys, told)
    fetched = _compared(Folder(folder, head.size), note, head, seen, keys)
    if not fetched.code:
        keep_rotations(folder, keys)
        write(folder / HEAD_FILE, note)
        _drop_partial(folder, head.size)
    return fetched


def _present(folder: Path, keys: Keys) -> tuple[bytes, Checkpoint] | None:
    """Gives the checkpoint of what has been fetched and verified."""
    path = folder / HEAD_FILE
    if not path.exists():
        return None
    note = path.read_bytes()
    try:
        head = parse_head(note)
    except FormatError as error:
        raise IncompleteError(f"{path}: {error}") from None
    if not keys.have_signed(head):
        raise IncompleteError(f"{path} is not signed by the log's key")
    return note, head


def _smaller(
    folder: Path, note: bytes, head: Checkpoint, last: tuple[bytes, Checkpoint], keys: Keys
) -> Fetched:
    """Judges a log that has become smaller. Spec: AUD-2."""
    tree = Folder(folder, last[1].size)
    if tree.root(head.size) == head.root:
        text = f"the log serves {head.size} entries after {last[1].size}: an old state, or a cache"
        return Fetched(head, "ROLLBACK", text)
    text = f"its {head.size} entries are not the first ones of the {last[1].size} it had"
    evidence = fork_of(note, last[0], tree.consistency(head.size), keys)
    return Fetched(head, "FORK", text, evidence)


def _compared(
    tree: Folder, note: bytes, head: Checkpoint, seen: list[tuple[bytes, Checkpoint]], keys: Keys
) -> Fetched:
    """Compares a whole log with every checkpoint seen before."""
    for old_note, old in seen:
        if old.size < head.size and tree.root(old.size) != old.root:
            text = f"the log of {head.size} entries does not extend the one of {old.size}"
            nodes = tree.consistency(old.size) if old.size else ()
            return Fetched(head, "FORK", text, fork_of(old_note, note, nodes, keys))
    return Fetched(head)


def _take(source: Source, folder: Path, head: Checkpoint, verified: int, told: Told) -> None:
    """Fetches bundles and tiles, and checks them against each other and the root."""
    start = verified // WIDTH
    for number, width in tiles_at(0, head.size, start):
        _take_leaves(source, folder, number, width)
        told(number * WIDTH + width, head.size)
    for level in levels(head.size):
        if level:
            for number, width in tiles_at(level, head.size, verified >> 8 * (level + 1)):
                name = tile_path(level, number, width)
                if not (folder / name).exists():
                    write(folder / name, _tile(source, level, number, width))
    tree = Folder(folder, head.size)
    tree.check(verified)
    if tree.root() != head.root:
        raise IncompleteError("what the log serves does not have its checkpoint's root")


def _take_leaves(source: Source, folder: Path, number: int, width: int) -> None:
    """Fetches a bundle and its tile of leaf hashes, which have to fit. Spec: AUD-1."""
    name = tile_path("entries", number, width)
    path, hashes = folder / name, folder / tile_path(0, number, width)
    if path.exists() and hashes.exists():
        return  # they were compared before they were written
    bundle = source.read(name, MAX_BUNDLE)
    if bundle is None and width < WIDTH:
        bundle = source.read(tile_path("entries", number), MAX_BUNDLE)
    if bundle is None:
        raise IncompleteError(f"the log does not serve {name}")
    entries = parse_bundle(bundle)[:width]
    leaves = b"".join([leaf_hash(entry) for entry in entries])
    if len(entries) != width or leaves != _tile(source, 0, number, width):
        raise IncompleteError(f"{name} does not fit its hash tile")
    write(path, b"".join([len(entry).to_bytes(2, "big") + entry for entry in entries]))
    write(hashes, leaves)


def _tile(source: Source, level: int, number: int, width: int) -> bytes:
    """Fetches a hash tile; a partial one may be served whole by now."""
    name = tile_path(level, number, width)
    data = source.read(name, HASH * width)
    if data is None and width < WIDTH:
        whole = source.read(tile_path(level, number), HASH * WIDTH)
        data = whole[: HASH * width] if whole else None
    if data is None or len(data) != HASH * width:
        raise IncompleteError(f"the log does not serve {name} whole")
    return data


def _other_history(
    source: Source,
    folder: Path,
    served: tuple[bytes, Checkpoint],
    last: tuple[bytes, Checkpoint],
    keys: Keys,
    told: Told,
) -> Fetched:
    """What is served does not continue what was there: takes it whole, to see if it is a log."""
    note, head = served
    other = folder / f"other-{head.size}-{head.root.hex()[:16]}"
    _take(source, other, head, 0, told)
    write(other / HEAD_FILE, note)
    fetched = _compared(Folder(other, head.size), note, head, [last], keys)
    if not fetched.code:
        raise IncompleteError("the folder holds something else than was verified: fetch anew")
    return fetched


def _drop_unverified(folder: Path, verified: int) -> None:
    """Takes away tiles that no checkpoint covers yet.

    It goes by the files that there are, never by the size that a checkpoint states: that may be
    any number, and whoever states it need not have served a single entry.
    """
    for path in sorted((folder / "tile").rglob("*")):
        match = _TILE.fullmatch(path.relative_to(folder).as_posix())
        if match is None or not path.is_file():
            continue
        level = 0 if match[1] == "entries" else int(match[1])
        width = int(match[3] or WIDTH)
        number = int(re.sub("[x/]", "", match[2]))
        if number * WIDTH + width > verified >> 8 * level:
            path.unlink()


def _drop_partial(folder: Path, size: int) -> None:
    """Takes away partial tiles of smaller sizes, if fuller ones are there."""
    for path in (folder / "tile").rglob("*.p"):
        wanted = {
            folder / tile_path(level, *one) for level in levels(size) for one in _last(level, size)
        }
        wanted |= {folder / tile_path("entries", *one) for one in _last(0, size)}
        for partial in path.iterdir():
            if partial not in wanted:
                partial.unlink()
        if not any(path.iterdir()):
            shutil.rmtree(path)


def _last(level: int, size: int) -> list[tuple[int, int]]:
    return [one for one in tiles_at(level, size, (size >> 8 * level) // WIDTH) if one[1] < WIDTH]
