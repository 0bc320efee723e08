"""The play of Azi as the verifier reads it, move by move.

Spec: AZI-5 to AZI-18
"""

import copy
import itertools
import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairdeal_verifier.play.azi import AziPlay
from fairdeal_verifier.play.azi_bank import capped_shares, proportional_shares
from fairdeal_verifier.play.base import Deal

RULES = {
    "blind": False,
    "cards": 3,
    "six_on_stage": True,
    "suits": "DHS",
    "trump": "next_card",
    "all_in": "capped",
    "ante": 10,
    "azi": "all_ante",
    "min_bet": 10,
    "must_trump": True,
    "opener": "must_bet",
    "raises": "three_per_player",
    "stack": 1000,
}
RANKS = ["6", "7", "8", "9", "10", "J", "Q", "K", "A"]
DECK = [rank + suit for suit in "DHS" for rank in RANKS]
HANDS = ["6D KH 9S", "7D AH KS", "8D QH 10S"]
FOUR_HANDS = ["6D KH 9S 6S", "7D AH KS 7S", "8D QH 10S 8S", "9D 9H JS AS"]


def match_of(stacks, contributions=None, players=None, winner=None):
    contributions = contributions or {}
    return {
        "bank": sum(contributions.values()),
        "contributions": contributions,
        "players": list(range(len(stacks))) if players is None else players,
        "stacks": stacks,
        "winner": winner,
    }


class Hand:
    """A hand that is played by words: "2 raise 40", "2 throw 6S", "2 show AH", "2 look"."""

    def __init__(self, hands=HANDS, first=0, turned="7H", match=None, stacks=None, **rules):
        held = [hand.split() for hand in hands]
        self.rules = RULES | rules
        if stacks:
            match = match_of(stacks, winner=0)
        self.match = match or AziPlay.fresh(self.rules, len(hands))
        self.play = AziPlay(self.rules, self.match, Deal(1, len(held), first, held, 0, turned))

    def do(self, words):
        seat, verb, *rest = words.split()
        if verb == "look":
            return self.play.looked(int(seat))
        if verb == "throw":
            return self.play.thrown(int(seat), rest)
        if verb == "show":
            return self.play.shown([(int(seat), card) for card in rest])
        return self.play.called(int(seat), verb, int(rest[0]) if rest else None)

    def legal(self, *moves):
        for move in moves:
            assert self.do(move) == "", move
        return self

    def refuses(self, rule, *moves):
        """Says if each of these, made now, breaks the rule; refusing changes nothing."""
        for move in moves:
            fault = self.do(move)
            assert fault.endswith(f"({rule})"), (move, fault)
            assert "\n" not in fault
        return self

    def tricks(self, *rows):
        """Plays whole tricks: "0 KD AD 6H" is led by seat 0."""
        for row in rows:
            seat, *cards = row.split()
            order, n = int(seat), self.play.deal.seats
            for card in cards:
                while order not in self.turn:
                    order = (order + 1) % n
                self.legal(f"{order} show {card}")
        return self

    def copy(self):
        return copy.deepcopy(self)

    @property
    def turn(self):
        return set(self.play.turn)

    @property
    def result(self):
        assert self.play.due == "hand.closed"
        assert self.turn == set()
        return self.play.result()

    @property
    def score(self):
        return self.result["score"]

    @property
    def after(self):
        return self.result["match"]


def bid(hand):
    """Has all bid the least: the first bets, the others call."""
    (opener,) = hand.turn
    hand.legal(f"{opener} bet {hand.rules['min_bet']}")
    while not hand.play._order:
        (seat,) = hand.turn
        hand.legal(f"{seat} call")
    return hand


# AZI-5, AZI-6: the match and the antes.


def test_the_fresh_match():
    fresh = AziPlay.fresh(RULES, 3)
    assert fresh == match_of([1000, 1000, 1000])
    assert fresh == {
        "bank": 0,
        "contributions": {},
        "players": [0, 1, 2],
        "stacks": [1000, 1000, 1000],
        "winner": None,
    }
    assert AziPlay.match_fault(RULES, 3, fresh) == ""
    assert AziPlay.sits_out(fresh) == frozenset()


def test_each_player_pays_an_ante_or_all_it_has():
    hand = Hand(stacks=[5, 10, 2985])
    assert hand.play._bank.stacks == [0, 0, 2975]
    assert hand.play._bank.contributions == {0: 5, 1: 10, 2: 10}


@pytest.mark.parametrize("azi", ["all_ante", "half_bank", "three_only"])
def test_no_antes_onto_a_carried_bank_but_with_all_ante(azi):
    carried = match_of([900, 900, 900], {"0": 100, "1": 100, "2": 100})
    hand = Hand(match=carried, azi=azi)
    assert hand.play._bank.chips == (330 if azi == "all_ante" else 300)
    # With no bank there are antes whatever the option.
    assert Hand(azi=azi).play._bank.chips == 30


def test_a_seat_that_does_not_take_part_makes_no_move():
    match = match_of([0, 1500, 1500], players=[1, 2], winner=1)
    assert AziPlay.sits_out(match) == {0}
    hand = Hand(match=match, blind=True, cards=3)
    assert hand.turn == {1}  # passed over
    hand.refuses("AZI-5", "0 look", "0 bet 10", "0 show 6D", "0 throw 6D")
    hand.legal("1 bet 10", "2 raise 20", "1 call")
    assert hand.turn == {2}
    hand.refuses("AZI-5", "0 show 6D")
    hand = Hand(FOUR_HANDS[:3], match=match, cards=4)
    assert hand.turn == {1, 2}
    hand.legal("2 throw 8S", "1 throw 7S")
    assert hand.turn == {1}


# The match before a hand.

AZI_MATCH = match_of([900, 950, 990, 1000], {"0": 90, "1": 50, "2": 20}, [0, 1, 2], 1)


@pytest.mark.parametrize(
    ("seats", "match", "rules"),
    [
        (2, match_of([1, 1999], winner=0), {}),
        (3, match_of([1, 0, 2999], players=[0, 2], winner=2), {}),
        (3, match_of([0, 0, 0], {"0": 1000, "1": 1000, "2": 1000}), {}),
        (3, match_of([0, 0, 0], {"0": 1, "1": 1999, "2": 1000}, winner=0), {}),
        (3, match_of([0, 990, 2], {"0": 8, "1": 1000, "2": 1000}, winner=0), {}),
        (4, match_of([990] * 4, dict.fromkeys("0123", 10)), {}),
        (4, match_of([990] * 4, dict.fromkeys("0123", 10), [0, 2, 3]), {"azi": "three_only"}),
        (4, match_of([990] * 4, dict.fromkeys("0123", 10), [0, 2, 3]), {"azi": "half_bank"}),
        (4, match_of([990] * 4, dict.fromkeys("0123", 10)), {"azi": "half_bank"}),
        (4, match_of([990] * 4, dict.fromkeys("0123", 10)) | {"players": [0, 1, 2, 3]}, {}),
        (
            4,
            match_of([3800, 50, 50, 0], {"0": 40, "1": 50, "2": 10}, [0, 1, 2], 0),
            {},
        ),
    ],
)
def test_matches_that_there_can_be(seats, match, rules):
    assert AziPlay.match_fault(RULES | rules, seats, match) == ""


FRESH3 = match_of([1000, 1000, 1000])
WON3 = match_of([500, 500, 2000], winner=2)
CARRIED4 = match_of([990] * 4, dict.fromkeys("0123", 10))


