"""Hands: opening, the deal, actions, the end. The hot routes stand first."""

from __future__ import annotations

from fairdeal_api import answers, hands
from fairdeal_api.credentials import OperatorKey, SeatHolder
from fairdeal_api.draft import Draft
from fairdeal_api.http import Call
from fairdeal_api.problems import Problem
from fairdeal_api.replies import Reply
from fairdeal_api.routes.access import (
    check_operator,
    check_seat,
    hand_number,
    operators_post,
    somebodys_slot,
    still_holding,
)
from fairdeal_api.routes.operation import HAND, HANDS, SIGNED, UNKNOWN, operation
from fairdeal_api.schemas import (
    Action,
    Actions,
    CallOut,
    CloseHand,
    Deal,
    Discard,
    Look,
    Nothing,
    OpenHand,
    OpenSeeds,
    Pull,
    Show,
)
from fairdeal_api.slots import Slot


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
        "not_witnessed",
        *SIGNED,
    ),
    keyed=True,
    versioned=True,
)
async def open_hand(call: Call) -> Reply:
    """Open a hand. Spec: HAND-1, WIT-9."""
    body, slot, key = await operators_post(call, OpenHand)
    if body.seals is not None or body.trumps is not None:
        _check_bulk(slot)

    def work(draft: Draft) -> hands.Json:
        call.service.witnesses.check_may_open()
        return hands.open_hand(draft, body)

    return await call.service.dealer.write(
        slot,
        work,
        versions=call.if_match(),
        hand=None,
        status=201,
        key=key,
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
        *UNKNOWN,
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
        *SIGNED,
    ),
    keyed=True,
    versioned=True,
)
async def deal(call: Call) -> Reply:
    """Deal. Spec: HAND-5, HAND-6, HAND-8."""
    body, slot, key = await operators_post(call, Deal)
    number = hand_number(call)
    if body.seeds is not None:
        _check_bulk(slot)
    return await call.service.dealer.write(
        slot,
        lambda draft: hands.deal(draft, number, body),
        versions=call.if_match(),
        hand=number,
        key=key,
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
        *UNKNOWN,
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
        "not_witnessed",
        *SIGNED,
    ),
    keyed=True,
    versioned=True,
)
async def close_hand(call: Call) -> Reply:
    """Close a hand; without `next` that is always possible. Spec: HAND-15, HAND-17, WIT-9."""
    body, slot, key = await operators_post(call, CloseHand)
    number = hand_number(call)
    if body.next is not None and (body.next.seals is not None or body.next.trumps is not None):
        _check_bulk(slot)

    def work(draft: Draft) -> hands.Json:
        if body.next is not None:
            call.service.witnesses.check_may_open()
        return hands.close(draft, number, body)

    return await call.service.dealer.write(
        slot,
        work,
        versions=call.if_match(),
        hand=number,
        key=key,
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
        *UNKNOWN,
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
        "not_looked",
        "illegal_move",
        "action_not_allowed",
        *SIGNED,
    ),
    keyed=True,
    versioned=True,
)
async def apply_actions(call: Call) -> Reply:
    """Play. Spec: HAND-9."""
    caller = call.service.credentials.caller(call.bearer())
    idempotency = call.idempotency_key()
    body, request = await call.model(Actions)
    slot = somebodys_slot(call, caller)
    number = hand_number(call)
    for action in body.actions:
        _check_action(slot, caller, action)
    return await call.service.dealer.write(
        slot,
        still_holding(call, caller, lambda draft: hands.act(draft, number, body)),
        versions=call.if_match(),
        hand=number,
        key=call.key(caller.digest, idempotency, request),
    )


def _check_action(slot: Slot, caller: OperatorKey | SeatHolder, action: Action) -> None:
    match action:
        case Discard() | Show() | Look() | Pull() | CallOut():
            check_seat(slot, caller, action.seat)
        case OpenSeeds():
            for seat in action.seeds:
                check_seat(slot, caller, int(seat))
        case _:
            check_operator(caller)


@operation(
    "abortHand",
    "POST",
    HAND + "/abort",
    tag="hands",
    summary="End a hand early",
    caller="operator",
    body=Nothing,
    answers=((200, answers.HandEnded),),
    problems=(*UNKNOWN, "operator_only", "already_final"),
    keyed=True,
    versioned=True,
)
async def abort_hand(call: Call) -> Reply:
    """Abort. Spec: HAND-16."""
    _, slot, key = await operators_post(call, Nothing)
    number = hand_number(call)
    return await call.service.dealer.write(
        slot,
        lambda draft: hands.abort(draft, number),
        versions=call.if_match(),
        hand=number,
        key=key,
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
        *UNKNOWN,
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
    _, slot, key = await operators_post(call, Nothing)
    number = hand_number(call)
    return await call.service.dealer.write(
        slot,
        lambda draft: hands.disclose(draft, number),
        versions=call.if_match(),
        hand=number,
        key=key,
        apart=True,
    )
