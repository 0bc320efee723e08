"""Mus, the play: cards, talk, lances, count, match. Spec: MUS-6..25."""

from collections import Counter
from itertools import combinations, permutations, product
from random import Random
from time import process_time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairdeal.cards import spanish_deck
from fairdeal.games.mus import Mus
from fairdeal.games.rules import mus
from fairdeal.games.rules.base import Close, Deal, Declare, Move, RuleError, Serve, Show
from fairdeal.games.rules.mus import MusRules
from tests.core.rules import mus_naive as naive

DECK = spanish_deck()
RULES = MusRules()
DEFAULTS = {name: values[0] for name, values in (Mus.options | RULES.options).items()}
FRESH = {"games": [0, 0], "score": [0, 0]}
CALLS = ("mus", "no_mus", "paso", "envido", "raise", "quiero", "no_quiero", "ordago")
NAMES = {"K": "12", "C": "11", "S": "10"}
QUIET = ("6 5 4 1", "6 5 4 1")
"""No pares, no juego, and bad enough in grande."""


def hands_of(*texts):
    """Hands of the deck from ranks (K, C, S for 12, 11, 10), with the first suits that are left."""
    left = Counter()
    hands = []
    for text in texts:
        hand = []
        for word in text.split():
            written = NAMES.get(word, word)
            hand.append("oceb"[left[written]] + written)
            left[written] += 1
        hands.append(tuple(card[1:] + card[0] for card in hand))
    assert {card for hand in hands for card in hand} <= set(DECK)
    return tuple(hands)


def loose(text):
    """One hand with a deck of its own."""
    return hands_of(text)[0]


def start(hands, first=0, number=2, score=(0, 0), games=(0, 0), **options):
    hands = hands_of(*hands) if isinstance(hands[0], str) else hands
    match = {"games": list(games), "score": list(score)}
    return RULES.start(
        DEFAULTS | options, match, Deal(number, 4, first, hands, 24, turned=None, trumps={})
    )


def say(play, script):
    """`seat call [amount]; ..`; declarations and the showing happen by themselves."""
    for line in filter(None, (part.strip() for part in script.split(";"))):
        seat, call, *amount = line.split()
        play = play.apply(Move(int(seat), "call", (), call, int(amount[0]) if amount else None))
        play = pass_on(play)
    return play


def pass_on(play):
    while isinstance(play.due, (Declare, Show)):
        play = play.done(play.due)
    return play


def all_pass(play):
    while play.due is None:
        play = say(play, f"{play.turn[0]} paso")
    return play


def result(play):
    assert isinstance(play.due, Close)
    assert play.turn == ()
    return play.due.result


def lances(play):
    return result(play)["score"]["lances"]


def points(play):
    return result(play)["score"]["points"]


def entry(end, team=None, seat=None, stake=0, bonus=0):
    return {"bonus": bonus, "end": end, "seat": seat, "stake": stake, "team": team}


def refuses(rule, play, move):
    with pytest.raises(RuleError) as caught:
        play.apply(move)
    assert (caught.value.code, caught.value.rule) == ("illegal_move", rule)


def call(seat, what, amount=None):
    return Move(seat, "call", (), what, amount)


# --- Cards ----------------------------------------------------------------------------------------

STRENGTH = {
    "grande": mus.grande,
    "chica": mus.chica,
    "pares": mus.pares,
    "juego": lambda hand, kings: mus.juego(hand, kings, real31=False),
}
EXAMPLES = [
    ("M-T1", "grande", "K K 7 1", "K C C C", "A", 8),
    ("M-T2", "grande", "3 K 7 1", "K K 7 1", "tie", 8),
    ("M-T2", "grande", "3 K 7 1", "K K 7 1", "B", 4),
    ("M-T3", "grande", "3 3 2 2", "K 3 4 1", "B", 8),
    ("M-T4", "chica", "7 1 1 1", "6 5 4 1", "A", 8),
    ("M-T5", "chica", "K 1 1 1", "4 1 1 1", "B", 8),
    ("M-T6", "chica", "2 1 4 5", "1 1 4 5", "tie", 8),
    ("M-T7", "chica", "2 2 2 K", "1 1 4 4", "A", 8),
    ("M-T8", "pares", "K K 7 1", "C C S S", "B", 8),
    ("M-T9", "pares", "7 7 7 1", "K K C 1", "A", 8),
    ("M-T10", "pares", "K K 1 1", "C C S S", "A", 8),
    ("M-T11", "pares", "K K K K", "K K C C", "A", 8),
    ("M-T12", "pares", "C C C C", "K K 4 4", "B", 8),
    ("M-T13", "pares", "5 5 K 1", "5 5 C 1", "tie", 8),
    ("M-T14", "pares", "3 3 K 1", "7 7 7 4", "A", 8),
    ("M-T15", "pares", "1 1 2 2", "K 3 K 4", "A", 8),
    ("M-T16", "juego", "K C 7 4", "K K K S", "A", 8),
    ("M-T17", "juego", "K K 7 5", "K K K S", "A", 8),
    ("M-T18", "juego", "K K K 7", "K K 7 6", "A", 8),
    ("rank-order", "grande", "S 7 6 5", "7 7 7 7", "A", 8),
    ("rank-order", "grande", "C 1 1 1", "S S S S", "A", 8),
    ("chica-is-no-reversed-grande", "chica", "K K K 1", "4 4 4 4", "A", 8),
    ("lower-pair", "pares", "K K 5 5", "K K 4 4", "A", 8),
    ("medias-have-a-fourth", "pares", "5 5 5 K", "5 5 5 1", "tie", 8),
    ("four-kings", "pares", "3 3 K 1", "7 7 6 4", "B", 4),
]


