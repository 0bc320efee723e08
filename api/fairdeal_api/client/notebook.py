"""What a seat writes down as a hand goes on: receipts, own seeds, cards seen. Spec: NOTE-1."""

from __future__ import annotations

import dataclasses
import json
import time
from pathlib import Path

from fairdeal.cards import Card
from fairdeal.codecs import Place
from fairdeal.encoding import parse_time
from fairdeal.errors import FairdealError
from fairdeal.events import Event, HandDisclosed, HandEvent
from fairdeal.hashing import Digest
from fairdeal.log.proof import Receipt
from fairdeal.notes import FORMAT, Notes
from fairdeal_api.client.memory import Memory, replace


class Notebook:
    """Notes of the newest hand and the one before it, whose end may come with its opening."""

    def __init__(self, memory: Memory) -> None:
        """Nothing is written yet; `begin` reads what there is of a hand."""
        self._memory = memory
        self._hands: dict[int, Notes] = {}
        self._promised: dict[Digest, str] = {}
        """Receipts from before a restart whose events have not come again yet."""

    def __getitem__(self, hand: int) -> Notes:
        """The notes of a hand."""
        return self._hands[hand]

    def begin(self, number: int) -> None:
        """A hand begins, or one is followed again after a restart."""
        memory = self._memory
        blank = Notes(memory.log_key, memory.table, number, memory.seat)
        notes = _read(memory.notes_path(number), blank)
        self._promised = dict(notes.receipts)
        notes.receipts.clear()  # each comes back with its event
        before = {hand: kept for hand, kept in self._hands.items() if hand == number - 1}
        for hand, kept in before.items():
            if kept.receipts or kept.cards:  # not of hands before this seat was taken
                self.save(hand)
        self._hands = {**before, number: notes}

    def save(self, number: int | None = None) -> None:
        """Write what there is of a hand, by default the newest one.

        Receipts whose events have not come again stay in the file.
        """
        if not self._hands:
            return
        newest = max(self._hands)
        number = newest if number is None else number
        notes = self._hands[number]
        promised = list(self._promised.items()) if number == newest else []
        replace(
            self._memory.notes_path(number),
            dataclasses.replace(notes, receipts=[*notes.receipts, *promised]).encode(),
        )

    def keep(self, event: Event, receipt: str) -> None:
        """A receipt, if it is of an event that the hand's file will hold."""
        if not isinstance(event, HandEvent) or isinstance(event, HandDisclosed):
            return
        if event.hand in self._hands:
            receipts = self._hands[event.hand].receipts
            if (event.digest, receipt) not in receipts:
                receipts.append((event.digest, receipt))

    def receipt_of(self, event: Event) -> str | None:
        """The receipt that is kept of an event."""
        if not isinstance(event, HandEvent) or event.hand not in self._hands:
            return None
        receipts = self._hands[event.hand].receipts
        return next((kept for digest, kept in receipts if digest == event.digest), None)

    def came_again(self, event: HandEvent) -> None:
        """An event is in the chain; a receipt from before a restart is one of it."""
        if event.digest in self._promised:
            self.keep(event, self._promised.pop(event.digest))

    def overdue(self, index: int) -> str | None:
        """A receipt whose event has not come again, though the chain is past it."""
        for receipt in self._promised.values():
            if Receipt.parse(receipt).index <= index:
                return receipt
        return None

    def see(self, hand: int, place: Place, card: Card) -> None:
        """A card was proved; when it was seen first counts."""
        seen = self._hands[hand].cards
        if all(place != known for _, known, _ in seen):
            seen.append((time.time_ns() // 1_000_000, place, card))


def _read(path: Path, blank: Notes) -> Notes:
    """What the notes of a hand hold already: receipts, and the cards seen.

    Args:
        path: Where they are, if there are any.
        blank: Notes of the same hand with nothing in them. Own seeds come from the chain.

    A file that is no notes of this hand is put aside, as it may be somebody's evidence.
    """
    try:
        value = json.loads(path.read_bytes())
        own = (FORMAT, blank.log_key, blank.table, blank.hand, blank.seat)
        if tuple([value[name] for name in ("format", "log_key", "table", "hand", "seat")]) != own:
            raise ValueError("notes of another hand")
        receipts = [(Digest.from_hex(one["digest"]), one["proof"]) for one in value["receipts"]]
        cards = [
            (parse_time(one["at"]), Place(one["epoch"], one["position"]), Card(one["card"]))
            for one in value["cards"]
        ]
        [Receipt.parse(proof) for _, proof in receipts]
    except FileNotFoundError:
        return blank
    except (FairdealError, ValueError, KeyError, TypeError):
        path.replace(path.with_name(path.name + ".unread"))
        return blank
    blank.receipts += receipts
    blank.cards += cards
    return blank
