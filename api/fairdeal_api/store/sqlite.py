"""SQLite: one read-write connection that alone writes and checkpoints, and read-only ones.

Two connections that write or checkpoint at the same moment are what SQLite's WAL-reset fault
needed, and what makes "database is locked" happen. Here there is one, in one thread.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from importlib import resources
from itertools import chain
from pathlib import Path
from typing import Any, Final

import apsw

from fairdeal_api.stopping import Stopped
from fairdeal_api.store import Batch, Forget, Head, Identity, Reseal, Rows
from fairdeal_api.store.reading import SQLiteReader
from fairdeal_api.system import EXIT_LOST, Overtaken, StartRefused

APPLICATION_ID: Final = 0x46414952  # "FAIR"
OLDEST_SQLITE: Final = (3, 51, 3)
# A checkpoint stops the writer. At eight times as many frames it did so for long enough to be the
# 99th percentile of a request; more often and shorter cost no throughput.
WAL_FRAMES: Final = 4_000
_CHUNK: Final = 64
# Everything that is ever sealed; a commitment whose seed was lost has nothing there.
_RESEAL: Final = """
UPDATE commitments SET sealed = reseal('server seed', table_id, hand, sealed, value)
  WHERE length(sealed) > 0;
UPDATE discards SET sealed = reseal('discards', table_id, hand, sealed, x'');
UPDATE answers SET sealed = reseal('answer', table_id, hand, sealed, x'');
UPDATE answers_apart SET sealed = reseal('answer', table_id, hand, sealed, x'');
UPDATE tables SET test_seed = reseal('test seed', id, 0, test_seed, x'')
  WHERE test_seed IS NOT NULL;
"""
# A hand's answers are under its events, from its opening to the next one's: no index by hand, which
# would cost each request a page. The answer to an end that has opened the next goes with the next.
_FORGET_HANDS: Final = """
WITH RECURSIVE over (first, last) AS (
  SELECT c.idx, coalesce(
    (SELECT e.before FROM commitments n CROSS JOIN events e ON e.idx = n.idx
      WHERE n.table_id = f.table_id AND n.hand = f.hand + 2),
    (SELECT newest FROM tables WHERE id = f.table_id))
  FROM finished f CROSS JOIN commitments c ON c.table_id = f.table_id AND c.hand = f.hand + 1
  WHERE f.idx > ?1 AND f.idx <= ?2
),
stretch (idx, before, first) AS (
  SELECT e.idx, e.before, o.first FROM over o CROSS JOIN events e ON e.idx = o.last
  UNION ALL
  SELECT e.idx, e.before, s.first
    FROM stretch s CROSS JOIN events e ON e.idx = s.before AND e.idx < s.idx WHERE s.idx > s.first
)
DELETE FROM answers WHERE idx IN (SELECT idx FROM stretch)
"""
# These lie in the order of time, so the walk ends at the first that is too young, and passes only
# those of tables that are open still, some for each.
_FORGET_TABLES: Final = """
DELETE FROM answers_apart WHERE rowid IN (
  SELECT a.rowid FROM answers_apart a WHERE a.rowid < coalesce(
    (SELECT rowid FROM answers_apart WHERE at >= ?1 ORDER BY rowid LIMIT 1), 1 << 62)
  AND EXISTS (SELECT 1 FROM tables t
    WHERE t.id = a.table_id AND t.state = 'closed' AND t.due < ?1)
  ORDER BY a.rowid LIMIT 2000)
