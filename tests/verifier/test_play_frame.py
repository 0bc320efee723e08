"""What all games with a referee share: PLAY-1 to PLAY-6 in files of whole hands."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairdeal_verifier.play import PLAYS, Deal
from fairdeal_verifier.report import Style, to_text
from fairdeal_verifier.verify import verify
from tests.verifier import builder as B  # noqa: N812

CALLS = (
    *("take", "mus", "no_mus", "paso", "envido", "raise", "ordago", "quiero", "no_quiero"),
    *("bet", "check", "fold", "call", "all_in", "buy_in", "stay_out", "something"),
)


def started(*, trumps=("H", "S"), **options) -> B.Builder:
    """A Svoi hand with a referee, dealt, the sixes exchanged if they have to be."""
    b = B.Builder("svoi", referee=True, **options)
    b.open()
    speaker = b.given_first or 0
    b.declare({speaker: trumps[speaker]}).declare({1 - speaker: trumps[1 - speaker]})
    b.seal().open_seeds().deal()
    given = B.sixes(b)
    if b.rules["sixes"] == "exchange" and given:
        b.give(*given)
    return b


def player(b: B.Builder):
    """The package's own play of the hand as dealt: legal moves come from it, and the result."""
    hands = [[b.orders[e][p] for e, p in b.hold[seat]] for seat in range(2)]
    return PLAYS["svoi"](b.rules, b.match, Deal(b.hand, 2, b.first, hands, trumps=b.trumps))


def play(b: B.Builder, most: int = 2000):
    """Plays on, beating when it can, at most so many moves. Gives the play."""
    p = player(b)
    pile = []
    while not p.due and most:
        most -= 1
        (seat,) = p.turn
        card = {place: b.orders[place[0]][place[1]] for place in b.hold[seat]}
        mine = list(b.hold[seat])
        tries = [[one] for one in mine] + [[one, two] for one in mine for two in mine]
        for places in tries:
            if not p.shown([(seat, card[place]) for place in places]):
                b.show(*[(seat, place) for place in places], leaves=True)
                pile += places
                break
        else:
            count = next(n for n in range(1, 37) if not p.called(seat, "take", n))
            b.call(seat, "take", count)
            b.hold[seat] += pile[-count:]
            del pile[-count:]
    return p


def whole(**options) -> B.Builder:
    b = started(**options)
    p = play(b)
    return b.close(p.result())


def check(b: B.Builder, check_id: str = "play"):
    report = verify(b.file(), key=B.VKEY)
    return next(one for one in report if one.id == check_id), report


@pytest.mark.parametrize(
    "rules",
    [
        {},
        {"pick_up": "strict", "repetition": 0},
        {"sixes": "exchange"},
        {"sixes": "exchange", "distinct_trumps": False},
    ],
)
@pytest.mark.parametrize("salt", "abc")
def test_a_whole_hand(rules, salt):
    b = whole(rules=rules, salt=salt)
    report = verify(b.file(), key=B.VKEY)
    assert report.verdict == "VERIFIED", [c for c in report if c.status == "FAIL"]
    assert report.status("play") == "PASS"


def test_a_six_that_was_given_may_be_played():
    """SVO-3, SVO-5."""
    found = False
    for number in range(40):
        b = started(rules={"sixes": "exchange"}, salt=f"six {number}")
        six = next((s for s in b.shown if s["card"].startswith("6")), None)
        if six is None:
            continue
        owner = next(s for s in (0, 1) if (0, six["position"]) in b.hold[s])
        if owner != b.first:
            continue
        b.show((owner, (0, six["position"])), leaves=True).abort("operator")
        found = True
        assert verify(b.file(), key=B.VKEY).exit == 0
        break
    assert found


def test_a_card_taken_may_be_shown_again_and_only_then():
    """SVO-5, HAND-11: without the disclosure as well."""
    b = started()
    place = b.hold[b.first][0]
    b.show((b.first, place), leaves=True)
    b.call(1 - b.first, "take", 1)
    b.show((b.first, place), leaves=True).abort("operator")
    one, report = check(b)
    assert report.status("show.2") == "FAIL"
    assert one.note.endswith("(SVO-5)")
    b = started(disclosure="table")
    b.disclosed = False
    place = b.hold[b.first][0]
    b.show((b.first, place), leaves=True).call(1 - b.first, "take", 1)
    b.show((1 - b.first, place)).abort("operator")
    assert verify(b.file(), key=B.VKEY).status("show.2") == "PASS"


