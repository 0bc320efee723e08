"""The right event at the right stage, with a wrong part. Spec: HAND-1..17, SEAL-2, EVT-3."""

from dataclasses import replace

import pytest

from fairdeal.codecs import Lock, Place
from fairdeal.errors import VerificationError
from fairdeal.seeds import Commitment, Seal, SeatSeed, ServerSeed, commit, seal
from seeds.local import named
from tests.core.naive import flip
from tests.core.stages import NOTHING, attempt, outcome, table_at


def moved(event):
    """The positions of the deal, with two cards exchanged."""
    first, second, *rest = event.positions.values()
    return {0: (second[0], *first[1:]), 1: (first[0], *second[1:]), **dict(enumerate(rest, 2))}


def draws(event, change):
    return {"draws": tuple(change(list(event.draws)))}


def unkeyed(event, table):
    """A signature of a seat that has no key."""
    return {"sigs": {0: bytes(64)}}


FIVE = Lock(5, bytes(32))

CHANGES = {  # stage and type: what is wrong, and the code
    ("new", "hand.opened"): [
        (lambda e, t: {"hand": 2}, "wrong_event"),
        (lambda e, t: {"terms": NOTHING}, "wrong_event"),
        (lambda e, t: {"commitment": Commitment(NOTHING)}, "commitment_mismatch"),
        (lambda e, t: {"commitment": e.next_commitment}, "commitment_mismatch"),
        (lambda e, t: {"next_commitment": e.commitment}, "seed_reused"),
        (lambda e, t: {"first": 0}, "first_not_allowed"),
    ],
    ("disclosed", "hand.opened"): [
        (lambda e, t: {"hand": 1}, "wrong_event"),
        (lambda e, t: {"hand": 3}, "wrong_event"),
        (lambda e, t: {"first": None}, "first_not_allowed"),
        (lambda e, t: {"first": 4}, "first_not_allowed"),
        (lambda e, t: {"next_commitment": commit(t.server_seed(1))}, "seed_reused"),
        (lambda e, t: {"next_commitment": Commitment(t.hand.seals[0])}, "seed_reused"),
    ],
    ("sealing", "seeds.sealed"): [
        (lambda e, t: {"hand": 2}, "wrong_phase"),
        (lambda e, t: {"seals": {4: Seal(NOTHING)}}, "seat_unknown"),
        (lambda e, t: {"seals": {0: e.seals[0], 1: e.seals[0]}}, "seed_reused"),
        (lambda e, t: {"seals": {0: Seal(t.hand.commitment)}}, "seed_reused"),
        (unkeyed, "signature_invalid"),
    ],
    ("half sealed", "seeds.sealed"): [
        (lambda e, t: {"seals": {0: t.hand.seals[1]}}, "seed_reused"),
        (lambda e, t: {"seals": {**e.seals, 1: t.hand.seals[1]}}, "seal_fixed"),
    ],
    ("opening", "seeds.opened"): [
        (lambda e, t: {"epoch": 1}, "too_early"),
        (lambda e, t: {"head": NOTHING}, "head_mismatch"),
        (lambda e, t: {"head": t.events[-2].digest}, "head_mismatch"),
        (lambda e, t: {"head": t.table.terms}, "head_mismatch"),
        (lambda e, t: {"seeds": {0: SeatSeed(flip(e.seeds[0]))}}, "seal_mismatch"),
        (lambda e, t: {"seeds": {0: e.seeds[1], 1: e.seeds[0]}}, "seal_mismatch"),
        (lambda e, t: {"seeds": {0: t.chain(0, 1)[1]}}, "seal_mismatch"),
        (lambda e, t: {"seeds": {4: e.seeds[0]}}, "seat_unknown"),
        (unkeyed, "signature_invalid"),
    ],
    ("half opened", "seeds.opened"): [
        (lambda e, t: {"head": t.table.head}, "head_mismatch"),
        (lambda e, t: {"seeds": {0: t.chain(0, 1)[0]}}, "seed_fixed"),
    ],
    ("reopening", "seeds.opened"): [
        (lambda e, t: {"epoch": 0}, "too_early"),
        (lambda e, t: {"epoch": 2}, "too_early"),
        (lambda e, t: {"head": t.hand.sealed_head}, "head_mismatch"),
        (lambda e, t: {"seeds": {0: t.chain(0, 1)[2]}}, "chain_mismatch"),
        (lambda e, t: {"seeds": {0: t.chain(0, 1)[0]}}, "chain_mismatch"),
        (lambda e, t: {"seeds": {0: e.seeds[1]}}, "chain_mismatch"),
        (unkeyed, "signature_invalid"),
    ],
    ("half reopened", "seeds.opened"): [
        (lambda e, t: {"seeds": {1: e.seeds[0]}}, "seed_fixed"),
    ],
    ("dealing", "hand.dealt"): [
        (lambda e, t: {"first": 4}, "seat_unknown"),
        (lambda e, t: {"first": (e.first + 1) % 4}, "wrong_event"),
        (lambda e, t: {"positions": moved(e)}, "wrong_event"),
        (lambda e, t: {"positions": {s: p for s, p in e.positions.items() if s}}, "wrong_event"),
        (lambda e, t: {"positions": {**e.positions, 4: (16,)}}, "wrong_event"),
        (lambda e, t: {"positions": {s: p[::-1] for s, p in e.positions.items()}}, "wrong_event"),
        (lambda e, t: {"indicator": "1o"}, "wrong_event"),
        (lambda e, t: {"shown": attempt(table_at("playing"), "cards.shown").shown}, "wrong_event"),
    ],
    ("playing", "cards.discarded"): [
        (
            lambda e, t: {"discards": {(s + 1) % 4: d for s, d in e.discards.items()}},
            "not_your_turn",
        ),
        (lambda e, t: {"discards": {t.hand.dealt.first: FIVE}}, "action_not_allowed"),
        (lambda e, t: {"discards": {4: FIVE}}, "seat_unknown"),
        (unkeyed, "signature_invalid"),
    ],
    ("half locked", "cards.discarded"): [
        (lambda e, t: {"discards": {t.hand.dealt.first: FIVE}}, "not_your_turn"),
    ],
    ("playing", "cards.shown"): [
        (lambda e, t: {"shown": (e.shown[0]._replace(seat=None),)}, "wrong_event"),
        (lambda e, t: {"shown": (e.shown[0]._replace(seat=4),)}, "seat_unknown"),
        (lambda e, t: {"shown": (e.shown[0]._replace(seat=1),)}, "not_in_holding"),
        (lambda e, t: {"shown": (e.shown[0]._replace(place=Place(0, 16)),)}, "not_in_holding"),
        (lambda e, t: {"shown": e.shown * 2}, "not_in_holding"),
    ],
    ("serving", "cards.drawn"): [
        (lambda e, t: draws(e, lambda d: d[:-1]), "wrong_event"),
        (lambda e, t: draws(e, lambda d: d[1:]), "wrong_event"),
        (lambda e, t: draws(e, lambda d: d[::-1]), "wrong_event"),
        (lambda e, t: draws(e, lambda d: [*d, (0, Place(0, 32))]), "wrong_event"),
        (
            lambda e, t: draws(e, lambda d: [(s, Place(0, 39)) for s, _ in d[:1]] + d[1:]),
            "wrong_event",
        ),
        (lambda e, t: draws(e, lambda d: [((s + 1) % 4, p) for s, p in d]), "wrong_event"),
    ],
    ("restocking", "stock.reshuffled"): [
        (lambda e, t: {"count": e.count - 1}, "wrong_event"),
        (lambda e, t: {"count": 40}, "wrong_event"),
        (lambda e, t: {"epoch": 2}, "wrong_event"),
        (lambda e, t: {"epoch": 0}, "wrong_event"),
    ],
    ("closed", "hand.disclosed"): [
        (lambda e, t: {"hand": 2}, "already_disclosed"),
        (lambda e, t: {"server_seed": t.server_seed(2)}, "commitment_mismatch"),
        (lambda e, t: {"discards": {0: ((Place(0, 0),),)}}, "lock_mismatch"),
    ],
    ("disclosed", "table.closed"): [
        (lambda e, t: {"unused_seed": t.server_seed(1)}, "commitment_mismatch"),
    ],
    ("new", "table.closed"): [
        (lambda e, t: {"unused_seed": ServerSeed(NOTHING)}, "commitment_mismatch"),
    ],
    ("new", "seat.reissued"): [
        (lambda e, t: {"seat": 4}, "seat_unknown"),
    ],
}

