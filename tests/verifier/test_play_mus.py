"""The play of Mus, each requirement legal and illegal."""

import itertools
import json
import random
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairdeal_verifier.play import mus_hands as M  # noqa: N812
from fairdeal_verifier.play.base import Deal
from fairdeal_verifier.play.mus import MusPlay
from fairdeal_verifier.verify import verify
from tests.verifier import builder as B  # noqa: N812

RANKS = ("1", "2", "3", "4", "5", "6", "7", "10", "11", "12")
DECK = [rank + suit for suit in "oceb" for rank in RANKS]
RULES = {
    "first_mano": "random",
    "min_discard": 1,
    "mus_corrido": False,
    "reshuffle": "all",
    "service": "block",
    "games": 1,
    "kings": 8,
    "ordago": True,
    "punto": "plus_one",
    "raises": "free",
    "real31": False,
    "target": 40,
}
FRESH = {"games": [0, 0], "score": [0, 0]}

# All four have pares, seats 1 and 2 have juego.
ALL_PARES = ["12o 3c 7e 1b", "11o 11c 10e 10b", "12c 12e 3b 1o", "7o 7c 7b 4e"]
# Nobody has pares or juego. Sums: 27, 28, 22, 22.
PUNTO = ["12o 6o 7o 4o", "11o 7c 6c 5c", "10o 6e 5e 1b", "12c 7e 4c 1e"]


def deal(hands=ALL_PARES, first=0, hand=2):
    return Deal(hand, 4, first, [one.split() for one in hands], 24, None, {})


def play(hands=ALL_PARES, first=0, hand=2, score=(0, 0), games=(0, 0), rules=None, **options):
    match = {"games": list(games), "score": list(score)}
    rules = RULES | (rules or {}) | options
    assert MusPlay.match_fault(rules, 4, match) == ""
    return MusPlay(rules, match, deal(hands, first, hand))


def cut(*args, **options):
    """A hand in which mano cuts at once."""
    p = play(*args, **options)
    call(p, "no_mus")
    return p


def on_turn(p):
    (seat,) = p.turn
    return seat


def call(p, *calls):
    """Whoever is on turn calls these; `envido 5` names an amount."""
    for one in calls:
        name, _, amount = one.partition(" ")
        assert p.due == ""
        assert p.called(on_turn(p), name, int(amount) if amount else None) == ""


def refused(p, requirement, name, amount=None, seat=None):
    fault = p.called(on_turn(p) if seat is None else seat, name, amount)
    assert fault.endswith(f"({requirement})"), fault


def all_pass(p, count=4):
    call(p, *["paso"] * count)


def declare(p, what, *seats):
    assert p.due == "play.declared"
    assert p.turn == frozenset()
    assert p.declared(what, list(seats)) == ""


def held(p):
    return [(seat, card) for seat in range(4) for card in p._hands[seat]]


def show(p):
    assert p.due == "cards.shown"
    assert p.turn == frozenset()
    assert p.shown(held(p)) == ""
    assert p.due == "hand.closed"
    return p.result()


def entry(end, seat, team, stake, bonus):
    return {"bonus": bonus, "end": end, "seat": seat, "stake": stake, "team": team}


# What hands are worth.

DUPLES, MEDIAS, PAR = 3, 2, 1


def every_hand(kings):
    for hand in itertools.combinations(DECK, 4):
        yield M.ranks_of(list(hand), kings)


@pytest.mark.parametrize(
    ("kings", "figures", "sums"),
    [
        (
            8,
            [39680, 43776, 4448, 3486],
            {31: 8384, 32: 2640, 40: 1820, 37: 2240, 36: 2240, 35: 2240, 34: 2960, 33: 1920},
        ),
        (
            4,
            [53760, 34560, 1440, 1630],
            {31: 3040, 32: 2332, 40: 495, 37: 880, 36: 880, 35: 880, 34: 1276, 33: 1936},
        ),
    ],
)
def test_how_often_each_figure_comes(kings, figures, sums):
    found, juegos, all_sums = Counter(), Counter(), Counter()
    for ranks in every_hand(kings):
        found[M.pares(ranks)[0]] += 1
        all_sums[M.punto(ranks)] += 1
        if M.juego(ranks, real31=False):
            juegos[M.punto(ranks)] += 1
    assert [found[n] for n in range(4)] == figures
    assert sum(figures) == 91390
    assert juegos == sums
    assert sum(sums.values()) == {8: 24444, 4: 11719}[kings]
    assert max(all_sums) == 40
    assert all_sums[38] == all_sums[39] == 0


def ranks(text, kings=8):
    names = {"K": "12", "C": "11", "S": "10"}
    return M.ranks_of([names.get(one, one) + "o" for one in text.split()], kings)


