"""What all games share: options, who is dealt which positions, who is first. Spec: GAME-1..4."""

import re
from itertools import product
from pathlib import Path

import pytest

from fairdeal.cards import french_deck, spanish_deck
from fairdeal.errors import FormatError, StateError
from fairdeal.games import GAMES, game_named
from seeds.local import Book, LocalTable
from tests.core import naive
from tests.core.stages import key_of

PAGE = (Path(__file__).parents[2] / "docs" / "spec" / "games.md").read_text("utf-8")
SECTIONS = {"kozel": "Kozel", "mus": "Mus", "azi": "Azi", "svoi": "Svoi Kozyri"}
every_game = pytest.mark.parametrize("name", GAMES)


def options_of_the_specification(name: str) -> dict[str, tuple]:
    """Option -> values, the default first, from the table in the game's section."""
    section = re.search(rf"^## {SECTIONS[name]}$(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL)
    found = {}
    for option, text in re.findall(r"^\| `(\w+)` \| (.*) \|$", section[1], re.MULTILINE):
        values = [value.strip(" `") for value in text.split(",")]
        words = {"true": True, "false": False}
        found[option] = tuple(words.get(v, int(v) if v.isdigit() else v) for v in values)
    return found


@every_game
def test_options_are_those_of_the_specification(name):
    options = options_of_the_specification(name)
    assert options == dict(GAMES[name].options)
    for option, values in options.items():
        assert [type(value) for value in values] == [type(v) for v in GAMES[name].options[option]]


@every_game
def test_a_ruleset_is_every_option_with_one_of_its_values(name, refused):
    """GAME-3."""
    game = GAMES[name]
    default = game.ruleset({})
    assert default == {option: values[0] for option, values in game.options.items()}
    for option, values in game.options.items():
        for value in values:
            assert game.ruleset({option: value}) == default | {option: value}
        for value in ("other", "", None, 2**60, [], *map(str, values), 1, 0, True, False):
            if not any(value == v and type(value) is type(v) for v in values):
                with refused("option_value", kind=FormatError):
                    game.ruleset({option: value})
        with refused("option_unknown", kind=FormatError):
            game.check_ruleset({key: default[key] for key in default if key != option})
    with refused("option_unknown", kind=FormatError):
        game.ruleset({"other": 1})
    with refused("option_unknown", kind=FormatError):
        game.check_ruleset(default | {"other": 1})


def test_the_table_of_the_games():
    """The rows deck, seats, cards each, can reshuffle of games.md."""
    rows = {
        "kozel": (french_deck(), {4}, {4}, False),
        "mus": (spanish_deck(), {4}, {4}, True),
        "azi": (french_deck("DHS"), {2, 3, 4, 5, 6}, {3, 4}, False),
        "svoi": (french_deck(), {2}, {18}, False),
    }
    for name, (deck, seats, each, reshuffles) in rows.items():
        game = GAMES[name]
        rulesets = [
            dict(zip(game.options, v, strict=True)) for v in product(*game.options.values())
        ]
        assert game.deck(game.ruleset({})) == deck
        assert {len(game.deck(rules)) for rules in rulesets} == {len(deck)}
        assert {*game.seats} == seats
        assert {game.cards_each(rules) for rules in rulesets} == each
        assert game.can_reshuffle is reshuffles


def test_other_names_are_no_game(refused):
    assert {name: game_named(name) for name in GAMES} == GAMES
    for name in ("", "Mus", "mus ", "bridge"):
        with refused("game_unknown", kind=FormatError):
            game_named(name)


DEALS = [
    (name, seats, first, each)
    for name, game in GAMES.items()
    for seats in game.seats
    for first in range(seats)
    for each in ((3, 4) if name == "azi" else (None,))
]


@pytest.mark.parametrize(("name", "seats", "first", "each"), DEALS)
def test_cards_go_round_one_at_a_time(name, seats, first, each):
    """GAME-1: seat (first + i) mod n gets position n*j + i in round j."""
    game = GAMES[name]
    rules = game.ruleset({} if each is None else {"cards": each})
    layout = game.deal(rules, seats, first, 1, None)
    dealt = [[] for _ in range(seats)]
    position = 0
    for _ in range(game.cards_each(rules)):
        for i in range(seats):
            dealt[(first + i) % seats].append((0, position))
            position += 1
    assert [list(row) for row in layout.received] == dealt
    assert list(layout.stock) == [(0, p) for p in range(position, len(game.deck(rules)))]


@every_game
def test_the_first_seat_is_drawn_or_given(name):
    """GAME-2: what is dealt is the draw of K_0, or what was given; every seat comes up."""
    drawn = set()
    for n in range(12):
        table = LocalTable(Book(), name, name=f"f{n}")
        table.deal()
        seats = table.table.terms_event.seats
        first = naive.pick(key_of(table), "first", seats)
        drawn.add(first)
        assert table.hand.dealt.first == first
        positions = {
            seat: [p.position for p in row] for seat, row in enumerate(table.hand.layout.received)
        }
        assert positions[first][0] == 0
        table.close()
        given = (first + 1) % seats
        table.deal(given)
        assert table.hand.dealt.first == given
    assert drawn == set(range(seats))


@every_game
def test_cards_are_those_of_the_seeds(name):
    """KEY-1, SHUF-2, DECK-2 through a whole table: the root logged is the root computed."""
    table = LocalTable(Book(), name)
    table.deal()
    deck = table.table.game.deck(table.hand.table.ruleset)
    assert list(table.secrets.decks[0].order) == naive.order(deck, key_of(table))
    assert table.hand.dealt.deck_root == naive.mth(naive.leaves(deck, key_of(table)))


@every_game
def test_what_a_game_has_not_is_refused(name, refused):
    """HAND-9: draws, discards, returns and looks exist where the game has them."""
    game = GAMES[name]
    rules = game.ruleset({})
    layout = game.deal(rules, game.seats[0], 0, 1, None)
    has = {
        "kozel": {"draw", "discard", "give_back"},
        "mus": {"discard", "pool"},
        "azi": set(),
        "svoi": {"check_trumps"},
    }[name]
    calls = {
        "draw": (rules, layout, 0),
        "discard": (rules, layout, {0: 1}),
        "give_back": (rules, layout),
        "look": (rules, layout, 0),
        "pool": (rules, layout),
        "check_trumps": (rules, {0: "H", 1: "S"}),
    }
    for method, arguments in calls.items():
        if method not in has:
            with refused("action_not_allowed", kind=StateError):
                getattr(game, method)(*arguments)
