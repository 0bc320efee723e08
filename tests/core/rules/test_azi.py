"""The play of Azi. Spec: AZI-5..18, PLAY-3..6.

Examples are named as in the list of the rule text's examples, A-T1 to A-T9.
"""

from collections import Counter
from dataclasses import replace
from itertools import combinations, pairwise, product
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairdeal.cards import CARDS, FRENCH_RANKS, Card, french_deck, suit_of
from fairdeal.errors import StateError
from fairdeal.games import game_named
from fairdeal.games.rules import azi
from fairdeal.games.rules.azi import AziRules, best, capped, proportional, replies
from fairdeal.games.rules.base import Close, Deal, Draw, Move, RuleError, Span
from tests.core.rules.azi_naive import settled, story

AZI = AziRules()
DECK = french_deck("DHS")
DEFAULTS = {"blind": False, "cards": 3, "six_on_stage": True, "suits": "DHS", "trump": "next_card"}
DEFAULTS |= {
    name: value.default if isinstance(value, Span) else value[0]
    for name, value in AziRules.options.items()
}
CALLS = ("bet", "check", "fold", "call", "raise", "all_in", "buy_in", "stay_out")

ONE_EACH = ("AD 6H 6S", "KD AH 7S", "QD KH AS", "JD QH KS", "10D JH QS", "9D 10H JS")
"""By seat. Seat 0 takes a trick with diamonds, seat 1 with hearts, seat 2 with spades."""


def ruleset(**rules):
    assert rules.keys() <= DEFAULTS.keys()
    return DEFAULTS | rules


def match_of(stacks, players=None, bank=0, contributions=None, winner=None):
    players = [s for s, chips in enumerate(stacks) if chips] if players is None else players
    return {
        "bank": bank,
        "contributions": contributions or {},
        "players": players,
        "stacks": list(stacks),
        "winner": winner,
    }


def dealt(hands, turned="9H", first=0):
    hands = tuple(tuple(Card(c) for c in hand.split()) for hand in hands)
    stock = 27 - sum(map(len, hands))
    return Deal(1, len(hands), first, hands, stock, Card(turned), {})


def hand(stacks=(1000, 1000, 1000), *, turned="9H", first=0, hands=None, match=None, **rules):
    """A hand that begins."""
    match = match or match_of(stacks)
    hands = hands or ONE_EACH[: len(match["stacks"])]
    return AZI.start(ruleset(**rules), match, dealt(hands, turned, first))


def move_of(text):
    """`0 raise 40`, `1 show KD`, `2 look`."""
    seat, word, *more = text.split()
    if word in {"show", "throw"}:
        return Move(int(seat), word, tuple(map(Card, more)))
    if word in {"look", "pull"}:
        return Move(int(seat), word)
    return Move(int(seat), "call", (), word, int(more[0]) if more else None)


def go(play, moves):
    """The play after moves, each of them a choice; with `..` the rest is not looked at."""
    for text in moves.split(", "):
        move = move_of(text)
        assert move in set(legal(play, move.seat)), text
        play = play.apply(move)
    return play


def bid(play):
    """Through the bidding without a raise."""
    while play.part == "bidding":
        calls = {c.call: c for c in play.choices(play.turn[0])}
        choice = calls.get("bet") or calls.get("call") or calls["all_in"]
        play = play.apply(choice.move(play.turn[0]))
    return play


def tricks(play, cards):
    """Cards shown by whoever is on turn."""
    for card in cards.split():
        (seat,) = play.turn
        play = go(play, f"{seat} show {card}")
    return play


def azi_of(play):
    """1-1-1 with the cards of ONE_EACH: diamonds, hearts, spades; seat 0 leads."""
    play = bid(play)
    assert play.turn == (0,)
    for suit in "DHS":
        for _ in play.active:
            (seat,) = play.turn
            (card,) = [c for c in play.hands[seat] if suit_of(c) == suit]
            play = play.apply(Move(seat, "show", (card,)))
    assert play.tricks == (0, 1, 2)
    return play


def legal(play, seat):
    """All legal moves of a seat, each amount by itself."""
    for choice in play.choices(seat):
        if choice.low is None:
            yield choice.move(seat)
        else:
            yield from (choice.move(seat, a) for a in range(choice.low, choice.high + 1))


def calls(play, seat=None):
    """The calls of the seat on turn, and the bounds of their amounts."""
    (turn,) = play.turn
    found = play.choices(turn if seat is None else seat)
    return {c.call: (c.low, c.high) if c.low is not None else None for c in found}


def result(play):
    assert play.turn == ()
    assert isinstance(play.due, Close)
    return play.due.result


def refused(play, move, rule):
    move = move_of(move) if isinstance(move, str) else move
    with pytest.raises(RuleError) as error:
        play.apply(move)
    assert error.value.rule == rule
    assert error.value.code == "illegal_move"


# --- options and match ---------------------------------------------------------------------------


def test_the_options():
    """PLAY-1."""
    assert AziRules.options == {
        "all_in": ("capped", "proportional"),
        "ante": Span(10, 1, 1_000_000),
        "azi": ("all_ante", "half_bank", "three_only"),
        "min_bet": Span(10, 1, 1_000_000),
        "must_trump": (True, False),
        "opener": ("must_bet", "may_check"),
        "raises": ("three_per_player", "three_total", "three_actions"),
        "stack": Span(1000, 1, 1_000_000_000),
    }


@pytest.mark.parametrize("seats", range(2, 7))
def test_a_fresh_match(seats):
    """AZI-5."""
    fresh = AZI.fresh(ruleset(stack=77), seats)
    assert fresh == match_of([77] * seats)
    assert AZI.out(fresh) == frozenset()


def test_who_is_out_does_nothing_and_keeps_its_chips():
    """AZI-5: passed over in antes, throws, bidding, tricks and buying in."""
    match = match_of((100, 0, 100, 500, 100), players=[0, 2, 4])
    assert AZI.out(match) == {1, 3}
    hands = ("AD 6H 6S 8S", "KD AH 7S 9S", "QD KH AS 10S", "JD QH KS JS", "10D JH QS 8H")
    play = hand(match=match, hands=hands, first=3, cards=4, blind=True, azi="half_bank")
    assert play.stacks == (90, 0, 90, 500, 90)
    assert play.turn == (0, 2, 4)
    for seat in (1, 3):
        assert play.choices(seat) == ()
        for text in ("look", f"throw {play.hands[seat][0]}", "bet 10"):
            refused(play, f"{seat} {text}", "AZI-5")
    play = go(play, "2 throw 10S, 0 throw 8S, 4 throw 8H")
    assert play.turn == (4,)
    play = go(play, "4 bet 10, 0 call, 2 call, 4 look, 4 show QS, 0 look")
    play = go(play, "0 show 6S, 2 look, 2 show AS, 2 show QD, 4 show 10D, 0 show AD")
    play = go(play, "0 show 6H, 2 show KH, 4 show JH")
    assert play.tricks == (2, 0, 2)
    assert result(play)["match"] == match_of((80, 0, 140, 500, 80), winner=2)