@pytest.mark.parametrize(
    ("strength", "a", "b", "better"),
    [
        (M.grande, "K K 7 1", "K C C C", "a"),
        (M.grande, "3 K 7 1", "K K 7 1", "="),
        (M.grande, "3 3 2 2", "K 3 4 1", "b"),
        (M.chica, "7 1 1 1", "6 5 4 1", "a"),  # and not grande turned round
        (M.chica, "K 1 1 1", "4 1 1 1", "b"),
        (M.chica, "2 1 4 5", "1 1 4 5", "="),
        (M.chica, "2 2 2 K", "1 1 4 4", "a"),
        (M.pares, "K K 7 1", "C C S S", "b"),
        (M.pares, "7 7 7 1", "K K C 1", "a"),
        (M.pares, "K K 1 1", "C C S S", "a"),
        (M.pares, "K K K K", "K K C C", "a"),
        (M.pares, "C C C C", "K K 4 4", "b"),
        (M.pares, "5 5 K 1", "5 5 C 1", "="),
        (M.pares, "3 3 K 1", "7 7 7 4", "a"),
        (M.pares, "1 1 2 2", "K 3 K 4", "a"),
        (M.pares, "K K 5 5", "K K 4 4", "a"),
        (M.pares, "K C S 7", "4 4 5 6", "b"),
        (lambda r: M.juego(r, real31=False), "K C 7 4", "K K K S", "a"),
        (lambda r: M.juego(r, real31=False), "K K 7 5", "K K K S", "a"),
        (lambda r: M.juego(r, real31=False), "K K K 7", "K K 7 6", "a"),
        (lambda r: M.juego(r, real31=False), "7 7 7 S", "K C 7 4", "="),
        (lambda r: M.juego(r, real31=True), "7 7 7 S", "K C 7 4", "a"),
        (lambda r: M.juego(r, real31=True), "7 7 7 3", "K C 7 4", "="),
        (lambda r: M.juego(r, real31=True), "7 7 7 C", "K C 7 4", "="),
        (M.punto, "K K 5 5", "K 7 7 6", "="),
        (M.punto, "K K 5 5", "K 7 6 6", "a"),
    ],
)
def test_which_hand_is_better(strength, a, b, better):
    x, y = strength(ranks(a)), strength(ranks(b))
    assert ("a" if x > y else "b" if y > x else "=") == better


@pytest.mark.parametrize(
    ("hand", "eight", "four"),
    [
        ("7 7 7 S", 31, 31),
        ("K K 3 1", 31, 24),
        ("K C 6 5", 31, 31),
        ("3 C 6 6", 32, 25),
        ("K K 3 3", 40, 26),
        ("K K 3 7", 37, 30),
        ("K S 7 7", 34, 34),
        ("7 7 7 7", 28, 28),
        ("K K 5 5", 30, 30),
        ("K K 7 2", 28, 29),
    ],
)
def test_the_sum_of_a_hand(hand, eight, four):
    assert M.punto(ranks(hand, 8)) == eight
    assert M.punto(ranks(hand, 4)) == four


def test_with_four_kings_a_three_is_a_three():
    assert M.grande(ranks("3 K 7 1", 4)) < M.grande(ranks("K K 7 1", 4))
    assert M.chica(ranks("1 1 4 5", 4)) > M.chica(ranks("2 1 4 5", 4))
    assert M.pares(ranks("1 1 2 2", 4)) == (3, 2, 1)
    assert M.pares(ranks("3 3 K K", 4)) == (3, 12, 3)


def test_juegos_from_the_best_to_the_worst():
    hands = ["K C 7 4", "K K 7 5", "K K K S", "K K K 7", "K K K 6", "K K K 5", "K K K 4", "K K 7 6"]
    values = [M.juego(ranks(one), real31=False) for one in hands]
    assert values == sorted(values, reverse=True)
    assert len(set(values)) == 8
    assert min(values) > 0 == M.juego(ranks("K K 5 5"), real31=False)


# The match.


def test_a_fresh_match():
    assert MusPlay.fresh(RULES, 4) == FRESH
    assert MusPlay.match_fault(RULES, 4, FRESH) == ""
    assert MusPlay.sits_out(FRESH) == frozenset()


def test_the_options_of_play():
    assert MusPlay.options == {
        "games": (1, 3, 5),
        "kings": (8, 4),
        "ordago": (True, False),
        "punto": ("plus_one", "literal"),
        "raises": ("free", "fixed2"),
        "real31": (False, True),
        "target": (40, 30),
    }
    assert [values[0] for values in MusPlay.options.values()] == list(RULES.values())[5:]
    # A round's discards may come in one event.
    assert MusPlay.throws_together


@pytest.mark.parametrize(
    ("match", "rules", "is_one"),
    [
        ({"games": [0, 0], "score": [39, 39]}, {}, True),
        ({"games": [0, 0], "score": [40, 0]}, {}, False),
        ({"games": [0, 0], "score": [29, 0]}, {"target": 30}, True),
        ({"games": [0, 0], "score": [0, 30]}, {"target": 30}, False),
        ({"games": [1, 0], "score": [0, 0]}, {}, False),
        ({"games": [1, 1], "score": [0, 0]}, {"games": 3}, True),
        ({"games": [0, 2], "score": [0, 0]}, {"games": 3}, False),
        ({"games": [2, 2], "score": [1, 0]}, {"games": 5}, True),
        ({"games": [3, 0], "score": [0, 0]}, {"games": 5}, False),
        ({"games": [0, -1], "score": [0, 0]}, {"games": 5}, False),
        ({"games": [0, True], "score": [0, 0]}, {"games": 5}, False),
        ({"games": [0, 0.0], "score": [0, 0]}, {"games": 5}, False),
        ({"games": [0, 0], "score": [0]}, {}, False),
        ({"games": [0, 0], "score": "00"}, {}, False),
        ({"games": None, "score": [0, 0]}, {}, False),
        ({"games": [0, 0]}, {}, False),
        ({"games": [0, 0], "score": [0, 0], "x": 1}, {}, False),
        ({}, {}, False),
    ],
)
def test_which_matches_there_can_be(match, rules, is_one):
    fault = MusPlay.match_fault(RULES | rules, 4, match)
    assert (fault == "") == is_one
    assert is_one or fault.endswith(("(PLAY-2)", "(MUS-25)"))