@pytest.mark.parametrize(
    ("lance", "a", "b", "wins", "kings"),
    [example[1:] for example in EXAMPLES],
    ids=[f"{example[0]}-{example[5]}-kings" for example in EXAMPLES],
)
def test_hands_compare(lance, a, b, wins, kings):
    """MUS-6..9."""
    one, two = (STRENGTH[lance](loose(text), kings) for text in (a, b))
    assert all((one, two))
    assert wins == ("tie" if one == two else "A" if one > two else "B")
    rules = DEFAULTS | {"kings": kings}
    assert naive.beats(lance, rules, loose(a), loose(b)) is (wins == "A")
    assert naive.beats(lance, rules, loose(b), loose(a)) is (wins == "B")


@pytest.mark.parametrize(
    ("text", "kings", "points"),
    [
        ("7 7 7 S", 8, 31),
        ("K K 3 1", 8, 31),
        ("K K 3 1", 4, 24),
        ("K C 6 5", 8, 31),
        ("3 C 6 6", 8, 32),
        ("K K 3 3", 8, 40),
        ("K K 3 7", 8, 37),
        ("K K 3 6", 8, 36),
        ("K K 3 5", 8, 35),
        ("K K 3 4", 8, 34),
        ("K S 7 7", 8, 34),
        ("K S 7 6", 8, 33),
        ("7 7 7 7", 8, 28),
        ("K K 5 5", 8, 30),
        ("K K 6 4", 8, 30),
        ("K 7 7 6", 8, 30),
        ("K K 7 2", 8, 28),
        ("K K 7 2", 4, 29),
    ],
)
def test_sums(text, kings, points):
    """MUS-6, MUS-9."""
    hand = loose(text)
    assert mus.total(hand, kings) == points
    assert bool(mus.juego(hand, kings, real31=False)) is (points >= 31)


COUNTS = {
    8: {
        "pares": (39680, 43776, 4448, 3486),
        "juego": 24444,
        31: 8384,
        32: 2640,
        40: 1820,
        37: 2240,
        36: 2240,
        35: 2240,
        34: 2960,
        33: 1920,
    },
    4: {
        "pares": (53760, 34560, 1440, 1630),
        "juego": 11719,
        31: 3040,
        32: 2332,
        40: 495,
        37: 880,
        36: 880,
        35: 880,
        34: 1276,
        33: 1936,
    },
}


@pytest.mark.parametrize("kings", [8, 4])
def test_exact_counts_over_all_hands(kings):
    """MUS-6, MUS-8, MUS-9: all 91390 hands."""
    figures, sums, places = Counter(), Counter(), {}
    for hand in combinations(DECK, 4):
        figures[(*mus.pares(hand, kings), 0)[0]] += 1
        points = mus.total(hand, kings)
        sums[points] += 1
        places.setdefault(mus.juego(hand, kings, real31=False), set()).add(points)
    expected = dict(COUNTS[kings])
    assert tuple(figures[kind] for kind in range(4)) == expected.pop("pares")
    assert sum(n for points, n in sums.items() if points >= 31) == expected.pop("juego")
    assert {points: sums[points] for points in expected} == expected
    assert sums[38] == sums[39] == 0
    assert sum(sums.values()) == 91390
    del places[()]
    assert [places[key] for key in sorted(places, reverse=True)] == [
        {31}, {32}, {40}, {37}, {36}, {35}, {34}, {33}
    ]  # fmt: skip


def test_real31_beats_other_31s_only_with_the_option_and_only_with_a_jack():
    """MUS-9."""
    real, other = loose("7 7 7 S"), loose("K C 7 4")
    assert mus.juego(real, 8, real31=False) == mus.juego(other, 8, real31=False)
    assert mus.juego(real, 8, real31=True) > mus.juego(other, 8, real31=True)
    for fake in ("7 7 7 C", "7 7 7 K", "7 7 7 3"):
        assert mus.juego(loose(fake), 8, real31=True) == mus.juego(other, 8, real31=True)
    deal = ("K C 7 4", "7 7 7 S", *QUIET)
    for real31, seat in ((False, 0), (True, 1)):
        play = all_pass(say(start(deal, real31=real31), "0 no_mus"))
        assert lances(play)["juego"] == entry("paso", seat % 2, seat, 0, 3)


# --- Whole hands from the examples ----------------------------------------------------------------


def test_m_t20_a_whole_hand_in_which_all_pass():
    """MUS-20..24; M-T20, with its cards."""
    hands = (
        ("12o", "3c", "7e", "1b"),
        ("11o", "11c", "10e", "10b"),
        ("12c", "12e", "3b", "1o"),
        ("7o", "7c", "7b", "4e"),
    )
    play = all_pass(say(start(hands), "0 no_mus"))
    assert result(play) == {
        "first": 1,
        "match": {"games": [0, 0], "score": [5, 5]},
        "score": {
            "lances": {
                "grande": entry("paso", 0, 2, 1),
                "chica": entry("paso", 0, 0, 1),
                "pares": entry("paso", 1, 1, 0, 5),
                "juego": entry("paso", 0, 2, 0, 3),
                "punto": None,
            },
            "mano": 0,
            "points": [5, 5],
        },
        "winner": None,
    }


@pytest.mark.parametrize(("mano", "seat"), [(0, 0), (1, 1), (2, 0), (3, 0)])
def test_m_t21_of_equal_hands_the_one_nearer_to_mano_is_better(mano, seat):
    """MUS-10; M-T21: grande K K 7 1 and K 3 7 2."""
    play = all_pass(say(start(("K K 7 1", "K 3 7 2", *QUIET), first=mano), f"{mano} no_mus"))
    assert lances(play)["grande"]["seat"] == seat


