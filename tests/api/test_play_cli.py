"""`fairdeal play`: whole games as a process, and what is typed and shown."""

from __future__ import annotations

import io
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from fairdeal.cards import Card
from fairdeal.codecs import Place
from fairdeal.events import parse_event
from fairdeal.games import game_named, rules_of
from fairdeal.games.base import Layout
from fairdeal.hand import Hand
from fairdeal_api.client import SeatClient, Standing
from fairdeal_api.players import View
from fairdeal_api.terminal import boards, results, rules
from fairdeal_api.terminal.boards import worth
from fairdeal_api.terminal.bots import Bot, Pace
from fairdeal_api.terminal.menu import Menu, menu_of
from fairdeal_api.terminal.person import Person
from fairdeal_api.terminal.processes import RunError
from fairdeal_api.terminal.screen import TableScreen
from fairdeal_api.terminal.seating import Company
from fairdeal_api.terminal.session import Session
from fairdeal_api.terminal.tale import TALES
from tests.api.test_process import new_key, serving

SEEDS = Path(__file__).resolve().parents[2] / "seeds"
GAMES = ["kozel", "mus", "azi", "svoi"]
LIMIT = 600
_HURRY = """
from fairdeal_api import cli
from fairdeal_api.client import api
api._LONGEST_PAUSE = 0.1
cli.main()
"""
HURRIED = ("-c", _HURRY)
"""The command that asks a service that is not there as often as ever, in less time."""
LONG = re.compile(r"^  saved|^  fairdeal\.|log\+|tbl_|http://|^The game cannot")
"""Lines that hold what must not be broken."""


