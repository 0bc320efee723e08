"""Files of refereed hands: played by bots, verified one by one and as matches, and changed.

A changed file is made to fit again as a cheating service could: numbers, chain, locks, proof. The
core's replay then says whether the hand that it tells can be played so, and the verifier has to say
the same.

Spec: PLAY-1..6, PLAY-9, VER-7.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from random import Random
from typing import Any

from fairdeal.codecs import Place
from fairdeal.dealing import Dealing
from fairdeal.discards import discard_lock
from fairdeal.encoding import encode, format_time, parse_time
from fairdeal.errors import FairdealError
from fairdeal.events import (
    CardsShown,
    HandClosed,
    HandDisclosed,
    HandOpened,
    StockReshuffled,
    Timeouts,
    parse_event,
)
from fairdeal.games.rules.base import Close
from fairdeal.hand import Phase
from fairdeal.table import Table
from fairdeal_verifier.match import verify_match
from fairdeal_verifier.verify import verify
from seeds.bots import Bot, greedy_bot, random_bot
from seeds.forge import _mend, _prove
from seeds.hands import new_table
from seeds.local import LocalTable
from tests.interop.play_pair import CALLS, SEATS, any_ruleset, changed_leaf

HANDS_A_TABLE = 5
CHANGES_A_HAND = 8
_NAMES = "0123456789abcdefghjkmnpqrstvwxyz"


def random_table(game: str, number: int, *, keyed: bool = True) -> tuple[LocalTable, Random]:
    """A table with a referee, the same for the same number, before its first hand."""
    chance = Random(f"{game} file {number}")
    seats = chance.choice(SEATS[game])
    signing = [seat for seat in range(seats) if keyed and chance.random() < 0.15]
    table = new_table(
        game,
        "".join(_NAMES[number >> shift & 31] for shift in (15, 10, 5, 0)),
        ruleset=any_ruleset(game, chance),
        seats=seats,
        keyed=signing,
        custody=chance.choice(("seats", "operator")),
        contribute=sorted(chance.sample(range(seats), chance.randint(1, seats))),
        timeouts=Timeouts(turn=chance.choice((5, 60))),
        referee=True,
    )
    return table, chance


def play_on(table: LocalTable, chance: Random, most: int | None = None) -> None:
    """Deals a hand and lets bots play it: to its end, or so many moves."""
    game = table.table.game
    trumps = chance.sample("CDHS", 2)
    if game.declares_trumps and not table.table.terms_event.ruleset["distinct_trumps"]:
        trumps[1] = chance.choice(trumps)
    table.deal(trumps=dict(enumerate(trumps)))
    # Two that do anything play a thousand moves of Svoi Kozyri.
    greed = 0.95 if game.name == "svoi" else 0.5
    bots: list[Bot] = [
        greedy_bot() if chance.random() < greed else random_bot(chance)
        for _ in range(table.hand.table.seats)
    ]
    moves = 0
    while table.table.open_hand is not None and moves != most:
        if table.hand.phase is Phase.REOPENING:
            table.open_seeds()
            continue
        referee = table.secrets.referee
        assert referee is not None
        seat = chance.choice(referee.turn)
        able = [one for one in range(table.hand.table.seats) if referee.choices(one)]
        if chance.random() < 0.2:
            seat = chance.choice(able)
        table.move(bots[seat](referee.play, seat))
        moves += 1


def verified_tables(game: str, start: int, end: int) -> tuple[int, list[str]]:
    """Plays tables of some hands each, a few of them stopped, and verifies them as matches.

    Returns:
        How many hands, and which tables or files were not found right.
    """
    count, wrong = 0, []
    for number in range(start, end):
        table, chance = random_table(game, number)
        files, verdicts = [], []
        for _ in range(HANDS_A_TABLE):
            stops = chance.random() < 0.12
            play_on(table, chance, chance.randint(0, 12) if stops else None)
            if table.table.open_hand is not None:
                able = table.secrets.referee is not None and table.secrets.referee.turn
                table.abort("turn_timeout" if able and chance.random() < 0.7 else "operator")
            files.append(table.transcript().encode())
            verdicts.append("VERIFIED (aborted" if table.hand.reason else "VERIFIED")
            result = table.hand.result
            if result is not None and result["winner"] is not None and chance.random() < 0.5:
                break
        report = verify_match(files, key=str(table.book.key.verifier))
        count += len(files)
        if (report.exit, report.check.status) != (0, "PASS"):
            wrong.append(f"{game} {number}: {report.verdict}, match {report.check}")
        for at, (one, verdict) in enumerate(zip(report.reports, verdicts, strict=True)):
            play = next(check for check in one.checks if check.id == "play")
            if not one.verdict.startswith(verdict) or play.status != "PASS":
                wrong.append(f"{game} {number} hand {at + 1}: {one.verdict} {play.note}")
    return count, wrong


# --- changed files --------------------------------------------------------------------------------


@dataclass
class Told:
    """A file as somebody changes it, and all that the service knows."""

    file: dict[str, Any]
    events: list[dict[str, Any]]
    table: LocalTable
    before: Table
    """The table as it was before the hand."""
    chance: Random

    @classmethod
    def of(cls, table: LocalTable, before: Table, chance: Random) -> Told:
        file = json.loads(table.transcript().encode())
        return cls(file, [json.loads(raw) for raw in file["events"]], table, before, chance)

    def moves(self, *kinds: str) -> list[dict[str, Any]]:
        """The events of the play (of these types, if some are given), the last one apart."""
        start = 1 + max(
            at for at, e in enumerate(self.events) if e["type"] in {"hand.dealt", "cards.given"}
        )
        found = self.events[start:-1]
        return [event for event in found if not kinds or event["type"] in kinds]

    def encode(self) -> bytes:
        file = json.loads(encode(self.file))
        file["events"] = _mend(self.file["events"], json.loads(encode(self.events)))
        _prove(file)
        return encode(file)

    def places(self, seat: int, before: dict[str, Any]) -> list[tuple[int, int]]:
        """All places that a seat had received when an event came."""
        dealt = next(event for event in self.events if event["type"] == "hand.dealt")
        found = [(0, position) for position in dealt["positions"][str(seat)]]
        for event in self.events[: self.events.index(before)]:
            if event["type"] == "cards.drawn":
                found += [(epoch, at) for one, epoch, at in event["draws"] if one == seat]
        return found

    def stop(self, more: int) -> None:
        """Ends the hand right after the first event that was changed, or a little later."""
        was = [json.loads(raw) for raw in self.file["events"]]
        at = next(at for at, one in enumerate(self.events) if one != was[at])
        last = self.events[-1]
        self.events = self.events[: at + 1 + more]
        end = {name: last[name] for name in ("hand", "prev", "table", "v")}
        end |= {"at": self.events[-1]["at"], "seq": -1, "type": "hand.aborted"}
        self.events.append(end | {"missing": [], "reason": "operator"})
        made = Counter(seat for event in self.events for seat in event.get("discards", {}))
        listed = self.file["disclosed"]["discards"]
        self.file["disclosed"]["discards"] = {
            seat: listed[seat][: made[seat]] for seat in listed if made[seat]
        }

    # Changes: each gives whether there was something to change.

    def amount(self) -> bool:
        calls = self.moves("play.called")
        numbered = [event for event in calls if event["amount"] is not None]
        if not calls or (not numbered and self.chance.random() < 0.5):
            return False
        event = self.chance.choice(numbered or calls)
        other = (event["amount"] or 0) + self.chance.choice((-2, -1, 1, 2, 5))
        event["amount"] = self.chance.choice((max(0, other), max(0, other), None))
        return True

    def call(self) -> bool:
        calls = self.moves("play.called")
        words = CALLS[self.table.table.game.name]
        if not calls or len(words) < 2:
            return False
        event = self.chance.choice(calls)
        event["call"] = self.chance.choice([word for word in words if word != event["call"]])
        if self.chance.random() < 0.7:
            event["amount"] = {"bet": 10, "raise": 20, "envido": 2}.get(event["call"])
        return True

    def seat(self) -> bool:
        events = self.moves("play.called", "cards.looked", "cards.shown")
        if not events:
            return False
        event, seats = self.chance.choice(events), self.table.hand.table.seats
        by = self.chance.randint(1, seats - 1)
        for entry in event.get("shown", [event]):
            entry["seat"] = (entry["seat"] + by) % seats
        return True

    def drop(self) -> bool:
        events = self.moves()
        if events:
            event = self.chance.choice(events)
            self.events.remove(event)
        return bool(events)

    def twice(self) -> bool:
        events = self.moves()
        if events:
            at = self.events.index(self.chance.choice(events))
            self.events.insert(at, json.loads(encode(self.events[at])) | {"seq": -1})
        return bool(events)

    def swap(self) -> bool:
        events = self.moves()
        if len(events) < 2:
            return False
        at = self.events.index(self.chance.choice(events[:-1]))
        one, other = self.events[at : at + 2]
        for name in ("at", "seq"):
            one[name], other[name] = other[name], one[name]
        self.events[at : at + 2] = [other, one]
        return True

    def card(self) -> bool:
        """Another card is shown: one that the seat has received, sooner or later."""
        events = self.moves("cards.shown")
        if not events:
            return False
        event = self.chance.choice(events)
        entry = self.chance.choice(event["shown"])
        place = Place(*self.chance.choice(self.places(entry["seat"], event)))
        salt = self.table.secrets.decks[place.epoch].salt(place.position)
        card = self.table.secrets.card(place)
        entry |= {"card": card, "salt": salt.hex(), **place._asdict()}
        return True

    def throw(self) -> bool:
        """Another card, or one more, is thrown; the lock is made again."""
        events = self.moves("cards.discarded")
        if not events:
            return False
        event = self.chance.choice(events)
        seat = self.chance.choice(sorted(event["discards"]))
        earlier = self.events[: self.events.index(event)]
        k = sum(seat in one.get("discards", {}) for one in earlier)
        listed = self.file["disclosed"]["discards"][seat]
        places = {tuple(place) for place in listed[k]}
        if len(places) > 1 and self.chance.random() < 0.3:
            places.remove(self.chance.choice(sorted(places)))
        else:
            if self.chance.random() < 0.7:
                places.remove(self.chance.choice(sorted(places)))
            places.add(self.chance.choice(self.places(int(seat), event)))
        listed[k] = [list(place) for place in sorted(places)]
        salt = self.table.secrets.discard_salt(int(seat), k)
        cards = tuple(Place(*place) for place in sorted(places))
        lock = discard_lock(self.table.hand.number, int(seat), k, salt, cards)
        event["discards"][seat] = {"count": len(cards), "lock": lock.hex()}
        return True

    def declared(self) -> bool:
        events = self.moves("play.declared")
        if events:
            event = self.chance.choice(events)
            event["seats"] = sorted(set(event["seats"]) ^ {self.chance.randrange(4)})
        return bool(events)

    def taker(self) -> bool:
        events = self.moves("cards.drawn")
        if events:
            draws = self.chance.choice(events)["draws"]
            seats = [draw[0] for draw in draws]
            for draw, seat in zip(draws, seats[1:] + seats[:1], strict=True):
                draw[0] = seat
        return bool(events)

    def join(self) -> bool:
        """Two discards become one event, which Kozel does not have."""
        events = self.moves()
        found = [
            (one, other)
            for one, other in pairwise(events)
            if one["type"] == other["type"] == "cards.discarded"
            and not one["discards"].keys() & other["discards"].keys()
        ]
        if not found:
            return False
        one, other = self.chance.choice(found)
        one["discards"] |= other["discards"]
        self.events.remove(other)
        return True

    def ending(self) -> bool:
        """Other seats were on turn, there was another reason, or it was too early."""
        last = self.events[-1]
        if last["type"] != "hand.aborted":
            return False
        change = self.chance.randrange(3)
        if change == 0:
            seat = self.chance.randrange(self.table.hand.table.seats)
            last["missing"] = sorted(set(last["missing"]) ^ {seat})
        elif change == 1:
            last["reason"] = self.chance.choice(("idle", "operator", "turn_timeout"))
            if self.chance.random() < 0.7:
                last["missing"] = []
        else:
            last["at"] = format_time(parse_time(last["at"]) - self.chance.choice((249, 250, 251)))
        return True

    def result(self) -> bool:
        last = self.events[-1]
        if last.get("result") is None:
            return False
        last["result"] = changed_leaf(last["result"], self.chance)
        return True


KINDS = ("amount", "call", "seat", "drop", "twice", "swap", "card", "throw", "join", "declared",
         "taker", "ending", "result")  # fmt: skip


def replay(data: bytes, before: Table) -> tuple[bool, Any]:
    """Replays a file with the core's state machines and its referee.

    Returns:
        Whether all of it is legal; and the result that the rules give, if the play came so far.
    """
    file, due = json.loads(data), None
    try:
        events = [parse_event(raw.encode()) for raw in file["events"]]
        codecs = HandDisclosed.CODECS
        told = {name: codecs[name].read(file["disclosed"][name]) for name in file["disclosed"]}
        table, dealing = before, None
        for event in events[1:]:
            table = table.apply(event)
            assert table.hand is not None
            if isinstance(event, HandOpened):
                dealing = Dealing(table.hand, told["server_seed"], told["discards"])
                continue
            assert dealing is not None
            if isinstance(event, HandClosed) and dealing.referee is not None:
                rules_due = dealing.referee.play.due
                due = rules_due.result if isinstance(rules_due, Close) else None
            dealing = dealing.after(table.hand, event)  # type: ignore[arg-type]
            if isinstance(event, CardsShown):
                for seen in event.shown:
                    salt = dealing.decks[seen.place.epoch].salt(seen.place.position)
                    if (dealing.card(seen.place), salt) != (seen.card, seen.salt):
                        return False, due
            if isinstance(event, StockReshuffled):
                deck = dealing.decks[event.epoch]
                if (deck.root, len(deck)) != (event.deck_root, event.count):
                    return False, due
        assert table.hand is not None
        table.apply(HandDisclosed(header=table.header(0), hand=table.hand.number, **told))
    except (FairdealError, LookupError):  # an event without its discard, a place without a card
        return False, due
    return True, due


def changes(game: str, number: int) -> Iterator[tuple[str, bool, bool, bytes]]:
    """One-change versions of a refereed hand.

    Yields:
        What was changed; whether the core allows the hand; whether the verifier does; the file.
    """
    table, chance = random_table(game, number, keyed=False)
    for _ in range(chance.randint(0, 2)):
        play_on(table, chance)
    before = table.table
    play_on(table, chance, chance.randint(1, 9) if chance.random() < 0.25 else None)
    if table.table.open_hand is not None:
        table.abort("turn_timeout" if table.secrets.referee.turn else "operator")
    key = str(table.book.key.verifier)
    made = 0
    while made < CHANGES_A_HAND:
        told = Told.of(table, before, chance)
        kind = chance.choice(KINDS)
        if not getattr(told, kind)():
            continue
        data = told.encode()
        if json.loads(data)["events"] == told.file["events"]:
            continue
        made += 1
        if kind not in {"result", "ending"} and chance.random() < 0.5:
            told.stop(chance.randint(0, 2))
            data = told.encode()
        legal, due = replay(data, before)
        if not legal and due is not None and kind != "result":
            # The service that lets another move pass also states what then follows from it.
            told.events[-1]["result"] = due
            data = told.encode()
            legal, _ = replay(data, before)
        yield kind, legal, verify(data, key=key).exit == 0, data


def change_counts(game: str, start: int, end: int) -> tuple[Counter[str], list[str]]:
    """Changes hands of tables.

    Returns:
        How many changes of each kind were legal and illegal, and of which of them core and
        verifier think differently.
    """
    counts: Counter[str] = Counter()
    wrong = []
    for number in range(start, end):
        for kind, ours, theirs, _ in changes(game, number):
            counts[f"{kind} {'legal' if ours else 'illegal'}"] += 1
            if ours != theirs:
                wrong.append(f"{game} {number} {kind}: core {ours}, verifier {theirs}")
    return counts, wrong


def changed_files(game: str, start: int, end: int) -> tuple[int, list[str]]:
    """The same, with the number of all files."""
    counts, wrong = change_counts(game, start, end)
    return counts.total(), wrong
