"""The vectors of tables with a referee: hands and matches that bots play, and lies about them.

Spec: play.md and the pages of the games.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from random import Random
from typing import Any, NamedTuple

from fairdeal.cards import Card
from fairdeal.encoding import encode
from fairdeal.errors import StateError
from fairdeal.events import (
    CardsDrawn,
    CardsShown,
    HandClosed,
    HandEvent,
    PlayCalled,
    PlayDeclared,
    Timeouts,
)
from fairdeal.games.rules.base import Choice, Declare, Draw, Move, Play
from fairdeal.hand import Phase
from seeds.bots import Bot, greedy_bot, random_bot
from seeds.forge import _forged, _set
from seeds.hands import Vector, new_table, play_kozel
from seeds.local import LocalTable

_BOT = greedy_bot()
_MOST = 2000


class Match(NamedTuple):
    """Files of one table in their order, and what a verifier must say of all together."""

    name: str
    files: tuple[str, ...]
    exit: int
    failed: str | None
    """`match` if the files do not follow each other; else the first check that fails in a file."""


class Lie(NamedTuple):
    """A hand in which the service let something pass, and the check that says so."""

    name: str
    file: bytes
    failed: str | None


def step(table: LocalTable, bot: Bot = _BOT) -> None:
    """The next move, or the seeds of a reshuffle. Blind seats look first, to see what they do."""
    if table.hand.phase is Phase.REOPENING:
        table.open_seeds()
        return
    referee = table.secrets.referee
    if referee is None:
        raise StateError("wrong_phase", "nothing is played")
    lies = table.hand.playing.trick or table.hand.playing.locked
    seats = range(table.hand.table.seats) if lies else ()
    pulls = [s for s in seats if any(c.kind == "pull" for c in referee.choices(s))]
    seat = pulls[0] if pulls else referee.turn[0]
    table.move(bot(referee.play, seat))


def play_until(table: LocalTable, stop: Callable[[LocalTable], bool]) -> None:
    """Moves until something is so, or the hand has ended."""
    for _ in range(_MOST):
        if table.table.open_hand is None or stop(table):
            return
        step(table)


def play_out(table: LocalTable, bot: Bot = _BOT) -> None:
    """Moves until the hand has ended."""
    while table.table.open_hand is not None:
        step(table, bot)


def _played(game: str, name: str, **terms: Any) -> LocalTable:  # noqa: ANN401
    table = new_table(game, name, referee=True, **terms)
    table.deal()
    play_out(table)
    return table


def _vector(name: str, table: LocalTable, verdict: str = "VERIFIED", exit_code: int = 0) -> Vector:
    return Vector(name, table.transcript().encode(), table, verdict, exit_code)


WHOLE: Mapping[str, tuple[str, dict[str, Any]]] = {
    "kozel-played": ("kozel", {}),
    "kozel-played_open": ("kozel", {"ruleset": {"discards": "open", "must_beat": True}}),
    "kozel-played_dealer": (
        "kozel",
        {"ruleset": {"first_leader": "dealer", "pull": "off", "indicator_place": "bottom"}},
    ),
    "mus-played": ("mus", {}),
    "mus-played_corrido": ("mus", {"ruleset": {"mus_corrido": True, "kings": 4, "real31": True}}),
    "mus-played_literal": ("mus", {"ruleset": {"punto": "literal", "raises": "fixed2"}}),
    "azi-played": ("azi", {}),
    "azi-played_four": ("azi", {"seats": 3, "ruleset": {"cards": 4, "opener": "may_check"}}),
    "azi-played_short": ("azi", {"ruleset": {"stack": 25, "ante": 10, "all_in": "proportional"}}),
    "svoi-played": ("svoi", {}),
    "svoi-played_sixes": ("svoi", {"ruleset": {"sixes": "exchange", "pick_up": "strict"}}),
    "svoi-played_keyed": ("svoi", {"ruleset": {"repetition": 3}, "keyed": (0, 1)}),
}


def played_hands() -> Iterator[Vector]:
    """Valid hands: whole ones, one that stopped at a turn, and matches."""
    for i, (name, (game, terms)) in enumerate(WHOLE.items()):
        yield _vector(name, _played(game, f"p{i}", **terms))
    table = new_table("kozel", "pt", referee=True, timeouts=Timeouts(turn=30))
    table.deal()
    for _ in range(6):
        step(table)
    table.abort("turn_timeout")
    yield _vector("kozel-aborted_turn", table)
    table = new_table("mus", "pv", referee=True, disclosure="table")
    table.deal()
    play_out(table)
    yield _vector("mus-played_undisclosed", table, "INCOMPLETE", 3)
    yield from _rare()
    for name, match in MATCHES.items():
        yield from _match(name, match)


def _talkative(rounds: int) -> Bot:
    """Asks for mus so many times with all seats, and throws four cards each time."""
    said = [0]

    def choose(play: Play, seat: int) -> Move:
        choices = play.choices(seat)
        calls = {choice.call: choice for choice in choices}
        if "mus" in calls:
            said[0] += 1
            return calls["mus" if said[0] <= 4 * rounds else "no_mus"].move(seat)
        if choices[0].kind == "throw":
            return max(choices, key=lambda choice: len(choice.cards)).move(seat)
        return _BOT(play, seat)

    return choose


def _rare() -> Iterator[Vector]:
    """What comes up seldom: a trick pulled back, a reshuffle, an accepted ordago, an ace turned."""
    yield _vector("kozel-played_pull", _played("kozel", "f0"))
    table = new_table("mus", "f0", referee=True)
    table.deal()
    play_out(table, _talkative(3))
    yield _vector("mus-played_reshuffle", table)
    table = new_table("mus", "f1", referee=True)
    table.deal()
    play_out(table, random_bot(Random(1)))  # noqa: S311 - a player, not a dealer
    yield _vector("mus-played_ordago", table)
    yield _vector("azi-played_ace", _played("azi", "f3"))


class _Table(NamedTuple):
    """A match to play: whose bots, which names, how many hands at most."""

    game: str
    name: str
    ruleset: dict[str, Any]
    most: int
    seats: int | None = None
    seed: int | None = None
    """Of bots that play at random; the greedy ones play if it is None."""


MATCHES: Mapping[str, _Table] = {
    "kozel-match": _Table("kozel", "pmk", {}, 12),
    "mus-match": _Table("mus", "pmm", {"target": 30}, 9),
    "azi-match": _Table("azi", "m83", {"stack": 60}, 8, 3, 83),
    "azi-bought": _Table("azi", "m2", {"stack": 60, "azi": "half_bank"}, 8, 4, 2),
    "azi-three": _Table(
        "azi", "m27", {"stack": 60, "azi": "three_only", "all_in": "proportional"}, 8, 3, 27
    ),
    "svoi-match": _Table("svoi", "pms", {}, 3),
}
ABORTED: Mapping[str, int] = {"kozel-match": 2, "mus-match": 2, "svoi-match": 2}
"""Which hand of a match is aborted after a move, and then played again."""


BEGUN = ("mus-match", 2)
"""Of this hand there is a file from before it was dealt as well."""


def _begun(name: str, table: LocalTable) -> Vector:
    """The file of a hand that is under way. Spec: FILE-2."""
    file = json.loads(table.transcript().encode())
    ends = next(
        i for i, raw in enumerate(file["events"]) if json.loads(raw)["type"] == "hand.dealt"
    )
    events = file["events"][:ends]
    book = table.book
    receipt = book.receipt(book.entries.index(events[-1].encode()))
    value = {"format": file["format"], "events": events, "openings": [], "proof": receipt.text()}
    return Vector(name, encode(value), table, "INCOMPLETE", 3)


def _match(name: str, terms: _Table) -> Iterator[Vector]:
    table = new_table(
        terms.game, terms.name, referee=True, ruleset=terms.ruleset, seats=terms.seats
    )
    bot = _BOT if terms.seed is None else random_bot(Random(terms.seed))  # noqa: S311
    for number in range(1, terms.most + 1):
        table.deal()
        if number == ABORTED.get(name):
            step(table)
            table.abort()
        else:
            play_out(table, bot)
        yield _vector(f"{name}_{number}", table)
        if (name, number) == BEGUN:
            yield _begun(f"{name}_{number}_begun", table)
        result = table.hand.result
        if result is not None and result["winner"] is not None:
            return


def matches(names: list[str]) -> Iterator[Match]:
    """The matches among the files, right ones and wrong ones."""
    for name in MATCHES:
        files = sorted(
            (n for n in names if n.startswith(f"{name}_") and n[len(name) + 1 : -10].isdigit()),
            key=_number,
        )
        yield Match(name, tuple(files), 0, None)
        yield Match(f"{name}_gap_fail", (files[0], *files[2:]), 1, "match")
        yield Match(f"{name}_order_fail", (*files[1::-1], *files[2:]), 1, "match")
    mixed = ("kozel-match_1.fair.json", "kozel-played.fair.json")
    yield Match("kozel-match_mixed_fail", mixed, 1, "match")
    lie = ("kozel-match_1.fair.json", "kozel-match_2_lie.fair.json")
    yield Match("kozel-match_carried_fail", lie, 1, "match")
    redrawn = ("kozel-operator.fair.json", "kozel-redrawn.fair.json")
    yield Match("kozel-redrawn_fail", redrawn, 1, "match")
    again = ("kozel-operator.fair.json", "kozel-second_hand.fair.json", "kozel-reused.fair.json")
    yield Match("kozel-reused_fail", again, 1, "match")
    # What one file leaves open hides no fault between two others. Spec: VER-7
    cut, later = "kozel-cut_off_fail.fair.json", "mus-match_5.fair.json"
    first, begun, third = (
        f"mus-{name}.fair.json" for name in ("match_1", "match_2_begun", "match_3")
    )
    yield Match("mus-begun", (first, begun, third), 3, None)
    yield Match("mus-begun_gap_fail", (first, begun, third, later), 1, "match")
    yield Match("mus-unreadable_fail", (cut, first), 4, None)
    yield Match("mus-unreadable_gap_fail", (cut, first, third), 1, "match")


def _number(name: str) -> int:
    return int(name.removesuffix(".fair.json").rsplit("_", 1)[1])


# Lies: the service does not listen to its referee.


def _unjudged(table: LocalTable, *events: HandEvent) -> None:
    table.judged = False
    for event in events:
        again = replace(event, header=table.header())
        table.log(again)


def _lie(name: str, table: LocalTable, failed: str = "play") -> Lie:
    if table.table.open_hand is not None:
        table.judged = False
        table.abort()
    return Lie(f"{name}_fail", table.transcript().encode(), failed)


def _started(game: str, name: str, **terms: Any) -> LocalTable:  # noqa: ANN401
    table = new_table(game, name, referee=True, **terms)
    table.deal()
    return table


def _due(table: LocalTable) -> object:
    return table.secrets.referee.play.due if table.secrets.referee else None


def _before_the_end(game: str, name: str) -> tuple[LocalTable, HandClosed]:
    """A hand just before it closes by itself, and how it would close."""
    table = _started(game, name)
    table.held = (HandClosed,)
    play_until(table, lambda t: isinstance(t.secrets.due(t.header()), HandClosed))
    due = table.secrets.due(table.header())
    if not isinstance(due, HandClosed):
        raise StateError("wrong_phase", "the hand did not come to its end")
    return table, due


def _with(value: Any, path: tuple[str | int, ...], new: object) -> Any:  # noqa: ANN401
    """A JSON value with another one in one place."""
    if not path:
        return new
    head, *rest = path
    copy: Any = value.copy()
    copy[head] = _with(copy[head], tuple(rest), new)
    return copy


def _score(game: str, name: str, path: tuple[str | int, ...], by: int) -> Lie:
    """A result in which one number is another."""
    table, due = _before_the_end(game, f"x{game[0]}s")
    found: Any = due.result
    for part in path:
        found = found[part]
    _unjudged(table)
    table.finish(
        replace(due, header=table.header(), result=_with(due.result or {}, path, found + by))
    )
    return Lie(f"{name}_fail", table.transcript().encode(), "play")


def lies() -> Iterator[Lie]:
    """One hand a lie."""
    yield from _kozel_lies()
    yield from _mus_lies()
    yield from _azi_lies()
    yield from _svoi_lies()


def _shown(table: LocalTable, seat: int, cards: tuple[Card, ...]) -> CardsShown:
    return table.secrets.show(table.header(), seat, table.secrets.places(seat, cards))


def _called(table: LocalTable, seat: int, call: str, amount: int | None = None) -> PlayCalled:
    return PlayCalled(
        header=table.header(), hand=table.hand.number, seat=seat, call=call, amount=amount
    )


def _reused() -> Lie:
    """The secret of hand 2, which everybody knows, is announced for hand 4: a match shows it."""
    table = new_table("kozel", "k7", custody="operator", contribute=(1, 2))
    for _ in range(2):
        table.deal()
        play_kozel(table, 1)
        table.close()
    second = table.hand.commitment.hex()
    table.deal()
    table.close()
    vector = Vector("kozel-reused", table.transcript().encode(), table, "VERIFIED", 0)
    again = _set("hand.opened", 0, lambda event: event.update(next_commitment=second))
    return Lie("kozel-reused", _forged(vector, again), None)


def _kozel_lies() -> Iterator[Lie]:
    # The taker of the first trick draws second.
    table = _started("kozel", "xk0")
    table.held = (CardsDrawn,)
    play_until(table, lambda t: isinstance(_due(t), Draw))
    due = _due(table)
    if isinstance(due, Draw):
        _unjudged(table, table.secrets.draw(table.header(), (due.first + 1) % 4))
    yield _lie("kozel-draw_order", table)
    # After the draw another seat than the taker leads.
    table = _started("kozel", "xk1")
    play_until(table, lambda t: isinstance(t.hand_events[-1], CardsDrawn))
    seat = (table.secrets.referee.turn[0] + 1) % 4 if table.secrets.referee else 0
    held = table.secrets.card(table.secrets.holding(seat)[0])
    _unjudged(table, _shown(table, seat, (held,)))
    yield _lie("kozel-trick_winner", table)
    # A lead of two suits.
    table = _started("kozel", "xk2")
    seat = _turn(table)[0]
    cards = [table.secrets.card(place) for place in table.secrets.holding(seat)]
    pair = next((a, b) for a in cards for b in cards if a[-1] != b[-1])
    _unjudged(table, _shown(table, seat, pair))
    yield _lie("kozel-mixed_lead", table)
    # The hand is closed after its first trick.
    table, closing = _before_the_end("kozel", "xk3")
    table = _started("kozel", "xk3b")
    play_until(table, lambda t: isinstance(t.hand_events[-1], CardsDrawn))
    table.judged = False
    table.finish(replace(closing, header=table.header()))
    yield _lie("kozel-closed_early", table)
    # A turn's deadline is held against a seat that was not on turn.
    table = _started("kozel", "xk4")
    turn = _turn(table)[0]
    table.judged = False
    table.abort("turn_timeout", ((turn + 1) % 4,))
    yield _lie("kozel-turn_blamed", table)
    # The second hand of a match begins with other defeat points.
    table = new_table("kozel", "pmk", referee=True, ruleset={"target": 12})
    table.deal()
    play_out(table)
    told = _with(table.hand.result or {}, ("match", "defeat"), [4, 4])
    table.table = replace(table.table, hand=replace(table.hand, result=told))
    table.deal()
    play_out(table)
    yield Lie("kozel-match_2_lie", table.transcript().encode(), None)
    # Without a referee: the first seat is drawn again although the hand before was closed.
    table = new_table("kozel", "k7", custody="operator", contribute=(1, 2))
    table.deal()
    play_kozel(table, 1)
    table.close()
    undealt = replace(table.hand, reason="operator", dealt=None, first=None)
    table.table = replace(table.table, hand=undealt)
    table.deal()
    table.close()
    yield Lie("kozel-redrawn", table.transcript().encode(), None)
    yield _reused()
    yield _score("kozel", "kozel-score", ("score", "points", 0), 1)
    yield _score("kozel", "kozel-leads_next", ("first",), 1)


def _mus_lies() -> Iterator[Lie]:
    table = _started("mus", "xm0")
    table.held = (PlayDeclared,)
    play_until(table, lambda t: isinstance(_due(t), Declare))
    due = _due(table)
    if isinstance(due, Declare):
        seats = tuple(seat for seat in range(4) if (seat in due.seats) != (seat == 0))
        _unjudged(
            table,
            PlayDeclared(header=table.header(), hand=1, what=due.what, seats=seats),
        )
    yield _lie("mus-declared", table)
    table = _started("mus", "xm1")
    first = table.hand.playing.first
    _unjudged(table, _called(table, first, "no_mus"), _called(table, (first + 1) % 4, "envido", 2))
    yield _lie("mus-out_of_turn", table)
    table = _started("mus", "xm2")
    first = table.hand.playing.first
    _unjudged(table, _called(table, first, "no_mus"), _called(table, first, "envido", 41))
    yield _lie("mus-bet_size", table)
    yield _score("mus", "mus-score", ("score", "points", 0), 1)


def _turn(table: LocalTable) -> tuple[int, tuple[Choice, ...]]:
    """The first seat on turn and what it may do."""
    referee = table.secrets.referee
    if referee is None or not referee.turn:
        raise StateError("wrong_phase", "nobody is on turn")
    return referee.turn[0], referee.choices(referee.turn[0])


def _with_tricks() -> Iterator[LocalTable]:
    """Tables of Azi at which the first card of the first trick has just been shown."""
    for attempt in range(99):
        table = _started("azi", f"xa{attempt}", seats=3)
        play_until(table, lambda t: isinstance(t.hand_events[-1], CardsShown))
        if table.table.open_hand is not None:
            yield table


def _azi_lies() -> Iterator[Lie]:
    # A raise after the bidding has closed.
    table = next(_with_tricks())
    _unjudged(table, _called(table, table.hand.playing.trick[0][0], "raise", 100))
    yield _lie("azi-late_bet", table)
    # A seat that has the suit led plays another.
    for table in _with_tricks():
        seat, choices = _turn(table)
        legal = {choice.cards for choice in choices if choice.kind == "show"}
        cards = [table.secrets.card(place) for place in table.secrets.holding(seat)]
        wrong = [card for card in cards if (card,) not in legal]
        if wrong:
            _unjudged(table, _shown(table, seat, (wrong[0],)))
            yield _lie("azi-revoke", table)
            break
    # More chips than the seat has.
    table = _started("azi", "xab", seats=3)
    seat = _turn(table)[0]
    _unjudged(table, _called(table, seat, "bet", 5000))
    yield _lie("azi-bet_size", table)
    yield _score("azi", "azi-bank", ("match", "stacks", 0), 1)


def _svoi_lies() -> Iterator[Lie]:
    table = _started("svoi", "xs0")
    step(table)
    seat = _turn(table)[0]
    table.judged = False
    table.move(Move(seat, "call", (), "take", 1))
    seat = 1 - seat
    table.move(Move(seat, "show", (table.secrets.card(table.secrets.holding(seat)[0]),)))
    table.move(Move(seat, "show", (table.secrets.card(table.secrets.holding(seat)[0]),)))
    yield _lie("svoi-twice", table)
    # Nothing lies there to be beaten so.
    table = _started("svoi", "xs1", ruleset={"pick_up": "strict"})
    while table.table.open_hand is not None:
        seat, choices = _turn(table)
        if table.hand.playing.trick and all(choice.kind == "show" for choice in choices):
            lying = len(table.hand.playing.trick)
            _unjudged(table, _called(table, seat, "take", min(3, lying)))
            break
        step(table)
    yield _lie("svoi-pick_up", table)
    yield _score("svoi", "svoi-wins", ("match", "wins", 0), 1)
