"""The play of Kozel as the verifier reads it, move by move.

Spec: KOZ-8 to KOZ-19
"""

import copy
import itertools
import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairdeal_verifier.play.base import Deal
from fairdeal_verifier.play.kozel import KozelPlay

RULES = {
    "discards": "hidden",
    "indicator": "interior",
    "indicator_place": "stays",
    "eggs": "none",
    "first_leader": "dealer_left",
    "must_beat": False,
    "pull": "any_suit",
    "target": 12,
}
RANKS = ["6", "7", "8", "9", "J", "Q", "K", "10", "A"]  # weak to strong
DECK = [rank + suit for suit in "CDHS" for rank in RANKS]
POINTS = {"J": 2, "Q": 3, "K": 4, "10": 10, "A": 11}
FRESH = {"defeat": [0, 0], "doubled": False, "eggs": False, "leader": None}
BEGUN = {"defeat": [2, 0], "doubled": False, "eggs": False, "leader": 1}
HANDS = ["KC 9C 6D 7D", "10C 6H QC 8C", "AC 7H KH 9H", "QD 8S 6S 7S"]


class Hand:
    """A hand that is played by words: "2 AC 7H" is cards of seat 2."""

    def __init__(self, hands=HANDS, trump="H", first=0, match=None, stock=None, **rules):
        held = [hand.split() for hand in hands]
        dealt = {card for hand in held for card in hand}
        rest = [card for card in DECK if card not in dealt]
        self.stock = rest[:20] if stock is None else stock.split()
        self.play = KozelPlay(
            RULES | rules,
            match or FRESH,
            Deal(1, 4, first, held, len(self.stock), "6" + trump),
        )

    def show(self, words):
        seat, *cards = words.split()
        return self.play.shown([(int(seat), card) for card in cards])

    def hide(self, words):
        seat, *cards = words.split()
        return self.play.thrown(int(seat), cards)

    def draw(self, taker, count):
        drawn = [((taker + i) % 4, self.stock.pop(0)) for i in range(count)]
        return self.play.drawn(drawn), drawn

    def legal(self, *moves):
        """Plays "+" for cards shown, "-" for cards thrown, "back"."""
        for move in moves:
            if move == "back":
                assert self.play.returned() == "", move
            else:
                assert (self.show if move[0] == "+" else self.hide)(move[1:]) == "", move
        return self

    @property
    def turn(self):
        return set(self.play.turn)


def refused(fault, rule):
    assert fault.endswith(f"({rule})"), fault
    assert "\n" not in fault
    return True


def can_be_paired(cards, best, trump):
    """Tries every pairing, card by card. Spec: KOZ-9, KOZ-12."""

    def beats(card, other):
        if card[-1] == other[-1]:
            return RANKS.index(card[:-1]) > RANKS.index(other[:-1])
        return card[-1] == trump

    return len(cards) == len(best) and any(
        all(beats(card, other) for card, other in zip(order, best, strict=True))
        for order in itertools.permutations(cards)
    )


# KOZ-8: what a move is.


def test_a_move_is_different_cards_of_one_seat_that_holds_them():
    hand = Hand()
    assert refused(hand.play.shown([(0, "KC"), (1, "10C")]), "KOZ-8")
    assert refused(hand.play.shown([(0, "KC"), (1, "9C")]), "KOZ-8")
    assert refused(Hand().show("0 AC"), "KOZ-8")
    assert refused(Hand().show("0 KC KC"), "KOZ-8")
    assert refused(Hand().play.shown([]), "KOZ-8")
    assert refused(Hand().play.shown([(None, "KC")]), "KOZ-8")
    assert refused(Hand().play.shown([(7, "KC")]), "KOZ-8")
    led = Hand().legal("+0 KC 9C")
    assert refused(led.hide("1 10C 10C"), "KOZ-8")
    assert refused(led.hide("1 10C AC"), "KOZ-8")
    assert refused(led.hide("1"), "KOZ-8")


def test_cards_that_were_laid_are_held_no_more():
    hand = Hand().legal("+0 6D", "-1 8C", "-2 9H", "-3 6S")
    hand.draw(0, 4)
    assert refused(hand.show("0 6D"), "KOZ-8")


def test_there_are_no_words_in_kozel():
    play = Hand().play
    assert refused(play.called(0, "paso", None), "PLAY-3")
    assert refused(play.declared("pares", [0]), "PLAY-3")
    assert refused(play.looked(0), "PLAY-3")


def test_nothing_is_thrown_face_down_where_discards_are_open():
    assert refused(Hand(discards="open").legal("+0 KC").hide("1 6H"), "KOZ-8")


# KOZ-9, KOZ-12: what beats what.


@pytest.mark.parametrize(
    ("trump", "best", "cards", "is_beaten"),
    [
        ("H", "7H", "9H", True),
        ("S", "7H", "9H", True),
        ("S", "QC", "10C", True),
        ("S", "10C", "QC", False),
        ("S", "10C", "AC", True),
        ("S", "KC", "10C", True),
        ("S", "9C", "10C", True),
        ("H", "AS", "6H", True),
        ("H", "AS", "10D", False),
        ("H", "10D", "AS", False),
        ("D", "QS 7S", "9D JS", True),
        ("D", "QS 7S", "KS 8S", True),
        ("D", "QS 7S", "JS 8S", False),
        ("H", "KC 9C", "10C 6H", True),
        ("H", "6S 7S 8S 9S", "JS QS KS 6H", True),
        ("H", "6S 7S 8S AS", "JS QS KS 10S", False),
        ("H", "6S 7S 8S AS", "JS QS KS 6H", True),
        ("H", "6C", "7C 8C", False),
        ("H", "AH", "10H", False),
        ("H", "6H", "AC", False),
    ],
)
def test_what_beats(trump, best, cards, is_beaten):
    rest = [card for card in DECK if card not in f"{best} {cards}".split()]
    hands = [best, cards, " ".join(rest[:4]), " ".join(rest[4:8])]
    hand = Hand(hands, trump=trump).legal("+0 " + best)
    fault = hand.show("1 " + cards)
    assert fault == "" if is_beaten else refused(fault, "KOZ-11")
    assert can_be_paired(cards.split(), best.split(), trump) == is_beaten


