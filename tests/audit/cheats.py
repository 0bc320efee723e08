"""A service that cheats: it has the log's real key, and logs what it likes.

Each cheat is an honest log of a few tables, one of which is told otherwise. What the chain, the
numbers and the heads of later events follow from is made to fit again, so that nothing but the
cheat itself is wrong, as far as a service can manage that.
"""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from seeds.hands import play_azi, play_kozel
from seeds.local import Book, LocalTable
from seeds.played import play_out
from tests.audit.generate import ORIGIN, write_book

Event = dict[str, Any]


def encode(event: Event) -> bytes:
    return json.dumps(event, sort_keys=True, separators=(",", ":")).encode()


def digest(event: Event) -> str:
    return hashlib.sha256(encode(event)).hexdigest()


def events_of(table: LocalTable) -> list[Event]:
    return [json.loads(event.raw) for event in table.events]


def fitted(events: list[Event], *, seq: bool = True) -> list[Event]:
    """The events, chained again: `seq`, `prev`, and the heads under which seeds were opened."""
    heads: dict[str, str] = {}
    made: list[Event] = []
    for event in events:
        new = copy.deepcopy(event)
        before = digest(event)
        if made:
            if seq:
                new["seq"] = made[-1]["seq"] + 1
            new["prev"] = digest(made[-1])
        if "head" in new:
            new["head"] = heads.get(new["head"], new["head"])
        heads[before] = digest(new)
        made.append(new)
    return made


class Cheat(NamedTuple):
    """What a cheat leaves behind."""

    code: str
    entries: list[bytes]
    has_evidence: bool = True


def honest(game: str = "kozel", name: str = "c0", hands: int = 3, **terms: Any) -> LocalTable:
    """A table with some hands played, closed."""
    table = LocalTable(Book(ORIGIN), game, name=name, **terms)
    for _ in range(hands):
        table.deal()
        if table.table.open_hand is not None and not terms.get("referee"):
            if game == "kozel":
                play_kozel(table, 2)
            else:
                play_azi(table, 1)
        play_out(table) if terms.get("referee") else table.close()
        if terms.get("disclosure") == "table":
            table.disclose()
    table.close_table()
    return table


def _of_hand(events: list[Event], hand: int) -> list[int]:
    return [at for at, event in enumerate(events) if event.get("hand") == hand]


def _raws(events: list[Event]) -> list[bytes]:
    return [encode(event) for event in events]


def drops_a_hand() -> Cheat:
    events = events_of(honest())
    gone = set(_of_hand(events, 2))
    left = [event for at, event in enumerate(events) if at not in gone]
    return Cheat("NUMBER", _raws(fitted(left)))


def drops_a_hand_openly() -> Cheat:
    """The numbers of events tell of it; nothing but the whole log shows what is not there."""
    events = events_of(honest())
    gone = set(_of_hand(events, 2))
    return Cheat("GAP", _raws([e for at, e in enumerate(events) if at not in gone]), False)


def renumbers() -> Cheat:
    events = events_of(honest())
    for event in events:
        if event.get("hand", 0) >= 2:
            event["hand"] += 5
    return Cheat("NUMBER", _raws(fitted(events)))


def names_another_hand() -> Cheat:
    events = events_of(honest())
    events[_of_hand(events, 2)[3]]["hand"] = 1
    return Cheat("NUMBER", _raws(fitted(events)))


def _shown(events: list[Event], hand: int) -> list[tuple[int, int]]:
    return [
        (at, number)
        for at in _of_hand(events, hand)
        if events[at]["type"] == "cards.shown"
        for number in range(len(events[at]["shown"]))
    ]


def _repeat_a_card(events: list[Event], hand: int) -> int:
    """State the first card that a hand shows at its second one's place; where that stands."""
    (a, i), (b, j) = _shown(events, hand)[:2]
    events[b]["shown"][j]["card"] = events[a]["shown"][i]["card"]
    return b


def deals_a_card_twice() -> Cheat:
    events = events_of(honest())
    _repeat_a_card(events, 2)
    return Cheat("CARD", _raws(fitted(events)))


def deals_two_cards_at_a_place() -> Cheat:
    events = events_of(honest())
    (a, i), (b, j) = _shown(events, 2)[:2]
    for name in ("position", "epoch"):
        events[b]["shown"][j][name] = events[a]["shown"][i][name]
    return Cheat("CARD", _raws(fitted(events)))


