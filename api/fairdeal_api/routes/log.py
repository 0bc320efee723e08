"""The public log as static files, and receipts. Spec: LOG-6, LOG-8, LOG-9."""

from __future__ import annotations

from fairdeal.encoding import format_time
from fairdeal.errors import FormatError
from fairdeal.log.tiles import WIDTH, entry_bundle, parse_path
from fairdeal_api import answers
from fairdeal_api.http import Call
from fairdeal_api.problems import Problem
from fairdeal_api.replies import BRIEFLY, IMMUTABLE, OCTETS, TEXT, Reply, json_reply
from fairdeal_api.routes.operation import operation, whole


@operation(
    "getCheckpoint",
    "GET",
    "/log/checkpoint",
    tag="log",
    summary="The newest checkpoint that a quorum of witnesses has cosigned: a C2SP signed note",
    answers=((200, "text/plain"),),
)
async def get_checkpoint(call: Call) -> Reply:
    """The checkpoint. Spec: LOG-2, WIT-8."""
    call.query()
    _, note = call.service.witnesses.shown(call.service.ledger)
    return Reply(note.encode(), 200, [TEXT, BRIEFLY])


@operation(
    "getRotations",
    "GET",
    "/log/rotations",
    tag="log",
    summary="What leads from each of the log's keys to the next: entries and their receipts",
    answers=((200, answers.Rotations),),
)
async def get_rotations(call: Call) -> Reply:
    """The rotations. Spec: LOG-32."""
    call.query()
    return json_reply(call.service.rotations(), headers=[BRIEFLY])


@operation(
    "getTile",
    "GET",
    "/log/tile/{path:path}",
    tag="log",
    summary="A C2SP tile of hashes (`<L>/<N>[.p/<W>]`) or of entries (`entries/<N>[.p/<W>]`)",
    answers=((200, "application/octet-stream"),),
    problems=("entry_unknown",),
)
async def get_tile(call: Call) -> Reply:
    """A tile. Spec: LOG-8."""
    call.query()
    try:
        tile = parse_path("tile/" + call.params["path"])
    except FormatError:
        raise Problem("entry_unknown") from None
    ledger = call.service.ledger
    if tile.level >= 0:
        found = ledger.tile(tile)
        if found is None:
            raise Problem("entry_unknown")
        return Reply(found, 200, [OCTETS, IMMUTABLE])
    if not tile.exists(ledger.size):
        raise Problem("entry_unknown")
    start = WIDTH * tile.number
    bundle = entry_bundle(call.service.reader.entries(start, start + tile.width))
    return Reply(bundle, 200, [OCTETS, IMMUTABLE])


@operation(
    "getReceipt",
    "GET",
    "/v1/receipts/{index}",
    tag="log",
    summary="A C2SP tlog-proof of one entry, against the newest checkpoint",
    answers=((200, "text/plain"),),
    problems=("entry_unknown",),
    query=(whole("cosigned", 0, 0, 1, "1: against `/log/checkpoint`, with its cosignatures"),),
)
async def get_receipt(call: Call) -> Reply:
    """A receipt. Spec: LOG-5, WIT-8."""
    query = call.query(cosigned=(0, 0, 1))
    text = call.params["index"]
    if not (text.isascii() and text.isdigit()) or len(text) > 15 or str(int(text)) != text:
        raise Problem("entry_unknown")
    ledger, index = call.service.ledger, int(text)
    size, note = call.service.witnesses.shown(ledger) if query["cosigned"] else ledger.released
    if index >= size:
        raise Problem("entry_unknown")
    receipt = ledger.receipt_at(index, size, note).text()
    return Reply(receipt.encode(), 200, [TEXT, BRIEFLY])


@operation(
    "listHands",
    "GET",
    "/v1/hands",
    tag="log",
    summary="Hands that have ended, newest last",
    answers=((200, answers.Hands),),
    query=(
        whole("after", -1, -1, 2**53 - 1, "`next` of the last page"),
        whole("limit", 50, 1, 200, "How many at most"),
    ),
)
async def list_hands(call: Call) -> Reply:
    """Finished hands, for auditors."""
    query = call.query(after=(-1, -1, 2**53 - 1), limit=(50, 1, 200))
    rows = call.service.reader.finished_after(query["after"], query["limit"] + 1)
    # The database is ahead of what is anchored by a moment: nobody is told of that. Spec: LOG-6.
    rows = [row for row in rows if row.idx < call.service.ledger.size]
    found = [
        {
            "table": row.table_id,
            "hand": row.hand,
            "game": row.game,
            "state": row.state,
            "ended_at": format_time(row.at),
            "index": row.idx,
            "verify_url": f"/v/{row.table_id}/{row.hand}",
        }
        for row in rows[: query["limit"]]
    ]
    more = len(rows) > query["limit"]
    return json_reply(
        {"hands": found, "has_more": more, "next": found[-1]["index"] if more else None},
        headers=[BRIEFLY],
    )
