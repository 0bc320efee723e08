"""Recompute everything from the stored bytes, as somebody who trusts no index and no state.

It reads only, so it may run beside the service. What it finds it says in sentences without
secrets.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import apsw

from fairdeal.dealing import Dealing
from fairdeal.errors import FairdealError
from fairdeal.events import (
    CardsDiscarded,
    Event,
    HandAborted,
    HandClosed,
    HandDisclosed,
    HandEvent,
    HandOpened,
    TableOpened,
    parse_event,
)
from fairdeal.hand import Hand
from fairdeal.log.entries import LogContinued, LogRotated, parse_log_entry
from fairdeal.log.keys import LogKeys
from fairdeal.log.note import VerifierKey
from fairdeal.log.tree import LogTree
from fairdeal.merkle import leaf_hash
from fairdeal.seeds import Commitment, ServerSeed, verify_commitment
from fairdeal.table import Table
from fairdeal_api import system
from fairdeal_api.anchor import Anchor, verify_start
from fairdeal_api.kept import Parts
from fairdeal_api.keyring import NO_TABLE, find, log_keys, sealing_key
from fairdeal_api.sealing import Sealer
from fairdeal_api.service import database_path, verify_origin
from fairdeal_api.settings import Settings
from fairdeal_api.store import AnswerRow, DisclosureRow, EventRow, FinishedRow, Identity
from fairdeal_api.store.reading import SQLiteReader
from fairdeal_api.store.sqlite import check_library, is_older
from fairdeal_api.system import StartRefused

_ENOUGH = 50

Promises = dict[tuple[str, int], tuple[bytes, int]]
"""The commitments that the log holds, by table and hand, and the index of the entry that does."""
Played = dict[tuple[str, int], list[HandEvent]]
"""Events of hands that are not disclosed yet, by table and hand."""


@dataclass(slots=True)
class Report:
    """What was looked at, and what was wrong."""

    events: int = 0
    tables: int = 0
    hands: int = 0
    checkpoints: int = 0
    answers: int = 0
    lost: int = 0
    """Server seeds that a restore could not bring back."""
    faults: list[str] = field(default_factory=list)

    def fault(self, sentence: str) -> None:
        """Note a fault; after some dozens the point is made."""
        if len(self.faults) < _ENOUGH:
            self.faults.append(sentence)


@dataclass(slots=True)
class Replayed:
    """What the log's bytes say, all of them folded through the core."""

    keys: LogKeys
    """As the database's first key and the log's rotations say."""
    tree: LogTree = field(default_factory=LogTree)
    tables: dict[str, Table] = field(default_factory=dict)
    promises: Promises = field(default_factory=dict)
    finished: dict[tuple[str, int], FinishedRow] = field(default_factory=dict)
    discards: set[tuple[str, int, int]] = field(default_factory=set)
    """Where cards were thrown face down: table, hand, event."""
    newest: dict[str, int] = field(default_factory=dict)
    """Index of each table's newest event."""
    late: set[DisclosureRow] = field(default_factory=set)
    """Where hands were disclosed that were not their table's newest any more."""
    own: int = 0
    """Entries that belong to no table."""
    broken: set[str] = field(default_factory=set)
    """Tables whose chain does not fold."""


def check(settings: Settings) -> Report:
    """Check a data folder. Spec: LOG-25.

    Raises:
        StartRefused: There is nothing that could be checked.
    """
    check_library()
    path = database_path(settings)
    try:
        return _check(settings, path)
    except apsw.Error as error:
        # Where SQLite cannot go on, nobody can say what else is wrong.
        raise StartRefused(f"{path} cannot be read ({type(error).__name__}).") from None


def _check(settings: Settings, path: Path) -> Report:
    reader = SQLiteReader(path)
    try:
        identity = reader.identity()
        # Under another name nothing that is sealed would open, and all of it would look lost.
        verify_origin(identity, settings)
        keys = system.read_keys(settings.keys_path, identity.sealing_id)
        chain = log_keys(reader)
        # The anchor first: beside a running service the database is never behind it.
        anchor = Anchor(settings.anchor_path, moves=False)
        anchored = anchor.load(chain)
        anchor.close()
        if is_older(reader, path):
            raise StartRefused(
                f"{path} was written by an older version of fairdeal; the next start brings it up."
            )
        try:
            sealing, other = sealing_key(keys, identity), ""
        except StartRefused as error:
            sealing, other = keys.sealing, str(error)
        report, replayed = examine(reader, chain.first, Sealer(sealing, settings.log_origin))
        if other:
            report.faults.insert(0, other)  # so says each value besides, as far as they are named
        if replayed.keys.origin != settings.log_origin or (
            find(settings.log_origin, keys, replayed.keys.current) is None
        ):
            report.fault("The database is of another log than settings and key.")
        try:
            verify_start(replayed.tree, anchored)
            anchor.verify_seen(replayed.tree, replayed.keys)
        except StartRefused as error:
            report.fault(str(error))
    finally:
        reader.close()
    return report


