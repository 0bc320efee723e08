"""The protocol of one log and two writers, searched to its end; and what each of its parts is for.

Spec: LOG-20, LOG-21. The numbers of states are printed (`pytest -s`).
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.model.two_writers import Bounds, Found, Protocol, search

# All bounds twice would be minutes; `make soak` does more.
FULL, SHORT, LONG = Bounds(), Bounds(entries=2, epochs=3), Bounds(crashes=2)


@contextmanager
def without_collections() -> Iterator[None]:
    """Nothing here is a cycle, and a million tuples are long to look through."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def searched(protocol: Protocol, bounds: Bounds, until: str = "") -> Found:
    with without_collections():
        found = search(protocol, bounds, until=until)
    print(f"{found.states} states, {found.depth} steps deep: {sorted(found.faults)} {bounds}")
    return found


def test_no_fork_and_nothing_lost_in_any_order():
    found = searched(Protocol(), FULL)
    assert found.faults == frozenset()
    assert found.states > 200_000


@pytest.mark.soak
def test_no_fork_and_nothing_lost_in_any_order_with_more_crashes():
    found = searched(Protocol(), LONG)
    assert found.faults == frozenset()
    assert found.states > 600_000


@pytest.mark.parametrize(
    "without",
    [
        Protocol(compares_roots=False),
        Protocol(checks_anchor=False),
        Protocol(compares_anchor=False),
        Protocol(anchors_first=False),
        # Not a fault of the protocol, but its end: only a witness elsewhere can tell.
        Protocol(restores_anchor=True),
    ],
    ids=[
        "anchor compared by size only",
        "no look at the anchor at a start",
        "anchor overwritten",
        "shown before it is anchored",
        "the whole machine rolled back",
    ],
)
def test_without_one_of_its_parts_the_log_forks(without):
    assert "fork" in searched(without, FULL, until="fork").faults


def test_without_comparing_the_head_nothing_forks_but_something_is_lost():
    """The anchor stops the fork. What the comparison in the database is for is the acknowledged."""
    assert searched(Protocol(compares_head=False), FULL, until="loss").faults == {"loss"}
    assert searched(Protocol(compares_head=False), SHORT).faults == {"loss"}
    assert searched(Protocol(), SHORT).faults == frozenset()


def test_without_restores_nothing_needs_the_first_look():
    """A control of the model: what a part is for does not happen where its cause does not."""
    assert searched(Protocol(checks_anchor=False), Bounds(restores=0)).faults == frozenset()