@pytest.mark.parametrize("seat", [-1, 3, 4, 99])
def test_a_seat_that_is_not_there(seat):
    """AZI-5."""
    assert hand().choices(seat) == ()
    refused(hand(), Move(seat, "call", (), "bet", 10), "AZI-5")


def test_a_card_is_turned():
    with pytest.raises(StateError):
        AZI.start(ruleset(), AZI.fresh(ruleset(), 2), replace(dealt(ONE_EACH[:2]), turned=None))


def test_antes():
    """AZI-6: all it has, if that is less."""
    play = hand((1000, 7, 10), ante=10)
    assert (play.stacks, play.contributions, play.bank) == ((990, 0, 0), (10, 7, 10), 27)
    assert hand((5, 5), ante=1_000_000).stacks == (0, 0)


CARRIED = match_of((100, 100, 100), bank=90, contributions={"0": 30, "1": 30, "2": 30})


@pytest.mark.parametrize(
    ("rule", "bank"), [("all_ante", 120), ("half_bank", 90), ("three_only", 90)]
)
def test_antes_when_a_bank_is_carried(rule, bank):
    """AZI-6."""
    play = hand(match=CARRIED, azi=rule)
    assert play.bank == bank == sum(play.contributions)
    assert hand(azi=rule).bank == 30


# --- throws and looks ----------------------------------------------------------------------------

FOUR = ("AD 6H 6S 8S", "KD AH 7S 8H", "QD KH AS 8D")


def test_everybody_throws_one_of_four():
    """AZI-7: in any order, all at the same time, before anybody bids."""
    play = hand(hands=FOUR, cards=4, first=1)
    assert play.turn == (0, 1, 2)
    assert [c.cards for c in play.choices(2)] == [("QD",), ("KH",), ("AS",), ("8D",)]
    refused(play, "1 bet 10", "AZI-7")
    refused(play, "1 show KD", "AZI-7")
    refused(play, "1 throw AD", "AZI-7")
    refused(play, "1 throw KD AH", "AZI-7")
    play = go(play, "2 throw 8D")
    assert play.turn == (0, 1)
    assert play.choices(2) == ()
    refused(play, "2 throw QD", "AZI-7")
    play = go(play, "0 throw 8S, 1 throw 8H")
    assert play.turn == (1,)
    assert play.hands == hand().hands
    assert play.thrown == {0: "8S", 1: "8H", 2: "8D"}
    refused(go(play, "1 bet 10, 2 call, 0 call"), "1 show 8H", "AZI-13")


def test_nothing_is_thrown_of_three():
    """AZI-7."""
    refused(hand(), "0 throw AD", "AZI-10")
    refused(hand(), "1 throw KD", "AZI-9")


def test_a_blind_seat_looks_once_and_before_it_shows():
    """AZI-8."""
    play = hand(blind=True, opener="may_check")
    assert all(["look" in {c.kind for c in play.choices(seat)} for seat in range(3)])
    play = go(play, "2 look")
    assert play.turn == (0,)
    assert play.choices(2) == ()
    refused(play, "2 look", "AZI-8")
    play = go(play, "0 bet 10, 1 fold, 2 call")
    refused(play, "1 look", "AZI-8")
    assert play.choices(1) == ()
    assert [c.kind for c in play.choices(0)] == ["look"]
    refused(play, "0 show AD", "AZI-8")
    refused(play, Move(0, "look", ("AD",)), "AZI-8")
    refused(play, Move(0, "look", (), "look"), "AZI-8")
    refused(play, Move(0, "look", (), None, 1), "AZI-8")
    play = go(play, "0 look")
    assert play.turn == (0,)
    go(play, "0 show AD, 2 show QD")


def test_a_blind_seat_throws_unseen():
    """AZI-8, AZI-7: looks are legal while others throw, and change nobody's turn."""
    play = go(hand(hands=FOUR, cards=4, blind=True), "0 throw 8S, 0 look, 1 look")
    assert play.turn == (1, 2)
    play = go(play, "2 throw 8D, 1 throw 8H")
    assert play.turn == (0,)
    assert play.looked == {0, 1}


def test_without_blind_nobody_looks():
    """AZI-8."""
    play = hand()
    assert all(["look" not in {c.kind for c in play.choices(seat)} for seat in range(3)])
    refused(play, "0 look", "AZI-8")


def test_nobody_looks_when_the_hand_is_over():
    """AZI-8, PLAY-3."""
    play = go(hand(blind=True), "0 bet 10, 1 fold, 2 fold")
    assert play.choices(0) == ()
    refused(play, "0 look", "PLAY-3")


# --- bidding -------------------------------------------------------------------------------------


def test_a_t6_the_last_raiser_leads():
    """AZI-9, AZI-12, A-T6: bank 40 + 40 + 20 and the antes."""
    play = go(hand(), "0 bet 10, 1 raise 20, 2 call, 0 raise 40, 1 call, 2 fold")
    assert (play.leader, play.turn) == (0, (0,))
    assert play.bids == (40, 40, 20)
    assert play.bank == 100 + 30
    assert play.stacks == (950, 950, 970)


@pytest.mark.parametrize("first", range(4))
def test_the_opener_is_the_first_player(first):
    """AZI-9: from `first` on, a seat that is out or has no chips is passed over."""
    play = hand(match=match_of((100, 0, 100, 100), players=[0, 2, 3]), first=first)
    assert play.turn == ({0: 0, 1: 2, 2: 2, 3: 3}[first],)
    poor = hand((100, 4, 100, 100), first=1)
    assert poor.turn == (2,)


def test_a_raise_in_the_last_seat_closes_once_the_others_call():
    """AZI-9: published behaviour."""
    play = go(hand(), "0 bet 10, 1 call, 2 raise 20, 0 call")
    assert play.part == "bidding"
    play = go(play, "1 call")
    assert (play.part, play.leader) == ("tricks", 2)


def test_a_raise_asks_everybody_again():
    """AZI-9: published behaviour."""
    play = go(hand(), "0 bet 10, 1 raise 20, 2 raise 30")
    assert play.owing == {0, 1}
    play = go(play, "0 raise 40")
    assert play.owing == {1, 2}
    assert play.turn == (1,)