@pytest.mark.parametrize(
    ("case", "lance", "deal"),
    [
        ("M-T2", "grande", ("3 K 7 1", "K K 7 1", *QUIET)),
        ("M-T6", "chica", ("2 1 4 5", "1 1 4 5", "K K C C", "S S 7 7")),
        ("M-T13", "pares", ("5 5 K 1", "5 5 C 1", "7 6 4 1", "7 6 4 1")),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_ties_in_a_whole_hand(case, lance, deal):
    """MUS-10: M-T2, M-T6, M-T13."""
    for mano, seat in ((0, 0), (1, 1)):
        assert (
            lances(all_pass(say(start(deal, first=mano), f"{mano} no_mus")))[lance]["seat"] == seat
        )


NOTHING = ("K 7 6 1", "C 7 5 4", "S 6 5 1", "K 6 5 4")
"""No pares and no juego; seat 0 is best in grande and chica, seat 1 in punto."""
CUT = "0 no_mus"


def test_m_t22_the_last_raise_refused_pays_what_was_agreed():
    """MUS-17..19; M-T22: envido 2, three more (5), two more (7), refused: 5 at once."""
    play = say(start(NOTHING), f"{CUT}; 0 envido 2; 1 raise 3; 2 raise 2; 3 no_quiero")
    assert play.score == (0, 0)
    play = say(play, "1 no_quiero")
    assert play.score == (5, 0)
    assert play.turn == (0,)
    assert lances(all_pass(play))["grande"] == entry("refused", 0, None, 5)


def test_m_t23_a_refused_raise_of_five():
    """MUS-19; M-T23: A bets 2, B five more, A refuses: B +2."""
    play = say(start(NOTHING), f"{CUT}; 0 envido 2; 1 raise 5; 2 no_quiero; 0 no_quiero")
    assert play.score == (0, 2)


def test_m_t23_a_refused_raise_of_ten():
    """MUS-19; M-T23: A 2, B +5, A +10, B refuses: A +7."""
    script = f"{CUT}; 0 envido 2; 1 raise 5; 2 no_quiero; 0 raise 10; 1 no_quiero; 3 no_quiero"
    assert say(start(NOTHING), script).score == (7, 0)


NO_BETS = "; ".join(f"{seat} paso" for seat in (0, 1, 2, 3) * 2)
"""Grande and chica, mano 0."""


def test_m_t23_refused_pares_pay_the_bettors_with_worse_cards():
    """MUS-17, MUS-22, MUS-23; M-T23: A has par and medias, B duples and refuses: A +1, +3."""
    play = say(start(("4 4 6 1", "7 7 6 6", "5 5 5 1", "K 7 6 1")), f"{CUT}; {NO_BETS}")
    play = say(play, "0 envido 2; 1 no_quiero")
    assert (play.score, play.lance) == ((1, 0), "punto")
    assert lances(all_pass(play))["pares"] == entry("refused", 0, None, 1, 3)


def test_m_t23_uncontested_pares():
    """MUS-15, MUS-23; M-T23: medias and par: +3, without betting."""
    play = say(start(("4 4 6 1", "C 7 5 4", "5 5 5 1", "K 7 6 1")), f"{CUT}; {NO_BETS}")
    assert play.lance == "punto"
    assert lances(all_pass(play))["pares"] == entry("uncontested", 0, 2, 0, 3)


def test_m_t23_juego_with_an_accepted_bet():
    """MUS-22, MUS-23; M-T23: bet 2, A has 31 and 33, B 32: A 7."""
    play = start(("K C 7 4", "K 3 7 5", "S C 7 6", "C S 4 1"))
    play = say(play, f"{CUT}; {NO_BETS}")
    assert play.lance == "juego"
    play = say(play, "0 envido 2; 1 quiero")
    assert lances(play)["juego"] == entry("accepted", 0, 0, 2, 5)


@pytest.mark.parametrize(
    ("punto", "script", "expected"),
    [
        ("plus_one", "0 envido 2; 1 quiero", entry("accepted", 1, 1, 2, 1)),
        ("literal", "0 envido 2; 1 quiero", entry("accepted", 1, 1, 2, 0)),
        ("plus_one", "0 envido 2; 1 no_quiero; 3 no_quiero", entry("refused", 0, None, 1, 1)),
        ("literal", "0 envido 2; 1 no_quiero; 3 no_quiero", entry("refused", 0, None, 1, 0)),
        ("plus_one", "0 paso; 1 paso; 2 paso; 3 paso", entry("paso", 1, 1, 1, 0)),
        ("literal", "0 paso; 1 paso; 2 paso; 3 paso", entry("paso", 1, 1, 1, 0)),
    ],
)
def test_m_t23_punto(punto, script, expected):
    """MUS-22; M-T23: accepted 2 is 3, and the other cases of M-A8."""
    play = say(start(NOTHING, punto=punto), f"{CUT}; {NO_BETS}; {script}")
    assert lances(play)["punto"] == expected
    assert lances(play)["juego"] is lances(play)["pares"] is None


def test_m_t23_the_count_stops_at_the_target():
    """MUS-22, MUS-24; M-T23: 38-36, grande passed for B, chica accepted 2 for A: 40, stop."""
    deal = ("7 6 4 1", "K 7 5 4", "7 6 5 1", "C 6 5 4")
    play = start(deal, score=(38, 36))
    play = say(play, f"{CUT}; 0 paso; 1 paso; 2 paso; 3 paso; 0 envido 2; 1 quiero")
    play = all_pass(play)
    assert result(play)["match"] == {"games": [1, 0], "score": [40, 37]}
    assert result(play)["winner"] == 0
    assert points(play) == [2, 1]
    assert lances(play)["punto"] == entry("paso")


def test_m_t23_points_paid_at_once_end_the_game_in_mid_hand():
    """MUS-19, MUS-24; M-T23: 20-39, A bets, B five more, A refuses: B 41, nothing is shown."""
    play = start(NOTHING, score=(20, 39))
    play = say(play, f"{CUT}; 0 envido 2; 1 raise 5; 2 no_quiero")
    play = play.apply(call(0, "no_quiero"))
    assert result(play) == {
        "first": 1,
        "match": {"games": [0, 1], "score": [20, 41]},
        "score": {
            "lances": dict.fromkeys(mus.LANCES) | {"grande": entry("refused", 1, None, 2)},
            "mano": 0,
            "points": [0, 2],
        },
        "winner": 1,
    }


def test_m_t23_ordago_between_equal_hands_is_manos():
    """MUS-10, MUS-20; M-T23: órdago at grande tied between mano (A) and the second speaker (B)."""
    play = say(start(("K K 7 1", "K 3 7 2", *QUIET)), f"{CUT}; 0 ordago")
    play = play.apply(call(1, "quiero"))
    assert isinstance(play.due, Show)
    assert play.due.cards == dict(enumerate(play.hands))
    play = play.done(play.due)
    assert result(play)["match"] == {"games": [1, 0], "score": [40, 0]}
    assert lances(play)["grande"] == entry("ordago", 0, 0, 40)
    assert result(play)["winner"] == 0


def test_an_accepted_ordago_leaves_out_whatever_was_accepted_before():
    """MUS-20, MUS-24: refusals stay paid, their bonus and accepted lances are not counted."""
    script = f"{CUT}; 0 envido 9; 1 quiero; 0 envido 2; 1 raise 2; 2 no_quiero; 0 no_quiero"
    play = say(start(("4 4 6 1", "C C S S", "5 5 5 1", "K 7 6 1"), score=(30, 10)), script)
    assert play.score == (30, 12)
    play = say(play, "0 envido 2; 1 raise 3; 2 ordago; 1 quiero")
    assert lances(play) == {
        "grande": entry("accepted"),
        "chica": entry("refused", 1, None, 2),
        "pares": entry("ordago", 1, 1, 28),
        "juego": None,
        "punto": None,
    }
    assert points(play) == [0, 30]
    assert result(play)["match"]["score"] == [30, 40]


@pytest.mark.parametrize(
    ("script", "paid"),
    [
        ("0 ordago; 1 no_quiero; 3 no_quiero", (1, 0)),
        ("0 envido 4; 1 ordago; 2 no_quiero; 0 no_quiero", (0, 4)),
        ("0 envido 4; 1 raise 3; 2 ordago; 3 no_quiero; 1 no_quiero", (7, 0)),
        ("0 envido 4; 1 no_quiero; 3 no_quiero", (1, 0)),
        ("0 paso; 1 envido 2; 2 raise 2; 3 raise 2; 0 no_quiero; 2 no_quiero", (0, 4)),
    ],
)
def test_what_a_refused_bet_pays(script, paid):
    """MUS-17..19, M-A9: max(1, agreed)."""
    play = say(start(NOTHING), f"{CUT}; {script}")
    assert play.score == paid
    assert (play.lance, play.turn) == ("chica", (0,))


def test_the_bonus_of_a_refused_lance_is_lost_when_the_count_stops_before_it():
    """MUS-22, MUS-24."""
    play = start(("4 4 6 1", "C C S S", "5 5 5 1", "K 7 6 1"), score=(0, 39))
    play = all_pass(say(play, f"{CUT}; {NO_BETS}; 0 envido 2; 1 no_quiero"))
    assert lances(play) == {
        "grande": entry("paso", 1, 3, 1),
        "chica": entry("paso"),
        "pares": entry("refused", 0, None, 1, 0),
        "juego": entry("uncontested"),
        "punto": None,
    }
    assert points(play) == [1, 1]
    assert result(play)["match"]["score"] == [1, 40]


def test_a_lance_counts_whole_and_points_above_the_target_stay():
    """MUS-22: 39 and five for pares are 44."""
    deal = ("K K 7 1", "C C S S", "7 6 5 1", "5 5 5 4")
    play = all_pass(say(start(deal, score=(0, 39)), f"{CUT}; 0 envido 2; 1 quiero"))
    assert result(play)["match"]["score"][1] in {40, 44}
    deal = ("K K 7 1", "C C S S", "7 6 4 1", "5 5 5 4")
    play = all_pass(say(start(deal, score=(0, 39)), CUT))
    assert lances(play)["pares"] == entry("paso", 1, 1, 0, 5)
    assert result(play)["match"] == {"games": [0, 1], "score": [2, 44]}
    assert lances(play)["juego"] == entry("uncontested")


# --- Talk and discards ----------------------------------------------------------------------------


def throw(play, count):
    seat = play.turn[0]
    return play.apply(Move(seat, "throw", play.hands[seat][:count]))


def mus_round(play, counts=(1, 1, 1, 1), stock=None):
    """Four times mus, discards, service from the cards that nobody has."""
    play = say(play, "; ".join(f"{seat} mus" for seat in play.order()))
    before = {card for hand in play.hands for card in hand}
    for count in counts:
        play = throw(play, count)
    assert play.due == Serve()
    stock = stock or [card for card in DECK if card not in before]
    drawn = [(seat, stock.pop()) for seat in play.order() for _ in range(play.owed[seat])]
    return play.done(play.due, drawn)


@pytest.mark.parametrize("cutter", range(4))
@pytest.mark.parametrize("mano", range(4))
def test_a_cut_ends_the_talk_and_mano_begins(mano, cutter):
    """MUS-11, MUS-12: without mus_corrido mano stays, whoever cuts."""
    play = start(NOTHING, first=mano, number=1)
    for step in range((cutter - mano) % 4):
        play = say(play, f"{(mano + step) % 4} mus")
    assert play.turn == (cutter,)
    play = say(play, f"{cutter} no_mus")
    assert (play.stage, play.lance, play.turn) == ("bet", "grande", (mano,))
    assert result(all_pass(play))["first"] == (mano + 1) % 4


@pytest.mark.parametrize("corrido", [True, False])
@pytest.mark.parametrize("number", [1, 2])
@pytest.mark.parametrize("cutter", range(4))
def test_mus_corrido(corrido, number, cutter):
    """MUS-12: in hand 1 mano moves on after each round, and who cuts is mano."""
    moves = corrido and number == 1
    play = start(NOTHING, first=3, number=number, mus_corrido=corrido)
    for done in range(1, 3):
        play = mus_round(play)
        assert play.mano == ((3 + done) % 4 if moves else 3)
        assert play.turn == (play.mano,)
    while play.turn != (cutter,):
        play = say(play, f"{play.turn[0]} mus")
    play = say(play, f"{cutter} no_mus")
    mano = cutter if moves else 3
    assert play.turn == (mano,)
    final = result(all_pass(play))
    assert final["first"] == (mano + 1) % 4
    assert final["score"]["mano"] == mano


@pytest.mark.parametrize("number", [1, 2])
@pytest.mark.parametrize("corrido", [True, False])
@pytest.mark.parametrize("first", range(4))
def test_the_dealing_procedure_has_the_same_seat_throw(first, corrido, number):
    """MUS-1, MUS-12, MUS-13."""
    game, rules = Mus(), {**DEFAULTS, "mus_corrido": corrido}
    layout = game.deal(rules, 4, first, number, None)
    play = start(NOTHING, first=first, number=number, mus_corrido=corrido)
    rng = Random(first)
    for _ in range(4):
        play = say(play, "; ".join(f"{seat} mus" for seat in play.order()))
        left = [card for card in DECK if not any(card in hand for hand in play.hands)]
        while play.due is None:
            count = rng.randint(1, 4)
            layout = game.discard(rules, layout, {play.turn[0]: count})
            play = throw(play, count)
        assert [layout.owed.count(seat) for seat in range(4)] == list(play.owed)
        play = play.done(play.due, [(seat, left.pop()) for seat in layout.owed])
        layout = game.served(layout)


def test_service_comes_in_parts_and_the_talk_waits_for_the_last_card():
    """MUS-13: a reshuffle in the midst of it."""
    play = say(start(NOTHING), "0 mus; 1 mus; 2 mus; 3 mus")
    thrown = {}
    for count in (3, 1, 4, 2):
        seat = play.turn[0]
        thrown[seat] = play.hands[seat][:count]
        play = throw(play, count)
    assert [len(hand) for hand in play.hands] == [1, 3, 0, 2]
    left = [card for card in DECK if not any(card in hand for hand in play.hands)]
    play = play.done(Serve(), [(0, left.pop()) for _ in range(3)] + [(1, left.pop())])
    assert (play.due, play.turn) == (Serve(), ())
    play = play.done(Serve(), [(2, thrown[2][0])])
    play = play.done(Serve())
    assert play.due == Serve()
    refuses("PLAY-3", play, call(0, "mus"))
    with pytest.raises(ValueError, match="owed no card"):
        play.done(Serve(), [(0, left.pop())])
    play = play.done(Serve(), [(2, left.pop()) for _ in range(3)] + [(3, left.pop())])
    assert play.due == Serve()
    play = play.done(Serve(), [(3, left.pop())])
    assert (play.due, play.turn, play.stage) == (None, (0,), "talk")
    assert [len(hand) for hand in play.hands] == [4] * 4
    assert thrown[2][0] in play.hands[2]


def test_discards_have_one_to_four_cards_in_any_order():
    """MUS-13."""
    play = say(start(NOTHING), "0 mus; 1 mus; 2 mus; 3 mus")
    hand = play.hands[0]
    assert (
        len(play.choices(0)) == len({frozenset(choice.cards) for choice in play.choices(0)}) == 15
    )
    for cards in permutations(hand, 3):
        assert play.apply(Move(0, "throw", cards)).hands[0] == (*set(hand) - set(cards),)
    for cards in ((), (hand[0], hand[0]), (play.hands[1][0],), (*hand, play.hands[1][0])):
        refuses("MUS-13", play, Move(0, "throw", cards))
    refuses("MUS-13", play, Move(1, "throw", play.hands[1][:1]))
    refuses("MUS-13", play, call(0, "no_mus"))
    refuses("MUS-21", play, Move(0, "show", hand[:1]))
    refuses("PLAY-3", play, Move(0, "throw", hand[:1], "mus"))
    refuses("PLAY-3", play, Move(0, "throw", hand[:1], None, 1))


# --- Betting --------------------------------------------------------------------------------------


def test_who_answers_and_in_which_order():
    """MUS-17, M-A14: the next after the bettor, then the partner; passing forbids nothing."""
    play = say(start(NOTHING), f"{CUT}; 0 paso; 1 paso; 2 paso; 3 envido 2")
    assert play.turn == (0,)
    play = say(play, "0 no_quiero")
    assert play.turn == (2,)
    play = say(play, "2 raise 2")
    assert play.turn == (3,)
    play = say(play, "3 no_quiero; 1 raise 4")
    assert play.turn == (2,)
    play = say(play, "2 quiero")
    assert (play.lance, play.turn) == ("chica", (0,))
    assert play.ended[0].level == 8


def test_only_those_who_have_pares_speak_and_answer():
    """MUS-14, MUS-17."""
    deal = ("K K 7 1", "7 6 5 4", "S 6 5 4", "C C 5 1")
    play = start(deal, first=1)
    play = say(play, "1 no_mus; " + "; ".join(f"{s} paso" for s in (1, 2, 3, 0, 1, 2, 3)))
    play = play.apply(call(0, "paso"))
    assert play.due == Declare("pares", (0, 3))
    assert play.turn == ()
    play = play.done(play.due)
    assert play.turn == (3,)
    play = say(play, "3 envido 2")
    assert play.turn == (0,)
    play = say(play, "0 raise 2")
    assert play.turn == (3,)
    refuses("MUS-17", play, call(1, "quiero"))
    play = say(play, "3 no_quiero")
    assert play.score == (2, 0)


def test_nobody_has_pares_or_juego():
    """MUS-14, MUS-15: both are declared, empty; then all four speak in punto."""
    play = start(NOTHING)
    for seat in (0, *range(4), *range(4)):
        play = play.apply(call(seat, "paso" if play.stage == "bet" else "no_mus"))
    assert play.due == Declare("pares", ())
    play = play.done(play.due)
    assert play.due == Declare("juego", ())
    play = play.done(play.due)
    assert (play.lance, play.speakers) == ("punto", (0, 1, 2, 3))


def test_with_juego_at_one_seat_there_is_no_punto():
    """MUS-14, MUS-15."""
    play = say(start(("K C 7 4", "C 7 5 4", "S 6 5 1", "K 6 5 4")), f"{CUT}; {NO_BETS}")
    assert lances(play)["juego"] == entry("uncontested", 0, 0, 0, 3)
    assert lances(play)["punto"] is None


def amounts(play, what):
    return [(c.low, c.high) for c in play.choices(play.turn[0]) if c.call == what]


@pytest.mark.parametrize("target", [40, 30])
def test_amounts_of_bets(target):
    """MUS-18, M-A6, M-A13."""
    play = say(start(NOTHING, target=target), CUT)
    assert amounts(play, "envido") == [(2, target)]
    for bad in (None, -1, 0, 1, target + 1, 2**60):
        refuses("MUS-18", play, call(0, "envido", bad))
    refuses("MUS-18", play, call(0, "paso", 2))
    top = say(play, f"0 envido {target}")
    assert amounts(top, "raise") == []
    refuses("MUS-18", top, call(1, "raise", 2))
    assert amounts(say(play, f"0 envido {target - 1}"), "raise") == []
    play = say(play, f"0 envido {target - 5}; 1 raise 2")
    assert amounts(play, "raise") == [(2, 3)]
    refuses("MUS-18", play, call(2, "raise", 4))
    refuses("MUS-18", play, call(2, "raise", 1))
    assert say(play, "2 raise 3").bet.level == target


def test_fixed_raises():
    """MUS-18: option raises."""
    play = say(start(NOTHING, raises="fixed2"), CUT)
    assert amounts(play, "envido") == [(2, 2)]
    refuses("MUS-18", play, call(0, "envido", 3))
    play = say(play, "0 envido 2")
    for step in range(19):
        assert amounts(play, "raise") == [(2, 2)]
        refuses("MUS-18", play, call(play.turn[0], "raise", 4))
        play = say(play, f"{play.turn[0]} raise 2")
        assert play.bet.agreed == 2 * step + 2
    assert play.bet.level == 40
    assert amounts(play, "raise") == []


def test_without_ordago():
    """MUS-16, MUS-17: option ordago."""
    play = say(start(NOTHING, ordago=False), CUT)
    assert [c.call for c in play.choices(0)] == ["paso", "envido"]
    refuses("MUS-16", play, call(0, "ordago"))
    play = say(play, "0 envido 2")
    assert [c.call for c in play.choices(1)] == ["quiero", "no_quiero", "raise"]
    refuses("MUS-17", play, call(1, "ordago"))


def test_an_ordago_is_accepted_or_refused():
    """MUS-17."""
    play = say(start(NOTHING), f"{CUT}; 0 ordago")
    assert [c.call for c in play.choices(1)] == ["quiero", "no_quiero"]
    for what, amount in (("raise", 2), ("ordago", None), ("envido", 2), ("paso", None)):
        refuses("MUS-17", play, call(1, what, amount))


def test_refusals_name_the_requirement():
    """MUS-11, MUS-16, MUS-17, MUS-21, PLAY-3."""
    play = start(NOTHING)
    refuses("MUS-11", play, call(1, "mus"))
    refuses("MUS-11", play, call(0, "paso"))
    refuses("MUS-11", play, call(0, None))
    refuses("MUS-13", play, Move(0, "throw", play.hands[0][:1]))
    refuses("MUS-21", play, Move(0, "show", play.hands[0][:1]))
    refuses("PLAY-3", play, Move(0, "look"))
    refuses("PLAY-3", play, Move(0, "pull"))
    refuses("PLAY-3", play, Move(0, "call", play.hands[0][:1], "mus"))
    refuses("MUS-18", play, call(0, "mus", 2))
    play = say(play, CUT)
    refuses("MUS-16", play, call(1, "paso"))
    refuses("MUS-16", play, call(0, "quiero"))
    refuses("MUS-16", play, call(0, "raise", 2))
    play = say(play, "0 envido 2")
    refuses("MUS-17", play, call(0, "quiero"))
    refuses("MUS-17", play, call(3, "quiero"))
    refuses("MUS-17", play, call(1, "envido", 2))
    refuses("MUS-17", play, call(1, "paso"))
    play = all_pass(say(play, "1 quiero"))
    refuses("PLAY-3", play, call(0, "mus"))
    with pytest.raises(ValueError, match="nothing comes"):
        play.done(play.due)
    with pytest.raises(ValueError, match="not due"):
        play.done(Serve())


# --- The match ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("games", "won", "after", "winner"),
    [
        (1, (0, 0), [0, 1], 1),
        (3, (0, 0), [0, 1], None),
        (3, (1, 1), [1, 2], 1),
        (3, (1, 0), [1, 1], None),
        (5, (2, 1), [2, 2], None),
        (5, (1, 2), [1, 3], 1),
    ],
)
def test_games_make_a_match(games, won, after, winner):
    """MUS-25: option games."""
    match = {"games": list(won), "score": [7, 35]}
    deal = Deal(9, 4, 2, hands_of(*NOTHING), 24, turned=None, trumps={})
    play = RULES.start(DEFAULTS | {"games": games}, match, deal)
    play = say(play, "2 no_mus; 2 envido 8; 3 raise 2; 0 no_quiero; 2 no_quiero")
    score = [7, 43] if winner is not None else [0, 0]
    assert result(play)["match"] == {"games": after, "score": score}
    assert result(play)["winner"] == winner
    assert result(play)["first"] == 3
    assert match == {"games": list(won), "score": [7, 35]}


@pytest.mark.parametrize("target", [40, 30])
def test_the_target(target):
    """MUS-22: option target."""
    play = all_pass(say(start(NOTHING, score=(target - 1, 0), target=target), CUT))
    assert result(play)["winner"] == 0
    play = all_pass(say(start(NOTHING, score=(target - 9, 0), target=target), CUT))
    assert result(play)["winner"] is None


def test_options_and_a_fresh_match():
    """MUS-25; the options that play-mus.md has."""
    assert RULES.fresh(DEFAULTS, 4) == FRESH
    assert RULES.out(FRESH) == frozenset()
    assert not RULES.options.keys() & Mus.options.keys()
    assert {name: list(values) for name, values in RULES.options.items()} == {
        "games": [1, 3, 5],
        "kings": [8, 4],
        "ordago": [True, False],
        "punto": ["plus_one", "literal"],
        "raises": ["free", "fixed2"],
        "real31": [False, True],
        "target": [40, 30],
    }


# --- Whole hands at random ------------------------------------------------------------------------


def legal_of(play, seat):
    """What `choices` says, as the naive reading puts it."""
    found = []
    for choice in play.choices(seat):
        if choice.kind == "throw":
            found.append(frozenset(choice.cards))
        elif choice.low is None:
            found.append((choice.call, None))
        else:
            found += [(choice.call, n) for n in range(choice.low, choice.high + 1)]
    assert len(found) == len(set(found))
    return set(found)


def conceivable(play, seat):
    """Moves, most of them not legal."""
    for what, amount in product(CALLS, (None, 0, *range(-1, 43))):
        yield (what, amount), call(seat, what, amount)
    hand = play.hands[seat]
    others = [card for card in DECK if card not in hand][:1]
    for n in range(4 + 2):
        for cards in combinations([*hand, *others], n):
            yield frozenset(cards), Move(seat, "throw", cards)
            yield "show", Move(seat, "show", cards)
    yield "twice", Move(seat, "throw", hand[:1] * 2)


def accepts(play, move):
    try:
        play.apply(move)
    except RuleError:
        return False
    return True


def pick(rng, legal, lively):
    """A move of those: mus and bets now and then."""
    # A set's own order is another one in every process.
    calls = sorted(legal, key=lambda one: str(sorted(one) if isinstance(one, frozenset) else one))
    if isinstance(calls[0], frozenset):
        return rng.choice(calls)
    names = sorted({what for what, _ in calls})
    if "mus" in names:
        return ("mus" if rng.random() < 0.85 else "no_mus"), None
    if rng.random() > lively:
        names = [n for n in names if n not in {"ordago", "raise", "envido"}] or names
    name = rng.choice(names)
    return rng.choice([one for one in calls if one[0] == name][: rng.choice([1, 3, 99])])


def compare(rng, options, match, number, lively=0.5, check=None):
    """A random hand, move by move the same in both readings; its result."""
    rules = DEFAULTS | options
    deck = list(DECK)
    rng.shuffle(deck)
    first = rng.randrange(4)
    hands = tuple(tuple(deck[seat * 4 : seat * 4 + 4]) for seat in range(4))
    stock, heap = deck[16:], []
    play = RULES.start(rules, match, Deal(number, 4, first, hands, 24, turned=None, trumps={}))
    story = naive.tell(rules, match, number, first, hands)
    answer = None
    told = None
    while told is None:
        assert bool(play.turn) is (play.due is None)
        held = [card for hand in play.hands for card in hand]
        assert sorted([*held, *stock, *heap]) == sorted(DECK)
        try:
            what, *rest = story.send(answer)
        except StopIteration as end:
            told = end.value
            continue
        if check:
            check(play)
        if what == "turn":
            seat, legal = rest
            assert play.turn == (seat,)
            assert legal_of(play, seat) == legal
            assert not any(play.choices(other) for other in range(4) if other != seat)
            answer = pick(rng, legal, lively)
            if isinstance(answer, frozenset):
                heap += sorted(answer)
                play = play.apply(Move(seat, "throw", tuple(sorted(answer))))
            else:
                play = play.apply(call(seat, *answer))
        elif rest[0] == "serve":
            assert play.due == Serve()
            owed = [seat for seat in play.order() for _ in range(play.owed[seat])]
            if not stock:
                rng.shuffle(heap)
                stock, heap = heap, []
            answer = [(seat, stock.pop()) for seat in owed[: len(stock)]]
            play = play.done(play.due, answer)
        elif rest[0] == "declare":
            assert play.due == Declare(*rest[1:])
            play, answer = play.done(play.due), None
        else:
            assert isinstance(play.due, Show)
            assert play.due.cards == dict(enumerate(map(tuple, rest[1])))
            assert set(map(len, rest[1])) == {4}
            play, answer = play.done(play.due), None
    assert result(play) == told
    assert not any(play.choices(seat) for seat in range(4))
    return told


def some_options(rng):
    return {
        name: rng.choice(values)
        for name, values in (*RULES.options.items(), ("mus_corrido", (False, True)))
    }


@pytest.mark.parametrize("seed", range(8))
def test_random_matches_are_the_same_in_both_readings(seed):
    """MUS-6..25, PLAY-2, PLAY-5: matches from fresh to won, a hundred hands each."""
    rng = Random(seed)
    options, match, ends, won = some_options(rng), FRESH, Counter(), 0
    for number in range(1, 101):
        before = match
        told = compare(rng, options, match, rng.choice([1, number]), rng.choice([0.1, 0.5, 0.9]))
        match = told["match"] if told["winner"] is None else FRESH
        if told["winner"] is None and told["match"]["games"] == before["games"]:
            for team in (0, 1):
                gained = told["match"]["score"][team] - before["score"][team]
                assert gained == told["score"]["points"][team] >= 0
        won += told["winner"] is not None
        ends.update(e["end"] for e in told["score"]["lances"].values() if e)
        options = some_options(rng) if match == FRESH else options
    assert won
    assert {"paso", "accepted", "refused", "uncontested", "ordago"} <= ends.keys()


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 2**32), st.data())
def test_any_hand_is_the_same_in_both_readings(seed, data):
    """MUS-6..25, at any score, with any options."""
    options = {
        name: data.draw(st.sampled_from(values), name) for name, values in RULES.options.items()
    }
    options["mus_corrido"] = data.draw(st.booleans(), "corrido")
    below = st.integers(0, options["target"] - 1)
    won = st.integers(0, options["games"] // 2)
    match = {
        "games": [data.draw(won), data.draw(won)],
        "score": [data.draw(below), data.draw(below)],
    }
    compare(Random(seed), options, match, data.draw(st.integers(1, 2)))


def test_apply_accepts_exactly_the_choices():
    """PLAY-3: every conceivable move of every seat, in some hundreds of states."""
    rng, seen = Random(5), Counter()

    def check(play):
        if rng.random() > 0.4:
            return
        seen[play.stage] += 1
        for seat in range(4):
            legal = legal_of(play, seat)
            accepted = {key for key, move in conceivable(play, seat) if accepts(play, move)}
            assert accepted == legal

    for number in range(1, 41):
        compare(rng, some_options(rng), FRESH, number, 0.6, check)
    assert sum(seen.values()) > 300
    assert {"talk", "throw", "bet", "serve", "declare", "show"} <= seen.keys()


@pytest.mark.parametrize("slip", ["chica", "kings", "ties", "agreed", "stop", "bonus"])
def test_the_comparison_finds_a_slip(slip, monkeypatch):
    """Negative control: known faults of other programs are seen by the comparison."""
    if slip == "chica":
        reverse = lambda hand, kings: tuple(-r for r in mus.grande(hand, kings))  # noqa: E731
        monkeypatch.setattr(mus, "chica", reverse)
    if slip == "kings":
        real = mus.rank
        monkeypatch.setattr(mus, "rank", lambda card, kings: real(card, 8 if kings == 4 else 4))
    if slip == "ties":
        last = lambda self, lance: max(  # noqa: E731
            reversed(self.order()), key=lambda seat: self._strength(lance, seat)
        )
        monkeypatch.setattr(mus.MusPlay, "_best", last)
    if slip == "agreed":
        real_refused = mus.MusPlay._refused
        monkeypatch.setattr(
            mus.MusPlay, "_refused", lambda self, bet: real_refused(self, bet._replace(agreed=1))
        )
    if slip == "stop":
        monkeypatch.setattr(mus.MusPlay, "_game_over", lambda self: False)
    if slip == "bonus":
        monkeypatch.setattr(mus.MusPlay, "_bonus", lambda self, over, team: 0)
    with pytest.raises(AssertionError):  # noqa: PT012
        rng, match = Random(1), FRESH
        for number in range(1, 200):
            match = compare(rng, {"games": 5}, match, number, 0.5)["match"]
            match = match if max(match["games"]) < 3 else FRESH


def test_a_hand_replays_fast():
    """A generous bound; it takes a fraction of a millisecond."""
    script = f"{CUT}; {NO_BETS}; 0 paso; 1 envido 2; 2 quiero"
    begun = process_time()
    for _ in range(50):
        result(say(start(NOTHING), script))
    assert (process_time() - begun) / 50 < 0.01