def examine(
    reader: SQLiteReader, key: VerifierKey, sealer: Sealer | None
) -> tuple[Report, Replayed]:
    """Check a database from its stored bytes alone.

    Args:
        reader: Of the database; it is left in a transaction.
        key: One of the log's.
        sealer: Opens what is sealed; None leaves that closed.
    """
    report = Report()
    reader.hold()
    for sentence in reader.integrity():
        report.fault(f"SQLite: {sentence}.")
    identity = reader.identity()
    replayed = _replay(reader, _first_key(identity, key, report), report)
    if identity.origin != key.name or key not in replayed.keys:
        report.fault("The database is of another log than settings and key.")
    _check_log(reader, replayed, report)
    _check_rows(reader, replayed, report)
    _check_finished(reader, replayed, report)
    _check_late_disclosures(reader, replayed, report)
    _check_commitments(reader, sealer, replayed.promises, report)
    _check_sealed(reader, sealer, replayed, report)
    return report, replayed


def _first_key(identity: Identity, key: VerifierKey, report: Report) -> VerifierKey:
    """The key that the log began with; the given one where the database names none."""
    try:
        return VerifierKey.parse(identity.log_key)
    except FairdealError:
        report.fault("The database names no key of a log.")
        return key


def _replay(reader: SQLiteReader, first: VerifierKey, report: Report) -> Replayed:
    """Fold every chain through the core, and build the tree from the bytes."""
    found = Replayed(LogKeys(first))
    before: LogContinued | None = None
    played: Played = {}
    linked = reader.is_linked()
    for row in reader.all_events():
        leaf = leaf_hash(row.body)
        if row.idx != len(found.tree):
            report.fault(f"Entry {len(found.tree)} is missing.")
        if leaf != row.leaf:
            report.fault(f"Entry {row.idx}: its bytes are not those that were hashed.")
        report.events += 1
        if linked and row.before != found.newest.get(row.table_id):
            report.fault(f"Entry {row.idx} names another entry as the one before it.")
        if row.table_id == NO_TABLE:
            before = _fold_own(row, found, before, report)
            found.tree.append(leaf)
            continue
        found.tree.append(leaf)
        found.newest[row.table_id] = row.idx
        if row.table_id in found.broken:
            continue
        try:
            event = _fold(row, found, report)
            terms = found.tables.get(row.table_id)
            if terms is not None:
                found.keys.verify_terms(terms.terms_event.log_key, row.idx)
            if row.table_id in found.tables:
                _disclosed(found.tables[row.table_id], event, played, report)
        except FairdealError as error:
            found.broken.add(row.table_id)
            report.fault(f"Entry {row.idx}: event {row.seq} of {row.table_id} is {error.code}.")
    report.tables = len(found.tables)
    return found


def _fold_own(
    row: EventRow, found: Replayed, before: LogContinued | None, report: Report
) -> LogContinued | None:
    """An entry of no table, where it stands; gives it back if one may follow it.

    Spec: LOG-26, LOG-30.
    """
    if row.seq != found.own or row.hand:
        report.fault(f"Entry {row.idx} is filed under another name.")
    found.own += 1
    try:
        entry = parse_log_entry(row.body)
        if isinstance(entry, LogRotated):
            found.keys = found.keys.rotate(entry, row.idx, found.tree.root())
            return None
        entry.verify(row.idx, before)
        if entry.log_key != found.keys.first:
            report.fault(f"Entry {row.idx} is of another log.")
    except FairdealError as error:
        report.fault(f"Entry {row.idx}, of the log itself, is {error.code}.")
        return None
    return entry