def test_only_the_last_beat_need_be_beaten():
    """A published hand: diamonds are trumps, QS 7S is beaten by 9D JS."""
    hands = ["QS 7S 6C 7C", "9D JS 8C 9C", "KD 8D 9S AS", "QC KC 6H 7H"]
    begun = Hand(hands, trump="D").legal("+0 QS 7S", "+1 9D JS")
    assert copy.deepcopy(begun).show("2 KD 8D") == ""
    assert copy.deepcopy(begun).show("2 KD AS") == ""  # KD over 9D, AS over JS
    assert refused(copy.deepcopy(begun).show("2 8D AS"), "KOZ-11")  # nothing over 9D
    assert refused(copy.deepcopy(begun).show("2 KD 9S"), "KOZ-11")  # 9S would beat 7S only
    assert copy.deepcopy(begun).hide("2 8D 9S") == ""


def test_beating_is_as_any_pairing_says():
    """Greedy against all permutations."""
    chooser = random.Random(12)
    found = set()
    for _ in range(4000):
        trump, k = chooser.choice("CDHS"), chooser.randint(1, 4)
        suit = chooser.choice("CDHS")
        lead = chooser.sample([card for card in DECK if card[-1] == suit], k)
        rest = [card for card in DECK if card not in lead]
        # Mostly cards that may beat at all, or next to nothing would be beaten.
        first = sorted(rest, key=lambda card: (card[-1] not in trump + suit, chooser.random()))
        answer = chooser.sample(first[: chooser.choice((9, 12, 32))], k)
        filler = [card for card in rest if card not in answer]
        hands = [" ".join(cards) for cards in (lead, answer, filler[:4], filler[4:8])]
        hand = Hand(hands, trump=trump).legal("+0 " + hands[0])
        is_beaten = can_be_paired(answer, lead, trump)
        assert (hand.show("1 " + hands[1]) == "") == is_beaten
        found.add((k, is_beaten))
    assert len(found) == 8


# KOZ-10: who leads, and what.


@pytest.mark.parametrize(
    ("rule", "first", "leader"),
    [("dealer_left", 0, 0), ("dealer_left", 3, 3), ("dealer", 0, 3), ("dealer", 2, 1)],
)
def test_who_leads_the_first_game(rule, first, leader):
    hand = Hand(first=first, first_leader=rule)
    assert hand.turn == {leader}
    card = hand.play.deal.hands[leader][0]
    other = hand.play.deal.hands[(leader + 1) % 4][0]
    assert refused(hand.show(f"{(leader + 1) % 4} {other}"), "KOZ-14")
    assert hand.show(f"{leader} {card}") == ""


@pytest.mark.parametrize("rule", ["dealer_left", "dealer"])
def test_who_leads_a_later_game(rule):
    hand = Hand(first=3, first_leader=rule, match=BEGUN)
    assert hand.turn == {1}
    assert refused(hand.show("3 QD"), "KOZ-14")
    assert hand.show("1 10C") == ""


def test_a_lead_is_of_one_suit_and_face_up():
    assert refused(Hand().show("0 KC 6D"), "KOZ-10")
    assert refused(Hand().hide("0 KC"), "KOZ-10")
    for lead in ("0 KC", "0 KC 9C", "0 7D 6D"):
        hand = Hand()
        assert hand.show(lead) == ""
        assert hand.turn == {1}
    assert Hand(["6C 7C 8C 9C", *HANDS[2:], "JC QC KC 10C"]).show("0 9C 6C 8C 7C") == ""


# KOZ-11: answers.


def test_all_answer_in_turn_with_as_many_cards():
    hand = Hand().legal("+0 KC 9C")
    assert refused(hand.show("2 AC 7H"), "KOZ-11")
    assert refused(hand.hide("2 AC 7H"), "KOZ-11")
    assert refused(hand.show("0 6D 7D"), "KOZ-11")
    assert refused(hand.show("1 10C"), "KOZ-11")
    assert refused(hand.hide("1 10C"), "KOZ-11")
    assert refused(hand.hide("1 10C QC 8C"), "KOZ-11")
    assert hand.legal("+1 6H 10C").turn == {2}
    assert hand.legal("-2 KH 9H").turn == {3}
    assert refused(hand.hide("0 6D 7D"), "KOZ-11")
    assert refused(hand.hide("2 AC 7H"), "KOZ-11")
    hand.legal("-3 QD 8S")
    assert hand.turn == set()


def test_cards_shown_that_do_not_beat():
    """They are a fault where discards are hidden, and a discard where they are open."""
    assert refused(Hand().legal("+0 KC").show("1 QC"), "KOZ-11")
    hand = Hand(discards="open").legal("+0 KC", "+1 QC", "+2 9H", "+3 6S")
    assert hand.play.due == "cards.drawn"
    assert hand.draw(2, 4)[0] == ""  # 9H, a trump, beat
    assert hand.turn == {2}


def test_cards_thrown_face_down_never_beat():
    hand = Hand().legal("+0 KC", "-1 10C", "-2 AC", "-3 QD")
    hand.draw(0, 4)
    assert hand.turn == {0}


def test_an_answer_that_beats_where_discards_are_open_is_a_beat():
    hand = Hand(discards="open").legal("+0 KC", "+1 10C", "+2 AC", "+3 QD")
    hand.draw(2, 4)
    assert hand.turn == {2}