def start(tmp_path, *arguments, program=("-m", "fairdeal_api"), **environment):
    temporary = tmp_path / "tmp"
    temporary.mkdir(exist_ok=True)
    command = [sys.executable, *program, "play", *arguments]
    return subprocess.Popen(
        [*command, "--save", str(tmp_path / "out")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        env={**os.environ, "TMPDIR": str(temporary), "PYTHONIOENCODING": "utf-8", **environment},
        cwd=tmp_path,
    )


def play(tmp_path, *arguments, typed="", **environment):
    """Play as people do; gives the exit code and what was said."""
    with start(tmp_path, *arguments, **environment) as process:
        out, err = process.communicate(typed, timeout=LIMIT)
    assert err == "", out + err
    assert "Traceback" not in out
    assert list((tmp_path / "tmp").iterdir()) == []  # nothing is left behind
    return process.returncode, out


def files(tmp_path):
    return sorted((tmp_path / "out").glob("*/hand-*.fair.json"))


def check_looks(out):
    assert "\x1b" not in out  # no colours and no cursor tricks outside a terminal
    for line in out.splitlines():
        assert len(line) <= 80 or LONG.search(line), line


# --- whole games --------------------------------------------------------------------------------


@pytest.mark.parametrize("game", GAMES)
def test_bots_play_two_hands_and_all_is_verified(tmp_path, game):
    code, out = play(tmp_path, game, "--auto", "--hands", "2")
    assert code == 0, out
    check_looks(out)
    assert re.search(r"^  hand-1\.fair\.json +VERIFIED  ", out, re.MULTILINE)
    assert re.search(r"^  hand-2\.fair\.json +VERIFIED  ", out, re.MULTILINE)
    assert re.search(r"^  all hands, as a match +VERIFIED  2 hands", out, re.MULTILINE)
    # Where a line ends depends on the cards.
    assert "proved to lie there" in " ".join(out.split())
    assert len(files(tmp_path)) == 2
    folder = files(tmp_path)[0].parent
    assert {path.name for path in folder.iterdir()} == {
        *(f"hand-{n}.{kind}.json" for n in (1, 2) for kind in ("fair", "notes")),
        "log.vkey",
    }


@pytest.mark.parametrize(
    ("game", "line"), [("kozel", "1"), ("mus", "2"), ("azi", "1"), ("svoi", "1")]
)
def test_a_person_plays_a_hand_by_numbers(tmp_path, game, line):
    """With the table drawn before each move, and the result in words."""
    code, out = play(tmp_path, game, "--hands", "1", typed=f"{line}\n" * 2000)
    assert code == 0, out
    check_looks(out)
    assert "You (? helps)" in out
    assert "Hand 1 is over" in out
    assert re.search(r"^  hand-1\.fair\.json +VERIFIED  with your notes", out, re.MULTILINE)
    for words in {
        "kozel": ("North (partner)", "trumps", "stock 20", "Tricks", "Defeat", "on the table"),
        "mus": ("North (partner)", "mano", "Grande", "points"),
        "azi": ("chips", "bank ", "trumps"),
        "svoi": ("your trumps", "Pile of", "all cards are known", "take"),
    }[game]:
        assert words in out, words


def test_six_seats_and_random_bots(tmp_path):
    code, out = play(tmp_path, "azi", "--seats", "6", "--auto", "--bots", "random")
    assert code == 0, out
    check_looks(out)
    for name in ("Southwest", "Northwest", "North", "Northeast", "Southeast"):
        assert name in out


def test_a_match_is_played_to_its_end(tmp_path):
    code, out = play(tmp_path, "kozel", "--match", "--auto", "--rule", "target=6")
    assert code == 0, out
    assert "have won the match." in out
    assert "are the goats" in out
    if len(files(tmp_path)) > 1:
        assert re.search(r"as a match +VERIFIED", out)


# --- leaving ------------------------------------------------------------------------------------


@pytest.mark.parametrize("typed", ["?\nlog\nnonsense\n9H 9H\nq\n", ""])
def test_who_leaves_has_a_file_all_the_same(tmp_path, typed):
    code, out = play(tmp_path, "kozel", "--rule", "target=6", typed=typed)
    assert code == 0, out
    check_looks(out)
    assert "It counts for nothing." in out
    assert "VERIFIED (aborted: operator" in out
    assert len(files(tmp_path)) == 1
    if "?" in typed:
        assert "PULL" in out
        assert "At this table it is otherwise: target=6." in out
        assert "hand.dealt" in out
    if "nonsense" in typed:
        assert "I do not understand “nonsense”" in out


def test_the_next_hand_is_asked_for(tmp_path):
    code, out = play(tmp_path, "azi", "--seats", "2", typed="1\n" * 12 + "q\nq\n")
    assert code == 0, out
    assert "Enter deals the next hand, q leaves" in out


def children(pid):
    found = subprocess.run(
        ["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True, check=False
    )
    return [int(word) for word in found.stdout.split()]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_stopped_it_ends_all_of_it(tmp_path, number):
    with start(tmp_path, "svoi", PYTHONUNBUFFERED="1") as process:
        said = ""
        while "Your trumps" not in said:
            line = process.stdout.readline()
            assert line, process.stderr.read()
            said += line
        service = children(process.pid)
        assert service  # the control
        process.send_signal(number)
        out, err = process.communicate(timeout=LIMIT)
    assert process.returncode == 0, out + err
    assert err == ""
    assert "VERIFIED (aborted: operator" in out
    for pid in service:
        assert not Path(f"/proc/{pid}").exists()
    assert list((tmp_path / "tmp").iterdir()) == []


# --- a given service ----------------------------------------------------------------------------


def test_at_a_service_that_runs(tmp_path):
    with serving(tmp_path / "data") as (_, client):
        key = tmp_path / "operator.key"
        key.write_text(new_key(tmp_path / "data") + "\n")
        url = str(client.base_url)
        code, out = play(tmp_path, "azi", "--auto", "--url", url, "--key", str(key))
        assert code == 0, out
        assert "This key came from the service itself." in out
        vkey = client.get("/v1/keys").json()["keys"][0]["vkey"]
        options = ("--url", url, "--key", str(key), "--log-key", vkey)
        code, out = play(tmp_path, "azi", "--auto", *options)
        assert code == 0, out
        assert "came from the service itself" not in out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["azi", "--seats", "7"], "Azi is played by 2 to 6 seats."),
        (["mus", "--seats", "2"], "Mus is played by 4 seats."),
        (["svoi", "--match"], "has no end"),
        (["mus", "--hands", "0"], "--hands is 1 or more."),
        (["mus", "--rule", "target"], "--rule takes NAME=VALUE"),
        (["mus", "--url", "http://127.0.0.1:1"], "--url needs --key"),
        (["mus", "--url", "127.0.0.1:1", "--key", "k"], "--url begins with http:// or https://."),
    ],
)
def test_what_cannot_be_is_said(tmp_path, arguments, words):
    code, out = play(tmp_path, *arguments)
    assert code == 2
    assert words in out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["mus", "--rule", "target=41"], "/ruleset/target"),
        (
            ["mus", "--url", "http://127.0.0.1:1", "--key", "fd_live_x"],
            "unreachable: Connection refused (GET ",
        ),
    ],
)
def test_what_the_service_refuses_is_said(tmp_path, arguments, words):
    code, out = play(tmp_path, *arguments, program=HURRIED)
    assert code == 1
    assert "The game cannot go on." in out
    assert words in out
    assert "service.started" not in out  # its log is for a service that has failed


