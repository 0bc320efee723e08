"""The play of Kozel. Spec: KOZ-8..19, PLAY-2..6. K-T1.. are examples of the rule text's notes."""

import time
from itertools import combinations, count, product
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairdeal.cards import Card, french_deck
from fairdeal.codecs import Place
from fairdeal.errors import StateError
from fairdeal.games.kozel import Kozel
from fairdeal.games.rules.base import Choice, Close, Deal, Draw, Move, RuleError, Serve, Show
from fairdeal.games.rules.kozel import KozelRules, beats, can_beat, penalty_of, points_of, strengths
from fairdeal.values import changed
from tests.core.rules.kozel_naive import POINTS, Naive, card_beats, set_beats

DECK = french_deck()
KOZEL = KozelRules()
DEFAULTS = {"discards": "hidden", "indicator": "interior", "indicator_place": "stays"} | {
    option: values[0] for option, values in KOZEL.options.items()
}
FRESH = KOZEL.fresh(DEFAULTS, 4)
RULESETS = [
    DEFAULTS | dict(zip(("discards", "must_beat", "pull"), values, strict=True))
    for values in product(("hidden", "open"), (False, True), ("any_suit", "trumps_only", "off"))
]
every_ruleset = pytest.mark.parametrize(
    "rules", RULESETS, ids=lambda rules: f"{rules['discards']}-{rules['must_beat']}-{rules['pull']}"
)


def cards(text: str) -> tuple[Card, ...]:
    """Cards by name; suits may be written as they look."""
    for sign, suit in zip("♣♦♥♠", "CDHS", strict=True):
        text = text.replace(sign, suit)
    return tuple(Card(name) for name in text.split())


def started(*hands: str, trump: str = "H", stock: int = 0, match=FRESH, first: int = 0, **options):
    """A game in which the seats hold these cards."""
    deal = Deal(1, 4, first, tuple(map(cards, hands)), stock, Card("Q" + trump), {})
    return KOZEL.start(DEFAULTS | options, match, deal)


def show(play, seat: int, text: str):
    return play.apply(Move(seat, "show", cards(text)))


def throw(play, seat: int, text: str):
    return play.apply(Move(seat, "throw", cards(text)))


def pull(play, seat: int, text: str):
    return play.apply(Move(seat, "pull", cards(text)))


def refusal(play, move: Move) -> str | None:
    """The requirement that a move breaks."""
    try:
        play.apply(move)
    except RuleError as error:
        return error.rule
    return None


def seats_that_may_pull(play) -> list[int]:
    return [s for s in range(4) if any(choice.kind == "pull" for choice in play.choices(s))]


# --- whole games --------------------------------------------------------------------------------


def rigged(rng: Random, likely: float) -> list[Card]:
    """A deck in which seats are likely to be dealt four of one suit."""
    left = set(DECK)
    hands = []
    for _ in range(4):
        suit = rng.choice("CDHS")
        pool = sorted(card for card in left if card[-1] == suit)
        if len(pool) < 4 or rng.random() >= likely:
            pool = sorted(left)
        hands.append(rng.sample(pool, 4))
        left -= set(hands[-1])
    stock = rng.sample(sorted(left), 20)
    return [hands[s][j] for j in range(4) for s in range(4)] + stock


def dealt(deck, rules=DEFAULTS, match=FRESH, first=0, trump=None):
    """A game and its double."""
    hands = [tuple(deck[4 * j + (s - first) % 4] for j in range(4)) for s in range(4)]
    turned = deck[20] if trump is None else Card("6" + trump)
    deal = Deal(1, 4, first, tuple(hands), 20, turned, {})
    play = KOZEL.start(rules, match, deal)
    return play, Naive(rules, match, first, turned[-1], hands, deck[16:])


def some_match(rng: Random, rules) -> dict:
    return {
        "defeat": [rng.randrange(0, rules["target"]) for _ in range(2)],
        "doubled": rng.random() < 0.3,
        "eggs": rng.random() < 0.3,
        "leader": rng.choice([None, 0, 1, 2, 3]),
    }


def all_moves(play) -> list[Move]:
    return [choice.move(s) for s in range(4) for choice in play.choices(s)]


def pick(rng: Random, play) -> Move:
    """Any move, pulls and leads of many cards a little more often."""
    moves = all_moves(play)
    bold = [move for move in moves if move.kind == "pull" or len(move.cards) > 2]
    return rng.choice(bold if bold and rng.random() < 0.4 else moves)


def walked(rng: Random, rules, likely: float = 0.5):
    """Every state of a random game and what led to it; both readings of the rules side by side."""
    match, first = some_match(rng, rules), rng.randrange(4)
    deck = rigged(rng, likely)
    play, naive = dealt(deck, rules, match, first)
    yield play, naive, None
    while not isinstance(play.due, Close):
        due = play.due
        if isinstance(due, Draw):
            play = play.done(due, naive.draw())
            yield play, naive, due
        elif isinstance(due, Show):
            assert {s: set(shown) for s, shown in due.cards.items()} == naive.down
            play = play.done(due)
            naive.down = {}
            yield play, naive, due
        else:
            move = pick(rng, play)
            play = play.apply(move)
            naive.move(move.seat, move.kind, frozenset(move.cards))
            taker = naive.over()
            if taker is not None and naive.stock:
                assert play.due == Draw(taker)
            yield play, naive, move


@every_ruleset
def test_random_games_agree_with_a_second_reading(rules):
    """KOZ-8..19: choices, turn, what is due, and the result, over whole games."""
    rng = Random(str(rules))
    seen = {"pull": 0, "again": 0, "show": 0, "throw": 0}
    for _ in range(40):
        options = {
            "eggs": rng.choice(KOZEL.options["eggs"]),
            "first_leader": rng.choice(KOZEL.options["first_leader"]),
            "target": rng.choice(KOZEL.options["target"]),
        }
        for play, naive, what in walked(rng, rules | options):
            invariants(play, naive)
            if play.turn:
                assert play.turn == (naive.turn(),)
                moves = all_moves(play)
                mine = {(move.seat, move.kind, frozenset(move.cards)) for move in moves}
                assert len(mine) == len(moves), "a choice is listed twice"
                assert mine == naive.legal()
            if isinstance(what, Move):
                seen[what.kind] += 1
                seen["again"] += what.kind == "pull" and len(naive.pullers) > 1
        assert not naive.down, "the discards were not shown"
        assert play.due == Close(naive.result())
        assert sum(play.due.result["score"]["points"]) == 120
    assert (seen["pull"] == 0) == (rules["pull"] == "off")
    assert (seen["throw"] == 0) == (rules["discards"] == "open")
    assert rules["pull"] != "any_suit" or seen["again"] > 5


