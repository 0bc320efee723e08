"""What may happen when: every type of event at every stage, and the right ones with a wrong part.

Spec: TBL-1, TBL-2, HAND-1..17, EVT-2, SEAL-2, SIG-2.
"""

from dataclasses import replace
from itertools import chain, combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairdeal.codecs import Lock, Place
from fairdeal.ed25519 import public_key, sign
from fairdeal.errors import StateError, VerificationError
from fairdeal.events import EVENTS, HandAborted, Timeouts, TrumpsDeclared, parse_event
from fairdeal.hand import Phase
from fairdeal.hashing import Digest
from fairdeal.seeds import Commitment, Seal, SeatSeed, ServerSeed, commit, seal
from fairdeal.table import Seen, Table
from seeds.local import named
from tests.core.stages import NOTHING, STAGES, SlowTable, attempt, outcome, table_at

# Which types are legal at a stage of Mus (policy `table`), and the code of the others.

TABLE_EVENTS = ("hand.opened", "hand.disclosed", "seat.reissued", "table.closed")
OPEN = {"table.opened": "wrong_event"} | dict.fromkeys(TABLE_EVENTS, "hand_open")
SEALING = OPEN | {"trumps.declared": "not_your_turn", "seeds.opened": "too_early"}
PLAYING = OPEN | {
    "cards.drawn": "action_not_allowed",
    "cards.given": "not_due",
    "cards.returned": "action_not_allowed",
    "cards.looked": "action_not_allowed",
}
ENDED = {"table.opened": "wrong_event"}
BETWEEN = "hand.opened seat.reissued "

MATRIX = {  # stage: legal types, the code of most others, the codes of some
    "new": (
        BETWEEN + "table.closed",
        "wrong_phase",
        ENDED | {"hand.disclosed": "already_disclosed"},
    ),
    "sealing": ("seeds.sealed hand.aborted", "wrong_phase", SEALING),
    "half sealed": ("seeds.sealed hand.aborted", "wrong_phase", SEALING),
    "opening": ("seeds.opened hand.aborted", "wrong_phase", OPEN),
    "half opened": ("seeds.opened hand.aborted", "wrong_phase", OPEN),
    "dealing": ("hand.dealt hand.aborted", "wrong_phase", OPEN),
    "playing": (
        "cards.discarded cards.shown hand.closed hand.aborted",
        "wrong_phase",
        PLAYING | {"cards.given": "wrong_event"},
    ),
    "half locked": ("cards.discarded hand.aborted", "wrong_phase", PLAYING),
    "serving": ("cards.drawn hand.aborted", "wrong_phase", OPEN),
    "short": ("cards.drawn hand.aborted", "wrong_phase", OPEN),
    "reopening": ("seeds.opened hand.aborted", "wrong_phase", OPEN),
    "half reopened": ("seeds.opened hand.aborted", "wrong_phase", OPEN),
    "restocking": ("stock.reshuffled hand.aborted", "wrong_phase", OPEN),
    "restocked": ("cards.drawn hand.aborted", "wrong_phase", OPEN),
    "exhausted": ("hand.aborted", "wrong_phase", OPEN),
    "shown": ("cards.shown hand.closed hand.aborted", "wrong_phase", PLAYING),
    "closed": (BETWEEN + "hand.disclosed", "already_final", ENDED | {"table.closed": "not_due"}),
    "aborted": (BETWEEN + "hand.disclosed", "already_final", ENDED | {"table.closed": "not_due"}),
    "lost": (
        BETWEEN + "table.closed",
        "already_final",
        ENDED | {"hand.disclosed": "already_disclosed"},
    ),
    "disclosed": (
        BETWEEN + "table.closed",
        "already_final",
        ENDED | {"hand.disclosed": "already_disclosed"},
    ),
    "over": ("", "table_closed", {}),
}
every_stage = pytest.mark.parametrize("stage", STAGES)


@every_stage
def test_every_type_of_event_at_every_stage(stage):
    table = table_at(stage, disclosure="table")
    legal, most, some = MATRIX[stage]
    expected = dict.fromkeys(EVENTS, most) | some | dict.fromkeys(legal.split(), "legal")
    assert {name: outcome(table, attempt(table, name)) for name in EVENTS} == expected