# When it is judged.


def test_without_a_referee():
    """PLAY-1, VER-2."""
    one, report = check(B.svoi())
    assert one.status == "N/A"
    assert report.exit == 0


def test_before_the_deal():
    b = B.Builder("svoi", referee=True).open().abort("operator")
    assert check(b)[0].status == "N/A"
    b = B.Builder("svoi", referee=True, disclosure="table").open()
    b.disclosed = False
    assert check(b)[0].status == "SKIP"


def test_before_disclosure():
    """PLAY-8."""
    b = started(disclosure="table")
    b.disclosed = False
    play(b, 5)
    b.abort("operator")
    one, report = check(b)
    assert one.status == "SKIP"
    assert report.exit == 3


def test_with_a_bad_seed():
    """VER-3."""
    b = whole()
    data = b.file(lambda v: v["disclosed"].update(server_seed="00" * 32))
    assert verify(data).status("play") == "SKIP"


def test_after_a_bad_deal():
    def forge(body):
        if body["type"] == "hand.dealt":
            body["positions"] = {"0": body["positions"]["1"], "1": body["positions"]["0"]}

    b = started(forge=forge).abort("operator")
    one, report = check(b)
    assert report.failed == "deal"
    assert one.status == "SKIP"


def test_unfinished():
    b = started()
    play(b, 3)
    assert check(b)[0].status == "SKIP"


# PLAY-1, PLAY-2: the match.


@pytest.mark.parametrize(
    ("hand", "match", "rule"),
    [
        (1, {"draws": 0, "wins": [1, 0]}, "PLAY-2"),
        (1, {"draws": 0, "wins": [0, False]}, "PLAY-2"),
        (2, {"draws": 0, "wins": [0]}, "PLAY-2"),
        (2, {"draws": 0, "wins": [0, 0], "more": {}}, "PLAY-2"),
        (2, {}, "PLAY-2"),
    ],
)
def test_no_such_match(hand, match, rule):
    b = started(hand=hand, first=None if hand == 1 else 0, match=match).abort("operator")
    one, report = check(b)
    assert report.failed == "play"
    assert one.note.endswith(f"({rule})")


def test_no_match_at_all():
    def forge(body):
        if body["type"] == "hand.opened":
            body["match"] = None

    one, report = check(started(forge=forge).abort("operator"))
    assert report.failed == "play"
    assert one.note.endswith("(PLAY-1)")


def test_a_later_match():
    b = whole(hand=7, first=1, match={"draws": 2, "wins": [3, 1]})
    assert check(b)[1].exit == 0
    result = b.bodies[-1]["result"]
    assert sum(result["match"]["wins"]) + result["match"]["draws"] == 7


def test_a_match_or_a_result_without_a_referee():
    """PLAY-1."""

    def matched(body):
        if body["type"] == "hand.opened":
            body["match"] = {"draws": 0, "wins": [0, 0]}

    assert check(B.svoi(forge=matched))[1].failed == "terms"

    def ended(body):
        if body["type"] == "hand.closed":
            body["result"] = {}

    assert check(B.svoi(forge=ended))[1].failed == "end"


def test_no_result_with_a_referee():
    """PLAY-1: `end` sees it too, so also before disclosure."""
    b = started(disclosure="table")
    b.disclosed = False
    assert check(b.close())[1].failed == "end"
    b = started()
    play(b)
    report = check(b.close())[1]
    assert (report.failed, report.status("end")) == ("play", "FAIL")


def test_a_call_without_a_referee():
    b = B.Builder("kozel").start().call(0, "take", 1).abort("operator")
    assert check(b)[1].failed == "order"


def test_types_that_the_game_does_not_have():
    b = started()
    b.add("play.declared", what="pares", seats=[])
    assert check(b.abort("operator"))[1].failed == "order"
    b = B.Builder("kozel", referee=True).start().call(0, "take", 1).abort("operator")
    assert check(b)[1].failed == "order"


@pytest.mark.parametrize(
    "change",
    [
        {"pick_up": None},
        {"repetition": 1},
        {"repetition": True},
        {"repetition": "3"},
        {"more": 1},
    ],
)
def test_options_of_play(change):
    """GAME-3, GAME-5."""
    b = started(rules=change).abort("operator")
    assert check(b)[1].failed == "terms"
    assert check(b)[0].status == "SKIP"


