"""Tables in memory: folded from their events, with the secrets of their open hand."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from fairdeal.codecs import Place
from fairdeal.dealing import Dealing
from fairdeal.errors import StateError, VerificationError
from fairdeal.events import Discards, HandEvent, HandOpened, TableOpened, parse_event
from fairdeal.hand import Hand
from fairdeal.hashing import u32be
from fairdeal.log.entries import LogContinued
from fairdeal.seeds import Commitment, ServerSeed, commit, verify_commitment
from fairdeal.table import Table
from fairdeal_api import system
from fairdeal_api.logging import LOG
from fairdeal_api.problems import Problem
from fairdeal_api.sealing import Sealer
from fairdeal_api.store import DiscardsRow, EventRow, Reader, TableRow

_PAGE = 1000
_KNOWN_KEYS = 5000


@dataclass(slots=True)
class Slot:
    """One table. What is here is committed and anchored, unless a draft says otherwise."""

    id: str
    operator: str
    table: Table
    newest: int
    """Log index of the table's newest event."""
    test_seed: bytes | None = field(repr=False)
    dealing: Dealing | None = field(default=None, repr=False)
    """Of the newest hand."""
    next_seed: ServerSeed | None = field(default=None, repr=False)
    """Of `table.next_commitment`."""
    lock: asyncio.Lock = field(default_factory=asyncio.Lock, repr=False)
    kept: dict[bytes, int] = field(default_factory=dict, repr=False)
    """Under which keys answers are kept, and where: a key that is not here is new."""
    users: int = 0
    """Requests that hold or await the lock: the slot must stay the only one of its table."""

    room: int = _KNOWN_KEYS

    def keep(self, scope: bytes, idx: int, reader: Reader) -> None:
        """An answer is kept under this key. Now and then those go that are not kept any more."""
        self.kept[scope] = idx
        if len(self.kept) > self.room:
            oldest = reader.oldest_answer() or 0
            self.kept = {scope: idx for scope, idx in self.kept.items() if idx >= oldest}
            self.room = max(_KNOWN_KEYS, 2 * len(self.kept))

    @property
    def state(self) -> str:
        """Of the table, in the API's words."""
        if self.table.is_closed:
            return "closed"
        return "idle" if self.table.open_hand is None else "hand_open"


def fixed_seed(test_seed: bytes, hand: int) -> ServerSeed:
    """The server seed of a hand at a table with a test seed."""
    return ServerSeed(hashlib.sha256(b"fairdeal test seed" + test_seed + u32be(hand)).digest())


def encode_discards(discards: Discards) -> bytes:
    """Which cards these were, to be sealed."""
    return json.dumps({str(seat): thrown for seat, thrown in discards.items()}).encode()


def _decode_discards(data: bytes) -> dict[int, tuple[tuple[Place, ...], ...]]:
    value: dict[str, Any] = json.loads(data)
    return {
        int(seat): tuple(tuple(Place(*place) for place in cards) for cards in thrown)
        for seat, thrown in value.items()
    }


