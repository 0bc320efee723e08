"""Hands: opening, seals, seeds, the deal, actions, the end."""

from __future__ import annotations

from functools import partial

from fairdeal_api import answers, hands, http, lookup, views
from fairdeal_api.credentials import Operator, SeatHolder
from fairdeal_api.dealer import Key
from fairdeal_api.http import Call, Reply
from fairdeal_api.problems import Problem
from fairdeal_api.routes.access import (
    check_operator,
    check_seat,
    hand_number,
    operators_slot,
    public_slot,
    seat_number,
    somebodys_slot,
)
from fairdeal_api.routes.operation import operation, whole
from fairdeal_api.schemas import (
    Action,
    Actions,
    CloseHand,
    Deal,
    Discard,
    Look,
    Nothing,
    OpenHand,
    OpenSeeds,
    PutSeal,
    PutSeed,
    PutTrump,
    Show,
)
from fairdeal_api.slots import Slot

HANDS = "/v1/tables/{table}/hands"
HAND = HANDS + "/{hand}"
SEAT = HAND + "/seats/{seat}"
_UNKNOWN = ("table_unknown", "hand_unknown")
_SIGNED = ("signature_invalid", "signature_missing")


def _check_bulk(slot: Slot) -> None:
    """Values of all seats at once come from an operator only, and only if it holds the seats."""
    if slot.table.terms_event.custody != "operator":
        raise Problem("not_your_seat")


@operation(
    "openHand",
    "POST",
    HANDS,
    tag="hands",
    summary="Open a hand, with the declarations and seals that are known",
    caller="operator",
    body=OpenHand,
    answers=((201, answers.HandOpened),),
    problems=(
        "table_unknown",
        "not_your_seat",
        "operator_only",
        "hand_open",
        "table_closed",
        "not_due",
        "first_not_allowed",
        "trump_not_allowed",
        "not_your_turn",
        "wrong_phase",
        "seed_reused",
        "seat_unknown",
        "action_not_allowed",
        *_SIGNED,
    ),
    keyed=True,
    versioned=True,
)
async def open_hand(call: Call) -> Reply:
    """Open a hand. Spec: HAND-1."""
    caller = call.service.credentials.caller(call.bearer())
    call.idempotency_key()
    body, request = await call.model(OpenHand)
    slot = operators_slot(call, caller)
    if body.seals is not None or body.trumps is not None:
        _check_bulk(slot)
    return await call.service.dealer.write(
        call,
        slot,
        lambda draft: hands.open_hand(draft, body),
        hand=None,
        status=201,
        key=Key.of(call, caller.digest, request),
    )


@operation(
    "deal",
    "POST",
    HAND + "/deal",
    tag="hands",
    summary="Open the seeds that are missing, and deal",
    caller="operator",
    body=Deal,
    answers=((200, answers.Dealt),),
    problems=(
        *_UNKNOWN,
        "not_your_seat",
        "operator_only",
        "too_early",
        "head_mismatch",
        "seal_mismatch",
        "seed_fixed",
        "seed_reused",
        "seat_unknown",
        "already_final",
        "wrong_phase",
        *_SIGNED,
    ),
    keyed=True,
    versioned=True,
)
async def deal(call: Call) -> Reply:
    """Deal. Spec: HAND-5, HAND-6, HAND-8."""
    caller = call.service.credentials.caller(call.bearer())
    call.idempotency_key()
    body, request = await call.model(Deal)
    slot = operators_slot(call, caller)
    number = hand_number(call)
    if body.seeds is not None:
        _check_bulk(slot)
    return await call.service.dealer.write(
        call,
        slot,
        lambda draft: hands.deal(draft, number, body),
        hand=number,
        key=Key.of(call, caller.digest, request),
    )


@operation(
    "closeHand",
    "POST",
    HAND + "/close",
    tag="hands",
    summary="End a hand, and begin the next if asked",
    caller="operator",
    body=CloseHand,
    answers=((200, answers.HandEnded),),
    problems=(
        *_UNKNOWN,
        "not_your_seat",
        "operator_only",
        "already_final",
        "wrong_phase",
        "first_not_allowed",
        "trump_not_allowed",
        "not_your_turn",
        "seed_reused",
        "seat_unknown",
        "action_not_allowed",
        *_SIGNED,
    ),
    keyed=True,
    versioned=True,
)
async def close_hand(call: Call) -> Reply:
    """Close a hand. Spec: HAND-15, HAND-17."""
    caller = call.service.credentials.caller(call.bearer())
    call.idempotency_key()
    body, request = await call.model(CloseHand)
    slot = operators_slot(call, caller)
    number = hand_number(call)
    if body.next is not None and (body.next.seals is not None or body.next.trumps is not None):
        _check_bulk(slot)
    return await call.service.dealer.write(
        call,
        slot,
        lambda draft: hands.close(draft, number, body),
        hand=number,
        key=Key.of(call, caller.digest, request),
    )