def test_options_without_a_referee():
    b = B.Builder("svoi", rules=B.PLAY_RULES["svoi"]).open().abort("operator")
    assert check(b)[1].failed == "terms"


def test_options_that_are_missing():
    def forge(body):
        if body["type"] == "table.opened":
            del body["ruleset"]["pick_up"]

    assert check(started(forge=forge).abort("operator"))[1].failed == "terms"


@pytest.mark.parametrize(
    ("value", "is_right"),
    [(1, True), (10**6, True), (0, False), (10**6 + 1, False), (True, False), ("10", False)],
)
def test_options_that_are_numbers(value, is_right):
    b = B.Builder("azi", referee=True, rules={"ante": value}).open().abort("operator")
    assert (check(b)[1].failed is None) == is_right


# PLAY-3, PLAY-4: the moves.


def test_an_illegal_move():
    b = started()
    b.show((1 - b.first, b.hold[1 - b.first][0])).abort("operator")
    one, report = check(b)
    assert report.failed == "play"
    assert one.note.endswith("(SVO-4)")


def test_an_illegal_call():
    b = started().call(0, "take", 2**53 - 1).abort("operator")
    assert check(b)[1].failed == "play"


def test_a_card_of_nobody():
    b = started()
    b.show((None, b.hold[b.first][0])).abort("operator")
    one, report = check(b)
    assert report.failed == "show.1"
    assert one.note.endswith("(PLAY-3)")


def test_closed_too_early():
    b = started()
    p = play(b, 3)
    b.close({"first": 0, "match": p.match, "score": {}, "winner": None})
    one, report = check(b)
    assert report.failed == "play"
    assert one.note.endswith("(PLAY-4)")


def test_a_move_after_the_end():
    b = started()
    play(b)
    seat = next(s for s in (0, 1) if b.hold[s])
    b.show((seat, b.hold[seat][0])).abort("operator")
    one, report = check(b)
    assert report.failed == "play"
    assert one.note == "cards.shown stands where hand.closed was due (PLAY-3)"


def test_aborted_when_it_had_to_be_closed():
    b = started()
    play(b)
    assert check(b.abort("operator"))[1].exit == 0


# PLAY-5: the result.


@pytest.mark.parametrize(
    "change",
    [
        lambda r: None,
        lambda r: {},
        lambda r: r | {"winner": 0},
        lambda r: r | {"winner": False},
        lambda r: r | {"first": None},
        lambda r: r | {"first": bool(r["first"])},
        lambda r: r | {"first": 1 - r["first"]},
        lambda r: r | {"more": 0},
        lambda r: r | {"match": {}},
        lambda r: r | {"match": B.FRESH["svoi"]},
        lambda r: r | {"score": r["score"] | {"reason": "limit"}},
        lambda r: {x: r[x] for x in r if x != "winner"},
    ],
)
def test_a_wrong_result(change):
    b = started(salt="b")
    result = change(play(b).result())
    one, report = check(b.close(result))
    assert report.failed == "play"
    assert one.note.endswith("(PLAY-5)")


# PLAY-6: the turn.


def test_a_turn_that_was_let_pass():
    b = started()
    play(b, 3)
    (seat,) = ((b.first + 1) % 2,)
    b.abort("turn_timeout", [seat], wait=30_000)
    one, report = check(b)
    assert one.status == "PASS"
    assert report.verdict == f"VERIFIED (aborted: turn_timeout, seats {seat})"


@pytest.mark.parametrize("missing", [[], [0, 1], "other"])
def test_others_were_not_on_turn(missing):
    b = started()
    missing = [1 - b.first] if missing == "other" else missing
    one, report = check(b.abort("turn_timeout", missing, wait=30_000))
    assert report.failed == "play"
    assert one.note.endswith("(PLAY-6)")


def test_the_time_was_not_over():
    b = started()
    report = check(b.abort("turn_timeout", [b.first], wait=29_999))[1]
    assert report.failed == "play"
    assert report.status("end") == "FAIL"


def test_nobody_was_on_turn():
    b = started()
    play(b)
    assert check(b.abort("turn_timeout", [0], wait=30_000))[1].failed == "play"


def test_no_turn_before_the_deal_or_without_a_referee():
    b = B.Builder("svoi", referee=True).open().abort("turn_timeout", [0], wait=30_000)
    assert check(b)[1].failed == "end"
    b = B.Builder("kozel").start().abort("turn_timeout", [0], wait=30_000)
    assert check(b)[1].failed == "end"