def deals_another_card() -> Cheat:
    """A card that nobody has seen: no two events contradict each other, but the seeds do."""
    events = events_of(honest())
    at, number = _shown(events, 2)[0]
    events[at]["shown"][number]["card"] = next(
        c
        for c in ("6H", "7H", "8H", "9H", "10H", "JH", "QH", "KH", "AH", "6C", "7C", "8C")
        if c not in json.dumps([events[k] for k in _of_hand(events, 2)])
    )
    return Cheat("HAND", _raws(fitted(events)))


def changes_the_terms() -> Cheat:
    events = events_of(honest())
    other = events[0] | {"timeouts": events[0]["timeouts"] | {"open": 1}}
    events[_of_hand(events, 2)[0]]["terms"] = digest(other)
    return Cheat("TERMS", _raws(fitted(events)))


def breaks_its_announcement() -> Cheat:
    """The commitment of hand 3 is one chosen after hand 2 had been opened."""
    events = events_of(honest())
    events[_of_hand(events, 2)[0]]["next_commitment"] = "ab" * 32
    return Cheat("COMMITMENT", _raws(fitted(events)))


def breaks_its_first_announcement() -> Cheat:
    """What the terms announce is the commitment of the first hand."""
    events = events_of(honest())
    events[_of_hand(events, 1)[0]]["commitment"] = "ab" * 32
    return Cheat("COMMITMENT", _raws(fitted(events)))


def withholds() -> Cheat:
    events = events_of(honest())
    left = [e for e in events if not (e["type"] == "hand.disclosed" and e["hand"] == 2)]
    return Cheat("WITHHELD", _raws(fitted(left)))


def withholds_until_closing() -> Cheat:
    events = events_of(honest(disclosure="table"))
    left = [e for e in events if not (e["type"] == "hand.disclosed" and e["hand"] == 2)]
    return Cheat("WITHHELD", _raws(fitted(left)), False)


def withholds_at_the_end() -> Cheat:
    """The hand's end is the last that is heard of the table."""
    events = events_of(honest(hands=1))
    return Cheat("WITHHELD", _raws(events[:-2]), False)


class _Twin(LocalTable):
    """A table whose server seeds are those of another one."""

    ahead = 0
    """Of its hands."""

    def server_seed(self, hand: int) -> Any:
        name, self.name = self.name, "c0"
        try:
            return super().server_seed(hand + self.ahead)
        finally:
            self.name = name


def reuses_a_commitment() -> Cheat:
    first = honest(hands=2)
    second = _Twin(Book(ORIGIN), "kozel", name="c1")
    second.deal()
    second.close()
    return Cheat("REUSE", _raws(events_of(first) + events_of(second)))


def reuses_a_commitment_at_its_table() -> Cheat:
    events = events_of(honest())
    first, second = [events[_of_hand(events, hand)[0]] for hand in (2, 3)]
    second["commitment"] = first["commitment"]
    return Cheat("REUSE", _raws(fitted(events)))


def reuses_a_seal() -> Cheat:
    events = events_of(honest())
    seals = [event for event in events if event["type"] == "seeds.sealed"]
    seals[1]["seals"]["0"] = seals[0]["seals"]["0"]
    return Cheat("REUSE", _raws(fitted(events)), False)


def reuses_a_seed() -> Cheat:
    events = events_of(honest())
    opened = [event for event in events if event["type"] == "seeds.opened"]
    opened[1]["seeds"]["0"] = opened[0]["seeds"]["0"]
    return Cheat("REUSE", _raws(fitted(events)), False)


def forks_a_table() -> Cheat:
    """Two ends of one hand, under one number of the chain."""
    events = events_of(honest())
    at = next(k for k in _of_hand(events, 2) if events[k]["type"] == "hand.closed")
    other = {k: v for k, v in events[at].items() if k != "result"}
    other |= {"type": "hand.aborted", "reason": "operator", "missing": []}
    return Cheat("CHAIN", _raws([*events[: at + 2], other, *events[at + 2 :]]))


def forks_a_table_long_ago() -> Cheat:
    """Likewise, but with the first hand's end, which nobody has at hand any more."""
    events = events_of(honest())
    at = next(k for k in _of_hand(events, 1) if events[k]["type"] == "seeds.sealed")
    other = events[at] | {"at": events[-1]["at"]}
    return Cheat("CHAIN", _raws([*events[:-1], other, events[-1]]))