# KOZ-13: beating as a duty.


def test_who_can_beat_must_where_it_is_a_duty():
    for discards in ("hidden", "open"):
        hand = Hand(must_beat=True, discards=discards).legal("+0 KC")
        if discards == "hidden":
            assert refused(hand.hide("1 8C"), "KOZ-13")
            assert refused(hand.hide("1 10C"), "KOZ-13")
        else:
            assert refused(hand.show("1 8C"), "KOZ-13")
        assert copy.deepcopy(hand).show("1 10C") == ""
        hand.legal("+1 6H")  # as it likes
        throw = "+3 QD" if discards == "open" else "-3 QD"
        hand.legal("+2 7H", throw)  # seat 3 has no heart
    assert Hand().legal("+0 KC").hide("1 10C") == ""


def test_a_part_of_a_beat_is_no_duty():
    hand = Hand(must_beat=True).legal("+0 KC 9C", "+1 10C 6H")
    assert refused(hand.hide("2 KH 9H"), "KOZ-13")
    hands = ["KC 9C 6D 7D", "10C 6S QC 8C", "AC 7S KH 9S", "QD 8S 6H 7D"]
    assert Hand(hands, trump="D", must_beat=True).legal("+0 KC 9C").hide("1 8C 6S") != ""
    assert (
        Hand(hands, trump="D", must_beat=True).legal("+0 9C KC", "+1 10C QC").hide("2 KH 9S") == ""
    )


def test_the_duty_to_beat_is_that_of_some_k_cards():
    """All hands of a small world: refused exactly if some choice of cards beats."""
    chooser = random.Random(5)
    seen = set()
    for _ in range(1500):
        trump, k = chooser.choice("CDHS"), chooser.randint(1, 3)
        suit = chooser.choice("CDHS")
        lead = chooser.sample([card for card in DECK if card[-1] == suit], k)
        rest = [card for card in DECK if card not in lead]
        chooser.shuffle(rest)
        hands = [" ".join([*lead, *rest[12 : 16 - k]])]
        hands += [" ".join(rest[i : i + 4]) for i in (0, 4, 8)]
        hand = Hand(hands, trump=trump, must_beat=True).legal("+0 " + " ".join(lead))
        can = any(can_be_paired(c, lead, trump) for c in itertools.combinations(rest[:4], k))
        fault = hand.hide("1 " + " ".join(rest[:k]))
        assert refused(fault, "KOZ-13") if can else fault == ""
        seen.add((k, can))
    assert len(seen) >= 5


def test_a_seat_that_must_beat_may_pull_instead():
    hands = ["KC 9C 6D 7D", "10H 6H 7H 8H", "AC 7S KH 9H", "QD 8S 6S JS"]
    hand = Hand(hands, must_beat=True).legal("+0 KC")
    assert hand.legal("back", "+1 10H 6H 7H 8H").turn == {2}


# KOZ-14, KOZ-15: pulls.

# Seat 0 leads; 1, 2 and 3 hold four of a suit; spades are trumps.
PULLERS = ["6C 7C 9C 8D", "6H 7H 8H 9H", "6S 7S 8S 9S", "9D 10D JD KD"]
ALL_PULL = ["6C 7C 9C 8C", "6H 7H 8H 9H", "6S 7S 8S 9S", "9D 10D JD KD"]


def pullers(trump="S", hands=PULLERS, **rules):
    return Hand(hands, trump=trump, **rules)


def test_a_pull_before_the_lead_needs_no_return():
    """KOZ-14 (a)."""
    hand = pullers()
    assert refused(copy.deepcopy(hand).play.returned(), "KOZ-15")
    assert refused(copy.deepcopy(hand).show("3 9D 10D JD"), "KOZ-15")
    assert hand.legal("+3 9D 10D JD KD").turn == {0}
    hand.legal("-0 6C 7C 9C 8D", "-1 6H 7H 8H 9H", "+2 6S 7S 8S 9S")
    assert hand.play.due == "cards.drawn"
    assert hand.draw(2, 16)[0] == ""
    assert hand.turn == {2}


def test_a_pull_into_a_lead_after_answers():
    """KOZ-14 (b), the published example: 7S led, 6D hidden, then four diamonds."""
    hands = ["7S 6C 7C 8C", "6D 6H 7H 9C", "JC QC KC 9S", "9D 10D JD KD"]
    hand = Hand(hands).legal("+0 7S", "-1 6D")
    assert hand.turn == {2}
    hand.legal("back")
    assert hand.turn == set()
    assert hand.play.due == ""
    assert hand.legal("+3 9D 10D JD KD").turn == {0}
    hand.legal("-0 7S 6C 7C 8C")
    assert hand.turn == {1}
    hand.legal("-1 6D 6H 7H 9C", "-2 JC QC KC 9S")
    hand.draw(3, 16)
    assert hand.turn == {3}


def test_a_pull_after_the_last_but_one_answer_and_by_the_seat_on_turn():
    hand = Hand(["7S 6C 7C 8C", "8S 6H 7H 9C", "9S QC KC 6D", "9D 10D JD KD"])
    hand.legal("+0 7S", "+1 8S", "+2 9S", "back", "+3 KD JD 10D 9D")
    assert hand.turn == {0}


def test_a_seat_that_has_answered_may_not_pull_into_the_lead():
    hand = pullers().legal("+0 6C", "-1 6H", "back")
    assert refused(hand.show("1 6H 7H 8H 9H"), "KOZ-15")


