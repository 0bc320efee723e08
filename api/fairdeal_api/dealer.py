"""Use cases: load a table, apply a request through the core, hand the events to the ledger.

Requests for one table follow one another; those of different tables share a batch. A table's
lock is held until its batch is durable, so that whoever reads a table reads what is committed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from itertools import takewhile
from typing import Any, Final

from fairdeal.dealing import Dealing
from fairdeal.errors import FairdealError, StateError
from fairdeal.hand import Phase
from fairdeal_api import play, problems, views
from fairdeal_api.deadlines import Deadlines
from fairdeal_api.draft import Draft, Work, patience_of
from fairdeal_api.json_bytes import encode, encode_members
from fairdeal_api.kept import Key, Parts
from fairdeal_api.ledger import Entry, Ledger
from fairdeal_api.metrics import Metrics
from fairdeal_api.problems import Problem
from fairdeal_api.replies import JSON, NO_STORE, REPLAYED, Header, Reply, etag
from fairdeal_api.sealing import Sealer
from fairdeal_api.slots import Slot, Slots
from fairdeal_api.store import AnswerRow, FinishedRow, Forget, Reader
from fairdeal_api.system import Clock

_FORGET_HANDS: Final = 100
"""How many hands' answers are dropped in one transaction: it holds up a batch by milliseconds."""