@operation(
    "applyActions",
    "POST",
    HAND + "/actions",
    tag="hands",
    summary="1 to 64 actions, all or nothing",
    caller="seat",
    body=Actions,
    answers=((200, answers.Acted),),
    problems=(
        *_UNKNOWN,
        "not_your_seat",
        "operator_only",
        "already_final",
        "wrong_phase",
        "wrong_event",
        "too_early",
        "head_mismatch",
        "chain_mismatch",
        "seed_fixed",
        "seed_reused",
        "seat_unknown",
        "not_in_holding",
        "not_your_turn",
        "draw_not_due",
        "not_due",
        "action_not_allowed",
        *_SIGNED,
    ),
    keyed=True,
    versioned=True,
)
async def apply_actions(call: Call) -> Reply:
    """Play. Spec: HAND-9."""
    caller = call.service.credentials.caller(call.bearer())
    call.idempotency_key()
    body, request = await call.model(Actions)
    slot = somebodys_slot(call, caller)
    number = hand_number(call)
    for action in body.actions:
        _check_action(slot, caller, action)
    return await call.service.dealer.write(
        call,
        slot,
        lambda draft: hands.act(draft, number, body),
        hand=number,
        key=Key.of(call, caller.digest, request),
    )


def _check_action(slot: Slot, caller: Operator | SeatHolder, action: Action) -> None:
    match action:
        case Discard() | Show() | Look():
            check_seat(slot, caller, action.seat)
        case OpenSeeds():
            for seat in action.seeds:
                check_seat(slot, caller, int(seat))
        case _:
            check_operator(caller)


@operation(
    "declareTrump",
    "PUT",
    SEAT + "/trump",
    tag="seats",
    summary="A seat names its own trump suit",
    caller="seat",
    body=PutTrump,
    answers=((201, answers.Sealing), (200, answers.Sealing)),
    problems=(
        *_UNKNOWN,
        "seat_unknown",
        "not_your_seat",
        "trump_fixed",
        "trump_not_allowed",
        "not_your_turn",
        "already_final",
        "wrong_phase",
        "action_not_allowed",
        *_SIGNED,
    ),
    versioned=True,
)
async def put_trump(call: Call) -> Reply:
    """Declare. Spec: HAND-3."""
    caller = call.service.credentials.caller(call.bearer())
    body, _ = await call.model(PutTrump)
    slot = somebodys_slot(call, caller)
    number, seat = hand_number(call), seat_number(call, slot)
    check_seat(slot, caller, seat)
    return await call.service.dealer.write(
        call,
        slot,
        lambda draft: hands.declare(draft, number, seat, body.suit, body.sig),
        hand=number,
        status=201,
        again=partial(lookup.repeated, call.service, slot, "trumps.declared", "trumps", seat, 0),
    )


@operation(
    "sealSeat",
    "PUT",
    SEAT + "/seal",
    tag="seats",
    summary="A seat commits to its seed",
    caller="seat",
    body=PutSeal,
    answers=((201, answers.Sealing), (200, answers.Sealing)),
    problems=(
        *_UNKNOWN,
        "seat_unknown",
        "not_your_seat",
        "seal_fixed",
        "seed_reused",
        "already_final",
        "wrong_phase",
        *_SIGNED,
    ),
    versioned=True,
)
async def put_seal(call: Call) -> Reply:
    """Seal. Spec: HAND-4."""
    caller = call.service.credentials.caller(call.bearer())
    body, _ = await call.model(PutSeal)
    slot = somebodys_slot(call, caller)
    number, seat = hand_number(call), seat_number(call, slot)
    check_seat(slot, caller, seat)
    return await call.service.dealer.write(
        call,
        slot,
        lambda draft: hands.put_seal(draft, number, seat, body.seal, body.sig),
        hand=number,
        status=201,
        again=partial(lookup.repeated, call.service, slot, "seeds.sealed", "seals", seat, 0),
    )


@operation(
    "openSeed",
    "PUT",
    SEAT + "/seed",
    tag="seats",
    summary="A seat opens its seed, under the head that it has checked",
    caller="seat",
    body=PutSeed,
    answers=((201, answers.Dealt), (200, answers.Dealt)),
    problems=(
        *_UNKNOWN,
        "seat_unknown",
        "not_your_seat",
        "too_early",
        "head_mismatch",
        "seal_mismatch",
        "chain_mismatch",
        "seed_fixed",
        "seed_reused",
        "already_final",
        "wrong_phase",
        *_SIGNED,
    ),
    versioned=True,
)
async def put_seed(call: Call) -> Reply:
    """Open. Spec: HAND-5, HAND-8, HAND-12."""
    caller = call.service.credentials.caller(call.bearer())
    body, _ = await call.model(PutSeed)
    slot = somebodys_slot(call, caller)
    number, seat = hand_number(call), seat_number(call, slot)
    check_seat(slot, caller, seat)
    return await call.service.dealer.write(
        call,
        slot,
        lambda draft: hands.put_seed(draft, number, seat, body),
        hand=number,
        status=201,
        again=partial(
            lookup.repeated, call.service, slot, "seeds.opened", "seeds", seat, body.epoch
        ),
    )


