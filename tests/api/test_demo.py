"""`fairdeal demo`: all of it as a process, and its parts."""

import io
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from fairdeal.cards import Card
from fairdeal.hand import Hand
from fairdeal_api.client import HeldCard
from fairdeal_api.demo import play
from fairdeal_api.demo import run as run_here
from fairdeal_api.demo.match import change_the_score
from fairdeal_api.demo.plans import PLANS
from fairdeal_api.demo.screen import Screen
from fairdeal_api.demo.verdicts import change_a_card
from fairdeal_api.terminal.processes import RunError
from fairdeal_api.terminal.records import Verdict, verify, verify_match
from seeds.local import Book, LocalTable

ROOT = Path(__file__).resolve().parents[2]
SEEDS = ROOT / "seeds"
LIMIT = 600


def demo(tmp_path, *arguments, **environment):
    """Start the demo as users do."""
    temporary = tmp_path / "tmp"
    temporary.mkdir(exist_ok=True)
    return subprocess.Popen(
        [sys.executable, "-m", "fairdeal_api", "demo", "--out", str(tmp_path / "out"), *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        env={**os.environ, "TMPDIR": str(temporary), **environment},
        cwd=tmp_path,
    )


def run(tmp_path, *arguments, **environment):
    with demo(tmp_path, *arguments, **environment) as process:
        out, err = process.communicate(timeout=LIMIT)
    return process.returncode, out, err


def verified(file, *options):
    done = subprocess.run(
        [sys.executable, "-m", "fairdeal_verifier", *map(str, options), str(file)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=LIMIT,
        check=False,
    )
    return done.returncode, done.stdout


# --- the whole ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """One run of everything, in an environment that is set up for another service."""
    folder = tmp_path_factory.mktemp("demo")
    code, out, err = run(folder, FAIRDEAL_ORIGIN="other.example/log", FAIRDEAL_NONSENSE="1")
    assert code == 0, out + err
    return folder, out, err


def test_it_says_what_happened(played):
    _, out, err = played
    assert err == ""
    assert "\x1b" not in out  # no control codes outside a terminal
    for words in (
        "VERIFIED  4 times",
        "VERIFIED (aborted: open_timeout, seats 2)  3 times",
        "FAIL chain",
        "FAIL shuffle",
        "FAIL play",
        "have lost the match",
        "every move and the score",
        "mus 2",
        "reshuffle",
        "no card was dealt",
    ):
        assert words.lower() in out.lower(), words


def test_nothing_is_left_behind(played):
    folder, out, _ = played
    assert list((folder / "tmp").iterdir()) == []
    for pid in pids(out):
        assert not Path(f"/proc/{pid}").exists()


@pytest.mark.parametrize("plan", PLANS, ids=lambda plan: plan.name)
def test_each_file_is_verified_with_each_seats_notes(played, plan):
    out = played[0] / "out"
    file = out / f"{plan.name}.fair.json"
    seats = [seat for seat in range(plan.seats) if seat != plan.vanishes]
    for seat in seats:
        notes = out / f"{plan.name}.seat{seat}.notes.json"
        code, report = verified(file, "--key", out / "log.vkey", "--mine", notes)
        assert code == 0, report
        assert report.startswith(plan.verdict)
        assert re.search(r"^  PASS  receipt ", report, re.MULTILINE), report
        assert re.search(r"^  PASS  mine ", report, re.MULTILINE), report
    assert len(list(out.glob(f"{plan.name}.seat?.notes.json"))) == len(seats)


def types(file):
    return [json.loads(event)["type"] for event in json.loads(file.read_bytes())["events"]]


def test_the_hands_are_what_they_are_to_show(played):
    out = played[0] / "out"
    kozel, mus, azi, svoi, aborted = (types(out / f"{plan.name}.fair.json") for plan in PLANS)
    assert kozel.count("cards.drawn") == 5
    assert kozel.count("cards.discarded") + kozel.count("cards.shown") >= 36
    assert "stock.reshuffled" in mus
    assert mus[-1] == "hand.closed"
    assert azi.count("cards.discarded") == 3
    assert svoi.count("trumps.declared") == 2
    assert aborted[-1] == "hand.aborted"
    assert "hand.dealt" not in aborted


def test_the_match_is_verified(played):
    out = played[0] / "out"
    hands = sorted(out.glob("match-*.fair.json"), key=lambda path: int(path.name[6:-10]))
    assert [path.name for path in hands] == [f"match-{n + 1}.fair.json" for n in range(len(hands))]
    code, report = verified(hands[-1], "--key", out / "log.vkey")
    assert code == 0, report
    code, report = verified(hands[-1], "--key", out / "log.vkey", "--match", *hands[:-1])
    assert code == 0, report
    forged = change_the_score(hands[-1].read_bytes())
    hands[-1].with_name("forged").write_bytes(forged.content)
    code, report = verified(hands[-1].with_name("forged"), "--key", out / "log.vkey")
    hands[-1].with_name("forged").unlink()
    assert code == 1
    assert Verdict(report).failed == "play"


def test_a_seat_with_a_key_has_signed(played):
    out = played[0] / "out"
    _, report = verified(out / "mus.fair.json", "--key", out / "log.vkey")
    assert re.search(r"^  PASS  seat\.signature\.0 ", report, re.MULTILINE)
    assert re.search(r"^  N/A   seat\.signature\.1 ", report, re.MULTILINE)


def test_a_second_run_of_one_game_takes_old_files_away(played, tmp_path):
    old = played[0] / "out" / "mus.fair.json"
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mus.fair.json").write_bytes(old.read_bytes())
    (tmp_path / "out" / "my-own.txt").write_text("mine")
    code, out, _ = run(tmp_path, "--game", "azi", "--quiet")
    assert code == 0
    assert "trick" not in out
    assert "VERIFIED" in out
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        "azi.fair.json",
        *(f"azi.seat{seat}.notes.json" for seat in range(3)),
        "log.vkey",
        "my-own.txt",
    }


# --- its processes ------------------------------------------------------------------------------


def pids(out):
    """Of the service and the seats, as it has told them."""
    text = " ".join(out.split())
    service = re.search(r"\(process (\d+)\)", text)
    seats = re.search(r"process of its own \(([\d, ]+)\)", text)
    assert service
    assert seats
    return [int(service[1]), *map(int, seats[1].split(", "))]


def is_running(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_a_polite_kill_ends_all_of_it(tmp_path):
    with demo(tmp_path, PYTHONUNBUFFERED="1") as process:
        said = ""
        while "Kozel:" not in said:
            line = process.stdout.readline()
            assert line, process.stderr.read()
            said += line
        started = pids(said)
        assert all(map(is_running, started))  # the control
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=LIMIT)
    assert process.returncode == 130
    assert not any(map(is_running, started))
    assert list((tmp_path / "tmp").iterdir()) == []


def test_seats_end_when_the_demo_is_gone(tmp_path):
    with demo(tmp_path, PYTHONUNBUFFERED="1") as process:
        said = ""
        while "Kozel:" not in said:
            said += process.stdout.readline()
        service, *seats = pids(said)
        process.kill()
        process.communicate(timeout=LIMIT)
    try:
        until = time.monotonic() + 60
        while any(map(is_running, seats)) and time.monotonic() < until:
            time.sleep(0.05)
        assert not any(map(is_running, seats))
    finally:
        os.kill(service, signal.SIGTERM)  # nobody else can end it now


@pytest.mark.parametrize("evidence", [True, False])
def test_evidence_is_not_taken_away(monkeypatch, tmp_path, capsys, evidence):
    folders = []

    def failing(_plans, _screen, folder, _out):
        folders.append(folder)
        (folder / "seat1").mkdir()
        if evidence:
            (folder / "seat1" / "evidence.json").write_text("{}")
        raise RunError("The device of seat 1 stopped.")

    monkeypatch.setattr("fairdeal_api.demo._demo", failing)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    assert run_here([]) == 1
    (folder,) = folders
    assert folder.exists() == evidence
    assert (f"Kept: {folder}" in capsys.readouterr().out) == evidence


def test_what_cannot_start_is_told(tmp_path):
    (tmp_path / "out").write_text("a file where the folder should be")
    code, out, err = run(tmp_path, "--game", "azi")
    assert code == 1
    assert re.search(r"^The demo failed\. \S*out: File exists\.$", out, re.MULTILINE)
    assert "Traceback" not in out + err


# --- forgeries ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["kozel-whole", "mus-reshuffled", "azi-four_cards"])
@pytest.mark.parametrize(("rechain", "check"), [(False, "chain"), (True, "shuffle")])
def test_one_changed_card_is_named(tmp_path, name, rechain, check):
    content = (SEEDS / f"{name}.fair.json").read_bytes()
    assert verified(SEEDS / f"{name}.fair.json", "--key", SEEDS / "log.vkey")[0] == 0
    forged = change_a_card(content, rechain=rechain)
    file = tmp_path / "forged.fair.json"
    file.write_bytes(forged.content)
    code, report = verified(file, "--key", SEEDS / "log.vkey")
    assert code == 1
    verdict = Verdict(report)
    assert (verdict.words, verdict.failed) == ("FAILED", check)
    assert verdict.reason
    assert forged.before != forged.after
    assert forged.before[-1] == forged.after[-1]


def test_a_report_that_is_none():
    verdict = Verdict("")
    assert (verdict.words, verdict.failed, verdict.reason) == ("", "", "")


def test_the_verdict_is_read_in_a_place_of_another_language(monkeypatch):
    monkeypatch.setenv("LC_ALL", "ru_RU.UTF-8")
    file, key = SEEDS / "mus-reshuffled.fair.json", SEEDS / "log.vkey"
    assert verify(file, key).words == "VERIFIED"
    assert verify_match([SEEDS / f"mus-match_{n}.fair.json" for n in (1, 2)], key).words == (
        "VERIFIED"
    )
    code, report = verified(file, "--key", key)  # the control: unasked, it is Russian
    assert code == 0
    assert not report.startswith("VERIFIED")


# --- house rules --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def azi() -> Hand:
    table = LocalTable(Book(), "azi", seats=3, ruleset={"cards": 3})
    return table.deal()


@pytest.mark.parametrize(
    ("cards", "taker"),
    [
        (["7{o}", "9{o}", "8{o}"], 1),
        (["7{o}", "A{p}", "8{o}"], 2),
        (["A{o}", "6{t}", "8{o}"], 1),
        (["6{t}", "A{o}", "7{t}"], 2),
        (["6{o}", None, "A{p}"], 0),
    ],
)
def test_who_takes_a_trick(azi, cards, taker):
    trump = play.trump(azi)
    other, plain = [suit for suit in "DHS" if suit != trump]
    named = [card and Card(card.format(t=trump, o=other, p=plain)) for card in cards]
    assert play.taker(list(enumerate(named)), azi) == taker


@pytest.mark.parametrize("game", ["kozel", "mus", "azi", "svoi"])
def test_every_hand_comes_to_its_end(game):
    """The house rules never ask for what the protocol refuses."""
    for name in range(5):
        rules = {"azi": {"cards": 4}, "svoi": {"sixes": "exchange"}}.get(game, {})
        seats = 3 if game == "azi" else None
        table = LocalTable(Book(), game, name=f"{name}", seats=seats, ruleset=rules)
        table.deal()
        while not table.hand.is_final:
            due = play.due(table.hand, table.hand_events)
            if due is None:
                table.open_seeds()
            elif due.what == "draw":
                table.draw(due.taker)
            elif due.what == "close":
                table.close()
            else:
                act(table, due)
        assert not (game == "mus" and not table.hand.pools)


def act(table, due):
    seat = due.seats[0]
    layout, secrets = table.hand.playing, table.secrets
    held = set(secrets.holding(seat))
    cards = [
        HeldCard(
            place,
            secrets.card(place),
            "discarded" if place not in held else "shown" if place in layout.shown else "held",
        )
        for place in layout.received[seat]
    ]
    chosen = play.choose(due, table.hand, table.hand_events, cards)
    face_down = due.what == "play" and play.throws(table.hand, table.hand_events, cards, chosen)
    if due.what == "discard" or face_down:
        table.discard({seat: chosen})
    else:
        table.show(seat, chosen)


# --- the screen ---------------------------------------------------------------------------------


def told(monkeypatch, encoding="utf-8", **environment):
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    monkeypatch.setattr(sys, "stdout", stream)
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    screen = Screen()
    screen.title("A title")
    screen.tell("label", "words " * 40, screen.cards([Card("10H"), Card("6C")]))
    screen.table(["", "held", "empty"], [["seat 0", screen.card(Card("12o")), ""]])
    screen.copy("x" * 150)
    stream.flush()
    return stream.buffer.getvalue().decode(encoding)


def test_plain_lines_without_a_terminal(monkeypatch):
    text = told(monkeypatch)
    assert "\x1b" not in text
    assert "6♣ 10♥" in text
    assert "x" * 150 in text
    assert "empty" not in text
    assert all(line == line.rstrip() for line in text.splitlines())


def test_letters_where_there_are_no_symbols(monkeypatch):
    text = told(monkeypatch, encoding="ascii")
    assert "6C 10H" in text
    assert "12o" in text


def test_colours_when_they_are_wanted(monkeypatch):
    assert "\x1b[" in told(monkeypatch, FORCE_COLOR="1", TERM="xterm-256color")


def test_no_colour_is_obeyed(monkeypatch):
    text = told(monkeypatch, FORCE_COLOR="1", NO_COLOR="1", TERM="xterm-256color")
    assert not re.search(r"\x1b\[[\d;]*(?:38|48|3\d)[\d;]*m", text)
