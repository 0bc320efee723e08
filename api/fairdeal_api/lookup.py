"""Answers from what was logged before: files of hands, roots, and what a repeated PUT gets."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from fairdeal.events import parse_event
from fairdeal.hand import Hand
from fairdeal.transcript import Transcript
from fairdeal_api import play, views
from fairdeal_api.problems import Problem
from fairdeal_api.slots import Slot
from fairdeal_api.store import EventRow

if TYPE_CHECKING:
    from fairdeal_api.service import Service

Json = dict[str, Any]
_ENDS = ("hand.closed", "hand.aborted")
_ROOTED = ("hand.dealt", "stock.reshuffled")


def shown_event(row: EventRow) -> Json:
    """An event with its place."""
    return {"seq": row.seq, "index": row.idx, "event": row.body.decode("ascii")}


def events(service: Service, table: str, after: int, limit: int, hand: int | None = None) -> Json:
    """A page of a table's events, or of one hand's.

    The last one says as well how the play stands after it, where a referee follows the newest hand.
    """
    reader = service.reader
    if hand is None:
        rows = reader.events(table, after, limit + 1)
    else:
        rows = reader.events_of_hand(table, hand, after, limit + 1)
    # The database is ahead of what is anchored by a moment: nobody is told of that. Spec: LOG-6.
    rows = [row for row in rows if row.idx < service.ledger.size]
    page: Json = {
        "events": [shown_event(row) for row in rows[:limit]],
        "has_more": len(rows) > limit,
    }
    if not page["has_more"]:
        # Of the same moment: what is released and what the slot holds change in one step.
        slot = service.dealer.slots.get(table)
        newest = slot.table.hand
        if newest is not None and newest.table.referee and hand in (None, newest.number):
            page |= play.status(newest, slot.dealing)
    return page


def roots(service: Service, slot: Slot, hand: Hand) -> list[Json]:
    """The deck roots of a hand, and where in the log they are."""
    found: list[Json] = []
    for row in service.reader.events_of_hand(slot.id, hand.number):
        event = json.loads(row.body)
        if event["type"] in _ROOTED:
            epoch = len(found)
            root, count = hand.roots[epoch]
            found.append({"epoch": epoch, "root": root.hex(), "count": count, "index": row.idx})
    return found


def transcript(service: Service, slot: Slot, number: int) -> tuple[bytes, bool]:
    """The file of a hand that has ended, and whether it will never change. Spec: FILE-5.

    Raises:
        Problem: `hand_unknown`, `hand_not_final`.
    """
    hand = service.dealer.slots.hand(slot, number)
    if not hand.is_final:
        raise Problem("hand_not_final")
    found, end = [], -1
    for row in service.reader.events_of_hand(slot.id, number):
        event = parse_event(row.body)
        if event.TYPE != "hand.disclosed":
            found.append(event)
        if event.TYPE in _ENDS:
            end = row.idx
    covering = service.reader.checkpoint_over(end)
    if covering is None:
        raise Problem("unavailable")  # cannot be: they came in one transaction
    receipt = service.ledger.receipt_at(end, *covering)
    dealing = None
    if hand.disclosed is None and hand.shown:
        dealing = service.dealer.slots.dealing(slot, hand)
    file = Transcript.of(hand, found, receipt, dealing).encode()
    return file, hand.disclosed is not None


def repeated(service: Service, slot: Slot, kind: str, member: str, seat: int, epoch: int) -> Json:
    """What a seat's PUT gets when it comes again: the event that it made, with a new receipt.

    Args:
        service: Where to look.
        slot: The table; the hand is its newest.
        kind: Type of the event.
        member: The event's map by seat.
        seat: Whose.
        epoch: For seeds.
    """
    hand = slot.table.hand
    if hand is None:
        raise Problem("hand_unknown")
    for row in service.reader.events_of_hand(slot.id, hand.number):
        event = json.loads(row.body)
        if (
            event["type"] == kind
            and str(seat) in event[member]
            and event.get("epoch", epoch) == epoch
        ):
            value: Json = {
                "table": slot.id,
                "hand": hand.number,
                "state": hand.phase.value,
                "seq": slot.table.seq,
                "events": [shown_event(row)],
                "receipt": service.ledger.receipt(row.idx) or "",
            }
            if kind == "seeds.opened":
                return value | _after_seeds(slot, hand, epoch)
            return value | views.sealing(hand)
    raise Problem("wrong_phase")


def _after_seeds(slot: Slot, hand: Hand, epoch: int) -> Json:
    """What the answer to a seed holds besides, as `hands.after_seeds` has it, of now."""
    refereed = play.status(hand, slot.dealing) if hand.table.referee else {}
    if not epoch and hand.dealt is not None and slot.dealing is not None:
        return views.dealt(hand, slot.dealing) | refereed
    return views.sealing(hand) | {"due_head": views.due_head(hand)} | refereed