def test_a_folder_that_cannot_be_made_is_said(tmp_path):
    """And it is no fault of the service, whose log has nothing to do with it."""
    (tmp_path / "out").write_text("a file where the folder should be")
    code, out = play(tmp_path, "azi", "--auto")
    assert code == 1
    assert re.search(r"^The game cannot go on\. \S*/out/\S+: Not a directory\.$", out, re.MULTILINE)
    assert "service.started" not in out


# --- what is typed ------------------------------------------------------------------------------


@pytest.fixture
def screen(monkeypatch):
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding="utf-8"))
    return TableScreen()


def card_move(kind, *names):
    return {
        "type": kind,
        "seat": 0,
        "cards": [[0, sum(map(ord, name))] for name in names],
        "names": list(names),
    }


def call(name, least=None, most=None):
    amounts = {} if least is None else {"least": least, "most": most}
    return {"type": "call", "seat": 0, "call": name, **amounts}


def kozel(screen):
    hand = ("9H", "10H", "AC", "6D")
    best = ["6H", "7H"]
    moves = [
        card_move("show", "9H", "10H"),
        *(card_move("discard", a, b) for a, b in [("9H", "10H"), ("9H", "AC"), ("AC", "6D")]),
    ]
    play = {"trump": "S", "best": best, "table": [{"seat": 3, "cards": best, "down": 0}]}
    return menu_of(screen, View("kozel", 0, tuple(map(Card, hand)), moves, play))


