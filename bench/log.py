"""`log_append`, `log_commit`, `log_proof`: what the log costs as it grows a hundredfold.

The ratio is the cost at 10^6 entries over that at 10^4. The work goes with the tree's height, and
so by log2(10^6) : log2(10^4), which is 1.5; what is over it is the memory, where the lower levels
of a large tree lie further away. The limit is 2: a cost that goes with the root of the size would
be at 10, one that goes with the size at 100.
"""

from __future__ import annotations

import random
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Final

from bench.floor import report
from fairdeal.log.checkpoint import Checkpoint
from fairdeal.log.keys import LogKeys
from fairdeal.log.note import SigningKey
from fairdeal.log.proof import Receipt
from fairdeal.log.tree import LogTree
from fairdeal.merkle import EMPTY_ROOT, leaf_hash
from fairdeal_api.anchor import Anchor
from fairdeal_api.store import Batch, EventRow, Head, Identity, Rows
from fairdeal_api.store.sqlite import SQLiteStore, SQLiteWriter, create

SIZES: Final = (10**4, 10**5, 10**6)
LIMIT: Final = 2
ROUNDS: Final = 60
_ELSE: Final = bytearray(1 << 25)
_MORE: Final = bytes(1 << 25)
_KEY: Final = SigningKey("bench.example/log", bytes(range(32)))
_BODY: Final = b"{" + b"e" * 390 + b"}"
"""As long as events are on average."""


def entries(start: int, count: int) -> Iterator[bytes]:
    """Entries that differ."""
    for index in range(start, start + count):
        yield _BODY + b"%d" % index


def _forget() -> None:
    """Fill the processor's caches with something else.

    A tree of 10^4 entries would stay in them, and one of 10^6 does not fit: what is measured would
    be the caches. A service does other things between two requests for an old receipt.
    """
    _ELSE[:] = _MORE


def _microseconds(works: Mapping[int, partial[int]], rounds: int = ROUNDS) -> dict[int, float]:
    """The least time of each size's work, by one of what it says it has done; in turn."""
    best = dict.fromkeys(works, float("inf"))
    for _ in range(rounds):
        for size, work in works.items():
            _forget()
            start = time.perf_counter()
            done = work()
            best[size] = min(best[size], (time.perf_counter() - start) / done * 1e6)
    return best


def _report(name: str, found: dict[int, float], limit: float | None) -> None:
    small, large = found[SIZES[0]], found[SIZES[-1]]
    more = {f"us_{size}": round(value, 2) for size, value in found.items()}
    unit = "times as much at 10^6 entries as at 10^4"
    report(name, large / small, unit, limit, **more)


def _trees() -> dict[int, LogTree]:
    leaves = [leaf_hash(entry) for entry in entries(0, SIZES[-1])]
    return {size: LogTree(leaves[:size]) for size in SIZES}


def _append(tree: LogTree, count: int, *, sign: bool) -> int:
    for body in entries(len(tree), count):
        tree.append(leaf_hash(body))
        checkpoint = Checkpoint(_KEY.name, len(tree), tree.root())
        if sign:
            checkpoint.sign(_KEY)
    return count


def log_append(trees: dict[int, LogTree]) -> None:
    """Leaf, tree, root and signed checkpoint of one event, as each batch of one has them."""
    for name, sign, count in (("log_append", True, 64), ("log_append_unsigned", False, 128)):
        works = {size: partial(_append, tree, count, sign=sign) for size, tree in trees.items()}
        _report(name, _microseconds(works), LIMIT)


def _prove(tree: LogTree, note: str, indices: Sequence[int]) -> int:
    for index in indices:
        Receipt(index, tuple(tree.inclusion_path(index)), note).text()
    return len(indices)


def log_proof(trees: dict[int, LogTree]) -> None:
    """A receipt of an entry at random, as it is sent."""
    rng = random.Random(1)
    works = {}
    for size, tree in trees.items():
        note = Checkpoint(_KEY.name, size, tree.root()).sign(_KEY)
        works[size] = partial(_prove, tree, note, [rng.randrange(size) for _ in range(50)])
    _report("log_proof", _microseconds(works), LIMIT)


class Filled:
    """A database with so many entries, and its writer."""

    def __init__(self, folder: Path, size: int) -> None:
        folder.mkdir()
        create(
            folder / "ledger.db", Identity(_KEY.name, str(_KEY.verifier), "bench"), EMPTY_ROOT, 0
        )
        self.writer: SQLiteWriter = SQLiteStore(folder / "ledger.db").writer()
        self.anchor = Anchor(folder / "anchor")
        self.anchor.create(Checkpoint(_KEY.name, 0, EMPTY_ROOT).sign(_KEY))
        self.anchor.load(LogKeys(_KEY.verifier))
        head = self.writer.begin_epoch(Head(0, EMPTY_ROOT, 0, 0))
        assert head is not None
        self.tree, self.head = LogTree(), head
        while len(self.tree) < size:
            self.commit(min(10_000, size - len(self.tree)))

    def commit(self, count: int) -> int:
        """Log so many events in one batch, durably."""
        rows, start = Rows(), len(self.tree)
        for index, body in enumerate(entries(start, count), start):
            # A table has some dozens of events; many tables write at a time.
            table = f"tbl_{index // 2000 * 50 + index % 50:026}"
            leaf = leaf_hash(body)
            seq = index % 2000 // 50
            before = index - 50 if seq else None
            rows.events.append(EventRow(index, table, seq, 1, before, body, leaf))
            self.tree.append(leaf)
        old = self.head
        self.head = Head(len(self.tree), self.tree.root(), old.epoch, 0)
        note = Checkpoint(_KEY.name, self.head.size, self.head.root).sign(_KEY)
        self.writer.commit(Batch(old, self.head, note, rows))
        self.anchor.move(note)
        self.writer.tidy()
        return count

    def close(self) -> None:
        """Let go."""
        self.writer.close()
        self.anchor.close()


def log_commit() -> None:
    """An event of a batch of sixteen, on the disk: database, checkpoint and anchor, synced."""
    with tempfile.TemporaryDirectory() as folder:
        logs = {size: Filled(Path(folder) / str(size), size) for size in SIZES}

        works = {size: partial(log.commit, 16) for size, log in logs.items()}
        _report("log_commit", _microseconds(works, 30), None)
        for log in logs.values():
            log.close()


def main() -> None:
    """All."""
    trees = _trees()
    log_proof(trees)
    log_append(trees)
    del trees
    log_commit()
