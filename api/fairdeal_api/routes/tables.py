"""Tables and seats: terms, claim codes, the chain of events."""

from __future__ import annotations

from typing import Any

from fairdeal.ed25519 import is_on_curve
from fairdeal.errors import FairdealError, FormatError
from fairdeal.events import Header as EventHeader
from fairdeal.events import SeatReissued, TableOpened, Timeouts
from fairdeal.games import GAMES, rules_of
from fairdeal.games.base import Game, Value
from fairdeal.seeds import Commitment
from fairdeal.table import Table
from fairdeal_api import answers, system, views
from fairdeal_api.credentials import CLAIM, SEAT, digest
from fairdeal_api.draft import Draft
from fairdeal_api.http import Call, whole_number
from fairdeal_api.json_bytes import encode
from fairdeal_api.ledger import Entry
from fairdeal_api.problems import Problem, invalid
from fairdeal_api.replies import REPLAYED, Reply, etag, json_reply
from fairdeal_api.routes.access import check_key, operators_post, public_slot, seat_number
from fairdeal_api.routes.operation import TABLE, TABLES, Parameter, operation, whole
from fairdeal_api.routes.public import events_reply
from fairdeal_api.schemas import Claim, CreateTable, Nothing
from fairdeal_api.slots import Slot
from fairdeal_api.store import CommitmentRow, Row, SeatRow, TableRow


def _ruleset(game: Game, body: CreateTable) -> dict[str, Value]:
    """The whole ruleset, or where in the body it has no value that the game knows."""
    play = rules_of(game).options if body.referee else None
    try:
        return game.ruleset(body.ruleset, play=play)
    except FormatError as error:
        # A name that is no option is the caller's text, and not repeated.
        places = ["/ruleset"]
        if error.code == "option_value":
            places = [f"/ruleset/{name}" for name in game.unfit(body.ruleset, play=play)]
        errors = [{"pointer": place, "code": error.code} for place in places]
        raise Problem(error.code, errors) from None


def _terms(call: Call, body: CreateTable, table_id: str, commitment: Commitment) -> TableOpened:
    """The terms, every default spelled out. Spec: TBL-1, GAME-3."""
    game = GAMES.get(body.game)
    if game is None:
        raise Problem("game_unknown")
    seats = body.seats
    if seats is None:
        if len(game.seats) != 1:
            raise invalid([("/seats", "missing")])
        seats = game.seats[0]
    keys = {int(seat): bytes.fromhex(key) for seat, key in body.keys.items()}
    # The table refuses those of small order (TBL-1). With these it would be played until a seat
    # has to sign.
    strange = [seat for seat, key in keys.items() if not is_on_curve(key)]
    if strange:
        raise invalid([(f"/keys/{seat}", "key_malformed") for seat in strange])
    contribute = body.contribute if body.contribute is not None else list(range(seats))
    service = call.service
    return TableOpened(
        header=EventHeader(table_id, 0, None, service.clock.now()),
        origin=service.settings.log_origin,
        log_key=str(service.verifier_key),
        game=body.game,
        ruleset=_ruleset(game, body),
        seats=seats,
        contribute=tuple(sorted(contribute)),
        keys=keys,
        custody=body.custody,
        timeouts=Timeouts(**body.timeouts.model_dump()),
        disclosure=body.disclosure,
        referee=body.referee,
        next_commitment=commitment,
    )