@pytest.mark.parametrize("stage", ["closed", "aborted"])
def test_the_disclosure_comes_first_under_policy_hand(stage):
    """HAND-17: at once."""
    table = table_at(stage)
    found = {name: outcome(table, attempt(table, name)) for name in EVENTS}
    assert found.pop("hand.disclosed") == "legal"
    assert {found[name] for name in TABLE_EVENTS if name in found} == {"not_due"}
    assert "legal" not in found.values()
    table.disclose()
    assert outcome(table, attempt(table, "hand.opened")) == "legal"
    assert outcome(table_at("lost"), attempt(table_at("lost"), "hand.opened")) == "legal"


@every_stage
def test_an_open_hand_can_be_aborted(stage):
    """HAND-16: from every state, and then it has ended."""
    table = table_at(stage)
    hand = table.table.open_hand
    if hand is not None:
        after = table.table.apply(attempt(table, "hand.aborted"))
        assert after.open_hand is None
        assert after.hand.phase is Phase.ABORTED
    else:
        assert outcome(table, attempt(table, "hand.aborted")) != "legal"


HEADERS = {
    "table": lambda header: {"table": header.table[:-1] + "1"},
    "seq later": lambda header: {"seq": header.seq + 1},
    "seq again": lambda header: {"seq": header.seq - 1},
    "prev other": lambda header: {"prev": NOTHING},
    "prev none": lambda header: {"prev": None},
    "at earlier": lambda header: {"at": 1_000_000_000_000},
}


@every_stage
@pytest.mark.parametrize("change", HEADERS)
def test_an_event_follows_the_newest_one(stage, change, refused):
    """EVT-2."""
    table = table_at(stage)
    event = attempt(table, next(iter(MATRIX[stage][0].split()), "hand.closed"))
    header = event.header._replace(**HEADERS[change](event.header))
    with refused("not_next", kind=StateError):
        table.table.apply(replace(event, header=header))


def test_times_may_stand_still_but_not_go_back(refused):
    table = table_at("sealing")
    event = attempt(table, "seeds.sealed")
    newest = table.table.last_at
    table.table.apply(replace(event, header=event.header._replace(at=newest)))
    with refused("not_next"):
        table.table.apply(replace(event, header=event.header._replace(at=newest - 1)))
    assert table.table.header(newest - 5).at == newest
    assert table.table.header(newest + 5).at == newest + 5


# The right type with a wrong part.


def other(seed: bytes) -> bytes:
    return bytes([seed[0] ^ 1]) + seed[1:]


def moved(event):
    """The positions of the deal, with two cards exchanged."""
    first, second, *rest = event.positions.values()
    return {0: (second[0], *first[1:]), 1: (first[0], *second[1:]), **dict(enumerate(rest, 2))}


def draws(event, change):
    return {"draws": tuple(change(list(event.draws)))}


