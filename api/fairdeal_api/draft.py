"""What a request would log: events, one after the other, each through the core's state machine."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from fairdeal.codecs import Place
from fairdeal.dealing import Dealing
from fairdeal.events import (
    Event,
    HandAborted,
    HandClosed,
    HandDisclosed,
    HandEvent,
    HandOpened,
    Header,
    Signatures,
    TableClosed,
)
from fairdeal.hand import Hand, Phase
from fairdeal.seeds import ServerSeed
from fairdeal.table import Table
from fairdeal_api.problems import Problem
from fairdeal_api.slots import Slot, Slots
from fairdeal_api.store import (
    CommitmentRow,
    DiscardsRow,
    DisclosureRow,
    FinishedRow,
    Row,
    Step,
)

NEVER: Final = 1 << 62
_ENDS: Final = {HandClosed.TYPE: "closed", HandAborted.TYPE: "aborted"}


class Draft:
    """A table as it would be. Nothing of it is true before the ledger has committed it."""

    def __init__(self, slot: Slot, slots: Slots, now: int) -> None:
        """Begin with what is committed."""
        self.slot, self._slots, self._now = slot, slots, now
        self.table: Table = slot.table
        self.dealing: Dealing | None = slot.dealing
        self.next_seed = slot.next_seed
        self.events: list[Event] = []
        self.rows: list[Row] = []
        """Log indices in them count from this draft's first event until the ledger places them."""

    @property
    def header(self) -> Header:
        """The next event's."""
        return self.table.header(self._now)

    @property
    def hand(self) -> Hand:
        """The newest hand, or `hand_unknown`."""
        if self.table.hand is None:
            raise Problem("hand_unknown")
        return self.table.hand

    @property
    def secrets(self) -> Dealing:
        """The dealing of the newest hand. Without it the hand can only be aborted."""
        if self.dealing is None:
            raise Problem("unavailable")
        return self.dealing

    def apply(self, event: Event) -> None:
        """Add one event, or raise what the core says against it."""
        table = self.table = self.table.apply(event)
        dealing, hand = self.dealing, table.hand
        if (
            dealing is not None
            and hand is not None
            and hand.number == dealing.hand.number
            and isinstance(event, HandEvent)
        ):
            self.dealing = dealing.after(hand, event)
        self.events.append(event)
        if (state := _ENDS.get(event.TYPE)) is not None:
            game, at = table.terms_event.game, event.header.at
            newest = len(self.events) - 1
            self.rows.append(FinishedRow(newest, self.slot.id, self.hand.number, game, state, at))

    def apply_due(self) -> None:
        """Add what the rules make due, until it is somebody else's turn. Spec: HAND-9, HAND-14."""
        while (event := self.secrets.due(self.header)) is not None:
            self.apply(event)
        if self.hand.chains_ended:
            self.abort("epochs", ())
        elif self.hand.is_final:
            self.disclose_due()

    # --- events that take something from the service --------------------------------------------

    def open_hand(self, first: int | None) -> None:
        """A new hand, and the commitment for the one after it.

        Nothing is carried over from an aborted hand: its number is consumed, its seals are seen
        at the table and refused. Spec: HAND-1, HAND-19, SEAL-2, SEED-1.
        """
        number = 1 + (self.table.hand.number if self.table.hand else 0)
        seed = self.next_seed
        if seed is None:
            raise Problem("unavailable")
        following, commitment = self._slots.new_seed(self.slot.test_seed, number + 1)
        self.apply(
            HandOpened(
                header=self.header,
                hand=number,
                terms=self.table.terms,
                commitment=self.table.next_commitment,
                next_commitment=commitment,
                first=first,
                match=self.table.next_match(),
            )
        )
        sealed = self._slots.seal_seed(self.slot.id, number + 1, following, commitment)
        fixed = int(self.slot.test_seed is not None)
        self.rows.append(
            CommitmentRow(commitment, self.slot.id, number + 1, fixed, sealed, len(self.events) - 1)
        )
        self.dealing = Dealing(self.hand, seed, {})
        self.next_seed = following

    def discard(self, seat: int, places: Iterable[Place], sigs: Signatures) -> tuple[int, bytes]:
        """A seat's discard; returns its k and its salt. Spec: HAND-10."""
        self.expect_playing()
        before = self.secrets
        k = len(before.thrown.get(seat, ()))
        event, after = before.discard(self.header, {seat: places}, sigs)
        salt = before.discard_salt(seat, k)
        self.dealing = after
        self.apply(event)
        thrown: Mapping[int, tuple[tuple[Place, ...], ...]] = {seat: (after.thrown[seat][k],)}
        sealed = self._slots.seal_discards(self.slot.id, event.hand, thrown)
        self.rows.append(DiscardsRow(self.slot.id, event.hand, event.header.seq, sealed))
        return k, salt

    def expect_playing(self) -> None:
        """Raise `already_final` or `wrong_phase` unless players may act."""
        if self.hand.phase is not Phase.PLAYING:
            raise Problem("already_final" if self.hand.is_final else "wrong_phase")

    def abort(self, reason: str, missing: tuple[int, ...]) -> None:
        """End the hand early, and open its secret if that is the policy. Spec: HAND-16, HAND-17."""
        self.apply(
            HandAborted(header=self.header, hand=self.hand.number, reason=reason, missing=missing)
        )
        self.disclose_due()

    def disclose_due(self) -> None:
        """Open the ended hand's secret where the policy says at once. Spec: HAND-17."""
        if self.table.disclosure_due is not None:
            self.apply(self.secrets.disclose(self.header))

    def disclose(self, number: int) -> None:
        """Open an ended hand's secret under policy `table`. Spec: HAND-17."""
        hand = self.table.undisclosed.get(number)
        if hand is None:
            raise Problem("already_disclosed")
        dealing = self._slots.dealing(self.slot, hand)
        if dealing is None:
            raise Problem("unavailable")
        self.apply(dealing.disclose(self.header))
        if number != self.hand.number:
            self.rows.append(DisclosureRow(self.slot.id, number, len(self.events) - 1))

    def close_table(self) -> None:
        """Disclose what is left and end the table. Spec: TBL-2, TBL-3."""
        if self.table.open_hand is not None:
            raise Problem("hand_open")
        for number in sorted(self.table.undisclosed):
            self.disclose(number)
        if self.next_seed is None:
            raise Problem("unavailable")
        self.apply(TableClosed(header=self.header, unused_seed=self.next_seed))

    @property
    def unused_seed(self) -> ServerSeed:
        """The seed that the end of the table has opened."""
        event = self.events[-1]
        if not isinstance(event, TableClosed):
            raise Problem("internal")
        return event.unused_seed

    # --- rows -----------------------------------------------------------------------------------

    def step(self) -> Step:
        """The table's, from the event before this draft."""
        table = self.table
        hand = table.hand
        number = hand.number if hand else 0
        if hand is not None and not hand.is_final:
            state, patience = "hand_open", patience_of(hand)
        else:
            state = "closed" if table.is_closed else "idle"
            patience = table.terms_event.timeouts.table
        due = table.last_at if state == "closed" else table.last_at + 1000 * patience
        if state == "idle" and self.next_seed is None:
            due = NEVER  # it cannot be closed: what its last commitment was of is lost
        return self.slot.newest, number, state, patience, due

    def disclosed(self, number: int) -> HandDisclosed | None:
        """The disclosure of a hand in this draft."""
        for event in self.events:
            if isinstance(event, HandDisclosed) and event.hand == number:
                return event
        return None


def patience_of(hand: Hand) -> int:
    """Seconds that an open hand may stay as it is. Spec: HAND-16."""
    timeouts = hand.table.timeouts
    if hand.phase is Phase.SEALING:
        return timeouts.seal
    if hand.phase in (Phase.OPENING, Phase.REOPENING):
        return timeouts.open
    return timeouts.turn if hand.table.referee else timeouts.hand


Work = Callable[[Draft], dict[str, object]]
"""Adds events to a draft and says what else the answer holds."""