@operation(
    "createTable",
    "POST",
    TABLES,
    tag="tables",
    summary="Open a table: game, ruleset, seats and policies, fixed for all its hands",
    caller="operator",
    body=CreateTable,
    answers=((201, answers.TableOpened),),
    problems=(
        "operator_only",
        "game_unknown",
        "option_unknown",
        "option_value",
        "seats_not_allowed",
    ),
    keyed=True,
)
async def create_table(call: Call) -> Reply:
    """Open a table. Spec: TBL-1."""
    service = call.service
    caller = service.credentials.operator(call.bearer())
    idempotency = call.idempotency_key()
    body, request = await call.model(CreateTable)
    check_key(call, caller)
    if body.test_seed is not None and service.settings.mode != "test":
        raise Problem("test_only")
    table_id = system.new_table_id()
    test_seed = bytes.fromhex(body.test_seed) if body.test_seed else None
    slots = service.dealer.slots
    seed, commitment = slots.new_seed(test_seed, 1)
    event = _terms(call, body, table_id, commitment)
    try:
        table = Table.open(event)
    except FairdealError as error:
        if error.code == "key_malformed":
            raise invalid([("/keys", "key_malformed")]) from None
        raise
    codes = {}
    if body.custody == "seats":
        codes = {seat: system.new_secret(CLAIM) for seat in range(event.seats)}
    patience = event.timeouts.table
    rows: list[Row] = [
        TableRow(
            table_id,
            caller.name,
            event.game,
            service.sealer.seal("test seed", table_id, 0, test_seed) if test_seed else None,
            0,
            0,
            "idle",
            patience,
            event.header.at + 1000 * patience,
            0,
        ),
        CommitmentRow(
            commitment,
            table_id,
            1,
            int(test_seed is not None),
            slots.seal_seed(table_id, 1, seed, commitment),
            0,
        ),
    ]
    rows += [SeatRow(table_id, seat, digest(code), None) for seat, code in codes.items()]

    def finish(first: int, receipt: bytes) -> bytes:
        return encode(
            {
                "table": table_id,
                "state": "idle",
                "seq": 0,
                "events": [{"seq": 0, "index": first, "event": event.raw.decode("ascii")}],
                "receipt": receipt.decode(),
                "terms": table.terms.hex(),
                "next_commitment": commitment.hex(),
                "log_key": event.log_key,
                "origin": event.origin,
                **({"claim_codes": {str(s): c for s, c in codes.items()}} if codes else {}),
            }
        )

    entry = Entry(table_id, 0, [(0, 0, event.raw)], finish, rows)
    key = call.key(caller.digest, idempotency, request)
    reply = await service.dealer.write_apart(key, entry, 201)
    if REPLAYED not in reply.headers:
        slots.add(Slot(table_id, caller.name, table, entry.first, test_seed, next_seed=seed))
    return reply


@operation(
    "claimSeat",
    "POST",
    "/v1/seats/claim",
    tag="seats",
    summary="Exchange a claim code for a seat's token, once",
    body=Claim,
    answers=((200, answers.SeatToken),),
    problems=("claim_unknown", "claim_used"),
    keyed=True,
)
async def claim_seat(call: Call) -> Reply:
    """Claim a seat."""
    service = call.service
    idempotency = call.idempotency_key()
    body, request = await call.model(Claim)
    claim = digest(body.code)
    row = service.reader.seat_by_claim(claim)
    if row is None:
        raise Problem("claim_unknown")
    # The code is the credential: nobody else can meet this key.
    key = call.key(claim, idempotency, request)
    slot = service.dealer.slots.get(row.table_id)
    slot.users += 1
    try:
        async with slot.lock:
            if (reply := service.dealer.replay(key)) is not None:
                return reply
            row = service.reader.seat_by_claim(claim)
            if row is None:
                raise Problem("claim_unknown")
            if row.token is not None:
                raise Problem("claim_used")
            token = system.new_secret(SEAT)
            answer = {"table": row.table_id, "seat": row.seat, "token": token}
            held = SeatRow(row.table_id, row.seat, claim, digest(token))
            seq = slot.table.seq
            entry = Entry(row.table_id, seq, [], lambda *_: encode(answer), [held])
            return await service.dealer.write_apart(key, entry, 200)
    finally:
        slot.users -= 1


