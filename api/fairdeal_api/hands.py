"""What requests do to a hand: each function adds to a draft and says what else the answer holds."""

from __future__ import annotations

import hmac
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from fairdeal.codecs import Place
from fairdeal.events import (
    CardsLooked,
    CardsReturned,
    CardsShown,
    HandClosed,
    PlayCalled,
    SeedsOpened,
    SeedsSealed,
    TrumpsDeclared,
)
from fairdeal.hand import Hand, Phase
from fairdeal.hashing import Digest
from fairdeal.seeds import Seal, SeatSeed
from fairdeal_api import play, views
from fairdeal_api.draft import Draft
from fairdeal_api.problems import Problem
from fairdeal_api.schemas import (
    Action,
    Actions,
    CallOut,
    CloseHand,
    Deal,
    Discard,
    Draw,
    Look,
    OpenHand,
    OpenSeeds,
    Pull,
    PutSeed,
    Return,
    Show,
)

Json = dict[str, Any]
T = TypeVar("T")


def _by_seat(values: Mapping[str, str], kind: Callable[[bytes], T]) -> dict[int, T]:
    return {int(seat): kind(bytes.fromhex(value)) for seat, value in values.items()}


def current(draft: Draft, number: int) -> Hand:
    """The hand that a request is about, which must be the one under way.

    Raises:
        Problem: `hand_unknown`, `already_final`.
    """
    hand = draft.table.hand
    if hand is None or number > hand.number:
        raise Problem("hand_unknown")
    if number < hand.number or hand.is_final:
        raise Problem("already_final")
    return hand


# --- before the deal ----------------------------------------------------------------------------


def first_seat(draft: Draft, body: OpenHand) -> int | None:
    """The seat that receives the first card, given or by default. Spec: HAND-2."""
    choices = draft.table.first_choices()
    if "first" in body.model_fields_set:
        if body.first not in choices:
            raise Problem("first_not_allowed")
        return body.first
    if len(choices) > 1 and not draft.table.game.advances:
        raise Problem("first_not_allowed")
    return choices[0]


def open_hand(draft: Draft, body: OpenHand) -> Json:
    """Open a hand, with the declarations and seals that came along."""
    if (body.trump_sigs and body.trumps is None) or (body.seal_sigs and body.seals is None):
        raise Problem("signature_invalid")  # of nothing
    draft.open_hand(first_seat(draft, body) if draft.table.open_hand is None else None)
    if body.trumps is not None:
        draft.apply(
            TrumpsDeclared(
                header=draft.header,
                hand=draft.hand.number,
                trumps={int(seat): suit for seat, suit in body.trumps.items()},
                sigs=_by_seat(body.trump_sigs, bytes),
            )
        )
    if body.seals is not None:
        seal(draft, body.seals, body.seal_sigs)
    hand = draft.hand
    return {
        "commitment": hand.commitment.hex(),
        "next_commitment": hand.next_commitment.hex(),
        **({"match": dict(hand.match)} if hand.match is not None else {}),
        **views.sealing(hand),
    }


def declare(draft: Draft, number: int, seat: int, suit: str, sig: str | None) -> Json:
    """One seat's declaration. Spec: HAND-3."""
    hand = draft.hand
    if number == hand.number and seat in hand.trumps:
        if hand.trumps[seat] != suit:
            raise Problem("trump_fixed")
        return {}
    current(draft, number)
    sigs = {} if sig is None else {seat: bytes.fromhex(sig)}
    draft.apply(TrumpsDeclared(header=draft.header, hand=number, trumps={seat: suit}, sigs=sigs))
    return views.sealing(draft.hand)


def seal(draft: Draft, seals: Mapping[str, str], sigs: Mapping[str, str]) -> None:
    """Seals of one or more seats, signed where a seat has a key. Spec: HAND-4, SIG-2."""
    draft.apply(
        SeedsSealed(
            header=draft.header,
            hand=draft.hand.number,
            seals=_by_seat(seals, Seal),
            sigs=_by_seat(sigs, bytes),
        )
    )