CASES = [(*where, *case) for where, cases in CHANGES.items() for case in cases]


@pytest.mark.parametrize(("stage", "name", "change", "code"), CASES)
def test_a_wrong_part_is_refused(stage, name, change, code):
    table = table_at(stage, disclosure="table")
    event = attempt(table, name)
    assert outcome(table, event) == "legal"
    assert outcome(table, replace(event, **change(event, table))) == code


def test_seals_of_another_hand_are_refused():
    """F21: what was used in hand 1 is used up."""
    table = table_at("disclosed")
    seals = dict(table.hand.seals)
    seeds = table.hand.seeds[0]
    table.open_hand()
    event = attempt(table, "seeds.sealed")
    assert outcome(table, replace(event, seals=seals)) == "seed_reused"
    for seat in range(4):
        mixed = {**event.seals, seat: Seal(seals[seat])}
        assert outcome(table, replace(event, seals=mixed)) == "seed_reused"
        mirrored = {**event.seals, seat: Seal(seeds[seat])}
        assert outcome(table, replace(event, seals=mirrored)) == "seed_reused"


def test_two_seats_with_one_seed_are_refused():
    """F9, SEAL-2: their seals differ, since the seat is inside; their seeds do not."""
    table = table_at("sealing", contribute=(0, 1))
    seed = SeatSeed(named("one"))
    hand, terms = table.hand, table.table.terms
    seals = {seat: seal(terms, 1, seat, hand.commitment, seed) for seat in (0, 1)}
    table.log(replace(attempt(table, "seeds.sealed"), seals=seals))
    event = attempt(table, "seeds.opened")
    both = replace(event, seeds={0: seed, 1: seed})
    assert outcome(table, both) == "seed_reused"
    table.log(replace(event, seeds={0: seed}))
    late = replace(attempt(table, "seeds.opened"), seeds={1: seed})
    assert outcome(table, late) == "seed_reused"


