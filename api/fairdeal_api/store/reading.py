"""Queries on a read-only connection."""

from __future__ import annotations

import os
from bisect import bisect_left
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any, Final

import apsw

from fairdeal_api.store import (
    ALL,
    AnswerRow,
    CommitmentRow,
    DiscardsRow,
    DisclosureRow,
    EventRow,
    FinishedRow,
    Head,
    Identity,
    SeatRow,
    TableRow,
)
from fairdeal_api.system import StartRefused

_LINKED = 3
"""The form since which events, tables and commitments name events."""
_BY_EVENT = 4
"""And since which answers do."""
_TABLE = "SELECT id, operator, game, test_seed, seq, hand, state, patience, due, newest FROM tables"
_ANSWER = "SELECT idx, scope, request, table_id, hand, status, etag, events, at, sealed"
_FINISHED = "SELECT idx, table_id, hand, game, state, at FROM finished"
_BUSY_MS: Final = 5000
# `before` leads backwards, so a stretch of a table's events is read from its end. The walk goes on
# to lower indices only, so that it ends in a damaged database as well.
_STRETCH = """
WITH RECURSIVE stretch AS (
  SELECT * FROM events WHERE idx = ?1
  UNION ALL
  SELECT e.* FROM stretch s CROSS JOIN events e ON e.idx = s.before AND e.idx < s.idx
    WHERE e.seq > ?2
)
SELECT idx, table_id, seq, hand, before, body, leaf FROM stretch WHERE seq > ?2 AND seq <= ?3
ORDER BY idx
"""
# From a hand's opening, which has published the next one's commitment, to the next one's opening.
_HAND = """
WITH RECURSIVE ends (first, last) AS (
  SELECT c.idx, coalesce(
    (SELECT e.before FROM commitments n CROSS JOIN events e ON e.idx = n.idx
      WHERE n.table_id = ?1 AND n.hand = ?2 + 2),
    (SELECT newest FROM tables WHERE id = ?1))
  FROM commitments c WHERE c.table_id = ?1 AND c.hand = ?2 + 1
),
stretch AS (
  SELECT e.* FROM ends CROSS JOIN events e ON e.idx = ends.last
  UNION ALL
  SELECT e.* FROM stretch s CROSS JOIN events e ON e.idx = s.before AND e.idx < s.idx
    WHERE s.idx > (SELECT first FROM ends)
)
SELECT idx, table_id, seq, hand, before, body, leaf FROM (
  SELECT * FROM stretch
  UNION ALL
  SELECT e.* FROM late_disclosures d CROSS JOIN events e ON e.idx = d.idx
    WHERE d.table_id = ?1 AND d.hand = ?2
)
WHERE hand = ?2 AND seq > ?3 ORDER BY idx LIMIT ?4
"""
# Back to where no answers are kept any more.
_ANSWERS_OF = """
WITH RECURSIVE stretch (idx, before) AS (
  SELECT e.idx, e.before FROM tables t CROSS JOIN events e ON e.idx = t.newest WHERE t.id = ?1
  UNION ALL
  SELECT e.idx, e.before FROM stretch s CROSS JOIN events e ON e.idx = s.before AND e.idx < s.idx
    WHERE e.idx >= (SELECT min(idx) FROM answers)
)
SELECT a.scope, a.idx FROM stretch s CROSS JOIN answers a ON a.idx = s.idx ORDER BY a.idx
"""


def connect(path: Path) -> apsw.Connection:
    """Open a connection that cannot write.

    Raises:
        StartRefused: SQLite cannot open the file, or none of those that it needs beside it.
    """
    try:
        connection = apsw.Connection(
            str(path), flags=apsw.SQLITE_OPEN_READONLY, statementcachesize=100
        )
        connection.set_busy_timeout(_BUSY_MS)
        connection.execute("SELECT 1 FROM sqlite_schema").fetchall()  # opens those beside it
    except apsw.CantOpenError:
        if not os.access(path, os.R_OK):
            raise StartRefused(f"{path} cannot be opened: this user may not read it.") from None
        # `immutable=1` would do without, and without locks and the newest entries: that nobody
        # writes to it cannot be seen from here.
        raise StartRefused(
            f"{path} cannot be opened: to read it, SQLite has to write files beside it. Do this as "
            "the service's user; on a read-only disk, copy the whole folder and the anchor "
            "(`cp -a`) to where you may write, and use the copy."
        ) from None
    connection.pragma("query_only", 1)
    connection.pragma("trusted_schema", 0)
    return connection


