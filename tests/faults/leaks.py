"""The leak oracle: every byte that left the service, and every secret that it may have held.

A `Needle` is a secret and from when on who may know it; a `Capture` is what somebody saw, when. The
knowledge is not the service's: it is computed from the public log, the rules of the games and the
test seed, after all hands have been disclosed.
"""

from __future__ import annotations

import base64
import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from fairdeal.cards import CARDS
from fairdeal.codecs import Place
from fairdeal.dealing import Dealing
from fairdeal.discards import discard_salt
from fairdeal.events import (
    CardsDiscarded,
    CardsDrawn,
    CardsGiven,
    CardsLooked,
    CardsShown,
    HandDealt,
    HandDisclosed,
    HandEvent,
    HandOpened,
    SeedsOpened,
    TableClosed,
    TableOpened,
    parse_event,
)
from fairdeal.hand import Hand
from fairdeal.hashing import digest
from fairdeal.seeds import SeatSeed

PUBLIC, OPERATOR = "public", "operator"
NEVER = math.inf
_KEY = 8  # bytes of each form by which it is looked for first
_RUN = 4  # cards in a row that make an order


class Capture(NamedTuple):
    """What somebody saw. Captures are numbered by the moment they were taken."""

    at: int
    caller: str
    table: str
    """Whose table it was about, so that seats of two tables are not taken for one; or empty."""
    name: str
    data: bytes


class Finding(NamedTuple):
    """A secret where it should not be."""

    secret: str
    form: str
    capture: Capture

    def __str__(self) -> str:
        return (
            f"{self.secret} as {self.form} in what {self.capture.caller} saw of "
            f"{self.capture.name} (moment {self.capture.at})"
        )


@dataclass
class Needle:
    """A secret; by caller, the moment from which on it is none."""

    name: str
    value: bytes
    known: dict[str, float] = field(default_factory=dict)
    table: str = ""
    text: bool = False
    """Searched as it is only."""

    def tell(self, caller: str, at: float) -> None:
        self.known[caller] = min(at, self.known.get(caller, NEVER))

    def may_be_in(self, capture: Capture) -> bool:
        if self.known.get(PUBLIC, NEVER) <= capture.at:
            return True
        # A seat of another table is nobody here; what has no table belongs to the caller alone.
        here = not self.table or not capture.table or self.table == capture.table
        return here and self.known.get(capture.caller, NEVER) <= capture.at


def forms(value: bytes) -> Iterator[tuple[str, bytes]]:
    """How 16 or 32 secret bytes may look."""
    yield "raw bytes", value
    yield "hex", value.hex().encode()
    yield "upper-case hex", value.hex().upper().encode()
    for offset in range(3):
        # What stands before or after shares a character with the value: that one is left out.
        text = base64.b64encode(bytes(offset) + value)
        start = (8 * offset + 5) // 6
        end = 8 * (offset + len(value)) // 6
        found = text[start:end]
        yield f"base64 shifted by {offset}", found
        safe = found.translate(bytes.maketrans(b"+/", b"-_"))
        if safe != found:
            yield f"base64url shifted by {offset}", safe
    numbers = [str(byte) for byte in value]
    yield "decimal list", ",".join(numbers).encode()
    yield "spaced decimal list", ", ".join(numbers).encode()
    yield "repr", repr(value)[2:-1].encode()
    yield "JSON string", json.dumps(value.decode("latin-1"))[1:-1].encode()
    yield "integer", str(int.from_bytes(value, "big")).encode()


def search(needles: list[Needle], captures: list[Capture]) -> list[Finding]:
    """Every needle in every form in every capture; what its caller may know is left out."""
    table: dict[bytes, list[tuple[Needle, str, bytes]]] = {}
    for needle in needles:
        for form, text in [("text", needle.value)] if needle.text else forms(needle.value):
            table.setdefault(text[:_KEY], []).append((needle, form, text))
    findings = []
    seen: dict[bytes, list[tuple[Needle, str]]] = {}
    for capture in captures:
        data = capture.data
        hits = seen.get(data)
        if hits is None:
            windows = {data[i : i + _KEY] for i in range(len(data) - _KEY + 1)}
            hits = [
                (needle, form)
                for key in windows & table.keys()
                for needle, form, text in table[key]
                if text in data
            ]
            seen[data] = hits
        for needle, form in hits:
            if not needle.may_be_in(capture):
                findings.append(Finding(needle.name, form, capture))
    return findings