"""
_BUSY_MS: Final = 5000


class LedgerBroken(Exception):  # noqa: N818 - a verdict
    """The database is not in the state that its only writer left it in."""


def check_library(version: str | None = None) -> None:
    """Refuse an SQLite that may corrupt a database when the WAL is reset."""
    text = version or apsw.sqlite_lib_version()
    if tuple(int(part) for part in text.split(".")[:3]) < OLDEST_SQLITE:
        wanted = ".".join(map(str, OLDEST_SQLITE))
        raise StartRefused(f"SQLite {text} is too old; {wanted} or newer is needed.")


def migrations() -> list[tuple[int, str]]:
    """Numbered SQL, oldest first."""
    folder = resources.files("fairdeal_api.store") / "migrations"
    found = []
    for file in folder.iterdir():
        match = re.fullmatch(r"(\d{4})_\w+\.sql", file.name)
        if match:
            found.append((int(match[1]), file.read_text("utf-8")))
    return sorted(found)


def is_older(reader: SQLiteReader, path: Path) -> bool:
    """Whether a database is of an older version's form, which only the writer brings up.

    Raises:
        StartRefused: It is of a newer one.
    """
    form, newest = reader.form(), migrations()[-1][0]
    if form > newest:
        raise StartRefused(f"{path} was written by a newer version of fairdeal.")
    return form < newest


def _prepare(connection: apsw.Connection) -> None:
    for pragma, value in (
        ("foreign_keys", 1),
        ("trusted_schema", 0),
        ("cell_size_check", 1),
        ("mmap_size", 0),
        ("temp_store", 2),
        ("wal_autocheckpoint", 0),
    ):
        connection.pragma(pragma, value)


def create(path: Path, identity: Identity, root: bytes, at: int) -> None:
    """Make a new database.

    Raises:
        StartRefused: There is one already.
    """
    check_library()
    if path.exists():
        raise StartRefused(f"{path} is there already and is never overwritten.")
    path.touch(0o600, exist_ok=False)
    connection = apsw.Connection(str(path))
    try:
        _prepare(connection)
        connection.pragma("journal_mode", "wal")
        connection.pragma("synchronous", "full")
        with connection:
            connection.pragma("application_id", APPLICATION_ID)
            for number, script in migrations():
                connection.execute(script)
                connection.pragma("user_version", number)
            connection.execute("INSERT INTO service VALUES (1, ?, ?, ?, ?)", identity)
            connection.execute("INSERT INTO head VALUES (1, 0, ?, 0, ?)", (root, at))
        connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    finally:
        connection.close()


class SQLiteStore:
    """An existing database."""

    def __init__(self, path: Path) -> None:
        """Look whether it is ours, and bring it to the newest form.

        Raises:
            StartRefused: It is missing, not ours, or from a newer version.
        """
        check_library()
        if not path.exists():
            raise StartRefused(f"There is no database {path}; `fairdeal init` makes one.")
        self._path = path
        self._writer = SQLiteWriter(path)

    def writer(self) -> SQLiteWriter:
        """The one writer."""
        return self._writer

    def reader(self) -> SQLiteReader:
        """A new read-only connection."""
        return SQLiteReader(self._path)


@lru_cache(maxsize=1024)
def _insert(table: str, columns: int, rows: int) -> str:
    row = "(" + ",".join("?" * columns) + ")"
    values = ",".join([row] * rows)
    if table == "seats":
        return (
            f"INSERT INTO seats VALUES {values} ON CONFLICT (table_id, seat) "  # noqa: S608 - marks
            "DO UPDATE SET claim = excluded.claim, token = excluded.token"
        )
    return f"INSERT INTO {table} VALUES {values}"  # noqa: S608 - names from this module, marks


@lru_cache(maxsize=128)
def _move(rows: int) -> str:
    values = ",".join(["(?,?,?,?,?,?,?,?,?)"] * rows)
    return (
        "UPDATE tables SET seq = v.column4, hand = v.column5, state = v.column6, "  # noqa: S608
        "patience = v.column7, due = v.column8, newest = v.column9 "
        f"FROM (VALUES {values}) AS v "
        "WHERE tables.id = v.column1 AND tables.seq = v.column2 AND tables.newest = v.column3"
    )


class SQLiteWriter:
    """The only connection that writes."""

    def __init__(self, path: Path) -> None:
        """Open, check and migrate; no other process may have it open for writing."""
        self._frames = 0
        self._connection = apsw.Connection(
            str(path), flags=apsw.SQLITE_OPEN_READWRITE, statementcachesize=512
        )
        try:
            self._open(path)
        except apsw.Error as error:
            raise StartRefused(
                f"{path} cannot be opened ({type(error).__name__}); see `fairdeal fsck`."
            ) from None

    def _open(self, path: Path) -> None:
        connection = self._connection
        if connection.pragma("application_id") != APPLICATION_ID:
            raise StartRefused(f"{path} is not a fairdeal database.")
        _prepare(connection)
        if connection.pragma("journal_mode", "wal") != "wal":
            raise StartRefused(f"{path} cannot be put into WAL mode; is its disk a network disk?")
        connection.pragma("synchronous", "full")
        # In KiB. Tables are met at random, and the index of commitments: past 2 MB, SQLite's own
        # choice, requests would read pages again that were thrown out for others.
        connection.pragma("cache_size", -65_536)
        connection.set_wal_hook(self._count_frames)
        version = connection.pragma("user_version")
        known = migrations()
        if version > known[-1][0]:
            raise StartRefused(f"{path} was written by a newer version of fairdeal.")
        for number, script in known:
            if number > version:
                with connection:
                    connection.execute(script)
                    connection.pragma("user_version", number)
        if version < known[-1][0]:
            # What was written is as long as the database; the WAL keeps its length otherwise.
            connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)

    def begin_epoch(self, head: Head) -> Head | None:
        """Count a new process that writes, so that an older one's compare-and-set fails.

        Args:
            head: Where the log was found.

        Returns:
            The head with this process's epoch; None if the log is elsewhere now. Spec: LOG-20.

        Raises:
            StartRefused: Another process has stopped in the middle of a transaction.
        """
        try:
            self._connection.set_busy_timeout(_BUSY_MS)
            self._connection.execute(
                "UPDATE head SET epoch = epoch + 1 "
                "WHERE id = 1 AND size = ? AND root = ? AND epoch = ?",
                head[:3],
            )
        except apsw.BusyError:
            raise StartRefused(
                "Another process has stopped in the middle of writing to the database; "
                "end it first.",
                EXIT_LOST,
            ) from None
        finally:
            self._connection.set_busy_timeout(0)
        return head._replace(epoch=head.epoch + 1) if self._connection.changes() else None

    def _begin(self) -> None:
        """Begin a transaction. Nobody else should write; who does is waited for, and then seen."""
        try:
            self._connection.execute("BEGIN IMMEDIATE")
        except apsw.BusyError:
            self._connection.set_busy_timeout(_BUSY_MS)
            try:
                self._connection.execute("BEGIN IMMEDIATE")
            except apsw.BusyError:
                raise Overtaken from None
            finally:
                self._connection.set_busy_timeout(0)

    def commit(self, batch: Batch, meanwhile: Callable[[], object] | None = None) -> None:
        """Write a batch in one transaction. Spec: LOG-6, LOG-20.

        Args:
            batch: What to write.
            meanwhile: Called before the wait for the disk.

        Raises:
            Overtaken: The head is not where this process left it. Nothing was written.
            LedgerBroken: A table is not where this process left it. Nothing was written.
            apsw.Error: The result may be unknown: the process must not go on.
        """
        connection, rows = self._connection, batch.rows
        self._begin()
        self._move_head(batch)
        if batch.note is not None:
            connection.execute(
                "INSERT INTO checkpoints VALUES (?, ?)", (batch.new.size, batch.note)
            )
        for table, found in (
            ("events", rows.events),
            ("tables", rows.tables),
            ("commitments", rows.commitments),
            ("seats", rows.seats),
            ("discards", rows.discards),
            ("late_disclosures", rows.late_disclosures),
            ("finished", rows.finished),
            ("answers", rows.answers),
            ("answers_apart", rows.answers_apart),
            ("checkpoints", rows.checkpoints),
        ):
            if found:
                self._insert_all(table, found)
        self._move_all(rows)
        if rows.forget is not None:
            self._forget(rows.forget)
        if meanwhile is not None:
            meanwhile()
        connection.execute("COMMIT")

    def _count_frames(self, _connection: apsw.Connection, _name: str, frames: int) -> int:
        self._frames = frames
        return apsw.SQLITE_OK

    def _move_head(self, batch: Batch) -> None:
        # Also when no event is logged: a seat's token is not to be given by a process that lost.
        self._connection.execute(
            "UPDATE head SET size = ?, root = ?, at = ? "
            "WHERE id = 1 AND size = ? AND root = ? AND epoch = ?",
            (batch.new.size, batch.new.root, batch.new.at, *batch.old[:3]),
        )
        if self._connection.changes() != 1:
            self._connection.execute("ROLLBACK")
            raise Overtaken

    def _insert_all(self, table: str, found: list[Any]) -> None:
        # One statement with all rows: each statement gives up the interpreter and wants it back.
        columns = len(found[0])
        for start in range(0, len(found), _CHUNK):
            chunk = found[start : start + _CHUNK]
            values = tuple(chain.from_iterable(chunk))
            self._connection.execute(_insert(table, columns, len(chunk)), values)

    def _move_all(self, rows: Rows) -> None:
        for start in range(0, len(rows.moves), _CHUNK):
            chunk = rows.moves[start : start + _CHUNK]
            values = tuple(chain.from_iterable(chunk))
            self._connection.execute(_move(len(chunk)), values)
            if self._connection.changes() != len(chunk):
                raise LedgerBroken("a table is not where this process left it")

    def _forget(self, forget: Forget) -> None:
        self._connection.execute(_FORGET_HANDS, (forget.after, forget.last))
        self._connection.execute(_FORGET_TABLES, (forget.before,))

    def reseal(self, head: Head, old: str, new: str, reseal: Reseal) -> None:
        """Seal everything anew in one transaction, and name the new key.

        Args:
            head: Where this process left it.
            old: Id of the key in force.
            new: Id of the one to come.
            reseal: Seals one value anew.

        Raises:
            Overtaken: The head is not where this process left it. Nothing was written.
            StartRefused: It cannot be done. Nothing was written.
            Stopped: By `reseal`. Nothing was written.
            apsw.Error: The result may be unknown: the process must not go on.
        """
        connection = self._connection
        self._begin()
        try:
            self._move_head(Batch(head, head, None, Rows()))
            function: Any = reseal  # its arguments are those of the statements
            connection.create_scalar_function("reseal", function, 5)
            connection.execute(_RESEAL)
            connection.execute(
                "UPDATE service SET sealing_id = ?2, old_sealing_id = ?1 WHERE sealing_id = ?1",
                (old, new),
            )
            if connection.changes() != 1:
                raise LedgerBroken("the database has another sealing key than this process")
        except (apsw.Error, Stopped) as error:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            if isinstance(error, Stopped):
                raise
            raise StartRefused(
                f"What is sealed cannot be sealed anew ({type(error).__name__}); the sealing key "
                "is the old one."
            ) from None
        connection.execute("COMMIT")

    def scrub(self) -> bool:
        """Write the whole file anew, so that nothing is left of what was written over.

        Copies of rows stay behind in pages that were split, in free ones and in the WAL, and a
        backup takes them along. It needs some free space: twice that of the database.

        Returns:
            Whether it is done; False if the disk is full or broken, or somebody is reading.
        """
        connection = self._connection
        try:
            connection.set_busy_timeout(_BUSY_MS)
            # Not in memory: it is the whole database. What is secret in it is sealed.
            connection.pragma("temp_store", 1)
            connection.execute("VACUUM")
            connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
        except apsw.Error:
            return False
        finally:
            connection.pragma("temp_store", 2)
            connection.set_busy_timeout(0)
        return True

    def tidy(self) -> None:
        """Move the WAL into the database when it has grown."""
        try:
            if self._frames < WAL_FRAMES:
                return
            # The file keeps its length: to write over old blocks is cheaper than to get new ones.
            self._connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_RESTART)
            self._frames = 0
        except apsw.BusyError:
            return  # a reader is in the way; there is a next time

    def close(self) -> None:
        """Checkpoint and let go."""
        self._connection.close()
