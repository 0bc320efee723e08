"""Seats: declarations, seals, seeds and cards, one seat at a time from its own device."""

from __future__ import annotations

from functools import partial

from fairdeal_api import answers, hands, lookup, play, views
from fairdeal_api.http import Call
from fairdeal_api.problems import Problem
from fairdeal_api.replies import NO_STORE, Reply, etag, json_reply
from fairdeal_api.routes.access import (
    check_seat,
    hand_number,
    seat_number,
    somebodys_slot,
    still_holding,
)
from fairdeal_api.routes.operation import SEAT, SIGNED, UNKNOWN, operation
from fairdeal_api.schemas import PutSeal, PutSeed, PutTrump


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
        *UNKNOWN,
        "seat_unknown",
        "not_your_seat",
        "trump_fixed",
        "trump_not_allowed",
        "not_your_turn",
        "already_final",
        "wrong_phase",
        "action_not_allowed",
        *SIGNED,
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
        slot,
        still_holding(
            call, caller, lambda draft: hands.declare(draft, number, seat, body.suit, body.sig)
        ),
        versions=call.if_match(),
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
        *UNKNOWN,
        "seat_unknown",
        "not_your_seat",
        "seal_fixed",
        "seed_reused",
        "already_final",
        "wrong_phase",
        *SIGNED,
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
        slot,
        still_holding(
            call, caller, lambda draft: hands.put_seal(draft, number, seat, body.seal, body.sig)
        ),
        versions=call.if_match(),
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
        *UNKNOWN,
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
        *SIGNED,
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
        slot,
        still_holding(call, caller, lambda draft: hands.put_seed(draft, number, seat, body)),
        versions=call.if_match(),
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
    problems=(*UNKNOWN, "seat_unknown", "not_your_seat", "wrong_phase", "not_looked"),
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
    if hand.table.referee:
        value["moves"] = play.moves(hand, dealing, seat)
    return json_reply(value, headers=[NO_STORE, etag(slot.table.seq)])
