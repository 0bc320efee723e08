"""What callers are shown of a table and a hand: each by what they may know."""

from __future__ import annotations

from typing import Any

from fairdeal.cards import rank_of, suit_of
from fairdeal.codecs import Place
from fairdeal.dealing import Dealing
from fairdeal.encoding import format_time
from fairdeal.events import TableOpened
from fairdeal.hand import Hand, Phase
from fairdeal_api import openings
from fairdeal_api.json_bytes import Raw
from fairdeal_api.problems import Problem
from fairdeal_api.slots import Slot

Json = dict[str, Any]
_DUE = (Phase.OPENING, Phase.REOPENING)


def opening(dealing: Dealing, place: Place) -> Json:
    """What proves one card."""
    return dealing.opening(place).to_dict()


def deadline(hand: Hand) -> str | None:
    """When the hand ends by itself if it stays as it is."""
    due = hand.deadline
    return format_time(due[1]) if due else None


def sealing(hand: Hand) -> Json:
    """How far a hand is before its deal."""
    value: Json = {"deadline": deadline(hand)}
    if hand.sealed_head is not None:
        value["sealed_head"] = hand.sealed_head.hex()
    return value


def due_head(hand: Hand) -> str | None:
    """The head that a due seed opens under."""
    return hand.head.hex() if hand.head is not None and hand.phase in _DUE else None


def six_on_stage(hand: Hand) -> str | None:
    """The six that a turned ace makes the highest card. Spec: AZI-4."""
    if hand.dealt is None or not hand.table.ruleset.get("six_on_stage"):
        return None
    turned = hand.dealt.shown[0].card
    return "6" + suit_of(turned) if rank_of(turned) == "A" else None


def dealt(hand: Hand, dealing: Dealing) -> Json:
    """What everybody may know of a deal, and what the operator may if it holds the seats."""
    event = hand.dealt
    if event is None:
        raise Problem("wrong_phase")
    value: Json = {
        "deck_root": event.deck_root.hex(),
        "first": event.first,
        "positions": {str(seat): list(found) for seat, found in event.positions.items()},
        "indicator": event.indicator,
        "shown": [{"seat": s.seat, **opening(dealing, s.place)} for s in event.shown],
        "deadline": deadline(hand),
    }
    if "six_on_stage" in hand.table.ruleset:
        value["six_on_stage"] = six_on_stage(hand)
    if hand.table.custody == "operator":
        value["cards"] = openings.by_seat(
            dealing,
            {
                seat: dealing.holding(seat)
                for seat in range(hand.table.seats)
                if may_see(hand, seat)
            },
        )
    return value


def may_see(hand: Hand, seat: int) -> bool:
    """Whether a seat's cards may leave the service. Spec: HAND-7, AZI-3."""
    layout = hand.layout
    if layout is None or seat in layout.out:
        return False
    return not hand.table.ruleset.get("blind") or seat in layout.looked


def new_cards(before: Hand, after: Hand, dealing: Dealing, looked: set[int]) -> Raw:
    """Cards that came to seats since a state, as openings, for an operator that holds them."""
    found: dict[int, list[Place]] = {}
    if before.layout is not None and after.layout is not None:
        shown = {place for place, _, _ in before.shown}
        for seat, places in enumerate(after.layout.received):
            known = set() if seat in looked else set(before.layout.received[seat])
            # A card that went back to its seat is not new to it.
            new = [place for place in places if place not in known and place not in shown]
            if new and may_see(after, seat):
                found[seat] = new
    return openings.by_seat(dealing, found)


def cards(hand: Hand, dealing: Dealing, seat: int, roots: list[Json], seq: int) -> Json:
    """A seat's own cards. Spec: HAND-7, AZI-3."""
    layout = hand.layout
    if layout is None:
        raise Problem("wrong_phase")
    sees = may_see(hand, seat)
    if not sees and not layout.refereed:
        raise Problem("not_looked")
    held = set(dealing.holding(seat))
    mine = []
    for place in layout.received[seat] if sees else ():
        state = "shown" if place in layout.shown else "held"
        mine.append({**opening(dealing, place), "state": state if place in held else "discarded"})
    played = [
        claim.places[0]
        for claim in hand.claims
        if claim.seat == seat and claim.k is None and claim.places[0] in layout.shown
    ]
    mine += [
        {**opening(dealing, place), "state": "shown"}
        for place in dict.fromkeys(played)
        if place not in layout.received[seat]
    ]
    k = layout.thrown[seat]
    return {
        "seat": seat,
        "cards": mine,
        "roots": roots,
        "next_discard": {"k": k, "salt": dealing.discard_salt(seat, k).hex()},
        "seq": seq,
    }


def public_hand(slot: Slot, hand: Hand) -> Json:
    """A hand as everybody may know it."""
    layout, event = hand.layout, hand.dealt
    head = due_head(hand)
    return {
        "table": slot.id,
        "hand": hand.number,
        "game": hand.table.game,
        "state": hand.phase.value,
        "seq": slot.table.seq,
        "first": event.first if event else hand.first,
        "commitment": hand.commitment.hex(),
        "next_commitment": hand.next_commitment.hex(),
        "trumps": {str(seat): suit for seat, suit in hand.trumps.items()},
        "sealed": sorted(hand.seals),
        "opened": sorted(hand.seeds[hand.epoch]) if hand.epoch < len(hand.seeds) else [],
        "sealed_head": hand.sealed_head.hex() if hand.sealed_head else None,
        "due_head": head,
        "epoch": hand.epoch,
        "deadline": deadline(hand),
        "deck_root": event.deck_root.hex() if event else None,
        "positions": {str(s): list(p) for s, p in event.positions.items()} if event else None,
        "indicator": event.indicator if event else None,
        "six_on_stage": six_on_stage(hand),
        "shown": [
            {"epoch": p.epoch, "position": p.position, "card": card, "salt": salt.hex()}
            for p, card, salt in hand.shown
        ],
        "roots": [{"epoch": e, "root": r.hex(), "count": n} for e, (r, n) in enumerate(hand.roots)],
        "holdings": list(layout.counts()) if layout else None,
        "stock": len(layout.stock) if layout else None,
        "heap": sum(throw.size for throw in layout.heap) if layout else None,
        "reason": hand.reason,
        "missing": list(hand.missing),
        "server_seed": hand.disclosed.server_seed.hex() if hand.disclosed else None,
        "verify_url": f"/v/{slot.id}/{hand.number}" if hand.is_final else None,
    }


def terms(event: TableOpened) -> Json:
    """The terms, field by field."""
    return {
        "game": event.game,
        "ruleset": dict(event.ruleset),
        "seats": event.seats,
        "custody": event.custody,
        "contribute": list(event.contribute),
        "keys": {str(seat): key.hex() for seat, key in event.keys.items()},
        "timeouts": event.timeouts._asdict(),
        "disclosure": event.disclosure,
        "referee": event.referee,
        "origin": event.origin,
        "log_key": event.log_key,
    }


def public_table(slot: Slot) -> Json:
    """A table as everybody may know it."""
    table = slot.table
    newest = table.hand
    return {
        "table": slot.id,
        **terms(table.terms_event),
        "terms": table.terms.hex(),
        "terms_event": table.terms_event.raw.decode("ascii"),
        "next_commitment": table.next_commitment.hex(),
        "state": slot.state,
        "seq": table.seq,
        "hand": {"hand": newest.number, "state": newest.phase.value} if newest else None,
    }
