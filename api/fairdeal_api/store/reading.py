"""Queries on a read-only connection."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import apsw

from fairdeal_api.store import (
    AnswerRow,
    CommitmentRow,
    DiscardsRow,
    EventRow,
    FinishedRow,
    Head,
    Identity,
    SeatRow,
    TableRow,
)

_FINISHED = "SELECT idx, table_id, hand, game, state, at FROM finished"
_BUSY_MS: Final = 5000


class SQLiteReader:
    """Reads what has been committed; its transactions are as short as its queries."""

    def __init__(self, path: Path) -> None:
        """Open a connection that cannot write."""
        self._connection = apsw.Connection(
            str(path), flags=apsw.SQLITE_OPEN_READONLY, statementcachesize=100
        )
        self._connection.pragma("query_only", 1)
        self._connection.pragma("trusted_schema", 0)
        self._connection.set_busy_timeout(_BUSY_MS)

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

    def head(self) -> Head:
        """The log's head."""
        return Head(*self._row("SELECT size, root, epoch, at FROM head"))

    def leaves(self, start: int = 0) -> Iterator[bytes]:
        """Leaf hashes in log order from an index, as stored."""
        for row in self._connection.execute(
            "SELECT leaf FROM events WHERE idx >= ? ORDER BY idx", (start,)
        ):
            yield row[0]

    def all_events(self) -> Iterator[EventRow]:
        """All events in log order."""
        for row in self._connection.execute(
            "SELECT idx, table_id, seq, hand, body, leaf FROM events ORDER BY idx"
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
        row = self._row(
            "SELECT id, operator, game, test_seed, seq, hand, state, patience, due "
            "FROM tables WHERE id = ?",
            table_id,
        )
        return TableRow(*row) if row else None

    def tables_of(self, operator: str, after: str, limit: int) -> list[TableRow]:
        """An operator's tables by id, which is by age."""
        rows = self._rows(
            "SELECT id, operator, game, test_seed, seq, hand, state, patience, due FROM tables "
            "WHERE operator = ? AND id > ? ORDER BY id LIMIT ?",
            operator,
            after,
            limit,
        )
        return [TableRow(*row) for row in rows]

    def events(
        self, table_id: str, after: int, limit: int, hand: int | None = None
    ) -> list[EventRow]:
        """Events of a table, or of one of its hands, after an event number."""
        rows = self._rows(
            "SELECT idx, table_id, seq, hand, body, leaf FROM events "
            "WHERE table_id = ?1 AND seq > ?2 AND (?4 IS NULL OR hand = ?4) ORDER BY seq LIMIT ?3",
            table_id,
            after,
            limit,
            hand,
        )
        return [EventRow(*row) for row in rows]

    def commitment(self, table_id: str, hand: int) -> CommitmentRow | None:
        """The commitment of a hand."""
        row = self._row(
            "SELECT value, table_id, hand, fixed, sealed FROM commitments "
            "WHERE table_id = ? AND hand = ?",
            table_id,
            hand,
        )
        return CommitmentRow(*row) if row else None

    def commitments(self) -> Iterator[CommitmentRow]:
        """All commitments."""
        for row in self._connection.execute(
            "SELECT value, table_id, hand, fixed, sealed FROM commitments"
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
        """All tables."""
        for row in self._connection.execute(
            "SELECT id, operator, game, test_seed, seq, hand, state, patience, due FROM tables"
        ):
            yield TableRow(*row)

    def all_seats(self) -> Iterator[SeatRow]:
        """All seats' credentials."""
        for row in self._connection.execute("SELECT table_id, seat, claim, token FROM seats"):
            yield SeatRow(*row)

    def all_discards(self) -> Iterator[DiscardsRow]:
        """All sealed discards."""
        for row in self._connection.execute("SELECT table_id, hand, seq, sealed FROM discards"):
            yield DiscardsRow(*row)

    def all_finished(self) -> Iterator[FinishedRow]:
        """All hands that have ended."""
        for row in self._connection.execute(
            "SELECT idx, table_id, hand, game, state, at FROM finished"
        ):
            yield FinishedRow(*row)

    def all_answers(self) -> Iterator[AnswerRow]:
        """All kept answers."""
        for row in self._connection.execute(
            "SELECT scope, request, table_id, hand, status, etag, events, at, sealed FROM answers"
        ):
            yield AnswerRow(*row)

    def seat_by_token(self, token: bytes) -> SeatRow | None:
        """The seat that a token is for; the token as SHA-256."""
        row = self._row("SELECT table_id, seat, claim, token FROM seats WHERE token = ?", token)
        return SeatRow(*row) if row else None

    def seat_by_claim(self, claim: bytes) -> SeatRow | None:
        """The seat that a claim code is for; the code as SHA-256."""
        row = self._row("SELECT table_id, seat, claim, token FROM seats WHERE claim = ?", claim)
        return SeatRow(*row) if row else None

    def answer(self, scope: bytes) -> AnswerRow | None:
        """A stored answer."""
        row = self._row(
            "SELECT scope, request, table_id, hand, status, etag, events, at, sealed FROM answers "
            "WHERE scope = ?",
            scope,
        )
        return AnswerRow(*row) if row else None

    def finished(self, table_id: str, hand: int) -> FinishedRow | None:
        """How a hand ended."""
        row = self._row(
            f"{_FINISHED} WHERE table_id = ? AND hand = ?",
            table_id,
            hand,
        )
        return FinishedRow(*row) if row else None

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
        rows = self._rows(
            "SELECT id, operator, game, test_seed, seq, hand, state, patience, due FROM tables "
            "WHERE state = 'hand_open'"
        )
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
            "SELECT id, operator, game, test_seed, seq, hand, state, patience, due FROM tables "
            "WHERE state = 'idle' AND due < ? ORDER BY due LIMIT ?",
            due,
            limit,
        )
        return [TableRow(*row) for row in rows]