def invariants(play, naive) -> None:
    """Cards are conserved, somebody or something is awaited, never both, hands are equal."""
    assert bool(play.turn) != (play.due is not None)
    assert [set(hand) for hand in play.hands] == naive.hands
    assert play.stock == len(naive.stock)
    assert play.stock % 4 == 0
    laid = [card for cards_ in play.trick.laid for card in cards_]
    held = [card for hand in play.hands for card in hand]
    everything = held + laid + naive.stock + naive.piles[0] + naive.piles[1]
    assert sorted(everything) == sorted(DECK)
    if not laid:
        assert len({len(hand) for hand in play.hands}) == 1
    if play.due is not None:
        assert all(play.choices(s) == () for s in range(4))


def conceivable(play, seat: int):
    """Sets of up to five cards: the seat's own and a stranger, and every kind of move."""
    own = play.hands[seat]
    stranger = next(card for card in DECK if card not in own)
    for size in range(6):
        for chosen in combinations((*own, stranger), size):
            for kind in ("show", "throw", "pull", "look", "call"):
                yield Move(seat, kind, chosen)


@every_ruleset
def test_apply_accepts_the_choices_and_nothing_else(rules):
    """KOZ-10..15, PLAY-3. The one move with two names is a pull when nothing lies in the trick."""
    rng = Random(f"brute {rules}")
    states = 0
    for _ in range(12):
        for play, naive, _ in walked(rng, rules, 0.6):
            if rng.random() < 0.4 and play.turn:
                continue
            states += 1
            accepted = set()
            for seat in range(4):
                for move in conceivable(play, seat):
                    rule = refusal(play, move)
                    if rule is None:
                        kind = move.kind
                        if kind == "show" and not naive.trick and seat != naive.leader:
                            kind = "pull"
                        accepted.add((seat, kind, frozenset(move.cards)))
                    else:
                        assert rule in RULES_OF_REFUSALS
            assert accepted == (naive.legal() if play.turn else set())
    assert states > 100


RULES_OF_REFUSALS = {"PLAY-3", *[f"KOZ-{n}" for n in (8, 10, 11, 13, 14, 15)]}


def test_the_order_of_cards_means_nothing():
    """KOZ-8."""
    play = started("K♣ 9♣", "10♣ 6♥", "A♣ 7♥", "Q♦ 8♠")
    one = show(show(play, 0, "K♣ 9♣"), 1, "10♣ 6♥")
    other = show(show(play, 0, "9♣ K♣"), 1, "6♥ 10♣")
    assert one.trick.best == other.trick.best
    assert one.choices(2) == other.choices(2)


def test_choices_are_in_a_fixed_order():
    hand = "9S 8S AC 10C"
    play = started(hand, "", "", "")
    again = started("10C AC 9S 8S", "", "", "")
    assert play.choices(0) == again.choices(0)
    assert play.choices(0) == tuple(
        Choice("show", cards(text)) for text in ("10C", "AC", "8S", "9S", "10C AC", "8S 9S")
    )


def test_a_game_is_quick():
    """A hand replays in a few milliseconds at the very most."""
    rng = Random("quick")
    moves = []
    play = start = dealt(rigged(rng, 0.1))[0]
    naive = dealt(rigged(Random("quick"), 0.1))[1]
    while not isinstance(play.due, Close):
        if play.due:
            drawn = naive.draw() if isinstance(play.due, Draw) else ()
            moves.append((play.due, drawn))
            play = play.done(play.due, drawn)
        else:
            move = play.choices(play.turn[0])[0].move(play.turn[0])
            moves.append((move, None))
            play = play.apply(move)
            naive.move(move.seat, move.kind, frozenset(move.cards))
            naive.over()
    best = float("inf")
    for _ in range(5):
        begin = time.process_time()
        state = start
        for step, drawn in moves:
            state = state.apply(step) if isinstance(step, Move) else state.done(step, drawn)
        best = min(best, time.process_time() - begin)
    assert state.due == play.due
    assert best < 0.01


# --- the match and the first leader --------------------------------------------------------------


def test_options_and_a_fresh_match():
    """KOZ-10, PLAY-2: defaults stand first."""
    assert KOZEL.options == {
        "eggs": ("none", "double_next"),
        "first_leader": ("dealer_left", "dealer"),
        "must_beat": (False, True),
        "pull": ("any_suit", "trumps_only", "off"),
        "target": (12, 6, 8, 10),
    }
    fresh = KOZEL.fresh(DEFAULTS, 4)
    assert fresh == {"defeat": [0, 0], "doubled": False, "eggs": False, "leader": None}
    assert KOZEL.out(FRESH) == frozenset()


@pytest.mark.parametrize("first", range(4))
def test_who_leads_first(first):
    """KOZ-8, KOZ-10: the dealer's left, the dealer, or the taker of the last game's last trick."""
    hands = ("6C", "7C", "8C", "9C")
    assert started(*hands, first=first).turn == (first,)
    assert started(*hands, first=first, first_leader="dealer").turn == ((first - 1) % 4,)
    for leader in range(4):
        for option in ("dealer_left", "dealer"):
            play = started(
                *hands, first=first, first_leader=option, match={**FRESH, "leader": leader}
            )
            assert play.turn == (leader,)


def test_no_game_without_an_indicator():
    """KOZ-9."""
    deal = Deal(1, 4, 0, ((),) * 4, 0, None, {})
    with pytest.raises(StateError):
        KOZEL.start(DEFAULTS, FRESH, deal)