@pytest.mark.parametrize(
    ("line", "names", "kind"),
    [
        ("1", ["9H", "10H"], "show"),
        ("9H 10H", ["9H", "10H"], "show"),
        ("10h, 9h", ["9H", "10H"], "show"),
        ("9♥ 10♥", ["9H", "10H"], "show"),
        ("beat 9h 10h", ["9H", "10H"], "show"),
        ("throw 9H 10H", ["9H", "10H"], "discard"),
        ("discard 6d ac", ["AC", "6D"], "discard"),
    ],
)
def test_cards_are_read(screen, line, names, kind):
    action = kozel(screen).read(line)
    assert action == {key: card_move(kind, *names)[key] for key in ("type", "seat", "cards")}


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("0", "There are moves 1 to 4."),
        ("5", "There are moves 1 to 4."),
        ("9S 10H", "You do not hold 9♠."),
        ("9H 9H", "You have named a card twice."),
        ("9H", "In this trick everybody lays 2 cards."),
        ("AC 6D", "only the suit led or trumps beat. To throw it face down: throw AC 6D"),
        ("throw 99H", "These are no cards of this game."),
        ("raise 5", "“raise 5” is not possible now."),
        ("please", "I do not understand “please”"),
        ("1 2", "There is no amount with this."),
    ],
)
def test_what_cannot_be_done_gets_a_sentence(screen, line, words):
    answer = kozel(screen).read(line)
    assert isinstance(answer, str)
    assert words in answer


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("1", ["9H", "10H"]),
        ("9H 10H", ["9H", "10H"]),
        ("beat 9H 10H", ["9H", "10H"]),
        ("2", ["6D", "AC"]),
        ("throw AC 6D", ["6D", "AC"]),
        ("AC 6D", "only the suit led or trumps beat. To throw it: throw AC 6D"),
        ("beat AC 6D", "only the suit led or trumps beat. To throw it: throw AC 6D"),
        ("throw 9H 10H", "9♥ 10♥ beats: it cannot be thrown now."),
    ],
)
def test_open_discards_are_thrown_and_not_said_to_beat(screen, monkeypatch, line, found):
    """KOZ-11: both are cards shown, and the cards alone tell which it is."""
    best = ["6H", "7H"]
    play = {"trump": "S", "best": best, "table": [{"seat": 3, "cards": best, "down": 0}]}
    moves = [card_move("show", *names) for names in (("9H", "10H"), ("6D", "AC"))]
    menu = menu_of(
        screen, View("kozel", 0, tuple(map(Card, ("9H", "10H", "AC", "6D"))), moves, play)
    )
    labels = []
    monkeypatch.setattr(screen, "flow", lambda label, _: labels.append(label))
    menu.show()
    assert labels == ["Beat", "Throw"]
    answer = menu.read(line)
    if isinstance(found, str):
        assert found in answer
    else:
        assert answer == {k: card_move("show", *found)[k] for k in ("type", "seat", "cards")}


def test_who_must_beat_is_not_told_that_the_cards_do_not(screen):
    """KOZ-13."""
    best = ["6H"]
    play = {"trump": "S", "best": best, "table": [{"seat": 3, "cards": best, "down": 0}]}
    moves = [card_move("show", "9H")]
    menu = menu_of(screen, View("kozel", 0, (Card("9H"), Card("6D")), moves, play))
    assert menu.read("throw 9H") == "9♥ beats: it cannot be thrown now."
    assert menu.read("throw 6D").endswith("You can beat, so you must.")


def mus(screen, *moves):
    hand = tuple(map(Card, ("1o", "12c", "7e", "4b")))
    return menu_of(screen, View("mus", 0, hand, list(moves), {"best": []}))


@pytest.mark.parametrize(
    ("line", "name", "amount"),
    [
        ("1", "quiero", None),
        ("no quiero", "no_quiero", None),
        ("NO", "no_quiero", None),
        ("3", "raise", 2),
        ("3 7", "raise", 7),
        ("raise 5", "raise", 5),
        ("raise by 5", "raise", 5),
        ("ordago", "ordago", None),
        ("órdago", "ordago", None),
    ],
)
def test_calls_are_read(screen, line, name, amount):
    moves = [call("quiero"), call("no_quiero"), call("raise", 2, 38), call("ordago")]
    action = mus(screen, *moves).read(line)
    assert action["call"] == name
    assert action.get("amount") == amount


def test_amounts_and_cards_at_the_wrong_time(screen):
    menu = mus(screen, call("paso"), call("envido", 2, 40))
    assert menu.read("envido 41") == "The amount must be 2 to 40."
    assert menu.read("1 3") == "There is no amount with this."
    assert "No card is played now" in menu.read("7e")
    assert mus(screen, call("raise", 2, 2)).read("raise 3") == "The amount can only be 2."


def test_spanish_cards_are_read(screen):
    menu = mus(screen, card_move("discard", "7e", "4b"), card_move("discard", "1o"))
    assert menu.read("4B 7E")["cards"] == card_move("discard", "7e", "4b")["cards"]
    assert menu.read("throw 1o")["type"] == "discard"
    assert menu.read("12b") == "You do not hold 12 bastos."


