"""Terms, who contributes, what is seen, disclosures of many hands. Spec: TBL-1, TBL-2, SEAL-2."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairdeal.ed25519 import public_key
from fairdeal.errors import StateError
from fairdeal.hand import Phase
from fairdeal.hashing import Digest
from fairdeal.seeds import Seal, SeatSeed
from fairdeal.table import Seen, Table
from seeds.local import Book, named
from tests.core.stages import NOTHING, SlowTable, attempt, outcome, table_at

TERMS = SlowTable(Book(), "mus").events[0]

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
    table = SlowTable(Book(), "mus", contribute=contribute)
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


def test_a_custody_of_an_operator_has_no_devices():
    table = table_at("new", custody="operator")
    assert outcome(table, attempt(table, "seat.reissued")) == "seat_unknown"


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
    table = SlowTable(Book(), "kozel", disclosure="table")
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