@pytest.mark.parametrize(
    ("base", "changes", "rule", "rules"),
    [
        (FRESH3, {"x": 1}, "AZI-5", {}),
        (FRESH3, {"bank": 1}, "AZI-5", {}),
        (FRESH3, {"bank": False}, "AZI-5", {}),
        (FRESH3, {"bank": 0.0}, "AZI-5", {}),
        (FRESH3, {"bank": 2**53 - 1}, "AZI-5", {}),
        (FRESH3, {"bank": 2**4000}, "AZI-5", {}),
        (FRESH3, {"stacks": [1000, 1000]}, "AZI-5", {}),
        (FRESH3, {"stacks": [1000, 1000, 1001]}, "AZI-5", {}),
        (FRESH3, {"stacks": [1000, 2001, -1]}, "AZI-5", {}),
        (FRESH3, {"stacks": [1000, 999, True]}, "AZI-5", {}),
        (FRESH3, {"stacks": None}, "AZI-5", {}),
        (FRESH3, {"contributions": []}, "AZI-5", {}),
        (FRESH3, {"contributions": {"0": 0}}, "AZI-5", {}),
        (FRESH3, {"contributions": {"0": 5}}, "AZI-6", {}),
        (FRESH3, {"players": {}}, "AZI-5", {}),
        (FRESH3, {"players": [0, 1, 3]}, "AZI-5", {}),
        (FRESH3, {"players": [0, 2, 1]}, "AZI-5", {}),
        (FRESH3, {"players": [0, 1, 1, 2]}, "AZI-5", {}),
        (FRESH3, {"players": [0, True, 2]}, "AZI-5", {}),
        (FRESH3, {"players": [[0]]}, "AZI-5", {}),
        (FRESH3, {"players": [0, 1]}, "AZI-5", {}),
        (FRESH3, {"stacks": [999, 1001, 1000]}, "AZI-5", {}),
        (FRESH3, {"winner": 3}, "AZI-18", {}),
        (FRESH3, {"winner": False}, "AZI-18", {}),
        (FRESH3, {"winner": "0"}, "AZI-18", {}),
        (WON3, {"players": [0, 1]}, "AZI-18", {}),
        (WON3, {"stacks": [0, 1000, 2000]}, "AZI-18", {}),
        (WON3, {"stacks": [0, 3000, 0], "players": [1], "winner": 1}, "AZI-18", {}),
        (WON3, {"stacks": [1500, 1500, 0], "players": [0, 1]}, "AZI-16", {}),
        (CARRIED4, {"contributions": {"0": 30, "1": 10, "01": 0}}, "AZI-5", {}),
        (CARRIED4, {"contributions": {"0": 30, "1": 10, "4": 0}}, "AZI-5", {}),
        (CARRIED4, {"contributions": {"0": 10, "1": 10, "2": 10, "3": 9}}, "AZI-6", {}),
        (CARRIED4, {"contributions": {"0": 31, "1": 9}}, "AZI-5", {}),
        (CARRIED4, {"contributions": {"0": 31, "1": 9}, "winner": 0}, "AZI-6", {}),
        (CARRIED4, {"contributions": {"0": 20, "1": 10, "2": 10}, "winner": 0}, "AZI-6", {}),
        (
            CARRIED4,
            {
                "contributions": {"0": 20, "1": 10, "2": 10},
                "stacks": [1980, 990, 990, 0],
                "winner": 3,
            },
            "AZI-6",
            {},
        ),
        (CARRIED4, {"players": []}, "AZI-17", {}),
        (CARRIED4, {"players": [0, 3]}, "AZI-17", {"azi": "half_bank"}),
        (CARRIED4, {"players": [0, 1, 3]}, "AZI-17", {}),
        (CARRIED4, {}, "AZI-17", {"azi": "three_only"}),
        (
            CARRIED4,
            {
                "contributions": {"0": 20, "1": 10, "2": 10},
                "stacks": [1980, 990, 990, 0],
                "winner": 0,
            },
            "AZI-17",
            {"azi": "half_bank"},
        ),
        (
            match_of([990, 990], {"0": 10, "1": 10}),
            {},
            "AZI-17",
            {},
        ),
    ],
)
def test_matches_that_there_cannot_be(base, changes, rule, rules):
    assert AziPlay.match_fault(RULES | rules, len(base["stacks"]), base) == "" or not changes
    fault = AziPlay.match_fault(RULES | rules, len(base["stacks"]), base | changes)
    assert fault.endswith(f"({rule})"), fault


def test_a_match_lacks_no_member():
    for name in FRESH3:
        less = {key: value for key, value in FRESH3.items() if key != name}
        assert AziPlay.match_fault(RULES, 3, less).endswith("(AZI-5)")


# AZI-7: throws.


def test_each_player_throws_one_of_four_cards_in_any_order():
    hand = Hand(FOUR_HANDS, cards=4)
    assert hand.turn == {0, 1, 2, 3}
    hand.refuses("AZI-7", "0 throw 7S", "0 throw 6S 9S", "0 throw", "0 bet 10")
    hand.refuses("AZI-13", "0 show 6S")
    hand.legal("2 throw 8S")
    assert hand.turn == {0, 1, 3}
    hand.refuses("AZI-7", "2 throw 8D", "2 throw 8S")
    hand.legal("0 throw 6S", "3 throw AS", "1 throw 7S")
    assert hand.turn == {0}
    hand.refuses("AZI-7", "0 throw 6D")
    bid(hand).refuses("AZI-7", "0 throw 6D").refuses("AZI-13", "0 show 6S")


def test_with_three_cards_nothing_is_thrown():
    hand = Hand()
    assert hand.turn == {0}
    hand.refuses("AZI-7", "0 throw 6D")


# AZI-8: blind.


def test_a_player_looks_once_and_whenever_it_likes():
    hand = Hand(FOUR_HANDS, cards=4, blind=True)
    hand.legal("3 look", "0 throw 6S", "1 throw 7S", "2 throw 8S", "3 throw AS", "1 look")
    assert hand.turn == {0}
    hand.refuses("AZI-8", "1 look", "3 look")
    hand.legal("0 bet 10", "1 call", "2 fold").refuses("AZI-8", "2 look")
    hand.legal("3 call")
    assert hand.turn == {0}
    hand.refuses("AZI-8", "0 show 6D").legal("0 look", "0 show 6D", "1 show 7D")
    hand.refuses("AZI-8", "0 look")


def test_a_player_that_folded_unseen_looks_no_more_and_not_after_the_end():
    hand = Hand(blind=True).legal("0 bet 10", "1 fold").refuses("AZI-8", "1 look")
    hand.legal("2 fold").refuses("PLAY-3", "0 look", "2 look")


def test_a_look_in_the_midst_of_a_trick():
    hand = bid(Hand(blind=True)).legal("2 look", "0 look", "0 show 6D")
    assert hand.turn == {1}
    hand.refuses("AZI-8", "1 show 7D", "0 look").legal("1 look")
    assert hand.turn == {1}
    hand.legal("1 show 7D", "2 show 8D")


def test_who_is_asked_to_buy_in_has_looked_or_folded():
    hand = azi_hand(blind=True, azi="half_bank")
    assert hand.turn == {3}
    hand.refuses("AZI-8", "3 look", "0 look")


def test_without_blind_nobody_looks():
    Hand().refuses("AZI-8", "0 look", "1 look")


# AZI-9: who is asked.


def test_the_example_of_the_page():
    hand = Hand().legal("0 bet 10", "1 raise 20", "2 call", "0 raise 40", "1 call", "2 fold")
    assert hand.turn == {0}  # leads
    assert hand.play._bank.chips == 40 + 40 + 20 + 30
    hand.legal("0 show 6D", "1 show 7D", "1 show AH", "0 show KH")
    assert hand.score == {
        "azi": False,
        "bank": 130,
        "bought": [],
        "contributions": {"0": 50, "1": 50, "2": 30},
        "folded": [2],
        "leader": 0,
        "paid": {"1": 130},
        "tricks": [1, 1],
        "winner": 1,
    }
    assert hand.result == {
        "first": 2,
        "match": match_of([950, 1080, 970], winner=1),
        "score": hand.score,
        "winner": None,
    }


