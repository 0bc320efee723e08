"""Svoi Kozyri: leads, beats, takes and the ends of a hand. Spec: SVO-4..14."""

from collections import Counter
from dataclasses import replace
from functools import partial
from itertools import pairwise, permutations, product
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairdeal.cards import french_deck
from fairdeal.games.rules import svoi
from fairdeal.games.rules.base import Choice, Close, Deal, Draw, Move, RuleError
from fairdeal.games.rules.svoi import SvoiPlay, SvoiRules, beats, taken

DECK = french_deck()
RULES = SvoiRules()
FRESH = {"draws": 0, "wins": [0, 0]}
PILE = "6C 7C 9C 6D QS KH"
OPTIONS = [
    {"pick_up": pick_up, "repetition": repetition}
    for pick_up, repetition in product(*SvoiRules.options.values())
]


def at(mine: str, theirs: str = "6S 7S", pile: str = "", **fields) -> SvoiPlay:
    """Seat 0 (trump H) is on turn, seat 1 has trump S."""
    play = SvoiPlay(
        first=0,
        match=FRESH,
        trumps=("H", "S"),
        strict=False,
        repetition=0,
        to_move=0,
        holdings=(frozenset(mine.split()), frozenset(theirs.split())),
        pile=tuple(pile.split()),
    )
    return replace(play, **fields)


def show(play: SvoiPlay, cards: str) -> SvoiPlay:
    return play.apply(Move(*play.turn, "show", tuple(cards.split())))


def take(play: SvoiPlay, amount: int | None) -> SvoiPlay:
    return play.apply(Move(*play.turn, "call", call="take", amount=amount))


def shows(play: SvoiPlay) -> set[str]:
    """The cards of each legal `cards.shown`."""
    choices = play.choices(*play.turn)
    return {" ".join(choice.cards) for choice in choices if choice.kind == "show"}


def takes(play: SvoiPlay) -> int | None:
    calls = [choice for choice in play.choices(*play.turn) if choice.kind == "call"]
    assert all(choice == Choice("call", (), "take", choice.low, choice.low) for choice in calls)
    return calls[0].low if calls else None


def broken(play: SvoiPlay, move: Move) -> str:
    """The requirement that a move breaks."""
    with pytest.raises(RuleError) as caught:
        play.apply(move)
    assert caught.value.code == "illegal_move"
    return caught.value.rule


def score(play: SvoiPlay) -> dict:
    assert play.turn == ()
    assert isinstance(play.due, Close)
    return play.due.result["score"]


def deal(rng: Random, options: dict) -> SvoiPlay:
    """A random hand right after the deal: as SVO-2, with or without the exchange of SVO-3."""
    deck, first = list(DECK), rng.randrange(2)
    rng.shuffle(deck)
    trumps = dict(enumerate(rng.choices("CDHS", k=2)))
    hands = [[], []]
    for n, card in enumerate(deck):
        hands[(first + n) % 2].append(card)
    if rng.random() < 0.5:
        gifts = [
            (seat, card)
            for seat in (0, 1)
            for card in hands[seat]
            if card == "6" + trumps[1 - seat] != "6" + trumps[seat]
        ]
        for seat, card in gifts:
            hands[seat].remove(card)
            hands[1 - seat].append(card)
    start = Deal(1, 2, first, tuple(map(tuple, hands)), 0, None, trumps)
    return RULES.start(options, FRESH, start)


# Another reading of the page, slow and with lists.


def slow_beats(card: str, top: str, trump: str) -> bool:
    order = ["6", "7", "8", "9", "10", "J", "Q", "K", "A"]
    if card[-1] != top[-1]:
        return card[-1] == trump
    return order.index(card[:-1]) > order.index(top[:-1])


def slow_moves(play: SvoiPlay) -> list[Move]:
    """SVO-4..10, by trying everything."""
    seat = play.to_move
    mine, pile, trump = sorted(play.holdings[seat]), list(play.pile), play.trumps[seat]
    if not pile:
        return [Move(seat, "show", (card,)) for card in mine]
    moves = []
    for size in (1, 2):
        for cards in permutations(mine, size):
            whole = size == 2 or len(mine) == 1
            if whole and slow_beats(cards[0], pile[-1], trump):
                moves.append(Move(seat, "show", cards))
    if play.strict and moves:
        return moves
    asked = 36 if pile[-1] == "A" + trump else 5 if pile[-1][-1] == trump else 3
    count = 0
    while count < asked and pile:
        pile.pop()
        count += 1
    return [*moves, Move(seat, "call", (), "take", count)]