FIVE = Lock(5, bytes(32))
CHANGES = [  # stage, type, the part that is wrong, code
    ("new", "hand.opened", lambda e, t: {"hand": 2}, "wrong_event"),
    ("new", "hand.opened", lambda e, t: {"terms": NOTHING}, "wrong_event"),
    ("new", "hand.opened", lambda e, t: {"commitment": Commitment(NOTHING)}, "commitment_mismatch"),
    ("new", "hand.opened", lambda e, t: {"commitment": e.next_commitment}, "commitment_mismatch"),
    ("new", "hand.opened", lambda e, t: {"next_commitment": e.commitment}, "seed_reused"),
    ("new", "hand.opened", lambda e, t: {"first": 0}, "first_not_allowed"),
    ("disclosed", "hand.opened", lambda e, t: {"hand": 1}, "wrong_event"),
    ("disclosed", "hand.opened", lambda e, t: {"hand": 3}, "wrong_event"),
    ("disclosed", "hand.opened", lambda e, t: {"first": None}, "first_not_allowed"),
    ("disclosed", "hand.opened", lambda e, t: {"first": 4}, "first_not_allowed"),
    (
        "disclosed",
        "hand.opened",
        lambda e, t: {"next_commitment": commit(t.server_seed(1))},
        "seed_reused",
    ),
    (
        "disclosed",
        "hand.opened",
        lambda e, t: {"next_commitment": Commitment(t.hand.seals[0])},
        "seed_reused",
    ),
    ("sealing", "seeds.sealed", lambda e, t: {"hand": 2}, "wrong_phase"),
    ("sealing", "seeds.sealed", lambda e, t: {"seals": {4: Seal(NOTHING)}}, "seat_unknown"),
    (
        "sealing",
        "seeds.sealed",
        lambda e, t: {"seals": {0: e.seals[0], 1: e.seals[0]}},
        "seed_reused",
    ),
    (
        "sealing",
        "seeds.sealed",
        lambda e, t: {"seals": {0: Seal(t.hand.commitment)}},
        "seed_reused",
    ),
    (
        "half sealed",
        "seeds.sealed",
        lambda e, t: {"seals": {0: t.hand.seals[1]}},
        "seed_reused",
    ),
    (
        "half sealed",
        "seeds.sealed",
        lambda e, t: {"seals": {**e.seals, 1: t.hand.seals[1]}},
        "seal_fixed",
    ),
    ("opening", "seeds.opened", lambda e, t: {"epoch": 1}, "too_early"),
    ("opening", "seeds.opened", lambda e, t: {"head": NOTHING}, "head_mismatch"),
    ("opening", "seeds.opened", lambda e, t: {"head": t.events[-2].digest}, "head_mismatch"),
    ("opening", "seeds.opened", lambda e, t: {"head": t.table.terms}, "head_mismatch"),
    (
        "half opened",
        "seeds.opened",
        lambda e, t: {"head": t.table.head},
        "head_mismatch",
    ),
    (
        "opening",
        "seeds.opened",
        lambda e, t: {"seeds": {0: SeatSeed(other(e.seeds[0]))}},
        "seal_mismatch",
    ),
    (
        "opening",
        "seeds.opened",
        lambda e, t: {"seeds": {0: e.seeds[1], 1: e.seeds[0]}},
        "seal_mismatch",
    ),
    ("opening", "seeds.opened", lambda e, t: {"seeds": {0: t.chain(0, 1)[1]}}, "seal_mismatch"),
    ("opening", "seeds.opened", lambda e, t: {"seeds": {4: e.seeds[0]}}, "seat_unknown"),
    (
        "half opened",
        "seeds.opened",
        lambda e, t: {"seeds": {0: t.chain(0, 1)[0]}},
        "seed_fixed",
    ),
    ("reopening", "seeds.opened", lambda e, t: {"epoch": 0}, "too_early"),
    ("reopening", "seeds.opened", lambda e, t: {"epoch": 2}, "too_early"),
    ("reopening", "seeds.opened", lambda e, t: {"head": t.hand.sealed_head}, "head_mismatch"),
    (
        "reopening",
        "seeds.opened",
        lambda e, t: {"seeds": {0: t.chain(0, 1)[2]}},
        "chain_mismatch",
    ),
    (
        "reopening",
        "seeds.opened",
        lambda e, t: {"seeds": {0: t.chain(0, 1)[0]}},
        "chain_mismatch",
    ),
    (
        "reopening",
        "seeds.opened",
        lambda e, t: {"seeds": {0: e.seeds[1]}},
        "chain_mismatch",
    ),
    ("half reopened", "seeds.opened", lambda e, t: {"seeds": {1: e.seeds[0]}}, "seed_fixed"),
    ("dealing", "hand.dealt", lambda e, t: {"first": 4}, "seat_unknown"),
    ("dealing", "hand.dealt", lambda e, t: {"first": (e.first + 1) % 4}, "wrong_event"),
    ("dealing", "hand.dealt", lambda e, t: {"positions": moved(e)}, "wrong_event"),
    (
        "dealing",
        "hand.dealt",
        lambda e, t: {"positions": {s: p for s, p in e.positions.items() if s}},
        "wrong_event",
    ),
    (
        "dealing",
        "hand.dealt",
        lambda e, t: {"positions": {**e.positions, 4: (16,)}},
        "wrong_event",
    ),
    (
        "dealing",
        "hand.dealt",
        lambda e, t: {"positions": {s: p[::-1] for s, p in e.positions.items()}},
        "wrong_event",
    ),
    ("dealing", "hand.dealt", lambda e, t: {"indicator": "1o"}, "wrong_event"),
    (
        "dealing",
        "hand.dealt",
        lambda e, t: {"shown": attempt(table_at("playing"), "cards.shown").shown},
        "wrong_event",
    ),
    (
        "playing",
        "cards.discarded",
        lambda e, t: {"discards": {(s + 1) % 4: d for s, d in e.discards.items()}},
        "not_your_turn",
    ),
    (
        "playing",
        "cards.discarded",
        lambda e, t: {"discards": {t.hand.dealt.first: FIVE}},
        "action_not_allowed",
    ),
    ("playing", "cards.discarded", lambda e, t: {"discards": {4: FIVE}}, "seat_unknown"),
    (
        "half locked",
        "cards.discarded",
        lambda e, t: {"discards": {t.hand.dealt.first: FIVE}},
        "not_your_turn",
    ),
    (
        "playing",
        "cards.shown",
        lambda e, t: {"shown": (e.shown[0]._replace(seat=None),)},
        "wrong_event",
    ),
    (
        "playing",
        "cards.shown",
        lambda e, t: {"shown": (e.shown[0]._replace(seat=4),)},
        "seat_unknown",
    ),
    (
        "playing",
        "cards.shown",
        lambda e, t: {"shown": (e.shown[0]._replace(seat=1),)},
        "not_in_holding",
    ),
    (
        "playing",
        "cards.shown",
        lambda e, t: {"shown": (e.shown[0]._replace(place=Place(0, 16)),)},
        "not_in_holding",
    ),
    ("playing", "cards.shown", lambda e, t: {"shown": e.shown * 2}, "not_in_holding"),
    ("serving", "cards.drawn", lambda e, t: draws(e, lambda d: d[:-1]), "wrong_event"),
    ("serving", "cards.drawn", lambda e, t: draws(e, lambda d: d[1:]), "wrong_event"),
    ("serving", "cards.drawn", lambda e, t: draws(e, lambda d: d[::-1]), "wrong_event"),
    (
        "serving",
        "cards.drawn",
        lambda e, t: draws(e, lambda d: [*d, (0, Place(0, 32))]),
        "wrong_event",
    ),
    (
        "serving",
        "cards.drawn",
        lambda e, t: draws(e, lambda d: [(s, Place(0, 39)) for s, _ in d[:1]] + d[1:]),
        "wrong_event",
    ),
    (
        "serving",
        "cards.drawn",
        lambda e, t: draws(e, lambda d: [((s + 1) % 4, p) for s, p in d]),
        "wrong_event",
    ),
    ("restocking", "stock.reshuffled", lambda e, t: {"count": e.count - 1}, "wrong_event"),
    ("restocking", "stock.reshuffled", lambda e, t: {"count": 40}, "wrong_event"),
    ("restocking", "stock.reshuffled", lambda e, t: {"epoch": 2}, "wrong_event"),
    ("restocking", "stock.reshuffled", lambda e, t: {"epoch": 0}, "wrong_event"),
    ("closed", "hand.disclosed", lambda e, t: {"hand": 2}, "already_disclosed"),
    (
        "closed",
        "hand.disclosed",
        lambda e, t: {"server_seed": t.server_seed(2)},
        "commitment_mismatch",
    ),
    (
        "closed",
        "hand.disclosed",
        lambda e, t: {"discards": {0: ((Place(0, 0),),)}},
        "lock_mismatch",
    ),
    (
        "disclosed",
        "table.closed",
        lambda e, t: {"unused_seed": t.server_seed(1)},
        "commitment_mismatch",
    ),
    (
        "new",
        "table.closed",
        lambda e, t: {"unused_seed": ServerSeed(NOTHING)},
        "commitment_mismatch",
    ),
    ("new", "seat.reissued", lambda e, t: {"seat": 4}, "seat_unknown"),
    *(
        (stage, name, lambda e, t: {"sigs": {0: bytes(64)}}, "signature_invalid")
        for stage, name in (
            ("sealing", "seeds.sealed"),
            ("opening", "seeds.opened"),
            ("playing", "cards.discarded"),
            ("reopening", "seeds.opened"),
        )
    ),
]