def test_the_first_player_from_first_is_asked_first():
    hand = Hand(first=2)
    assert hand.turn == {2}
    hand.refuses("AZI-9", "0 bet 10", "1 bet 10")
    hand.legal("2 bet 10")
    assert hand.turn == {0}
    hand.refuses("AZI-9", "2 call", "1 call").legal("0 call")
    assert hand.turn == {1}


def test_a_seat_without_chips_is_not_asked():
    hand = Hand(stacks=[10, 1490, 1500])
    assert hand.turn == {1}
    hand.legal("1 bet 10")
    assert hand.turn == {2}
    hand.legal("2 call")
    assert hand.turn == {1}  # leads
    hand.tricks("1 7D 8D 6D")  # seat 0 plays, it is active


def test_no_bidding_with_less_than_two_who_have_chips():
    hand = Hand(stacks=[2980, 10, 10], first=1)
    assert hand.turn == {0}  # the first who is not short leads
    hand.refuses("AZI-9", "0 bet 10", "0 check", "0 fold")
    hand.legal("0 show KH", "1 show AH")
    hand = Hand(match=match_of([0, 0, 0], dict.fromkeys("012", 1000)), first=1)
    assert hand.turn == {1}  # all are short: the first


def test_a_higher_bid_asks_all_others_again():
    hand = Hand(opener="may_check")
    hand.legal("0 check", "1 check", "2 bet 10")
    assert hand.turn == {0}
    hand.legal("0 call", "1 raise 20")
    assert hand.turn == {2}
    hand.legal("2 fold")
    assert hand.turn == {0}
    hand.legal("0 call")
    assert hand.play._order == [1, 0]


def test_all_may_check_and_the_first_leads():
    hand = Hand(opener="may_check", first=1).legal("1 check", "2 check", "0 check")
    assert hand.turn == {1}
    assert hand.play._bank.chips == 30


def test_the_turn_goes_to_the_next_that_owes_an_answer():
    """A seat is passed over that has folded, has no chips, or has answered."""
    hand = Hand(FOUR_HANDS, stacks=[1000, 1000, 35, 1965])
    hand.legal("0 bet 10", "1 fold", "2 raise 25", "3 call")
    assert hand.turn == {0}
    hand.legal("0 raise 50")
    assert hand.turn == {3}  # 2 has no chips
    hand.legal("3 call")
    assert hand.play._order == [0, 2, 3]


# AZI-10: what may be called.


def test_the_opener_bets():
    hand = Hand()
    hand.refuses("AZI-10", "0 check", "0 fold", "0 call", "0 raise 10", "0 all_in")
    hand.refuses("AZI-10", "0 bet 9", "0 bet 991", "0 bet 0", f"0 bet {2**53 - 1}", "0 bet")
    hand.refuses("AZI-10", "0 buy_in", "0 stay_out", "0 pass", "0 x", "0 all_in 990")
    assert hand.copy().do("0 bet 10") == ""
    assert hand.copy().do("0 bet 990") == ""


def test_the_opener_may_check():
    hand = Hand(opener="may_check")
    hand.refuses("AZI-10", "0 check 0", "0 fold", "0 call").legal("0 check")
    hand.refuses("AZI-9", "0 bet 10").refuses("AZI-10", "1 fold").legal("1 bet 10")
    hand.refuses("AZI-10", "2 check", "2 bet 20", "2 bet")


def test_an_opener_with_less_than_the_least_bet_goes_all_in():
    hand = Hand(stacks=[14, 1486, 1500])
    hand.refuses("AZI-10", "0 bet 4", "0 bet 10", "0 check", "0 all_in 4").legal("0 all_in")
    # The highest bid is 4: call, or raise to 10 at least.
    hand.refuses("AZI-10", "1 raise 5", "1 raise 9", "1 check", "1 all_in", "1 bet 10")
    assert hand.copy().do("1 fold") == ""
    assert hand.copy().do("1 raise 10") == ""
    hand.legal("1 call")
    assert hand.play._bank.contributions == {0: 14, 1: 14, 2: 10}
    hand.legal("2 fold")
    assert hand.turn == {1}  # nobody raised; seat 0 is short


def test_a_check_may_be_followed_by_an_all_in():
    hand = Hand(stacks=[1486, 14, 1500], opener="may_check")
    hand.legal("0 check", "1 all_in", "2 call")
    assert hand.turn == {0}  # owes an answer again
    hand.legal("0 call")
    assert hand.turn == {0}


def test_answers():
    hand = Hand(stacks=[1000, 60, 40, 1900], hands=FOUR_HANDS).legal("0 bet 40")
    hand.refuses("AZI-10", "1 all_in", "1 check", "1 bet 41", "1 raise 40", "1 raise 51")
    hand.refuses("AZI-10", "1 call 40", "1 fold 0", "1 raise")
    assert hand.copy().do("1 call") == ""
    assert hand.copy().do("1 raise 41") == ""
    assert hand.copy().do("1 raise 50") == ""
    hand.legal("1 raise 50")
    hand.refuses("AZI-10", "2 call", "2 raise 51", "2 raise 30", "2 all_in 30")
    assert hand.copy().do("2 fold") == ""
    hand.legal("2 all_in", "3 raise 60")
    assert hand.play._bank.contributions == {0: 50, 1: 60, 2: 40, 3: 70}
    assert hand.turn == {0}
    hand.refuses("AZI-10", "0 raise 991", "0 raise 60")
    hand.legal("0 call")
    assert hand.turn == {3}


def test_a_call_with_exactly_all_chips_is_a_call():
    hand = Hand(stacks=[1000, 50, 1950]).legal("0 bet 40").refuses("AZI-10", "1 all_in")
    hand.refuses("AZI-10", "1 raise 41")  # it has no more
    hand.legal("1 call", "2 fold")
    assert hand.play._bidding.short == set()


# AZI-11: how often.


def test_three_raises_a_player_and_a_bet_is_one():
    hand = Hand().legal("0 bet 10", "1 raise 20", "2 fold", "0 raise 30", "1 raise 40")
    hand.legal("0 raise 50", "1 raise 60").refuses("AZI-11", "0 raise 70").legal("0 call")
    assert hand.turn == {1}
    hand = Hand().legal("0 bet 10", "1 raise 20", "2 raise 30", "0 raise 40", "1 raise 50")
    hand.legal("2 raise 60", "0 raise 70", "1 raise 80", "2 raise 90")
    hand.refuses("AZI-11", "0 raise 100").legal("0 call").refuses("AZI-11", "1 raise 100")
    hand.legal("1 fold")
    assert hand.turn == {2}


def test_three_raises_in_all():
    hand = Hand(raises="three_total").legal("0 bet 10", "1 raise 20", "2 raise 30")
    hand.refuses("AZI-11", "0 raise 40").legal("0 call").refuses("AZI-11", "1 raise 40")
    hand.legal("1 call")
    assert hand.turn == {2}


def test_three_actions():
    hand = Hand(raises="three_actions", opener="may_check")
    hand.legal("0 check", "1 bet 10", "2 raise 20", "0 call", "1 raise 30")
    hand.legal("2 raise 40", "0 raise 50", "1 raise 60", "2 raise 70")
    hand.refuses("AZI-11", "0 raise 80").legal("0 call").refuses("AZI-11", "1 raise 80")
    hand.legal("1 call")
    assert hand.turn == {2}


def test_an_all_in_is_no_raise():
    hand = Hand(FOUR_HANDS, stacks=[14, 1286, 1300, 1400], raises="three_total")
    hand.legal("0 all_in", "1 raise 10", "2 raise 20", "3 raise 30").refuses("AZI-11", "1 raise 40")


# AZI-12: short, and who leads.


def test_who_is_short():
    hand = Hand(FOUR_HANDS, stacks=[1000, 10, 50, 2940])
    assert hand.play._bidding.short == {1}
    hand.legal("0 bet 20", "2 raise 40")
    assert hand.play._bidding.short == {1}  # it was paid in full
    assert hand.copy().legal("3 call", "0 call").turn == {2}  # and leads
    hand.legal("3 raise 50")
    assert hand.play._bidding.short == {1, 2}
    hand.legal("0 call")
    assert hand.turn == {3}