def conceivable(seat: int):
    """Moves of a seat, sense or not."""
    for size in (0, 1, 2):
        for cards in product(DECK, repeat=size):
            yield Move(seat, "show", cards)
    yield from (Move(seat, "show", cards) for cards in permutations(DECK[::9] + DECK[8::9], 3))
    for amount in (None, *range(-1, 38)):
        yield Move(seat, "call", call="take", amount=amount)
        yield Move(seat, "call", call="pass", amount=amount)
        yield Move(seat, "call", amount=amount)
        yield Move(seat, "show", DECK[:1], amount=amount or 0)
        yield Move(seat, "call", DECK[:1], "take", amount)
    for card in DECK:
        yield Move(seat, "show", (card,), "take")
        yield Move(seat, "call", (card,))
    for kind in ("throw", "pull", "look"):
        yield Move(seat, kind)
        yield from (Move(seat, kind, (card,)) for card in DECK)


EVERY = {seat: tuple(conceivable(seat)) for seat in (0, 1)}


def check_moves(play: SvoiPlay) -> None:
    """`choices` and `apply` agree with each other and with the slow reading."""
    seat = play.to_move
    listed = [choice.move(seat) for choice in play.choices(seat)]
    assert len(set(listed)) == len(listed)
    assert set(listed) == set(slow_moves(play))
    assert play.choices(1 - seat) == ()
    accepted = set()
    for move in EVERY[seat]:
        try:
            play.apply(move)
        except RuleError:
            continue
        accepted.add(move)
    assert accepted == set(listed)
    for move in listed:
        assert broken(play, move._replace(seat=1 - seat)) == "SVO-4"


def heights(trump: str, choice: Choice) -> list[int]:
    return [DECK.index(card) % 9 + 9 * (card[-1] == trump) for card in choice.cards]


def whole_hand(play: SvoiPlay, rng: Random, wild: float = 0.2) -> list[SvoiPlay]:
    """Each state of a hand whose seats beat as low as they can, except now and then."""
    states = [play]
    while play.turn:
        (seat,) = play.turn
        choices = play.choices(seat)
        shown = [choice for choice in choices if choice.kind == "show"]
        choice = rng.choice(choices)
        if shown and rng.random() >= wild:
            choice = min(shown, key=partial(heights, play.trumps[seat]))
        play = play.apply(choice.move(seat))
        states.append(play)
    return states


# The examples of the rule text.


@pytest.mark.parametrize(
    ("pile", "trump", "count", "left"),
    [
        pytest.param("7C 9C 6D", "H", 3, "", id="S-T1"),
        pytest.param("7C 9C 6D QS", "H", 3, "7C", id="S-T2"),
        pytest.param("7C", "H", 1, "", id="S-T3"),
        pytest.param("7C 9C 6D QS KH", "H", 5, "", id="S-T4"),
        pytest.param(PILE, "H", 5, "6C", id="S-T5"),
        pytest.param(PILE, "S", 3, "6C 7C 9C", id="S-T6"),
        pytest.param(PILE + " AH", "H", 7, "", id="S-T7"),
        pytest.param(PILE + " AH", "S", 3, "6C 7C 9C 6D", id="S-T8"),
        pytest.param("9S 7H", "H", 2, "", id="fewer than five"),
        pytest.param("7C 9C", "H", 2, "", id="fewer than three"),
        pytest.param("AH", "H", 1, "", id="the ace alone"),
        pytest.param("AH 6C 7C 8C", "H", 3, "AH", id="the ace is not on top"),
        pytest.param("6D 6C 7C 8C 9C QD AC", "H", 3, "6D 6C 7C 8C", id="another ace"),
    ],
)
def test_what_is_taken(pile, trump, count, left):
    """SVO-9, and every amount but the right one is refused."""
    before = at("8D 10D", pile=pile, trumps=(trump, "D"))
    assert takes(before) == count
    after = take(before, count)
    assert after.pile == tuple(left.split())
    assert after.holdings[0] == {"8D", "10D", *pile.split()[-count:]}
    assert after.holdings[1] == before.holdings[1]
    assert after.turn == (1,)
    for amount in (None, *range(-1, 38)):
        if amount != count:
            move = Move(0, "call", call="take", amount=amount)
            assert broken(before, move) == "SVO-9"