def _fold(row: EventRow, found: Replayed, report: Report) -> Event:
    table_id = row.table_id
    event = parse_event(row.body)
    hand = event.hand if isinstance(event, HandEvent) else 0
    if (event.header.table, event.header.seq, hand) != (table_id, row.seq, row.hand):
        report.fault(f"Event {row.seq} of {table_id} is filed under another name.")
    if isinstance(event, TableOpened):
        if table_id in found.tables:
            report.fault(f"{table_id} begins twice.")
        found.tables[table_id] = Table.open(event)
        found.promises[table_id, 1] = event.next_commitment, row.idx
        return event
    if table_id not in found.tables:
        report.fault(f"{table_id} begins without its terms.")
        return event
    found.tables[table_id] = found.tables[table_id].apply(event)
    match event:
        case HandClosed() | HandAborted():
            report.hands += 1
            state = "closed" if isinstance(event, HandClosed) else "aborted"
            game = found.tables[table_id].terms_event.game
            found.finished[table_id, hand] = FinishedRow(
                row.idx, table_id, hand, game, state, event.header.at
            )
        case CardsDiscarded():
            found.discards.add((table_id, hand, row.seq))
        case HandOpened():
            found.promises[table_id, hand + 1] = event.next_commitment, row.idx
        case HandDisclosed() if is_late(found.tables[table_id], event):
            found.late.add(DisclosureRow(table_id, hand, row.idx))
        case _:
            pass
    return event


def is_late(table: Table, event: HandDisclosed) -> bool:
    """Whether a hand was disclosed when it was not its table's newest any more."""
    return table.hand is None or event.hand != table.hand.number


def _disclosed(table: Table, event: Event, played: Played, report: Report) -> None:
    """A disclosed hand has the decks that its seeds give, and was played by the rules.

    Spec: DECK-2, PLAY-8.
    """
    if not isinstance(event, HandEvent):
        return
    if not isinstance(event, HandDisclosed):
        played.setdefault((table.id, event.hand), []).append(event)
        return
    events = played.pop((table.id, event.hand), [])
    what = f"Hand {event.hand} of {table.id}"
    try:
        hand: Hand | None = None
        for past in events:
            if isinstance(past, HandOpened):
                hand = Hand.open(table.terms_event, table.terms, past)
            elif hand is not None:
                hand = hand.apply(past)
        if hand is None:
            return
        dealing = Dealing(hand, event.server_seed, event.discards).at(hand)
        roots = [root for root, _ in hand.roots]
        if roots != [deck.root for deck in dealing.decks][: len(roots)]:
            report.fault(f"{what} was dealt from another deck than its seeds give.")
        elif table.terms_event.referee:
            dealing.replayed(events)
    except FairdealError as error:
        report.fault(f"{what} was not played by the rules: {error.code}.")


def _check_log(reader: SQLiteReader, found: Replayed, report: Report) -> None:
    """Head and every stored checkpoint against the tree, and the keys in force."""
    head, tree = reader.head(), found.tree
    if head.size != len(tree) or head.root != tree.root():
        report.fault(f"The head names {head.size} entries with another root; {len(tree)} are here.")
    newest = 0
    for size, note in reader.checkpoints():
        report.checkpoints += 1
        newest = size
        try:
            checkpoint = found.keys.open(note, lone=True)
        except FairdealError:
            report.fault(f"The checkpoint of size {size} is not signed by the log.")
            continue
        if checkpoint.size != size or size > len(tree) or tree.root(size) != checkpoint.root:
            report.fault(f"The checkpoint of size {size} has another root.")
    if newest != head.size:
        report.fault(f"The head names {head.size} entries and the newest checkpoint {newest}.")


def _check_rows(reader: SQLiteReader, found: Replayed, report: Report) -> None:
    """The rows of tables and seats against the chains."""
    rows = {row.id: row for row in reader.all_tables()}
    linked = reader.is_linked()
    for table_id, table in found.tables.items():
        row = rows.pop(table_id, None)
        number = table.hand.number if table.hand else 0
        state = "closed" if table.is_closed else "hand_open" if table.open_hand else "idle"
        newest = found.newest[table_id] if linked else -1
        expected = (table.seq, number, state, table.terms_event.game, newest)
        if row is None or (row.seq, row.hand, row.state, row.game, row.newest) != expected:
            report.fault(f"The row of {table_id} is not what its events say.")
    for table_id in rows:
        report.fault(f"The log has no table {table_id}.")
    for seat in reader.all_seats():
        of = found.tables.get(seat.table_id)
        if of is None or of.terms_event.custody != "seats" or seat.seat >= of.terms_event.seats:
            report.fault(f"Seat {seat.seat} of {seat.table_id} is not at a table of the log.")


def _check_finished(reader: SQLiteReader, found: Replayed, report: Report) -> None:
    """The list of ended hands against the log."""
    expected = dict(found.finished)
    for row in reader.all_finished():
        if expected.pop((row.table_id, row.hand), None) != row:
            report.fault(f"The end of hand {row.hand} of {row.table_id} is not what the log says.")
    for table_id, hand in expected:
        report.fault(f"The end of hand {hand} of {table_id} is in the log only.")