# --- beats: K-T1, K-T2, K-T4 ---------------------------------------------------------------------


def beat(text: str, best: str, trump: str) -> bool:
    """Whether cards beat others that were led; a second reading must agree."""
    mine, other = cards(text), cards(best)
    led = next((card[-1] for card in other if card[-1] != trump), trump)
    found = beats(mine, strengths(other, led, trump), led, trump)
    assert found == set_beats(mine, other, trump)
    return found


@pytest.mark.parametrize(
    ("high", "low", "trump", "expected"),
    [
        ("9♥", "7♥", "S", True),
        ("7♥", "9♥", "S", False),
        ("10♣", "Q♣", "H", True),
        ("Q♣", "10♣", "H", False),
        ("6♥", "A♠", "H", True),
        ("A♠", "6♥", "H", False),
        ("A♠", "10♦", "H", False),
        ("10♦", "A♠", "H", False),
        ("A♣", "10♣", "H", True),
        ("10♣", "K♣", "H", True),
        ("7♥", "6♥", "H", True),
        ("6♥", "6♥", "H", False),
    ],
)
def test_k_t1_one_card(high, low, trump, expected):
    """K-T1, KOZ-9."""
    assert beat(high, low, trump) == expected


@pytest.mark.parametrize(
    ("mine", "best", "expected"),
    [
        ("9♦ J♠", "Q♠ 7♠", True),
        ("K♦ 8♦", "9♦ J♠", True),
        ("K♦ 9♠", "9♦ J♠", False),
        ("8♦ 9♠", "9♦ J♠", False),
        ("K♦ Q♠", "9♦ J♠", True),
        ("8♦ A♠", "9♦ J♠", False),
        ("6♦ A♠", "9♦ J♠", False),
    ],
)
def test_k_t2_pairs(mine, best, expected):
    """K-T2, KOZ-12: diamonds are trumps."""
    assert beat(mine, best, "D") == expected


def test_k_t2_as_played():
    """K-T2, KOZ-11, KOZ-12: the holder beats with both trumps only, or discards any two."""
    play = started("Q♠ 7♠", "9♦ J♠", "K♦ 8♦ 9♠ 6♣", "6♥ 7♥", trump="D")
    play = show(show(play, 0, "Q♠ 7♠"), 1, "9♦ J♠")
    shown = [set(choice.cards) for choice in play.choices(2) if choice.kind == "show"]
    assert shown == [set(cards("K♦ 8♦"))]
    assert Choice("throw", cards("8D 9S")) in play.choices(2)
    assert len(play.choices(2)) == 1 + 6
    after = throw(play, 2, "8♦ 9♠")
    assert set(cards("K♦ 6♣")) == set(after.hands[2])


@pytest.mark.parametrize(
    ("mine", "best", "expected"),
    [
        ("J♠ Q♠ K♠ 6♥", "6♠ 7♠ 8♠ 9♠", True),
        ("J♠ Q♠ K♠ 10♠", "6♠ 7♠ 8♠ A♠", False),
        ("J♠ Q♠ K♠ 6♥", "6♠ 7♠ 8♠ A♠", True),
        ("J♠ Q♠ K♠ 6♣", "6♠ 7♠ 8♠ 9♠", False),
    ],
)
def test_k_t4_four_cards(mine, best, expected):
    """K-T4, KOZ-12."""
    assert beat(mine, best, "H") == expected


def test_sorting_is_the_same_as_pairing():
    """KOZ-12, KOZ-13: the two readings of a beat, and the quick test for having one."""
    rng = Random("pairing")
    yes = 0
    for _ in range(20_000):
        trump, led, size = rng.choice("CDHS"), rng.choice("CDHS"), rng.randrange(1, 5)
        useful = [card for card in DECK if card[-1] in (trump, led)]
        best = rng.sample(useful, size)
        pool = useful if rng.random() < 0.8 else DECK
        hand = rng.sample(sorted(set(pool) - set(best)), min(rng.randrange(size, 5), 18 - size))
        if len(hand) < size:
            continue
        goal = strengths(best, led, trump)
        found = [set_beats(mine, best, trump) for mine in combinations(hand, size)]
        assert found == [beats(mine, goal, led, trump) for mine in combinations(hand, size)]
        assert any(found) == can_beat(hand, goal, led, trump)
        yes += any(found)
    assert 4000 < yes < 18_000


@given(st.permutations(DECK), st.sampled_from("CDHS"), st.integers(1, 4))
@settings(max_examples=150, deadline=None)
def test_what_beats_is_an_order(deck, trump, size):
    """KOZ-9, KOZ-12: no cards beat themselves, none beat each other, and beating carries on."""
    led = next(suit for suit in "CDHS" if suit != trump)
    useful = [card for card in deck if card[-1] in (trump, led)]
    a, b, c = (useful[n * size : (n + 1) * size] for n in range(3))

    def over(high, low):
        return beats(high, strengths(low, led, trump), led, trump)

    assert not over(a, a)
    assert not (over(a, b) and over(b, a))
    assert not (over(a, b) and over(b, c)) or over(a, c)


def test_every_two_cards():
    """KOZ-9: all 36 * 35 pairs with each trump, and how many beat."""
    for trump in "CDHS":
        beating = 0
        for high, low in product(DECK, DECK):
            led = low[-1]
            found = beats([high], strengths([low], led, trump), led, trump)
            assert found == card_beats(high, low, trump)
            beating += found
        assert beating == 4 * 36 + 9 * 27


# --- leads and answers ---------------------------------------------------------------------------

HANDS = ("K♣ 9♣ 7♦ 8♥", "10♣ 6♥ Q♣ J♦", "A♣ 7♥ 6♣ K♦", "Q♦ 8♠ 9♠ 10♠")


