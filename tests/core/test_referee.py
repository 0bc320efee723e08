"""Tables with a referee: whole hands through the state machines, illegal steps refused.

Spec: PLAY-1..6, GAME-5.
"""

import random
from dataclasses import replace

import pytest

from fairdeal.dealing import Dealing
from fairdeal.errors import FormatError, StateError
from fairdeal.events import (
    CardsShown,
    HandClosed,
    PlayCalled,
    PlayDeclared,
    TableOpened,
    Timeouts,
    parse_event,
)
from fairdeal.games import game_named, rules_of
from fairdeal.games.rules.base import RuleError
from fairdeal.hand import Phase
from fairdeal.table import Table
from seeds.bots import greedy_bot, random_bot
from seeds.local import Book, LocalTable

GAMES = ("kozel", "mus", "azi", "svoi")
RULESETS = {
    "kozel": ({}, {"discards": "open", "must_beat": True}, {"indicator_place": "bottom"}),
    "mus": ({}, {"mus_corrido": True}, {"target": 30, "kings": 4, "punto": "literal"}),
    "azi": ({}, {"cards": 4, "blind": True}, {"azi": "half_bank", "stack": 60}),
    "svoi": ({"repetition": 3}, {"sixes": "exchange", "pick_up": "strict", "repetition": 3}),
}
CASES = [(game, i) for game in GAMES for i in range(len(RULESETS[game]))]


def refereed(game, ruleset=None, **terms):
    return LocalTable(Book(), game, ruleset=ruleset or {}, referee=True, **terms)


def step(table, bot, rng):
    """One move by a bot; seeds of a reshuffle are opened as they fall due."""
    if table.hand.phase is Phase.REOPENING:
        table.open_seeds()
        return
    play = table.secrets.referee.play
    able = [seat for seat in range(table.hand.table.seats) if play.choices(seat)]
    table.move(bot(play, rng.choice(able)))


def play_hand(table, bot, rng):
    table.deal()
    while table.table.open_hand is not None:
        step(table, bot, rng)


@pytest.mark.parametrize(("game", "case"), CASES)
def test_a_match_goes_from_hand_to_hand(game, case):
    """PLAY-2, PLAY-3, PLAY-4, PLAY-5: bots play, the table follows, all of it replays."""
    rng = random.Random(f"{game} {case}")
    table = refereed(game, RULESETS[game][case])
    for number in range(4):
        play_hand(table, greedy_bot() if number % 2 else random_bot(rng), rng)
        hand = table.hand
        assert hand.phase is Phase.CLOSED
        assert hand.result.keys() == {"first", "match", "score", "winner"}
        match, first = table.table.next_match(), table.table.first_choices()
        assert first == (hand.result["first"],)
        if hand.result["winner"] is None:
            assert match == hand.result["match"]
        else:
            assert match == rules_of(table.table.game).fresh(
                table.table.terms_event.ruleset, table.hand.table.seats
            )
        again = replace(table.secrets, referee=None).replayed(table.hand_events)
        assert again.referee.play == table.secrets.referee.play
    state = Table.open(table.events[0])
    for event in table.events[1:]:
        state = state.apply(parse_event(event.raw))
    assert state == table.table


def test_an_aborted_hand_counts_for_nothing():
    """PLAY-2: the match and the first seat are as they were."""
    rng = random.Random(1)
    table = refereed("kozel")
    play_hand(table, random_bot(rng), rng)
    match, first = table.table.next_match(), table.table.first_choices()
    table.deal()
    step(table, random_bot(rng), rng)
    table.abort()
    assert (table.table.next_match(), table.table.first_choices()) == (match, first)


@pytest.mark.parametrize("game", GAMES)
def test_a_turn_has_a_deadline(game):
    """PLAY-6: to the second, and it names the seats on turn."""
    table = refereed(game, timeouts=Timeouts(turn=7))
    table.deal()
    turn = table.secrets.referee.play.turn
    assert turn
    reason, due = table.hand.deadline
    assert (reason, due) == ("turn_timeout", table.hand.last_at + 7000)
    table.book.now = due - 1 - 250
    with pytest.raises(StateError, match="deadline"):
        table.abort_now("turn_timeout", turn)
    table.book.now = due
    for wrong in ((), tuple(seat for seat in range(table.hand.table.seats) if seat not in turn)):
        with pytest.raises(StateError):
            table.abort_now("turn_timeout", wrong)
    with pytest.raises(StateError):
        table.abort_now("idle", ())
    table.abort_now("turn_timeout", turn)
    assert (table.hand.reason, table.hand.missing) == ("turn_timeout", turn)


def test_without_a_seat_on_turn_a_hand_can_be_idle(monkeypatch):
    """HAND-16, PLAY-6: here only the end is due, and does not come."""
    due = Dealing.due

    def all_but_the_end(self, header):
        event = due(self, header)
        return None if isinstance(event, HandClosed) else event

    monkeypatch.setattr(Dealing, "due", all_but_the_end)
    table = refereed("svoi", timeouts=Timeouts(turn=7, hand=60))
    table.deal()
    while table.secrets.referee.turn:
        table.book.now = table.hand.last_at + 61_000
        with pytest.raises(StateError, match="on turn"):
            table.abort_now("idle", ())
        table.book.now = table.hand.last_at
        step(table, random_bot(random.Random(3)), random.Random(3))
    table.book.now = table.hand.last_at + 60_000 - 1 - 250
    with pytest.raises(StateError, match="deadline"):
        table.abort_now("idle", ())
    table.book.now = table.hand.last_at + 60_000
    table.abort_now("idle", ())
    assert table.hand.reason == "idle"


