"""How a key changes, searched to its end; and what each of its parts is for.

Spec: LOG-20, LOG-27, LOG-29. All of it takes some seconds. The numbers of states are printed
(`pytest -s`).
"""

from __future__ import annotations

import pytest

from tests.model.key_rotation import SHORT, Bounds, Found, Procedure, search

LONG = Bounds(entries=4, epochs=5, keys=4, crashes=2)


def searched(procedure: Procedure, bounds: Bounds = SHORT, until: str = "") -> Found:
    found = search(procedure, bounds, until=until)
    print(f"{found.states} states: {sorted(found.faults)} {procedure}")
    return found


@pytest.mark.parametrize("seals", [False, True], ids=["log key", "sealing key"])
def test_nobody_is_locked_out_and_nothing_signed_by_a_key_out_of_force(seals):
    found = searched(Procedure(seals=seals))
    assert found.faults == frozenset()
    assert found.states > 15_000
    # Not because nothing happens: the key has changed twice, and its file has the name.
    assert found.changed == 2


@pytest.mark.soak
@pytest.mark.parametrize("seals", [False, True], ids=["log key", "sealing key"])
def test_nobody_is_locked_out_with_more_crashes_and_keys(seals):
    found = searched(Procedure(seals=seals), LONG)
    assert found.faults == frozenset()
    assert found.states > 100_000
    assert found.changed == 3


WITHOUT = {
    "a file of the next key before the commit": ({"makes_first": False}, "locked out"),
    "the next key that is there": ({"keeps_made": False}, "locked out"),
    "the name after the commit": ({"names_last": False}, "locked out"),
    "a look at whose file gets the name": ({"looks": False}, "locked out"),
    "nobody else who gives names meanwhile": ({"holds": False}, "locked out"),
    "comparing the head": ({"compares_head": False}, "locked out"),
}


@pytest.mark.parametrize("seals", [False, True], ids=["log key", "sealing key"])
@pytest.mark.parametrize("name", WITHOUT)
def test_without_one_of_its_parts_somebody_is_locked_out(name, seals):
    switches, fault = WITHOUT[name]
    assert fault in searched(Procedure(seals=seals, **switches), until=fault).faults


@pytest.mark.parametrize(
    ("switches", "fault"),
    [
        ({"asks_database": False}, "wrong key"),
        ({"new_signs": False}, "wrong key"),
        ({"seals": True, "asks_database": False}, "wrong key"),
        ({"seals": True, "scrubs_first": False}, "traces"),
    ],
    ids=[
        "a start goes by the file's name",
        "the old key signs the change",
        "a start seals by the file's name",
        "the old key goes before what it opens",
    ],
)
def test_without_others_a_key_is_used_or_goes_too_early(switches, fault):
    assert fault in searched(Procedure(**switches), until=fault).faults


def test_of_one_start_alone_nothing_needs_the_hold():
    """A control of the model: what a part is for does not happen where its cause does not."""
    assert searched(Procedure(holds=False), Bounds(epochs=1)).faults == frozenset()
    assert searched(Procedure(holds=False), Bounds(epochs=2)).faults == {"locked out"}