def test_leads():
    """KOZ-10: cards of one suit, of the leader, face up."""
    play = started(*HANDS)
    assert {choice.cards for choice in play.choices(0)} == {
        cards("K♣"), cards("9♣"), cards("7♦"), cards("8♥"), cards("9C KC"),
    }  # fmt: skip
    assert all(play.choices(s) == () for s in (1, 2, 3))
    assert refusal(play, Move(0, "show", cards("K♣ 7♦"))) == "KOZ-10"
    assert refusal(play, Move(0, "show", cards("K♣ 8♥"))) == "KOZ-10"
    assert refusal(play, Move(0, "throw", cards("K♣"))) == "KOZ-10"
    assert refusal(play, Move(1, "show", cards("10♣"))) == "KOZ-10"
    assert refusal(play, Move(1, "throw", cards("10♣"))) == "KOZ-10"
    assert refusal(play, Move(0, "pull", cards("K♣"))) == "KOZ-14"


@pytest.mark.parametrize("size", range(1, 5))
def test_a_lead_of_every_size(size):
    """KOZ-10, KOZ-11: answers are of as many cards."""
    play = started("6♠ 7♠ 8♠ 9♠", "J♠ Q♠ K♠ 6♥", "7♥ 8♥ 9♥ 6♣", "7♣ 8♣ 9♣ 6♦")
    play = play.apply(Move(0, "show", cards("6♠ 7♠ 8♠ 9♠")[:size]))
    for other in range(1, 5):
        chosen = cards("J♠ Q♠ K♠ 6♥")[:other]
        for kind in ("show", "throw"):
            assert refusal(play, Move(1, kind, chosen)) == (None if other == size else "KOZ-11")


@pytest.mark.parametrize(
    ("move", "rule"),
    [
        (Move(1, "show", ()), "KOZ-8"),
        (Move(1, "show", cards("10♣ 10♣")), "KOZ-8"),
        (Move(1, "show", cards("A♣ 7♥")), "KOZ-8"),
        (Move(1, "throw", cards("10♣ A♣")), "KOZ-8"),
        (Move(1, "throw", cards("10♣ 1o")), "KOZ-8"),
        (Move(4, "throw", cards("10♣")), "KOZ-8"),
        (Move(-1, "throw", cards("Q♦")), "KOZ-8"),
        (Move(1, "look"), "KOZ-8"),
        (Move(1, "call", call="pass"), "KOZ-8"),
        (Move(1, "show", cards("10♣ 6♥"), call="beat"), "KOZ-8"),
        (Move(1, "show", cards("10♣ 6♥"), amount=1), "KOZ-8"),
        (Move(1, "show", cards("10♣")), "KOZ-11"),
        (Move(1, "show", cards("Q♣ J♦")), "KOZ-11"),
        (Move(1, "show", cards("10♣ Q♣ 6♥")), "KOZ-11"),
        (Move(2, "show", cards("A♣ 7♥")), "KOZ-11"),
        (Move(0, "show", cards("7♦ 8♥")), "KOZ-11"),
        (Move(3, "throw", cards("Q♦ 8♠")), "KOZ-11"),
        (Move(1, "pull", cards("10♣ 6♥")), "KOZ-14"),
        (Move(3, "pull", cards("Q♦ 8♠ 9♠ 10♠")), "KOZ-14"),
        (Move(1, "show", cards("10♣ 6♥")), None),
        (Move(1, "show", cards("6♥ Q♣")), None),
        (Move(1, "show", cards("10♣ Q♣")), None),
        (Move(1, "show", cards("10♣ J♦")), "KOZ-11"),
        (Move(1, "throw", cards("6♥ 10♣")), None),
    ],
)
def test_refusals(move, rule):
    """KOZ-8, KOZ-11, KOZ-14: each names the requirement that it breaks. K♣ 9♣ are led."""
    assert refusal(show(started(*HANDS), 0, "K♣ 9♣"), move) == rule


def test_refusals_echo_nothing():
    """KOZ-8: what is refused is not repeated."""
    play = show(started(*HANDS), 0, "K♣ 9♣")
    with pytest.raises(RuleError) as caught:
        play.apply(Move(1, "call", call="<script>", amount=77))
    assert caught.value.code == "illegal_move"
    assert "script" not in str(caught.value)
    assert "77" not in str(caught.value)


def test_only_the_current_best_counts():
    """KOZ-12: a card above the lead and below the last beat does not beat."""
    play = show(show(started("6♠", "Q♠", "J♠", "K♠"), 0, "6♠"), 1, "Q♠")
    assert refusal(play, Move(2, "show", cards("J♠"))) == "KOZ-11"
    play = show(throw(play, 2, "J♠"), 3, "K♠")
    assert play.tricks == (0, 1)
    assert play.points == (0, 0 + 3 + 2 + 4)


def test_a_face_down_card_never_beats():
    """KOZ-11: whatever it is."""
    play = show(started("6♠", "A♥", "J♠", "7♣"), 0, "6♠")
    play = throw(throw(throw(play, 1, "A♥"), 2, "J♠"), 3, "7♣")
    assert play.tricks == (1, 0)
    assert play.points == (13, 0)
    assert play.due == Show({1: cards("A♥"), 2: cards("J♠"), 3: cards("7♣")})


def test_open_discards():
    """KOZ-8, KOZ-11: shown; cards that beat are a beat; nothing lies face down at the end."""
    play = show(started("9♠", "6♠", "J♠", "A♣", discards="open"), 0, "9♠")
    assert refusal(play, Move(1, "throw", cards("6♠"))) == "KOZ-8"
    play = show(play, 1, "6♠")
    assert play.trick.taker == 0
    play = show(play, 2, "J♠")
    assert play.trick.taker == 2
    play = show(play, 3, "A♣")
    assert isinstance(play.due, Close)
    assert play.due.result["score"]["points"] == [13, 0]