@pytest.mark.parametrize(
    ("top", "trump", "good", "bad"),
    [
        pytest.param("9C", "H", "10C 6H", "8C 6S 9D AS", id="S-T9 plain card"),
        pytest.param("AC", "H", "6H AH", "KC AD", id="S-T9 plain ace"),
        pytest.param("9H", "H", "10H", "6S 8H AS", id="S-T9 my trump"),
        pytest.param("9H", "S", "10H 6S", "8H AD", id="S-T9 a trump of the other seat"),
        pytest.param("AH", "H", "", "KH AS 6C", id="nothing beats the ace of my trumps"),
    ],
)
def test_what_beats(top, trump, good, bad):
    """SVO-7, SVO-8."""
    for card in DECK:
        if card != top:
            assert beats(card, top, trump) == slow_beats(card, top, trump)
    play = at(f"{good} {bad}", pile=top, trumps=(trump, "D"))
    assert {cards.split()[0] for cards in shows(play)} == set(good.split())
    for card in bad.split():
        other = next(iter(play.holdings[0] - {card}))
        assert broken(play, Move(0, "show", (card, other))) == "SVO-8"


def test_a_turn_of_two_cards():
    """S-T10: SVO-5, SVO-8, SVO-9."""
    before = at("6H 7S KC", "8S 9C 10D", "9C")
    for pile, count in (("9C", 3), ("8C 10C 9C", 5)):
        play = show(replace(before, pile=tuple(pile.split())), "6H 7S")
        assert play.pile == (*pile.split(), "6H", "7S")
        assert play.holdings[0] == {"KC"}
        assert shows(play) == {"8S 9C", "8S 10D"}
        assert takes(play) == count


@pytest.mark.parametrize(
    ("theirs", "reason", "winner"),
    [
        pytest.param("AD", "last_card", None, id="S-T11 one card that beats"),
        pytest.param("QD", "out", 0, id="S-T11 one card that does not"),
        pytest.param("AD 6C", "out", 0, id="S-T11 two cards"),
        pytest.param("6S", "last_card", None, id="a trump of the other seat"),
        pytest.param("6S 7S", "out", 0, id="two trumps"),
        pytest.param("7H", "out", 0, id="a trump of the seat that is out"),
    ],
)
def test_going_out(theirs, reason, winner):
    """SVO-11."""
    result = score(show(at("6H KD", theirs, "9C"), "6H KD"))
    assert result == {
        "draw": winner is None,
        "left": [0, len(theirs.split())],
        "reason": reason,
        "winner": winner,
    }


def test_the_last_single_card():
    """S-T12: SVO-8, SVO-11."""
    for theirs, reason in (
        ("JC", "last_card"),
        ("9S", "last_card"),
        ("9D", "out"),
        ("JC QC", "out"),
    ):
        play = at("10C", theirs, "9C")
        assert shows(play) == {"10C"}
        assert takes(play) == 1
        assert score(show(play, "10C"))["reason"] == reason
    assert shows(at("8C", pile="9C")) == set()
    assert broken(at("8C", pile="9C"), Move(0, "show", ("8C",))) == "SVO-8"


def test_the_last_card_may_be_led():
    """SVO-6, SVO-11."""
    for theirs, reason in (("JC", "last_card"), ("9D", "out"), ("JC QC", "out")):
        assert score(show(at("10C", theirs), "10C"))["reason"] == reason


def test_after_all_was_taken_any_card_is_led():
    """S-T13: SVO-6, SVO-9."""
    play = take(at("8D", "6C AS 10H", "7C 9C 6D"), 3)
    assert shows(play) == {"6C", "AS", "10H"}
    assert takes(play) is None
    assert broken(play, Move(1, "call", call="take", amount=0)) == "SVO-6"
    assert broken(play, Move(1, "show", ("6C", "AS"))) == "SVO-6"


def test_what_is_left_is_played_to_as_if_just_played():
    """SVO-9: the other seat faces the card that came to the top."""
    play = take(at("8D", "8C 7S KH", "7C 9C 6D QS"), 3)
    assert play.pile == ("7C",)
    assert shows(play) == {"8C 7S", "8C KH", "7S 8C", "7S KH"}
    assert takes(play) == 1


# Options.


def test_options():
    """PLAY-1: the table of the page, defaults first."""
    assert SvoiRules.options == {"pick_up": ("voluntary", "strict"), "repetition": (0, 3)}
    assert [RULES.start(o, FRESH, _deal()).strict for o in OPTIONS] == [False, False, True, True]
    assert [RULES.start(o, FRESH, _deal()).repetition for o in OPTIONS] == [0, 3, 0, 3]