def test_a_folded_last_seat_does_not_keep_the_bidding_alive():
    """AZI-9: published behaviour."""
    play = go(hand(), "0 bet 10, 1 call, 2 fold")
    assert (play.part, play.leader) == ("tricks", 0)
    play = go(hand(), "0 bet 10, 1 raise 20, 2 fold, 0 raise 30, 1 call")
    assert (play.part, play.leader) == ("tricks", 0)
    refused(play, "2 show QD", "AZI-13")


def test_one_player_left_never_plays():
    """AZI-15, AZI-9: takes the bank, nothing is shown, and the other is not asked."""
    play = go(hand(), "0 bet 10, 1 raise 25, 2 fold, 0 fold")
    assert play.hands == hand().hands
    assert result(play) == {
        "first": 2,
        "match": match_of((980, 1030, 990), winner=1),
        "score": {
            "azi": False,
            "bank": 65,
            "bought": [],
            "contributions": {"0": 20, "1": 35, "2": 10},
            "folded": [0, 2],
            "leader": None,
            "paid": {"1": 65},
            "tricks": [],
            "winner": 1,
        },
        "winner": None,
    }


def test_the_opener_must_bet():
    """AZI-10."""
    play = hand(min_bet=15)
    assert calls(play) == {"bet": (15, 990)}
    for wrong in ("fold", "check", "call", "raise 20", "all_in", "bet", "bet 14", "bet 991"):
        refused(play, f"0 {wrong}", "AZI-10")
    for wrong in (True, 1.0, "1"):
        refused(hand(min_bet=1), Move(0, "call", (), "bet", wrong), "AZI-10")
    refused(play, Move(0, "call", ("AD",), "bet", 15), "AZI-10")
    refused(play, Move(0, "call", (), None, 15), "AZI-10")
    refused(play, Move(0, "show", ("AD",)), "AZI-10")
    refused(play, "0 pull", "AZI-10")
    refused(play, "1 bet 15", "AZI-9")


def test_the_answers():
    """AZI-10: the amount of a raise is what the bid becomes, one more is enough."""
    play = go(hand(), "0 bet 50")
    assert calls(play) == {"call": None, "fold": None, "raise": (51, 990)}
    for wrong in ("bet 60", "check", "all_in", "raise 50", "raise 991", "raise", "call 50"):
        refused(play, f"1 {wrong}", "AZI-10")
    play = go(play, "1 raise 51, 2 call")
    assert calls(play) == {"call": None, "fold": None, "raise": (52, 990)}
    assert play.bids == (50, 51, 51)


def test_the_opener_may_check():
    """AZI-10, AZI-12: if all check, the opener leads."""
    play = hand(opener="may_check", first=1)
    assert calls(play) == {"bet": (10, 990), "check": None}
    refused(play, "1 fold", "AZI-10")
    refused(play, "1 check 1", "AZI-10")
    every = go(play, "1 check, 2 check, 0 check")
    assert (every.part, every.leader, every.bank) == ("tricks", 1, 30)
    play = go(play, "1 check, 2 bet 30, 0 call")
    assert play.turn == (1,)
    assert calls(play) == {"call": None, "fold": None, "raise": (31, 990)}
    play = go(play, "1 call")
    assert (play.part, play.leader, play.bank) == ("tricks", 2, 120)


def test_not_enough_for_the_opening():
    """AZI-10, AZI-12: all_in; the others answer it, and it does not lead."""
    play = hand((14, 1000, 12))
    assert calls(play) == {"all_in": None}
    assert set(calls(hand((14, 1000, 12), opener="may_check"))) == {"all_in", "check"}
    refused(play, "0 bet 4", "AZI-10")
    refused(play, "0 all_in 4", "AZI-10")
    play = go(play, "0 all_in")
    assert calls(play) == {"call": None, "fold": None, "raise": (10, 990)}
    called = go(play, "1 call")
    assert calls(called) == {"all_in": None, "fold": None}
    called = go(called, "2 all_in")
    assert (called.bids, called.short, called.leader) == ((4, 4, 2), {0, 2}, 1)
    raised = go(play, "1 raise 10, 2 all_in")
    assert (raised.bids, raised.leader) == ((4, 10, 2), 1)


def test_checkers_answer_a_short_opening():
    """AZI-9, AZI-10."""
    play = go(hand((1000, 14, 1000), opener="may_check"), "0 check, 1 all_in, 2 call")
    assert play.turn == (0,)
    assert calls(play) == {"call": None, "fold": None, "raise": (10, 990)}


def test_a_call_with_the_last_chips_is_a_call():
    """AZI-10, AZI-12: it is not short, as long as nobody bids higher."""
    play = go(hand((1000, 60, 59)), "0 bet 50")
    assert calls(play) == {"call": None, "fold": None}
    play = go(play, "1 call")
    assert calls(play) == {"all_in": None, "fold": None}
    assert go(play, "2 fold").short == frozenset()
    assert go(play, "2 all_in").short == {2}
    play = go(hand((1000, 60, 1000)), "0 bet 50, 1 call, 2 raise 51")
    assert play.short == {1}
    assert play.turn == (0,)
    assert go(play, "0 call").part == "tricks"


def test_a_raise_with_the_last_chips_leads():
    """AZI-12: it was paid in full; and one chip more takes the lead from it."""
    play = go(hand((1000, 60)), "0 bet 10, 1 raise 50")
    assert go(play, "0 call").leader == 1
    higher = go(play, "0 raise 51")
    assert (higher.part, higher.leader, higher.short) == ("tricks", 0, {1})


def test_no_bidding_when_one_has_chips():
    """AZI-9, AZI-12: it leads; if nobody has, the first from `first` does."""
    play = hand((5, 5, 100), first=0)
    assert (play.part, play.leader, play.short) == ("tricks", 2, {0, 1})
    play = hand((5, 5, 10), first=1)
    assert (play.part, play.leader, play.short) == ("tricks", 1, {0, 1, 2})


def raised(play, times):
    """Seats raise by one as long as it is so many times in all; then they call."""
    count = 0
    while play.part == "bidding":
        (seat,) = play.turn
        offered = calls(play)
        if count < times and ("raise" in offered or "bet" in offered):
            name = "bet" if "bet" in offered else "raise"
            play = play.apply(Move(seat, "call", (), name, offered[name][0]))
            count += 1
        else:
            play = play.apply(Move(seat, "call", (), "call"))
    return play


@pytest.mark.parametrize(
    ("limit", "seats", "most"),
    [
        ("three_per_player", 2, 6),
        ("three_per_player", 3, 9),
        ("three_per_player", 6, 18),
        ("three_total", 2, 3),
        ("three_total", 6, 3),
        ("three_actions", 2, 6),
        ("three_actions", 3, 9),
    ],
)
def test_how_many_raises(limit, seats, most):
    """AZI-11: the opening bet is the first."""
    play = raised(hand((1000,) * seats, raises=limit), 99)
    assert len(play.raisers) == most
    assert play.leader == play.raisers[-1]
    assert max(Counter(play.raisers).values()) <= 3