def test_must_beat():
    """KOZ-13: who can beat must, face-down discards included; how it beats is free."""
    hands = ("9♠", "6♠ K♠ A♠ 7♦", "7♠", "A♣")
    free = show(started(*hands), 0, "9♠")
    assert refusal(free, Move(1, "throw", cards("K♠"))) is None
    play = show(started(*hands, must_beat=True), 0, "9♠")
    for text in ("6♠", "7♦", "K♠", "A♠"):
        assert refusal(play, Move(1, "throw", cards(text))) == "KOZ-13"
    assert refusal(play, Move(1, "show", cards("6♠"))) == "KOZ-11"
    assert play.choices(1) == (Choice("show", cards("K♠")), Choice("show", cards("A♠")))
    play = show(play, 1, "K♠")
    assert play.choices(2) == (Choice("throw", cards("7♠")),)
    play = throw(play, 2, "7♠")
    assert play.choices(3) == (Choice("throw", cards("A♣")),)
    seen = show(started(*hands, must_beat=True, discards="open"), 0, "9♠")
    assert refusal(seen, Move(1, "show", cards("6♠"))) == "KOZ-13"
    assert refusal(seen, Move(1, "show", cards("A♠"))) is None


def test_must_beat_with_two_cards():
    """KOZ-13: one good card of two is not a beat, and there is no duty to lay it."""
    play = started("9♠ 10♠", "J♠ K♠ 6♦", "6♥ 7♥ 8♥", "A♠ 6♥", must_beat=True)
    play = show(play, 0, "9♠ 10♠")
    assert {choice.kind for choice in play.choices(1)} == {"throw"}
    play = throw(play, 1, "K♠ 6♦")
    assert {choice.kind for choice in play.choices(2)} == {"show"}
    assert len(play.choices(2)) == 3


# --- a trick and its draw: K-T3, K-T8 -------------------------------------------------------------


def test_k_t3_a_full_trick():
    """K-T3, KOZ-11, KOZ-12, KOZ-16: 28 points for team 0, and who draws which cards."""
    play = started(*HANDS, stock=20)
    play = show(play, 0, "K♣ 9♣")
    assert play.turn == (1,)
    play = show(play, 1, "10♣ 6♥")
    assert play.turn == (2,)
    assert not beat("A♣ K♣", "10♣ 6♥", "H")
    play = show(play, 2, "A♣ 7♥")
    assert play.turn == (3,)
    assert play.due is None
    play = throw(play, 3, "Q♦ 8♠")
    assert play.points == (28, 0)
    assert play.tricks == (1, 0)
    assert play.turn == ()
    assert play.due == Draw(2)
    stock = [card for card in DECK if card not in cards(" ".join(HANDS))]
    drawn = list(zip([2, 3, 0, 1, 2, 3, 0, 1], stock[:8], strict=True))
    after = play.done(Draw(2), drawn)
    assert after.stock == 12
    assert after.turn == (2,)
    assert [hand[2:] for hand in after.hands] == [
        (stock[2], stock[6]), (stock[3], stock[7]), (stock[0], stock[4]), (stock[1], stock[5]),
    ]  # fmt: skip


def test_k_t3_the_pair_that_is_no_beat():
    """K-T3: against 10♣ 6♥ the pair A♣ K♣ does not beat, the six needs a trump."""
    play = started("Q♣ 9♣", "10♣ 6♥", "A♣ K♣", "Q♦ 8♠")
    play = show(show(play, 0, "Q♣ 9♣"), 1, "10♣ 6♥")
    assert refusal(play, Move(2, "show", cards("A♣ K♣"))) == "KOZ-11"
    assert refusal(play, Move(2, "throw", cards("A♣ K♣"))) is None


def test_what_is_due_and_what_is_not():
    """KOZ-16, PLAY-3, PLAY-4: while a draw is due nobody moves, and only that draw is done."""
    play = started("7♠ 9♠", "8♠ 6♦", "6♣ 7♣", "8♣ 9♣", stock=4)
    with pytest.raises(StateError):
        play.done(Draw(0))
    play = throw(throw(show(show(play, 0, "7♠"), 1, "8♠"), 2, "6♣"), 3, "8♣")
    assert play.due == Draw(1)
    assert refusal(play, Move(1, "show", cards("6♦"))) == "PLAY-3"
    drawn = list(zip((1, 2, 3, 0), cards("A♠ A♣ A♦ A♥"), strict=True))
    for due in (Draw(0), Show({}), Serve(), Close({})):
        with pytest.raises(StateError):
            play.done(due, drawn)
    for wrong in ((), drawn[:3], drawn[1:] + drawn[:1], drawn * 2):
        with pytest.raises(StateError):
            play.done(Draw(1), wrong)
    play = play.done(Draw(1), drawn)
    assert play.stock == 0
    assert play.turn == (1,)


@pytest.mark.parametrize("p", [7])
def test_k_t8_the_indicator(p):
    """K-T8, KOZ-9, KOZ-16: it makes trumps, and with one-card leads is the second draw's last."""
    order = [card for card in DECK if card != "QH"]
    Random(8).shuffle(order)
    order.insert(16 + p, Card("QH"))
    hands = tuple(tuple(order[4 * j + s] for j in range(4)) for s in range(4))
    play = KOZEL.start(DEFAULTS, FRESH, Deal(1, 4, 0, hands, 20, order[16 + p], {}))
    assert play.trump == "H"
    naive = Naive(DEFAULTS, FRESH, 0, "H", hands, order[16:])
    draws = []
    while len(draws) < 2:
        seat = play.turn[0]
        move = next(c for c in play.choices(seat) if len(c.cards) == 1).move(seat)
        play = play.apply(move)
        naive.move(seat, move.kind, frozenset(move.cards))
        if naive.over() is not None:
            draws.append(naive.draw())
            play = play.done(play.due, draws[-1])
    assert draws[1][-1][1] == "QH"


def game_of(sizes, rng: Random):
    """A game whose leads have these sizes, and the stock after each draw; None if none could."""
    play, naive = dealt(rigged(rng, 1.0))
    left = []
    for size in sizes:
        seat = play.turn[0]
        leads = [c for c in play.choices(seat) if c.kind == "show" and len(c.cards) == size]
        if not leads:
            return None
        for step in range(4):
            seat = play.turn[0]
            move = (play.choices(seat)[0] if step else rng.choice(leads)).move(seat)
            play = play.apply(move)
            naive.move(move.seat, move.kind, frozenset(move.cards))
        naive.over()
        if isinstance(play.due, Draw):
            play = play.done(play.due, naive.draw())
            left.append(play.stock)
    return play, left


