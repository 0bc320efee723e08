"""A service that cheats is found out, and what proves it is judged. Spec: AUD-2, AUD-4, AUD-5."""

from __future__ import annotations

import json

import pytest

from fairdeal_audit.command import main
from fairdeal_audit.continued import is_test
from seeds.local import Book, LocalTable
from tests.audit.cheats import CHEATS, cheated, events_of, honest, log_with
from tests.audit.cheats import _raws as raws
from tests.audit.generate import ORIGIN, write_book


def audited(log, folder, capsys):
    """Fetches and replays a log; the exit code and the report."""
    key = str(log / "log.vkey")
    assert main(["fetch", str(log), str(folder), "--key", key, "--quiet"]) == 0
    capsys.readouterr()
    code = main(["replay", str(folder), "--quiet", "--json"])
    return code, json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("name", CHEATS)
def test_a_cheat_is_found_and_its_evidence_judged(name, tmp_path, capsys):
    log, folder = tmp_path / "log", tmp_path / "dir"
    cheat = cheated(name, log)
    code, report = audited(log, folder, capsys)
    assert code == 1
    found = [one for one in report["findings"] if one["code"] == cheat.code]
    assert found, report["findings"]
    evidence = [one["evidence"] for one in found if one["evidence"]]
    assert bool(evidence) == cheat.has_evidence
    # Every evidence that was written holds, whatever else the cheat broke; nobody else is accused.
    for one in report["findings"]:
        assert "d" not in one["table"]
        if one["evidence"]:
            argv = [
                "judge",
                str(folder / one["evidence"]),
                "--key",
                str(log / "log.vkey"),
                "--json",
            ]
            assert main(argv) == 1, one
            assert json.loads(capsys.readouterr().out)["code"] == one["code"]


def test_a_table_without_its_beginning_is_named_once(tmp_path, capsys):
    log, folder = tmp_path / "log", tmp_path / "dir"
    cheated("loses_a_tables_beginning", log)
    _, report = audited(log, folder, capsys)
    assert [one["code"] for one in report["findings"]] == ["GAP"]


@pytest.mark.parametrize("name", [name for name in CHEATS if name.startswith("deals_a_card_twice")])
def test_a_card_twice_is_named_once(name, tmp_path, capsys):
    log, folder = tmp_path / "log", tmp_path / "dir"
    cheated(name, log)
    _, report = audited(log, folder, capsys)
    assert [one["code"] for one in report["findings"]].count("CARD") == 1


@pytest.mark.parametrize("later", [0, 2 * 86_400_000])
def test_control_the_same_log_untouched_is_clean(later, tmp_path, capsys):
    log, folder = tmp_path / "log", tmp_path / "dir"
    write_book(log_with(raws(events_of(honest())), later), log)
    code, report = audited(log, folder, capsys)
    assert report["findings"] == []
    assert code == 0
    assert report["counts"]["hands"] == report["counts"]["verified"] == 6


@pytest.mark.parametrize(("grace", "is_missed"), [(0, True), (1 << 32, False)])
def test_a_deadline_is_missed_when_the_grace_is_over(grace, is_missed, tmp_path, capsys):
    log, folder = tmp_path / "log", tmp_path / "dir"
    cheated("never_ends_a_hand", log)
    assert main(["fetch", str(log), str(folder), "--key", str(log / "log.vkey"), "--quiet"]) == 0
    capsys.readouterr()
    main(["replay", str(folder), "--quiet", "--json", "--grace", str(grace)])
    found = json.loads(capsys.readouterr().out)["findings"]
    assert [one["code"] for one in found] == ["OVERDUE"] * is_missed


@pytest.mark.parametrize(
    ("again", "is_missed"), [(3_590, False), (3_601, True)], ids=["not yet", "passed"]
)
@pytest.mark.parametrize("stopped", [5 * 3_600_000, 9 * 86_400_000])
@pytest.mark.parametrize("noise", [0, 700])
def test_a_service_that_was_stopped_gives_a_hand_its_time_again(
    again, is_missed, stopped, noise, tmp_path, capsys
):
    """Spec: HAND-18. The hand may last for another hour after the start, by its terms."""
    book = Book(ORIGIN)
    table = LocalTable(book, "kozel", name="c0")
    table.deal()
    book.now += stopped
    other = LocalTable(book, "azi", name="c1", seats=3)
    other.deal()
    for _ in range(noise):
        book.append(b"no event")
    other.close()
    book.now += again * 1000
    other.close_table()
    log, folder = tmp_path / "log", tmp_path / "dir"
    write_book(book, log)
    _, report = audited(log, folder, capsys)
    found = [(one["code"], one["hand"]) for one in report["findings"] if one["table"]]
    assert found == [("OVERDUE", 1)] * is_missed


def test_reuse_is_not_looked_for_where_decks_repeat_on_purpose():
    assert is_test("deal.example/log/test")
    assert not is_test("deal.example/log")
