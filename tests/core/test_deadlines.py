"""When a hand may be aborted, for which reason, and who is named. Spec: HAND-14, HAND-16."""

from itertools import chain, combinations

import pytest

from fairdeal.events import HandAborted, Timeouts
from tests.core.stages import SlowTable, every_stage, outcome, table_at

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