def test_a_mirrored_seal_opens_to_nothing():
    """F9: who seals with another seat's seal in another hand or seat has no seed for it."""
    table = table_at("sealing", contribute=(0, 1))
    hand, seed = table.hand, table.chain(0, 1)[0]
    for seat, number in ((0, 1), (1, 2)):
        mirrored = seal(table.table.terms, number, seat, hand.commitment, seed)
        seals = {1: mirrored, 0: Seal(named("other"))}
        after = table.table.apply(replace(attempt(table, "seeds.sealed"), seals=seals))
        header = after.header(table.table.last_at)
        opened = replace(
            attempt(table_at("opening"), "seeds.opened"), header=header, seeds={1: seed}
        )
        with pytest.raises(VerificationError) as caught:
            after.apply(replace(opened, head=after.head))
        assert caught.value.code == "seal_mismatch"


NEGATIVE = {
    "cards.shown": lambda t: {
        "shown": (
            attempt(t, "cards.shown")
            .shown[0]
            ._replace(seat=-1, place=t.hand.layout.received[-1][0]),
        )
    },
    "cards.looked": lambda t: {"seat": -1},
    "cards.discarded": lambda t: {"discards": {-1: Lock(1, bytes(32))}},
    "seat.reissued": lambda t: {"seat": -1},
    "hand.opened": lambda t: {"first": -1},
}


@pytest.mark.parametrize("name", NEGATIVE)
def test_a_negative_seat_is_none(name, refused):
    """EVT-3: neither made nor logged, though Python would find the last seat."""
    rules = {"blind": True, "cards": 4} if name != "cards.shown" else {}
    stage = "playing" if name.startswith("cards") else "new"
    table = table_at(stage, "azi", ruleset=rules)
    event = attempt(table, name)
    with refused():
        table.table.apply(replace(event, **NEGATIVE[name](table)))