def _deal(first: int = 0) -> Deal:
    return Deal(1, 2, first, (DECK[:18], DECK[18:]), 0, None, {0: "H", 1: "S"})


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("mine", ["10C", "10C 6D", "6H 6D", "6D 7S", "8C"])
def test_taking_although_one_could_beat(mine, strict):
    """SVO-10."""
    play = at(mine, pile="7C 8D 9C", strict=strict)
    able = "10C" in mine or "6H" in mine
    assert bool(shows(play)) == able
    assert takes(play) == (None if able and strict else 3)
    if able and strict:
        for amount in (None, 0, 1, 3, 5):
            move = Move(0, "call", call="take", amount=amount)
            assert broken(play, move) == "SVO-10"
    else:
        assert take(play, 3).pile == ()


CYCLE = ("6C", "8C 10C", 3, "9C", "10C 8C", 3)
SWAPPED = ("6C", "10C 8C", 3, "9C", "10C 8C", 3)


def round_and_round(play: SvoiPlay, cycle: tuple, start: int = 0) -> SvoiPlay:
    """The same moves again and again, until the hand ends."""
    n = start
    while play.turn:
        step = cycle[n % len(cycle)]
        play = take(play, step) if isinstance(step, int) else show(play, step)
        n += 1
    return play


@pytest.mark.parametrize("strict", [False, True])
def test_the_third_time_is_a_draw(strict):
    """SVO-12: the position after the deal is the first time."""
    rules = {"pick_up": "strict" if strict else "voluntary", "repetition": 3}
    hands = (("6C", "7C"), ("8C", "9C", "10C", "6D"))
    before = RULES.start(rules, FRESH, replace(_deal(), hands=hands))
    after = round_and_round(before, CYCLE)
    assert after.moves == 2 * len(CYCLE)
    assert after.holdings == before.holdings
    assert score(after) == {"draw": True, "left": [2, 4], "reason": "repetition", "winner": None}


@pytest.mark.parametrize(("cycle", "moves"), [(CYCLE, 12), (SWAPPED, 13)])
def test_a_pile_in_another_order_is_another_position(cycle, moves):
    """SVO-12."""
    before = at("7C", "9C 6D", "6C 8C 10C", repetition=3)
    assert round_and_round(before._counted(), cycle, 2).moves == moves


def test_the_seat_on_turn_is_part_of_the_position():
    """SVO-12."""
    play = at("6C 7C", "8C 9C 10C 6D", repetition=3)._counted()
    assert play._position() != replace(play, to_move=1)._position()


def test_a_hand_has_a_limit():
    """SVO-13: and without `repetition` positions are not counted."""
    after = round_and_round(at("6C 7C", "8C 9C 10C 6D"), CYCLE)
    assert after.moves == svoi.MOVES == 1000
    assert after.seen == {}
    left = [len(holding) for holding in after.holdings]
    assert score(after) == {"draw": True, "left": left, "reason": "limit", "winner": None}


def test_which_end_comes_first():
    """SVO-11..13: out, then the repetition, then the limit."""
    assert score(show(at("10C", "JD", "9C", moves=999), "10C"))["reason"] == "out"
    assert score(show(at("10C", "JC", "9C", moves=999), "10C"))["reason"] == "last_card"
    assert score(take(at("10C", "JC", "9C", moves=999), 1))["reason"] == "limit"
    assert take(at("10C", "JC", "9C", moves=998), 1).turn == (1,)
    before = at("6C 7C", "8C 9C 10C 6D", repetition=3, moves=988)
    assert score(round_and_round(before._counted(), CYCLE))["reason"] == "repetition"


# The match.


@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize(
    ("winner", "match"),
    [
        (0, {"draws": 4, "wins": [3, 5]}),
        (1, {"draws": 4, "wins": [2, 6]}),
        (None, {"draws": 5, "wins": [2, 5]}),
    ],
)
def test_the_result(first, winner, match):
    """SVO-14: the winner begins, after a draw who began this hand; the match has no end."""
    before = {"draws": 4, "wins": [2, 5]}
    seat = winner or 0
    mine, theirs = "10C", "JC" if winner is None else "6D"
    play = at(mine, theirs, "9C", first=first, match=before, trumps=("H", "H"))
    if seat:
        play = replace(play, to_move=1, holdings=play.holdings[::-1])
    result = show(play, mine).due.result
    assert result["match"] == match
    assert result["first"] == (first if winner is None else winner)
    assert result["winner"] is None
    assert sorted(result) == ["first", "match", "score", "winner"]
    assert before == {"draws": 4, "wins": [2, 5]}