def test_who_called_with_its_last_chip_is_short_after_a_higher_bid():
    hand = Hand(stacks=[1000, 50, 1950]).legal("0 bet 40", "1 call", "2 call")
    assert hand.play._bidding.short == set()
    hand = Hand(stacks=[1000, 50, 1950]).legal("0 bet 40", "1 call", "2 raise 41", "0 call")
    assert hand.play._bidding.short == {1}


def test_the_first_leads_that_is_not_short_if_nobody_raised():
    hand = Hand(stacks=[14, 12, 2974], opener="may_check", first=1)
    hand.legal("1 all_in", "2 call", "0 call")
    assert hand.turn == {2}
    rules = {"min_bet": 100, "stack": 13, "first": 1}
    hand = Hand(stacks=[12, 13, 14], **rules).legal("1 all_in", "2 call", "0 all_in")
    assert hand.turn == {2}
    hand = Hand(stacks=[12, 13, 14], **rules).legal("1 all_in", "2 fold", "0 all_in")
    assert hand.turn == {1}  # both are short: the first active one


# AZI-13: following suit.


@pytest.mark.parametrize(
    ("held", "may", "may_without_duty"),
    [
        ("6D AH KS", "6D", "6D"),
        ("AH 7H KS", "AH 7H", "AH 7H KS"),
        ("9S KS 10S", "9S KS 10S", "9S KS 10S"),
        ("6D AD KH", "6D AD", "6D AD"),
    ],
)
def test_replies_to_a_lead_of_diamonds(held, may, may_without_duty):
    for duty, cards in ((True, may), (False, may_without_duty)):
        hand = bid(Hand(["KD QD JD", held, "8D QH 8S"], turned="8H", must_trump=duty))
        hand.legal("0 show KD")
        accepted = [card for card in held.split() if hand.copy().do(f"1 show {card}") == ""]
        assert accepted == cards.split()
        for card in set(held.split()) - set(cards.split()):
            hand.refuses("AZI-13", f"1 show {card}")


def test_a_lead_of_trumps_is_followed_with_any_trump():
    hand = bid(Hand(["KH QD JD", "AH 6H KS", "8D 10D 8S"])).legal("0 show KH")
    hand.refuses("AZI-13", "1 show KS").legal("1 show 6H", "2 show 8S")
    assert hand.turn == {0}


def test_who_shows_what_when():
    hand = Hand().legal("0 bet 10").refuses("AZI-13", "0 show 6D", "1 show 7D")
    hand.legal("1 call", "2 call").refuses(
        "AZI-13", "1 show 7D", "0 show 7D", "0 show", "0 show XX"
    )
    hand.refuses("AZI-13", "0 show 6D 9S").legal("0 show 6D")
    assert hand.play.shown([(1, "7D"), (2, "8D")]).endswith("(AZI-13)")
    assert hand.play.shown([(None, "7D")]) != ""
    hand.refuses("AZI-13", "0 show 9S", "2 show 8D").legal("1 show 7D", "2 show 8D")
    assert hand.turn == {2}  # leads the next
    hand.refuses("AZI-13", "2 show 8D", "1 show AH").refuses("AZI-9", "2 bet 10", "2 fold")


def test_it_goes_round_from_the_leader_without_those_who_folded():
    hand = Hand(FOUR_HANDS, first=3).legal("3 bet 10", "0 call", "1 fold", "2 raise 20")
    hand.legal("3 call", "0 call")
    order = []
    for card in ("8D", "9D", "6D"):
        order += hand.turn
        hand.legal(f"{order[-1]} show {card}")
    assert order == [2, 3, 0]


# AZI-14: who takes the trick.


@pytest.mark.parametrize(
    ("trick", "turned", "stage", "winner"),
    [
        ("KD AD 6H", "8H", True, 2),
        ("KD 7D 6H", "8H", True, 2),
        ("KH 6H QH", "AH", True, 1),
        ("KH 6H QH", "AH", False, 0),
        ("KH 6H QH", "8H", True, 0),
        ("9S 6H KH", "AH", True, 1),
        ("9S 6H KH", "AH", False, 2),
        ("6D 8S AD", "AH", True, 2),  # no other six is touched
        ("6D 8S 7S", "8H", True, 0),
        ("10D 9D JD", "8H", True, 2),
        ("6H AH KH", "AH", True, 0),  # the ace itself was played: dealer_last
        ("6H AH KH", "AH", False, 1),
        ("6S AS 7H", "AD", True, 1),
        ("6S AS 6D", "AD", True, 2),
    ],
)
def test_who_takes_a_trick(trick, turned, stage, winner):
    cards = trick.split()
    # Besides, nobody holds the suit led or a trump, so any card of the trick may be played.
    taken = {cards[0][-1], turned[-1]}
    spare = iter([card for card in DECK if card[-1] not in taken and card not in cards])
    hands = [" ".join([card, next(spare), next(spare)]) for card in cards]
    hand = bid(Hand(hands, turned=turned, six_on_stage=stage))
    hand.tricks("0 " + trick)
    assert hand.play._tricks == [winner]
    assert hand.turn == {winner}


# AZI-15: the end.


def test_two_tricks_win_and_no_card_is_shown_after():
    hand = bid(Hand(["AH KH 9S", "7D 8S KS", "8D QH 10S"])).tricks("0 AH 8S QH", "0 KH 7D 8D")
    assert hand.score["tricks"] == [0, 0]
    assert hand.score["winner"] == 0
    hand.refuses("PLAY-3", "0 show 9S", "0 bet 10", "0 throw 9S")


def test_the_third_trick_may_win():
    hand = bid(Hand(["AH 7D 9S", "AD 7S KS", "8D QH 10S"])).tricks("0 AH 7S QH", "0 7D AD 8D")
    assert hand.play.due == ""
    hand.legal("1 show KS", "2 show 10S")
    hand.legal("0 show 9S")
    assert hand.score["tricks"] == [0, 1, 1]
    assert hand.after["winner"] == 1


def test_if_all_others_fold_no_card_is_shown():
    hand = Hand().legal("0 bet 10", "1 raise 50", "2 fold", "0 fold")
    assert hand.score == {
        "azi": False,
        "bank": 90,
        "bought": [],
        "contributions": {"0": 20, "1": 60, "2": 10},
        "folded": [0, 2],
        "leader": None,
        "paid": {"1": 90},
        "tricks": [],
        "winner": 1,
    }
    assert hand.after == match_of([980, 1030, 990], winner=1)
    assert hand.result["first"] == 2
    hand.refuses("PLAY-3", "1 show 7D")


AZI_HANDS = ["AD 6S 7S", "6D AS 8S", "7D 9S AH", "8D 10S JS"]


def azi_hand(*, fold3=False, **rules):
    """Seats 0, 1 and 2 take a trick each."""
    hand = Hand(AZI_HANDS, turned="8H", **rules)
    if rules.get("blind"):
        hand.legal("0 look", "1 look", "2 look", "3 look")
    bids = ["3 fold"] if fold3 else ["3 call"]
    hand.legal("0 bet 10", "1 call", "2 call", *bids)
    tricks = ["0 AD 6D 7D 8D", "0 6S AS 9S 10S", "1 8S AH JS 7S"]
    if fold3:
        tricks = ["0 AD 6D 7D", "0 6S AS 9S", "1 8S AH 7S"]
    return hand.tricks(*tricks)


def test_a_trick_each_is_azi():
    hand = azi_hand()
    assert hand.score == {
        "azi": True,
        "bank": 80,
        "bought": [],
        "contributions": dict.fromkeys("0123", 20),
        "folded": [],
        "leader": 0,
        "paid": {},
        "tricks": [0, 1, 2],
        "winner": None,
    }
    assert hand.result["match"] == match_of([980] * 4, dict.fromkeys("0123", 20))
    assert hand.result["first"] is None  # nobody has ever won
    assert hand.result["winner"] is None
    hand.refuses("PLAY-3", "0 bet 10", "3 buy_in", "3 stay_out")