def breaks_the_chain() -> Cheat:
    events = events_of(honest())
    at = _of_hand(events, 3)[0]
    made = fitted([*events[:at], events[at] | {"at": events[at]["at"]}, *events[at + 1 :]])
    made[at]["prev"] = "cd" * 32
    return Cheat("CHAIN", _raws([*made[: at + 1], *fitted(made[at:])[1:]]))


def turns_back_the_clock() -> Cheat:
    events = events_of(honest())
    at = _of_hand(events, 2)[2]
    events[at]["at"] = events[0]["at"]
    return Cheat("CHAIN", _raws(fitted(events)))


def discloses_another_seed() -> Cheat:
    events = events_of(honest())
    at = next(k for k in _of_hand(events, 2) if events[k]["type"] == "hand.disclosed")
    events[at]["server_seed"] = "00" * 32
    return Cheat("HAND", _raws(fitted(events)))


def counts_wrong() -> Cheat:
    """At a table with a referee the result is another than the play."""
    events = events_of(honest(hands=2, referee=True, name="c7"))
    at = next(k for k in _of_hand(events, 1) if events[k]["type"] == "hand.closed")
    points = events[at]["result"]["score"]["points"]
    events[at]["result"]["score"]["points"] = [points[0] + 1, *points[1:]]
    return Cheat("HAND", _raws(fitted(events)))


def loses_its_secret() -> Cheat:
    """A hand ends as `lost`: the service's own fault, and nothing is ever disclosed."""
    table = LocalTable(Book(ORIGIN), "kozel", name="c3")
    table.deal()
    table.abort("lost")
    return Cheat("HAND", _raws(events_of(table)))


def never_ends_a_hand() -> Cheat:
    events = events_of(honest())
    at = _of_hand(events, 3)[-4]
    return Cheat("OVERDUE", _raws(events[:at]), False)


def logs_no_event() -> Cheat:
    events = _raws(events_of(honest()))
    return Cheat("ENTRY", [*events, b'{"no":"event"}'], False)


def goes_on_after_closing() -> Cheat:
    events = events_of(honest())
    more = events[-1] | {"seq": events[-1]["seq"] + 1, "prev": digest(events[-1])}
    return Cheat("ENTRY", _raws([*events, more]), False)


def deals_a_card_twice_and_hides_it() -> Cheat:
    """Policy `table`: the hand has ended, and its seed is not yet told."""
    events = events_of(honest(hands=1, disclosure="table"))
    _repeat_a_card(events, 1)
    return Cheat("CARD", _raws(fitted(events[:-2])))


def deals_a_card_twice_in_a_hand_under_way() -> Cheat:
    events = events_of(honest(hands=1))
    at = _repeat_a_card(events, 1)
    return Cheat("CARD", _raws(fitted(events[: at + 1])))


def deals_a_card_twice_and_opens_the_next_hand() -> Cheat:
    events = events_of(honest(hands=2))
    at = _repeat_a_card(events, 1)
    return Cheat("CARD", _raws(fitted([*events[: at + 1], *events[_of_hand(events, 2)[0] :]])))


def deals_a_card_twice_and_closes_the_table() -> Cheat:
    events = events_of(honest(hands=1))
    at = _repeat_a_card(events, 1)
    return Cheat("CARD", _raws(fitted([*events[: at + 1], events[-1]])))


def discloses_a_hand_within_the_next() -> Cheat:
    """Policy `table`: between hands it may be told at any time, and never within one."""
    events = events_of(honest(hands=2, disclosure="table"))
    told = events.pop(next(k for k in _of_hand(events, 1) if events[k]["type"] == "hand.disclosed"))
    at = _of_hand(events, 2)[1]
    moved = told | {"at": events[at]["at"]}
    return Cheat("NUMBER", _raws(fitted([*events[:at], moved, *events[at:]])))


def discloses_another_seed_within_the_next_hand() -> Cheat:
    """It is at the wrong place, and wrong."""
    events = [json.loads(raw) for raw in discloses_a_hand_within_the_next().entries]
    at = next(k for k, event in enumerate(events) if event["type"] == "hand.disclosed")
    events[at]["server_seed"] = "00" * 32
    return Cheat("HAND", _raws(fitted(events)))


def reissues_a_seat_of_the_operator() -> Cheat:
    events = events_of(honest(custody="operator"))
    at = _of_hand(events, 2)[0]
    names = ("at", "prev", "seq", "table", "v")
    given = {name: events[at][name] for name in names} | {"type": "seat.reissued", "seat": 1}
    return Cheat("HAND", _raws(fitted([*events[:at], given, *events[at:]])), False)