def put_seal(draft: Draft, number: int, seat: int, value: str, sig: str | None) -> Json:
    """One seat's seal. The same one again changes nothing."""
    hand = draft.hand
    if number == hand.number and seat in hand.seals:
        if hand.seals[seat].hex() != value:
            raise Problem("seal_fixed")
        return {}
    current(draft, number)
    seal(draft, {str(seat): value}, {} if sig is None else {str(seat): sig})
    return views.sealing(draft.hand)


# --- seeds --------------------------------------------------------------------------------------


def open_seeds(
    draft: Draft, epoch: int, head: str | None, seeds: Mapping[str, str], sigs: Mapping[str, str]
) -> None:
    """Seeds of some seats, and what follows from the last one. Spec: HAND-5, HAND-8, SIG-2."""
    hand = draft.hand
    if head is None:
        if hand.head is None:
            raise Problem("too_early" if hand.phase is Phase.SEALING else "wrong_phase")
        under = hand.head
    else:
        under = Digest.from_hex(head)
    draft.apply(
        SeedsOpened(
            header=draft.header,
            hand=hand.number,
            epoch=epoch,
            head=under,
            seeds=_by_seat(seeds, SeatSeed),
            sigs=_by_seat(sigs, bytes),
        )
    )
    if not draft.hand.missing_seeds:
        draft.apply_due()


def put_seed(draft: Draft, number: int, seat: int, body: PutSeed) -> Json:
    """One seat's seed. After the last one the service deals, or serves, by itself."""
    hand = draft.hand
    if number == hand.number and body.epoch < len(hand.seeds) and seat in hand.seeds[body.epoch]:
        if not hmac.compare_digest(hand.seeds[body.epoch][seat].hex(), body.seed):
            raise Problem("seed_fixed")
        return {}
    before = current(draft, number)
    sigs = {} if body.sig is None else {str(seat): body.sig}
    open_seeds(draft, body.epoch, body.head, {str(seat): body.seed}, sigs)
    return after_seeds(draft, before)


def after_seeds(draft: Draft, before: Hand) -> Json:
    """What seeds have led to: nothing yet, a deal, or a service."""
    hand = draft.hand
    refereed = play.answer(draft) if hand.table.referee else {}
    if before.dealt is None and hand.dealt is not None:
        return {**views.dealt(hand, draft.secrets), **refereed}
    value: Json = {"deadline": views.deadline(hand), "due_head": views.due_head(hand), **refereed}
    if hand.sealed_head is not None:
        value["sealed_head"] = hand.sealed_head.hex()
    return value


def deal(draft: Draft, number: int, body: Deal) -> Json:
    """The seeds that are missing, and the deal. Spec: HAND-6."""
    before = current(draft, number)
    if before.phase not in (Phase.SEALING, Phase.OPENING) or body.seeds is None:
        raise Problem("wrong_phase")
    open_seeds(draft, 0, body.head, body.seeds, body.sigs)
    return after_seeds(draft, before)


# --- playing ------------------------------------------------------------------------------------


def act(draft: Draft, number: int, body: Actions) -> Json:
    """Actions, one after the other, all or nothing."""
    before = current(draft, number)
    if len(body.actions) > 1 and any(isinstance(action, OpenSeeds) for action in body.actions):
        # A seed in one request with a lock would be opened before its head had a receipt.
        raise Problem("too_early")
    refereed = before.table.referee
    make = play.Judge(_act) if refereed else _act
    results = [make(draft, action) for action in body.actions]
    hand = draft.hand
    value: Json = {"results": results, "deadline": views.deadline(hand)}
    if hand.phase is Phase.REOPENING:
        value["due_head"] = views.due_head(hand)
    if hand.table.custody == "operator":
        looked = {action.seat for action in body.actions if isinstance(action, Look)}
        value["cards"] = views.new_cards(before, hand, draft.secrets, looked)
    if refereed:
        value |= play.answer(draft)
        if hand.is_final:
            value |= ended(draft, number)
    return value


def _places(cards: list[list[int]]) -> list[Place]:
    return [Place(*card) for card in cards]


