"""The play of Svoi Kozyri: every rule, kept and broken."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairdeal_verifier.play.base import Deal
from fairdeal_verifier.play.svoi import SvoiPlay

DECK = [rank + suit for suit in "CDHS" for rank in ("6", "7", "8", "9", "10", "J", "Q", "K", "A")]
RULES = {"pick_up": "voluntary", "repetition": 3}
FRESH = {"draws": 0, "wins": [0, 0]}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=5),
    lambda x: (
        st.lists(x, max_size=3)
        | st.dictionaries(st.sampled_from(["draws", "wins", "x"]), x, max_size=3)
    ),
    max_leaves=8,
)


def play(zero, one, *, first=0, trumps="HS", match=None, **rules) -> SvoiPlay:
    hands = [zero.split(), one.split()]
    deal = Deal(1, 2, first, hands, trumps=dict(enumerate(trumps)))
    return SvoiPlay(RULES | rules, match or FRESH, deal)


def show(p: SvoiPlay, seat: int, cards: str) -> str:
    return p.shown([(seat, card) for card in cards.split()])


def run(p: SvoiPlay, moves: str) -> SvoiPlay:
    """Makes legal moves: `0 6C`, `1 7C 9D`, `0 take 3`, with commas between them."""
    for move in moves.split(", "):
        seat, _, what = move.partition(" ")
        if what.startswith("take"):
            assert p.called(int(seat), "take", int(what.split()[1])) == ""
        else:
            assert show(p, int(seat), what) == ""
    return p


def test_first_leads_and_the_turn_goes_to_and_fro():
    p = play("6C 9C 7D 8D", "7C 6D 8H 9H", first=1)
    for seat, cards in ((1, "6D"), (0, "7D 6C"), (1, "7C 8H")):
        assert p.turn == {seat}
        assert p.due == ""
        assert show(p, 1 - seat, "6C").endswith("(SVO-4)")
        assert show(p, seat, cards) == ""
    assert p.turn == {0}


@pytest.mark.parametrize(
    ("moves", "wrong", "rule"),
    [
        ("", "1 7C", "SVO-4"),
        ("", "0 9D", "SVO-5"),
        ("", "0 7C", "SVO-5"),
        ("", "0 6C 8C", "SVO-6"),
        ("", "0 take 0", "SVO-6"),
        ("", "0 take 3", "SVO-6"),
        ("0 8C", "0 6C", "SVO-4"),
        ("0 8C", "0 take 1", "SVO-4"),
        ("0 8C", "1 7C 9D", "SVO-8"),  # lower
        ("0 8C", "1 9D 7C", "SVO-8"),  # another suit
        ("0 8C", "1 7H 7C", "SVO-8"),  # the other seat's trump
        ("0 8C", "1 9C", "SVO-8"),  # one card of several
        ("0 8C", "1 9C 7C 9D", "SVO-8"),
        ("0 8C", "1 9C 9C", "SVO-5"),
        ("0 8C", "1 9C 8C", "SVO-5"),
        ("0 8C", "1 take 3", "SVO-9"),
        ("0 8C", "1 take 0", "SVO-9"),
        ("0 8C", "1 take", "SVO-9"),
        ("0 8C", "1 take 9007199254740991", "SVO-9"),
        ("0 8C, 1 take 1", "1 8C", "SVO-4"),
        ("0 8C, 1 take 1", "0 take 1", "SVO-6"),
        ("0 8C", "1 pass", "SVO-4"),
        ("0 8C", "1 mus 3", "SVO-4"),
    ],
)
def test_illegal_moves(moves, wrong, rule):
    p = play("6C 8C 7D KD", "7C 9C 9D 7H 6S")
    if moves:
        run(p, moves)
    seat, _, what = wrong.partition(" ")
    if what[0].isdigit():
        fault = show(p, int(seat), what)
    else:
        call, _, amount = what.partition(" ")
        fault = p.called(int(seat), call, int(amount) if amount else None)
    assert fault.endswith(f"({rule})")


def test_two_seats_in_one_event():
    p = run(play("6C 8C 7D", "7C 9C 9D"), "0 6C")
    assert p.shown([(1, "7C"), (0, "8C")]).endswith("(SVO-4)")


@pytest.mark.parametrize(
    "fault",
    [
        lambda p: p.thrown(0, ["6C"]),
        lambda p: p.returned(),
        lambda p: p.looked(0),
        lambda p: p.declared("pares", [0]),
        lambda p: p.drawn([(0, "6C")]),
    ],
)
def test_there_is_nothing_else(fault):
    assert "Svoi Kozyri has no" in fault(play("6C 8C", "7C 9C"))


@pytest.mark.parametrize(
    ("card", "top", "beats"),
    [
        ("7C", "6C", True),
        ("10C", "9C", True),
        ("JC", "10C", True),
        ("AC", "KC", True),
        ("6C", "7C", False),
        ("9C", "10C", False),
        ("6H", "AC", True),
        ("6H", "AS", True),  # to this seat the other's trump is a suit like any other
        ("AS", "6C", False),
        ("AS", "6H", False),
        ("7H", "6H", True),
        ("6H", "7H", False),
        ("7S", "6S", True),
        ("AD", "6C", False),
    ],
)
def test_beating(card, top, beats):
    """SVO-7, for seat 0, whose trump is hearts."""
    p = run(play(f"{card} 6D 7D", f"{top} 8D 9D", first=1), f"1 {top}")
    assert (show(p, 0, f"{card} 6D") == "") == beats


def test_one_trump_for_both():
    p = run(play("6C 6D", "6H 8D 7D", trumps="HH"), "0 6C")
    assert show(p, 1, "6H 7D") == ""


TAKES = [
    ("7C 9C 6D", "H", 3, ""),
    ("7C 9C 6D QS", "H", 3, "7C"),
    ("6C 7C 9C 6D QS KH", "H", 5, "6C"),
    ("6C 7C 9C 6D QS KH", "S", 3, "6C 7C 9C"),
    ("6C 7C 9C 6D QS KH AH", "H", 7, ""),
    ("6C 7C 9C 6D QS KH AH", "S", 3, "6C 7C 9C 6D"),
    ("7C 9C", "H", 2, ""),
    ("7C", "H", 1, ""),
    ("7C 9C KH", "H", 3, ""),
    ("AH", "H", 1, ""),
    ("7C 9C 6D QS AC", "H", 3, "7C 9C"),
]


@pytest.mark.parametrize(("pile", "trump", "count", "left"), TAKES)
def test_taking(pile, trump, count, left):
    """SVO-9, the page's table among it."""
    for amount in (0, 1, 2, 3, 4, 5, 6, 7, 8, None):
        p = play("8D 9D", "10D JD", trumps=trump + "C")
        p._pile = pile.split()
        fault = p.called(0, "take", amount)
        if amount != count:
            assert fault.endswith("(SVO-9)")
        else:
            assert fault == ""
            assert p._pile == left.split()
            assert p._hands[0] == {"8D", "9D"} | set(pile.split()[len(left.split()) :])
            assert p.turn == {1}