def test_a_seat_raises_three_times():
    """AZI-11: calls do not count with `three_per_player`."""
    text = "0 bet 10, 1 raise 11, 2 call, 0 raise 12, 1 raise 13, 2 call, 0 raise 14"
    play = go(hand(), text + ", 1 raise 15, 2 call")
    assert calls(play) == {"call": None, "fold": None}
    refused(play, "0 raise 16", "AZI-11")
    play = go(play, "0 call")
    assert (play.part, play.leader) == ("tricks", 1)
    play = go(hand(), text + ", 1 raise 15, 2 raise 16, 0 call")
    refused(play, "1 raise 17", "AZI-11")


def test_three_raises_in_all():
    """AZI-11."""
    play = go(hand(raises="three_total"), "0 bet 10, 1 raise 11, 2 raise 12")
    assert calls(play) == {"call": None, "fold": None}
    refused(play, "0 raise 13", "AZI-11")
    refused(play, "0 bet 13", "AZI-10")


def test_three_actions_count_every_call():
    """AZI-11: an answer stays possible after three."""
    play = hand(raises="three_actions", opener="may_check")
    play = go(play, "0 check, 1 bet 10, 2 call, 0 call")
    assert play.part == "tricks"
    text = "0 check, 1 bet 10, 2 call, 0 raise 11, 1 raise 12, 2 call, 0 raise 13, 1 raise 14"
    play = go(hand(raises="three_actions", opener="may_check"), text)
    assert calls(play)["raise"] == (15, 990)
    play = go(play, "2 raise 15")
    assert calls(play) == {"call": None, "fold": None}
    refused(play, "0 raise 16", "AZI-11")
    play = go(play, "0 call")
    assert calls(play) == {"call": None, "fold": None}
    assert go(play, "1 call").leader == 2


# --- tricks --------------------------------------------------------------------------------------


def shown(cards):
    return tuple((seat, Card(card)) for seat, card in enumerate(cards.split()))


@pytest.mark.parametrize(
    ("cards", "six", "winner"),
    [
        pytest.param("KD AD 6H", False, "6H", id="A-T1"),
        pytest.param("KD 7D 6H", False, "6H", id="A-T1-second"),
        pytest.param("KH 6H QH", True, "6H", id="A-T2"),
        pytest.param("KH 6H QH", False, "KH", id="A-T2-without"),
        pytest.param("9S 6H KH", True, "6H", id="A-T2-over-king"),
        pytest.param("6D 8S AD", True, "AD", id="A-T3"),
        pytest.param("AH 6H", True, "6H", id="the-dealers-ace"),
        pytest.param("AH 6H", False, "AH", id="the-dealers-ace-without"),
        pytest.param("6D AS KS", True, "6D", id="off-suit-never-wins"),
        pytest.param("9S 10S JS", False, "JS", id="ten-above-nine"),
    ],
)
def test_who_wins_a_trick(cards, six, winner):
    """AZI-14; trump is hearts."""
    seat = best(shown(cards), "H", six_on_stage=six)
    assert cards.split()[seat] == winner


def test_every_trick_of_three():
    """AZI-14, against a ladder of cards; the order after the lead does not matter."""
    for six in (False, True):
        for cards in combinations(DECK, 3):
            for lead in range(3):
                led = cards[lead]
                rest = cards[:lead] + cards[lead + 1 :]
                ladder = [r + suit_of(led) for r in FRENCH_RANKS]
                ladder += [r + "H" for r in FRENCH_RANKS] + ["6H"] * six
                last = {card: place for place, card in enumerate(ladder)}
                expected = max(cards, key=lambda c, last=last: last.get(c, -1))
                for order in ((led, *rest), (led, *rest[::-1])):
                    seat = best(tuple(enumerate(order)), "H", six_on_stage=six)
                    assert order[seat] == expected


@pytest.mark.parametrize(
    ("turned", "option", "six"),
    [("AH", True, True), ("AH", False, False), ("KH", True, False), ("6H", True, False)],
)
def test_six_on_stage(turned, option, six):
    """AZI-14: an ace was turned, and the option is on."""
    play = hand(turned=turned, six_on_stage=option)
    assert play.six_on_stage is six
    hands = ("KH 6D 7D", "6H 8D 9D", "QH 10D JD")
    play = bid(hand(hands=hands, turned=turned, six_on_stage=option))
    assert tricks(play, "KH 6H QH").tricks == (1 if six else 0,)


def test_a_t9_an_ace_is_turned_in_three_of_27():
    """AZI-14, A-T9: as often as any other rank."""
    stages = [hand((100, 100), turned=card, hands=("", "")).six_on_stage for card in DECK]
    assert (sum(stages), len(stages)) == (3, 27)


@pytest.mark.parametrize(
    ("cards", "allowed"),
    [
        pytest.param("6D AH KS", "6D", id="A-T4-suit"),
        pytest.param("AH 7H KS", "AH 7H", id="A-T4-trump"),
        pytest.param("9S KS 10S", "9S KS 10S", id="A-T4-any"),
        pytest.param("6D AD KS", "6D AD", id="either-of-the-suit"),
    ],
)
def test_a_t4_replies_to_diamonds(cards, allowed):
    """AZI-13, A-T4; trump is hearts. The same through a whole hand."""
    held = tuple(map(Card, cards.split()))
    expected = tuple(map(Card, allowed.split()))
    assert replies(held, "D", "H", must_trump=True) == expected
    assert replies(held, None, "H", must_trump=True) == held
    play = tricks(bid(hand((100, 100), hands=("QD 8S 7S", cards))), "QD")
    assert tuple([c.cards[0] for c in play.choices(1)]) == expected
    for card in CARDS - set(expected):
        refused(play, Move(1, "show", (card,)), "AZI-13")
    refused(play, Move(1, "show", ()), "AZI-13")
    refused(play, Move(1, "show", (expected[0], expected[0])), "AZI-13")
    refused(play, Move(1, "show", (expected[0],), "show"), "AZI-13")
    refused(play, Move(1, "show", (expected[0],), None, 1), "AZI-13")
    refused(play, "1 call", "AZI-13")
    refused(play, f"0 show {play.hands[0][0]}", "AZI-13")


def test_trumping_is_a_choice_without_must_trump():
    """AZI-13: the suit is followed all the same."""
    held = (Card("AH"), Card("7H"), Card("KS"))
    assert replies(held, "D", "H", must_trump=False) == held
    assert replies(held, "S", "H", must_trump=False) == ("KS",)
    assert replies(held, "D", "H", must_trump=True) == ("AH", "7H")
    play = tricks(bid(hand((100, 100), hands=("QD 8S 7S", "AH 7H KS"), must_trump=False)), "QD")
    assert tricks(play, "KS").tricks == (0,)


