"""What everybody may read of a hand: its state, its events, its file."""

from __future__ import annotations

import asyncio
from typing import Any

from fairdeal_api import answers, lookup, play, views
from fairdeal_api.http import Call
from fairdeal_api.replies import IMMUTABLE, JSON, NO_STORE, Reply, etag, json_reply
from fairdeal_api.routes.access import hand_number, public_slot
from fairdeal_api.routes.operation import HAND, UNKNOWN, operation, whole


@operation(
    "getHand",
    "GET",
    HAND,
    tag="hands",
    summary="A hand as everybody may know it",
    answers=((200, answers.Hand),),
    problems=UNKNOWN,
)
async def get_hand(call: Call) -> Reply:
    """The public state."""
    call.query()
    slot = public_slot(call)
    hand = call.service.dealer.slots.hand(slot, hand_number(call))
    headers = [etag(slot.table.seq), (b"cache-control", b"no-cache")]
    if call.if_none_match(slot.table.seq):
        return Reply(b"", 304, headers)
    value = views.public_hand(slot, hand)
    if hand.table.referee:
        value |= play.shown_hand(hand, slot.dealing)
    return json_reply(value, headers=headers)


@operation(
    "getHandEvents",
    "GET",
    HAND + "/events",
    tag="hands",
    summary="A hand's events, as they are in the log",
    answers=((200, answers.Events),),
    problems=(*UNKNOWN, "rate_limited"),
    query=(
        whole("after", -1, -1, 2**53 - 1, "Events after this number of the table"),
        whole("limit", 200, 1, 200, "How many at most"),
        whole("wait", 0, 0, 25, "Seconds to wait for an event, if there is none"),
    ),
)
async def get_hand_events(call: Call) -> Reply:
    """Events of one hand, with long poll."""
    slot = public_slot(call)
    number = hand_number(call)
    call.service.dealer.slots.hand(slot, number)
    return await events_reply(call, slot.id, number)


async def events_reply(call: Call, table: str, hand: int | None) -> Reply:
    """A page of events; held until there is one if the caller asks for that."""
    query = call.query(after=(-1, -1, 2**53 - 1), limit=(200, 1, 200), wait=(0, 0, 25))
    service, wait = call.service, query["wait"]

    def read() -> dict[str, Any]:
        return lookup.events(service, table, query["after"], query["limit"], hand)

    def newest() -> int:
        return service.dealer.slots.get(table).table.seq

    async def held() -> dict[str, Any]:
        page, seq = read(), newest()
        while not page["events"]:
            # Whatever is logged at the table wakes: also another hand's, or an older one.
            await service.dealer.wait_for_event(table, wait)
            page, before, seq = read(), seq, newest()
            if seq == before:
                break  # all are let go: the service stops, or writes nothing more
        return page

    page = read()
    if not page["events"] and wait:
        # Who has gone takes no place from those who wait.
        found, gone = asyncio.create_task(held()), asyncio.create_task(call.gone())
        try:
            await asyncio.wait((found, gone), timeout=wait, return_when=asyncio.FIRST_COMPLETED)
        finally:
            found.cancel()
            gone.cancel()
        await asyncio.gather(found, gone, return_exceptions=True)
        if not found.cancelled():
            page = found.result()
    return json_reply(page, headers=[NO_STORE, etag(newest())])


@operation(
    "getTranscript",
    "GET",
    HAND + "/transcript",
    tag="hands",
    summary="HAND.fair.json: all that a check of this hand needs",
    answers=((200, answers.TranscriptFile),),
    problems=(*UNKNOWN, "hand_not_final"),
)
async def get_transcript(call: Call) -> Reply:
    """The hand's file. Spec: FILE-1."""
    call.query()
    slot = public_slot(call)
    file, final = lookup.transcript(call.service, slot, hand_number(call))
    caching = IMMUTABLE if final else (b"cache-control", b"no-cache")
    return Reply(file, 200, [JSON, caching])