def test_what_is_left_is_faced_and_taken_cards_come_again():
    p = play("6C 9H 7D 8D QD", "7C 9C JC 10D KD AD", trumps="SS")
    run(p, "0 6C, 1 7C 9C")
    run(p, "0 take 3, 1 10D, 0 QD 7C, 1 JC KD")
    assert p.called(0, "take", 3) == ""
    assert p._pile == ["10D", "QD"]  # QD is on top
    assert show(p, 1, "9C").endswith("(SVO-5)")
    assert p.turn == {1}


def test_strict_and_voluntary():
    """SVO-10."""
    voluntary, strict = play("6C 8D", "7C 9D 9S"), play("6C 8D", "7C 9D 9S", pick_up="strict")
    for p in (voluntary, strict):
        run(p, "0 6C")
    assert voluntary.called(1, "take", 1) == ""
    assert strict.called(1, "take", 1).endswith("(SVO-10)")
    cannot = run(play("KC 8D", "7C 9D 9H", pick_up="strict"), "0 KC")
    assert cannot.called(1, "take", 1) == ""


@pytest.mark.parametrize(
    ("zero", "one", "moves", "reason", "winner"),
    [
        ("6C", "7D 8D", "0 6C", "out", 0),  # the last card was led
        ("6C", "7D", "0 6C", "out", 0),
        ("6C", "7C", "0 6C", "last_card", None),
        ("6C", "6S", "0 6C", "last_card", None),
        ("6C", "6H", "0 6C", "out", 0),  # not this seat's trump
        ("6C", "7C 8C", "0 6C", "out", 0),  # two that could beat are no draw
        ("7C 6D", "6C 8C 9C", "1 6C, 0 7C 6D", "out", 0),  # laid on it
        ("7C", "6C 8D 9D", "1 6C, 0 7C", "out", 0),  # beat the top
        ("7C", "6C 8C", "1 6C, 0 7C", "last_card", None),
        ("7C 6D", "6C 7D", "1 6C, 0 7C 6D", "last_card", None),
        ("7C 6D", "6C 8C", "1 6C, 0 7C 6D", "out", 0),
    ],
)
def test_the_end(zero, one, moves, reason, winner):
    """SVO-11."""
    p = play(zero, one, first=int(moves[0]))
    run(p, moves)
    assert p.turn == frozenset()
    assert p.due == "hand.closed"
    result = p.result()
    assert result["score"]["reason"] == reason
    assert result["score"]["winner"] == winner
    assert result["score"]["draw"] == (winner is None)
    assert result["score"]["left"] == [len(hand) for hand in p._hands]