def test_a_trump_led_is_followed_like_any_suit():
    """AZI-13."""
    held = (Card("AD"), Card("7H"), Card("KS"))
    assert replies(held, "H", "H", must_trump=True) == ("7H",)
    assert replies(held, "H", "D", must_trump=True) == ("7H",)


def played(winners, seats):
    """A hand whose tricks are won so; as many cards as it takes."""
    hands = [[] for _ in range(seats)]
    for suit, winner in zip("DHS", winners, strict=True):
        ranks = list(FRENCH_RANKS[: seats - 1])
        for seat, cards in enumerate(hands):
            cards.append(("A" if seat == winner else ranks.pop()) + suit)
    play = bid(hand((100,) * seats, hands=[" ".join(cards) for cards in hands]))
    for suit in "DHS":
        for _ in range(seats):
            if not play.turn:
                return play
            (seat,) = play.turn
            (card,) = [c for c in play.hands[seat] if suit_of(c) == suit]
            play = play.apply(Move(seat, "show", (card,)))
    return play


@pytest.mark.parametrize(("seats", "azis"), [(2, 0), (3, 6), (4, 24)], ids=lambda v: f"A-T5-{v}")
def test_a_t5_which_winners_are_azi(seats, azis):
    """AZI-15, A-T5: 0 of 8, 6 of 27, 24 of 64; two tricks end the hand at once."""
    found = 0
    for winners in product(range(seats), repeat=3):
        score = result(played(winners, seats))["score"]
        two = next((w for w in winners if winners.count(w) >= 2), None)
        assert score["winner"] == two
        assert score["azi"] is (two is None)
        end = 2 if winners[0] == winners[1] else 3
        assert score["tricks"] == list(winners[:end])
        found += score["azi"]
    assert found == azis


@pytest.mark.parametrize(
    ("winners", "winner", "cards"),
    [((0, 1, 2), None, 0), ((0, 1, 0), 0, 0), ((0, 0, 0), 0, 3)],
    ids=["A-T5-azi", "A-T5-two-of-three", "A-T5-two-at-once"],
)
def test_a_t5_the_end_of_the_tricks(winners, winner, cards):
    """AZI-15, A-T5."""
    play = played(winners, 3)
    assert play.winner == winner
    assert sum(map(len, play.hands)) == cards


def test_the_winner_of_a_trick_leads_the_next():
    """AZI-14, AZI-13."""
    play = tricks(bid(hand()), "AD KD QD 6H AH KH")
    assert play.tricks == (0, 1)
    assert play.turn == (1,)
    assert [c.cards for c in play.choices(1)] == [("7S",)]


# --- the bank ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("chips", "winner", "paid"),
    [
        pytest.param((50, 100, 100), 0, (150, 50, 50), id="A-T7"),
        pytest.param((50, 100, 30), 0, (130, 50, 0), id="A-T7-folded"),
        pytest.param((20, 80, 80, 10), 0, (70, 60, 60, 0), id="A-T7-four"),
        pytest.param((50, 100, 100), 1, (0, 250, 0), id="A-T7-not-capped"),
    ],
)
def test_a_t7_capped(chips, winner, paid):
    """AZI-16, A-T7."""
    assert capped(chips, winner) == paid
    assert sum(paid) == sum(chips)


def all_in_hand(stacks, bids, **rules):
    """Seat 0 has the best cards; seat 1 opens."""
    hands = ("AH KH AD", "6D 7D 8D", "6S 7S 8S", "9D 9S 10D")[: len(stacks)]
    return go(hand(stacks, hands=hands, first=1, **rules), bids)


@pytest.mark.parametrize(
    ("stacks", "bids", "put", "paid"),
    [
        pytest.param(
            (50, 200, 200),
            "1 bet 90, 2 call, 0 all_in",
            {"0": 50, "1": 100, "2": 100},
            {"0": 150, "1": 50, "2": 50},
            id="A-T7",
        ),
        pytest.param(
            (50, 200, 200),
            "1 bet 20, 2 call, 0 raise 21, 1 raise 90, 2 fold, 0 all_in",
            {"0": 50, "1": 100, "2": 30},
            {"0": 130, "1": 50},
            id="A-T7-folded",
        ),
        pytest.param(
            (20, 200, 200, 200),
            "1 bet 70, 2 call, 3 fold, 0 all_in",
            {"0": 20, "1": 80, "2": 80, "3": 10},
            {"0": 70, "1": 60, "2": 60},
            id="A-T7-four",
        ),
    ],
)
def test_a_t7_in_a_hand(stacks, bids, put, paid):
    """AZI-16, AZI-12, A-T7: the seat that is all in wins, and does not lead."""
    play = all_in_hand(stacks, bids)
    assert play.leader == 1
    while play.turn:
        (seat,) = play.turn
        play = play.apply(play.choices(seat)[0].move(seat))
    score = result(play)["score"]
    assert (score["winner"], score["contributions"], score["paid"]) == (0, put, paid)


def test_a_t7_the_other_wins_all():
    """AZI-16, A-T7: who is not short takes the whole bank."""
    play = hand((50, 200, 200), hands=("6D 7D 8D", "AH KH AD", "6S 7S 8S"), first=1)
    play = tricks(go(play, "1 bet 90, 2 call, 0 all_in"), "AH 6S 6D KH 7S 7D")
    assert result(play)["score"]["paid"] == {"1": 250}
    assert result(play)["match"] == match_of((0, 350, 100), winner=1)
    assert result(play)["match"]["players"] == [1, 2]


@pytest.mark.parametrize(
    ("chips", "active", "paid"),
    [
        ((50, 100, 100), (0, 1, 2), (125, 63, 62)),
        ((50, 100, 100), (0, 2), (125, 62, 63)),
        ((50, 100, 100), (0,), (126, 62, 62)),
        ((20, 80, 80, 10), (0, 1, 2), (47, 68, 67, 8)),
        ((100, 100, 50), (0, 1, 2), (250, 0, 0)),
        ((1, 3, 3, 3, 3, 3), (0, 5), (5, 2, 2, 2, 2, 3)),
    ],
)
def test_proportional(chips, active, paid):
    """AZI-16: floors, and what is left to the others that are active, ascending."""
    assert proportional(chips, 0, active) == paid
    assert sum(paid) == sum(chips)