def test_after_a_return_only_a_pull_comes():
    begun = pullers().legal("+0 6C", "back")
    for fault in (
        copy.deepcopy(begun).show("0 6C"),
        copy.deepcopy(begun).show("0 6C 7C 9C 8D"),
        copy.deepcopy(begun).show("1 6H"),
        copy.deepcopy(begun).hide("1 6H 7H 8H 9H"),
        copy.deepcopy(begun).hide("1 6H"),
        copy.deepcopy(begun).play.returned(),
    ):
        assert refused(fault, "KOZ-15")
    for move in ("1 6H 7H 8H 9H", "2 6S 7S 8S 9S", "3 9D 10D JD KD"):
        assert copy.deepcopy(begun).show(move) == ""


def test_nobody_pulls_into_a_lead_of_four():
    hand = pullers(hands=ALL_PULL).legal("+0 6C 7C 9C 8C")
    assert refused(hand.play.returned(), "KOZ-14")
    # Four cards of the seat on turn are an answer.
    assert refused(hand.show("1 6H 7H 8H 9H"), "KOZ-11")
    hand.legal("-1 6H 7H 8H 9H")
    assert refused(hand.play.returned(), "KOZ-14")


def test_a_nearer_seat_takes_the_right_of_a_farther_one():
    """KOZ-14 (c): at most four pulls in a trick, the leader's own the last."""
    hand = pullers(hands=ALL_PULL).legal("+3 9D 10D JD KD")
    hand.legal("back")
    assert refused(copy.deepcopy(hand).show("3 9D 10D JD KD"), "KOZ-15")
    hand.legal("+2 6S 7S 8S 9S", "back")
    assert refused(copy.deepcopy(hand).show("3 9D 10D JD KD"), "KOZ-15")
    hand.legal("+1 6H 7H 8H 9H", "back", "+0 6C 7C 9C 8C")
    assert refused(copy.deepcopy(hand).play.returned(), "KOZ-14")
    hand.legal("-1 6H 7H 8H 9H")
    assert refused(hand.play.returned(), "KOZ-14")


def test_a_farther_seat_has_no_right():
    hand = pullers().legal("+0 6C", "back", "+2 6S 7S 8S 9S", "back")
    assert refused(copy.deepcopy(hand).show("3 9D 10D JD KD"), "KOZ-15")
    hand.legal("+1 6H 7H 8H 9H")
    assert refused(hand.play.returned(), "KOZ-14")


def test_the_first_answer_to_a_pull_ends_the_pulling():
    hand = pullers().legal("+3 9D 10D JD KD", "-0 6C 7C 9C 8D")
    assert refused(hand.play.returned(), "KOZ-14")


def test_a_seat_that_had_answered_may_pull_after_a_pull():
    hand = pullers().legal("+0 6C", "-1 6H", "back", "+3 9D 10D JD KD", "back", "+1 6H 7H 8H 9H")
    assert hand.turn == {2}


def test_the_leader_may_pull_after_a_pull():
    hand = pullers(hands=ALL_PULL).legal("+0 6C", "back", "+1 6H 7H 8H 9H", "back")
    assert hand.legal("+0 6C 7C 8C 9C").turn == {1}


def test_each_trick_has_its_own_pulls():
    stock = "6C 6D 9H 9S 7C 7D QH QS 8C 8D KH KS 10C 9D 10H AD 10D JD KD AS"
    hand = Hand(["9C KC AC JH", "JC QC QD AH", "6H 7H 8H 7S", "6S 8S 10S JS"], stock=stock)
    hand.legal("+3 6S 8S 10S JS", "-0 9C KC AC JH", "-1 JC QC QD AH", "-2 6H 7H 8H 7S")
    assert hand.draw(3, 16)[0] == ""  # 3: 6C 7C 8C 10C, 0: 6D 7D 8D 9D
    assert hand.legal("+3 6C", "back", "+0 6D 7D 8D 9D").turn == {1}


def test_distance_is_from_the_leader():
    match = BEGUN | {"leader": 2}
    hand = pullers(hands=ALL_PULL, match=match).legal("+1 6H 7H 8H 9H", "back")
    assert refused(copy.deepcopy(hand).show("1 6H 7H 8H 9H"), "KOZ-15")
    hand.legal("+0 6C 7C 8C 9C", "back", "+3 9D 10D JD KD", "back", "+2 6S 7S 8S 9S")
    assert refused(hand.play.returned(), "KOZ-14")


def test_which_suits_may_pull():
    off = pullers(pull="off")
    assert refused(copy.deepcopy(off).show("1 6H 7H 8H 9H"), "KOZ-14")
    assert refused(off.legal("+0 6C").play.returned(), "KOZ-14")
    trumps = pullers(pull="trumps_only")
    assert refused(copy.deepcopy(trumps).show("1 6H 7H 8H 9H"), "KOZ-14")
    assert copy.deepcopy(trumps).show("2 6S 7S 8S 9S") == ""
    trumps.legal("+0 6C", "back")
    assert refused(copy.deepcopy(trumps).show("1 6H 7H 8H 9H"), "KOZ-15")
    assert trumps.show("2 6S 7S 8S 9S") == ""


def test_who_holds_no_four_of_a_suit_may_not_pull():
    assert refused(Hand().show("1 10C 6H QC 8C"), "KOZ-14")
    assert refused(Hand().legal("+0 KC").play.returned(), "KOZ-14")
    three = Hand(["7S", "6D", "JC", "9D"], stock="").legal("+0 7S")
    assert refused(three.play.returned(), "KOZ-14")


def test_a_pull_without_the_return_is_an_answer_out_of_turn():
    assert refused(pullers().legal("+0 6C").show("3 9D 10D JD KD"), "KOZ-11")


def test_no_pull_while_a_draw_is_due():
    hand = pullers().legal("+0 6C", "-1 6H", "-2 6S", "-3 9D")
    assert refused(hand.play.returned(), "PLAY-3")


# KOZ-16: the taker and the draw.


