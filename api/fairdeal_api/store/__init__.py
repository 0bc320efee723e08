"""What the service asks of a database. SQLite is one; another would implement `Store` as well."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple, Protocol

ALL: Final = 1 << 62
"""More rows than there can be."""


class Head(NamedTuple):
    """The log's head. `epoch` counts the processes that have written; `at` is log time in ms."""

    size: int
    root: bytes
    epoch: int
    at: int


class Identity(NamedTuple):
    """Whose database this is."""

    origin: str
    log_key: str
    sealing_id: str
    """Names the key that everything in it is sealed under."""
    old_sealing_id: str | None = None
    """And the one before that, if there was one."""


class EventRow(NamedTuple):
    """An event and its place in the log."""

    idx: int
    table_id: str
    seq: int
    hand: int
    """0 for an event of the table itself."""
    before: int | None
    """Index of the table's event before it; None for its first, and for entries of no table."""
    body: bytes
    leaf: bytes


class TableRow(NamedTuple):
    """A table.

    `patience` is how many seconds its present state may last, `due` when that ends; `newest` is the
    log index of its newest event.
    """

    id: str
    operator: str
    game: str
    test_seed: bytes | None
    seq: int
    hand: int
    state: str
    patience: int
    due: int
    newest: int


class Move(NamedTuple):
    """A table's step from one event to another: compare-and-set on number and index of the old."""

    id: str
    old_seq: int
    old_newest: int
    seq: int
    hand: int
    state: str
    patience: int
    due: int
    newest: int


Step = tuple[int, int, str, int, int]
"""Of a table: log index of its newest event before, and its hand, state, patience and due after."""


class CommitmentRow(NamedTuple):
    """A commitment and its sealed server seed."""

    value: bytes
    table_id: str
    hand: int
    fixed: int
    """1 if it came from a test seed: then the value may come again at another table."""
    sealed: bytes
    idx: int
    """Log index of the event that has published it."""


class SeatRow(NamedTuple):
    """A seat's credentials, as SHA-256."""

    table_id: str
    seat: int
    claim: bytes
    token: bytes | None


class DiscardsRow(NamedTuple):
    """Which cards an event's discards were, sealed."""

    table_id: str
    hand: int
    seq: int
    sealed: bytes


class DisclosureRow(NamedTuple):
    """Where a hand was disclosed that was not its table's newest any more."""

    table_id: str
    hand: int
    idx: int


class FinishedRow(NamedTuple):
    """A hand that has ended. `idx` is the log index of the event that ended it."""

    idx: int
    table_id: str
    hand: int
    game: str
    state: str
    at: int


class AnswerRow(NamedTuple):
    """An answer to be given again.

    `events` is how many of its events and whose receipt are not in it: they are in the log one
    after the other, the last at `idx`, as number `etag` of its table. `at` is log time in ms.
    """

    idx: int | None
    """None if nothing was left out of it."""
    scope: bytes
    request: bytes
    table_id: str
    hand: int
    status: int
    etag: int
    events: int
    at: int
    sealed: bytes


class Forget(NamedTuple):
    """Answers to be dropped: of hands that ended after a log index and up to another one."""

    after: int
    last: int
    before: int
    """And what is kept apart of tables that were closed before this time, ms."""


# What every request writes, as plain tuples: a row's class costs five times as much to make.
EventValues = tuple[int, str, int, int, int | None, bytes, bytes]
"""Of an `EventRow`, which is one."""
MoveValues = tuple[str, int, int, int, int, str, int, int, int]
"""Of a `Move`."""
AnswerValues = tuple[int | None, bytes, bytes, str, int, int, int, int, int, bytes]
"""Of an `AnswerRow`."""

Row = TableRow | CommitmentRow | SeatRow | DiscardsRow | DisclosureRow | FinishedRow | Forget
"""What a request may write besides its events, its table's step and its answer."""


@dataclass(slots=True)
class Rows:
    """What one batch writes."""

    events: list[EventValues] = field(default_factory=list)
    tables: list[TableRow] = field(default_factory=list)
    moves: list[MoveValues] = field(default_factory=list)
    commitments: list[CommitmentRow] = field(default_factory=list)
    seats: list[SeatRow] = field(default_factory=list)
    """New seats, or new credentials of seats that are there."""
    discards: list[DiscardsRow] = field(default_factory=list)
    late_disclosures: list[DisclosureRow] = field(default_factory=list)
    finished: list[FinishedRow] = field(default_factory=list)
    answers: list[AnswerValues] = field(default_factory=list)
    """To requests of a hand, under the last of their events."""
    answers_apart: list[AnswerValues] = field(default_factory=list)
    """To others, which are looked for by their keys."""
    checkpoints: list[tuple[int, str]] = field(default_factory=list)
    """Beside that of the batch: a restore brings back more than one."""
    forget: Forget | None = None

    def add(self, row: Row, first: int) -> None:
        """Take a request's row in.

        Args:
            row: If it has a log index, this counts from the request's first event.
            first: Where that event is in the log.
        """
        match row:
            case CommitmentRow():
                self.commitments.append(CommitmentRow(*row[:-1], row.idx + first))
            case FinishedRow():
                self.finished.append(FinishedRow(row.idx + first, *row[1:]))
            case DiscardsRow():
                self.discards.append(row)
            case DisclosureRow():
                self.late_disclosures.append(DisclosureRow(*row[:-1], row.idx + first))
            case SeatRow():
                self.seats.append(row)
            case TableRow():
                self.tables.append(TableRow(*row[:-1], row.newest + first))
            case Forget():
                self.forget = row