# The talk and the discards.


def test_the_talk_goes_round_from_mano_until_someone_cuts():
    p = play(first=2)
    for seat in (2, 3, 0):
        refused(p, "MUS-11", "mus", seat=(seat + 1) % 4)
        assert p.turn == {seat}
        call(p, "mus")
    refused(p, "MUS-11", "paso")
    refused(p, "MUS-11", "mus", 2)
    refused(p, "MUS-11", "mus", 0)
    assert p.thrown(1, ["11o"]).endswith("(MUS-13)")
    call(p, "no_mus")
    assert p.turn == {2}  # grande
    assert p.thrown(2, ["12c"]).endswith("(MUS-13)")


def test_discards_and_their_service():
    p = play(first=3)
    call(p, *["mus"] * 4)
    assert p.due == ""
    assert p.turn == {3}
    refused(p, "MUS-13", "mus")
    assert p.thrown(0, ["12o"]).endswith("(MUS-13)")
    assert p.thrown(3, []).endswith("(MUS-13)")
    assert p.thrown(3, ["7o", "7o"]).endswith("(MUS-13)")
    assert p.thrown(3, ["7o", "12o"]).endswith("(MUS-13)")
    assert p.thrown(3, ["7o", "7c", "7b", "4e", "1c"]).endswith("(MUS-13)")
    assert p.drawn([(3, "1c")]).endswith("(MUS-13)")
    assert p.shown(held(p)).endswith("(MUS-21)")
    assert p.declared("pares", [0]).endswith("(MUS-14)")
    assert p.thrown(3, ["7o", "4e"]) == ""
    assert p.thrown(0, ["12o"]) == ""
    assert p.thrown(1, ["11o"]) == ""
    assert p.thrown(2, ["1o", "12c", "12e", "3b"]) == ""
    assert p.due == "cards.drawn"
    assert p.turn == frozenset()
    refused(p, "PLAY-3", "mus", seat=3)
    assert p.thrown(3, ["7c"]).endswith("(MUS-13)")
    assert p.drawn([]).endswith("(MUS-2)")
    assert p.drawn([(0, "1c")]).endswith("(MUS-2)")
    assert p.drawn([(3, "1c")] * 9).endswith("(MUS-2)")
    cards = ["1c", "1e", "2o", "2c", "2e", "2b", "4o", "4c"]
    seats = [3, 3, 0, 1, 2, 2, 2, 2]
    # A reshuffle in the midst of the service.
    assert p.drawn(list(zip(seats, cards, strict=True))[:5]) == ""
    assert p.due == "cards.drawn"
    assert p.drawn(list(zip(seats, cards, strict=True))[5:]) == ""
    assert p.due == ""
    assert p.turn == {3}
    assert p._hands == [
        ["3c", "7e", "1b", "2o"],
        ["11c", "10e", "10b", "2c"],
        ["2e", "2b", "4o", "4c"],
        ["7c", "7b", "1c", "1e"],
    ]
    call(p, "mus", "no_mus")
    assert p.turn == {3}


@pytest.mark.parametrize(
    ("service", "last", "order"),
    [
        ("block", 4, [1] * 4 + [2] * 4 + [3] * 4 + [0] * 4),
        ("one_by_one_if_all_four", 4, [1, 2, 3, 0] * 4),
        ("one_by_one_if_all_four", 3, [1] * 4 + [2] * 4 + [3] * 4 + [0] * 3),
    ],
)
def test_the_order_of_service(service, last, order):
    p = play(first=1, service=service)
    call(p, *["mus"] * 4)
    for seat in (1, 2, 3):
        assert p.thrown(seat, list(p._hands[seat])) == ""
    assert p.thrown(0, p._hands[0][:last]) == ""
    rest = [card for card in DECK if card not in " ".join(ALL_PARES).split()]
    wrong = [0, *order[1:]]
    assert p.drawn(list(zip(wrong, rest, strict=False))).endswith("(MUS-2)")
    assert p.drawn(list(zip(order, rest, strict=False))) == ""
    assert p.turn == {1}


def change(p):
    """A round in which each seat changes one card for the next one of the pack."""
    call(p, *["mus"] * 4)
    order = []
    while p.due == "":
        seat = on_turn(p)
        order.append(seat)
        card = p._hands[seat][0]
        assert p.thrown(seat, [card]) == ""
    out = [card for card in DECK if card not in {card for _, card in held(p)}]
    assert p.drawn(list(zip(order, out, strict=False))) == ""
    return order


@pytest.mark.parametrize(("hand", "corrido"), [(1, True), (1, False), (2, True)])
def test_with_mus_corrido_mano_moves_on_in_hand_1_only(hand, corrido):
    p = play(first=2, hand=hand, mus_corrido=corrido)
    moves = hand == 1 and corrido
    assert change(p) == [2, 3, 0, 1]
    assert p.turn == {3 if moves else 2}
    assert change(p) == ([3, 0, 1, 2] if moves else [2, 3, 0, 1])
    assert p.turn == {0 if moves else 2}
    call(p, "mus", "no_mus")
    # Seat 1 or 3 has cut.
    mano = 1 if moves else 2
    assert p.turn == {mano}
    call(p, "ordago", "quiero")
    result = show(p)
    assert result["score"]["mano"] == mano
    assert result["first"] == (mano + 1) % 4


# The lances.