@pytest.mark.parametrize(("stage", "name", "change", "code"), CHANGES)
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


@pytest.mark.parametrize(
    "stage", ["sealing", "opening", "dealing", "playing", "half locked", "short"]
)
@pytest.mark.parametrize("epoch", [1, 2, 32])
def test_a_later_seed_is_never_opened_early(stage, epoch):
    """HAND-12: x_{e+1} only when the reshuffle is due."""
    table = table_at(stage)
    seeds = {seat: table.chain(seat, 1)[epoch] for seat in range(4)}
    for head in (table.table.head, table.hand.head or NOTHING):
        event = replace(attempt(table, "seeds.opened"), epoch=epoch, head=head, seeds=seeds)
        assert outcome(table, event) in {"too_early", "wrong_phase"}


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


def test_a_custody_of_an_operator_has_no_devices():
    table = table_at("new", custody="operator")
    assert outcome(table, attempt(table, "seat.reissued")) == "seat_unknown"


# Terms.

TERMS = SlowTable(table_at("new").book, "mus").events[0]
OTHER_LOG = TERMS.log_key.replace("vectors", "victors")
TERMS_CHANGES = [
    ({"header": TERMS.header._replace(seq=1)}, "wrong_event"),
    ({"header": TERMS.header._replace(prev=NOTHING)}, "wrong_event"),
    ({"game": "bridge"}, "game_unknown"),
    ({"game": "kozel"}, "option_unknown"),
    ({"seats": 3}, "seats_not_allowed"),
    ({"seats": 10}, "seats_not_allowed"),
    ({"contribute": ()}, "seats_not_allowed"),
    ({"contribute": (0, 4)}, "seats_not_allowed"),
    ({"keys": {4: public_key(named("k"))}}, "seats_not_allowed"),
    ({"keys": {0: bytes(32)}}, "key_malformed"),
    ({"keys": {0: b"\xff" * 32}}, "key_malformed"),
    ({"ruleset": {}}, "option_unknown"),
    ({"ruleset": {**TERMS.ruleset, "extra": 1}}, "option_unknown"),
    *(
        ({"ruleset": {k: v for k, v in TERMS.ruleset.items() if k != option}}, "option_unknown")
        for option in TERMS.ruleset
    ),
    *(
        ({"ruleset": {**TERMS.ruleset, option: value}}, "option_value")
        for option in TERMS.ruleset
        for value in ("other", 7, "", True if option == "min_discard" else 1)
    ),
    ({"origin": "victors.example/log"}, "log_key_malformed"),
    ({"log_key": OTHER_LOG}, "log_key_malformed"),
    ({"log_key": TERMS.origin}, "log_key_malformed"),
    ({"log_key": TERMS.origin + "+junk"}, "log_key_malformed"),
    ({"log_key": TERMS.log_key[:-1]}, "log_key_malformed"),
]


