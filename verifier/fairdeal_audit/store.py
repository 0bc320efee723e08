"""What a replay has come to, in one file; each step of it is written whole or not at all.

Spec: AUD-3
"""

import json
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import asdict
from pathlib import Path

from fairdeal_audit.progress import Finding, Progress, Tally

NAME = "replay.sqlite"
_SCHEMA = """
CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS tables (
  name TEXT PRIMARY KEY, progress TEXT NOT NULL, deadline INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS deadlines ON tables (deadline) WHERE deadline > 0;
CREATE TABLE IF NOT EXISTS seen (value BLOB PRIMARY KEY, entry INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS findings (entry INTEGER NOT NULL, finding TEXT NOT NULL);
"""
Value = tuple[str, str, int, str, int]
"""Kind, value in hex, index, table, hand."""


class Store:
    """The file."""

    def __init__(self, path: Path, *, writes: bool = True) -> None:
        """Opens it; one that does not write waits for one that does."""
        where = f"file:{path}?mode={'rwc' if writes else 'ro'}"
        self._db = sqlite3.connect(where, uri=True, isolation_level=None, timeout=120)
        self._db.execute("PRAGMA cache_size = -32768")
        if writes:
            # What is lost in a power cut is only work: an old file is a whole one.
            self._db.execute("PRAGMA synchronous = NORMAL")
            self._db.executescript(_SCHEMA)

    def close(self) -> None:
        """Closes it."""
        self._db.close()

    def meta(self, name: str) -> str | None:
        """Gives a value, or None."""
        row = self._db.execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchone()
        return row[0] if row else None

    def progress(self, table: str) -> Progress | None:
        """Gives what a table has come to."""
        found = self._db.execute("SELECT progress FROM tables WHERE name = ?", (table,)).fetchone()
        return _progress(found[0]) if found else None

    def begin(self) -> None:
        """Begins a step."""
        self._db.execute("BEGIN IMMEDIATE")

    def end(self) -> None:
        """Ends a step: it is written."""
        self._db.execute("COMMIT")

    def set(self, name: str, value: str) -> None:
        """Sets a value."""
        self._db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (name, value))

    def save(self, tables: Iterable[tuple[str, Progress]]) -> None:
        """Keeps what tables have come to."""
        rows = [(name, json.dumps(asdict(one)), one.deadline) for name, one in tables]
        self._db.executemany("INSERT OR REPLACE INTO tables VALUES (?, ?, ?)", rows)

    def add(self, findings: Iterable[Finding]) -> None:
        """Keeps findings."""
        rows = [(one.index, json.dumps(asdict(one))) for one in findings]
        self._db.executemany("INSERT INTO findings VALUES (?, ?)", rows)

    def see(self, values: Iterable[Value]) -> Iterator[tuple[Value, int]]:
        """Notes values, in the order of the log.

        Yields:
            Those that have been there before, and the index at which they were.
        """
        for one in values:
            kind, text, index = one[:3]
            key = kind[:2].encode() + bytes.fromhex(text)
            row = self._db.execute("SELECT entry FROM seen WHERE value = ?", (key,)).fetchone()
            if row is None:
                self._db.execute("INSERT INTO seen VALUES (?, ?)", (key, index))
            else:
                yield one, row[0]

    def findings(self) -> Iterator[Finding]:
        """Gives all findings in one order, whoever found them."""
        with closing(
            self._db.execute("SELECT finding FROM findings ORDER BY entry, finding")
        ) as rows:
            for row in rows:
                value = json.loads(row[0])
                yield Finding(**(value | {"entries": tuple(value["entries"])}))

    def overdue(self, before: int) -> Iterator[tuple[str, Progress]]:
        """Gives tables whose deadline was before a time."""
        sql = "SELECT name, progress FROM tables WHERE deadline > 0 AND deadline < ? ORDER BY name"
        with closing(self._db.execute(sql, (before,))) as rows:
            for name, text in rows:
                yield name, _progress(text)

    def open_tables(self) -> Iterator[tuple[str, Progress]]:
        """Gives every table that is not closed, by name."""
        sql = "SELECT name, progress FROM tables WHERE deadline > 0 ORDER BY name"
        with closing(self._db.execute(sql)) as rows:
            for name, text in rows:
                yield name, _progress(text)

    def tally(self) -> Tally:
        """Gives what was counted."""
        return Tally(**json.loads(self.meta("tally") or "{}"))


def _progress(text: str) -> Progress:
    value = json.loads(text)
    for name in ("hidden", "followed"):
        value[name] = {int(number): indices for number, indices in value[name].items()}
    return Progress(**value)