def test_a_hand_in_which_all_pass():
    p = cut()
    all_pass(p)  # grande
    assert p.turn == {0}
    all_pass(p)  # chica
    declare(p, "pares", 0, 1, 2, 3)
    all_pass(p)
    declare(p, "juego", 1, 2)
    assert p.turn == {1}
    all_pass(p, 2)
    assert show(p) == {
        "first": 1,
        "match": {"games": [0, 0], "score": [5, 5]},
        "score": {
            "lances": {
                "grande": entry("paso", 2, 0, 1, 0),
                "chica": entry("paso", 0, 0, 1, 0),
                "pares": entry("paso", 1, 1, 0, 5),
                "juego": entry("paso", 2, 0, 0, 3),
                "punto": None,
            },
            "mano": 0,
            "points": [5, 5],
        },
        "winner": None,
    }
    assert str(p.story[-1]) == "the score is 5 to 5"


def test_declarations_must_be_true_and_in_their_turn():
    p = cut()
    assert p.declared("pares", [0, 1, 2, 3]).endswith("(MUS-14)")
    all_pass(p, 8)
    refused(p, "PLAY-3", "paso", seat=0)
    assert p.declared("juego", [1, 2]).endswith("(MUS-14)")
    assert p.declared("pares", [0, 1, 2]).endswith("(MUS-14)")
    assert p.declared("pares", []).endswith("(MUS-14)")
    assert p.declared("pares", [3, 2, 1, 0]).endswith("(MUS-14)")
    declare(p, "pares", 0, 1, 2, 3)
    all_pass(p)
    assert p.declared("pares", [1, 2]).endswith("(MUS-14)")
    assert p.declared("juego", [1, 2, 3]).endswith("(MUS-14)")
    declare(p, "juego", 1, 2)


def to_pares(p):
    all_pass(p, 8)


def test_without_pares_and_juego_there_is_a_punto():
    p = cut(PUNTO, first=3)
    to_pares(p)
    declare(p, "pares")
    declare(p, "juego")
    assert p.turn == {3}
    all_pass(p)
    result = show(p)
    lances = result["score"]["lances"]
    assert lances["pares"] is lances["juego"] is None
    assert lances["punto"] == entry("paso", 1, 1, 1, 0)
    assert result["first"] == 0


# Team 0 has par and medias, and the sums 31 and 34; team 1 has nothing.
ONE_TEAM = ["12o 12c 11e 1b", "10o 7c 5e 4b", "3e 12b 12e 4e", "10c 7e 6e 4c"]


def test_what_only_one_team_has_is_not_spoken_about():
    p = cut(ONE_TEAM, first=1)
    to_pares(p)
    declare(p, "pares", 0, 2)
    assert p.due == "play.declared"
    declare(p, "juego", 0, 2)
    lances = show(p)["score"]["lances"]
    assert lances["pares"] == entry("uncontested", 2, 0, 0, 3)
    assert lances["juego"] == entry("uncontested", 0, 0, 0, 5)
    assert lances["punto"] is None


def test_a_tie_goes_to_the_first_in_speaking_order():
    hands = ["12o 12c 7o 1o", "12e 3o 7c 2o", "4o 4c 5o 6o", "4e 5e 6e 5c"]
    for mano in range(4):
        p = cut(hands, first=mano)
        call(p, "ordago", "quiero")
        grande = show(p)["score"]["lances"]["grande"]
        best = 1 if mano == 1 else 0
        assert (grande["seat"], grande["team"]) == (best, best % 2)


def test_who_speaks_when_there_is_no_bet():
    p = cut(first=2)
    assert p.turn == {2}
    refused(p, "MUS-16", "paso", seat=3)
    for name in ("quiero", "no_quiero", "mus", "no_mus", "raise", "x"):
        refused(p, "MUS-16", name)
    refused(p, "MUS-18", "paso", 0)
    refused(p, "MUS-18", "ordago", 2)
    call(p, "paso", "paso")
    assert p.turn == {0}
    assert p.thrown(0, ["12o"]).endswith("(MUS-13)")
    assert p.shown(held(p)).endswith("(MUS-21)")
    assert p.drawn([(0, "1c")]).endswith("(MUS-13)")
    assert p.returned().endswith("(PLAY-3)")
    assert p.looked(0).endswith("(PLAY-3)")
    call(p, "paso", "envido 2")
    assert p.turn == {2}


def test_who_answers_a_bet():
    p = cut()
    call(p, "paso", "paso", "envido 3")  # seat 2 bets
    assert p.turn == {3}
    refused(p, "MUS-17", "quiero", seat=1)
    for name in ("paso", "envido", "mus", "x"):
        refused(p, "MUS-17", name)
    refused(p, "MUS-18", "quiero", 3)
    refused(p, "MUS-18", "no_quiero", 0)
    call(p, "no_quiero")
    assert p.turn == {1}  # it has passed, and answers all the same
    call(p, "raise 4")  # now seats 2 and 0 answer
    assert p.turn == {2}
    call(p, "no_quiero")
    assert p.turn == {0}
    call(p, "raise 2")
    assert p.turn == {1}
    call(p, "no_quiero")
    assert p.turn == {3}
    call(p, "quiero")
    assert p._lances[0].level == 9
    assert p.turn == {0}  # chica