# AZI-16: the bank.


def settle(how, contributions, winner, active=None):
    chips = dict(enumerate(contributions))
    if how == "capped":
        shares = capped_shares(chips, winner)
    else:
        shares = proportional_shares(chips, winner, active or list(chips))
    assert sum(shares.values()) == sum(contributions)
    return [shares[seat] for seat in chips]


def test_capped_shares():
    assert settle("capped", [50, 100, 100], 0) == [150, 50, 50]
    assert settle("capped", [50, 100, 30], 0) == [130, 50, 0]
    assert settle("capped", [20, 80, 80, 10], 0) == [70, 60, 60, 0]
    assert settle("capped", [50, 100, 100], 1) == [0, 250, 0]


def test_proportional_shares():
    assert settle("proportional", [50, 100, 100], 0) == [125, 63, 62]
    assert settle("proportional", [100, 50, 100], 1) == [63, 125, 62]
    assert settle("proportional", [50, 100, 100], 0, [0, 2]) == [125, 62, 63]
    assert settle("proportional", [50, 100, 100], 0, [0]) == [126, 62, 62]
    assert settle("proportional", [100, 40], 0) == [140, 0]


def test_the_rest_of_rounding_goes_round():
    shares = proportional_shares({0: 1, 1: 2, 2: 2, 3: 2, 4: 2, 5: 2}, 0, [0, 2, 4])
    assert shares == {0: 5, 1: 1, 2: 2, 3: 1, 4: 1, 5: 1}
    big = 10**9
    shares = proportional_shares({0: big - 1, 1: big, 2: big, 3: 3 * big}, 0, [0, 1, 3])
    assert sum(shares.values()) == 6 * big - 1
    assert shares[0] == (6 * big - 1) * (big - 1) // (3 * big)


def short_hand(all_in, **rules):
    """Seat 0 goes all in for 50 in all, the others bid 100 in all; seat 0 wins."""
    hands = ["AH KH 9S", "7D 8S KS", "8D QH 10S"]
    hand = Hand(hands, stacks=[50, 1450, 1500], first=1, all_in=all_in, **rules)
    hand.legal("1 bet 90", "2 call", "0 all_in").tricks("1 7D 8D KH")
    return hand


@pytest.mark.parametrize(
    ("all_in", "paid"),
    [("capped", {"0": 150, "1": 50, "2": 50}), ("proportional", {"0": 125, "1": 63, "2": 62})],
)
def test_a_short_winner_takes_a_part(all_in, paid):
    hand = short_hand(all_in).tricks("0 AH 8S QH")
    assert hand.score["paid"] == paid
    assert hand.score["contributions"] == {"0": 50, "1": 100, "2": 100}
    assert hand.after["stacks"] == [paid["0"], 1350 + paid["1"], 1400 + paid["2"]]
    assert hand.after["bank"] == 0
    assert hand.after["contributions"] == {}


def test_a_winner_that_is_not_short_takes_all():
    """However little it has paid over the whole chain."""
    carried = match_of([950, 900, 900, 1000], {"0": 40, "1": 100, "2": 100, "3": 10}, [0, 1, 2], 0)
    hands = ["AH KH 9S", "7D 8S KS", "8D QH 10S", "6D 6H 6S"]
    assert AziPlay.match_fault(RULES | {"azi": "three_only"}, 4, carried) == ""
    hand = Hand(hands, match=carried, first=3, azi="three_only")
    hand.legal("0 bet 10", "1 call", "2 call").tricks("0 AH 8S QH", "0 KH 7D 8D")
    assert hand.score["paid"] == {"0": 280}
    assert hand.score["contributions"] == {"0": 50, "1": 110, "2": 110, "3": 10}
    assert hand.after == match_of([1220, 890, 890, 1000], winner=0)


def test_a_short_winner_takes_a_part_also_when_all_others_fold():
    carried = match_of([4, 1000, 1486], {"0": 10, "1": 200, "2": 300}, winner=2)
    hand = Hand(match=carried, azi="half_bank").legal("0 all_in", "1 fold", "2 fold")
    assert hand.score["bank"] == 514
    assert hand.score["paid"] == {"0": 42, "1": 186, "2": 286}
    hand = Hand(match=carried, azi="half_bank", all_in="proportional")
    hand.legal("0 all_in", "1 fold", "2 fold")
    # 514 * 14 // 300 = 23; 491 * 200 // 500 = 196, 294, and one left that only seat 0 can get.
    assert hand.score["paid"] == {"0": 24, "1": 196, "2": 294}


def test_a_seat_without_chips_plays_on_when_others_fold():
    carried = match_of([4, 2486, 0], {"0": 10, "1": 200, "2": 300}, winner=0)
    hand = Hand(match=carried, azi="half_bank").legal("0 all_in", "1 fold")
    assert hand.play.due == ""
    hand.tricks("0 KH QH", "0 6D 8D", "2 10S 9S")
    assert hand.score["winner"] == 2
    assert hand.score["paid"] == {"2": 514}  # capped by its own 300, the most there is


def test_who_takes_no_part_gets_its_part_back():
    carried = match_of([0, 900, 900, 900], {"0": 40, "1": 60, "2": 100, "3": 1000}, [0, 1, 2], 1)
    hands = ["AH KH 9S", "7D 8S KS", "8D QH 10S", "6D 6H 6S"]
    for all_in, paid in (
        ("capped", {"0": 160, "1": 30, "2": 70, "3": 960}),
        # 1220 * 40 // 1000 = 48; 1172 * 70 // 1180 = 69, 109, 993; one left goes to seat 1.
        ("proportional", {"0": 48, "1": 70, "2": 109, "3": 993}),
    ):
        hand = Hand(hands, match=carried, first=3, azi="half_bank", all_in=all_in, stack=975)
        hand.legal("1 bet 10", "2 call").tricks("1 7D 8D KH", "0 AH 8S QH")
        assert hand.score["contributions"] == {"0": 40, "1": 70, "2": 110, "3": 1000}
        assert hand.score["bank"] == 1220
        assert hand.score["paid"] == paid
        assert hand.after["players"] == [0, 1, 2, 3]


# AZI-17: after azi.


def test_all_ante():
    carried = azi_hand(fold3=True).after
    assert carried == match_of([980, 980, 980, 990], {"0": 20, "1": 20, "2": 20, "3": 10})
    hand = Hand(FOUR_HANDS, match=carried)
    assert hand.play._bank.chips == 70 + 40


def test_the_example_of_the_next_bank():
    """150 in the bank after azi among four: 190 with antes, 225 with a buy-in."""
    stacks, paid = [970, 960, 960, 960], {"0": 30, "1": 40, "2": 40, "3": 40}
    carried = match_of(stacks, paid)
    assert Hand(FOUR_HANDS, match=carried).play._bank.chips == 190
    # 30 * 4 + 30 = 150. Seats 1, 2 and 3 go on; seat 0 took no trick.
    hand = Hand(
        ["6D 6S 7S", "AD 8S 10S", "7D AS 9S", "8D JS AH"],
        turned="8H",
        azi="half_bank",
        opener="may_check",
        ante=30,
    )
    hand.legal("0 check", "1 bet 10", "2 call", "3 call", "0 fold")
    hand.tricks("1 AD 7D 8D", "1 8S AS JS", "2 9S AH 10S")
    assert hand.turn == {0}
    hand.legal("0 buy_in")
    assert hand.score["bank"] == 150
    assert hand.score["contributions"] == {"0": 30, "1": 40, "2": 40, "3": 40}
    assert hand.score["bought"] == [0]
    assert hand.after == match_of([895, 960, 960, 960], {"0": 105, "1": 40, "2": 40, "3": 40})
    assert hand.after["bank"] == 225
    assert AziPlay.match_fault(hand.rules, 4, hand.after) == ""


