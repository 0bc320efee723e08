"""A table's events, fetched and folded one by one through the core's state machine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

from fairdeal.errors import FairdealError, StateError
from fairdeal.events import Event, HandEvent, HandOpened, TableOpened, parse_event
from fairdeal.hand import Hand
from fairdeal.hashing import Digest
from fairdeal.table import Table
from fairdeal_api.client.api import Api
from fairdeal_api.client.errors import CheckError

_PAGE = 200


@dataclass(frozen=True, slots=True)
class Standing:
    """How the play stands after an event, at a table with a referee, as the service says it.

    Nobody has proved it, and nothing is: it tells when to ask for moves, and what to draw on a
    screen. What counts is in the events.
    """

    turn: tuple[int, ...]
    """The seats whose move is awaited."""
    play: dict[str, Any]
    """What everybody may know; empty while no seat can move."""

    @classmethod
    def of(cls, answer: dict[str, Any]) -> Self | None:
        """What an answer says of it, if it does."""
        if "turn" not in answer:
            return None
        return cls(tuple([int(seat) for seat in answer["turn"]]), dict(answer["play"] or {}))


class Chain:
    """One table's chain, from `table.opened` to the newest event that was accepted.

    An event is accepted if it follows the newest one and is legal then; whatever the service sends
    a second time must be what it sent before. So everything in here descends from everything
    before it, and two versions of a step cannot both get in. Spec: OPEN-1, OPEN-2.
    """

    def __init__(self, api: Api, table_id: str) -> None:
        """Nothing is fetched yet."""
        self.table_id = table_id
        self.events: list[Event] = []
        self.indices: list[int] = []
        """Where the service says that each event stands in the log: receipts settle it."""
        self.standing: Standing | None = None
        """How the play stands after the newest event; None if no answer has told it yet."""
        self._api = api
        self._table: Table | None = None
        self._hand_starts = 0

    @property
    def table(self) -> Table:
        """The table as it is now."""
        if self._table is None:
            raise CheckError("table_unknown", "no event of the table was fetched yet")
        return self._table

    @property
    def hand(self) -> Hand:
        """The newest hand.

        Raises:
            StateError: There is none yet.
        """
        hand = self.table.hand
        if hand is None:
            raise StateError("too_early", "no hand was opened at the table yet")
        return hand

    @property
    def seq(self) -> int:
        """Number of the newest event; -1 before the first."""
        return len(self.events) - 1

    @property
    def hand_events(self) -> tuple[HandEvent, ...]:
        """Those of the newest hand, from its opening on."""
        return tuple([e for e in self.events[self._hand_starts :] if isinstance(e, HandEvent)])

    def events_of(self, hand: int) -> tuple[HandEvent, ...]:
        """Those of one hand, from its opening on."""
        return tuple([e for e in self.events if isinstance(e, HandEvent) and e.hand == hand])

    def find(self, digest: Digest) -> int | None:
        """The number of the event with this digest."""
        for event in reversed(self.events):
            if event.digest == digest:
                return event.header.seq
        return None

    def sync(self, wait: int = 0) -> list[Event]:
        """Fetch and fold what is new.

        Args:
            wait: Seconds that the service may hold the answer until there is something, 0..25.
        """
        new: list[Event] = []
        more = True
        while more:
            answer = self._api.get(
                f"/v1/tables/{self.table_id}/events", after=self.seq, limit=_PAGE, wait=wait
            )
            found = self._fold_all(answer["events"])
            new += found
            more, wait = bool(answer["has_more"] and found), 0
            self.standing = Standing.of(answer)
        return new

    def accept(self, answer: dict[str, Any]) -> list[Event]:
        """Fold the events that an answer to a write has logged, and what came before them.

        Args:
            answer: With `events`, and at a table with a referee perhaps how the play stands.

        Returns:
            Those that were new.

        Raises:
            CheckError: One does not follow, is not legal, or is another than before.
        """
        items = answer["events"]
        before = self.sync() if items and int(items[0]["seq"]) > self.seq + 1 else []
        new = before + self._fold_all(items)
        # What was fetched in between may go beyond this answer, and then has told it itself.
        if items and int(items[-1]["seq"]) == self.seq:
            self.standing = Standing.of(answer) or self.standing
        return new

    def _fold_all(self, items: Sequence[dict[str, Any]]) -> list[Event]:
        """Fold events as answers carry them: `{seq, index, event}`."""
        new = []
        for item in items:
            raw, seq = str(item["event"]).encode(), int(item["seq"])
            if seq <= self.seq:
                if self.events[seq].raw != raw:
                    raise self._contradiction("not_descended", seq, raw)
                continue
            event = self._fold(raw)
            self.events.append(event)
            self.indices.append(int(item["index"]))
            self.standing = None
            new.append(event)
        return new

    def _fold(self, raw: bytes) -> Event:
        try:
            event = parse_event(raw)
            if self._table is not None:
                table = self._table.apply(event)
            elif isinstance(event, TableOpened) and event.header.table == self.table_id:
                table = Table.open(event)
            else:
                raise CheckError("wrong_event", "this is not the first event of this table")
        except FairdealError as error:
            why = f"a step does not follow from those before it: {error}"
            raise self._contradiction(error.code, self.seq, raw, why) from error
        if isinstance(event, HandOpened):
            self._hand_starts = event.header.seq
        self._table = table
        return event

    def _contradiction(self, code: str, seq: int, got: bytes, why: str = "") -> CheckError:
        """Both sides: what was accepted, and what came and does not go with it."""
        evidence = {"got": got.decode("utf-8", "replace"), "why": why}
        if seq >= 0:
            evidence["kept"] = self.events[seq].raw.decode("ascii")
        return CheckError(code, why or "the service shows another event than before", evidence)
