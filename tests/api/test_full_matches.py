"""Whole matches over REST: a real service, a client with its own secrets at every seat, bots."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from fairdeal_api.demo.match import change_the_score
from fairdeal_api.players import greedy
from fairdeal_api.terminal.bots import Pace
from fairdeal_api.terminal.house import House

MOST_HANDS = 60
"""Chance decides how many it takes; each has its own limit in `wait_for_bots`."""


def verifier(*arguments):
    done = subprocess.run(
        [sys.executable, "-m", "fairdeal_verifier", *map(str, arguments)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=600,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    with House(tmp_path_factory.mktemp("house")) as house:
        yield house


def play_match(house, game, folder, **rules):
    """All hands until somebody has won; gives their files and results."""
    table, pace = house.open_table(game, None, rules), Pace(watched=False)
    files, results = [], []
    try:
        table.seat_bots(sorted(table.codes), lambda _: greedy, pace)
        while not results or results[-1]["winner"] is None:
            assert len(files) < MOST_HANDS
            table.open_hand()
            table.wait_for_bots()
            results.append(table.state()["result"])
            files.append(folder / f"{len(files) + 1}.fair.json")
            files[-1].write_bytes(table.file())
    finally:
        table.close(pace)
    for bot in table.bots:
        assert bot.fault is None
        assert not bot.is_alive()
        assert bot.client.stopped is None
        # It has kept notes of every hand, with receipts, and proved its cards.
        assert len(list(bot.client.memory.path.parent.glob("hand-*.notes.json"))) == len(files)
        assert bot.client.checks.notes[len(files)].receipts
        assert bot.client.checks.proved
    return files, results


@pytest.mark.parametrize(("game", "target"), [("mus", 40), ("kozel", 12)])
def test_a_whole_match_is_verified_hand_by_hand_and_as_a_match(house, tmp_path, game, target):
    """Spec: PLAY-2, PLAY-5, PLAY-9."""
    files, results = play_match(house, game, tmp_path)
    end = results[-1]
    if game == "mus":
        assert max(end["match"]["score"]) >= target
        assert end["match"]["games"][end["winner"]] == 1
    else:
        assert max(end["match"]["defeat"]) >= target
        assert end["match"]["defeat"][end["winner"]] < target
    assert all(result["winner"] is None for result in results[:-1])
    key = tmp_path / "log.vkey"
    key.write_text(house.log_key)
    for file in files:
        terms = json.loads(json.loads(file.read_bytes())["events"][0])
        assert terms["custody"] == "seats"
        assert terms["referee"] is True
        assert terms["ruleset"]["target"] == target
        code, report = verifier("--key", key, file)
        assert code == 0, report
        assert report.startswith("VERIFIED  ")
        assert "PASS  play " in report
    code, report = verifier("--key", key, "--match", *files)
    assert code == 0, report
    assert report.startswith(f"VERIFIED  match, {len(files)} file")

    # The controls: a hand left out, and one number of a score changed.
    if len(files) > 2:
        code, report = verifier("--key", key, "--match", *files[:1], *files[2:])
        assert code == 1, report
        assert "FAIL match" in report
    forged = change_the_score(files[-1].read_bytes())
    assert forged.after == forged.before + 1
    files[-1].write_bytes(forged.content)
    code, report = verifier("--key", key, "--match", *files)
    assert code == 1, report
    assert "PLAY-5" in report