@pytest.mark.parametrize("fold3", [False, True])
def test_who_took_no_trick_may_buy_in_folded_or_not(fold3):
    hand = azi_hand(azi="half_bank", fold3=fold3)
    assert hand.play.due == ""
    assert hand.turn == {3}
    hand.refuses("AZI-17", "0 buy_in", "3 buy_in 40", "3 bet 10", "3 fold", "3 check", "2 stay_out")
    hand.refuses("AZI-13", "3 show JS").refuses("AZI-7", "3 throw JS")
    price = 35 if fold3 else 40
    bought = hand.copy().legal("3 buy_in")
    assert bought.after["stacks"][3] == hand.play._bank.stacks[3] - price
    assert bought.after["players"] == [0, 1, 2, 3]
    assert bought.score["bought"] == [3]
    out = hand.legal("3 stay_out")
    assert out.after["players"] == [0, 1, 2]
    assert out.after["contributions"]["3"] == (10 if fold3 else 20)
    assert out.score["bought"] == []


SIX_HANDS = ["AD 6S 7S", "6D AS 8S", "7D 9S AH", "8D 10S JS", "9D KS QH", "10D JH 9H"]


def six(stacks, first=0, **rules):
    """Seats 3, 4 and 5 fold, the others take a trick each."""
    hand = Hand(SIX_HANDS, turned="8H", stacks=stacks, azi="half_bank", **rules, first=first)
    moves = {0: "bet 10", 1: "call", 2: "call", 3: "fold", 4: "fold", 5: "fold"}
    hand.legal(*[f"{seat} {moves[seat]}" for seat in range(6)])
    return hand.tricks("0 AD 6D 7D", "0 6S AS 9S", "1 8S AH 7S")


def test_one_price_for_all_who_have_it_in_turn_from_first():
    # Bank 90 - the price is 45; seat 4 has 44 left, seat 3 exactly 45.
    hand = six([1000, 1000, 1000, 55, 54, 2891])
    assert hand.turn == {3}
    hand.refuses("AZI-17", "5 buy_in", "4 buy_in").legal("3 buy_in")
    assert hand.turn == {5}
    hand.refuses("AZI-17", "4 buy_in").legal("5 buy_in")
    assert hand.score["bought"] == [3, 5]
    assert hand.score["bank"] == 90
    assert hand.score["contributions"] == dict.fromkeys("012", 20) | dict.fromkeys("345", 10)
    assert hand.after["bank"] == 180
    assert hand.after["stacks"][3:] == [0, 44, 2836]
    assert hand.after["players"] == [0, 1, 2, 3, 5]
    assert hand.after["winner"] == 0
    assert hand.result["first"] == 1
    # A player without chips takes part in the next hand and is short; seat 4 sits out.
    assert AziPlay.match_fault(hand.rules, 6, hand.after) == ""
    assert AziPlay.sits_out(hand.after) == {4}
    again = Hand(SIX_HANDS, turned="8H", match=hand.after, azi="half_bank", first=1)
    assert again.play._bank.chips == 180
    assert again.play._bidding.short == {3}
    again.legal("1 bet 10").refuses("AZI-5", "4 call").legal("2 call", "5 call", "0 call")
    again.refuses("AZI-5", "4 show 9D").tricks("1 6D 7D 8D 10D AD")
    assert again.turn == {0}


def test_nobody_is_asked_that_cannot_pay():
    hand = six([1000, 1000, 3865, 55 - 1, 54, 27])
    assert hand.play.due == "hand.closed"
    assert hand.after["players"] == [0, 1, 2]


def test_the_turn_to_buy_in_begins_at_first():
    hand = Hand(SIX_HANDS, turned="8H", first=4, azi="half_bank", opener="may_check")
    hand.legal("4 check", "5 check", "0 bet 10", "1 call", "2 call")
    hand.legal("3 fold", "4 fold", "5 fold")
    hand.tricks("0 AD 6D 7D", "0 6S AS 9S", "1 8S AH 7S")
    for seat in (4, 5, 3):
        assert hand.turn == {seat}
        hand.legal(f"{seat} buy_in")
    assert hand.score["bought"] == [3, 4, 5]


def test_who_is_out_is_not_asked_again():
    carried = match_of([900, 900, 900, 990], {"0": 100, "1": 100, "2": 100, "3": 10}, [0, 1, 2])
    hand = Hand(AZI_HANDS, turned="8H", match=carried, azi="half_bank")
    hand.legal("0 bet 10", "1 call", "2 call")
    hand.tricks("0 AD 6D 7D", "0 6S AS 9S", "1 8S AH 7S")
    assert hand.after["players"] == [0, 1, 2]
    assert hand.after["contributions"] == {"0": 110, "1": 110, "2": 110, "3": 10}
    assert hand.result["first"] is None


def test_three_only():
    hand = azi_hand(azi="three_only")
    assert hand.play.due == "hand.closed"
    assert hand.after["players"] == [0, 1, 2]
    assert AziPlay.match_fault(hand.rules, 4, hand.after) == ""


# AZI-18: the match after the hand.


def test_who_was_out_comes_back_when_the_bank_is_won():
    carried = match_of([900, 900, 900, 990], {"0": 100, "1": 100, "2": 100, "3": 10}, [0, 1, 2])
    hand = Hand(FOUR_HANDS, match=carried, azi="half_bank").legal("0 bet 10", "1 fold", "2 fold")
    assert hand.after == match_of([1210, 900, 900, 990], winner=0)


def test_the_only_seat_with_chips_has_won_the_match():
    hand = Hand(["AH KH 9S", "7D 8S KS"], stacks=[1000, 1000])
    hand.legal("0 bet 990", "1 call").tricks("0 AH 8S", "0 KH 7D")
    assert hand.result["winner"] == 0
    assert hand.result["first"] == 1
    assert hand.after == match_of([2000, 0], players=[0], winner=0)
    hand = Hand(["AH KH 9S", "7D 8S KS"], stacks=[990, 1010])
    hand.legal("0 bet 980", "1 call").tricks("0 AH 8S", "0 KH 7D")
    assert hand.result["winner"] is None
    assert hand.after["players"] == [0, 1]


def test_the_winner_before_stays_after_azi():
    hand = Hand(AZI_HANDS, turned="8H", stacks=[1000, 1000, 1000, 1000])
    hand = bid(hand).tricks("0 AD 6D 7D 8D", "0 6S AS 9S 10S", "1 8S AH JS 7S")
    assert hand.after["winner"] == 0
    assert hand.result["first"] == 1


# PLAY-1, PLAY-3.


def test_the_options():
    assert set(RULES) - set(AziPlay.options) == {"blind", "cards", "six_on_stage", "suits", "trump"}
    assert AziPlay.options["ante"] == AziPlay.options["min_bet"] == range(1, 1000001)
    assert AziPlay.options["stack"] == range(1, 1000000001)


def test_nothing_else_happens():
    play = Hand().play
    for fault in (play.returned(), play.declared("pares", [0]), play.drawn([(0, "6D")])):
        assert fault.endswith("(PLAY-3)")


# Random play: everything conceivable is tried, and a model says what has to be accepted.