def test_a_turn_timeout_before_disclosure():
    def aborted(missing, wait):
        b = started(disclosure="table")
        b.disclosed = False
        return check(b.abort("turn_timeout", missing, wait=wait))[1]

    assert aborted([0], 30_000).status("end") == "PASS"
    assert aborted([0], 29_999).status("end") == "FAIL"
    assert aborted([], 30_000).status("end") == "FAIL"


def test_idle_is_no_reason_while_a_seat_is_on_turn():
    one, report = check(started().abort("idle", wait=600_000))
    assert report.failed == "play"
    assert one.note.endswith("(PLAY-6)")
    b = started()
    play(b)
    assert check(b.abort("idle", wait=600_000))[1].exit == 0


def test_nobody_is_on_turn_while_sixes_have_to_change_hands():
    for number in range(20):
        b = B.Builder("svoi", referee=True, rules={"sixes": "exchange"}, salt=f"{number}")
        b.open().declare({0: "H"}).declare({1: "S"}).seal().open_seeds().deal()
        if B.sixes(b):
            break
    assert check(b.abort("turn_timeout", [b.first], wait=30_000))[1].failed == "play"


# What a player reads.


def test_the_play_in_words():
    b = whole(salt="b")
    report = verify(b.file(), key=B.VKEY)
    text = to_text(report, Style(), explain=True)
    shown = b.bodies[[body["type"] for body in b.bodies].index("cards.shown")]["shown"][0]
    assert f"seat {shown['seat']} shows {Style().card(shown['card'])}" in text
    assert "The play" in text
    assert "score: " in text
    assert "The play" not in to_text(report, Style())
    assert report.to_json()["play"] == list(map(str, report.story))


# Whatever is said: no exception.

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(1 - 2**53, 2**53 - 1) | st.text('a {"', max_size=4),
    lambda x: (
        st.lists(x, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                sorted({name for match in B.FRESH.values() for name in match} | {"0", "1"})
            ),
            x,
            max_size=5,
        )
    ),
    max_leaves=12,
)
OBJECT = st.dictionaries(
    st.sampled_from(sorted({name for match in B.FRESH.values() for name in match} | {"x"})),
    JSON,
    max_size=6,
)


@settings(deadline=None, max_examples=60)
@given(st.sampled_from(sorted(PLAYS)), st.none() | OBJECT, st.sampled_from([1, 2]), st.data())
def test_any_match(game, match, hand, data):
    if match is not None and data.draw(st.booleans()):
        match = {**B.FRESH[game], **{x: y for x, y in match.items() if x in B.FRESH[game]}}

    def forge(body):
        if body["type"] == "hand.opened":
            body["match"] = match

    b = B.Builder(game, referee=True, hand=hand, first=None if hand == 1 else 0, forge=forge)
    b.open()
    if game == "svoi":
        b.declare({0: "H", 1: "S"})
    b.seal().open_seeds().deal()
    if game != "kozel":
        b.call(data.draw(st.integers(0, b.seats - 1)), "bet", 10)
    b.abort("operator")
    report = verify(b.file(), key=B.VKEY)
    assert report.exit in (0, 1)
    json.dumps(report.to_json())


@settings(deadline=None, max_examples=60)
@given(st.none() | OBJECT)
def test_any_result(result):
    b = started(salt="b")
    play(b)
    report = verify(b.close(result).file(), key=B.VKEY)
    assert report.failed == "play"


@settings(deadline=None, max_examples=150)
@given(
    st.sampled_from(sorted(PLAYS)),
    st.lists(
        st.tuples(
            st.integers(0, 3),
            st.sampled_from(CALLS),
            st.none() | st.integers(0, 3) | st.integers(0, 2**53 - 1),
        ),
        max_size=5,
    ),
)
def test_any_calls(game, calls):
    b = B.Builder(game, referee=True).open()
    if game == "svoi":
        b.declare({0: "H", 1: "S"})
    b.seal().open_seeds().deal()
    for seat, call, amount in calls:
        if game != "kozel":
            b.call(seat % b.seats, call, amount)
        else:
            b.show(*[(seat, place) for place in b.hold[seat][: 1 + (amount or 0) % 4]])
    b.abort("operator")
    report = verify(b.file(), key=B.VKEY)
    assert report.exit in (0, 1)
