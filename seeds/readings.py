"""Hands that two readings of the specification would judge differently.

Each has one line of the specification that decides: which check tells a fault that two of them
name, what cannot be said yet of a hand that goes on, what a fault leaves of the checks before it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from fairdeal.encoding import format_time, parse_time
from seeds.forge import (
    Events,
    File,
    _before,
    _edited,
    _exchanged,
    _forged,
    _of,
    _set,
)
from seeds.hands import Vector, new_table

UNDEALT = MappingProxyType(
    dict.fromkeys(
        (
            "seal.0", "shuffle", "deck.root", "first", "deal", "pick.first", "pick.indicator",
            "end", "disclosure",
        ),
        "SKIP",
    )
)  # fmt: skip
"""What cannot be said yet of a hand that goes on and has not been dealt. Spec: VER-3."""

Change = Callable[[Events, File], None]


class Reading(NamedTuple):
    """A file, and what must be found of it."""

    name: str
    data: bytes
    exit: int
    failed: str | None = None
    checks: Mapping[str, str] = MappingProxyType({})


def readings(valid: dict[str, Vector]) -> Iterator[Reading]:
    """Every such hand."""
    yield from _format(valid["kozel-short"])
    yield from _beginning(valid)
    yield from _after_a_fault(valid["kozel-whole"])
    yield from _reshuffles(valid)
    yield from _count()
    yield from _options(valid)
    yield from _ending(valid)


def _failed(name: str, check: str, data: bytes, **checks: str) -> Reading:
    return Reading(f"{name}_fail", data, 1, check, checks)


# --- format and VER-1 -----------------------------------------------------------------------------


def _with_event(vector: Vector, change: Callable[[str], str]) -> bytes:
    return _edited(vector, lambda file: file["events"].__setitem__(2, change(file["events"][2])))


def _format(vector: Vector) -> Iterator[Reading]:
    good, other = '"v":"fairdeal/1"', '"v":"fairdeal/2"'
    # Of a member that stands twice the last one counts.
    first = _with_event(vector, lambda raw: f"{raw.replace(good, other)[:-1]},{good}}}")
    yield _failed("kozel-version_first", "format", first)
    last = _with_event(vector, lambda raw: f"{raw[:-1]},{other}}}")
    yield Reading("kozel-version_last_fail", last, 4)
    # What is too long to be an event is not looked into.
    for size, name in ((65_535, "kozel-version_long"), (65_536, "kozel-version_too_long")):

        def long(_: str, size: int = size) -> str:
            shortest = f'{{{other},"x":""}}'
            return f'{{{other},"x":"{"a" * (size - len(shortest))}"}}'

        data = _with_event(vector, long)
        is_event = size == 65_535
        yield Reading(f"{name}_fail", data, 4 if is_event else 1, None if is_event else "format")

    def nested(depth: int) -> bytes:
        inner = depth - 1
        return _with_event(vector, lambda _: f'{{{other},"x":{"[" * inner}{"]" * inner}}}')

    yield Reading("kozel-version_deep_fail", nested(16), 4)
    yield _failed("kozel-version_too_deep", "format", nested(17))

    # Sizes and indices have at most 16 digits.
    def index(number: str) -> bytes:
        def change(file: File) -> None:
            lines = file["proof"].split("\n")
            lines[1] = f"index {number}"
            file["proof"] = "\n".join(lines)

        return _edited(vector, change)

    yield _failed("kozel-index_16", "log.inclusion", index("9" * 16))
    yield _failed("kozel-index_17", "format", index("1" + "0" * 16))

    # The one line of the proof is the log's by its name; by which key, is `log.signature`'s.
    def line(change: Callable[[str, str], tuple[str, str]]) -> bytes:
        def apply(file: File) -> None:
            head, _, last = file["proof"].rstrip("\n").rpartition("\n")
            _, name, signature = last.split(" ")
            file["proof"] = f"{head}\n— {' '.join(change(name, signature))}\n"

        return _edited(vector, apply)

    yield _failed("kozel-line_name", "format", line(lambda name, data: (f"{name}2", data)))
    yield _failed(
        "kozel-line_key", "log.signature", line(lambda name, data: (name, "AAAA" + data[4:]))
    )


# --- the beginning of a hand ----------------------------------------------------------------------


def _beginning(valid: dict[str, Vector]) -> Iterator[Reading]:
    second = valid["kozel-second_hand"]

    def unnamed(event: dict[str, Any]) -> None:
        event["prev"] = ""

    # No event but a table's first has nothing before it.
    yield _failed("kozel-unnamed", "chain", _forged(second, _set("hand.opened", 0, unnamed)))

    def at_once(event: dict[str, Any]) -> None:
        event["prev"], event["seq"] = event["terms"], 1

    # Hand 2 as a table's first: its commitment was announced by nothing.
    yield _failed("kozel-second_at_once", "chain", _forged(second, _set("hand.opened", 0, at_once)))

    # The hand goes on, and nothing has been opened.
    def begun(events: Events, file: File) -> None:
        del events[3:], file["disclosed"]

    data = _forged(valid["kozel-short"], begun)
    yield Reading("kozel-begun", data, 3, None, UNDEALT)

    # Nobody could seal, since one had not declared: all who had to seal are missing.
    table = new_table("svoi", "s3")
    table.open_hand()
    table.declare({0: "H"})
    table.abort("seal_timeout")
    yield Reading("svoi-undeclared", table.transcript().encode(), 0)

    def one(event: dict[str, Any]) -> None:
        event["missing"] = [1]

    vector = Vector("svoi-undeclared", table.transcript().encode(), table, "VERIFIED", 0)
    yield _failed("svoi-undeclared", "end", _forged(vector, _set("hand.aborted", 0, one)))

    # A seat without a key has signed.
    def keyless(events: Events, _: File) -> None:
        opened = [event for event in events if event["type"] == "seeds.opened"][-1]
        opened["sigs"]["0"] = "11" * 64

    yield _failed(
        "mus-keyless_signature", "seat.signature.0", _forged(valid["mus-corrido"], keyless)
    )


# --- what a fault leaves --------------------------------------------------------------------------


def _after_a_fault(vector: Vector) -> Iterator[Reading]:
    """A draw out of order, and something else behind it. Spec: VER-9."""

    def draw(events: Events, _: File) -> None:
        draws = _of(events, "cards.drawn")["draws"]
        draws[0][2], draws[1][2] = draws[1][2], draws[0][2]

    def look(events: Events, _: File) -> None:
        looked = {"type": "cards.looked", "seat": 0}
        events.insert(len(events) - 1, _before(events[-1], looked))

    def card(events: Events, _: File) -> None:
        shown = [one for event in events[:-1] for one in event.get("shown", ())]
        shown[-1]["card"] = shown[0]["card"]

    def both(first: Change, second: Change) -> Change:
        def apply(events: Events, file: File) -> None:
            first(events, file)
            second(events, file)

        return apply

    yield _failed("kozel-looked", "order", _forged(vector, look))
    # The order is not judged any more, ..
    yield _failed("kozel-drawn_looked", "draw.1", _forged(vector, both(draw, look)), order="PASS")
    # .. and where the cards lay is known all the same.
    yield _failed("kozel-drawn_card", "shuffle", _forged(vector, both(draw, card)), order="PASS")


# --- reshuffles -----------------------------------------------------------------------------------


def _reshuffles(valid: dict[str, Vector]) -> Iterator[Reading]:
    one, more = valid["mus-one_round"], valid["mus-reshuffled"]

    def not_due(events: Events, _: File) -> None:
        dealt = _of(events, "hand.dealt")
        stock = {
            "type": "stock.reshuffled", "epoch": 1, "count": 4, "deck_root": dealt["deck_root"],
        }  # fmt: skip
        at = events.index(dealt) + 1
        events.insert(at, {**_before(events[-1], stock), "at": dealt["at"]})

    yield _failed("mus-stock_not_due", "reshuffle.1", _forged(one, not_due))

    kinds = [json.loads(raw)["type"] for raw in json.loads(more.file)["events"]]
    stock = kinds.index("stock.reshuffled")
    opened = kinds[:stock].count("seeds.opened") - 1
    early = _exchanged(("seeds.opened", opened), ("stock.reshuffled", 0))
    yield _failed("mus-stock_early", "order", _forged(more, early))
    drawn = kinds[:stock].count("cards.drawn")
    early = _exchanged(("seeds.opened", opened), ("cards.drawn", drawn))
    yield _failed("mus-drawn_early", "order", _forged(more, early))

    # A stock of the right cards, with a count that is not theirs: the deck is known.
    def count(event: dict[str, Any]) -> None:
        event["count"] += 1

    data = _forged(valid["mus-previous"], _set("stock.reshuffled", 0, count))
    yield _failed("mus-count", "reshuffle.1", data, shuffle="PASS")


# --- the count ------------------------------------------------------------------------------------


def _count() -> Iterator[Reading]:
    """The last card of all, and what was thrown, in one event. Spec: HAND-11, KOZ-7."""
    table = new_table("kozel", "k8")
    table.deal()
    while any(table.hand.playing.counts()):
        for seat in (1, 3, 0, 2):
            cards = table.secrets.holding(seat)[:1]
            if seat % 2:
                table.discard({seat: cards})
            else:
                table.show(seat, cards)
        if table.hand.playing.stock:
            table.draw(0)
    for seat in (1, 3):
        table.show(seat, [place for throw in table.secrets.thrown[seat] for place in throw])
    table.close()
    vector = Vector("kozel-counted", table.transcript().encode(), table, "VERIFIED", 0)

    def at_once(events: Events, _: File) -> None:
        last, *count = [event for event in events if event["type"] == "cards.shown"][-3:]
        for event in count:
            last["shown"] += event["shown"]
            events.remove(event)

    def reversed_(events: Events, file: File) -> None:
        at_once(events, file)
        _of(events[::-1], "cards.shown")["shown"].reverse()

    number = sum(raw.count('"type":"cards.shown"') for raw in json.loads(vector.file)["events"])
    yield Reading("kozel-counted", _forged(vector, at_once), 0)
    yield _failed("kozel-counted_first", f"show.{number - 2}", _forged(vector, reversed_))


# --- what the options leave out -------------------------------------------------------------------


def _options(valid: dict[str, Vector]) -> Iterator[Reading]:
    def after_the_deal(event: dict[str, Any]) -> Change:
        def change(events: Events, _: File) -> None:
            dealt = _of(events, "hand.dealt")
            made = {**_before(events[-1], event), "at": dealt["at"]}
            events.insert(events.index(dealt) + 1, made)

        return change

    # The game has such events; this table has not. The type is right, and the event is illegal.
    azi, lock = valid["azi-two_seats"], {"0": {"count": 1, "lock": "00" * 32}}
    thrown = after_the_deal({"type": "cards.discarded", "discards": lock, "sigs": {}})
    yield _failed("azi-thrown", "discard.1", _forged(azi, thrown))
    looked = after_the_deal({"type": "cards.looked", "seat": 0})
    yield _failed("azi-looked", "deal", _forged(azi, looked))
    secrets = valid["svoi-keyed"].table.secrets
    given = secrets.opening(secrets.holding(0)[1]).to_dict() | {"from": 0, "to": 1}
    del given["path"]
    kept = after_the_deal({"type": "cards.given", "given": [given]})
    yield _failed("svoi-given", "deal", _forged(valid["svoi-keyed"], kept))

    # Four cards, and not everybody has thrown one.
    table = new_table("azi", "a8", seats=3, ruleset={"cards": 4})
    table.deal()
    for seat in range(3):
        table.discard({seat: table.secrets.holding(seat)[:1]})
    table.close()
    vector = Vector("azi-thrown", table.transcript().encode(), table, "VERIFIED", 0)

    def fewer(left: int) -> Change:
        def change(events: Events, file: File) -> None:
            for seat in range(left, 3):
                events.remove(_of(events, "cards.discarded", left))
                del file["disclosed"]["discards"][str(seat)]

        return change

    yield Reading("azi-none_thrown", _forged(vector, fewer(0)), 0)
    yield _failed("azi-half_thrown", "end", _forged(vector, fewer(2)))
    opening = table.secrets.opening(table.secrets.holding(0)[0]).to_dict()
    del opening["path"]

    def shown(events: Events, file: File) -> None:
        fewer(2)(events, file)
        show = {"type": "cards.shown", "shown": [{**opening, "seat": 0}]}
        events.insert(len(events) - 1, _before(events[-1], show))

    yield _failed("azi-shown_early", "show.1", _forged(vector, shown))

    # One suit for both where they have to differ, and a suit of another game's cards.
    def declared(first: str, second: str) -> Change:
        def change(events: Events, _: File) -> None:
            events[0]["ruleset"]["distinct_trumps"] = True
            for event, suit in zip(events[2:4], (first, second), strict=True):
                event["trumps"] = dict.fromkeys(event["trumps"], suit)
            # The terms are others, and so were the seals: the hand ends before there are any.
            del events[4:-1], events[-1]["result"]
            events[-1] |= {"type": "hand.aborted", "reason": "operator", "missing": []}

        return change

    svoi = valid["svoi-same_trumps"]
    yield _failed("svoi-one_suit", "order", _forged(svoi, declared("H", "H")))
    yield _failed("svoi-foreign_suit", "order", _forged(svoi, declared("H", "o")))

    # Before disclosure nobody knows whether a six was due.
    table = new_table("svoi", "s4", ruleset={"sixes": "exchange"}, disclosure="table")
    table.deal(trumps={0: "C", 1: "D"})
    table.close()
    yield Reading("svoi-untold_sixes", table.transcript().encode(), 3, None, {"deal": "SKIP"})

    # A take of more cards than there are takes all of them; the play says that it was wrong.
    def all_of_them(event: dict[str, Any]) -> None:
        event["amount"] = 2**53 - 1

    data = _forged(valid["svoi-played"], _set("play.called", 0, all_of_them))
    yield _failed("svoi-took_all", "play", data)


# --- the end --------------------------------------------------------------------------------------


def _ending(valid: dict[str, Vector]) -> Iterator[Reading]:
    def closed(events: Events, _: File) -> None:
        last = events[-1]
        del last["reason"], last["missing"]
        last |= {"type": "hand.closed", "result": None}

    yield _failed("kozel-closed_undealt", "end", _forged(valid["kozel-aborted_seal"], closed))

    def early(event: dict[str, Any]) -> None:
        event["at"] = format_time(parse_time(event["at"]) - 1000)

    # Both checks look at the time, and `play` stands first.
    data = _forged(valid["kozel-aborted_turn"], _set("hand.aborted", 0, early))
    yield _failed("kozel-turn_early", "play", data, end="FAIL")

    # The locks are right; the list is not in the order of HAND-17.
    def unsorted(_: Events, file: File) -> None:
        for throws in file["disclosed"]["discards"].values():
            for throw in throws:
                throw.reverse()

    yield _failed("mus-unsorted", "disclosure", _forged(valid["mus-one_round"], unsorted))

    # A seat of the table that has thrown nothing, and one that the table does not have.
    def listed(seat: str) -> Change:
        def change(_: Events, file: File) -> None:
            file["disclosed"]["discards"][seat] = []

        return change

    aborted = valid["kozel-aborted_seal"]
    yield _failed("kozel-none_listed", "disclosure", _forged(aborted, listed("3")))
    yield _failed("kozel-stranger_listed", "format", _forged(aborted, listed("4")))