def test_moves_are_judged_before_they_are_logged():
    """PLAY-3: the rule that is broken is named, and nothing has changed."""
    table = refereed("mus")
    table.deal()
    seat = table.hand.playing.first
    before = (table.table, table.secrets)
    for event in (
        PlayCalled(header=table.header(), hand=1, seat=(seat + 1) % 4, call="mus"),
        PlayCalled(header=table.header(), hand=1, seat=seat, call="envido", amount=2),
        PlayCalled(header=table.header(), hand=1, seat=seat, call="mus", amount=2),
        table.secrets.show(table.header(), seat, table.secrets.holding(seat)[:1]),
    ):
        with pytest.raises(RuleError) as caught:
            table.secrets.after(table.table.apply(event).hand, event)
        assert caught.value.code == "illegal_move"
        assert caught.value.rule.split("-")[0] in {"MUS", "PLAY"}
    declared = PlayDeclared(header=table.header(), hand=1, what="pares", seats=(0,))
    with pytest.raises(StateError, match="declare"):
        table.secrets.after(table.table.apply(declared).hand, declared)
    closed = HandClosed(
        header=table.header(),
        hand=1,
        result={"first": 0, "match": {}, "score": {}, "winner": None},
    )
    with pytest.raises(StateError, match="played to its end"):
        table.secrets.after(table.table.apply(closed).hand, closed)
    assert (table.table, table.secrets) == before


def test_the_result_is_the_referees():
    """PLAY-5: no other result closes the hand; 1 is not true."""
    rng = random.Random(3)
    table = refereed("kozel")
    table.deal()
    while table.table.open_hand is not None:
        step(table, random_bot(rng), rng)
    closing = table.hand_events[-1]
    assert isinstance(closing, HandClosed)
    for change in (
        {"first": (closing.result["first"] + 1) % 4},
        {"winner": 0},
        {"match": {**closing.result["match"], "doubled": 0}},
        {"score": {**closing.result["score"], "points": [60, 60]}},
    ):
        other = replace(closing, result={**closing.result, **change})
        dealing = table.secrets
        with pytest.raises(StateError, match="result is another"):
            dealing.referee.follow(other, dealing.card, dealing.thrown)
    assert dealing.referee.follow(closing, dealing.card, dealing.thrown)


def test_without_a_referee_there_is_no_play():
    """PLAY-1, GAME-5."""
    table = LocalTable(Book(), "mus")
    table.deal()
    called = PlayCalled(header=table.header(), hand=1, seat=0, call="mus")
    with pytest.raises(StateError, match="no referee"):
        table.table.apply(called)
    closed = HandClosed(header=table.header(), hand=1, result={})
    with pytest.raises(StateError, match="referee"):
        table.table.apply(closed)
    with pytest.raises(FormatError):
        LocalTable(Book(), "mus", ruleset={"target": 30})
    opened = refereed("mus").events[0]
    assert isinstance(opened, TableOpened)
    with pytest.raises(FormatError):
        Table.open(replace(opened, referee=False))
    assert refereed("mus", {"target": 30}).table.terms_event.ruleset["target"] == 30


@pytest.mark.parametrize("stack", [0, 1_000_000_001, True, "1000"])
def test_a_number_option_is_within_its_bounds(stack):
    """GAME-5."""
    with pytest.raises(FormatError) as caught:
        game_named("azi").ruleset({"stack": stack}, play=rules_of(game_named("azi")).options)
    assert caught.value.code == "option_value"


def test_the_count_shows_each_hidden_discard_in_order():
    """PLAY-4: seats and places ascend; anything else is not what is due."""
    rng = random.Random(5)
    table = refereed("kozel")
    table.deal()
    while table.table.open_hand is not None:
        step(table, random_bot(rng), rng)
    shows = [event for event in table.hand_events if isinstance(event, CardsShown)]
    count = shows[-1]
    assert len({shown.seat for shown in count.shown}) > 1
    order = [(shown.seat, shown.place) for shown in count.shown]
    assert order == sorted(order)
    index = table.hand_events.index(count)
    fresh = replace(table.secrets, referee=None).replayed(table.hand_events[:index])
    wrong = replace(count, shown=count.shown[::-1])
    with pytest.raises(StateError, match="count"):
        fresh.referee.follow(wrong, fresh.card, fresh.thrown)
    assert fresh.referee.follow(count, fresh.card, fresh.thrown)


def test_each_seat_discards_for_itself_in_kozel():
    """PLAY-3: two answers are two events; in Mus and Azi several locks may come together."""
    table = refereed("kozel")
    table.deal()
    leader = table.secrets.referee.turn[0]
    table.show(leader, table.secrets.holding(leader)[:1])
    seats = [(leader + step) % 4 for step in (1, 2)]
    with pytest.raises(RuleError) as caught:
        table.discard({seat: table.secrets.holding(seat)[:1] for seat in seats})
    assert caught.value.rule == "PLAY-3"
    table = refereed("azi", {"cards": 4})
    table.deal()
    table.discard({seat: table.secrets.holding(seat)[:1] for seat in range(4)})
    assert len(table.secrets.referee.turn) == 1