def test_a_full_trick():
    """Hearts are trumps; 28 points for seat 2, which draws first."""
    hand = Hand().legal("+0 KC 9C", "+1 10C 6H")
    assert refused(copy.deepcopy(hand).show("2 AC"), "KOZ-11")
    hand.legal("+2 AC 7H", "-3 QD 8S")
    assert hand.play.due == "cards.drawn"
    assert refused(copy.deepcopy(hand).show("2 KH"), "PLAY-3")
    assert refused(copy.deepcopy(hand).hide("2 KH"), "PLAY-3")
    fault, drawn = hand.draw(2, 8)
    assert fault == ""
    assert [seat for seat, _ in drawn] == [2, 3, 0, 1, 2, 3, 0, 1]
    assert hand.play.due == ""
    assert hand.turn == {2}
    assert hand.play._points == [28, 0]
    assert hand.play._tricks == [1, 0]
    assert list(map(str, hand.play.story)) == [
        "seat 0 leads",
        "seat 1 beats",
        "seat 2 beats",
        "trick 1: seat 2 takes it with 28 points",
    ]


def test_what_is_not_a_trump_does_not_beat_one():
    hands = ["9C 8D 6D 7D", "10C 6H QC 8C", "AC KC KH 9H", "QD 8S 6S 7S"]
    hand = Hand(hands).legal("+0 9C", "+1 6H")
    assert refused(hand.show("2 AC"), "KOZ-11")


@pytest.mark.parametrize(
    ("taker", "count"), [(0, 8), (1, 8), (3, 8), (2, 4), (2, 7), (2, 0), (2, 12)]
)
def test_a_wrong_draw(taker, count):
    hand = Hand().legal("+0 KC 9C", "+1 10C 6H", "+2 AC 7H", "-3 QD 8S")
    assert refused(hand.draw(taker, count)[0], "KOZ-16")


def test_a_draw_in_one_block_each():
    hand = Hand().legal("+0 KC 9C", "+1 10C 6H", "+2 AC 7H", "-3 QD 8S")
    seats = [2, 2, 3, 3, 0, 0, 1, 1]
    assert refused(hand.play.drawn(list(zip(seats, hand.stock[:8], strict=True))), "KOZ-16")


def test_a_draw_before_the_trick_is_over():
    assert refused(Hand().draw(0, 4)[0], "KOZ-16")
    assert refused(Hand().legal("+0 KC").draw(0, 4)[0], "KOZ-16")


def test_the_stock_may_hold_less_than_the_hands_lack():
    hands = ["6C 7C 8C 9C", "6D 7D 8D 9D", "6H 7H 8H 9H", "6S 7S 8S 9S"]
    hand = Hand(hands, trump="C").legal(
        "+0 6C 7C 8C 9C", "-1 6D 7D 8D 9D", "-2 6H 7H 8H 9H", "-3 6S 7S 8S 9S"
    )
    assert hand.draw(0, 16)[0] == ""
    held = {seat: sorted(hand.play._hands[seat]) for seat in range(4)}
    lead = [card for card in held[0] if card[-1] == held[0][0][-1]]
    hand.legal("+0 " + " ".join(lead))
    for seat in (1, 2, 3):
        hand.legal(f"-{seat} " + " ".join(held[seat][: len(lead)]))
    left = 4 if len(lead) == 4 else min(4 * len(lead), 4)
    assert refused(copy.deepcopy(hand).draw(0, 3)[0], "KOZ-16")
    assert hand.draw(0, left)[0] == ""
    assert hand.turn == {0}


def test_without_stock_the_taker_leads_at_once():
    hand = Hand(stock="").legal("+0 KC", "+1 10C", "-2 9H", "-3 6S")
    assert hand.play.due == ""
    assert hand.turn == {1}
    assert refused(hand.play.drawn([]), "KOZ-16")


# KOZ-17: the count.

LAST = ["AC", "6C", "7C", "8C"]


def test_the_count_of_what_lies_face_down():
    last = Hand(LAST, stock="").legal("+0 AC", "-1 6C", "-2 7C", "-3 8C")
    assert last.play.due == "cards.shown"
    assert last.turn == set()
    right = [(1, "6C"), (2, "7C"), (3, "8C")]
    for wrong in (
        right[:2],
        [*right, (0, "AC")],
        [*right, (3, "8C")],
        [(1, "6C"), (2, "8C"), (3, "7C")],
        [(None, "6C"), (2, "7C"), (3, "8C")],
        [],
    ):
        assert refused(copy.deepcopy(last).play.shown(wrong), "KOZ-17")
    assert refused(copy.deepcopy(last).play.shown(right[::-1]), "PLAY-4")
    assert refused(copy.deepcopy(last).play.returned(), "PLAY-3")
    assert last.play.shown(right) == ""
    assert last.play.due == "hand.closed"
    assert last.turn == set()
    assert refused(last.play.shown(right), "PLAY-3")


def test_no_count_if_nothing_lies_face_down():
    last = Hand(["AC", "6H", "7H", "8H"], stock="").legal("+0 AC", "+1 6H", "+2 7H", "+3 8H")
    assert last.play.due == "hand.closed"
    last = Hand(LAST, stock="", discards="open").legal("+0 AC", "+1 6C", "+2 7C", "+3 8C")
    assert last.play.due == "hand.closed"


def test_discards_that_went_back_are_not_counted():
    hands = ["6C 7C 8C 6D", "6H 7H 8H KC", "QS 7S 8S 9S", "9D 10D JD KD"]
    hand = Hand(hands, trump="S", stock="")
    hand.legal("+0 6C", "-1 6H", "back", "+3 9D 10D JD KD")
    hand.legal("-0 6C 7C 8C 6D", "-1 6H 7H 8H KC", "+2 QS 7S 8S 9S")
    assert hand.play.due == "cards.shown"
    held = [(seat, card) for seat in (0, 1) for card in hands[seat].split()]
    assert hand.play.shown(held) == ""
    assert hand.play.due == "hand.closed"
    assert hand.play._points == [3 + 4 + 10 + 2 + 4, 0]


