"""A log and its tables in memory: the core without a service, for vectors, tests and benches.

Everything is deterministic. Seat seeds and server seeds come from names, the clock from a counter;
nothing here is fit for a real table.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from fairdeal.codecs import Place
from fairdeal.dealing import Dealing
from fairdeal.ed25519 import public_key, sign
from fairdeal.errors import FairdealError
from fairdeal.events import (
    CardsLooked,
    CardsReturned,
    Event,
    HandAborted,
    HandClosed,
    HandEvent,
    HandOpened,
    Header,
    PlayCalled,
    SeatReissued,
    SeedsOpened,
    SeedsSealed,
    TableClosed,
    TableOpened,
    Timeouts,
    TrumpsDeclared,
)
from fairdeal.games import game_named, rules_of
from fairdeal.games.rules.base import Move
from fairdeal.hand import Hand, Phase
from fairdeal.hashing import Digest
from fairdeal.log.checkpoint import Checkpoint
from fairdeal.log.entries import LogRotated
from fairdeal.log.note import SigningKey
from fairdeal.log.proof import Receipt
from fairdeal.merkle import Tree, leaf_hash
from fairdeal.seeds import (
    LAST_EPOCH,
    SeatSeed,
    ServerSeed,
    commit,
    declare_message,
    lock_message,
    open_message,
    seal,
    seal_message,
    seed_chain,
)
from fairdeal.table import Table
from fairdeal.transcript import Transcript

START = 1_764_450_000_000  # 2025-11-29T21:00:00.000Z
TICK = 250


def named(text: str) -> bytes:
    """32 bytes that stand for a secret in a test."""
    return hashlib.sha256(f"fairdeal vectors {text}".encode()).digest()


class Book:
    """A log in memory."""

    def __init__(self, origin: str = "vectors.example/log", now: int = START) -> None:
        self.key = SigningKey(origin, named("log key"))
        self.former: list[tuple[int, SigningKey]] = []
        """The keys before it, and the largest size that each signs."""
        self.entries: list[bytes] = []
        self.tree = Tree()
        self.now = now

    def append(self, raw: bytes) -> int:
        """Log an entry; its index."""
        self.entries.append(raw)
        self.tree.append(leaf_hash(raw))
        return len(self.entries) - 1

    def receipt(self, index: int, size: int | None = None) -> Receipt:
        """A receipt against the checkpoint of a size (the newest by default)."""
        end = len(self.entries) if size is None else size
        return Receipt(index, tuple(self.tree.inclusion_path(index, end)), self.checkpoint(end))

    def checkpoint(self, size: int) -> str:
        """The checkpoint of a size, by the key in force there. Spec: LOG-27."""
        key = next((key for last, key in self.former if size <= last), self.key)
        return Checkpoint(key.name, size, self.tree.root(size)).sign(key)

    def rotate(self, name: str) -> LogRotated:
        """Go on under another key. Spec: LOG-26."""
        new = SigningKey(self.key.name, named(name))
        self.now += TICK
        size = len(self.entries)
        entry = LogRotated.make(self.now, size, self.tree.root(), self.key, new)
        self.append(entry.raw)
        self.former.append((size, self.key))
        self.key = new
        return entry


class LocalTable:
    """A table of a book, with the secrets of the service and of every seat."""

    def __init__(
        self,
        book: Book,
        game: str,
        *,
        name: str = "0",
        seats: int | None = None,
        ruleset: Mapping[str, Any] | None = None,
        keyed: Iterable[int] = (),
        contribute: Sequence[int] | None = None,
        custody: str = "seats",
        disclosure: str = "hand",
        timeouts: Timeouts | None = None,
        referee: bool = False,
    ) -> None:
        rules = game_named(game)
        count = rules.seats[0] if seats is None else seats
        self.book = book
        self.name = name
        self.seat_keys = {seat: named(f"{name} key {seat}") for seat in keyed}
        opened = TableOpened(
            header=Header("tbl_" + name.rjust(26, "0"), 0, None, book.now),
            origin=book.key.name,
            log_key=str(book.key.verifier),
            game=game,
            ruleset=rules.ruleset(ruleset or {}, play=rules_of(rules).options if referee else None),
            seats=count,
            contribute=tuple(range(count)) if contribute is None else tuple(contribute),
            keys={seat: public_key(secret) for seat, secret in self.seat_keys.items()},
            custody=custody,
            timeouts=timeouts or Timeouts(),
            disclosure=disclosure,
            referee=referee,
            next_commitment=commit(self.server_seed(1)),
        )
        self.events: list[Event] = [opened]
        self.indices = [book.append(opened.raw)]
        self.table = Table.open(opened)
        self.dealing: Dealing | None = None
        self.hand_events: list[HandEvent] = []
        self.sealed_receipts: dict[int, Receipt] = {}
        self.last_receipt: Receipt | None = None
        self.judged = True
        """Whether the referee is listened to. Without it a table can lie."""
        self.held: tuple[type[HandEvent], ...] = ()
        """Due events that do not follow by themselves."""

    def server_seed(self, hand: int) -> ServerSeed:
        """The service's secret of a hand."""
        return ServerSeed(named(f"{self.name} server {hand}"))

    def chain(self, seat: int, hand: int) -> tuple[SeatSeed, ...]:
        """A seat's seeds of a hand, by epoch."""
        last = SeatSeed(named(f"{self.name} seat {seat} hand {hand}"))
        return seed_chain(last, LAST_EPOCH) if self.table.game.can_reshuffle else (last,)

    @property
    def hand(self) -> Hand:
        """The newest hand."""
        if self.table.hand is None:
            raise ValueError("no hand was opened")
        return self.table.hand

    @property
    def secrets(self) -> Dealing:
        """The newest hand with its secrets."""
        if self.dealing is None:
            raise ValueError("no hand was opened")
        return self.dealing

    def header(self) -> Header:
        """Header of the next event; the clock moves on."""
        self.book.now += TICK
        return self.table.header(self.book.now)

    def log(self, event: Event) -> None:
        """Apply and append an event, and whatever then follows by itself."""
        after, dealing = self.table.apply(event), self.dealing
        if isinstance(event, HandOpened) and after.hand is not None:
            self.hand_events = []
            dealing = Dealing(after.hand, self.server_seed(event.hand), {})
        elif (
            isinstance(event, HandEvent)
            and dealing is not None
            and after.hand is not None
            and after.hand.number == event.hand
        ):
            dealing = dealing.after(after.hand, event) if self.judged else dealing.at(after.hand)
        self.table, self.dealing = after, dealing
        self.events.append(event)
        self.indices.append(self.book.append(event.raw))
        if isinstance(event, HandEvent) and self.table.open_hand is not None:
            self.hand_events.append(event)
            due = self.secrets.due(self.header()) if self.judged else None
            if due is None or isinstance(due, self.held):
                return
            if isinstance(due, HandClosed):
                self.finish(due)
            else:
                self.log(due)

    # Steps of a hand, each as every seat would do it.

    def open_hand(self, first: int | None = None) -> Hand:
        """Open the next hand; `first` as the rules let it default."""
        number = self.table.hand.number + 1 if self.table.hand else 1
        choices = self.table.first_choices()
        self.log(
            HandOpened(
                header=self.header(),
                hand=number,
                terms=self.table.terms,
                commitment=self.table.next_commitment,
                next_commitment=commit(self.server_seed(number + 1)),
                first=first if first in choices and first is not None else choices[0],
                match=self.table.next_match(),
            )
        )
        return self.hand

    def _sigs(self, seats: Iterable[int], message: Callable[[int], bytes]) -> dict[int, bytes]:
        return {
            seat: sign(self.seat_keys[seat], message(seat))
            for seat in seats
            if seat in self.seat_keys
        }

    def declare(self, trumps: Mapping[int, str]) -> None:
        """Seats name their trumps."""
        hand = self.hand
        sigs = self._sigs(
            trumps,
            lambda s: declare_message(self.table.terms, hand.number, s, hand.commitment, trumps[s]),
        )
        self.log(TrumpsDeclared(header=self.header(), hand=hand.number, trumps=trumps, sigs=sigs))

    def seal(self, seats: Iterable[int] | None = None) -> None:
        """Seats (all that contribute by default) seal, in one event."""
        hand = self.hand
        chosen = hand.missing_seals if seats is None else tuple(seats)
        seals = {
            seat: seal(
                self.table.terms,
                hand.number,
                seat,
                hand.commitment,
                self.chain(seat, hand.number)[0],
            )
            for seat in chosen
        }
        sigs = self._sigs(
            chosen,
            lambda s: seal_message(self.table.terms, hand.number, s, hand.commitment, seals[s]),
        )
        self.log(SeedsSealed(header=self.header(), hand=hand.number, seals=seals, sigs=sigs))

    def open_seeds(self, seats: Iterable[int] | None = None) -> None:
        """Seats (all that are due by default) open their seeds of the epoch, in one event."""
        hand = self.hand
        chosen = hand.missing_seeds if seats is None else tuple(seats)
        epoch, head = hand.epoch, hand.head or Digest(bytes(32))
        seeds = {seat: self.chain(seat, hand.number)[epoch] for seat in chosen}
        sigs = self._sigs(chosen, lambda s: open_message(head, epoch, s, seeds[s]))
        index = len(self.indices) - 1
        self.sealed_receipts.setdefault(epoch, self.book.receipt(self.indices[index]))
        self.log(
            SeedsOpened(
                header=self.header(),
                hand=hand.number,
                epoch=epoch,
                head=head,
                seeds=seeds,
                sigs=sigs,
            )
        )

    def deal(self, first: int | None = None, trumps: Mapping[int, str] | None = None) -> Hand:
        """Open a hand, seal and open all seeds."""
        self.open_hand(first)
        if self.table.game.declares_trumps:
            self.declare(trumps or {0: "H", 1: "S"})
        self.seal()
        self.open_seeds()
        return self.hand

    def discard(self, discards: Mapping[int, Sequence[Place]]) -> None:
        """Seats throw cards face down."""
        hand = self.hand
        event, dealing = self.secrets.discard(self.header(), discards, {})
        layout = hand.playing
        sigs = self._sigs(
            discards,
            lambda s: lock_message(
                self.table.terms,
                hand.number,
                s,
                layout.thrown[s],
                event.discards[s].size,
                event.discards[s].lock,
            ),
        )
        before, self.dealing = self.dealing, dealing
        try:
            self.log(replace(event, sigs=sigs))
        except FairdealError:
            self.dealing = before
            raise

    def show(self, seat: int, places: Sequence[Place]) -> None:
        """A seat lays cards open."""
        self.log(self.secrets.show(self.header(), seat, places))

    def draw(self, taker: int) -> None:
        """Everyone draws up to the rules' number."""
        self.log(self.secrets.draw(self.header(), taker))

    def give_back(self) -> None:
        """A pull."""
        self.log(CardsReturned(header=self.header(), hand=self.hand.number))

    def look(self, seat: int) -> None:
        """A blind seat looks."""
        self.log(CardsLooked(header=self.header(), hand=self.hand.number, seat=seat))

    def move(self, move: Move) -> None:
        """A move at a table with a referee, as the log has it. Spec: PLAY-3."""
        seat, number = move.seat, self.hand.number
        match move.kind:
            case "call":
                self.log(
                    PlayCalled(
                        header=self.header(),
                        hand=number,
                        seat=seat,
                        call=move.call or "",
                        amount=move.amount,
                    )
                )
            case "look":
                self.look(seat)
            case "throw":
                self.discard({seat: self.secrets.places(seat, move.cards)})
            case "pull" | "show":
                layout = self.hand.playing
                if move.kind == "pull" and (layout.trick or layout.locked):
                    self.give_back()
                self.show(seat, self.secrets.places(seat, move.cards))

    def close(self) -> None:
        """Finish the hand."""
        self.finish(HandClosed(header=self.header(), hand=self.hand.number))

    def abort(self, reason: str = "operator", missing: tuple[int, ...] = ()) -> None:
        """End the hand early; for a timeout, once its deadline has passed."""
        hand = self.hand
        if reason.endswith("_timeout") or reason == "idle":
            referee = self.secrets.referee
            if reason != "turn_timeout":
                missing = hand.missing_seals if hand.phase is Phase.SEALING else hand.missing_seeds
            elif referee is not None and not missing:
                missing = referee.turn
            if hand.deadline is not None:
                self.book.now = max(self.book.now, hand.deadline[1])
        self.abort_now(reason, missing)

    def abort_now(self, reason: str, missing: tuple[int, ...]) -> None:
        """End the hand early, at this time and naming these seats."""
        self.finish(
            HandAborted(header=self.header(), hand=self.hand.number, reason=reason, missing=missing)
        )

    def finish(self, event: HandEvent) -> None:
        """Log what ends the hand, and the disclosure."""
        self.log(event)
        self.hand_events.append(event)
        index = self.indices[-1]
        if self.table.disclosure_due is not None:
            self.log(self.secrets.disclose(self.header()))
        self.last_receipt = self.book.receipt(index)

    def disclose(self) -> None:
        """Open the newest hand's server seed, under policy `table`."""
        self.log(self.secrets.disclose(self.header()))

    def reissue(self, seat: int) -> None:
        """A seat's credentials are given anew."""
        self.log(SeatReissued(header=self.header(), seat=seat))

    def close_table(self) -> None:
        """Nothing follows."""
        number = self.table.hand.number + 1 if self.table.hand else 1
        self.log(TableClosed(header=self.header(), unused_seed=self.server_seed(number)))

    def transcript(self) -> Transcript:
        """The file of the newest hand."""
        if self.last_receipt is None:
            raise ValueError("the hand has not ended")
        return Transcript.of(self.hand, self.hand_events, self.last_receipt, self.secrets)