@pytest.mark.parametrize(("change", "code"), TERMS_CHANGES)
def test_terms_that_are_none(change, code, refused):
    """TBL-1, GAME-3."""
    Table.open(TERMS)
    with refused(code, "not_base64" if "log_key" in change else code):
        Table.open(replace(TERMS, **change))


@pytest.mark.parametrize("contribute", [(0,), (3,), (1, 2), (0, 1, 2, 3)])
def test_who_does_not_contribute_neither_seals_nor_opens(contribute):
    table = SlowTable(table_at("new").book, "mus", contribute=contribute)
    table.open_hand()
    for seat in {0, 1, 2, 3} - {*contribute}:
        sealed = attempt(table, "seeds.sealed")
        assert outcome(table, replace(sealed, seals={seat: Seal(NOTHING)})) == "seat_unknown"
    assert table.hand.missing_seals == contribute
    table.seal()
    assert table.hand.phase is Phase.OPENING
    for seat in {0, 1, 2, 3} - {*contribute}:
        opened = attempt(table, "seeds.opened")
        assert outcome(table, replace(opened, seeds={seat: SeatSeed(NOTHING)})) == "seat_unknown"
    assert table.hand.missing_seeds == contribute
    table.open_seeds()
    assert table.hand.phase is Phase.DEALING


# Signatures: SIG-2, for the four events that carry them.


def keyed(stage: str, game: str = "mus") -> SlowTable:
    return table_at(stage, game, keyed=(0, 1))


def signed_events():
    """A table, and the event that it logs next, with seats 0 and 1 signing and others not."""

    def next_event(table, step):
        logged = []
        table.log = logged.append
        step(table)
        del table.log
        return table, logged[0]

    svoi = SlowTable(table_at("new").book, "svoi", keyed=(0, 1))
    svoi.open_hand()
    mus = keyed("playing")
    discards = {seat: mus.secrets.holding(seat)[:2] for seat in range(4)}
    yield "trumps.declared", *next_event(svoi, lambda t: t.declare({0: "H", 1: "S"}))
    yield "seeds.sealed", *next_event(keyed("sealing"), SlowTable.seal)
    yield "seeds.opened", *next_event(keyed("opening"), SlowTable.open_seeds)
    yield "seeds.opened e", *next_event(keyed("reopening"), SlowTable.open_seeds)
    yield "cards.discarded", *next_event(mus, lambda t: t.discard(discards))


SIGNED = {name: (table, event) for name, table, event in signed_events()}


