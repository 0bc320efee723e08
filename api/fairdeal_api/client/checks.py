"""What a seat checks. Everything here is decided from its own copy of the chain.

The three requirements marked `client` on the page hand.md are three methods: `head` (OPEN-1),
`follow` (OPEN-2) and `card` (OPEN-3).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from fairdeal.cards import Card
from fairdeal.codecs import Lock, Place
from fairdeal.discards import discard_lock
from fairdeal.errors import FairdealError, StateError
from fairdeal.events import (
    CardsDiscarded,
    CardsDrawn,
    CardsGiven,
    CardsShown,
    Event,
    HandDealt,
    HandDisclosed,
    HandEvent,
    HandOpened,
    SeedsOpened,
    StockReshuffled,
    TableOpened,
)
from fairdeal.hand import Hand
from fairdeal.log.note import VerifierKey
from fairdeal.sealed_deck import Opening
from fairdeal_api.client.api import Api
from fairdeal_api.client.chain import Chain
from fairdeal_api.client.errors import CheckError
from fairdeal_api.client.log import PinnedLog
from fairdeal_api.client.memory import HandMemory, Memory, Opened
from fairdeal_api.client.notebook import Notebook


@dataclass(frozen=True, slots=True)
class HeldCard:
    """A card of this seat, proved to lie where it lies."""

    place: Place
    card: Card
    state: str
    """`held`, `shown` or `discarded`, in the service's words."""