def test_svoi_has_two_steps(screen):
    hand = tuple(map(Card, ("8C", "9C", "6D", "7H")))
    moves = [
        card_move("show", first, second)
        for first in ("8C", "9C")
        for second in hand
        if second != first
    ]
    take = call("take", 1, 1)
    play = {"pile": ["7C"], "trumps": {"0": "H", "1": "S"}}
    menu = menu_of(screen, View("svoi", 0, hand, [*moves, take], play))
    second = menu.read("2")
    assert isinstance(second, Menu)
    assert second.read("3")["cards"] == card_move("show", "9C", "7H")["cards"]
    assert isinstance(menu.read("9C"), Menu)
    assert menu.read("8c 7h")["cards"] == card_move("show", "8C", "7H")["cards"]
    assert menu.read("take") == {"type": "call", "seat": 0, "call": "take", "amount": 1}
    assert menu.read("6D 7H") == "6♦ does not beat the top of the pile."


# --- what is shown ------------------------------------------------------------------------------


def printed(monkeypatch, show, encoding="utf-8", columns="80"):
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    monkeypatch.setattr(sys, "stdout", stream)
    monkeypatch.setenv("COLUMNS", columns)
    show(TableScreen())
    stream.flush()
    return stream.buffer.getvalue().decode(encoding)


def test_cards_are_drawn(monkeypatch):
    french = printed(monkeypatch, lambda screen: screen.hand(map(Card, ("10H", "AC"))))
    assert "│ 10  │" in french
    assert "♥ │" in french
    assert "AC" in french
    spanish = printed(monkeypatch, lambda screen: screen.hand(map(Card, ("12o", "1b"))))
    for words in ("12 rey", "oros", "1 as", "bastos", "12o", "1b"):
        assert words in spanish, words


def typed_by(monkeypatch, line):
    monkeypatch.setattr("builtins.input", lambda: line)


@pytest.mark.parametrize("columns", [40, 80])
@pytest.mark.parametrize("game", GAMES)
def test_a_narrow_window_breaks_between_words(monkeypatch, game, columns):
    """Cards, map, rules, heads and prompts; in a wide one nothing is as if it were narrow."""
    cards = ("10o", "11b", "12e", "1c") if game == "mus" else ("10H", "AC", "6D", "QS")
    company = Company(game, 2 if game == "svoi" else 4)

    def show(screen):
        screen.hand(map(Card, cards))
        screen.page(rules.page(game, {}))
        screen.head("Svoi Kozyri, hand 12", "trumps ♣ clubs (K♣), stock 20")
        for line in company.plan(screen.width - 2):
            screen.whole(line)
        assert screen.ask("Name them, before any card can be known") == "1"

    typed_by(monkeypatch, "1")
    text = printed(monkeypatch, show, columns=str(columns))
    assert max(map(len, text.splitlines())) <= columns
    spoken = rules.page(game, {}).split()
    assert [word for word in text.split() if word in spoken].count(spoken[0]) >= 1
    assert set(spoken) <= set(text.split())  # no word is broken
    assert text.count("╭") == len(cards)
    assert sum("╭" in line for line in text.splitlines()) == (
        1 if columns == 80 or game != "mus" else 2
    )


def test_a_table_that_is_too_wide_has_its_last_column_below(monkeypatch):
    """Control: with one column more it has room."""
    rows = [["East", "2 cards", "7♣ K♠", "beat, best so far"], ["> You", "4 cards", "", ""]]
    narrow, wide = (
        printed(
            monkeypatch,
            lambda screen: screen.table(["", "holds", "on the table", ""], rows),
            columns=columns,
        ).splitlines()
        for columns in ("48", "49")
    )
    assert wide[1] == "  East   2 cards  7♣ K♠         beat, best so far"
    assert narrow[1:3] == ["  East   2 cards  7♣ K♠", "         beat, best so far"]
    assert narrow[0] == wide[0]
    assert narrow[3:] == wide[2:] == ["  > You  4 cards"]