@pytest.mark.parametrize("name", SIGNED)
def test_a_keyed_seat_signs_and_nobody_else(name):
    table, event = SIGNED[name]
    assert set(event.sigs) == {0, 1}
    assert outcome(table, event) == "legal"
    one, two = event.sigs[0], event.sigs[1]
    flipped = other(one)
    for sigs, code in [
        ({}, "signature_missing"),
        ({0: one}, "signature_missing"),
        ({1: two}, "signature_missing"),
        ({0: flipped, 1: two}, "signature_invalid"),
        ({0: one, 1: one}, "signature_invalid"),
        ({0: two, 1: one}, "signature_invalid"),
        ({0: bytes(64), 1: two}, "signature_invalid"),
        ({0: one, 1: two, 2: two}, "signature_invalid"),
        ({0: one, 1: two, 9: two}, "signature_invalid"),
        ({0: sign(named("stranger"), b""), 1: two}, "signature_invalid"),
    ]:
        assert outcome(table, replace(event, sigs=sigs)) == code


def test_a_signature_is_of_its_hand_and_event():
    """F34: no signature of one step serves another: other types, other hands, other tables."""
    signatures = {sig for _, event in SIGNED.values() for sig in event.sigs.values()}
    for table, event in SIGNED.values():
        for sig in signatures - set(event.sigs.values()):
            sigs = {**event.sigs, 0: sig}
            assert outcome(table, replace(event, sigs=sigs)) == "signature_invalid"


@pytest.mark.parametrize("name", SIGNED)
def test_the_state_follows_from_the_bytes(name):
    """ENC-7: an event that was made and the same one read again lead to one state."""
    table, event = SIGNED[name]
    (field,) = {"trumps", "seals", "seeds", "discards"} & event.CODECS.keys()
    for order in (sorted, lambda items: sorted(items, reverse=True)):
        parts = {part: dict(order(getattr(event, part).items())) for part in (field, "sigs")}
        made = replace(event, **parts)
        assert made.raw == event.raw
        assert table.table.apply(made) == table.table.apply(parse_event(event.raw))


# Deadlines: HAND-16.

TIMEOUTS = Timeouts(seal=5, open=7, hand=11, table=13)
DEADLINES = {  # stage: the reason, seconds, and since which of the table's events
    "sealing": ("seal_timeout", 5, -1),
    "half sealed": ("seal_timeout", 5, -2),
    "opening": ("open_timeout", 7, -1),
    "half opened": ("open_timeout", 7, -2),
    "reopening": ("open_timeout", 7, -1),
    "half reopened": ("open_timeout", 7, -2),
    "playing": ("idle", 11, -1),
    "half locked": ("idle", 11, -1),
    "serving": ("idle", 11, -1),
    "short": ("idle", 11, -1),
    "restocking": ("idle", 11, -1),
    "restocked": ("idle", 11, -1),
    "shown": ("idle", 11, -1),
}
REASONS = ("seal_timeout", "open_timeout", "idle", "operator", "epochs", "lost")


def abort(table: SlowTable, reason: str, missing=(), at: int | None = None) -> str:
    header = table.header()
    header = header if at is None else header._replace(at=at)
    event = HandAborted(header=header, hand=table.hand.number, reason=reason, missing=missing)
    return outcome(table, event)


def missing_at(table: SlowTable) -> tuple[int, ...]:
    return table.hand.missing_seals or table.hand.missing_seeds


@pytest.mark.parametrize("stage", DEADLINES)
def test_a_deadline_is_exact(stage):
    table = table_at(stage, timeouts=TIMEOUTS)
    reason, seconds, since = DEADLINES[stage]
    deadline = table.events[since].header.at + 1000 * seconds
    assert table.hand.deadline == (reason, deadline)
    missing = missing_at(table)
    assert abort(table, reason, missing, deadline) == "legal"
    assert abort(table, reason, missing, deadline + 10**9) == "legal"
    assert abort(table, reason, missing, deadline - 1) == "deadline_not_reached"
    for wrong in ({*missing} ^ {0}, {*missing} ^ {2}, {*missing, 9}, ()):
        if wrong != {*missing} and tuple(wrong) != missing:
            assert abort(table, reason, tuple(sorted(wrong)), deadline) == "wrong_event"