@dataclass(slots=True)
class Batch:
    """One transaction: rows, the head they move, and the checkpoint that covers them."""

    old: Head
    new: Head
    note: str | None
    rows: Rows


Reseal = Callable[[str, str, int, bytes, bytes], bytes]
"""Seals a value anew: its kind, table and hand, the value, and the commitment if it has one."""


class Writer(Protocol):
    """The one writer. All calls come from one thread."""

    def commit(self, batch: Batch, meanwhile: Callable[[], object] | None = None) -> None:
        """Write a batch, durably, all or nothing; raises if anything is not as expected.

        Args:
            batch: What to write.
            meanwhile: Called when all of it is said, and there is only the disk to wait for.
        """

    def reseal(self, head: Head, old: str, new: str, reseal: Reseal) -> None:
        """Seal everything anew, durably, all or nothing: from one sealing key to another."""

    def scrub(self) -> bool:
        """Leave nothing of what was written over; False if that cannot be done now."""

    def tidy(self) -> None:
        """Housekeeping between batches."""

    def close(self) -> None:
        """Let go of the database."""


class Reader(Protocol):
    """Reads what has been committed."""

    def identity(self) -> Identity:
        """Whose database this is."""

    def head(self) -> Head:
        """The log's head."""

    def leaves(self, start: int = 0) -> Iterator[bytes]:
        """Leaf hashes in log order from an index, as stored."""

    def all_events(self) -> Iterator[EventRow]:
        """All events in log order."""

    def entries(self, start: int, end: int) -> list[bytes]:
        """Events from one log index up to, and without, another."""

    def table(self, table_id: str) -> TableRow | None:
        """A table."""

    def tables_of(self, operator: str, after: str, limit: int) -> list[TableRow]:
        """An operator's tables by id, which is by age."""

    def own_entries(self) -> list[EventRow]:
        """The entries of the log itself, which belong to no table."""

    def events(self, table_id: str, after: int, limit: int) -> list[EventRow]:
        """Events of a table after an event number, in order."""

    def events_of_hand(
        self, table_id: str, hand: int, after: int = -1, limit: int = ALL
    ) -> list[EventRow]:
        """Events of one hand after an event number, in order."""

    def commitment(self, table_id: str, hand: int) -> CommitmentRow | None:
        """The commitment of a hand."""

    def commitments(self) -> Iterator[CommitmentRow]:
        """All commitments."""

    def discards(self, table_id: str) -> list[DiscardsRow]:
        """The sealed discards of a table, in order."""

    def seat_by_token(self, token: bytes) -> SeatRow | None:
        """The seat that a token is for."""

    def seat_by_claim(self, claim: bytes) -> SeatRow | None:
        """The seat that a claim code is for."""

    def answer(self, idx: int) -> AnswerRow | None:
        """The stored answer to the request whose last event is at a log index."""

    def answer_apart(self, scope: bytes) -> AnswerRow | None:
        """A stored answer that is kept apart."""

    def answers_of(self, table_id: str) -> list[tuple[bytes, int]]:
        """Under which keys answers to a table's requests are stored, and where, oldest first."""

    def oldest_answer(self) -> int | None:
        """Log index of the first event of the oldest request whose answer is by its event."""

    def finished_after(self, idx: int, limit: int) -> list[FinishedRow]:
        """Hands that ended after a log index, oldest first."""

    def finished_before(self, idx: int, limit: int) -> list[FinishedRow]:
        """Hands that ended before a log index, newest first."""

    def checkpoint_over(self, idx: int) -> tuple[int, str] | None:
        """The first checkpoint that covers an entry."""

    def checkpoint(self, size: int) -> str | None:
        """The checkpoint of a size, if one was made."""

    def open_hands(self) -> list[TableRow]:
        """Tables with an open hand."""

    def unclosed(self) -> list[str]:
        """Tables that are not closed, by id."""

    def idle_before(self, due: int, limit: int) -> list[TableRow]:
        """Tables without an open hand whose time was over before a moment."""

    def close(self) -> None:
        """Let go of the database."""


class Store(Protocol):
    """A database, opened: one writer, and readers."""

    def writer(self) -> Writer:
        """The one writer."""

    def reader(self) -> Reader:
        """A new reader."""
