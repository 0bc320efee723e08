"""What is written to logs, tracebacks and errors holds no secret. Spec: SEED-1, SEED-2.

The types themselves are tested in test_seeds.py.
"""

import hashlib
import pickle
import re
import traceback

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairdeal.errors import FairdealError
from fairdeal.events import parse_event
from seeds.local import LocalTable
from tests.core.stages import STAGES, attempt, table_at
from tests.core.test_encoding import MALFORMED, SEED, changed
from tests.core.test_seeds import shapes
from tests.core.test_signatures import SIGNED
from tests.core.test_wrong_parts import CASES

LONG_HEX = re.compile(r"[0-9a-fA-F]{20}|(\\x[0-9a-f]{2}){8}")


def secrets_of(table: LocalTable) -> list[bytes]:
    """Everything at a table that some party must not know yet."""
    hand = table.table.hand
    found = [table.server_seed(number) for number in (1, 2, 3)]
    found += [seed for seat in range(4) for seed in table.chain(seat, 1)]
    if hand is not None and hand.dealt is not None:
        found += [hand.key(epoch, table.server_seed(1)) for epoch in range(len(hand.roots))]
        found += [deck.salt(p) for deck in table.secrets.decks[-1:] for p in range(len(deck))]
    return found


def assert_hides(text: str, secrets: list[bytes]) -> None:
    for secret in secrets:
        assert not any(shape in text for shape in shapes(secret))


@pytest.mark.parametrize("stage", STAGES)
def test_no_state_shows_a_secret(stage):
    """`repr` of the table, its hand, its dealing and every event, at every stage."""
    table = table_at(stage, disclosure="table")
    secrets = secrets_of(table)
    if stage == "shown":
        secrets.remove(table.events[-1].shown[0].salt)  # public from here on
    values = [table.table, table.table.hand, table.dealing, *table.events]
    assert_hides(repr(values) + "".join(map(str, values)), secrets)


@pytest.mark.parametrize("stage", STAGES)
def test_no_dealing_is_pickled(stage):
    table = table_at(stage)
    if table.dealing is not None:
        for value in (table.dealing, [table.dealing], table.dealing.decks or (table.dealing,)):
            with pytest.raises(TypeError, match="not pickled"):
                pickle.dumps(value)


def told(error: BaseException) -> str:
    """Everything that a traceback prints of an error, but for the lines of source."""
    lines = traceback.TracebackException.from_exception(error, capture_locals=False)
    return "".join(lines.format_exception_only()) + "".join(
        told(other) for other in (error.__cause__, error.__context__) if other is not None
    )


@pytest.mark.parametrize(("stage", "name", "change", "code"), CASES)
def test_no_refusal_repeats_what_it_refuses(stage, name, change, code):
    table = table_at(stage, disclosure="table")
    event = attempt(table, name)
    with pytest.raises(FairdealError) as caught:
        table.table.apply(replace_parts(event, change(event, table)))
    assert caught.value.code == code
    assert not LONG_HEX.search(told(caught.value))


def replace_parts(event, parts):
    fields = {name: getattr(event, name) for name in event.CODECS} | parts
    return type(event)(header=event.header, **fields)


@pytest.mark.parametrize("name", SIGNED)
def test_no_refused_signature_is_repeated(name):
    table, event = SIGNED[name]
    for sigs in ({}, {0: bytes(range(64)), 1: event.sigs[1]}):
        with pytest.raises(FairdealError) as caught:
            table.table.apply(replace_parts(event, {"sigs": sigs}))
        assert not LONG_HEX.search(told(caught.value))


@pytest.mark.parametrize("raw", MALFORMED.values(), ids=MALFORMED)
def test_no_malformed_event_is_repeated(raw):
    with pytest.raises(FairdealError) as caught:
        parse_event(raw)
    assert not LONG_HEX.search(told(caught.value))


@given(st.integers(0), st.sampled_from(["upper", "long", "short", "prefixed", "spaced"]))
def test_no_secret_in_a_malformed_event_is_repeated(number, how):
    """A seed in the wrong form is not thrown back."""
    secret = hashlib.sha256(str(number).encode()).hexdigest()
    text = {
        "upper": secret.upper(),
        "long": secret + "00",
        "short": secret[1:],
        "prefixed": "0x" + secret,
        "spaced": secret + " ",
    }[how]
    with pytest.raises(FairdealError) as caught:
        parse_event(changed(SEED, text))
    assert secret[8:24] not in told(caught.value).lower()