# KOZ-18, KOZ-19: the score and the match.


def scored(points, tricks, match=None, first=0, leader=1, **rules):
    """Gives the result of a game that went like this."""
    play = Hand(first=first, match=match, **rules).play
    play._points, play._tricks, play._leader = list(points), list(tricks), leader
    return play.result()


@pytest.mark.parametrize(
    ("points", "tricks", "penalty"),
    [
        ((61, 59), (5, 4), [0, 2]),
        ((60, 60), (5, 4), [0, 0]),
        ((59, 61), (5, 4), [2, 0]),
        ((31, 89), (5, 4), [2, 0]),
        ((30, 90), (5, 4), [4, 0]),
        ((30, 90), (1, 8), [4, 0]),
        ((0, 120), (1, 8), [4, 0]),
        ((0, 120), (0, 9), [6, 0]),
        ((120, 0), (9, 0), [0, 6]),
        ((89, 31), (1, 8), [0, 2]),
    ],
)
def test_penalties(points, tricks, penalty):
    result = scored(points, tricks)
    assert result["score"] == {
        "penalty": penalty,
        "points": list(points),
        "tricks": list(tricks),
    }
    assert result["match"]["defeat"] == penalty
    doubled = {"defeat": [0, 0], "doubled": True, "eggs": True, "leader": 0}
    twice = scored(points, tricks, match=doubled, eggs="double_next")
    assert twice["score"]["penalty"] == [2 * one for one in penalty]


def test_the_result_on_the_page():
    assert scored((45, 75), (4, 5), first=1) == {
        "first": 2,
        "match": {"defeat": [2, 0], "doubled": False, "eggs": False, "leader": 1},
        "score": {"penalty": [2, 0], "points": [45, 75], "tricks": [4, 5]},
        "winner": None,
    }
    assert json.loads(json.dumps(scored((45, 75), (4, 5)))) == scored((45, 75), (4, 5))
    assert scored((45, 75), (4, 5), first=3)["first"] == 0


def test_eggs():
    plain = scored((60, 60), (5, 4), match=BEGUN)
    assert plain["match"] == {"defeat": [2, 0], "doubled": False, "eggs": True, "leader": 1}
    assert plain["winner"] is None
    double = scored((60, 60), (5, 4), match=BEGUN, eggs="double_next")
    assert double["match"] == {"defeat": [2, 0], "doubled": True, "eggs": True, "leader": 1}
    again = scored((60, 60), (5, 4), match=double["match"], eggs="double_next")
    assert again["match"] == double["match"]
    assert again["score"]["penalty"] == [0, 0]
    after = scored((61, 59), (5, 4), match=double["match"], eggs="double_next")
    assert after["match"] == {"defeat": [2, 4], "doubled": False, "eggs": True, "leader": 1}


@pytest.mark.parametrize(
    ("target", "defeat", "points", "tricks", "winner"),
    [
        (12, [6, 0], (0, 120), (0, 9), 1),
        (12, [6, 0], (20, 100), (1, 8), None),
        (12, [10, 10], (59, 61), (1, 8), 1),
        (12, [10, 10], (61, 59), (1, 8), 0),
        (12, [10, 10], (60, 60), (1, 8), None),
        (8, [0, 4], (100, 20), (8, 1), 0),
        (6, [0, 0], (120, 0), (9, 0), 0),
        (10, [0, 0], (120, 0), (9, 0), None),
    ],
)
def test_the_end_of_a_match(target, defeat, points, tricks, winner):
    match = {"defeat": defeat, "doubled": False, "eggs": True, "leader": 0}
    result = scored(points, tricks, match=match, target=target)
    assert result["winner"] == winner
    assert type(result["winner"]) in (int, type(None))


# The match before a hand.


def test_a_fresh_match():
    for target in (6, 8, 10, 12):
        assert KozelPlay.fresh(RULES | {"target": target}, 4) == FRESH
        assert KozelPlay.match_fault(RULES | {"target": target}, 4, FRESH) == ""
    assert KozelPlay.sits_out(FRESH) == frozenset()
    changed = KozelPlay.fresh(RULES, 4)
    changed["defeat"][0] = 2
    assert KozelPlay.fresh(RULES, 4) == FRESH


DOUBLES = {"eggs": "double_next"}


@pytest.mark.parametrize(
    ("rules", "change"),
    [
        ({}, {}),
        ({}, {"defeat": [10, 10]}),
        ({"target": 6}, {"defeat": [4, 4], "leader": 0}),
        ({}, {"eggs": True, "defeat": [0, 0]}),
        (DOUBLES, {"eggs": True, "doubled": True, "defeat": [0, 0]}),
        (DOUBLES, {"eggs": True, "doubled": True, "defeat": [2, 2]}),
        (DOUBLES, {"eggs": True, "defeat": [0, 4]}),
    ],
)
def test_matches_that_can_be(rules, change):
    assert KozelPlay.match_fault(RULES | rules, 4, BEGUN | change) == ""