def test_the_match_begins():
    """SVO-14."""
    assert RULES.fresh(OPTIONS[0], 2) == FRESH
    assert RULES.out(FRESH) == frozenset()


@pytest.mark.parametrize("first", [0, 1])
def test_how_a_hand_begins(first):
    """SVO-4, SVO-6: `first` leads any one card."""
    play = RULES.start(OPTIONS[0], FRESH, _deal(first))
    assert (play.turn, play.due, play.pile) == ((first,), None, ())
    hand = (DECK[:18], DECK[18:])[first]
    assert play.choices(first) == tuple(Choice("show", (card,)) for card in hand)
    assert show(play, hand[5]).turn == (1 - first,)


# Refusals.


@pytest.mark.parametrize(
    ("pile", "move", "rule"),
    [
        ("9C", Move(1, "show", ("6S", "7S")), "SVO-4"),
        ("9C", Move(2, "show", ("10C", "6D")), "SVO-4"),
        ("9C", Move(0, "throw", ("10C",)), "SVO-4"),
        ("9C", Move(0, "pull"), "SVO-4"),
        ("9C", Move(0, "look"), "SVO-4"),
        ("9C", Move(0, "call", call="pass"), "SVO-4"),
        ("9C", Move(0, "call", ("10C",), "take", 1), "SVO-4"),
        ("9C", Move(0, "show", ("10C", "6D"), "take"), "SVO-4"),
        ("9C", Move(0, "show", ("10C", "6D"), None, 2), "SVO-4"),
        ("9C", Move(0, "show", ("10C", "6S")), "SVO-5"),
        ("9C", Move(0, "show", ("10C", "10C")), "SVO-5"),
        ("9C", Move(0, "show", ("10C", "9C")), "SVO-5"),
        ("", Move(0, "show", ("6S",)), "SVO-5"),
        ("", Move(0, "show"), "SVO-6"),
        ("", Move(0, "show", ("10C", "6D")), "SVO-6"),
        ("", Move(0, "call", call="take", amount=0), "SVO-6"),
        ("9C", Move(0, "show"), "SVO-8"),
        ("9C", Move(0, "show", ("10C",)), "SVO-8"),
        ("9C", Move(0, "show", ("10C", "6D", "JC")), "SVO-8"),
        ("9C", Move(0, "show", ("6D", "10C")), "SVO-8"),
        ("9C", Move(0, "call", call="take", amount=2), "SVO-9"),
        ("9C", Move(0, "call", call="take"), "SVO-9"),
        ("9C", Move(0, "call", call="take", amount=True), "SVO-9"),
    ],
)
def test_refusals_name_the_requirement(pile, move, rule):
    assert broken(at("10C 6D JC", pile=pile), move) == rule


def test_nothing_is_legal_once_the_play_is_over():
    """PLAY-3; and nothing else than the end is ever due (PLAY-4, SVO-4)."""
    over = show(at("10C", "6D 7D", "9C"), "10C")
    assert over.choices(0) == over.choices(1) == ()
    for move in (*EVERY[0][:200], Move(1, "call", call="take", amount=2)):
        assert broken(over, move) == "PLAY-3"
    assert over.done(over.due) == over
    for play, due in ((over, Draw(0)), (at("10C", pile="9C"), over.due)):
        with pytest.raises(RuleError) as caught:
            play.done(due)
        assert caught.value.rule == "PLAY-4"


# All moves, whole hands.


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_choices_are_exactly_what_is_legal(options):
    """SVO-4..10: brute force over whole hands."""
    rng = Random(f"choices {options}")
    for _ in range(6):
        for play in whole_hand(deal(rng, options), rng)[:60]:
            if play.turn and rng.random() < 0.2:
                check_moves(play)