# --- what there is to know ----------------------------------------------------------------------


@dataclass
class Story:
    """A table's hands as they were, and who could know what of them when."""

    table: str
    events: list[tuple[int, bytes]]
    """The moment each was first answered, and its bytes."""
    chains: dict[int, dict[int, tuple[SeatSeed, ...]]]
    """What the seats held: by hand and seat, x_0, x_1 .."""
    needles: list[Needle] = field(default_factory=list)
    cards: dict[tuple[int, str], Needle] = field(default_factory=dict)
    """By hand and card; a card of an earlier epoch that comes again keeps what was known of it."""
    places: dict[tuple[int, Place], Needle] = field(default_factory=dict)

    def __post_init__(self) -> None:
        parsed = [(at, parse_event(raw)) for at, raw in self.events]
        terms = parsed[0][1]
        assert isinstance(terms, TableOpened)
        self.terms = terms
        self._by_hand: dict[int, list[tuple[int, HandEvent]]] = {}
        for at, event in parsed:
            if isinstance(event, HandEvent):
                self._by_hand.setdefault(event.hand, []).append((at, event))
            elif isinstance(event, TableClosed):
                self._add("the unused server seed", event.unused_seed).tell(PUBLIC, at)
        for number, found in self._by_hand.items():
            self._tell_hand(number, found)

    def _add(self, name: str, value: bytes) -> Needle:
        needle = Needle(name, bytes(value), table=self.table)
        self.needles.append(needle)
        return needle

    def _who(self, seat: int) -> str:
        return OPERATOR if self.terms.custody == "operator" else f"seat {seat}"

    def _tell_hand(self, number: int, events: list[tuple[int, HandEvent]]) -> None:
        opened = events[0][1]
        assert isinstance(opened, HandOpened)
        hand = Hand.open(self.terms, digest(self.terms.raw), opened)
        for _, event in events[1:]:
            hand = hand.apply(event)
        told_at, disclosed = events[-1]
        assert isinstance(disclosed, HandDisclosed), "every hand is to be disclosed at the end"
        label = f"{self.terms.game} hand {number}: "
        secrets = [self._add(label + "the server seed", disclosed.server_seed)]
        self._tell_seeds(label, number, events)
        dealing = Dealing(hand, disclosed.server_seed, disclosed.discards).at(hand)
        for deck in dealing.decks:
            key = hand.key(deck.epoch, disclosed.server_seed)
            secrets.append(self._add(f"{label}deal key {deck.epoch}", key))
            for position, card in enumerate(deck.order):
                place = Place(deck.epoch, position)
                needle = self._add(f"{label}the salt of {tuple(place)}", deck.salt(position))
                self.places[number, place] = needle
                self.cards.setdefault((number, card), Needle(f"{label}{card}", b""))
                secrets.append(needle)
            for start in range(len(deck.order) - _RUN + 1):
                run = deck.order[start : start + _RUN]
                for comma in ('","', '", "', ",", " ", "', '"):
                    name = f"{label}the order from {start}"
                    needle = Needle(name, comma.join(run).encode(), table=self.table, text=True)
                    self.needles.append(needle)
                    secrets.append(needle)
        if dealing.decks:
            self._tell_cards(dealing, number, events)
            secrets += self._discard_salts(label, hand, dealing, events)
        for needle in [*secrets, *(n for (h, _), n in self.cards.items() if h == number)]:
            needle.tell(PUBLIC, told_at)

    def _tell_seeds(self, label: str, number: int, events: list[tuple[int, HandEvent]]) -> None:
        opened = {
            (event.epoch, seat): at
            for at, event in events
            if isinstance(event, SeedsOpened)
            for seat in event.seeds
        }
        for seat, chain in self.chains[number].items():
            for epoch, seed in enumerate(chain):
                needle = self._add(f"{label}x_{epoch} of seat {seat}", seed)
                needle.tell(PUBLIC, opened.get((epoch, seat), NEVER))

    def _tell(self, dealing: Dealing, number: int, place: Place, who: str, at: int) -> None:
        self.places[number, place].tell(who, at)
        self.cards[number, dealing.card(place)].tell(who, at)

    def _tell_cards(
        self, dealing: Dealing, number: int, events: list[tuple[int, HandEvent]]
    ) -> None:
        """Who is told which card when: by the rules, from the public events."""
        blind = bool(self.terms.ruleset.get("blind"))
        waiting: dict[int, list[Place]] = {}
        for at, event in events:
            shown: list[Place] = []
            if isinstance(event, HandDealt):
                for seat, positions in event.positions.items():
                    waiting[seat] = [Place(0, position) for position in positions]
                    if not blind:
                        for place in waiting[seat]:
                            self._tell(dealing, number, place, self._who(seat), at)
                if event.indicator is not None:
                    self.cards[number, event.indicator].tell(PUBLIC, at)
                shown = [one.place for one in event.shown]
                for one in event.shown:  # AZI-4: an ace raises the six of its suit
                    six = "6" + one.card[-1]
                    if one.card.startswith("A") and (number, six) in self.cards:
                        self.cards[number, six].tell(PUBLIC, at)
            elif isinstance(event, CardsLooked):
                for place in waiting[event.seat]:
                    self._tell(dealing, number, place, self._who(event.seat), at)
            elif isinstance(event, CardsDrawn):
                for seat, place in event.draws:
                    self._tell(dealing, number, place, self._who(seat), at)
            elif isinstance(event, CardsShown):
                shown = [one.place for one in event.shown]
            elif isinstance(event, CardsGiven):
                shown = [one.place for one in event.given]
            for place in shown:
                self._tell(dealing, number, place, PUBLIC, at)

    def _discard_salts(
        self, label: str, hand: Hand, dealing: Dealing, events: list[tuple[int, HandEvent]]
    ) -> list[Needle]:
        """A seat is told the salt of its next discard, and of those that it has made."""
        key = hand.key(0, dealing.server_seed)
        found = []
        thrown = dict.fromkeys(range(self.terms.seats), 0)
        since: dict[tuple[int, int], int] = {}
        for at, event in events:
            if isinstance(event, HandDealt):
                since |= {(seat, 0): at for seat in thrown}
            elif isinstance(event, CardsDiscarded):
                for seat in event.discards:
                    thrown[seat] += 1
                    since[seat, thrown[seat]] = at
        for seat, count in thrown.items():
            for k in range(count + 2):
                value = discard_salt(key, seat, k)
                needle = self._add(f"{label}the salt of discard {k} of seat {seat}", value)
                needle.tell(self._who(seat), since.get((seat, k), NEVER))
                found.append(needle)
        return found