def test_proportional_in_a_hand():
    """AZI-16."""
    play = all_in_hand((50, 200, 200), "1 bet 90, 2 call, 0 all_in", all_in="proportional")
    while play.turn:
        (seat,) = play.turn
        play = play.apply(play.choices(seat)[0].move(seat))
    assert result(play)["score"]["paid"] == {"0": 125, "1": 63, "2": 62}
    assert result(play)["match"]["stacks"] == [125, 163, 162]


CHIPS = st.lists(st.integers(0, 300), min_size=2, max_size=6)


@given(CHIPS, st.data())
def test_settlement_is_exact(chips, data):
    """AZI-16: to the chip, against fractions; nobody pays, and the winner loses nothing."""
    winner = data.draw(st.integers(0, len(chips) - 1))
    chips[winner] += 1
    active = data.draw(st.sets(st.integers(0, len(chips) - 1))) | {winner}
    for paid, how in (
        (capped(tuple(chips), winner), "capped"),
        (proportional(tuple(chips), winner, active), "proportional"),
    ):
        assert list(paid) == settled(chips, winner, active, how)
        assert sum(paid) == sum(chips)
        assert min(paid) >= 0
        assert paid[winner] >= chips[winner]


def test_settlement_of_great_numbers():
    """AZI-16: products beyond 2^53 stay exact."""
    chips = (333_333_333, 1_000_000_000, 999_999_999, 7)
    assert list(proportional(chips, 0, (0, 1, 2))) == settled(chips, 0, (0, 1, 2), "proportional")


def test_a_short_winner_is_capped_by_the_whole_chain():
    """AZI-16, AZI-12: no chips, so short from the beginning; others bid nothing more."""
    match = match_of((0, 0, 100), [0, 1, 2], bank=180, contributions={"0": 20, "1": 80, "2": 80})
    play = hand(match=match, azi="three_only", hands=("AH KH QH", "6D 7D 8D", "6S 7S 8S"))
    assert (play.part, play.leader, play.bank) == ("tricks", 2, 180)
    play = tricks(play, "6S AH 6D KH 7D 7S")
    assert result(play)["score"]["paid"] == {"0": 60, "1": 60, "2": 60}
    assert result(play)["match"]["players"] == [0, 1, 2]


def test_who_came_back_and_paid_every_bid_takes_the_whole_bank():
    """AZI-16: a small contribution is no reason for a cap."""
    match = match_of((90, 90, 90), bank=210, contributions={"0": 10, "1": 200})
    play = hand(match=match, hands=("AH KH QH", "6D 7D 8D", "6S 7S 8S"))
    play = tricks(bid(play), "AH 6D 6S KH 7D 7S")
    assert result(play)["score"]["paid"] == {"0": 270}


def test_a_short_winner_left_alone_is_capped():
    """AZI-16: however it has won; who folded in an earlier hand gets its excess back as well."""
    match = match_of((4, 100, 100), bank=110, contributions={"0": 10, "1": 100})
    play = go(hand(match=match, azi="three_only"), "0 all_in, 1 fold, 2 fold")
    assert result(play)["score"]["paid"] == {"0": 28, "1": 86}


def test_a_seat_that_is_out_gets_its_part_back():
    """AZI-16, AZI-5."""
    contributions = {"0": 10, "1": 10, "2": 10, "3": 70}
    match = match_of((5, 0, 90, 30), [0, 1, 2], bank=100, contributions=contributions)
    play = hand(match=match, azi="three_only", first=2, hands=("AH KH AD", *FOUR_LOW))
    play = go(play, "2 bet 10, 0 all_in")
    play = tricks(play, "6S AH 6D AD 7D 7S")
    assert result(play)["score"]["winner"] == 0
    assert result(play)["score"]["paid"] == {"0": 15 + 10 + 15 + 15, "2": 5, "3": 55}
    assert result(play)["match"]["players"] == [0, 2, 3]


FOUR_LOW = ("6D 7D 8D", "6S 7S 8S", "9D 9S 10D")


# --- azi -----------------------------------------------------------------------------------------


def test_a_t8_the_bank_is_carried_and_antes_are_added():
    """AZI-17, AZI-6, A-T8: 150 becomes 190."""
    play = azi_of(hand((1000,) * 4, ante=10, min_bet=27)).due
    match = play.result["match"]
    assert match["bank"] == 4 * 37
    four = {"0": 30, "1": 40, "2": 40, "3": 40}
    match = match_of((100,) * 4, bank=150, contributions=four)
    play = hand(match=match)
    assert play.bank == 190
    assert play.contributions == (40, 50, 50, 50)


def half_bank(stacks=(1000,) * 4, **rules):
    contributions = {"0": 30, "1": 40, "2": 30, "3": 10}
    match = match_of(stacks, bank=110, contributions=contributions)
    rules = {"azi": "half_bank", "opener": "may_check"} | rules
    return hand(match=match, **rules)


def test_a_t8_half_bank():
    """AZI-17, A-T8: the fourth pays 75, the next bank begins at 225, without antes."""
    play = azi_of(half_bank())
    assert play.bank == 150
    assert play.turn == (3,)
    assert calls(play) == {"buy_in": None, "stay_out": None}
    refused(play, "3 buy_in 75", "AZI-17")
    refused(play, "3 call", "AZI-17")
    refused(play, "3 raise 100", "AZI-17")
    refused(play, "0 buy_in", "AZI-17")
    refused(play, "3 show JD", "AZI-17")
    bought = result(go(play, "3 buy_in"))
    assert bought["match"] == match_of(
        (990, 990, 990, 915),
        bank=225,
        contributions={"0": 40, "1": 50, "2": 40, "3": 95},
    )
    assert (bought["score"]["bank"], bought["score"]["bought"]) == (150, [3])
    assert bought["score"]["contributions"] == {"0": 40, "1": 50, "2": 40, "3": 20}
    assert bought["score"]["paid"] == {}
    assert hand(match=bought["match"], azi="half_bank").bank == 225
    stayed = result(go(play, "3 stay_out"))
    assert stayed["match"] == match_of(
        (990,) * 4, [0, 1, 2], bank=150, contributions={"0": 40, "1": 50, "2": 40, "3": 20}
    )
    assert stayed["score"]["bought"] == []


def test_one_price_in_turn_from_first():
    """AZI-17: the folded too; who has too little is not asked."""
    match = match_of((500,) * 4 + (70, 500), bank=90, contributions={"0": 45, "4": 45})
    play = hand(match=match, azi="half_bank", first=5)
    play = go(play, "5 bet 10, 0 raise 11, 1 call, 2 call, 3 call, 4 fold, 5 fold")
    play = tricks(play, "AD KD QD JD 6H AH KH QH 7S AS KS 6S")
    assert play.bank == 90 + 44 + 10
    assert play.price == 72
    assert play.turn == (5,)
    play = go(play, "5 buy_in")
    assert play.turn == (3,)
    end = result(go(play, "3 buy_in"))
    assert end["match"]["stacks"] == [489, 489, 489, 417, 70, 418]
    assert end["match"]["players"] == [0, 1, 2, 3, 5]
    assert end["match"]["bank"] == 144 + 144
    assert result(go(play, "3 stay_out"))["match"]["players"] == [0, 1, 2, 5]