def test_the_table_tells_beats_from_open_throws(monkeypatch):
    """KOZ-12: only the best cards count, whoever laid them."""
    laid = [(1, ["7H"]), (2, ["9C"]), (3, ["9H"]), (0, ["8H"])]
    trick = {
        "trump": "S",
        "leader": 1,
        "opener": 1,
        "pulled": False,
        "taker": 3,
        "best": ["9H"],
        "table": [{"seat": seat, "cards": cards, "down": 0} for seat, cards in laid],
        "tricks": [0, 0],
    }
    hand = SimpleNamespace(
        number=1,
        dealt=None,
        match={"defeat": [0, 0]},
        playing=SimpleNamespace(stock=(), count=lambda _: 3),
        table=SimpleNamespace(ruleset={"target": 12}),
    )
    company = Company("kozel", 4)
    now = boards.Situation(hand, trick, (), (), {})
    text = printed(monkeypatch, lambda screen: boards.draw(screen, company, now))
    for name, note in (
        ("West", "7♥ +led"),
        ("North", "9♣ +threw"),
        ("East", "9♥ +beat, best so far"),
        ("You", "8♥ +threw"),
    ):
        assert re.search(rf"{name} .*{note}$", text, re.MULTILINE), text
    trick["table"][1] = {"seat": 2, "cards": [], "down": 1}  # and one that lies face down
    text = printed(monkeypatch, lambda screen: boards.draw(screen, company, now))
    assert re.search(r"North .*▒▒ +threw$", text, re.MULTILINE), text


def test_what_a_terminal_sends_is_not_sent_back(monkeypatch, screen):
    typed_by(monkeypatch, "\x1b[A9H\t\x00 10H\x9b2J" + "a" * 5000)
    line = screen.ask("You")
    assert line.isprintable()
    assert line.startswith("[A9H   10H")
    assert len(line) <= 200


def test_what_is_no_utf_8_is_not_understood(tmp_path):
    """As typed in a terminal that has another encoding than it says."""
    with start(tmp_path, "azi", PYTHONIOENCODING="utf-8:strict") as process:
        process.stdin.buffer.write(b"caf\xe9\nq\n")
        out, err = process.communicate(timeout=LIMIT)
    assert process.returncode == 0, out + err
    assert err == ""
    assert "I do not understand “caf�”" in out


def test_an_old_terminal_gets_letters(monkeypatch):
    text = printed(
        monkeypatch, lambda screen: screen.hand(map(Card, ("10H", "AC")), trump="C"), "ascii"
    )
    assert "10H" in text
    assert "AC  trumps" in text


def refereed_ruleset(game, **chosen):
    kind = game_named(game)
    return kind.ruleset(chosen, play=rules_of(kind).options)


@pytest.mark.parametrize(
    ("game", "chosen", "said"),
    [
        ("mus", {"kings": 4, "ordago": False}, "kings=4, ordago=false."),
        ("svoi", {"pick_up": "strict", "repetition": 3}, "pick_up=strict, repetition=3."),
        ("azi", {"ante": 20}, "ante=20."),
        ("kozel", {"discards": "open"}, "discards=open."),
    ],
)
def test_the_rules_say_what_is_otherwise_at_this_table(game, chosen, said):
    """The page tells the usual rules, and those are not what is played then."""
    text = rules.page(game, refereed_ruleset(game, **chosen))
    assert f"At this table it is otherwise: {said}\n" in text


@pytest.mark.parametrize("game", GAMES)
def test_the_rules_fit_a_page(monkeypatch, game):
    usual = refereed_ruleset(game)
    text = printed(monkeypatch, lambda screen: screen.page(rules.page(game, usual)))
    assert len(text.splitlines()) <= 23
    assert max(map(len, text.splitlines())) <= 80
    assert "otherwise" not in text


@pytest.mark.parametrize(
    ("cards", "words"),
    [
        ("12o 12c 3e 1b", "three alike (medias) of rey; juego 31; tres counts as rey"),
        ("4o 5c 6e 7b", "no pares; no juego, 22 for punto"),
        ("7o 7c 2e 1b", "two pairs (duples); no juego, 16 for punto; dos counts as as"),
    ],
)
def test_what_a_hand_of_mus_is_worth(cards, words):
    assert words in worth([Card(card) for card in cards.split()], 8)