@pytest.mark.parametrize(
    ("sizes", "stocks", "held"),
    [
        ((1,) * 9, [16, 12, 8, 4, 0], 0),
        ((2, 2, 2, 2, 1), [12, 4, 0], 0),
        ((4, 4), [4, 0], 1),
        ((4, 4, 1), [4, 0], 0),
        ((3, 3), [8, 0], 3),
        ((1, 2, 3), [16, 8, 0], 3),
    ],
)
def test_sizes_of_tricks(sizes, stocks, held):
    """KOZ-16, KOZ-17: the stock is a multiple of four; nobody gets less than another.

    After two tricks of four cards it has four, and everybody ends with one card.
    """
    rng = Random(str(sizes))
    play, left = next(filter(None, (game_of(sizes, rng) for _ in range(2000))))
    assert left == stocks
    assert [len(hand) for hand in play.hands] == [held] * 4
    assert sum(play.tricks) == len(sizes)
    assert (play.due is None) == (held > 0)


# --- pulls: K-T5 and its window ------------------------------------------------------------------

T5 = ("7♠ 6♣ 7♣ 8♣", "6♦ 6♥ 7♥ 9♣", "J♠ Q♠ K♠ 10♠", "9♦ 10♦ J♦ K♦")


def test_k_t5_a_pull():
    """K-T5, KOZ-14, KOZ-15: everything goes back, the six unseen; 3 leads, order 3, 0, 1, 2."""
    start = started(*T5, stock=20)
    play = throw(show(start, 0, "7♠"), 1, "6♦")
    assert seats_that_may_pull(play) == [2, 3]
    play = pull(play, 3, "9♦ 10♦ J♦ K♦")
    assert play.hands == (*start.hands[:3], ())
    assert play.turn == (0,)
    assert play.trick.thrown == ()
    assert seats_that_may_pull(play) == [2]
    for seat, text in zip((0, 1, 2), T5, strict=False):
        assert play.turn == (seat,)
        assert {len(choice.cards) for choice in play.choices(seat)} == {4}
        play = throw(play, seat, text)
    assert play.tricks == (0, 1)
    assert play.due == Draw(3)
    assert dict(play.down) == {0: cards(T5[0]), 1: cards(T5[1]), 2: cards(T5[2])}


def test_k_t5_the_nearer_one_claims():
    """K-T5, KOZ-14 (c): 2 (distance 2) leads instead of 3; after that 3 has no claim."""
    play = pull(throw(show(started(*T5), 0, "7♠"), 1, "6♦"), 3, T5[3])
    play = pull(play, 2, T5[2])
    assert play.turn == (3,)
    assert set(play.hands[3]) == set(cards(T5[3]))
    assert seats_that_may_pull(play) == []
    assert refusal(play, Move(3, "pull", cards(T5[3]))) == "KOZ-14"


def test_a_claim_ends_with_the_first_answer():
    """KOZ-14 (c)."""
    play = pull(show(started(*T5), 0, "7♠"), 3, T5[3])
    assert seats_that_may_pull(play) == [2]
    play = throw(play, 0, T5[0])
    assert seats_that_may_pull(play) == []
    assert refusal(play, Move(2, "pull", cards(T5[2]))) == "KOZ-14"


ALL_FOUR = ("6♠ 7♠ 8♠ 9♠", "6♣ 7♣ 8♣ 9♣", "6♦ 7♦ 8♦ 9♦", "6♥ 7♥ 8♥ 9♥")


@pytest.mark.parametrize("leader", range(4))
def test_priority_is_the_distance_from_the_leader(leader):
    """KOZ-14: of all orders of claims those with falling distance are legal; the trick ends."""
    match = {**FRESH, "leader": leader}
    start = started(*ALL_FOUR, match=match)
    lengths = set()

    def explore(play, last: int, depth: int) -> None:
        lengths.add(depth)
        for seat in range(4):
            distance = (seat - leader) % 4
            move = Move(seat, "pull", cards(ALL_FOUR[seat]))
            assert (refusal(play, move) is None) == (distance < last)
            if distance < last:
                after = play.apply(move)
                assert after.turn == ((seat + 1) % 4,)
                assert after.trick.leader == leader
                explore(after, distance, depth + 1)

    led = show(start, leader, ALL_FOUR[leader].split()[0])
    for seat in range(4):
        move = Move(seat, "pull", cards(ALL_FOUR[seat]))
        assert (refusal(led, move) is None) == (seat != leader)
        if seat != leader:
            explore(led.apply(move), (seat - leader) % 4, 1)
    assert max(lengths) == 4, "3, 2, 1, and the leader whose card came back"


def test_a_lead_of_four_cannot_be_displaced():
    """KOZ-14: nor can fewer cards of an answerer be, once it is the leader's own pull."""
    play = show(started(*ALL_FOUR), 0, ALL_FOUR[0])
    assert seats_that_may_pull(play) == []
    for seat in (1, 2, 3):
        assert refusal(play, Move(seat, "pull", cards(ALL_FOUR[seat]))) == "KOZ-14"
    play = pull(pull(show(started(*ALL_FOUR), 0, "6♠"), 1, ALL_FOUR[1]), 0, ALL_FOUR[0])
    assert seats_that_may_pull(play) == []


def test_a_pull_before_the_lead():
    """KOZ-14 (a), KOZ-15: in the log it is what the seat shows, so both names are one move."""
    play = started(*ALL_FOUR)
    assert seats_that_may_pull(play) == [1, 2, 3]
    assert refusal(play, Move(0, "pull", cards(ALL_FOUR[0]))) == "KOZ-14"
    one, other = pull(play, 2, ALL_FOUR[2]), show(play, 2, ALL_FOUR[2])
    assert one == other
    assert one.turn == (3,)
    assert refusal(play, Move(2, "show", cards("6♦ 7♦ 8♦"))) == "KOZ-10"
    assert seats_that_may_pull(one) == [0, 1], "the leader too"
    back = pull(one, 0, ALL_FOUR[0])
    assert back.turn == (1,)