class Slots:
    """All tables that are in memory, the ones used last."""

    def __init__(self, reader: Reader, sealer: Sealer, limit: int) -> None:
        """Load from this database."""
        self._reader, self._sealer, self._limit = reader, sealer, limit
        self._slots: OrderedDict[str, Slot] = OrderedDict()
        self.follows: LogContinued | None = None
        """How the log began, if it continues another one."""

    def get(self, table_id: str) -> Slot:
        """A table.

        Raises:
            Problem: `table_unknown`, `log_continued`.
        """
        slot = self._slots.get(table_id)
        if slot is None:
            row = self._reader.table(table_id) if len(table_id) == 30 else None
            if row is None:
                raise self._unknown(table_id)
            slot = self._load(row)
            self.add(slot)
        else:
            self._slots.move_to_end(table_id)
        return slot

    def _unknown(self, table_id: str) -> Problem:
        """Of a table that is older than the log somebody else may know. Spec: LOG-31."""
        follows = self.follows
        if follows is None or not system.table_made_before(table_id, follows.at):
            return Problem("table_unknown")
        origins = {"old_origin": follows.old.origin, "origin": follows.origin}
        return Problem("log_continued", context=origins)

    def add(self, slot: Slot) -> None:
        """Keep a table that is not kept yet; the one not used for longest makes room."""
        # Two slots of one table would make two events of one number.
        if self._slots.setdefault(slot.id, slot) is not slot:
            return
        self.trim()

    def trim(self) -> None:
        """Let tables go that nobody uses, the one not used for longest first."""
        if len(self._slots) <= self._limit:
            return
        idle = [table_id for table_id, slot in self._slots.items() if not slot.users]
        # The newest stays in any case: whoever has just got it is about to use it.
        for table_id in idle[: len(self._slots) - self._limit]:
            if table_id != next(reversed(self._slots)):
                del self._slots[table_id]

    def _load(self, row: TableRow) -> Slot:
        table: Table | None = None
        for event in self._events(row):
            parsed = parse_event(event.body)
            if table is None:
                if not isinstance(parsed, TableOpened):
                    raise VerificationError("wrong_event", "a table begins with its terms")
                table = Table.open(parsed)
            else:
                table = table.apply(parsed)
        if table is None:
            raise Problem("table_unknown")
        test_seed = None
        if row.test_seed is not None:
            test_seed = self._sealer.open("test seed", row.id, 0, row.test_seed)
        slot = Slot(row.id, row.operator, table, row.newest, test_seed)
        slot.kept = dict(self._reader.answers_of(row.id))
        if table.hand is not None:
            slot.dealing = self._refereed(row.id, self.dealing(slot, table.hand))
        slot.next_seed = self.server_seed(row.id, 1 + (table.hand.number if table.hand else 0))
        return slot

    def _refereed(self, table_id: str, dealing: Dealing | None) -> Dealing | None:
        """With the referee's view of a hand under way, where there is a referee.

        If another version of the service has let something pass that this one's rules do not
        allow, there is no view: the hand can be aborted, and nothing else.
        """
        if dealing is None or not dealing.hand.table.referee or dealing.hand.is_final:
            return dealing
        rows = self._reader.events_of_hand(table_id, dealing.hand.number)
        events = [event for row in rows if isinstance(event := parse_event(row.body), HandEvent)]
        try:
            return dealing.replayed(events)
        except StateError as error:
            LOG.write("referee.lost", error=type(error).__name__)
            return dealing

    def _events(self, table: TableRow) -> Iterable[EventRow]:
        for after in range(-1, table.seq, _PAGE):
            yield from self._reader.events(table.id, after, min(_PAGE, table.seq - after))

    # --- secrets --------------------------------------------------------------------------------

    def server_seed(self, table_id: str, hand: int) -> ServerSeed | None:
        """A hand's server seed from the database; None if it is lost. Spec: SEED-1."""
        row = self._reader.commitment(table_id, hand)
        if row is None:
            return None
        try:
            seed = ServerSeed(
                self._sealer.open("server seed", table_id, hand, row.sealed, row.value)
            )
            verify_commitment(Commitment(row.value), seed)
        except VerificationError:
            return None
        return seed

    def dealing(self, slot: Slot, hand: Hand) -> Dealing | None:
        """A hand with its secrets; None if they are lost."""
        if hand.disclosed is not None:
            return Dealing(hand, hand.disclosed.server_seed, hand.disclosed.discards).at(hand)
        seed = self.server_seed(slot.id, hand.number)
        if seed is None:
            return None
        rows = [row for row in self._reader.discards(slot.id) if row.hand == hand.number]
        try:
            thrown = self._thrown(rows)
        except VerificationError:
            return None
        if {(seat, k) for seat, cards in thrown.items() for k in range(len(cards))} != set(
            hand.locks
        ):
            return None  # a restore has brought the events back, and not which cards they were
        return Dealing(hand, seed, thrown).at(hand)

    def _thrown(self, rows: list[DiscardsRow]) -> Discards:
        thrown: dict[int, tuple[tuple[Place, ...], ...]] = {}
        for row in rows:
            data = self._sealer.open("discards", row.table_id, row.hand, row.sealed)
            for seat, cards in _decode_discards(data).items():
                thrown[seat] = thrown.get(seat, ()) + cards
        return thrown

    def new_seed(self, slot_test_seed: bytes | None, hand: int) -> tuple[ServerSeed, Commitment]:
        """A server seed for a hand to come: fresh, or fixed by a test seed. Spec: SEED-1."""
        if slot_test_seed is None:
            seed = system.new_server_seed()
        else:
            seed = fixed_seed(slot_test_seed, hand)
        return seed, commit(seed)

    def seal_seed(self, table_id: str, hand: int, seed: ServerSeed, commitment: bytes) -> bytes:
        """The seed as it is stored."""
        return self._sealer.seal("server seed", table_id, hand, seed, commitment)

    def seal_discards(self, table_id: str, hand: int, discards: Discards) -> bytes:
        """Discards as they are stored."""
        return self._sealer.seal("discards", table_id, hand, encode_discards(discards))

    # --- hands that are over --------------------------------------------------------------------

    def hand(self, slot: Slot, number: int) -> Hand:
        """Any hand of a table as it is now.

        Raises:
            Problem: `hand_unknown`.
        """
        newest = slot.table.hand
        if newest is None or not 1 <= number <= newest.number:
            raise Problem("hand_unknown")
        return newest if number == newest.number else self.hand_at(slot, number, slot.table.seq)

    def hand_at(self, slot: Slot, number: int, seq: int) -> Hand:
        """A hand of a table as it was after one of the table's events."""
        hand: Hand | None = None
        for row in self._reader.events_of_hand(slot.id, number):
            if row.seq > seq:
                break
            event = parse_event(row.body)
            if isinstance(event, HandOpened):
                hand = Hand.open(slot.table.terms_event, slot.table.terms, event)
            elif hand is not None and isinstance(event, HandEvent):
                hand = hand.apply(event)
        if hand is None:
            raise Problem("hand_unknown")
        return hand