def _check_late_disclosures(reader: SQLiteReader, found: Replayed, report: Report) -> None:
    """Where late disclosures are, against the log."""
    expected = set(found.late) if reader.is_linked() else set()
    for row in reader.all_late_disclosures():
        if row not in expected:
            report.fault(
                f"The disclosure of hand {row.hand} of {row.table_id} is not where the log says."
            )
        expected.discard(row)
    for table_id, hand, _ in sorted(expected):
        report.fault(f"The disclosure of hand {hand} of {table_id} is in the log only.")


def _check_commitments(
    reader: SQLiteReader, sealer: Sealer | None, commitments: Promises, report: Report
) -> None:
    """Each commitment in the log has a sealed seed that opens it, and none comes twice."""
    stored, linked = 0, reader.is_linked()
    seen: set[bytes] = set()
    for row in reader.commitments():
        stored += 1
        if row.value in seen and not row.fixed:
            report.fault(f"The commitment of hand {row.hand} of {row.table_id} came before.")
        seen.add(row.value)
        value, idx = commitments.get((row.table_id, row.hand), (b"", -1))
        if value != row.value:
            report.fault(f"The commitment of hand {row.hand} of {row.table_id} is not in the log.")
            continue
        if linked and row.idx != idx:
            report.fault(
                f"The commitment of hand {row.hand} of {row.table_id} is in another entry."
            )
        if not row.sealed:
            report.lost += 1  # a restore has said so
            continue
        what = f"The server seed of hand {row.hand} of {row.table_id}"
        place = ("server seed", row.table_id, row.hand, row.sealed, row.value)
        if (seed := _open(sealer, place, what, report)) is None:
            continue
        try:
            verify_commitment(Commitment(row.value), ServerSeed(seed))
        except FairdealError:
            report.fault(f"{what} does not open its commitment.")
    if stored != len(commitments):
        report.fault(f"{len(commitments)} commitments are in the log and {stored} in the database.")


def _open(
    sealer: Sealer | None, place: tuple[str, str, int, bytes, bytes], what: str, report: Report
) -> bytes | None:
    """What is sealed in a place, as `Sealer.open` is told of it; None if it stays closed."""
    if sealer is None:
        return None
    try:
        return sealer.open(*place)
    except FairdealError as error:
        report.fault(f"{what} {error}.")
        return None


def _is_filed(reader: SQLiteReader, answer: AnswerRow, last: int) -> bool:
    """Whether an answer's events lie one after the other, the last where it says."""
    for back in {0, max(answer.events - 1, 0)}:
        event = reader.event(last - back)
        if event is None or (event.table_id, event.seq) != (answer.table_id, answer.etag - back):
            return False
    return True


def _check_sealed(
    reader: SQLiteReader, sealer: Sealer | None, found: Replayed, report: Report
) -> None:
    """Test seeds, discards and kept answers open; the last two are of events of the log."""
    for table in reader.all_tables():
        if table.test_seed is not None:
            place = ("test seed", table.id, 0, table.test_seed, b"")
            _open(sealer, place, f"The test seed of {table.id}", report)
    for row in reader.all_discards():
        what = f"What was thrown at event {row.seq} of {row.table_id}"
        if (row.table_id, row.hand, row.seq) not in found.discards:
            report.fault(f"{what} is not in the log.")
            continue
        _open(sealer, ("discards", row.table_id, row.hand, row.sealed, b""), what, report)
    scopes: set[bytes] = set()
    for answer in reader.all_answers():
        report.answers += 1
        what = f"A kept answer of event {answer.etag} of {answer.table_id}"
        if answer.scope in scopes:
            report.fault(f"{what} has the key of another.")
        scopes.add(answer.scope)
        of = found.tables.get(answer.table_id)
        if of is None or not answer.etag <= of.seq or answer.events > answer.etag + 1:
            report.fault(f"{what} is of events that the log does not have.")
            continue
        if answer.idx is not None and not _is_filed(reader, answer, answer.idx):
            report.fault(f"{what} is filed under another entry.")
        place = ("answer", answer.table_id, answer.hand, answer.sealed, b"")
        text = _open(sealer, place, what, report)
        if text is not None and answer.events:
            try:
                Parts.decode(text)
            except (FairdealError, ValueError):
                report.fault(f"{what} is none.")
