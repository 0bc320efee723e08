"""The published vectors of the log's key, read by the verifier and its audit."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fairdeal_audit import continued
from fairdeal_audit.tiles import Folder
from fairdeal_audit.worker import rotation_fault
from fairdeal_verifier import log_events
from fairdeal_verifier.encoding import FormatError, UnreadableError
from fairdeal_verifier.note import Checkpoint, LogKey
from fairdeal_verifier.rotation import Keys, Rotated, read_rotations
from fairdeal_verifier.verify import verify

VECTORS = json.loads((Path(__file__).parents[2] / "seeds/rotation.json").read_text("utf-8"))


def cases(name):
    return pytest.mark.parametrize("one", VECTORS[name], ids=lambda one: one["case"])


def document(value) -> bytes:
    return (value if isinstance(value, str) else json.dumps(value)).encode()


@cases("rotated")
def test_a_rotation_is_good_or_not_where_it_stands(one):
    try:
        event = Rotated.parse(one["entry"])
    except (FormatError, UnreadableError):
        assert one["expect"] is not None
        return
    keys = [LogKey.parse(key) for key in one["keys"]]
    fault = rotation_fault(event, one["index"], bytes.fromhex(one["root"]), keys)
    assert bool(fault) == (one["expect"] is not None), fault


@cases("documents")
def test_what_is_served_leads_on_or_nowhere(one):
    try:
        rotations = read_rotations(document(one["document"]))
    except UnreadableError:
        assert one["keys"] is None
        return
    assert one["keys"] is not None
    for key in one["keys"]:
        found = Keys.of(LogKey.parse(key), rotations).keys
        assert found == tuple(LogKey.parse(other) for other in one["keys"])


def test_a_head_is_good_under_the_key_in_force_only():
    keys = Keys.of(LogKey.parse(VECTORS["keys"][0]), read_rotations(document(VECTORS["document"])))
    for one in VECTORS["heads"]:
        head = Checkpoint.parse(one["checkpoint"].split("\n"))
        assert keys.have_signed(head) == one["good"], (one["size"], one["key"])
    assert {one["good"] for one in VECTORS["heads"]} == {True, False}


def test_forms():
    for entry in VECTORS["forms"]["valid"]:
        assert log_events.parse(entry).type in log_events.TYPES


@pytest.mark.parametrize("one", VECTORS["forms"]["invalid"], ids=lambda one: one["case"])
def test_what_has_another_form_is_none(one):
    with pytest.raises((FormatError, UnreadableError)):
        log_events.parse(one["entry"])


class Two(Folder):
    """Two entries, whatever their bundle."""

    def __init__(self, entries: dict[int, bytes]) -> None:
        self.entries_at, self.size = entries, max(entries) + 1

    def entry(self, index: int) -> bytes:
        return self.entries_at.get(index, b"")


@cases("continued")
def test_a_continuation_is_good_or_not_where_it_stands(one):
    entries = {one["index"]: one["entry"].encode()}
    if one["before"] is not None:
        entries[one["index"] - 1] = one["before"].encode()
        entries.setdefault(0, one["before"].encode())
    try:
        step = log_events.parse(one["entry"])
    except (FormatError, UnreadableError):
        assert one["expect"] is not None
        return
    body = step.body
    own = LogKey.parse(body["log_key"])
    fault = continued.fault(Two(entries), one["index"], step, Keys((own,)))
    assert bool(fault) == (one["expect"] is not None), fault


@cases("hands")
def test_hands(one):
    rotations = document(one["rotations"]) if one["rotations"] is not None else None
    given = [VECTORS["receipts"][n] if isinstance(n, int) else n for n in one["receipts"]]
    report = verify(one["file"].encode(), key=one["key"], receipts=given, rotations=rotations)
    assert (report.exit, report.failed) == (one["exit"], one["failed"])