class SQLiteReader:
    """Reads what has been committed; its transactions are as short as its queries."""

    def __init__(self, path: Path) -> None:
        """Open a connection that cannot write.

        Raises:
            StartRefused: The file cannot be opened.
        """
        self._connection = connect(path)

    def close(self) -> None:
        """Let go of the database."""
        self._connection.close()

    def _rows(self, query: str, *values: apsw.SQLiteValue) -> list[Any]:
        return self._connection.execute(query, values).fetchall()

    def _row(self, query: str, *values: apsw.SQLiteValue) -> Any:  # noqa: ANN401 - a row
        # Read to the end: a query left half read holds its snapshot and blocks checkpoints.
        found = self._connection.execute(query, values).fetchall()
        return found[0] if found else None

    def hold(self) -> None:
        """From now on read the database as it is at the next query. Short-lived readers only."""
        self._connection.execute("BEGIN")

    def integrity(self) -> list[str]:
        """What SQLite itself finds wrong with the file."""
        return [row[0] for row in self._rows("PRAGMA integrity_check(20)") if row[0] != "ok"]

    def identity(self) -> Identity:
        """Whose database this is."""
        # All columns: the first form of the database, which a backup may have, lacks the last.
        return Identity(*self._row("SELECT * FROM service")[1:])

    def form(self) -> int:
        """Number of the migration that the database has come to."""
        return int(self._row("PRAGMA user_version")[0])

    def is_linked(self) -> bool:
        """Whether rows name the events that they follow, as since the third form."""
        return self.form() >= _LINKED

    def head(self) -> Head:
        """The log's head."""
        return Head(*self._row("SELECT size, root, epoch, at FROM head"))

    def leaves(self, start: int = 0) -> Generator[bytes, None, None]:
        """Leaf hashes in log order from an index, as stored."""
        for row in self._connection.execute(
            "SELECT leaf FROM events WHERE idx >= ? ORDER BY idx", (start,)
        ):
            yield row[0]

    def all_events(self) -> Iterator[EventRow]:
        """All events in log order."""
        before = "before" if self.is_linked() else "NULL"
        for row in self._connection.execute(
            f"SELECT idx, table_id, seq, hand, {before}, body, leaf FROM events ORDER BY idx"  # noqa: S608
        ):
            yield EventRow(*row)

    def entries(self, start: int, end: int) -> list[bytes]:
        """Events from one log index up to, and without, another."""
        return [
            row[0]
            for row in self._rows(
                "SELECT body FROM events WHERE idx >= ? AND idx < ? ORDER BY idx", start, end
            )
        ]

    def table(self, table_id: str) -> TableRow | None:
        """A table."""
        row = self._row(f"{_TABLE} WHERE id = ?", table_id)
        return TableRow(*row) if row else None

    def tables_of(self, operator: str, after: str, limit: int) -> list[TableRow]:
        """An operator's tables by id, which is by age."""
        rows = self._rows(
            f"{_TABLE} WHERE operator = ? AND id > ? ORDER BY id LIMIT ?",
            operator,
            after,
            limit,
        )
        return [TableRow(*row) for row in rows]

    def own_entries(self) -> list[EventRow]:
        """The entries of the log itself, which belong to no table, in order."""
        rows = self._rows(
            "SELECT idx, table_id, seq, hand, NULL, body, leaf FROM events "
            "WHERE table_id = '' ORDER BY seq"
        )
        return [EventRow(*row) for row in rows]

    def event(self, idx: int) -> EventRow | None:
        """The event or entry at a log index."""
        row = self._row(
            "SELECT idx, table_id, seq, hand, before, body, leaf FROM events WHERE idx = ?", idx
        )
        return EventRow(*row) if row else None

    def events(self, table_id: str, after: int, limit: int) -> list[EventRow]:
        """Events of a table after an event number, in order.

        It reads what it gives, and besides at most what lies between two openings of hands.
        """
        row = self._row("SELECT newest, seq, hand FROM tables WHERE id = ?", table_id)
        if row is None or row[1] <= after:
            return []
        end, newest, hands = row
        last = after + limit
        if newest > last:
            # The first opening of a hand that is not before the last event that is wanted.
            openings = range(1, hands + 1)
            at = bisect_left(openings, last, key=lambda hand: self._opening(table_id, hand)[1])
            if at < len(openings):
                end = self._opening(table_id, openings[at])[0]
        return [EventRow(*row) for row in self._rows(_STRETCH, end, after, last)]

    def _opening(self, table_id: str, hand: int) -> tuple[int, int]:
        """Index and number of the event that has opened a hand."""
        row = self._row(
            "SELECT e.idx, e.seq FROM commitments c CROSS JOIN events e ON e.idx = c.idx "
            "WHERE c.table_id = ? AND c.hand = ?",
            table_id,
            hand + 1,
        )
        return row[0], row[1]

    def events_of_hand(
        self, table_id: str, hand: int, after: int = -1, limit: int = ALL
    ) -> list[EventRow]:
        """Events of one hand after an event number, in order."""
        return [EventRow(*row) for row in self._rows(_HAND, table_id, hand, after, limit)]

    def commitment(self, table_id: str, hand: int) -> CommitmentRow | None:
        """The commitment of a hand."""
        row = self._row(
            "SELECT value, table_id, hand, fixed, sealed, idx FROM commitments "
            "WHERE table_id = ? AND hand = ?",
            table_id,
            hand,
        )
        return CommitmentRow(*row) if row else None

    def commitments(self) -> Iterator[CommitmentRow]:
        """All commitments; of an older form the index is -1."""
        idx = "idx" if self.is_linked() else "-1"
        for row in self._connection.execute(
            f"SELECT value, table_id, hand, fixed, sealed, {idx} FROM commitments"  # noqa: S608
        ):
            yield CommitmentRow(*row)

    def discards(self, table_id: str) -> list[DiscardsRow]:
        """The sealed discards of a table, in the order of their events."""
        rows = self._rows(
            "SELECT table_id, hand, seq, sealed FROM discards WHERE table_id = ? ORDER BY seq",
            table_id,
        )
        return [DiscardsRow(*row) for row in rows]

    def all_tables(self) -> Iterator[TableRow]:
        """All tables; of an older form the newest event is -1."""
        query = _TABLE if self.is_linked() else _TABLE.replace("newest", "-1")
        for row in self._connection.execute(query):
            yield TableRow(*row)

    def all_seats(self) -> Iterator[SeatRow]:
        """All seats' credentials."""
        for row in self._connection.execute("SELECT table_id, seat, claim, token FROM seats"):
            yield SeatRow(*row)

    def all_discards(self) -> Iterator[DiscardsRow]:
        """All sealed discards."""
        for row in self._connection.execute("SELECT table_id, hand, seq, sealed FROM discards"):
            yield DiscardsRow(*row)

    def all_late_disclosures(self) -> Iterator[DisclosureRow]:
        """Where hands were disclosed that were not their table's newest; none of an older form."""
        if self.is_linked():
            for row in self._connection.execute("SELECT table_id, hand, idx FROM late_disclosures"):
                yield DisclosureRow(*row)

    def all_finished(self) -> Iterator[FinishedRow]:
        """All hands that have ended."""
        for row in self._connection.execute(
            "SELECT idx, table_id, hand, game, state, at FROM finished"
        ):
            yield FinishedRow(*row)

    def all_answers(self) -> Iterator[AnswerRow]:
        """All kept answers, those by event first; of an older form none has an index."""
        queries = [f"{_ANSWER} FROM answers", f"{_ANSWER} FROM answers_apart"]
        if self.form() < _BY_EVENT:
            queries = [queries[0].replace("idx", "NULL")]
        for query in queries:
            for row in self._connection.execute(query):
                yield AnswerRow(*row)

    def seat_by_token(self, token: bytes) -> SeatRow | None:
        """The seat that a token is for; the token as SHA-256."""
        row = self._row("SELECT table_id, seat, claim, token FROM seats WHERE token = ?", token)
        return SeatRow(*row) if row else None

    def seat_by_claim(self, claim: bytes) -> SeatRow | None:
        """The seat that a claim code is for; the code as SHA-256."""
        row = self._row("SELECT table_id, seat, claim, token FROM seats WHERE claim = ?", claim)
        return SeatRow(*row) if row else None

    def answer(self, idx: int) -> AnswerRow | None:
        """The answer to the request whose last event is at a log index."""
        row = self._row(f"{_ANSWER} FROM answers WHERE idx = ?", idx)
        return AnswerRow(*row) if row else None

    def answer_apart(self, scope: bytes) -> AnswerRow | None:
        """An answer that is kept apart."""
        row = self._row(f"{_ANSWER} FROM answers_apart WHERE scope = ?", scope)
        return AnswerRow(*row) if row else None

    def answers_of(self, table_id: str) -> list[tuple[bytes, int]]:
        """Under which keys answers to a table's requests are kept, and where, oldest first."""
        return [(row[0], row[1]) for row in self._rows(_ANSWERS_OF, table_id)]

    def oldest_answer(self) -> int | None:
        """Index of the first event of the oldest request whose answer is kept by its events."""
        row = self._row(
            "SELECT idx - events + 1 FROM answers WHERE idx = (SELECT min(idx) FROM answers)"
        )
        return row[0] if row else None

    def finished_after(self, idx: int, limit: int) -> list[FinishedRow]:
        """Hands that ended after a log index, oldest first."""
        rows = self._rows(
            f"{_FINISHED} WHERE idx > ? ORDER BY idx LIMIT ?",
            idx,
            limit,
        )
        return [FinishedRow(*row) for row in rows]

    def finished_before(self, idx: int, limit: int) -> list[FinishedRow]:
        """Hands that ended before a log index, newest first."""
        rows = self._rows(
            f"{_FINISHED} WHERE idx < ? ORDER BY idx DESC LIMIT ?",
            idx,
            limit,
        )
        return [FinishedRow(*row) for row in rows]

    def checkpoint_over(self, idx: int) -> tuple[int, str] | None:
        """The checkpoint of the commit that logged an entry: the first that covers it."""
        row = self._row(
            "SELECT size, note FROM checkpoints WHERE size > ? ORDER BY size LIMIT 1", idx
        )
        return (row[0], row[1]) if row else None

    def checkpoint(self, size: int) -> str | None:
        """The checkpoint of a size, if one was made."""
        row = self._row("SELECT note FROM checkpoints WHERE size = ?", size)
        return row[0] if row else None

    def checkpoints(self) -> Iterator[tuple[int, str]]:
        """All checkpoints, by size."""
        for row in self._connection.execute("SELECT size, note FROM checkpoints ORDER BY size"):
            yield row[0], row[1]

    def open_hands(self) -> list[TableRow]:
        """Tables with an open hand."""
        rows = self._rows(f"{_TABLE} WHERE state = 'hand_open'")
        return [TableRow(*row) for row in rows]

    def unclosed(self) -> list[str]:
        """Tables that are not closed, by id."""
        return [
            row[0]
            for row in self._rows("SELECT id FROM tables WHERE state <> 'closed' ORDER BY id")
        ]

    def idle_before(self, due: int, limit: int) -> list[TableRow]:
        """Tables without an open hand whose time was over before a moment."""
        rows = self._rows(
            f"{_TABLE} WHERE state = 'idle' AND due < ? ORDER BY due LIMIT ?",
            due,
            limit,
        )
        return [TableRow(*row) for row in rows]