class Model:
    """The rules once more, told from outside: what each seat may do, given what was done."""

    def __init__(self, rules, match, deal):
        self.rules, self.match, self.deal = rules, match, deal
        self.part = "throws" if rules["cards"] == 4 else "bidding"
        self.players = match["players"]
        self.hands = [set(hand) for hand in deal.hands]
        self.stacks = list(match["stacks"])
        self.paid = {int(seat): chips for seat, chips in match["contributions"].items()}
        if rules["azi"] == "all_ante" or match["bank"] == 0:
            for seat in self.players:
                self.pay(seat, min(rules["ante"], self.stacks[seat]))
        self.looked, self.thrown, self.folded, self.short = set(), set(), [], set()
        self.calls = []  # (seat, call, bid)
        self.bids = dict.fromkeys(self.players, 0)
        self.answered = set()  # since the last bid that went higher
        self.mute = [seat for seat in self.players if not self.stacks[seat]]
        self.short.update(self.mute)
        if len(self.players) - len(self.mute) < 2:
            self.answered = set(self.players)
        self.shown, self.tricks, self.bought = [], [], []
        self.go_on()

    def pay(self, seat, chips):
        self.stacks[seat] -= chips
        self.paid[seat] = self.paid.get(seat, 0) + chips

    @property
    def active(self):
        return [seat for seat in self.players if seat not in self.folded]

    @property
    def highest(self):
        return max(self.bids.values())

    def around(self, start):
        n = self.deal.seats
        return [(start + i) % n for i in range(n)]

    def asked(self):
        """Who is on turn in the bidding."""
        start = self.calls[-1][0] + 1 if self.calls else self.deal.first
        for seat in self.around(start):
            if seat in self.active and self.stacks[seat] and seat not in self.answered:
                return seat
        return None

    def buyers(self):
        asked = [
            seat
            for seat in self.around(self.deal.first)
            if seat in self.players
            and seat not in self.tricks
            and self.decided_stacks[seat] >= self.price
        ]
        return asked[len(self.bought) :]

    def go_on(self):
        if self.part == "throws" and self.thrown == set(self.players):
            self.part = "bidding"
        if self.part == "bidding" and self.asked() is None:
            raisers = [seat for seat, call, _ in self.calls if call in ("bet", "raise")]
            able = [s for s in self.around(self.deal.first) if s in self.active]
            able = [s for s in able if s not in self.short] or able
            self.leader = raisers[-1] if raisers else able[0]
            self.part = "tricks" if len(self.active) > 1 else "end"
        if self.part == "tricks" and len(self.tricks) == 3 and len(set(self.tricks)) == 3:
            self.part = "buying"
            self.price = sum(self.paid.values()) // 2
            self.decided_stacks = list(self.stacks)
        if self.part == "tricks" and len(self.tricks) > len(set(self.tricks)):
            self.part = "end"
        if self.part == "buying" and not (self.rules["azi"] == "half_bank" and self.buyers()):
            self.part = "end"

    def turn(self):
        if self.part == "throws":
            return set(self.players) - self.thrown
        if self.part == "bidding":
            return {self.asked()}
        if self.part == "tricks":
            return {self.next_to_show()}
        return {self.buyers()[0]} if self.part == "buying" else set()

    def next_to_show(self):
        lead = self.tricks[-1] if self.tricks else self.leader
        order = [seat for seat in self.around(lead) if seat in self.active]
        return order[len(self.shown)]

    def legal(self):
        if self.part == "end":
            return set()
        moves = set()
        if self.rules["blind"]:
            moves = {("look", seat) for seat in self.active if seat not in self.looked}
        if self.part == "throws":
            for seat in self.turn():
                moves |= {("throw", seat, card) for card in self.hands[seat]}
        elif self.part == "bidding":
            seat = self.asked()
            moves |= {("call", seat, call, amount) for call, amount in self.bidding(seat)}
        elif self.part == "tricks":
            seat = self.next_to_show()
            if seat in self.looked or not self.rules["blind"]:
                moves |= {("show", seat, card) for card in self.replies(self.hands[seat])}
        else:
            seat = self.buyers()[0]
            moves |= {("call", seat, "buy_in", None), ("call", seat, "stay_out", None)}
        return moves

    def bidding(self, seat):
        most, least = self.bids[seat] + self.stacks[seat], self.rules["min_bet"]
        if self.highest == 0:
            if self.rules["opener"] == "may_check":
                yield "check", None
            if most < least:
                yield "all_in", None
            yield from (("bet", amount) for amount in self.amounts(seat) if least <= amount <= most)
            return
        yield "fold", None
        yield ("all_in" if most < self.highest else "call"), None
        own = [call for one, call, _ in self.calls if one == seat]
        done = {
            "three_per_player": sum(call in ("bet", "raise") for call in own),
            "three_total": sum(call in ("bet", "raise") for _, call, _ in self.calls),
            "three_actions": len(own),
        }[self.rules["raises"]]
        for amount in self.amounts(seat):
            if done < 3 and least <= amount <= most and amount > self.highest:
                yield "raise", amount

    def amounts(self, seat):
        most, least = self.bids[seat] + self.stacks[seat], self.rules["min_bet"]
        high = self.highest
        return {
            0,
            1,
            least - 1,
            least,
            least + 1,
            high,
            high + 1,
            2 * high,
            most - 1,
            most,
            most + 1,
        }

    def replies(self, hand):
        if not self.shown:
            return hand
        trumps = self.deal.turned[-1]
        for suit in [self.shown[0][1][-1], *([trumps] if self.rules["must_trump"] else [])]:
            if any(card[-1] == suit for card in hand):
                return {card for card in hand if card[-1] == suit}
        return hand

    def do(self, move):
        kind, seat, *what = move
        if kind == "look":
            self.looked.add(seat)
        elif kind == "throw":
            self.thrown.add(seat)
            self.hands[seat].remove(what[0])
        elif kind == "show":
            self.hands[seat].remove(what[0])
            self.shown.append((seat, what[0]))
            if len(self.shown) == len(self.active):
                self.tricks.append(self.taker())
                self.shown = []
        elif what[0] in ("buy_in", "stay_out"):
            self.bought.append(seat if what[0] == "buy_in" else None)
            self.pay(seat, self.price if what[0] == "buy_in" else 0)
        else:
            self.bid(seat, *what)
        self.go_on()

    def bid(self, seat, call, amount):
        high, most = self.highest, self.bids[seat] + self.stacks[seat]
        new = {"fold": self.bids[seat], "check": 0, "call": high, "all_in": most}.get(call, amount)
        self.pay(seat, new - self.bids[seat])
        self.bids[seat] = new
        self.calls.append((seat, call, new))
        if call == "fold":
            self.folded.append(seat)
        if call == "all_in":
            self.short.add(seat)
        if new > high:
            self.answered = set()
            self.short |= {s for s in self.players if s != seat and not self.stacks[s]}
        self.answered.add(seat)

    def taker(self):
        """Beats card by card."""
        turned, best = self.deal.turned, self.shown[0]
        for one in self.shown[1:]:
            (rank, suit), (rank2, suit2) = ((c[1][:-1], c[1][-1]) for c in (one, best))
            order = RANKS
            if self.rules["six_on_stage"] and turned[:-1] == "A" and suit == turned[-1]:
                order = [*RANKS[1:], "6"]
            if suit == suit2 and order.index(rank) > order.index(rank2):
                best = one
            if suit != suit2 and suit == turned[-1]:
                best = one
        return best[0]


def try_move(play, move):
    kind, seat, *what = move
    if kind == "look":
        return play.looked(seat)
    if kind == "throw":
        return play.thrown(seat, what)
    if kind == "show":
        return play.shown([(seat, what[0])])
    return play.called(seat, *what)


CALLS = ["bet", "check", "fold", "call", "raise", "all_in", "buy_in", "stay_out", "pass"]


def everything(model):
    for seat in range(model.deal.seats):
        yield "look", seat
        for card in DECK:
            yield "throw", seat, card
            yield "show", seat, card
        amounts = model.amounts(seat) if seat in model.bids else {10}
        for call, amount in itertools.product(CALLS, [None, *amounts]):
            yield "call", seat, call, amount