def begins_with_a_past() -> Cheat:
    """The first event names one before it; there is no hand that would tell."""
    event = events_of(honest(hands=0))[0]
    return Cheat("CHAIN", _raws([event | {"prev": "ab" * 32}]), False)


class _Heir(_Twin):
    """A table whose first server seed is the one that another has closed with, after one hand."""

    ahead = 1


def deals_from_a_seed_that_was_told() -> Cheat:
    first = honest(hands=1)
    second = _Heir(Book(ORIGIN), "kozel", name="c1")
    second.deal()
    second.close()
    second.close_table()
    return Cheat("REUSE", _raws(events_of(first) + events_of(second)), False)


def tells_a_seed_that_was_dealt_from() -> Cheat:
    """Likewise, the other way round."""
    cheat = deals_from_a_seed_that_was_told()
    mine = [raw for raw in cheat.entries if b"c1" in raw]
    return cheat._replace(entries=[*mine, *[raw for raw in cheat.entries if raw not in mine]])


def loses_a_tables_beginning() -> Cheat:
    events = events_of(honest())
    return Cheat("GAP", _raws(events[1:]), False)


CHEATS: dict[str, Callable[[], Cheat]] = {
    cheat.__name__: cheat
    for cheat in (
        drops_a_hand,
        drops_a_hand_openly,
        renumbers,
        names_another_hand,
        deals_a_card_twice,
        deals_two_cards_at_a_place,
        deals_another_card,
        changes_the_terms,
        breaks_its_announcement,
        breaks_its_first_announcement,
        withholds,
        withholds_until_closing,
        withholds_at_the_end,
        reuses_a_commitment,
        reuses_a_commitment_at_its_table,
        reuses_a_seal,
        reuses_a_seed,
        forks_a_table,
        forks_a_table_long_ago,
        breaks_the_chain,
        turns_back_the_clock,
        discloses_another_seed,
        counts_wrong,
        loses_its_secret,
        never_ends_a_hand,
        logs_no_event,
        goes_on_after_closing,
        deals_a_card_twice_and_hides_it,
        deals_a_card_twice_in_a_hand_under_way,
        deals_a_card_twice_and_opens_the_next_hand,
        deals_a_card_twice_and_closes_the_table,
        discloses_a_hand_within_the_next,
        discloses_another_seed_within_the_next_hand,
        reissues_a_seat_of_the_operator,
        begins_with_a_past,
        deals_from_a_seed_that_was_told,
        tells_a_seed_that_was_dealt_from,
        loses_a_tables_beginning,
    )
}


def log_with(entries: list[bytes], later: int = 0) -> Book:
    """A log with these entries among those of two honest tables.

    Args:
        entries: Of the table told otherwise.
        later: Milliseconds between them and the last table.
    """
    book = Book(ORIGIN)
    before = events_of(honest("azi", "d0", 2))
    mixed: Iterator[bytes] = iter(_raws(before))
    for raw in entries:
        book.append(raw)
        other = next(mixed, None)
        if other is not None:
            book.append(other)
    for raw in mixed:
        book.append(raw)
    last = Book(ORIGIN, book.now + 3_600_000 + later)
    table = LocalTable(last, "azi", name="d1", seats=3)
    table.deal()
    table.close()
    # Who gave all hands their full time again, after a stop, has ended them by now.
    last.now += 2 * 3_600_000
    table.close_table()
    for raw in last.entries:
        book.append(raw)
    return book


def cheated(name: str, folder: Path) -> Cheat:
    """Write a cheat's log as static files."""
    cheat = CHEATS[name]()
    write_book(log_with(cheat.entries, 2 * 86_400_000), folder)
    return cheat


def note_at(book: Book, size: int) -> str:
    """The checkpoint of a size, signed."""
    return book.checkpoint(size)


def two_histories(shared: int, first: int, second: int) -> tuple[Book, Book]:
    """Two logs under one key that have some entries in common, of these sizes."""
    entries = log_with(_raws(events_of(honest()))).entries
    while len(entries) < max(first, second):
        entries = [*entries, *[b"more %d" % k for k in range(300)]]
    one, other = Book(ORIGIN), Book(ORIGIN)
    for raw in entries[:first]:
        one.append(raw)
    for at, raw in enumerate(entries[:second]):
        other.append(raw if at < shared else b"other" + raw)
    return one, other