def test_a_seat_with_one_card_may_take():
    p = run(play("6C 8D", "7C"), "0 6C")
    assert p.called(1, "take", 1) == ""
    assert p.turn == {0}


def test_a_seat_with_one_card_has_to_beat():
    p = run(play("8C 8D", "7C"), "0 8C")
    assert show(p, 1, "7C").endswith("(SVO-8)")


CYCLE = "0 6C, 1 7C 8D, 0 take 3, 1 6D, 0 8D 7C, 1 take 3"


def test_repetition():
    """SVO-12: the position after the deal counts."""
    p = play("6C KC", "7C 8D 6D AC")
    run(p, CYCLE)
    assert p.turn == {0}
    run(p, CYCLE)
    assert p.due == "hand.closed"
    assert p.result() == {
        "first": 0,
        "match": {"draws": 1, "wins": [0, 0]},
        "score": {"draw": True, "left": [2, 4], "reason": "repetition", "winner": None},
        "winner": None,
    }


def test_a_position_has_its_seat_and_the_order_of_its_pile():
    p = play("6C KC", "7C 8D 6D AC")
    run(p, CYCLE)
    assert sum(p._seen.values()) == 7
    assert max(p._seen.values()) == 2
    assert sorted(p._seen.values()) == [1] * 5 + [2]


def test_limit():
    """SVO-13."""
    p = play("6C KC", "7C 8D 6D AC", repetition=0, match={"draws": 4, "wins": [2, 1]})
    for _ in range(166):
        run(p, CYCLE)
    run(p, ", ".join(CYCLE.split(", ")[:3]))
    assert p.turn == {1}
    run(p, CYCLE.split(", ")[3])
    assert p.due == "hand.closed"
    assert p.result()["score"] == {
        "draw": True,
        "left": [4, 1],
        "reason": "limit",
        "winner": None,
    }
    assert p.result()["match"] == {"draws": 5, "wins": [2, 1]}