def test_those_who_do_not_speak_do_not_answer():
    # Seats 0, 1 and 3 have pares.
    hands = ["12o 12c 5o 4o", "11o 11c 7c 1c", "10o 7o 6o 4c", "6c 6e 1o 4e"]
    p = cut(hands)
    to_pares(p)
    declare(p, "pares", 0, 1, 3)
    call(p, "envido 2")
    assert p.turn == {1}
    call(p, "no_quiero")
    assert p.turn == {3}
    call(p, "raise 2")
    assert p.turn == {0}
    call(p, "no_quiero")  # there is no seat 2 to answer
    assert p.due == "play.declared"
    assert p._score == [0, 2]


@pytest.mark.parametrize(
    ("calls", "rules", "amounts", "wrong"),
    [
        ([], {}, [2, 3, 40], [None, -1, 0, 1, 41, 2**53 - 1, True, 2.0]),
        ([], {"target": 30}, [30], [31]),
        ([], {"raises": "fixed2"}, [2], [None, 1, 3, 40]),
        (["envido 2"], {}, [2, 38], [None, 0, 1, 39, 2**53 - 1]),
        (["envido 2"], {"raises": "fixed2"}, [2], [1, 3]),
        (["envido 38"], {}, [2], [1, 3]),
        (["envido 39"], {}, [], [0, 1, 2, 3]),
        (["envido 40"], {}, [], [0, 1, 2]),
        (["envido 2", "raise 3"], {}, [35], [36]),
    ],
)
def test_amounts(calls, rules, amounts, wrong):
    name = "raise" if calls else "envido"
    for amount in amounts:
        p = cut(**rules)
        call(p, *calls, f"{name} {amount}")
    for amount in wrong:
        p = cut(**rules)
        call(p, *calls)
        refused(p, "MUS-18", name, amount)


def test_raises_of_two_end_at_the_target():
    p = cut(raises="fixed2", target=30)
    call(p, "envido 2", *["raise 2"] * 14)
    refused(p, "MUS-18", "raise", 2)
    call(p, "quiero")
    assert p._lances[0].level == 30


@pytest.mark.parametrize(
    ("calls", "team", "points"),
    [
        (["envido 2", "no_quiero", "no_quiero"], 0, 1),
        (["envido 9", "no_quiero", "no_quiero"], 0, 1),
        (["envido 2", "raise 5", "no_quiero", "no_quiero"], 1, 2),
        (["envido 2", "raise 5", "raise 10", "no_quiero", "no_quiero"], 0, 7),
        (["envido 2", "raise 3", "raise 2", "no_quiero", "no_quiero"], 0, 5),
        (["ordago", "no_quiero", "no_quiero"], 0, 1),
        (["envido 6", "ordago", "no_quiero", "no_quiero"], 1, 6),
        (["envido 2", "no_quiero", "ordago", "no_quiero", "no_quiero"], 1, 2),
        (["paso", "envido 4", "raise 2", "ordago", "no_quiero", "no_quiero"], 1, 6),
    ],
)
def test_what_a_refused_bet_gives_at_once(calls, team, points):
    p = cut()
    call(p, *calls)
    assert p._score[team] == points
    assert p._score[1 - team] == 0
    assert p.turn == {0}  # chica
    lance = p.result()["score"]["lances"]["grande"]
    assert lance == entry("refused", None, team, points, 0)


def test_no_call_goes_beyond_an_ordago():
    p = cut()
    call(p, "envido 2", "ordago")
    for name, amount in (("raise", 2), ("ordago", None), ("envido", 2), ("paso", None)):
        refused(p, "MUS-17", name, amount)


def test_ordago_can_be_switched_off():
    p = cut(ordago=False)
    refused(p, "MUS-16", "ordago")
    call(p, "envido 2")
    refused(p, "MUS-17", "ordago")
    call(p, "quiero")


def test_a_refused_bet_can_win_the_game():
    p = cut(score=(20, 39))
    call(p, "envido 2", "raise 5", "no_quiero", "no_quiero")
    assert p.due == "hand.closed"
    assert p.turn == frozenset()
    refused(p, "PLAY-3", "paso", seat=0)
    assert p.declared("pares", [0, 1, 2, 3]).endswith("(MUS-14)")
    assert p.shown(held(p)).endswith("(MUS-21)")
    result = p.result()
    assert result["winner"] == 1
    assert result["match"] == {"games": [0, 1], "score": [20, 41]}
    assert result["score"]["points"] == [0, 2]
    assert result["score"]["lances"] == {
        "grande": entry("refused", None, 1, 2, 0),
        "chica": None,
        "pares": None,
        "juego": None,
        "punto": None,
    }


def test_what_was_bet_before_the_game_was_won_is_not_counted():
    p = cut(score=(0, 39))
    call(p, "envido 6", "quiero")
    all_pass(p)
    declare(p, "pares", 0, 1, 2, 3)
    call(p, "paso", "envido 2", "no_quiero", "no_quiero")  # seat 1 bets
    result = p.result()
    assert p.due == "hand.closed"
    assert result["score"]["points"] == [0, 1]
    assert result["score"]["lances"] == {
        "grande": entry("accepted", None, None, 0, 0),
        "chica": entry("paso", None, None, 0, 0),
        "pares": entry("refused", None, 1, 1, 0),
        "juego": None,
        "punto": None,
    }