@pytest.mark.parametrize(
    ("game", "seats", "names"),
    [
        ("kozel", 4, ["West", "North", "East"]),
        ("mus", 4, ["East", "North", "West"]),
        ("svoi", 2, ["North"]),
        ("azi", 3, ["West", "East"]),
    ],
)
def test_who_sits_where(game, seats, names):
    company = Company(game, seats)
    assert [company.name(seat) for seat in range(1, seats)] == names
    assert company.does(0, "have") == "You have"
    assert company.does(1, "beat it with") == f"{names[0]} beats it with"
    assert "You" in company.plan()[-2]


def test_results_in_a_line():
    match = {"defeat": [0, 2]}
    text = results.brief("kozel", {"score": {"points": [71, 49]}, "match": match})
    assert text == "card points  71 : 49   defeat points 0 : 2"


# --- the pace -----------------------------------------------------------------------------------


def test_bots_wait_for_the_person():
    pace, moved = Pace(), threading.Event()

    def bot():
        pace.wait(5, at_leisure=True)
        moved.set()

    thread = threading.Thread(target=bot)
    thread.start()
    pace.seen(4)
    time.sleep(0.05)
    assert not moved.is_set()
    pace.seen(5)
    thread.join(5)
    assert moved.is_set()
    pace.stop()
    pace.wait(99, at_leisure=True)  # nobody waits any more


def test_a_bot_that_is_slow_accuses_nobody():
    bot = Bot.__new__(Bot)
    threading.Thread.__init__(bot)
    bot.fault, bot._ended, bot._changed = None, 1, threading.Condition()
    with pytest.raises(RunError, match="has not seen the end of hand 2"):
        bot.wait_for_end(2, seconds=0.01)
    bot.wait_for_end(1, seconds=0.01)  # the control


def test_a_bot_looks_again_when_its_new_cards_bring_its_turn(monkeypatch):
    """Control: who gets them and is not on turn waits for the next event."""
    turns, proved = [(1,), (0,)], []

    class Seat(SimpleNamespace):
        unproved = property(lambda _: not proved)

    client = Seat(
        seat=0,
        hand=SimpleNamespace(number=1),
        standing=lambda: Standing(turns[0], {}),
        cards=lambda: proved.append(turns.pop(0)),
    )
    monkeypatch.setattr("fairdeal_api.terminal.bots.might_pull", lambda _: False)
    bot = Bot.__new__(Bot)
    bot.client = client
    assert bot._move()
    assert proved == [(1,)]
    turns[0] = (1,)
    assert not bot._move()


@pytest.mark.parametrize(
    ("changes", "unproved"),
    [
        ({}, ()),
        ({"looked": frozenset({0})}, (Place(0, 3),)),
        ({"looked": frozenset({0}), "out": frozenset({0})}, ()),
        ({"refereed": False}, (Place(0, 3),)),
    ],
)
def test_a_seat_does_not_ask_for_cards_that_it_may_not_see(changes, unproved):
    """AZI-3, AZI-5: who is blind or sits out would ask again and again while others think."""
    layout = Layout(1, 0, ((Place(0, 0), Place(0, 3)), ()), (), (0, 0), refereed=True)
    table = SimpleNamespace(ruleset={"blind": True})
    hand = SimpleNamespace(layout=replace(layout, **changes), table=table)
    client = SeatClient.__new__(SeatClient)
    client.memory = SimpleNamespace(seat=0)
    client.checks = SimpleNamespace(chain=SimpleNamespace(hand=hand), proved={Place(0, 0): None})
    assert client.unproved == unproved


# --- what is told -------------------------------------------------------------------------------

TOLD = sorted(
    path.name
    for path in SEEDS.glob("*.fair.json")
    if not path.name.endswith(("_fail.fair.json", "_lie.fair.json"))
    and b'\\"referee\\":true' in path.read_bytes()
)


