"""Recompute everything from the stored bytes, as somebody who trusts no index and no state.

It reads only, so it may run beside the service. What it finds it says in sentences without
secrets.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from fairdeal.dealing import Dealing
from fairdeal.errors import FairdealError
from fairdeal.events import (
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
from fairdeal.log.checkpoint import Checkpoint
from fairdeal.log.note import SigningKey, VerifierKey
from fairdeal.merkle import Tree, leaf_hash
from fairdeal.seeds import Commitment, ServerSeed, verify_commitment
from fairdeal.table import Table
from fairdeal_api import system
from fairdeal_api.anchor import Anchor, verify_start
from fairdeal_api.sealing import Sealer
from fairdeal_api.service import database_path
from fairdeal_api.settings import Settings
from fairdeal_api.store.reading import SQLiteReader
from fairdeal_api.store.sqlite import check_library
from fairdeal_api.system import StartRefused

_ENOUGH = 50

Promises = dict[tuple[str, int], bytes]
"""The commitments that the log holds, by table and hand."""
Played = dict[tuple[str, int], list[HandEvent]]
"""Events of hands with a referee that are not disclosed yet, by table and hand."""


@dataclass(slots=True)
class Report:
    """What was looked at, and what was wrong."""

    events: int = 0
    tables: int = 0
    hands: int = 0
    faults: list[str] = field(default_factory=list)

    def fault(self, sentence: str) -> None:
        """Note a fault; after some dozens the point is made."""
        if len(self.faults) < _ENOUGH:
            self.faults.append(sentence)


def check(settings: Settings) -> Report:
    """Check a data folder.

    Raises:
        StartRefused: There is nothing that could be checked.
    """
    check_library()
    path = database_path(settings)
    if not path.exists():
        raise StartRefused(f"There is no database {path}.")
    keys = system.read_keys(settings.keys_path)
    verifier = SigningKey(settings.log_origin, keys.log).verifier
    report = Report()
    # The anchor first: beside a running service the database is never behind it.
    anchor = Anchor(settings.anchor_path)
    anchored = anchor.load(verifier)
    anchor.close()
    reader = SQLiteReader(path)
    try:
        for sentence in reader.integrity():
            report.fault(f"SQLite: {sentence}.")
        identity = reader.identity()
        if (identity.origin, identity.log_key) != (settings.log_origin, str(verifier)):
            report.fault("The database is of another log than settings and key.")
        tree, tables, commitments = _replay(reader, report)
        _check_log(reader, tree, anchored, verifier, report)
        _check_rows(reader, tables, report)
        _check_commitments(reader, Sealer(keys, settings.log_origin), commitments, report)
    finally:
        reader.close()
    return report


def _replay(reader: SQLiteReader, report: Report) -> tuple[Tree, dict[str, Table], Promises]:
    """Fold every chain through the core, and build the tree from the bytes."""
    tree = Tree()
    tables: dict[str, Table] = {}
    commitments: Promises = {}
    played: Played = {}
    broken: set[str] = set()
    for row in reader.all_events():
        leaf = leaf_hash(row.body)
        if row.idx != len(tree):
            report.fault(f"Entry {len(tree)} is missing.")
        if leaf != row.leaf:
            report.fault(f"Entry {row.idx}: its bytes are not those that were hashed.")
        tree.append(leaf)
        report.events += 1
        if row.table_id in broken:
            continue
        try:
            event = _fold(row.table_id, row.seq, row.body, tables, commitments, report)
            if row.table_id in tables:
                _referee(tables[row.table_id], event, played, report)
        except FairdealError as error:
            broken.add(row.table_id)
            report.fault(f"Entry {row.idx}: event {row.seq} of {row.table_id} is {error.code}.")
    report.tables = len(tables)
    return tree, tables, commitments


def _fold(
    table_id: str,
    seq: int,
    body: bytes,
    tables: dict[str, Table],
    commitments: Promises,
    report: Report,
) -> Event:
    event = parse_event(body)
    if event.header.table != table_id or event.header.seq != seq:
        report.fault(f"Event {seq} of {table_id} is filed under another name.")
    if isinstance(event, TableOpened):
        tables[table_id] = Table.open(event)
        promised, hand = event.next_commitment, 1
    elif table_id in tables:
        tables[table_id] = tables[table_id].apply(event)
        if isinstance(event, HandClosed | HandAborted):
            report.hands += 1
        if not isinstance(event, HandOpened):
            return event
        promised, hand = event.next_commitment, event.hand + 1
    else:
        report.fault(f"{table_id} begins without its terms.")
        return event
    commitments[table_id, hand] = promised
    return event


def _referee(table: Table, event: Event, played: Played, report: Report) -> None:
    """A disclosed hand with a referee was played by the rules, to its result. Spec: PLAY-8."""
    if not table.terms_event.referee or not isinstance(event, HandEvent):
        return
    if not isinstance(event, HandDisclosed):
        played.setdefault((table.id, event.hand), []).append(event)
        return
    events = played.pop((table.id, event.hand), [])
    try:
        hand: Hand | None = None
        for past in events:
            if isinstance(past, HandOpened):
                hand = Hand.open(table.terms_event, table.terms, past)
            elif hand is not None:
                hand = hand.apply(past)
        if hand is not None:
            Dealing(hand, event.server_seed, event.discards).at(hand).replayed(events)
    except FairdealError as error:
        report.fault(f"Hand {event.hand} of {table.id} was not played by the rules: {error.code}.")


def _check_log(
    reader: SQLiteReader, tree: Tree, anchored: Checkpoint, key: VerifierKey, report: Report
) -> None:
    """Head, checkpoints and anchor against the tree."""
    head = reader.head()
    if head.size != len(tree) or head.root != tree.root():
        report.fault(f"The head names {head.size} entries with another root; {len(tree)} are here.")
    try:
        verify_start(tree, anchored)
    except StartRefused as error:
        report.fault(str(error))
    for size, note in reader.checkpoints():
        try:
            checkpoint = Checkpoint.open(note, key, lone=True)
        except FairdealError:
            report.fault(f"The checkpoint of size {size} is not signed by the log.")
            continue
        if checkpoint.size != size or size > len(tree) or tree.root(size) != checkpoint.root:
            report.fault(f"The checkpoint of size {size} has another root.")


def _check_rows(reader: SQLiteReader, tables: dict[str, Table], report: Report) -> None:
    """The tables' rows against their chains."""
    for table_id, table in tables.items():
        row = reader.table(table_id)
        number = table.hand.number if table.hand else 0
        state = "closed" if table.is_closed else "hand_open" if table.open_hand else "idle"
        if row is None or (row.seq, row.hand, row.state) != (table.seq, number, state):
            report.fault(f"The row of {table_id} is not what its events say.")


def _check_commitments(
    reader: SQLiteReader,
    sealer: Sealer,
    commitments: Promises,
    report: Report,
) -> None:
    """Each commitment in the log has a sealed seed that opens it, and none comes twice."""
    stored = 0
    seen: set[bytes] = set()
    for row in reader.commitments():
        stored += 1
        if row.value in seen and not row.fixed:
            report.fault(f"The commitment of hand {row.hand} of {row.table_id} came before.")
        seen.add(row.value)
        if commitments.get((row.table_id, row.hand)) != row.value:
            report.fault(f"The commitment of hand {row.hand} of {row.table_id} is not in the log.")
            continue
        try:
            seed = sealer.open("server seed", row.table_id, row.hand, row.sealed, row.value)
            verify_commitment(Commitment(row.value), ServerSeed(seed))
        except FairdealError:
            report.fault(f"The server seed of hand {row.hand} of {row.table_id} does not open.")
    if stored != len(commitments):
        report.fault(f"{len(commitments)} commitments are in the log and {stored} in the database.")