def test_an_accepted_ordago_decides_the_game():
    p = cut(score=(3, 38))
    call(p, "envido 30", "quiero")
    call(p, "envido 2", "no_quiero", "no_quiero")  # chica: one for team 0
    declare(p, "pares", 0, 1, 2, 3)
    call(p, "paso", "ordago", "quiero")
    result = show(p)
    assert result["winner"] == 1  # seat 1 has duples
    assert result["match"] == {"games": [0, 1], "score": [4, 40]}
    assert result["score"] == {
        "lances": {
            "grande": entry("accepted", None, None, 0, 0),
            "chica": entry("refused", None, 0, 1, 0),
            "pares": entry("ordago", 1, 1, 2, 0),
            "juego": None,
            "punto": None,
        },
        "mano": 0,
        "points": [1, 2],
    }


def test_an_ordago_in_punto_gives_no_more_than_the_target():
    p = cut(PUNTO)
    to_pares(p)
    declare(p, "pares")
    declare(p, "juego")
    call(p, "ordago", "quiero")
    result = show(p)
    assert result["score"]["lances"]["punto"] == entry("ordago", 1, 1, 40, 0)
    assert result["score"]["lances"]["grande"] == entry("paso", None, None, 0, 0)
    assert result["match"]["score"] == [0, 40]


# The count.


def test_the_showing_is_of_all_cards_seat_by_seat():
    p = cut()
    call(p, "ordago", "quiero")
    right = held(p)
    swapped = [right[4], *right[1:4], right[0], *right[5:]]
    mixed = [(0, right[4][1]), *right[1:4], (1, right[0][1]), *right[5:]]
    for cards in (
        [],
        right[:15],
        [*right, (3, "1c")],
        right[::-1],
        swapped,
        mixed,
        [right[0], *right[:15]],
        [(0, "1c"), *right[1:]],
        [(None, right[0][1]), *right[1:]],
    ):
        assert p.shown(cards).endswith("(MUS-21)")
    # Which of a seat's cards comes first is for those who know their places.
    assert p.shown([right[1], right[0], *right[2:]]) == ""


def test_pares_refused_gives_the_cards_of_the_team_that_bet():
    p = cut()
    to_pares(p)
    declare(p, "pares", 0, 1, 2, 3)
    call(p, "envido 2", "no_quiero", "no_quiero")
    declare(p, "juego", 1, 2)
    call(p, "envido 2", "quiero")
    lances = show(p)["score"]["lances"]
    # Two pares (par, medias of kings) against better duples.
    assert lances["pares"] == entry("refused", None, 0, 1, 3)
    assert lances["juego"] == entry("accepted", 2, 0, 2, 3)


def test_a_bonus_adds_up_both_hands_of_a_team():
    # Juego: 31 and 33 for team 0, 32 for team 1.
    hands = ["12o 11o 7o 4o", "12c 11c 7c 5c", "12e 11e 7e 6e", "4c 5o 6o 1o"]
    p = cut(hands)
    to_pares(p)
    declare(p, "pares")
    declare(p, "juego", 0, 1, 2)
    call(p, "envido 2", "quiero")
    result = show(p)
    assert result["score"]["lances"]["juego"] == entry("accepted", 0, 0, 2, 5)


@pytest.mark.parametrize(
    ("calls", "plus_one", "literal"),
    [
        (["paso"] * 4, entry("paso", 1, 1, 1, 0), entry("paso", 1, 1, 1, 0)),
        (["envido 2", "quiero"], entry("accepted", 1, 1, 2, 1), entry("accepted", 1, 1, 2, 0)),
        (
            ["envido 2", "no_quiero", "no_quiero"],
            entry("refused", None, 0, 1, 1),
            entry("refused", None, 0, 1, 0),
        ),
        (
            ["envido 2", "raise 2", "no_quiero", "no_quiero"],
            entry("refused", None, 1, 2, 1),
            entry("refused", None, 1, 2, 0),
        ),
    ],
)
def test_one_more_in_punto(calls, plus_one, literal):
    for option, right in (("plus_one", plus_one), ("literal", literal)):
        p = cut(PUNTO, punto=option)
        to_pares(p)
        declare(p, "pares")
        declare(p, "juego")
        call(p, *calls)
        assert show(p)["score"]["lances"]["punto"] == right


def test_a_punto_refused_at_the_target_gives_no_one_more():
    p = cut(PUNTO, score=(39, 0))
    to_pares(p)
    declare(p, "pares")
    declare(p, "juego")
    call(p, "envido 2", "no_quiero", "no_quiero")
    assert p.due == "hand.closed"
    assert p.result()["score"]["lances"]["punto"] == entry("refused", None, 0, 1, 0)


def test_the_count_stops_when_the_game_is_won():
    # Grande: team 1 to 37. Chica: team 0 to 40. The rest is not counted.
    hands = ["4o 4c 5o 1o", "12o 12c 12e 5c", "10o 6o 7o 2o", "11o 7c 6c 5e"]
    p = cut(hands, score=(38, 36))
    all_pass(p)
    call(p, "envido 2", "quiero")
    declare(p, "pares", 0, 1)
    call(p, "envido 2", "no_quiero")  # one at once for team 0: 39
    declare(p, "juego", 1)
    result = show(p)
    assert result["winner"] == 0
    assert result["match"] == {"games": [1, 0], "score": [41, 37]}
    assert result["score"]["points"] == [3, 1]
    assert result["score"]["lances"] == {
        "grande": entry("paso", 1, 1, 1, 0),
        "chica": entry("accepted", 0, 0, 2, 0),
        "pares": entry("refused", None, 0, 1, 0),
        "juego": entry("uncontested", None, None, 0, 0),
        "punto": None,
    }