def _act(draft: Draft, action: Action) -> Json:
    match action:
        case Draw():
            event = draft.secrets.draw(draft.header, action.first)
            draft.apply(event)
            drawn = [[seat, *place] for seat, place in event.draws]
            return {"type": "draw", "draws": drawn}
        case Discard():
            return _discard(draft, action)
        case Show():
            return _show(draft, action)
        case Return():
            draft.apply(CardsReturned(header=draft.header, hand=draft.hand.number))
            return {"type": "return"}
        case Pull() if draft.hand.table.referee:
            return _pull(draft, action)
        case CallOut():
            return _call(draft, action)
        case OpenSeeds():
            open_seeds(draft, action.epoch, action.head, action.seeds, action.sigs)
            return {"type": "seeds", "epoch": action.epoch}
        case Look():
            draft.apply(CardsLooked(header=draft.header, hand=draft.hand.number, seat=action.seat))
            return {"type": "look", "seat": action.seat}
        case _:
            raise Problem("action_not_allowed")


def _discard(draft: Draft, action: Discard) -> Json:
    sigs = {} if action.sig is None else {action.seat: bytes.fromhex(action.sig)}
    k, salt = draft.discard(action.seat, _places(action.cards), sigs)
    lock = draft.hand.locks[action.seat, k]
    if draft.hand.phase in (Phase.SERVING, Phase.RESTOCKING):
        draft.apply_due()
    return {
        "type": "discard",
        "seat": action.seat,
        "k": k,
        "salt": salt.hex(),
        "lock": lock.lock.hex(),
        "count": lock.size,
    }


def _call(draft: Draft, action: CallOut) -> Json:
    draft.apply(
        PlayCalled(
            header=draft.header,
            hand=draft.hand.number,
            seat=action.seat,
            call=action.call,
            amount=action.amount,
        )
    )
    said = {"call": action.call, "amount": action.amount}
    return {"type": "call", "seat": action.seat, **said}


def _pull(draft: Draft, action: Pull) -> Json:
    """The trick goes back, if cards lie in it, and four of one suit come in. Spec: KOZ-15."""
    layout = draft.hand.playing
    if layout.trick or layout.locked:
        draft.apply(CardsReturned(header=draft.header, hand=draft.hand.number))
    return {**_show(draft, Show(type="show", seat=action.seat, cards=action.cards)), "type": "pull"}


def _show(draft: Draft, action: Show) -> Json:
    event: CardsShown = draft.secrets.show(draft.header, action.seat, _places(action.cards))
    draft.apply(event)
    shown = [views.opening(draft.secrets, shown.place) for shown in event.shown]
    return {"type": "show", "seat": action.seat, "shown": shown}


# --- the end ------------------------------------------------------------------------------------


def close(draft: Draft, number: int, body: CloseHand) -> Json:
    """End a hand, open its secret by the policy, and begin the next if asked. Spec: HAND-15."""
    if current(draft, number).table.referee:
        raise Problem("wrong_phase")  # it closes by itself. Spec: PLAY-4
    draft.apply(HandClosed(header=draft.header, hand=number))
    draft.disclose_due()
    value = ended(draft, number)
    value["state"] = draft.hand.phase.value
    if body.next is not None:
        following = open_hand(draft, body.next)
        value["next"] = {
            "hand": draft.hand.number,
            "state": draft.hand.phase.value,
            **following,
        }
    return value


def ended(draft: Draft, number: int) -> Json:
    """What an ended hand's answer holds."""
    disclosed = draft.disclosed(number)
    value: Json = {
        "transcript": f"/v1/tables/{draft.slot.id}/hands/{number}/transcript",
        "verify_url": f"/v/{draft.slot.id}/{number}",
    }
    if disclosed is not None:
        value["server_seed"] = disclosed.server_seed.hex()
    return value


def abort(draft: Draft, number: int) -> Json:
    """End a hand early, by the operator. Nobody is named: nothing proves that a seat was late."""
    current(draft, number)
    if draft.dealing is None:
        draft.abort("lost", ())
    else:
        draft.abort("operator", ())
    return ended(draft, number)


def disclose(draft: Draft, number: int) -> Json:
    """Open one ended hand's server seed under policy `table`. Spec: HAND-17."""
    newest = draft.table.hand
    if newest is None or number > newest.number:
        raise Problem("hand_unknown")
    if number == newest.number and not newest.is_final:
        raise Problem("hand_not_final")
    if draft.table.open_hand is not None:
        raise Problem("hand_open")
    draft.disclose(number)
    return ended(draft, number)
