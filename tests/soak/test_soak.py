"""The long runs themselves, made short: they find what they are there for, and merge results."""

from __future__ import annotations

import json

import pytest

from tests.soak import audit, run


def test_a_log_is_replayed_measured_killed_and_resumed(monkeypatch):
    monkeypatch.setattr(audit, "KILLS", 1)
    count, found, measured = audit.replayed_log(600)
    assert (count, found) == (600, [])
    assert measured["hands_per_second"] > 0
    assert 0 < measured["megabytes"] < audit.MAX_MEGABYTES
    assert measured["kills"] == 1


def test_a_fault_at_a_random_hand_is_found():
    count, found, measured = audit.found_fault(200)
    assert (count, found) == (200, [])
    assert "HAND" in measured["codes"]


def test_control_what_is_not_as_it_has_to_be_is_told(monkeypatch):
    monkeypatch.setattr(audit, "KILLS", 0)
    monkeypatch.setattr(audit, "MAX_MEGABYTES", 1)
    assert "MB" in audit.replayed_log(50)[1][0]
    monkeypatch.setattr(audit, "other_root", bytes)
    assert audit.found_fault(50)[1][0] == "the fault was not found"


@pytest.fixture
def short(monkeypatch, tmp_path):
    """Two families of one part and a control each, and results of an earlier run."""

    def parts():
        yield "one.control", (lambda: (5, ["x"])), ()
        yield "one.part", (lambda: (7, [], {"rate": 3})), ()
        yield "two.control", (lambda: (1, ["y"])), ()
        yield "two.part", (lambda: (2, [])), ()

    def results(some, _workers):
        for name, work, arguments in some:
            count, found, *measured = work(*arguments)
            result = {"count": count, "found": len(found), "first": found[:3]}
            yield name, result | ({"measured": measured[0]} if measured else {})

    monkeypatch.setattr(run, "parts", parts)
    monkeypatch.setattr(run, "_results", results)
    monkeypatch.setattr(run, "RESULTS", tmp_path / "soak.json")
    return tmp_path / "state.jsonl"


def test_one_family_is_run_by_name_and_the_others_stay(short):
    before = {"two": {"count": 9, "found": 0, "first": [], "control": {"found": 1}, "commit": "a"}}
    done = run.run(short, ["one"])
    assert done.keys() == {"one.control", "one.part"}
    results = run.summary(done, "b", before)
    assert results["good"]
    assert results["families"]["two"] == before["two"]
    assert results["families"]["one"]["commit"] == "b"
    assert results["families"]["one"]["measured"] == {"part": {"rate": 3}}
    # The rest of it later: what is done is not done again.
    assert len(short.read_text().splitlines()) == 2
    assert run.run(short).keys() == {"one.control", "one.part", "two.control", "two.part"}
    assert len(short.read_text().splitlines()) == 4


@pytest.mark.parametrize("bad", [{"found": 1}, {"control": {"found": 0}}, {"control": {}}])
def test_control_an_earlier_family_that_is_not_good_stays_so(short, bad):
    entry = {"count": 9, "found": 0, "first": [], "control": {"found": 1}, "commit": "a"} | bad
    results = run.summary(run.run(short, ["one"]), "b", {"two": entry})
    assert not results["good"]


def test_a_family_that_nobody_knows(capsys):
    assert run.main(["none"]) == 2
    assert "audit" in capsys.readouterr().err
    assert json.loads(run.RESULTS.read_text("utf-8"))["good"]