@pytest.mark.parametrize("mine", ["10C", "8C", "10C 6D", "10C JC", "6D 7D", "AH", "6H 9H", "9D"])
@pytest.mark.parametrize("pile", ["", "9C", "AH", "6C 7S 8H", "6C 7C 8C 6S 7S 8S AH"])
@pytest.mark.parametrize("strict", [False, True])
def test_choices_with_few_cards(mine, pile, strict):
    """SVO-4..10."""
    if not set(mine.split()) & set(pile.split()):
        check_moves(at(mine, "KD", pile, strict=strict))


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("beats", lambda card, top, trump: slow_beats(card, top, trump) or card[-1] == trump),
        ("taken", lambda pile, trump: min(3, len(pile))),
    ],
)
def test_the_brute_force_notices_a_wrong_rule(monkeypatch, name, wrong):
    """The negative control of the comparison: SVO-7, SVO-9."""
    monkeypatch.setattr(svoi, name, wrong)
    with pytest.raises(AssertionError):
        check_moves(at("6H 7C", pile="6C 7S 8S 9H"))


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_whole_hands(options):
    """Cards are conserved, turns alternate, every hand ends, and as it should (SVO-4..14)."""
    rng, reasons = Random(f"hands {options}"), Counter()
    for n in range(80):
        states = whole_hand(deal(rng, options), rng, wild=1 if n < 2 else n % 10 / 30)
        for before, after in pairwise(states):
            cards = (*after.holdings[0], *after.holdings[1], *after.pile)
            assert len(cards) == 36
            assert set(cards) == set(DECK)
            assert before.due is None
            assert before.turn == (before.to_move,)
            assert after.to_move == 1 - before.to_move
            assert before.choices(before.to_move)
            assert after.holdings[after.to_move] == before.holdings[after.to_move]
        last, moves = states[-1], len(states) - 1
        assert last.turn == ()
        assert last.moves == moves <= 1000
        result = last.due.result
        reasons[result["score"]["reason"]] += 1
        check_end(last, result)
    assert reasons["out"] > 60
    assert set(reasons) <= {"out", "last_card", "limit", "repetition"}


def check_end(last: SvoiPlay, result: dict) -> None:
    """SVO-11..14, read again."""
    moved, other = 1 - last.to_move, last.to_move
    left = [len(last.holdings[0]), len(last.holdings[1])]
    winner = result["score"]["winner"]
    assert result["score"]["left"] == left
    assert result["score"]["draw"] == (winner is None)
    if left[moved] == 0:
        (*_, card) = last.holdings[other]
        drawn = left[other] == 1 and slow_beats(card, last.pile[-1], last.trumps[other])
        assert winner == (None if drawn else moved)
        assert result["score"]["reason"] == ("last_card" if drawn else "out")
    else:
        assert winner is None
        assert result["score"]["reason"] in {"limit", "repetition"}
    assert result["first"] == (last.first if winner is None else winner)
    wins = [int(winner == 0), int(winner == 1)]
    assert result["match"] == {"draws": 1 - sum(wins), "wins": wins}


def test_hands_after_the_exchange_of_sixes():
    """SVO-5: 17 to 19 cards, and a six that was given is led like any other."""
    rng, sizes = Random("sixes"), set()
    for _ in range(300):
        play = deal(rng, OPTIONS[0])
        sizes.add(len(play.holdings[0]))
        for six in ("6" + play.trumps[play.to_move],):
            if six in play.holdings[play.to_move]:
                assert show(play, six).pile == (six,)
    assert sizes == {17, 18, 19}


def test_a_card_that_was_taken_is_shown_again():
    """SVO-5."""
    play = at("7D 8D", "9D 10D", "6C")
    play = take(play, 1)
    play = show(play, "9D")
    assert "6C" in play.holdings[0]
    play = take(play, 1)
    play = show(play, "10D")
    assert score(play)["left"] == [4, 0]
    again = show(at("7D 6C", "9D 10D", "6D"), "7D 6C")
    assert again.pile == ("6D", "7D", "6C")


# Counts.


@pytest.mark.parametrize("trump", "CDHS")
def test_how_many_cards_beat_each(trump):
    """SVO-7: those above it, and nine trumps if it is none."""
    for top in DECK:
        above = 8 - DECK.index(top) % 9
        good = [card for card in DECK if beats(card, top, trump)]
        assert len(good) == above + (0 if top[-1] == trump else 9)


@given(st.sampled_from(DECK), st.sampled_from(DECK), st.sampled_from("CDHS"))
def test_two_cards_do_not_beat_each_other(one, two, trump):
    """SVO-7; with trumps of one's own they may, one seat each."""
    assert not (beats(one, two, trump) and beats(two, one, trump))
    assert not beats(one, one, trump)
    assert beats(one, two, trump) == slow_beats(one, two, trump)


@given(st.permutations(DECK), st.integers(1, 35), st.sampled_from("CDHS"))
def test_how_many_are_taken(cards, size, trump):
    """SVO-9."""
    pile, asked = cards[:size], 3
    if pile[-1][-1] == trump:
        asked = size if pile[-1][0] == "A" else 5
    assert taken(pile, trump) == min(size, asked)