@every_stage
def test_reasons_for_an_abort(stage):
    """Each reason at each stage, however late it is."""
    table = table_at(stage, timeouts=TIMEOUTS)
    if table.table.open_hand is None:
        assert table.table.hand is None or table.hand.deadline is None
        return
    late = table.table.last_at + 10**9
    timeout = DEADLINES.get(stage, ("", 0, 0))[0]
    legal = {"epochs"} if stage == "exhausted" else {"operator", "lost", timeout} - {""}
    for reason in REASONS:
        missing = missing_at(table) if reason.endswith("_timeout") else ()
        expected = "legal" if reason in legal else "wrong_phase"
        assert abort(table, reason, missing, late) == expected, reason
        if not reason.endswith("_timeout") and reason != "operator" and reason in legal:
            assert abort(table, reason, (0,), late) == "wrong_event"
    if table.hand.deadline is not None:
        assert table.hand.deadline[0] in legal


@every_stage
def test_whom_an_operator_may_name(stage):
    """`missing` is any of the seats whose due seal or seed is not in the log."""
    table = table_at(stage)
    if table.table.open_hand is None or stage == "exhausted":
        return
    due = missing_at(table)
    for seats in chain.from_iterable(combinations(range(4), n) for n in range(5)):
        expected = "legal" if {*seats} <= {*due} else "wrong_event"
        assert abort(table, "operator", seats) == expected
    assert abort(table, "operator", (9,)) == "wrong_event"


# Who is first: HAND-2.


def ended(game: str, how: str) -> SlowTable:
    """A table whose first hand was closed, or aborted at a stage."""
    table = SlowTable(table_at("new").book, game, name=game[0])
    table.open_hand()
    if how == "sealing":
        table.abort()
    else:
        if table.table.game.declares_trumps:
            table.declare({0: "H", 1: "S"})
        table.seal()
        table.open_seeds()
        table.follow()
        table.close() if how == "closed" else table.abort()
    table.disclose()
    return table


@pytest.mark.parametrize("game", ["kozel", "mus", "azi", "svoi"])
def test_the_first_seat_of_the_next_hand(game):
    for how in ("closed", "dealt", "sealing"):
        table = ended(game, how)
        seats = table.table.terms_event.seats
        dealt = table.hand.dealt.first if table.hand.dealt else None
        everyone = {*range(seats)} | ({None} if game == "azi" else set())
        allowed = everyone if how == "closed" else {dealt}
        event = attempt(table, "hand.opened")
        for first in (None, *range(seats), seats, 9):
            expected = "legal" if first in allowed else "first_not_allowed"
            assert outcome(table, replace(event, first=first)) == expected
        assert {*table.table.first_choices()} == allowed
        if how == "closed":
            assert table.table.first_choices()[0] == (dealt + 1) % seats


@pytest.mark.parametrize("game", ["kozel", "mus", "azi", "svoi"])
def test_an_aborted_hand_s_own_first_seat_stays(game):
    """Hand 2 was given a seat and is aborted before it is dealt: hand 3 has the same."""
    table = ended(game, "closed")
    for first in range(table.table.terms_event.seats):
        table.open_hand(first)
        table.abort()
        table.disclose()
        assert table.table.first_choices() == (first,)
        table.open_hand()
        assert table.hand.first == first
        if game == "svoi":
            table.declare({first: "H"})
            table.declare({1 - first: "S"})
        table.seal()
        table.open_seeds()
        event = attempt(table, "hand.dealt")
        assert event.first == first
        table.log(event)
        table.close()
        table.disclose()


def test_the_seat_that_was_given_is_dealt_first():
    """GAME-2: though the cards would go round rightly from another one."""
    table = ended("mus", "closed")
    for given in range(4):
        table.open_hand(given)
        table.seal()
        table.open_seeds()
        event = attempt(table, "hand.dealt")
        assert event.first == given
        for first in {0, 1, 2, 3} - {given}:
            layout = table.table.game.deal(table.hand.table.ruleset, 4, first, 2, None)
            rows = [tuple(place.position for place in row) for row in layout.received]
            other_deal = replace(event, first=first, positions=dict(enumerate(rows)))
            assert outcome(table, other_deal) == "wrong_event"
        table.abort()
        table.disclose()
        table = ended("mus", "closed")


# A hand and a dealing by themselves, as an embedding program may use them.