def test_a_show_is_no_pull_when_cards_lie():
    """KOZ-15: cards.returned comes first then."""
    play = show(started(*ALL_FOUR), 0, "6♠")
    assert refusal(play, Move(1, "show", cards(ALL_FOUR[1]))) == "KOZ-11"
    assert refusal(play, Move(2, "show", cards(ALL_FOUR[2]))) == "KOZ-11"
    assert refusal(play, Move(2, "pull", cards(ALL_FOUR[2]))) is None


def test_a_pull_is_of_all_four_cards():
    """KOZ-15."""
    play = show(started(*ALL_FOUR), 0, "6♠")
    for size in (1, 2, 3):
        assert refusal(play, Move(2, "pull", cards(ALL_FOUR[2])[:size])) == "KOZ-15"


def test_the_seat_on_turn_may_pull_and_so_may_the_last():
    """KOZ-13, KOZ-14 (b): also one that could beat and must."""
    play = show(started(*ALL_FOUR, must_beat=True), 0, "6♠")
    assert seats_that_may_pull(play) == [1, 2, 3]
    play = throw(throw(play, 1, "6♣"), 2, "6♦")
    assert play.turn == (3,)
    assert {choice.kind for choice in play.choices(3)} == {"show", "pull"}
    play = pull(play, 3, ALL_FOUR[3])
    assert play.turn == (0,)
    assert seats_that_may_pull(play) == [0, 1, 2], "their cards came back"


def test_who_has_played_does_not_pull():
    """KOZ-14: not until a pull gives its cards back."""
    play = throw(show(started(*ALL_FOUR), 0, "6♠"), 1, "6♣")
    assert seats_that_may_pull(play) == [2, 3]
    assert refusal(play, Move(1, "pull", cards("7♣ 8♣ 9♣"))) == "KOZ-14"


def test_three_of_a_suit_pull_nothing():
    """KOZ-14: exactly four cards, of one suit."""
    play = show(started("6♠ 7♦", "6♣ 7♣ 8♣ 9♦", "6♦ 8♦ J♦", "6♥ 7♥ 8♥ 9♥"), 0, "6♠")
    assert seats_that_may_pull(play) == [3]


@pytest.mark.parametrize(
    ("option", "expected"), [("any_suit", [1, 2, 3]), ("trumps_only", [2]), ("off", [])]
)
def test_the_option_pull(option, expected):
    """KOZ-14."""
    for play in (
        started(*ALL_FOUR, trump="D", pull=option),
        show(started(*ALL_FOUR, trump="D", pull=option), 0, "6♠"),
    ):
        assert seats_that_may_pull(play) == expected
        for seat in (1, 2, 3):
            rule = refusal(play, Move(seat, "pull", cards(ALL_FOUR[seat])))
            assert (rule is None) == (seat in expected)
            assert rule in (None, "KOZ-14")
    led = show(started(*ALL_FOUR, trump="D", pull=option), 0, ALL_FOUR[0])
    assert led.trick.size == 4, "four cards are led whatever the option says"
    assert seats_that_may_pull(led) == []


def test_discards_that_went_back_are_not_counted():
    """KOZ-15, KOZ-17: and may be discarded again."""
    play = pull(throw(show(started(*T5), 0, "7♠"), 1, "6♦"), 3, T5[3])
    for seat in (0, 1, 2):
        play = throw(play, seat, T5[seat])
    assert play.due == Show({seat: cards(T5[seat]) for seat in (0, 1, 2)})


def test_k_t9_how_likely_four_of_a_suit_are():
    """K-T9, KOZ-14: 504 of 58905 hands may pull."""
    play = started("6♠", "", "", "")
    found = total = 0
    for hand in combinations(DECK, 4):
        total += 1
        found += changed(play, hands=(play.hands[0], hand, (), ())).may_pull(1)
    assert (found, total) == (504, 58905)


# --- the count: K-T6, K-T7 -----------------------------------------------------------------------


def test_the_pack_is_worth_120():
    """KOZ-18."""
    assert points_of(DECK) == 120
    assert all(points_of([card]) == POINTS.get(card[:-1], 0) for card in DECK)


@pytest.mark.parametrize(
    ("points", "tricks", "expected"),
    [(61, 1, 0), (120, 9, 0), (60, 1, 0), (59, 1, 2), (31, 1, 2), (30, 1, 4), (0, 1, 4), (0, 0, 6)],
)
def test_k_t6_penalties(points, tricks, expected):
    """K-T6, KOZ-18."""
    assert penalty_of(points, tricks) == expected
    assert penalty_of(points, tricks, doubled=True) == 2 * expected


def closed(points, tricks=(5, 4), match=FRESH, leader=2, first=0, **options) -> dict:
    """The result of a game whose last trick seat `leader` takes, with points made to fit."""
    hands = ["6♣", "7♣", "8♣", "9♣"]
    hands[leader] = "6♥"
    play = started(*hands, match={**match, "leader": leader}, first=first, **options)
    kept = list(tricks)
    kept[leader % 2] -= 1
    play = changed(play, points=tuple(points), tricks=tuple(kept))
    for step in range(4):
        seat = (leader + step) % 4
        act = throw if step and options.get("discards") != "open" else show
        play = act(play, seat, hands[seat])
    if options.get("discards") != "open":
        assert isinstance(play.due, Show)
        assert play.choices(leader) == ()
        play = play.done(play.due)
    assert isinstance(play.due, Close)
    assert play.turn == ()
    assert play.done(play.due) == play
    return play.due.result