@operation(
    "getSeatCards",
    "GET",
    SEAT + "/cards",
    tag="seats",
    summary="A seat's own cards, each with its proof",
    caller="seat",
    answers=((200, answers.SeatCards),),
    problems=(*_UNKNOWN, "seat_unknown", "not_your_seat", "wrong_phase", "not_looked"),
)
async def get_cards(call: Call) -> Reply:
    """Private cards. Spec: HAND-7, AZI-3."""
    caller = call.service.credentials.caller(call.bearer())
    call.query()
    slot = somebodys_slot(call, caller)
    number, seat = hand_number(call), seat_number(call, slot)
    check_seat(slot, caller, seat)
    service = call.service
    hand = service.dealer.slots.hand(slot, number)
    newest = slot.table.hand is not None and number == slot.table.hand.number
    dealing = slot.dealing if newest else service.dealer.slots.dealing(slot, hand)
    if dealing is None:
        raise Problem("unavailable")
    roots = lookup.roots(service, slot, hand)
    value = views.cards(hand, dealing, seat, roots, slot.table.seq)
    return http.json_reply(value, headers=[http.NO_STORE, http.etag(slot.table.seq)])


@operation(
    "abortHand",
    "POST",
    HAND + "/abort",
    tag="hands",
    summary="End a hand early",
    caller="operator",
    body=Nothing,
    answers=((200, answers.HandEnded),),
    problems=(*_UNKNOWN, "operator_only", "already_final"),
    keyed=True,
    versioned=True,
)
async def abort_hand(call: Call) -> Reply:
    """Abort. Spec: HAND-16."""
    caller = call.service.credentials.caller(call.bearer())
    call.idempotency_key()
    _, request = await call.model(Nothing)
    slot = operators_slot(call, caller)
    number = hand_number(call)
    return await call.service.dealer.write(
        call,
        slot,
        lambda draft: hands.abort(draft, number),
        hand=number,
        key=Key.of(call, caller.digest, request),
    )


@operation(
    "discloseHand",
    "POST",
    HAND + "/disclose",
    tag="hands",
    summary="Open the server seed of one ended hand early (policy `table`)",
    caller="operator",
    body=Nothing,
    answers=((200, answers.HandEnded),),
    problems=(
        *_UNKNOWN,
        "operator_only",
        "hand_not_final",
        "hand_open",
        "already_disclosed",
        "table_closed",
    ),
    keyed=True,
    versioned=True,
)
async def disclose_hand(call: Call) -> Reply:
    """Disclose. Spec: HAND-17."""
    caller = call.service.credentials.caller(call.bearer())
    call.idempotency_key()
    _, request = await call.model(Nothing)
    slot = operators_slot(call, caller)
    number = hand_number(call)
    return await call.service.dealer.write(
        call,
        slot,
        lambda draft: hands.disclose(draft, number),
        hand=number,
        key=Key.of(call, caller.digest, request),
    )


@operation(
    "getHand",
    "GET",
    HAND,
    tag="hands",
    summary="A hand as everybody may know it",
    answers=((200, answers.Hand),),
    problems=_UNKNOWN,
)
async def get_hand(call: Call) -> Reply:
    """The public state."""
    call.query()
    slot = public_slot(call)
    hand = call.service.dealer.slots.hand(slot, hand_number(call))
    headers = [http.etag(slot.table.seq), (b"cache-control", b"no-cache")]
    if call.if_none_match(slot.table.seq):
        return Reply(b"", 304, headers)
    return http.json_reply(views.public_hand(slot, hand), headers=headers)


@operation(
    "getHandEvents",
    "GET",
    HAND + "/events",
    tag="hands",
    summary="A hand's events, as they are in the log",
    answers=((200, answers.Events),),
    problems=(*_UNKNOWN, "rate_limited"),
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
    page = lookup.events(call.service, table, query["after"], query["limit"], hand)
    if not page["events"] and query["wait"]:
        await call.service.dealer.wait_for_event(table, query["wait"])
        page = lookup.events(call.service, table, query["after"], query["limit"], hand)
    return http.json_reply(page)


@operation(
    "getTranscript",
    "GET",
    HAND + "/transcript",
    tag="hands",
    summary="HAND.fair.json: all that a check of this hand needs",
    answers=((200, answers.TranscriptFile),),
    problems=(*_UNKNOWN, "hand_not_final"),
)
async def get_transcript(call: Call) -> Reply:
    """The hand's file. Spec: FILE-1."""
    call.query()
    slot = public_slot(call)
    file, final = lookup.transcript(call.service, slot, hand_number(call))
    caching = http.IMMUTABLE if final else (b"cache-control", b"no-cache")
    return Reply(file, 200, [http.JSON, caching])