@pytest.mark.parametrize(
    ("rules", "change"),
    [
        ({}, {"winner": None}),
        ({}, {"defeat": [12, 0]}),
        ({}, {"defeat": [3, 0]}),
        ({}, {"defeat": [-2, 0]}),
        ({}, {"defeat": [2, 0, 0]}),
        ({}, {"defeat": [2.0, 0]}),
        ({}, {"defeat": [2, False]}),
        ({}, {"defeat": {"0": 2}}),
        ({}, {"defeat": None}),
        ({"target": 6}, {"defeat": [6, 0]}),
        ({}, {"doubled": 0}),
        ({}, {"doubled": True}),
        ({}, {"doubled": True, "eggs": True}),
        (DOUBLES, {"doubled": True}),
        ({}, {"eggs": 1}),
        ({}, {"eggs": None}),
        ({}, {"leader": 4}),
        ({}, {"leader": -1}),
        ({}, {"leader": True}),
        ({}, {"leader": "0"}),
        ({}, {"leader": None}),
        ({}, {"leader": None, "defeat": [0, 0], "eggs": True}),
        ({}, {"defeat": [0, 0]}),
        (DOUBLES, {"eggs": True, "defeat": [2, 2]}),
    ],
)
def test_matches_that_cannot_be(rules, change):
    fault = KozelPlay.match_fault(RULES | rules, 4, BEGUN | change)
    assert fault.endswith(("(KOZ-19)", "(KOZ-18)"))


def test_a_match_without_a_member():
    for member in BEGUN:
        match = {name: value for name, value in BEGUN.items() if name != member}
        assert KozelPlay.match_fault(RULES, 4, match)


@pytest.mark.parametrize("eggs", ["none", "double_next"])
@pytest.mark.parametrize("target", [6, 8, 10, 12])
def test_exactly_the_matches_that_games_lead_to(eggs, target):
    rules = {"eggs": eggs, "target": target}
    games = [((60, 60), (5, 4))]
    for points, tricks in ((59, 1), (30, 1), (0, 0)):
        games += [((points, 120 - points), (tricks, 8)), ((120 - points, points), (8, tricks))]
    seen = {json.dumps(FRESH)}
    edge = [FRESH]
    while edge:
        match = edge.pop()
        assert KozelPlay.match_fault(RULES | rules, 4, match) == ""
        for points, tricks in games:
            result = scored(points, tricks, match=match, leader=2, **rules)
            if result["winner"] is None and json.dumps(result["match"]) not in seen:
                seen.add(json.dumps(result["match"]))
                edge.append(result["match"])
    conceivable = itertools.product(
        itertools.product(range(target + 2), repeat=2), (False, True), (False, True), (None, 2)
    )
    for defeat, doubled, egged, leader in conceivable:
        match = {"defeat": list(defeat), "doubled": doubled, "eggs": egged, "leader": leader}
        fault = KozelPlay.match_fault(RULES | rules, 4, match)
        assert (fault == "") == (json.dumps(match) in seen), (match, fault)


# Whole games.


def subsets(cards):
    ordered = sorted(cards)
    return [c for k in range(1, 5) for c in itertools.combinations(ordered, k)]


def conceivable_moves(play):
    for seat in range(4):
        for cards in subsets(play._hands[seat]):
            yield "shown", seat, list(cards)
            yield "thrown", seat, list(cards)
    yield "returned", None, []


def pulls_there_may_be(rules, trump, hands, leader, laid, puller):
    """Reads KOZ-14 once more, from what the trick has seen."""

    def distance(seat):
        return (seat - leader) % 4

    found = set()
    for seat in range(4):
        suits = {card[-1] for card in hands[seat]}
        if len(hands[seat]) != 4 or len(suits) != 1 or rules["pull"] == "off":
            continue
        if rules["pull"] == "trumps_only" and suits != {trump}:
            continue
        nothing_yet = not laid and puller is None and seat != leader
        small_lead = laid and puller is None and len(laid[0][1]) < 4
        nearer = puller is not None and len(laid) == 1 and distance(seat) < distance(puller)
        if nothing_yet or small_lead or nearer:
            found.add(seat)
    return found


def try_move(play, move):
    kind, seat, cards = move
    if kind == "shown":
        return play.shown([(seat, card) for card in cards])
    return play.thrown(seat, cards) if kind == "thrown" else play.returned()


def deal_for(chooser, are_suited):
    deck = list(DECK)
    chooser.shuffle(deck)
    hands = [deck[i:16:4] for i in range(4)]
    if are_suited:
        suits = list("CDHS")
        chooser.shuffle(suits)
        used = set()
        for seat, suit in enumerate(suits[: chooser.randint(1, 4)]):
            hands[seat] = chooser.sample([card for card in DECK if card[-1] == suit], 4)
            used.update(hands[seat])
        for seat in range(4):
            if not used.issuperset(hands[seat]):
                free = [card for card in deck if card not in used]
                hands[seat] = free[:4]
                used.update(hands[seat])
        chooser.shuffle(hands)
    held = {card for hand in hands for card in hand}
    return hands, [card for card in deck if card not in held]