def test_the_example_of_the_page():
    hands = ["7o 7c 6o 6c", "12o 11o 4o 1o", "10o 6b 4c 1e", "12c 7e 5c 2c"]
    p = cut(hands, first=1, score=(0, 2))
    call(p, "envido 3", "no_quiero", "no_quiero")
    call(p, "envido 2", "quiero")
    declare(p, "pares", 0)
    declare(p, "juego")
    call(p, "envido 2", "quiero")
    page = (Path(__file__).parents[2] / "docs" / "spec" / "play-mus.md").read_text("utf-8")
    (example,) = [one for one in page.split("```") if '"lances"' in one]
    assert show(p) == json.loads(example)


@pytest.mark.parametrize(
    ("games", "before", "after", "winner"),
    [
        (1, (0, 0), [0, 1], 1),
        (3, (0, 0), [0, 1], None),
        (3, (1, 0), [1, 1], None),
        (3, (1, 1), [1, 2], 1),
        (5, (2, 1), [2, 2], None),
        (5, (0, 2), [0, 3], 1),
    ],
)
def test_games_and_the_match(games, before, after, winner):
    p = cut(first=1, rules={"games": games}, games=before, score=(5, 7))
    to_pares(p)
    declare(p, "pares", 0, 1, 2, 3)
    call(p, "ordago", "quiero")
    result = show(p)
    assert result["winner"] == winner
    score = [5, 40] if winner is not None else [0, 0]
    assert result["match"] == {"games": after, "score": score}


# Whole files.


def whole_file(hand, corrido, rounds, calls, options):
    """A hand with rounds of discards in one event each, reshuffles, and these calls.

    Returns:
        The file's builder before its end, and the play as the events tell it.
    """
    rules = {"mus_corrido": corrido}
    b = B.Builder("mus", referee=True, hand=hand, rules=rules, **options).start()
    name = lambda place: b.orders[place[0]][place[1]]  # noqa: E731
    dealt = [[name(place) for place in b.hold[seat]] for seat in range(4)]
    p = MusPlay(b.rules, b.match, Deal(hand, 4, b.first, dealt, 24, None, {}))
    heap = []
    for _ in range(rounds):
        for _ in range(4):
            b.call(on_turn(p), "mus")
            call(p, "mus")
        mano = on_turn(p)
        turn = [(mano + i) % 4 for i in range(4)]
        throws = {seat: list(b.hold[seat]) for seat in sorted(turn)}
        b.discard(throws)
        for seat in turn:
            assert p.thrown(seat, [name(place) for place in throws[seat]]) == ""
        heap += [place for places in throws.values() for place in places]
        owed = [seat for seat in turn for _ in range(4)]
        while owed:
            if not b.stock:
                b.open_seeds(epoch=b.epoch + 1).reshuffle(heap)
                heap = []
            now = owed[: len(b.stock)]
            del owed[: len(now)]
            b.draw(now)
            draws = b.bodies[-1]["draws"]
            assert p.drawn([(seat, name((e, at))) for seat, e, at in draws]) == ""
    for one in calls:
        b.call(on_turn(p), one)
        call(p, one)
    if p.due == "cards.shown":
        b.show(*[(seat, place) for seat in range(4) for place in sorted(b.hold[seat])])
        show(p)
    return b, p


@pytest.mark.parametrize("rounds", [0, 1, 2, 5])
@pytest.mark.parametrize(("hand", "corrido"), [(1, True), (1, False), (2, True)])
def test_a_whole_file(hand, corrido, rounds):
    options = {"first": None if hand == 1 else 3}
    b, p = whole_file(hand, corrido, rounds, ["mus", "no_mus", "ordago", "quiero"], options)
    report = verify(b.close(p.result()).file(), key=B.VKEY)
    assert {c.id: c.note for c in report if c.status in ("FAIL", "SKIP")} == {}
    assert report.status("play") == "PASS"
    assert report.exit == 0


def test_a_whole_file_with_a_wrong_result():
    b, p = whole_file(2, False, 2, ["no_mus", "ordago", "quiero"], {"first": 1})
    result = p.result()
    result["first"] = p._mano
    report = verify(b.close(result).file(), key=B.VKEY)
    assert report.failed == "play"


def test_a_whole_file_whose_turn_was_let_pass():
    b, p = whole_file(2, False, 2, ["no_mus", "paso", "ordago"], {"first": 1})
    b.abort("turn_timeout", [on_turn(p)], wait=30_000)
    report = verify(b.file(), key=B.VKEY)
    assert report.status("play") == "PASS"
    assert report.exit == 0


# Anything at all.


def conceivable(p, rng):
    """Every kind of move there could be, most of them illegal."""
    seats = list(range(4))
    rng.shuffle(seats)
    for seat in seats:
        for call_ in ("mus", "no_mus", "paso", "quiero", "no_quiero"):
            yield p.called, (seat, call_, None)
        if rng.random() < 0.1:
            yield p.called, (seat, "ordago", None)
        for call_ in ("envido", "raise"):
            yield p.called, (seat, call_, rng.choice([2, 2, 3, 5, 40]))
        if p._hands[seat]:
            cards = rng.sample(p._hands[seat], rng.randint(1, len(p._hands[seat])))
            yield p.thrown, (seat, cards)