def test_half_an_odd_bank_is_rounded_down():
    """AZI-17."""
    match = match_of((500,) * 4, bank=111, contributions={"0": 111})
    assert azi_of(hand(match=match, azi="half_bank")).price == 75
    assert azi_of(half_bank((500, 500, 500, 84))).due is not None
    assert azi_of(half_bank((500, 500, 500, 85))).turn == (3,)


def test_three_only():
    """AZI-17: nobody is asked; the fourth is out until the bank is won."""
    end = result(azi_of(hand((1000,) * 4, azi="three_only")))
    assert end["match"]["players"] == [0, 1, 2]
    assert end["first"] is None
    assert end["winner"] is None
    match = end["match"]
    play = hand(match=match, azi="three_only", hands=("AH KH AD", *FOUR_LOW))
    assert play.bank == 80
    play = go(play, "0 bet 10, 1 fold, 2 fold")
    assert result(play)["match"] == match_of((1060, 980, 980, 980), winner=0)


def test_all_ante_brings_everybody_back():
    """AZI-17: the folded, and those whose chips are all in the bank."""
    play = go(hand((12, 500, 500, 500, 500)), "0 all_in, 1 raise 10, 2 call, 3 call, 4 fold")
    play = tricks(play, "KD QD JD AD 6H AH KH QH 7S AS KS 6S")
    end = result(play)
    assert end["score"]["folded"] == [4]
    assert end["match"]["stacks"] == [0, 480, 480, 480, 490]
    assert end["match"]["players"] == [0, 1, 2, 3, 4]
    again = hand(match=end["match"], hands=ONE_EACH[:5])
    assert again.contributions == (12, 30, 30, 30, 20)
    assert again.turn == (1,)
    assert again.short == {0}


def test_all_in_one_trick_seats_play_the_carried_bank():
    """AZI-17, AZI-9: three seats without a chip; no bidding."""
    end = result(azi_of(hand((10, 10, 10), azi="half_bank")))
    assert end["match"] == match_of(
        (0, 0, 0), [0, 1, 2], bank=30, contributions={"0": 10, "1": 10, "2": 10}
    )
    play = hand(match=end["match"], azi="half_bank", first=2, hands=("AH KH AD", *FOUR_LOW[:2]))
    assert (play.part, play.leader) == ("tricks", 2)
    play = tricks(play, "6S AH 6D KH 7D 7S")
    assert result(play)["winner"] == 0
    assert result(play)["match"] == match_of((30, 0, 0), winner=0)


def test_who_bought_in_with_its_last_chips_plays():
    """AZI-17."""
    end = result(go(azi_of(half_bank((1000, 1000, 1000, 85))), "3 buy_in"))
    assert end["match"]["stacks"][3] == 0
    assert end["match"]["players"] == [0, 1, 2, 3]


# --- the end -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("last", "first"), [(None, None), (0, 1), (3, 0)])
def test_first_after_azi(last, first):
    """AZI-18, A-A8: the seat after the last winner; drawn again while nobody has won."""
    end = result(azi_of(hand(match=match_of((100,) * 4, winner=last))))
    assert end["first"] == first
    assert end["match"]["winner"] == last


@pytest.mark.parametrize("winner", range(4))
def test_first_after_a_win(winner):
    """AZI-18."""
    play = hand((100,) * 4, first=winner)
    others = [(winner + i) % 4 for i in (1, 2, 3)]
    end = result(go(play, f"{winner} bet 10, " + ", ".join([f"{s} fold" for s in others])))
    assert end["first"] == (winner + 1) % 4
    assert end["match"]["winner"] == winner
    assert end["winner"] is None


def test_the_only_seat_with_chips_wins_the_match():
    """AZI-18, PLAY-5."""
    play = hand((100, 100), hands=("AH KH QH", "6D 7D 8D"))
    play = tricks(go(play, "0 bet 90, 1 call"), "AH 6D KH 7D")
    end = result(play)
    assert end["winner"] == 0
    assert end["match"] == match_of((200, 0), winner=0)
    assert end["first"] == 1


def test_after_the_end_nothing_is_legal():
    """AZI-18, PLAY-3, PLAY-4."""
    play = go(hand((100, 100)), "0 bet 10, 1 fold")
    for text in ("0 bet 10", "0 show AD", "1 call", "0 look", "5 pull"):
        refused(play, text, "PLAY-3")
    assert play.done(play.due) is play
    for wrong in (Draw(0), Close({})):
        with pytest.raises(RuleError) as error:
            play.done(wrong)
        assert error.value.rule == "PLAY-4"
    with pytest.raises(RuleError):
        play.done(play.due, [(0, Card("AD"))])
    begun = hand()
    assert begun.due is None
    with pytest.raises(RuleError):
        begun.done(play.due)


# --- whole hands ---------------------------------------------------------------------------------

PLAY_OPTIONS = [
    {name: value}
    for name, values in AziRules.options.items()
    if not isinstance(values, Span)
    for value in values
]


def random_rules(rng):
    rules = {
        name: rng.choice(values)
        for name, values in AziRules.options.items()
        if not isinstance(values, Span)
    }
    rules |= {"blind": rng.random() < 0.3, "cards": rng.choice((3, 4))}
    rules |= {"six_on_stage": rng.random() < 0.7, "trump": rng.choice(("next_card", "dealer_last"))}
    return ruleset(
        **rules, ante=rng.randint(1, 6), min_bet=rng.randint(1, 6), stack=rng.randint(1, 40)
    )


def random_deal(rng, rules, seats, first):
    """As the dealing procedure has it."""
    game, each = game_named("azi"), rules["cards"]
    order = list(DECK)
    rng.shuffle(order)
    hands = tuple(
        tuple(order[seats * j + (s - first) % seats] for j in range(each)) for s in range(seats)
    )
    ((_, position),) = game.turned(rules, seats, first, None)
    return Deal(1, seats, first, hands, 27 - seats * each, order[position], {})


def check(play, rules, deal):
    """What holds at any time."""
    assert bool(play.turn) is (play.due is None)
    assert list(play.turn) == sorted(set(play.turn))
    assert play.part == "tricks" or all([play.choices(seat) for seat in play.turn])
    assert sum(play.stacks) + sum(play.contributions) == deal.seats * rules["stack"]
    assert min(play.stacks) >= 0
    assert set(play.turn) <= play.players
    for seat in range(deal.seats):
        cards = list(play.hands[seat])
        cards += [card for s, card in play.played + play.trick if s == seat]
        cards += [(play.thrown or {})[seat]] if seat in (play.thrown or {}) else []
        assert sorted(cards) == sorted(deal.hands[seat])
        if seat not in play.players:
            assert play.choices(seat) == ()
            assert play.hands[seat] == deal.hands[seat]