@operation(
    "listTables",
    "GET",
    TABLES,
    tag="tables",
    summary="The operator's own tables",
    caller="operator",
    answers=((200, answers.Tables),),
    problems=("operator_only",),
    query=(
        whole("limit", 50, 1, 200, "How many at most"),
        Parameter("after", "query", {"type": "string", "maxLength": 30}, "`next` of the last page"),
    ),
)
async def list_tables(call: Call) -> Reply:
    """List tables."""
    caller = call.service.credentials.operator(call.bearer())
    texts = call.query_texts("limit", "after")
    limit = whole_number(texts.get("limit"), 50, 1, 200)
    rows = call.service.reader.tables_of(caller.name, texts.get("after", ""), limit + 1)
    found = [
        {"table": row.id, "game": row.game, "state": row.state, "seq": row.seq, "hand": row.hand}
        for row in rows[:limit]
    ]
    more = len(rows) > limit
    return json_reply(
        {"tables": found, "has_more": more, "next": found[-1]["table"] if more else None}
    )


@operation(
    "getTable",
    "GET",
    TABLE,
    tag="tables",
    summary="A table as everybody may know it",
    answers=((200, answers.Table),),
    problems=("table_unknown",),
)
async def get_table(call: Call) -> Reply:
    """The terms and the newest hand."""
    call.query()
    slot = public_slot(call)
    headers = [etag(slot.table.seq), (b"cache-control", b"no-cache")]
    if call.if_none_match(slot.table.seq):
        return Reply(b"", 304, headers)
    return json_reply(views.public_table(slot), headers=headers)


@operation(
    "getTableEvents",
    "GET",
    TABLE + "/events",
    tag="tables",
    summary="A table's events, as they are in the log",
    answers=((200, answers.Events),),
    problems=("table_unknown", "rate_limited"),
    query=(
        whole("after", -1, -1, 2**53 - 1, "Events after this number"),
        whole("limit", 200, 1, 200, "How many at most"),
        whole("wait", 0, 0, 25, "Seconds to wait for an event, if there is none"),
    ),
)
async def get_table_events(call: Call) -> Reply:
    """The chain, with long poll."""
    return await events_reply(call, public_slot(call).id, None)


@operation(
    "closeTable",
    "POST",
    TABLE + "/close",
    tag="tables",
    summary="Open what is still closed, and end a table",
    caller="operator",
    body=Nothing,
    answers=((200, answers.TableClosed),),
    problems=("table_unknown", "operator_only", "hand_open", "table_closed"),
    keyed=True,
    versioned=True,
)
async def close_table(call: Call) -> Reply:
    """Close a table. Spec: TBL-2."""
    _, slot, key = await operators_post(call, Nothing)

    def work(draft: Draft) -> dict[str, Any]:
        if draft.table.is_closed:
            raise Problem("table_closed")
        draft.close_table()
        return {"unused_seed": draft.unused_seed.hex()}

    return await call.service.dealer.write(
        slot, work, versions=call.if_match(), hand=0, key=key, apart=True
    )


@operation(
    "reissueSeat",
    "POST",
    TABLE + "/seats/{seat}/reissue",
    tag="seats",
    summary="Give a seat a new claim code; its old token is dead",
    caller="operator",
    body=Nothing,
    answers=((200, answers.SeatReissued),),
    problems=(
        "table_unknown",
        "seat_unknown",
        "operator_only",
        "hand_open",
        "not_due",
        "table_closed",
    ),
    keyed=True,
    versioned=True,
)
async def reissue_seat(call: Call) -> Reply:
    """Re-issue a seat, visibly. Spec: TBL-2."""
    _, slot, key = await operators_post(call, Nothing)
    seat = seat_number(call, slot)

    def work(draft: Draft) -> dict[str, Any]:
        draft.apply(SeatReissued(header=draft.header, seat=seat))
        code = system.new_secret(CLAIM)
        draft.rows.append(SeatRow(slot.id, seat, digest(code), None))
        return {"seat": seat, "claim_code": code}

    return await call.service.dealer.write(
        slot, work, versions=call.if_match(), hand=0, key=key, apart=True
    )