@pytest.mark.parametrize(
    ("stage", "name", "code"),
    [
        ("closed", "hand.aborted", "already_final"),
        ("closed", "hand.closed", "wrong_phase"),
        ("playing", "hand.disclosed", "wrong_phase"),
        ("lost", "hand.disclosed", "wrong_phase"),
        ("disclosed", "hand.disclosed", "already_disclosed"),
        ("playing", "hand.opened", "wrong_phase"),
    ],
)
def test_a_hand_alone_is_as_strict(stage, name, code, refused):
    table = table_at(stage, disclosure="table")
    with refused(code, kind=StateError):
        table.hand.apply(attempt(table, name))


@pytest.mark.parametrize("seat", [4, 9, -1])
def test_a_dealing_knows_its_seats(seat, refused):
    table = table_at("playing", "kozel")
    dealing, header = table.secrets, table.header()
    for make in (
        lambda: dealing.show(header, seat, [Place(0, 3)]),
        lambda: dealing.discard(header, {seat: [Place(0, 3)]}, {}),
        lambda: dealing.draw(header, seat),
    ):
        with refused("seat_unknown", kind=StateError):
            make()


# Declarations: HAND-3, SVO-1.


@pytest.mark.parametrize("distinct", [True, False])
@pytest.mark.parametrize("first", [None, 1])
def test_declarations(distinct, first):
    table = SlowTable(table_at("new").book, "svoi", ruleset={"distinct_trumps": distinct})
    if first is not None:
        table.open_hand()
        table.declare({0: "H", 1: "S"})
        table.seal()
        table.open_seeds()
        table.follow()
        table.close()
        table.disclose()
    table.open_hand(first)
    lead = first or 0
    assert table.hand.declarations_due == (lead, 1 - lead)

    def declare(**trumps) -> str:
        named_seats = {int(seat[1:]): suit for seat, suit in trumps.items()}
        event = TrumpsDeclared(header=table.header(), hand=table.hand.number, trumps=named_seats)
        return outcome(table, event)

    same = "trump_not_allowed" if distinct else "legal"
    assert declare(s0="H", s1="S") == declare(**{f"s{lead}": "H"}) == "legal"
    assert declare(s0="H", s1="H") == same
    assert declare(**{f"s{1 - lead}": "H"}) == "not_your_turn"
    assert declare(s0="H", s1="S", s2="D") == "not_your_turn"
    assert outcome(table, attempt(table, "seeds.sealed")) == "wrong_phase"
    table.declare({lead: "H"})
    assert declare(**{f"s{1 - lead}": "H"}) == same
    assert declare(**{f"s{1 - lead}": "C"}) == "legal"
    assert declare(**{f"s{lead}": "C"}) == declare(s0="C", s1="D") == "not_your_turn"
    assert outcome(table, attempt(table, "seeds.sealed")) == "wrong_phase"
    table.declare({1 - lead: "C"})
    assert declare(**{f"s{lead}": "C"}) == "not_your_turn"
    table.seal((1,))
    assert declare(s0="C", s1="D") == "not_your_turn"
    table.seal((0,))
    assert declare(s0="C", s1="D") == "wrong_phase"


# What may not come twice: SEAL-2.


@given(st.lists(st.lists(st.integers(0, 30), max_size=4), max_size=20))
def test_values_seen(batches):
    seen, known = Seen(), set()
    for batch in batches:
        values = [Digest(number.to_bytes(32, "big")) for number in batch]
        if len(set(values)) == len(values) and not known & set(values):
            before = seen
            seen = seen.add(values)
            assert all((value in before) == (value in known) for value in values)
            known |= set(values)
        else:
            with pytest.raises(StateError) as caught:
                seen.add(values)
            assert caught.value.code == "seed_reused"
        assert all(
            (Digest(number.to_bytes(32, "big")) in seen)
            == (Digest(number.to_bytes(32, "big")) in known)
            for number in range(31)
        )


def test_disclosures_of_many_hands_come_in_any_order():
    """HAND-17, policy `table`: each hand once, between hands, before the table is closed."""
    table = SlowTable(table_at("new").book, "kozel", disclosure="table")
    dealings = []
    for _ in range(3):
        table.deal()
        table.follow()
        table.close()
        dealings.append(table.secrets)
    table.open_hand()
    assert outcome(table, dealings[1].disclose(table.header())) == "hand_open"
    table.abort("lost")
    for dealing in (dealings[1], dealings[0]):
        table.log(dealing.disclose(table.header()))
        assert outcome(table, dealing.disclose(table.header())) == "already_disclosed"
    assert outcome(table, attempt(table, "table.closed")) == "not_due"
    table.log(dealings[2].disclose(table.header()))
    table.close_table()
    assert table.table.is_closed