def favoured(rng, moves):
    """A legal move; mostly low bets and few folds, so that hands reach the tricks and go on."""
    low = min([m.amount for m in moves if m.amount], default=0)
    weights = [
        {"fold": 0.4, "call": 4, "buy_in": 2}.get(m.call, 1)
        * (1 if m.amount in {None, low} else 0.03)
        for m in moves
    ]
    return rng.choices(moves, weights)[0]


def both(rng, rules, match, deal):
    """A random hand, and the same hand as the story tells it, step by step."""
    play, told = AZI.start(rules, match, deal), story(rules, match, deal)
    steps, asked = 0, next(told)
    while asked:
        check(play, rules, deal)
        turn, moves = asked
        assert list(play.turn) == turn
        mine = [m for seat in range(deal.seats) for m in legal(play, seat)]
        assert len(mine) == len(set(mine))
        assert set(mine) == set(moves)
        move = favoured(rng, sorted(mine, key=str))
        play = play.apply(move)
        steps += 1
        assert steps < 200
        try:
            asked = told.send(move)
        except StopIteration as end:
            asked, expected = None, end.value
    check(play, rules, deal)
    assert play.due == Close(expected)
    return expected


def test_random_matches_against_the_story():
    """AZI-5..18: every legal move of every state, every result, until somebody has all chips."""
    rng, seen = Random(20), Counter()
    for _ in range(400):
        rules, seats = random_rules(rng), rng.randint(2, 6)
        match, first, hands = AZI.fresh(rules, seats), None, 0
        while hands < 12:
            first = rng.randrange(seats) if first is None else first
            end = both(rng, rules, match, random_deal(rng, rules, seats, first))
            score = end["score"]
            seen["hands"] += 1
            seen["azi", rules["azi"]] += score["azi"]
            seen["bought"] += bool(score["bought"])
            seen["shared", rules["all_in"]] += len(score["paid"]) > 1
            seen["out"] += bool(AZI.out(match))
            seen["won"] += end["winner"] is not None
            if end["winner"] is not None:
                assert end["match"]["players"] == [end["winner"]]
                break
            assert len(end["match"]["players"]) >= (3 if score["azi"] else 2)
            match, first, hands = end["match"], end["first"], hands + 1
    assert min(seen.values()) >= 10, seen
    assert seen["hands"] >= 1000


@pytest.mark.parametrize("rules", PLAY_OPTIONS, ids=str)
def test_each_option_value_in_whole_hands(rules):
    """AZI-5..18."""
    rng = Random(str(rules))
    for _ in range(6):
        chosen = random_rules(rng) | rules
        seats = rng.randint(2, 6)
        deal = random_deal(rng, chosen, seats, rng.randrange(seats))
        both(rng, chosen, AZI.fresh(chosen, seats), deal)


@given(st.randoms(use_true_random=False))
def test_any_hand_against_the_story(rng):
    """AZI-5..18."""
    rules, seats = random_rules(rng), rng.randint(2, 6)
    both(rng, rules, AZI.fresh(rules, seats), random_deal(rng, rules, seats, rng.randrange(seats)))


def conceivable(seats):
    """Moves of every kind, right and wrong."""
    for seat in range(-1, seats + 1):
        for kind in ("show", "throw", "pull", "look"):
            yield Move(seat, kind)
            yield from (Move(seat, kind, (card,)) for card in DECK)
            yield from (Move(seat, kind, pair) for pair in pairwise(DECK[:9:4]))
            yield Move(seat, kind, (DECK[0],), "fold")
            yield Move(seat, kind, (), None, 1)
        for call in (*CALLS, None, "mus"):
            yield Move(seat, "call", (DECK[0],), call)
            yield from (Move(seat, "call", (), call, a) for a in (None, -1, *range(20)))


def accepted(play, move):
    """Whether a move is legal, by trying."""
    try:
        play.apply(move)
    except RuleError:
        return False
    return True


def small_hands(rng):
    """Hands with few chips; the last begins where a seat may buy in."""
    for _ in range(40):
        rules, seats = random_rules(rng) | {"stack": rng.randint(4, 18)}, rng.randint(2, 6)
        match = AZI.fresh(rules, seats)
        if seats > 2 and rng.random() < 0.3:
            match |= {"players": list(range(1, seats))}
        yield AZI.start(rules, match, random_deal(rng, rules, seats, rng.randrange(seats)))
    yield azi_of(hand((19,) * 5, azi="half_bank", ante=1, min_bet=1))


def test_apply_accepts_the_choices_and_nothing_else():
    """PLAY-3: brute force over everything that can be said; states do not change."""
    rng, parts = Random(3), Counter()
    every = {seats: list(conceivable(seats)) for seats in range(2, 7)}
    for begun in small_hands(rng):
        play, seats = begun, len(begun.stacks)
        while True:
            parts[play.part] += 1
            allowed = {m for seat in range(-1, seats + 1) for m in legal(play, seat)}
            before = repr(play)
            assert {move for move in every[seats] if accepted(play, move)} == allowed
            assert repr(play) == before
            if play.due:
                break
            play = play.apply(favoured(rng, sorted(allowed, key=str)))
    assert parts.keys() == {"throws", "bidding", "tricks", "buying", "over"}


def test_choices_have_one_order():
    """PLAY-3."""
    play = hand(blind=True)
    assert [(c.kind, c.call) for c in play.choices(0)] == [("call", "bet"), ("look", None)]
    play = go(play, "0 bet 10")
    assert [c.call for c in play.choices(1)] == ["call", "fold", "raise", None]
    assert play.choices(1) == play.choices(1)


def test_the_story_and_the_rules_can_disagree():
    """Negative control: a wrong rule is noticed by the comparison."""
    rng = Random(1)

    def hands():
        for _ in range(300):
            rules, seats = random_rules(rng), rng.randint(2, 6)
            both(rng, rules, AZI.fresh(rules, seats), random_deal(rng, rules, seats, 0))

    hands()
    for name, wrong in (
        ("_MOST_RAISES", 2),
        ("_TO_WIN", 3),
        ("_ABOVE_ALL", 0),
        ("capped", lambda chips, winner: (sum(chips), *chips[1:])),
        ("best", lambda trick, *_, **__: trick[0][0]),
    ):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(azi, name, wrong)
            with pytest.raises((AssertionError, ValueError, KeyError)):
                hands()