# --- cards in answers ---------------------------------------------------------------------------

_HAND_PATH = re.compile(r"/v1/tables/(tbl_[0-9a-z]{26})(?:/hands/(\d+))?")
_CARDS = frozenset(CARDS)


def read_cards(story: Story, capture: Capture) -> list[Finding]:
    """Cards, and cards at places, that an answer tells somebody who may not know them."""
    match = _HAND_PATH.search(capture.name)
    number = int(match[2]) if match and match[2] else 0
    body = capture.data.partition(b"\r\n\r\n")[2]
    try:
        value = json.loads(body)
    except ValueError:
        return []
    found: list[Finding] = []
    _walk(story, capture, value, number, found)
    return found


def _walk(story: Story, capture: Capture, value: Any, number: int, found: list[Finding]) -> None:
    if isinstance(value, dict):
        card, position = value.get("card"), value.get("position")
        if isinstance(card, str) and isinstance(position, int):
            needle = story.places.get((number, Place(value.get("epoch", 0), position)))
            if needle is None or not needle.may_be_in(capture):
                found.append(Finding(f"{card} at {position}", "an opening", capture))
        for member in value.values():
            _walk(story, capture, member, number, found)
    elif isinstance(value, list):
        for member in value:
            _walk(story, capture, member, number, found)
    elif isinstance(value, str) and value.startswith("{"):
        event = json.loads(value)
        _walk(story, capture, event, event.get("hand", 0), found)
    elif isinstance(value, str) and value in _CARDS:
        needle = story.cards.get((number, value))
        if needle is None or not needle.may_be_in(capture):
            found.append(Finding(f"{value} of hand {number}", "a card", capture))
