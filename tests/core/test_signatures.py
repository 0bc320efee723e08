"""Seats that sign with a key of their own. Spec: SIG-2, TAG-1, ENC-7."""

from dataclasses import replace

import pytest

from fairdeal.ed25519 import sign
from fairdeal.events import parse_event
from seeds.local import Book, named
from tests.core.naive import flip
from tests.core.stages import SlowTable, outcome, table_at


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

    svoi = SlowTable(Book(), "svoi", keyed=(0, 1))
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
    flipped = flip(one)
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


def test_a_keyed_seat_that_has_no_part_in_an_event_does_not_sign_it():
    table, event = SIGNED["seeds.sealed"]
    alone = replace(event, seals={0: event.seals[0]}, sigs={0: event.sigs[0]})
    assert outcome(table, alone) == "legal"
    assert outcome(table, replace(alone, sigs=event.sigs)) == "signature_invalid"


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