class Dealer:
    """Applies requests to tables."""

    def __init__(
        self,
        *,
        slots: Slots,
        ledger: Ledger,
        reader: Reader,
        deadlines: Deadlines,
        sealer: Sealer,
        clock: Clock,
        metrics: Metrics,
        max_waiting: int,
    ) -> None:
        """Work with the parts of a service.

        Args:
            slots: The tables.
            ledger: What writes.
            reader: What is committed.
            deadlines: Of hands.
            sealer: Opens answers that were kept.
            clock: Log time.
            metrics: Counts hands.
            max_waiting: How many callers may wait for an event at a time.
        """
        self.slots = slots
        self._ledger, self._reader, self._deadlines = ledger, reader, deadlines
        self._sealer, self._clock, self._metrics = sealer, clock, metrics
        self._max_waiting = max_waiting
        self._under_way: dict[bytes, asyncio.Future[bytes]] = {}
        self._waiting: dict[str, list[asyncio.Future[None]]] = {}
        self._waiters = 0
        self._forgotten: int | None = None
        """Up to which log index the answers of ended hands are dropped; None if not known."""

    # --- writing --------------------------------------------------------------------------------

    async def write(
        self,
        slot: Slot,
        work: Work,
        *,
        versions: frozenset[int] | None,
        hand: int | None,
        status: int = 200,
        key: Key | None = None,
        again: Callable[[], dict[str, Any]] | None = None,
        apart: bool = False,
    ) -> Reply:
        """Apply a request to a table, once.

        Args:
            slot: The table.
            work: What the request does.
            versions: The table's newest event number must be among them; None if it may be any.
            hand: The hand that its answer is about; 0 for the table, None for the newest then.
            status: Of the answer when something was written.
            key: Where the answer is kept; None for a PUT, which is repeatable by itself.
            again: The answer to a PUT that changes nothing.
            apart: Whether the answer is kept apart: it is not about a hand that was open.

        Raises:
            Problem, FairdealError: Nothing was written.
        """
        handed = False
        slot.users += 1
        await slot.lock.acquire()
        try:
            if key is not None and (apart or key.scope in slot.kept):
                reply = self.replay(key) if apart else self._replay_of(slot, key)
                if reply is not None:
                    return reply
            if self._deadlines.passed(slot.id):
                await self._expire(slot)
            stale = versions is not None and slot.table.seq not in versions
            # A PUT that is sent again, its answer lost, is not too late. RFC 9110, 13.1.1.
            if stale and (again is None or not self._is_done(slot, work)):
                raise Problem("version_mismatch")
            draft = Draft(slot, self.slots, self._clock.now())
            try:
                extra = work(draft)
            except (Problem, StateError) as error:
                raise _in_context(error, slot) from None
            if not draft.events:
                if again is None:
                    raise RuntimeError("a POST to a table writes an event")
                return self._reply(encode(again()), 200, slot.table.seq)
            if hand is None:
                hand = draft.hand.number
            # The lock is given back when the batch is durable, even if the caller has gone.
            future = self._submit(draft, extra, hand, key, status, apart=apart)
            handed = True
        finally:
            if not handed:
                self._leave(slot)
        return self._reply(await future, status, draft.table.seq)

    def _is_done(self, slot: Slot, work: Work) -> bool:
        """Whether a request asks for nothing that is not so already."""
        draft = Draft(slot, self.slots, self._clock.now())
        try:
            work(draft)
        except (Problem, FairdealError):
            return False
        return not draft.events

    def _submit(
        self,
        draft: Draft,
        extra: dict[str, Any],
        hand: int,
        key: Key | None = None,
        status: int = 200,
        *,
        apart: bool = False,
        held: bool = False,
    ) -> asyncio.Future[bytes]:
        """Hand a draft to the ledger.

        Args:
            draft: With at least one event.
            extra: What its answer holds besides.
            hand: The hand that the answer is about; 0 for the table.
            key: Under what the answer is kept, if it is.
            status: Of the answer.
            apart: Whether it is kept apart.
            held: Whether the caller goes on holding the table's lock.
        """
        table, drafted = draft.table, draft.events
        # Written out: none of these values has anything to escape.
        if hand:
            newest = table.hand
            state = newest.phase.value if newest and newest.number == hand else "closed"
            about = f'"hand":{hand},"state":"{extra.pop("state", state)}"'
        else:
            about = f'"state":"{"closed" if table.is_closed else "idle"}"'
        # All that can fail is written now; the events and their place in the log are put in later.
        # A deal's cards, and no others, can be had again as they were: see `_deal_again`.
        cards = extra.pop("cards", None) if "deck_root" in extra else None
        parts = Parts(
            f'"table":"{table.id}",{about},"seq":{table.seq}'.encode(),
            encode_members(extra),
            cards is not None,
        )
        raw = [event.raw for event in drafted]
        return self._ledger.submit(
            Entry(
                table.id,
                table.seq,
                [(event.header.seq, getattr(event, "hand", 0), event.raw) for event in drafted],
                partial(parts.answer, cards, drafted[0].header.seq, raw),
                draft.rows,
                draft.step(),
                key=key,
                apart=apart,
                hand=hand,
                status=status,
                kept=None if key is None else parts.encode(),
                settle=partial(self._settle, draft, None if apart else key, held),
            )
        )

    def _settle(self, draft: Draft, key: Key | None, held: bool, first: int) -> None:
        """The batch is durable: the table is now what the draft says.

        Args:
            draft: What was submitted.
            key: Under what its answer is kept with the table.
            held: Whether somebody goes on holding the table's lock.
            first: Log index of the draft's first event.
        """
        slot, table = draft.slot, draft.table
        before, hand = slot.table.open_hand, table.open_hand
        slot.newest = first + len(draft.events) - 1
        slot.table, slot.dealing, slot.next_seed = table, draft.dealing, draft.next_seed
        if key is not None:
            slot.keep(key.scope, slot.newest, self._reader)
        if hand is None:
            self._deadlines.drop(slot.id)
        elif before is None or before.deadline != hand.deadline:
            # One seat's seal or seed gives the others no more time. Spec: HAND-16, HAND-18.
            self._deadlines.set(slot.id, patience_of(hand))
        for row in draft.rows:
            if isinstance(row, FinishedRow):
                end = table.hand.reason if row.state == "aborted" and table.hand else None
                self._metrics.hand(row.game, end or row.state)
        self._wake(slot.id)
        if not held:
            self._leave(slot)

    def _leave(self, slot: Slot) -> None:
        slot.users -= 1
        slot.lock.release()
        self.slots.trim()

    def _reply(self, body: bytes, status: int, seq: int, *more: Header) -> Reply:
        return Reply(body, status, [JSON, NO_STORE, etag(seq), *more])

    def replay(self, key: Key) -> Reply | None:
        """The answer, kept apart, that this request got before, byte for byte.

        Raises:
            Problem: `idempotency_key_reused`.
        """
        row = self._reader.answer_apart(key.scope)
        return None if row is None else self._again(row, key)

    def _replay_of(self, slot: Slot, key: Key) -> Reply | None:
        """The same, of a request of one of the table's hands whose key the table knows."""
        row = self._reader.answer(slot.kept[key.scope])
        # Without a row it is a day ago that the hand has ended.
        return None if row is None else self._again(row, key)

    def _again(self, row: AnswerRow, key: Key) -> Reply:
        if row.request != key.request:
            raise Problem("idempotency_key_reused")
        body = self._sealer.open("answer", row.table_id, row.hand, row.sealed)
        if row.idx is not None and row.events:
            body = self._whole(row, row.idx, Parts.decode(body))
        return self._reply(body, row.status, row.etag, REPLAYED)

    def _whole(self, row: AnswerRow, last: int, parts: Parts) -> bytes:
        """An answer of which only parts are kept; its events lie one after the other."""
        first = last - row.events + 1
        found = self._reader.entries(first, last + 1)
        covering = self._reader.checkpoint_over(last)
        if covering is None:
            raise Problem("unavailable")  # cannot be: they came in one transaction
        receipt = self._ledger.receipt_at(last, *covering).text().encode()
        seq = row.etag - row.events + 1
        cards = self._deal_again(row) if parts.dealt else None
        return parts.answer(cards, seq, found, first, receipt)

    def _deal_again(self, row: AnswerRow) -> bytes:
        """The cards that a deal has answered with, whatever has become of them since."""
        hand = self.slots.hand_at(self.slots.get(row.table_id), row.hand, row.etag)
        seed = self.slots.server_seed(row.table_id, row.hand)
        if seed is None:
            raise Problem("unavailable")
        cards: bytes = views.dealt(hand, Dealing(hand, seed, {}).at(hand))["cards"]
        return cards

    async def write_apart(self, key: Key, entry: Entry, status: int) -> Reply:
        """Write something of a table that nobody knows yet, or that is no event.

        Equal requests that come while the first is under way wait for it.
        """
        other = self._under_way.get(key.scope)
        if other is not None and not other.done():
            await asyncio.shield(other)
        if (reply := self.replay(key)) is not None:
            return reply
        entry.key, entry.apart, entry.status = key, True, status
        future = self._ledger.submit(entry)
        self._under_way[key.scope] = future
        future.add_done_callback(lambda _: self._under_way.pop(key.scope, None))
        return self._reply(await asyncio.shield(future), status, entry.seq)

    # --- deadlines ------------------------------------------------------------------------------

    async def expire(self, table_id: str) -> bool:
        """Abort a hand whose time is over; False if that must be tried again. Spec: HAND-18."""
        slot = self.slots.get(table_id)
        slot.users += 1
        await slot.lock.acquire()
        try:
            return not self._deadlines.passed(table_id) or await self._expire(slot)
        finally:
            self._leave(slot)

    async def _expire(self, slot: Slot) -> bool:
        """The same, by whoever holds the lock."""
        draft = Draft(slot, self.slots, self._clock.now())
        hand = draft.table.open_hand
        if hand is None or hand.deadline is None:
            self._deadlines.drop(slot.id)
            return True
        lost = slot.dealing is None
        reason = "lost" if lost else hand.deadline[0]
        missing = hand.missing_seals if hand.phase is Phase.SEALING else hand.missing_seeds
        if reason == "turn_timeout":
            missing = play.turn(hand, slot.dealing)
            # Without a referee's view (see `Slots`) nobody knows whose turn it was.
            reason = reason if missing else "operator"
        try:
            draft.abort(reason, () if lost else missing)
        except StateError:
            return False  # the log's clock has not got there yet
        await self._submit_held(draft)
        return True

    async def close_idle(self, table_id: str) -> None:
        """Disclose and close a table that nobody uses. Spec: TBL-3."""
        await self.close(table_id, idle=True)

    async def close(self, table_id: str, *, idle: bool = False) -> bool:
        """Disclose and close a table without an open hand.

        Args:
            table_id: Which.
            idle: Only if its time is over.

        Returns:
            Whether it is closed now. One whose server seed is lost stays as it is.
        """
        slot = self.slots.get(table_id)
        slot.users += 1
        await slot.lock.acquire()
        try:
            table, now = slot.table, self._clock.now()
            over = table.last_at + 1000 * table.terms_event.timeouts.table <= now
            if slot.state == "idle" and (over or not idle):
                draft = Draft(slot, self.slots, now)
                try:
                    draft.close_table()
                except Problem:
                    return False
                await self._submit_held(draft)
            return slot.state == "closed"
        finally:
            self._leave(slot)

    async def abort(self, table_id: str) -> None:
        """End an open hand for a reason of the operator's. Spec: HAND-16."""
        slot = self.slots.get(table_id)
        slot.users += 1
        await slot.lock.acquire()
        try:
            draft = Draft(slot, self.slots, self._clock.now())
            if draft.table.open_hand is not None:
                draft.abort("lost" if slot.dealing is None else "operator", ())
                await self._submit_held(draft)
        finally:
            self._leave(slot)

    async def _submit_held(self, draft: Draft) -> None:
        """Submit a draft of the service's own; the caller holds the lock and goes on holding it."""
        future = self._submit(draft, {}, 0, held=True)
        try:
            await asyncio.shield(future)
        except asyncio.CancelledError:
            # The lock must not be let go before the table is what the database says.
            await asyncio.shield(future)
            raise

    async def forget(self, before: int) -> bool:
        """Drop kept answers of hands that ended, and of tables that were closed, before a time.

        Args:
            before: Log time, ms.

        Returns:
            Whether there are more hands than are dropped at a time.
        """
        if self._forgotten is None:
            # No hand whose answers are kept has ended before the oldest of them was asked for.
            oldest = self._reader.oldest_answer()
            self._forgotten = None if oldest is None else oldest - 1
        after = -1 if self._forgotten is None else self._forgotten
        ended: list[FinishedRow] = []
        if self._forgotten is not None:
            rows = self._reader.finished_after(after, _FORGET_HANDS + 1)
            # Up to the first that is too young: in one batch a later one may be older.
            ended = list(takewhile(lambda row: row.at < before, rows))
        last = ended[:_FORGET_HANDS][-1].idx if ended else after
        forget = Forget(after, last, before)
        await asyncio.shield(self._ledger.submit(Entry("", 0, [], lambda *_: b"", [forget])))
        if ended:
            self._forgotten = last
        return len(ended) > _FORGET_HANDS

    # --- waiting --------------------------------------------------------------------------------

    async def wait_for_event(self, table_id: str, seconds: int) -> None:
        """Wait until something is logged at a table, or the time is over.

        Raises:
            Problem: `rate_limited`, too many are waiting.
        """
        if self._waiters >= self._max_waiting:
            raise Problem("rate_limited")
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        waiting = self._waiting.setdefault(table_id, [])
        waiting.append(future)
        self._waiters += 1
        try:
            await asyncio.wait_for(future, seconds)
        except TimeoutError:
            pass
        finally:
            self._waiters -= 1
            if future in waiting:
                waiting.remove(future)
            if not waiting and self._waiting.get(table_id) is waiting:
                del self._waiting[table_id]

    def _wake(self, table_id: str) -> None:
        for future in self._waiting.pop(table_id, ()):
            if not future.done():
                future.set_result(None)

    def wake_all(self) -> None:
        """Let everybody who waits go: the service stops."""
        for table_id in list(self._waiting):
            self._wake(table_id)


def _in_context(error: Problem | StateError, slot: Slot) -> Problem:
    """What is wrong with a request, and the state that its table is in."""
    problem = error if isinstance(error, Problem) else problems.from_core(error)
    context: dict[str, Any] = {"table": slot.id, "state": slot.state}
    if (newest := slot.table.hand) is not None:
        context |= {"hand": newest.number, "state": newest.phase.value}
    problem.context = context | problem.context
    return problem
