"""Who may do what: by credential, table, custody and seat."""

from __future__ import annotations

import re
from typing import Final

from fairdeal_api.credentials import Caller, OperatorKey, SeatHolder
from fairdeal_api.draft import Draft, Work
from fairdeal_api.http import Call, M
from fairdeal_api.kept import Key
from fairdeal_api.problems import Problem
from fairdeal_api.slots import Slot

_HAND: Final = re.compile(r"[1-9][0-9]{0,9}")
_SEAT: Final = re.compile(r"[0-9]")


def hand_number(call: Call) -> int:
    """The hand in the path, or `hand_unknown`."""
    text = call.params["hand"]
    if not _HAND.fullmatch(text):
        raise Problem("hand_unknown")
    return int(text)


def seat_number(call: Call, slot: Slot) -> int:
    """The seat in the path, or `seat_unknown`."""
    text = call.params["seat"]
    if not _SEAT.fullmatch(text) or int(text) >= slot.table.terms_event.seats:
        raise Problem("seat_unknown")
    return int(text)


def public_slot(call: Call) -> Slot:
    """The table in the path, for anybody."""
    return call.service.dealer.slots.get(call.params["table"])


def operators_slot(call: Call, caller: Caller) -> Slot:
    """The table in the path, for its operator.

    Raises:
        Problem: `table_unknown`, also when it is another operator's; `operator_only`.
    """
    slot = public_slot(call)
    if isinstance(caller, SeatHolder):
        raise Problem("operator_only" if caller.table == slot.id else "table_unknown")
    check_key(call, caller)
    if caller.name != slot.operator:
        raise Problem("table_unknown")
    return slot


def somebodys_slot(call: Call, caller: Caller) -> Slot:
    """The table in the path, for its operator or one of its seats."""
    slot = public_slot(call)
    if isinstance(caller, OperatorKey):
        check_key(call, caller)
        is_theirs = caller.name == slot.operator
    else:
        is_theirs = caller.table == slot.id
    if not is_theirs:
        raise Problem("table_unknown")
    return slot


def check_key(call: Call, caller: OperatorKey) -> None:
    """Whether an operator's key works still: it may have been revoked while the body came."""
    if not call.service.operators.holds(caller):
        raise Problem("credential_unknown")


def check_seat(slot: Slot, caller: Caller, seat: int) -> None:
    """Whether the caller acts and reads for a seat, by the table's custody.

    Raises:
        Problem: `not_your_seat`.
    """
    if slot.table.terms_event.custody == "operator":
        if isinstance(caller, OperatorKey):
            return
    elif isinstance(caller, SeatHolder) and caller.seat == seat:
        return
    raise Problem("not_your_seat")


def still_holding(call: Call, caller: Caller, work: Work) -> Work:
    """What a request does, if its seat's token is good when it is this request's turn.

    A body may take seconds, and so may the table's lock: a seat that was re-issued meanwhile has
    another holder. Spec: TBL-2.
    """
    if isinstance(caller, OperatorKey):
        return work

    def checked(draft: Draft) -> dict[str, object]:
        call.service.credentials.caller(call.bearer())
        return work(draft)

    return checked


def check_operator(caller: Caller) -> None:
    """Whether the caller is the operator, or `operator_only`."""
    if not isinstance(caller, OperatorKey):
        raise Problem("operator_only")


async def operators_post(call: Call, model: type[M]) -> tuple[M, Slot, Key]:
    """What an operator's POST to a table brings: its body, the table, where its answer is kept."""
    caller = call.service.credentials.caller(call.bearer())
    # Before the body is read, as a request without one is refused anyway.
    idempotency = call.idempotency_key()
    body, request = await call.model(model)
    slot = operators_slot(call, caller)
    return body, slot, call.key(caller.digest, idempotency, request)
