"""`audit_replay`: what a hand costs in the replay of a log, and what a second process gains."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from bench.floor import bulk_hash, floor_of, minima, report
from fairdeal_audit.replay import replay
from fairdeal_audit.store import NAME, Store
from fairdeal_audit.tiles import Folder
from fairdeal_audit.worker import Worker
from fairdeal_verifier.note import LogKey
from fairdeal_verifier.rotation import Keys
from seeds.local import Book, LocalTable
from tests.audit.generate import ORIGIN, write_book

FEW, MANY = 10, 8000
AT_A_TABLE = 5


def _log(folder: Path, hands: int) -> Book:
    """Kozel hands that are only dealt, at tables that are closed; all seats in one event."""
    book = Book(ORIGIN)
    for number in range(hands // AT_A_TABLE):
        table = LocalTable(book, "kozel", name=f"{number:x}", custody="operator")
        for _ in range(AT_A_TABLE):
            table.deal()
            table.close()
        table.close_table()
    write_book(book, folder)
    return book


def audit_replay() -> None:
    """Everything that a replay does with a hand: bytes, hashes, chain, all checks.

    Few hands at once, so that some rounds of many are not disturbed.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        book = _log(folder, FEW)
        size = len(book.entries)
        store = Store(folder / NAME)
        keys = Keys((LogKey.parse(str(book.key.verifier)),))

        def work() -> None:
            done = Worker(Folder(folder, size), keys, store, 0, 1).run(0, size)
            if done.findings or done.tally.verified != FEW:
                raise SystemExit("the log to measure is not clean")

        bulk, ours = minima([bulk_hash, work], rounds=400)
        store.close()
        floors = ours / FEW / floor_of(bulk)
        report("audit_replay", floors, "floors", 80, hands=FEW, entries=size)


def audit_processes() -> None:
    """The same of a larger log, by one process and by two; least times, taken in turn."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        book = _log(folder, MANY)
        key = LogKey.parse(str(book.key.verifier))
        best = {1: float("inf"), 2: float("inf")}
        for _ in range(2):
            for processes in (1, 2):
                (folder / NAME).unlink(missing_ok=True)
                start = time.perf_counter()
                outcome = replay(folder, key, processes=processes)
                best[processes] = min(best[processes], time.perf_counter() - start)
                if outcome.findings:
                    raise SystemExit("the log to measure is not clean")
    # Here the limit is the least that has to be reached.
    report("audit_two_processes", best[1] / best[2], "times", 1.5, hands=MANY)
    report("audit_rate", MANY / best[1], "hands/s", None)


def main() -> None:
    """Both."""
    audit_replay()
    audit_processes()