@pytest.mark.parametrize(
    ("points", "tricks", "penalty"),
    [
        ((61, 59), (5, 4), [0, 2]),
        ((59, 61), (5, 4), [2, 0]),
        ((60, 60), (5, 4), [0, 0]),
        ((89, 31), (5, 4), [0, 2]),
        ((90, 30), (5, 4), [0, 4]),
        ((120, 0), (8, 1), [0, 4]),
        ((120, 0), (9, 0), [0, 6]),
    ],
)
@pytest.mark.parametrize("doubled", [False, True])
@pytest.mark.parametrize("eggs", ["none", "double_next"])
def test_results(points, tricks, penalty, doubled, eggs):
    """K-T6, KOZ-18, KOZ-19: penalties, eggs, and which game counts double."""
    match = {**FRESH, "defeat": [1, 0], "doubled": doubled}
    result = closed(points, tricks, match, eggs=eggs, target=12)
    penalty = [(2 if doubled else 1) * worth for worth in penalty]
    level = points == (60, 60)
    defeat = [1 + penalty[0], penalty[1]]
    assert result == {
        "first": 1,
        "match": {
            "defeat": defeat,
            "doubled": level and eggs == "double_next",
            "eggs": level,
            "leader": 2,
        },
        "score": {"penalty": penalty, "points": list(points), "tricks": list(tricks)},
        "winner": 0 if defeat[1] >= 12 else None,
    }


def test_eggs_last_for_the_match():
    """KOZ-19: a game that was 60-60 is not forgotten; it changes no score."""
    eggs = closed((60, 60))["match"]
    assert eggs == {"defeat": [0, 0], "doubled": False, "eggs": True, "leader": 2}
    after = closed((61, 59), match=eggs)
    assert after["match"]["eggs"] is True
    assert after["score"]["penalty"] == [0, 2]
    doubled = closed((60, 60), eggs="double_next")["match"]
    assert doubled["doubled"] is True
    again = closed((60, 60), match=doubled, eggs="double_next")["match"]
    assert again["doubled"] is True
    decided = closed((61, 59), match=again, eggs="double_next")
    assert decided["score"]["penalty"] == [0, 4]
    assert decided["match"]["doubled"] is False


def test_k_t7_a_match():
    """K-T7, KOZ-19, PLAY-5: 2 + 4 + 6 ends it, 2 + 4 + 4 does not."""
    losses = {2: ((61, 59), (5, 4)), 4: ((90, 30), (5, 4)), 6: ((120, 0), (9, 0))}
    for games, winner in (((2, 4, 6), 0), ((2, 4, 4), None)):
        match, first = FRESH, 0
        for n, loss in enumerate(games):
            result = closed(*losses[loss], match=match, first=first)
            match, first = result["match"], result["first"]
            assert first == (n + 1) % 4
            assert result["winner"] == (winner if n == 2 else None)
        assert match["defeat"] == [0, sum(games)]


@pytest.mark.parametrize("target", [12, 6, 8, 10])
@pytest.mark.parametrize("team", [0, 1])
def test_targets(target, team):
    """KOZ-19: the winner is the other team, at the target and not below it."""
    points = (59, 61) if team == 0 else (61, 59)
    for had, over in ((target - 3, False), (target - 2, True), (target - 1, True)):
        defeat = [5, 5]
        defeat[team] = had
        result = closed(points, match={**FRESH, "defeat": defeat}, target=target)
        assert result["winner"] == (1 - team if over else None)


@pytest.mark.parametrize("leader", range(4))
@pytest.mark.parametrize("discards", ["hidden", "open"])
def test_the_taker_of_the_last_trick_leads_next(leader, discards):
    """KOZ-17, KOZ-19: also when nothing lies face down and the showing falls away."""
    result = closed((70, 50), leader=leader, first=3, discards=discards)
    assert result["match"]["leader"] == leader
    assert result["first"] == 0
    play = started("6C", "7C", "8C", "9C", match=result["match"], first=result["first"])
    assert play.turn == (leader,)


def test_a_match_ends():
    """KOZ-18, KOZ-19: random matches reach their target, and only one team does."""
    rng = Random("matches")
    for _ in range(8):
        rules = DEFAULTS | {"target": rng.choice((6, 8, 10, 12))}
        match, first = FRESH, rng.randrange(4)
        for games in count(1):
            play, naive = dealt(rng.sample(DECK, 36), rules, match, first)
            while not isinstance(play.due, Close):
                if play.due:
                    play = play.done(play.due, naive.draw() if isinstance(play.due, Draw) else ())
                else:
                    move = pick(rng, play)
                    play = play.apply(move)
                    naive.move(move.seat, move.kind, frozenset(move.cards))
                    naive.over()
            result = play.due.result
            match, first = result["match"], result["first"]
            if result["winner"] is not None:
                break
            assert max(match["defeat"]) < rules["target"]
            assert games < 100
        assert match["defeat"][1 - result["winner"]] >= rules["target"]
        assert match["defeat"][result["winner"]] < rules["target"]


# --- the dealing procedure allows what the play does ---------------------------------------------


@every_ruleset
def test_the_events_of_a_game_are_legal_without_a_referee(rules):
    """KOZ-4..7, KOZ-15..17: every move, as the events that it is, fits the procedure's layout."""
    game, rng = Kozel(), Random(f"layout {rules}")
    for _ in range(15):
        layout, where = None, {}
        for play, naive, what in walked(rng, rules):
            if layout is None:
                layout = game.deal(rules, 4, play.first, 1, None)
                order = [play.hands[(play.first + p) % 4][p // 4] for p in range(16)] + naive.stock
                where = {card: Place(0, p) for p, card in enumerate(order)}
            elif isinstance(what, Draw):
                layout = game.draw(rules, layout, what.first)
                for seat in layout.owed:
                    new = (*layout.received[seat], layout.stock[0])
                    layout = layout.with_received(seat, new)
                    layout = changed(layout, stock=layout.stock[1:])
                layout = game.served(changed(layout, owed=()))
            elif isinstance(what, Show):
                for seat, shown in what.cards.items():
                    for card in shown:
                        layout = game.show(rules, layout, seat, where[card])
            elif what.kind == "throw":
                layout = game.discard(rules, layout, {what.seat: len(what.cards)})
            else:
                if what.kind == "pull" and (layout.trick or layout.locked):
                    layout = game.give_back(rules, layout)
                for card in what.cards:
                    layout = game.show(rules, layout, what.seat, where[card])
            assert layout.counts() == tuple(map(len, play.hands))
            assert len(layout.stock) == play.stock
        assert not any(layout.received)