def play_hand(chooser, rules, match, number, first):
    n = len(match["stacks"])
    deck = list(DECK)
    chooser.shuffle(deck)
    k = rules["cards"]
    hands = [[deck[n * j + (seat - first) % n] for j in range(k)] for seat in range(n)]
    turned = deck[n * k] if rules["trump"] == "next_card" else deck[n * k - 1]
    deal = Deal(number, n, first, [list(hand) for hand in hands], 0, turned)
    play, model = AziPlay(rules, match, deal), Model(rules, match, deal)
    before = json.dumps(match)
    folds = chooser.choice([0.0, 0.1, 0.5])
    for _ in range(400):
        assert set(play.turn) == model.turn()
        assert play.due == ("hand.closed" if model.part == "end" else "")
        if not (play.due and play._winner is not None):  # the model does not pay out
            assert play._bank.stacks == model.stacks
        assert sum(play._bank.stacks) + play._bank.chips == n * rules["stack"]
        assert min(play._bank.stacks) >= 0
        if play.due:
            break
        legal = model.legal()
        for move in everything(model):
            if move not in legal:
                fault = try_move(play, move)
                assert fault.endswith(")"), move
        for move in legal:
            assert try_move(copy.deepcopy(play), move) == "", move
        choices = sorted(legal, key=repr)
        if chooser.random() >= folds:
            choices = [move for move in choices if "fold" not in move]
        if chooser.random() < 0.6:
            choices = [move for move in choices if "raise" not in move] or choices
        move = chooser.choice(choices)
        assert try_move(play, move) == ""
        model.do(move)
    held = {card for hand in hands for card in hand}
    assert set().union(*play._hands) <= held
    assert json.dumps(match) == before
    assert deal.hands == hands
    return play, model


def check_result(play, model, rules):
    result = play.result()
    score, after = result["score"], result["match"]
    n = len(after["stacks"])
    assert json.loads(json.dumps(result)) == result
    assert sum(after["stacks"]) + after["bank"] == n * rules["stack"]
    assert sum(after["contributions"].values()) == after["bank"]
    assert score["folded"] == sorted(model.folded)
    assert score["tricks"] == model.tricks
    assert sum(score["contributions"].values()) == score["bank"]
    assert score["leader"] == (model.leader if len(model.active) > 1 else None)
    assert all([*score["contributions"].values(), *score["paid"].values()])
    won = [seat for seat in model.tricks if model.tricks.count(seat) == 2] or model.active
    if score["azi"]:
        assert sorted(set(model.tricks)) == sorted(model.tricks)
        assert score["winner"] is None
        assert score["paid"] == {}
        assert after["bank"] == score["bank"] + len(score["bought"]) * (score["bank"] // 2)
        assert after["winner"] == model.match["winner"]
        assert result["winner"] is None
    else:
        winner = won[0]
        assert score["winner"] == after["winner"] == winner
        assert sum(score["paid"].values()) == score["bank"]
        assert after["bank"] == 0
        if winner not in model.short:
            assert score["paid"] == {str(winner): score["bank"]}
        elif rules["all_in"] == "capped":
            own = model.paid[winner]
            for seat, chips in model.paid.items():
                if seat != winner:
                    assert score["paid"].get(str(seat), 0) == max(0, chips - own)
        else:
            own = score["bank"] * model.paid[winner] // max(model.paid.values())
            assert 0 <= score["paid"][str(winner)] - own < n
    if result["winner"] is None:
        assert AziPlay.match_fault(rules, n, after) == ""
    else:
        assert after["stacks"][result["winner"]] == n * rules["stack"]
        assert AziPlay.match_fault(rules, n, after) != ""
    assert result["first"] == (None if after["winner"] is None else (after["winner"] + 1) % n)
    return result


@pytest.mark.parametrize("seed", range(60))
def test_random_matches(seed):
    chooser = random.Random(seed)
    n = 2 + seed % 5
    rules = {name: chooser.choice(list(values)) for name, values in VARIANTS.items()}
    match, first = AziPlay.fresh(rules, n), chooser.randrange(n)
    for number in range(1, 7):
        play, model = play_hand(chooser, rules, match, number, first)
        result = check_result(play, model, rules)
        if result["winner"] is not None:
            break
        match = result["match"]
        first = chooser.randrange(n) if result["first"] is None else result["first"]


VARIANTS = {
    "blind": (False, False, True),
    "cards": (3, 4),
    "six_on_stage": (True, False),
    "suits": ("DHS",),
    "trump": ("next_card", "dealer_last"),
    "all_in": ("capped", "proportional"),
    "ante": (1, 7, 10, 60),
    "azi": ("all_ante", "half_bank", "three_only"),
    "min_bet": (1, 10, 50),
    "must_trump": (True, False),
    "opener": ("must_bet", "may_check"),
    "raises": ("three_per_player", "three_total", "three_actions"),
    "stack": (1, 30, 100, 1000, 10**9),
}


# Whatever the input.

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False)
    | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=8,
)
CHIPS = st.integers(0, 12)


@given(
    st.dictionaries(st.sampled_from([*FRESH3, "x"]), JSON),
    st.fixed_dictionaries(dict.fromkeys(FRESH3, JSON)),
    st.sampled_from(["all_ante", "half_bank", "three_only"]),
)
def test_no_match_raises(some, all_members, azi):
    for match in (some, all_members, FRESH3 | some, WON3 | some, CARRIED4 | some):
        for seats in (3, 4):
            assert isinstance(AziPlay.match_fault(RULES | {"azi": azi}, seats, match), str)


MOVE = st.tuples(
    st.sampled_from(["look", "throw", "show", "call"]),
    st.integers(0, 4),
    st.sampled_from(CALLS) | st.text("abc_", max_size=4),
    st.none() | CHIPS | st.integers(0, 2**53 - 1),
    st.sampled_from([*DECK, "12o", "x", "10", "6X", "KC"]),
)


@given(
    st.lists(CHIPS, min_size=5, max_size=5),
    st.dictionaries(st.sampled_from("01234"), st.integers(1, 12)),
    st.sets(st.integers(0, 4)),
    st.none() | st.integers(0, 4),
    st.lists(MOVE, max_size=40),
    st.tuples(*map(st.sampled_from, VARIANTS.values())),
)
def test_no_event_raises_after_any_match_without_fault(
    stacks, contributions, players, winner, moves, values
):
    rules = dict(zip(VARIANTS, values, strict=True))
    total = sum(stacks) + sum(contributions.values())
    stacks[0] += -total % 5 + 5
    rules |= {"stack": sum([*stacks, *contributions.values()]) // 5}
    match = match_of(stacks, contributions, sorted(players), winner)
    if AziPlay.match_fault(rules, 5, match):
        match = AziPlay.fresh(rules, 5)
    hands = [DECK[i : i + 4] for i in range(0, 20, 4)]
    play = AziPlay(rules, match, Deal(2, 5, 1, hands, 0, "AS"))
    for kind, seat, call, amount, card in moves:
        fault = try_move(play, (kind, seat, call, amount) if kind == "call" else (kind, seat, card))
        assert isinstance(fault, str)
        assert isinstance(play.turn, frozenset)
        assert play.turn <= set(match["players"])
        assert bool(play.turn) != bool(play.due)
        assert len(fault) < 200


def test_the_largest_numbers():
    """Products beyond 2^53 are exact."""
    most = 10**9
    rules = {"stack": most, "ante": 10**6, "all_in": "proportional", "azi": "three_only"}
    carried = match_of(
        [0, 10, most - 7, most, most],
        {"0": most - 3, "1": most - 4, "2": 4},
        [0, 1, 2],
        1,
    )
    hands = ["AH KH 9S", "7D 8S KS", "8D QH 10S", "6D 6H 6S", "9D JD QD"]
    hand = Hand(hands, match=carried, **rules)
    hand.refuses("AZI-10", f"1 bet {2**53 - 1}").legal("1 bet 10", "2 call")
    hand.tricks("1 7D 8D KH", "0 AH 8S QH")
    c = [most - 3, most + 6, 14]
    bank = sum(c)
    won = bank * c[0] // c[1]
    assert hand.score["paid"]["0"] in range(won, won + 2)
    assert sum(hand.score["paid"].values()) == bank