@pytest.mark.parametrize("number", range(90))
def test_random_games(number):
    """Everything conceivable is tried; what is accepted is as the rules say, and it ends."""
    chooser = random.Random(number)
    rules = RULES | {
        "discards": chooser.choice(("hidden", "open")),
        "must_beat": number % 3 == 0,
        "pull": ("any_suit", "trumps_only", "off")[number % 5 % 3],
        "eggs": chooser.choice(("none", "double_next")),
    }
    hands, stock = deal_for(chooser, are_suited=number % 2 == 0)
    trump = chooser.choice(stock)[-1]
    match = chooser.choice((FRESH, BEGUN))
    play = KozelPlay(rules, match, Deal(1, 4, 0, hands, 20, "6" + trump))
    laid, face_down, taken, pulls = [], [], [], 0
    leader, best, puller, pending = match["leader"] or 0, [], None, None
    for _ in range(200):
        if play.due == "hand.closed":
            break
        if play.due == "cards.drawn":
            sizes = {len(hand) for hand in play._hands}
            assert len(sizes) == 1  # the hands stay equal
            assert len(stock) % 4 == 0
            count = min(4 * (4 - sizes.pop()), len(stock))
            drawn = [((leader + i) % 4, stock.pop(0)) for i in range(count)]
            assert play.drawn(drawn) == ""
            continue
        if play.due == "cards.shown":
            assert refused(play.shown(sorted(face_down)[1:]), "KOZ-17")
            assert play.shown(sorted(face_down)) == ""
            continue
        assert play.due == ""
        accepted = []
        for move in conceivable_moves(play):
            copied = copy.deepcopy(play)
            fault = try_move(copied, move)
            if fault:
                assert fault.endswith(")"), fault
                assert "(KOZ-" in fault, fault
            else:
                accepted.append(move)
        assert accepted
        lead = laid[0][1] if laid else None
        pullers = pulls_there_may_be(rules, trump, play._hands, leader, laid, puller)
        assert (("returned", None, []) in accepted) == bool(laid and pullers)
        shown_by = {seat for kind, seat, _ in accepted if kind == "shown"}
        if pending is not None:
            assert play.turn == set()
            assert accepted == [
                ("shown", seat, sorted(play._hands[seat])) for seat in sorted(pending)
            ]
        elif lead is None:
            assert play.turn == {leader}
            assert shown_by == pullers | {leader}
        else:
            assert play.turn == {(laid[0][0] + len(laid)) % 4}
        for kind, seat, cards in accepted:
            if kind == "returned" or pending is not None:
                continue
            if lead is None:
                assert kind == "shown"
                assert len({card[-1] for card in cards}) == 1
                assert seat == leader or sorted(play._hands[seat]) == cards
                continue
            assert seat in play.turn
            assert len(cards) == len(lead)
            beats = can_be_paired(cards, best, trump)
            if rules["discards"] == "hidden":
                assert kind == "thrown" or beats
            else:
                assert kind == "shown"
            if rules["must_beat"] and not (kind == "shown" and beats):
                held = itertools.combinations(play._hands[seat], len(lead))
                assert not any(can_be_paired(c, best, trump) for c in held)
        if pending is None and lead is not None:
            # Nothing that may be done is refused.
            (seat,) = play.turn
            choices = list(itertools.combinations(sorted(play._hands[seat]), len(lead)))
            can = [list(cards) for cards in choices if can_be_paired(cards, best, trump)]
            assert all(("shown", seat, cards) in accepted for cards in can)
            if not (can and rules["must_beat"]):
                kind = "thrown" if rules["discards"] == "hidden" else "shown"
                assert all((kind, seat, list(cards)) in accepted for cards in choices)
        wanted = [m for m in accepted if m[0] == "returned" or m[1] in pullers]
        move = chooser.choice(wanted if wanted and chooser.random() < 0.5 else accepted)
        kind, seat, cards = move
        if kind == "returned":
            laid, best, pending = [], [], pullers
        else:
            if pending is not None or (lead is None and seat != leader):
                pulls, puller, pending = pulls + 1, seat, None
            if not laid or (kind == "shown" and can_be_paired(cards, best, trump)):
                best, taker = cards, seat
            laid.append((seat, cards, kind == "thrown"))
        tricks = sum(play._tricks)
        assert try_move(play, move) == ""
        if sum(play._tricks) > tricks:
            assert len(laid) == 4
            assert pulls <= 4
            taken += [card for _, names, _ in laid for card in names]
            face_down += [(s, card) for s, names, down in laid if down for card in names]
            laid, best, pulls, puller, leader = [], [], 0, None, taker
        lying = [card for _, names, _ in laid for card in names]
        everything = [*itertools.chain(*play._hands), *lying, *taken, *stock]
        assert sorted(everything) == sorted(DECK)
        assert sum(play._points) == sum(POINTS.get(card[:-1], 0) for card in taken)
    assert play.due == "hand.closed"
    assert play.turn == frozenset()
    result = play.result()
    score, after = result["score"], result["match"]
    assert after["leader"] == leader
    assert sum(score["points"]) == 120
    assert sum(score["tricks"]) == sum(line.key == "story.kozel.trick" for line in play.story)
    assert score["penalty"].count(0) >= 1
    assert after["defeat"] == [
        a + b for a, b in zip(match["defeat"], score["penalty"], strict=True)
    ]
    assert json.loads(json.dumps(result)) == result
    assert KozelPlay.match_fault(rules, 4, after) == "" or result["winner"] is not None
    assert match in (FRESH, BEGUN)  # and neither was changed


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


@given(
    st.dictionaries(st.sampled_from([*FRESH, "x"]), JSON),
    st.fixed_dictionaries(dict.fromkeys(FRESH, JSON)),
)
def test_no_match_raises(some, all_members):
    for match in (some, all_members, BEGUN | some):
        assert isinstance(KozelPlay.match_fault(RULES, 4, match), str)


CARD = st.sampled_from(DECK) | st.sampled_from(["12o", "x", "10", "6X"])


@given(
    st.lists(
        st.tuples(
            st.sampled_from(
                ["shown", "thrown", "returned", "drawn", "called", "declared", "looked"]
            ),
            st.integers(0, 3),
            st.lists(CARD, max_size=6),
        ),
        max_size=12,
    ),
    st.lists(st.lists(CARD, max_size=6), min_size=4, max_size=4),
    st.sampled_from([0, 4, 20, 255]),
    st.none() | CARD,
)
def test_no_event_raises(events, hands, stock, turned):
    play = KozelPlay(RULES | {"must_beat": True}, FRESH, Deal(1, 4, 0, hands, stock, turned))
    for kind, seat, cards in events:
        pairs = [(seat, card) for card in cards]
        arguments = {
            "shown": (pairs,),
            "thrown": (seat, cards),
            "drawn": (pairs,),
            "called": (seat, "call", 2**53 - 1),
            "declared": ("what", [seat]),
            "looked": (seat,),
        }.get(kind, ())
        fault = getattr(play, kind)(*arguments)
        assert isinstance(fault, str)
        assert isinstance(play.due, str)
        assert isinstance(play.turn, frozenset)
    assert isinstance(play.result(), dict)