@pytest.mark.parametrize("first", [0, 1])
def test_result(first):
    """SVO-14."""
    p = play("6C 8D", "7H 7D", first=first, match={"draws": 1, "wins": [5, 7]})
    cards = (("6C", "8D"), ("7H", "7D"))[first]
    run(p, f"{first} {cards[0]}, {1 - first} take 1, {first} {cards[1]}")
    assert p.result()["first"] == first
    assert p.result()["winner"] is None
    assert p.result()["match"]["wins"] == ([6, 7], [5, 8])[first]
    assert p.result()["match"]["draws"] == 1
    assert p.match == {"draws": 1, "wins": [5, 7]}


def test_after_a_draw_the_same_seat_begins():
    p = run(play("7C", "6C 8C", first=1), "1 6C, 0 7C")
    assert p.result()["first"] == 1


@pytest.mark.parametrize(
    "match",
    [
        {},
        {"draws": 0},
        {"draws": 0, "wins": [0, 0], "x": 0},
        {"draws": 0, "wins": [0]},
        {"draws": 0, "wins": [0, 0, 0]},
        {"draws": -1, "wins": [0, 0]},
        {"draws": 0, "wins": [0, -1]},
        {"draws": True, "wins": [0, 0]},
        {"draws": 0, "wins": [False, 0]},
        {"draws": None, "wins": [0, 0]},
        {"draws": 0, "wins": {"0": 0, "1": 0}},
        {"draws": 0, "wins": "00"},
    ],
)
def test_no_match_is_like_this(match):
    assert SvoiPlay.match_fault(RULES, 2, match).endswith("(PLAY-2)")


def test_matches():
    assert SvoiPlay.fresh(RULES, 2) == FRESH
    assert SvoiPlay.match_fault(RULES, 2, FRESH) == ""
    assert SvoiPlay.match_fault(RULES, 2, {"draws": 3, "wins": [2, 9]}) == ""
    assert SvoiPlay.sits_out(FRESH) == frozenset()


@given(JSON)
def test_any_match(value):
    if isinstance(value, dict):
        assert isinstance(SvoiPlay.match_fault(RULES, 2, value), str)


@given(st.integers(0, 2**53), st.text(max_size=5) | st.just("take"), st.integers(0, 1))
def test_any_call(amount, call, seat):
    p = run(play("6C 8C 7D KD", "7C 9C 9D 7H 6S"), "0 8C")
    assert (p.called(seat, call, amount) == "") == ((seat, call, amount) == (1, "take", 1))


@pytest.mark.parametrize("pick_up", ["voluntary", "strict"])
@pytest.mark.parametrize("repetition", [0, 3])
def test_random_play(pick_up, repetition):
    """Everything conceivable is tried; what is accepted is played."""
    reasons = set()
    for number in range(12):
        chance = random.Random(number)
        deck = chance.sample(DECK, 36)
        trumps = chance.choice(("HS", "CD", "HH"))
        hands = [deck[:18], deck[18:]]
        first = chance.randrange(2)
        deal = Deal(1, 2, first, hands, trumps=dict(enumerate(trumps)))
        rules = {"pick_up": pick_up, "repetition": repetition}
        p = SvoiPlay(rules, FRESH, deal)
        moves = 0
        while not p.due:
            (seat,) = p.turn
            mine = sorted(p._hands[seat])
            tries = [("take", n) for n in range(1, len(p._pile) + 1)]
            chance.shuffle(mine)
            shows = [
                ("show", one) for one in [[a] for a in mine] + [[a, b] for a in mine for b in mine]
            ]
            if chance.random() < 0.8:
                tries = shows + tries
            else:
                tries += shows
            for kind, what in tries:
                if kind == "take":
                    fault = p.called(seat, "take", what)
                else:
                    fault = p.shown([(seat, card) for card in what])
                if not fault:
                    break
                assert fault.endswith(")")
            else:
                raise AssertionError("a seat on turn has always a legal move")
            moves += 1
            assert sorted([*p._hands[0], *p._hands[1], *p._pile]) == sorted(DECK)
        assert moves <= 1000
        result = p.result()
        assert sum(result["match"]["wins"]) + result["match"]["draws"] == 1
        reasons.add(result["score"]["reason"])
    assert "out" in reasons