def told(monkeypatch, name):
    """The tale and the result of a hand in `seeds`; gives the text and the hand."""
    opened, *events = [
        parse_event(raw.encode()) for raw in json.loads((SEEDS / name).read_bytes())["events"]
    ]
    hand = Hand.open(opened, opened.digest, events[0])
    ended = hand
    for event in events[1:]:
        ended = ended.apply(event)
    company = Company(opened.game, opened.seats)

    def tell(screen):
        tale = TALES[company.game](screen, company, hand)
        for event in events[1:]:
            tale.tell(event, {})
        results.tell(screen, company, ended)
        if ended.result is not None:
            screen.line(results.brief(company.game, ended.result))
            screen.line(results.winners(company, ended.result))

    return printed(monkeypatch, tell), ended


@pytest.mark.parametrize("name", TOLD)
def test_every_hand_can_be_told(monkeypatch, name):
    """And who takes the tricks is who the score says."""
    text, hand = told(monkeypatch, name)
    check_looks(text)
    if not hand.is_final:
        return  # a file that was made while the hand went on
    if hand.reason is not None:
        assert "It counts for nothing." in text
        return
    score = hand.result["score"]
    company = Company(hand.table.game, hand.table.seats)
    takers = re.findall(r"^  (\w+) +takes? the trick\.$", text, re.MULTILINE)
    if company.game == "azi":
        assert takers == [company.name(seat) for seat in score["tricks"]]
    if company.game == "kozel":
        ours = sum(name in ("You", "North") for name in takers)
        assert [ours, len(takers) - ours] == list(score["tricks"])
        drew_first = re.findall(r"Everybody draws .*, (\w+) first", text)
        assert drew_first == [name.replace("You", "you") for name in takers[: len(drew_first)]]
        assert takers[-1] == company.name(hand.result["match"]["leader"])
    assert ("A pull" in text) == (name == "kozel-played_pull.fair.json")


def test_a_pull_off_turn_is_offered_once(screen, monkeypatch):
    typed = ["what", "", "y"]
    monkeypatch.setattr("builtins.input", lambda: typed.pop(0))
    monkeypatch.setattr(boards, "draw", lambda *_: None)
    company = Company("kozel", 4)
    move = card_move("pull", "6H", "7H", "8H", "9H")
    play = {"tricks": [1, 0], "table": [{"seat": 3}], "pulled": False}
    view = View("kozel", 0, tuple(map(Card, move["names"])), [move], play)
    standing = Standing((), play)
    session = Session.__new__(Session)
    session._person, session._standing = Person(screen, company, None), standing
    session._player, session._refused, session._told = None, None, 7
    session._client = SimpleNamespace(checks=SimpleNamespace(chain=SimpleNamespace(seq=7)))
    monkeypatch.setattr(Session, "_situation", lambda *_: None)
    monkeypatch.setattr("fairdeal_api.terminal.session.might_pull", lambda _: True)
    monkeypatch.setattr("fairdeal_api.terminal.session.look_around", lambda _: (view, standing))
    made = []
    monkeypatch.setattr(Session, "_act", lambda _, action: made.append(action))
    session._move()
    session._move()  # not asked again before the next trick
    assert (made, typed) == ([], ["y"])
    play["tricks"] = [1, 1]
    session._move()
    assert made == [{key: move[key] for key in ("type", "seat", "cards")}]


def test_a_pull_let_go_by_is_offered_again_when_another_seat_pulls(monkeypatch):
    """KOZ-14: until the first answer the right is the nearer seat's."""
    session = Session.__new__(Session)
    session._client, session._player = None, None
    monkeypatch.setattr("fairdeal_api.terminal.session.might_pull", lambda _: True)
    play = {"tricks": [1, 0], "table": [{"seat": 3}], "pulled": False}
    session._standing, session._refused = Standing((), play), session._here(play)
    assert not session._may_offer_pull()
    play["pulled"] = True
    assert session._may_offer_pull()