def random_hand(rng, rules, match, hand, first):
    """Plays a hand to its end, and checks what must always hold."""
    pack = rng.sample(DECK, 40)
    hands = [pack[4 * s : 4 * s + 4] for s in range(4)]
    stock, heap = pack[16:], []
    assert MusPlay.match_fault(rules, 4, match) == ""
    p = MusPlay(rules, match, Deal(hand, 4, first, hands, 24, None, {}))
    for _ in range(10_000):
        cards = [card for _, card in held(p)]
        assert sorted(cards + stock + heap) == sorted(DECK)
        assert (p.due == "") == (len(p.turn) == 1)
        if p.due == "hand.closed":
            return p
        if p.due == "cards.drawn":
            if not stock:
                stock, heap = rng.sample(heap, len(heap)), []
            served = list(zip(list(p._owed), stock, strict=False))
            assert p.drawn(served) == ""
            del stock[: len(served)]
        elif p.due == "play.declared":
            every = [
                (what, list(seats))
                for what in ("pares", "juego")
                for k in range(5)
                for seats in itertools.combinations(range(4), k)
            ]
            # The first that is accepted moves the play on.
            assert any(p.declared(what, seats) == "" for what, seats in every)
        elif p.due == "cards.shown":
            assert p.shown(held(p)) == ""
        else:
            moves = list(conceivable(p, rng))
            rng.shuffle(moves)
            (seat,) = p.turn
            accepted = None
            for method, arguments in moves:
                fault = method(*arguments)
                if fault == "":
                    accepted = method, arguments
                    break
                assert fault.endswith(")")
            assert accepted is not None
            assert accepted[1][0] == seat
            if accepted[0] == p.thrown:
                heap.extend(accepted[1][1])
    pytest.fail("the hand does not end")


@pytest.mark.parametrize("seed", range(60))
def test_random_play_ends_and_adds_up(seed):
    rng = random.Random(seed)
    rules = RULES | {name: rng.choice(values) for name, values in MusPlay.options.items()}
    rules["mus_corrido"] = rng.random() < 0.5
    rules["service"] = rng.choice(["block", "one_by_one_if_all_four"])
    match, first = MusPlay.fresh(rules, 4), rng.randrange(4)
    for hand in range(1, 200):
        p = random_hand(rng, rules, match, hand, first)
        result = p.result()
        score = result["score"]
        points = [0, 0]
        for one in filter(None, score["lances"].values()):
            if one["team"] is None:
                assert one["seat"] is None
                assert one["stake"] == one["bonus"] == 0
            else:
                points[one["team"]] += one["stake"] + one["bonus"]
                assert one["seat"] is None or one["seat"] % 2 == one["team"]
        assert points == score["points"]
        before = match["score"]
        after = [before[team] + points[team] for team in (0, 1)]
        won = [team for team in (0, 1) if after[team] >= rules["target"]]
        assert len(won) < 2
        games = list(match["games"])
        for team in won:
            games[team] += 1
        assert result["match"]["games"] == games
        assert result["match"]["score"] == ([0, 0] if won and result["winner"] is None else after)
        assert result["winner"] in (None, *won)
        assert result["first"] == (score["mano"] + 1) % 4
        if result["winner"] is not None:
            assert games[result["winner"]] * 2 > rules["games"]
            return
        assert max(games) * 2 < rules["games"]
        match, first = result["match"], result["first"]
    pytest.fail("the match does not end")


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)
matches = st.dictionaries(
    st.sampled_from(["games", "score", "x"]), anything | st.lists(st.integers(-1, 41), max_size=3)
)


@given(match=matches | st.dictionaries(st.text(), anything))
def test_no_match_raises(match):
    fault = MusPlay.match_fault(RULES, 4, match)
    if fault == "":
        MusPlay(RULES, match, deal())


moves = st.one_of(
    st.tuples(
        st.just("called"),
        st.integers(0, 3),
        st.sampled_from(
            ["mus", "no_mus", "paso", "envido", "raise", "ordago", "quiero", "no_quiero"]
        )
        | st.text(),
        st.none() | st.integers(0, 2**53 - 1) | st.integers(0, 5),
    ),
    st.tuples(
        st.just("thrown"), st.integers(0, 3), st.lists(st.sampled_from(DECK) | st.text(max_size=3))
    ),
    st.tuples(
        st.sampled_from(["shown", "drawn"]),
        st.lists(st.tuples(st.none() | st.integers(0, 9), st.text(max_size=3))),
    ),
    st.tuples(
        st.just("declared"),
        st.sampled_from(["pares", "juego", ""]),
        st.lists(st.integers(0, 9)),
    ),
    st.tuples(st.just("looked"), st.integers(0, 3)),
    st.tuples(st.just("returned")),
)


@settings(max_examples=300)
@given(
    hands=st.lists(
        st.lists(st.sampled_from(DECK) | st.text(max_size=3), max_size=5), min_size=4, max_size=4
    ),
    steps=st.lists(moves, max_size=40),
    skip=st.integers(0, 20),
)
def test_no_move_raises(hands, steps, skip):
    p = MusPlay(RULES, FRESH, Deal(1, 4, 3, hands, 24, None, {}))
    for n in range(skip):
        if p.turn and p.called(on_turn(p), "paso" if n else "no_mus", None) == "":
            continue
        if p.due == "play.declared":
            what = p._to_declare
            p.declared(what, [s for s in range(4) if M.bonus(what, p._hands[s], RULES)])
        elif p.due == "cards.shown":
            p.shown(held(p))
    for method, *arguments in steps:
        assert isinstance(getattr(p, method)(*arguments), str)
        assert p.due in ("", "cards.drawn", "play.declared", "cards.shown", "hand.closed")
        assert isinstance(p.turn, frozenset)
    p.result()