class Checks:
    """One seat's judgement of what the service sends it."""

    def __init__(self, api: Api, memory: Memory) -> None:
        """Start from what the seat remembers; the chain is fetched anew and must agree with it."""
        self.memory = memory
        self.chain = Chain(api, memory.table)
        self.log = PinnedLog(api, VerifierKey.parse(memory.log_key), memory.checkpoint)
        self.notes = Notebook(memory)
        self.places: list[Place] = []
        """Every place that the newest hand's procedure gave to this seat, in that order."""
        self.proved: dict[Place, Opening] = {}
        self._locks: list[Lock] = []
        """This seat's discards of the newest hand as the log has them, by k."""
        self._api = api

    # --- the chain ------------------------------------------------------------------------------

    def follow(self, events: Sequence[Event]) -> None:
        """Take note of events that the chain has accepted. Spec: OPEN-2.

        The chain links each to the one before. What is left to check is that it leads through
        every head that this seat has opened under, also before its program was started again.
        """
        for event in events:
            if isinstance(event, TableOpened):
                self._terms(event)
            elif isinstance(event, HandEvent):
                self._note(event)
                self.notes.came_again(event)
            for opened in self.memory.opened_at(event.header.seq):
                if opened.head != event.digest:
                    raise CheckError(
                        "not_descended",
                        "the chain no longer leads through a head this seat opened under",
                        {"kept": opened.receipt, "got": event.raw.decode("ascii")},
                    )
                self.notes.keep(event, opened.receipt)
        self._redeem()

    def _redeem(self) -> None:
        """What this seat had a receipt for before a restart is in the chain again. Spec: OPEN-2."""
        newest = self.chain.indices[-1] if self.chain.indices else -1
        if (receipt := self.notes.overdue(newest)) is not None:
            raise CheckError(
                "not_descended",
                "the chain no longer holds a step that this seat has a receipt for",
                {"kept": receipt, "got": self.chain.events[-1].raw.decode("ascii")},
            )

    @property
    def thrown(self) -> dict[int, tuple[Place, ...]]:
        """This seat's discards of the newest hand, by k: those that are in the log."""
        mine = self.memory.hands.get(self.chain.hand.number)
        sent = mine.thrown if mine else ()
        return {
            one.k: one.places
            for one in sent
            if one.k < len(self._locks) and self._locks[one.k] == one.lock
        }

    def _terms(self, event: TableOpened) -> None:
        """The table that this seat has joined, and no other."""
        own = self.memory.public_key
        if event.digest != self.memory.terms:
            wrong = "these are not the terms of the table that was joined"
        elif not self.log.knows(event.log_key):
            wrong = "the table names another log than the one that is trusted"
        elif self.memory.seat not in event.contribute:
            wrong = "this seat has no part in the shuffle"
        elif event.keys.get(self.memory.seat) != own:
            wrong = "the table has another key for this seat"
        else:
            return
        raise CheckError("terms_mismatch", wrong, {"got": event.raw.decode("ascii")})

    def _note(self, event: HandEvent) -> None:
        """Where this seat's cards lie, and whether what is public of them is true."""
        seat = self.memory.seat
        match event:
            case HandOpened():
                self._redeem()
                self.places, self.proved, self._locks = [], {}, []
                self.notes.begin(event.hand)
            case HandDealt():
                self.places += [Place(0, position) for position in event.positions[seat]]
            case CardsDrawn():
                self.places += [place for drawer, place in event.draws if drawer == seat]
            case CardsGiven():
                self.places += [given.place for given in event.given if given.target == seat]
            case CardsShown():
                for shown in event.shown:
                    known = self.proved.get(shown.place)
                    if known is not None and (known.card, known.salt) != (shown.card, shown.salt):
                        raise CheckError(
                            "card_changed",
                            "a card was shown as another one than it was proved to be",
                            {"kept": _text(known), "got": event.raw.decode("ascii")},
                        )
            case SeedsOpened() if seat in event.seeds:
                self.notes[event.hand].seeds.append(event.seeds[seat])
            case CardsDiscarded() if seat in event.discards:
                self._locked(event, event.discards[seat])
            case HandDisclosed():
                self._disclosed(event)

    def _locked(self, event: CardsDiscarded, lock: Lock) -> None:
        """A discard of this seat has come into the log: it is one that was sent."""
        k = len(self._locks)
        self._locks.append(lock)
        mine = self.memory.hands.get(event.hand)
        if mine is None or all((one.k, one.lock) != (k, lock) for one in mine.thrown):
            raise CheckError(
                "lock_mismatch",
                "the log holds another lock than this discard's"
                if mine and any(one.k == k for one in mine.thrown)
                else "the log holds a discard that this seat never sent",
                {"got": event.raw.decode("ascii")},
            )

    def _disclosed(self, event: HandDisclosed) -> None:
        """The cards that are disclosed as thrown are the ones that this seat threw."""
        mine = self.memory.hands.get(event.hand)
        for k, cards in enumerate(event.discards.get(self.memory.seat, ())):
            sent = [one.places for one in mine.thrown if one.k == k] if mine else []
            if cards not in sent:
                raise CheckError(
                    "lock_mismatch",
                    "other cards are disclosed than this seat threw",
                    {"got": event.raw.decode("ascii")},
                )

    # --- before a seed is opened ----------------------------------------------------------------

    def head(self, hand: Hand) -> Opened:
        """All that must hold before this seat opens its due seed. Spec: OPEN-1.

        That the events from `hand.opened` to the head chain and are legal, and that the commitment
        was announced one hand before, is settled: they are in `self.chain`.

        Raises:
            StateError: No seed of this seat is due.
            CheckError: Something does not hold. The seed must stay closed.
        """
        mine = self.memory.hands.get(hand.number)
        head = hand.head
        if mine is None or head is None or self.memory.seat not in hand.missing_seeds:
            raise StateError("too_early", "no seed of this seat is due")
        seq = self.chain.find(head)
        wrong = self._as_entered(hand, mine)
        before = mine.opened.get(hand.epoch)
        if before is not None and before.head != head:
            # Under the same head the same request may be sent again, to the byte.
            wrong = "the seed of this epoch was opened before, under another head"
        if seq is None or wrong:
            evidence = {"kept": before.receipt} if before else {}
            if seq is not None:
                evidence["got"] = self.chain.events[seq].raw.decode("ascii")
            raise CheckError("head_refused", wrong or "the head is not in the chain", evidence)
        return Opened(head, seq, self.receipt(seq))

    def _as_entered(self, hand: Hand, mine: HandMemory) -> str:
        """What differs from what this seat gave or was told; empty if nothing does."""
        seat = self.memory.seat
        if hand.terms != self.memory.terms:
            return "the hand is played under other terms"
        if hand.commitment != mine.commitment:
            return "the service's commitment is not the one this seat sealed under"
        if hand.first != mine.first:
            return "the first seat is another one than was announced"
        if seat in hand.trumps and hand.trumps[seat] not in mine.suits:
            return "another trump suit stands in the log than this seat declared"
        if hand.seals.get(seat) != mine.seal:
            return "another seal stands in the log than this seat sent"
        if hand.seals.keys() != set(hand.table.contribute):
            return "a contributing seat has not sealed"
        return ""

    # --- receipts -------------------------------------------------------------------------------

    def receipt(self, seq: int, text: str | None = None) -> str:
        """Get and keep a receipt for an event of the chain; its checkpoint must fit the kept one.

        Args:
            seq: Which event.
            text: The receipt, if an answer brought it.
        """
        event = self.chain.events[seq]
        if (kept := self.notes.receipt_of(event)) is not None:
            return kept
        if text is None:
            text = self._api.text(f"/v1/receipts/{self.chain.indices[seq]}")
        self.log.accept(text, event.raw)
        self.memory.checkpoint = self.log.kept
        self.notes.keep(event, text)
        return text

    # --- cards ----------------------------------------------------------------------------------

    def roots(self) -> None:
        """Make sure that the roots which cards are proved under are in the log. Spec: OPEN-2."""
        for event in self.chain.hand_events:
            if isinstance(event, HandDealt | StockReshuffled):
                self.receipt(event.header.seq)

    def card(self, item: dict[str, Any]) -> HeldCard:
        """A card is this seat's, and lies where it is said to lie. Spec: OPEN-3, DECK-3."""
        opening = Opening.from_dict(item)
        place = Place(opening.epoch, opening.position)
        evidence = {"got": _text(opening)}
        layout = self.chain.hand.layout
        # Cards that were picked up are in the layout, which the chain's events have made, until
        # this seat plays them again.
        taken = layout is not None and place in layout.received[self.memory.seat]
        if place not in self.places and not taken and not self._played(place):
            raise CheckError(
                "position_not_yours", "the rules did not give this position to this seat", evidence
            )
        try:
            opening.verify(place, *self.chain.hand.roots[place.epoch])
        except FairdealError as error:
            evidence["kept"] = self._dealt(place.epoch).raw.decode("ascii")
            what = f"the {opening.card} that came is not what was sealed at its place"
            raise CheckError.of(error, what, evidence) from error
        if place not in self.proved:
            self.proved[place] = opening
            self.notes.see(self.chain.hand.number, place, opening.card)
        return HeldCard(place, opening.card, str(item["state"]))

    def _dealt(self, epoch: int) -> Event:
        """The event that has the root of an epoch; a receipt for it is in the notes."""
        roots = [e for e in self.chain.hand_events if isinstance(e, HandDealt | StockReshuffled)]
        return roots[epoch]

    def _played(self, place: Place) -> bool:
        """Whether this seat has shown the card of this place, wherever that one came from."""
        return place in self.proved or any(
            claim.seat == self.memory.seat and claim.k is None and place in claim.places
            for claim in self.chain.hand.claims
        )

    def named(self, move: dict[str, Any]) -> None:
        """The cards that a listed move names are the ones proved at these places."""
        for place, name in zip(move.get("cards", ()), move.get("names", ()), strict=False):
            known = self.proved.get(Place(*place))
            if known is None or known.card != name:
                raise CheckError(
                    "card_changed",
                    "a move names another card than was proved",
                    {"got": json.dumps(move, sort_keys=True)},
                )

    def lock(self, hand: Hand, k: int, salt: bytes, places: tuple[Place, ...]) -> Lock:
        """The lock that a discard of these cards must get. Spec: HAND-10."""
        if k != hand.playing.thrown[self.memory.seat]:
            raise CheckError("lock_mismatch", "the service counts this seat's discards wrongly")
        lock = discard_lock(hand.number, self.memory.seat, k, salt, places)
        return Lock(len(places), lock)

    def file(self, number: int, content: bytes) -> None:
        """A hand's file tells the hand as this seat has seen it. Spec: OPEN-2."""
        told = [str(event).encode() for event in json.loads(content)["events"]]
        events = self.chain.events_of(number)
        seen = [e.raw for e in events if not isinstance(e, HandDisclosed)]
        if told != [self.chain.events[0].raw, *seen]:
            raise CheckError(
                "not_descended",
                "the file tells another hand than this seat has seen",
                {"got": content.decode("utf-8", "replace")},
            )


def _text(opening: Opening) -> str:
    return json.dumps(opening.to_dict(), sort_keys=True)
