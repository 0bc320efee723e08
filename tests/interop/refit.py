"""Hands' files with one thing changed and all else made to fit again, secrets included.

`Refit` holds a hand as a service that cheats would: what follows from something else (a digest, a
seal, a signature, a card, a salt, a root, a lock) stands in the events as what it follows from, and
is worked out when the file is written. So a change of the terms changes T, every seal, the deck and
all cards, and the file still is as right as it can be: whether the hand is legal is then decided by
the one rule that the change touches, and by no hash.

Spec: hand.md, games.md, VER-2.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from random import Random
from typing import Any, Final, NamedTuple

from fairdeal.cards import in_canonical_order
from fairdeal.codecs import Place
from fairdeal.dealing import Dealing
from fairdeal.discards import discard_lock, discard_salt
from fairdeal.ed25519 import public_key, sign
from fairdeal.encoding import format_time, parse_time
from fairdeal.errors import FairdealError
from fairdeal.events import (
    CardsShown,
    HandAborted,
    HandDisclosed,
    HandOpened,
    TableOpened,
    Timeouts,
    parse_event,
)
from fairdeal.games import GAMES, game_named
from fairdeal.hashing import Digest, digest
from fairdeal.sealed_deck import Opening, SealedDeck
from fairdeal.seeds import (
    Commitment,
    Seal,
    SeatSeed,
    deal_key,
    declare_message,
    lock_message,
    open_message,
    seal,
    seal_message,
)
from fairdeal.shuffle import pick
from fairdeal.table import Table
from seeds.forge import _prove
from seeds.hands import mus_round, new_table, play_azi, play_kozel, play_mus
from seeds.local import TICK, LocalTable, named
from tests.interop.play_files import play_on, random_table

Json = Any
_NAMES: Final = "0123456789abcdefghjkmnpqrstvwxyz"


# --- what follows from something else -------------------------------------------------------------


class Ref(NamedTuple):
    """The digest of an event, by its name."""

    name: int


class SealOf(NamedTuple):
    """The seal of the seed that a seat opens."""

    seat: int


class SeedOf(NamedTuple):
    """A seat's seed of an epoch."""

    seat: int
    epoch: int


class CardAt(NamedTuple):
    """The card at a place."""

    epoch: int
    position: int


class SaltAt(NamedTuple):
    """The salt of a place."""

    epoch: int
    position: int


class Root(NamedTuple):
    """The root of an epoch's deck."""

    epoch: int


class Thrown(NamedTuple):
    """A discard: the cards thrown. The lock and the count follow, and what is disclosed."""

    places: tuple[tuple[int, int], ...]


_SIGNED: Final = {
    "trumps.declared": "trumps",
    "seeds.sealed": "seals",
    "seeds.opened": "seeds",
    "cards.discarded": "discards",
}


@dataclass
class Refit:
    """A hand as somebody changes it.

    Attributes:
        events: `table.opened` and the hand's; each has a `name`, by which others refer to it, and
            neither `seq` (but the first two) nor `prev`.
        pools: By epoch, the places that a reshuffle takes.
        thrown: The discards of the file written last, as they are disclosed.
        odd: What is done to the signatures of an event, by its name.
    """

    table: LocalTable
    before: Table | None
    """The table before this hand; None if this is its first event."""
    events: list[dict[str, Json]]
    pools: dict[int, list[tuple[int, int]]]
    chance: Random
    is_disclosed: bool = True
    odd: dict[int, str] = field(default_factory=dict)
    seat_keys: dict[int, bytes] = field(default_factory=dict)
    thrown: dict[str, list[list[list[int]]]] = field(default_factory=dict)

    @classmethod
    def of(cls, table: LocalTable, before: Table | None, chance: Random) -> Refit:
        """The newest hand of a table, which has ended."""
        hand, secrets = table.hand, table.secrets
        file = json.loads(table.transcript().encode())
        raws = [raw.encode() for raw in file["events"]]
        names = {digest(raw).hex(): at for at, raw in enumerate(raws)}
        events = []
        made: dict[int, int] = {}
        for at, raw in enumerate(raws):
            event = json.loads(raw) | {"name": at}
            for key in ("head", "terms"):
                if key in event:
                    event[key] = Ref(names[event[key]])
            if at > 1:
                del event["seq"]
            if at > 1 or event.get("seq") == 1:
                event.pop("prev", None)
            match event["type"]:
                case "seeds.sealed":
                    event["seals"] = {seat: SealOf(int(seat)) for seat in event["seals"]}
                case "seeds.opened":
                    epoch = event["epoch"]
                    event["seeds"] = {seat: SeedOf(int(seat), epoch) for seat in event["seeds"]}
                case "hand.dealt":
                    event["deck_root"] = Root(0)
                case "stock.reshuffled":
                    event["deck_root"] = Root(event["epoch"])
                case "cards.discarded":
                    for seat in sorted(event["discards"], key=int):
                        k = made[int(seat)] = made.get(int(seat), -1) + 1
                        places = secrets.thrown[int(seat)][k]
                        event["discards"][seat] = Thrown(tuple(map(tuple, places)))
            for one in (*event.get("shown", ()), *event.get("given", ())):
                place = one["epoch"], one["position"]
                one |= {"card": CardAt(*place), "salt": SaltAt(*place)}
            event.pop("sigs", None)
            events.append(event)
        pools = {
            epoch: [
                (place.epoch, place.position)
                for throw in taken
                for place in secrets.thrown[throw.seat][throw.k]
            ]
            for epoch, taken in enumerate(hand.pools, 1)
        }
        return cls(table, before, events, pools, chance, "disclosed" in file, {}, table.seat_keys)

    # Writing.

    def seeds(self) -> dict[int, dict[int, bytes]]:
        """By epoch and seat, the seeds that are opened."""
        found: dict[int, dict[int, bytes]] = {}
        for event in self.events:
            if event["type"] == "seeds.opened" and isinstance(event["seeds"], dict):
                for seat, value in event["seeds"].items():
                    found.setdefault(event["epoch"], {})[int(seat)] = self._seed(value)
        return found

    def _seed(self, value: Json) -> bytes:
        if isinstance(value, SeedOf):
            chain = self.table.chain(value.seat, self.table.hand.number)
            return bytes(chain[min(value.epoch, len(chain) - 1)])
        return bytes.fromhex(value)

    def write(self, *, grind: int = 400) -> bytes | None:
        """The file; None if the deck's draws cannot be made what the events say.

        A table's name is tried after the other until the picks are those that they were: else the
        change of one option would change who is first, and with it everything.
        """
        name = self.events[0]["table"]
        for attempt in range(grind):
            if attempt:
                text = "".join(_NAMES[attempt >> shift & 31] for shift in (10, 5, 0))
                for event in self.events:
                    event["table"] = name[:-3] + text if event["table"] == name else event["table"]
                name = name[:-3] + text
            written = self._written()
            if written is not None:
                return written
        return None

    def _written(self) -> bytes | None:
        first, opened = self.events[:2]
        terms = Digest(digest(_text(first).encode()))
        number, commitment = opened["hand"], Commitment(bytes.fromhex(opened["commitment"]))
        seeds = self.seeds()
        contribute = [seat for seat in first["contribute"] if isinstance(seat, int)]
        secret = self.table.server_seed(self.table.hand.number)
        decks: dict[int, SealedDeck] = {}
        try:
            cards = game_named(first["game"]).deck(first["ruleset"])
        except (FairdealError, LookupError, ValueError, KeyError):
            cards = self.table.table.game.deck(self.table.table.terms_event.ruleset)
        for epoch in sorted(seeds):
            ordered = [SeatSeed(seeds[epoch][seat]) for seat in contribute if seat in seeds[epoch]]
            if len(ordered) != len(contribute) or epoch != len(decks):
                break
            if epoch:
                if epoch not in self.pools:
                    break
                taken = [
                    decks[e].order[p]
                    for e, p in self.pools[epoch]
                    if e in decks and p < len(decks[e])
                ]
                if not taken:
                    break
                pool = in_canonical_order(frozenset(taken), cards)
            else:
                pool = cards
            key = deal_key(terms, number, epoch, ordered, secret)
            decks[epoch] = SealedDeck.from_key(key, epoch, pool)
        if 0 in decks and not self._same_picks(decks[0]):
            return None
        return self._assembled(terms, number, commitment, seeds, decks)

    def _same_picks(self, deck: SealedDeck) -> bool:
        """Whether the draws are those that the events were made by."""
        opened = self.events[1]
        was = self.table.hand
        if was.dealt is None:
            return True
        old = self.table.secrets.decks[0].key
        seats = self.table.hand.table.seats
        if opened["first"] is None and pick(deck.key, "first", seats) != pick(old, "first", seats):
            return False
        rule = was.game.indicator(was.table.ruleset)
        return not (rule and rule.drawn) or pick(deck.key, "indicator", rule.choices) == pick(
            old, "indicator", rule.choices
        )

    def _assembled(
        self,
        terms: Digest,
        number: int,
        commitment: Commitment,
        seeds: dict[int, dict[int, bytes]],
        decks: dict[int, SealedDeck],
    ) -> bytes:
        raws: list[str] = []
        digests: dict[int, str] = {}
        discards = self.thrown = {}

        def value_of(value: Json) -> Json:
            match value:
                case Ref(name):
                    return digests.get(name, "00" * 32)
                case SeedOf():
                    return self._seed(value).hex()
                case SealOf(seat):
                    seed = seeds.get(0, {}).get(seat) or self._seed(SeedOf(seat, 0))
                    return seal(terms, number, seat, commitment, SeatSeed(seed)).hex()
                case CardAt(epoch, position):
                    deck = decks.get(epoch)
                    known = deck is not None and position < len(deck)
                    return deck.order[position] if deck is not None and known else "6C"
                case SaltAt(epoch, position):
                    deck = decks.get(epoch)
                    known = deck is not None and position < len(deck)
                    return deck.salt(position).hex() if deck is not None and known else "00" * 16
                case Root(epoch):
                    return decks[epoch].root.hex() if epoch in decks else "00" * 32
                case dict():
                    return {key: value_of(one) for key, one in value.items()}
                case list():
                    return [value_of(one) for one in value]
            return value

        for at, event in enumerate(self.events):
            body = {key: one for key, one in event.items() if key != "name"}
            if at > 1:
                body["seq"] = json.loads(raws[-1])["seq"] + 1
            if "prev" not in body:
                body["prev"] = digest(raws[-1].encode()).hex()
            ks: dict[str, int] = {}
            if body["type"] == "cards.discarded":
                locks = {}
                for seat, thrown in body["discards"].items():
                    k = ks[seat] = len(discards.setdefault(seat, []))
                    if not isinstance(thrown, Thrown):
                        locks[seat] = thrown
                        discards[seat].append([])
                        continue
                    places = tuple(sorted(Place(*place) for place in thrown.places))
                    discards[seat].append([list(place) for place in places])
                    lock = "00" * 32
                    if 0 in decks:
                        salt = discard_salt(decks[0].key, int(seat), k)
                        lock = discard_lock(number, int(seat), k, salt, places).hex()
                    locks[seat] = {"count": len(places), "lock": lock}
                body["discards"] = locks
            if body["type"] == "hand.dealt" and body["indicator"] is not None:
                body["indicator"] = self._indicator(body["indicator"], decks.get(0))
            body = value_of(body)
            if body["type"] in _SIGNED:
                body["sigs"] = self._sigs(body, event, terms, number, commitment, ks)
            text = _text(body)
            raws.append(text)
            digests[event["name"]] = digest(text.encode()).hex()
        file: dict[str, Json] = {"format": "fairdeal-hand/1", "events": raws, "openings": []}
        if self.is_disclosed:
            secret = bytes(self.table.server_seed(self.table.hand.number)).hex()
            file["disclosed"] = {"server_seed": secret, "discards": discards}
        elif json.loads(raws[-1]).get("reason") != "lost":
            file["openings"] = [
                decks[place[0]].opening(place[1]).to_dict() | {"card": card, "salt": salt}
                for raw in raws
                for place, card, salt in _stated(json.loads(raw))
                if place[0] in decks and place[1] < len(decks[place[0]])
            ]
        _prove(file)
        return _text(file).encode()

    def _indicator(self, stated: Json, deck: SealedDeck | None) -> Json:
        """The indicator of this deck, if the one stated was that of the old one."""
        was = self.table.hand
        rule = was.game.indicator(was.table.ruleset)
        if deck is None or rule is None or was.dealt is None or stated != was.dealt.indicator:
            return stated
        drawn = pick(deck.key, "indicator", rule.choices) if rule.drawn else 0
        return deck.order[(rule.start + drawn) % len(deck)]  # of another game, there may be fewer

    def _sigs(
        self,
        body: dict[str, Json],
        event: dict[str, Json],
        terms: Digest,
        number: int,
        commitment: Commitment,
        ks: dict[str, int],
    ) -> dict[str, str]:
        said = body[_SIGNED[body["type"]]]
        found: dict[str, str] = {}
        odd = self.odd.get(event["name"], "")
        for text, value in said.items():
            seat = int(text)
            if seat not in self.seat_keys or (
                text not in self.events[0]["keys"] and odd != "extra"
            ):
                continue
            match body["type"]:
                case "trumps.declared":
                    message = declare_message(terms, number, seat, commitment, value)
                case "seeds.sealed":
                    message = seal_message(
                        terms, number, seat, commitment, Seal(bytes.fromhex(value))
                    )
                case "seeds.opened":
                    head = Digest(bytes.fromhex(body["head"]))
                    message = open_message(
                        head, body["epoch"], seat, SeatSeed(bytes.fromhex(value))
                    )
                case _:
                    message = lock_message(
                        terms, number, seat, ks[text], value["count"], bytes.fromhex(value["lock"])
                    )
            found[text] = sign(self.seat_keys[seat], message).hex()
        if odd == "drop" and found:
            del found[self.chance.choice(sorted(found))]
        if odd == "flip" and found:
            seat_ = self.chance.choice(sorted(found))
            found[seat_] = found[seat_][:-4] + ("0000" if found[seat_][-4:] != "0000" else "1111")
        if odd == "other":
            other = str(self.chance.randrange(self.events[0]["seats"]))
            found.setdefault(other, "11" * 64)
        return found

    # What the changes below look for.

    def all(self, *kinds: str) -> list[dict[str, Json]]:
        """The events of these types."""
        return [event for event in self.events if event["type"] in kinds]

    def one(self, *kinds: str) -> dict[str, Json] | None:
        """One of them."""
        found = self.all(*kinds)
        return self.chance.choice(found) if found else None

    def places(self) -> list[tuple[int, int]]:
        """Every place that the hand names, and one of each deck that it does not."""
        decks = self.table.secrets.decks
        return [
            (epoch, position) for epoch, deck in enumerate(decks) for position in range(len(deck))
        ]

    def like(self, event: dict[str, Json], **fields: Json) -> dict[str, Json]:
        """An event of the hand beside another one."""
        common = {key: event[key] for key in ("at", "hand", "table", "v")}
        return common | {"name": self._new()} | fields

    def _new(self) -> int:
        return 1 + max(event["name"] for event in self.events)


def _text(value: Json) -> str:
    """As ENC-1 has it, whatever the value is."""
    body = {key: one for key, one in value.items() if key != "name"}
    return json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def _stated(event: dict[str, Json]) -> Iterator[tuple[tuple[int, int], str, str]]:
    for one in (*event.get("shown", ()), *event.get("given", ())):
        yield (one["epoch"], one["position"]), one["card"], one["salt"]


# --- hands to change ------------------------------------------------------------------------------


def any_hand(number: int) -> tuple[LocalTable, Table | None, Random]:
    """A hand of a random game, ruleset and course, and the table before it.

    Returns:
        The table after the hand; the table before it (None: it is the first event after the terms);
        the chances of this number.
    """
    chance = Random(f"refit {number}")
    game = chance.choice(sorted(GAMES))
    if chance.random() < 0.25:
        table, chance = random_table(game, number)
        before = _some_before(table, chance, lambda: play_on(table, chance))
        stops = chance.random() < 0.5
        if chance.random() < 0.3:
            _stopped(table, chance)
            return table, before, chance
        play_on(table, chance, chance.randint(0, 9) if stops else None)
        if table.table.open_hand is not None:
            referee = table.secrets.referee
            able = referee is not None and referee.turn
            table.abort("turn_timeout" if able and chance.random() < 0.7 else "operator")
        return table, before, chance
    rules = {name: chance.choice(values) for name, values in GAMES[game].options.items()}
    seats = chance.choice(GAMES[game].seats)
    table = new_table(
        game,
        "".join(_NAMES[number >> shift & 31] for shift in (15, 10, 5, 0)) + "000",
        ruleset=rules,
        seats=seats,
        keyed=[seat for seat in range(seats) if chance.random() < 0.25],
        custody=chance.choice(("seats", "operator")),
        contribute=sorted(chance.sample(range(seats), chance.randint(1, seats))),
        disclosure=chance.choice(("hand", "hand", "table")),
        timeouts=Timeouts(seal=3, open=2, hand=5, table=9, turn=2),
    )
    before = _some_before(table, chance, lambda: _play_any(table, chance))
    _play_any(table, chance)
    if table.table.terms_event.disclosure == "table" and chance.random() < 0.5:
        table.disclose()
    return table, before, chance


def _some_before(table: LocalTable, chance: Random, play: Callable[[], None]) -> Table | None:
    if chance.random() < 0.5:
        if chance.random() < 0.2 and table.table.terms_event.custody == "seats":
            table.reissue(0)
            return table.table
        return None
    play()
    if table.table.open_hand is not None:
        table.abort("operator")
    return table.table


def _stopped(table: LocalTable, chance: Random) -> None:
    """A hand that ends before anybody was dealt a card."""
    table.open_hand()
    if chance.random() < 0.5:
        if table.table.game.declares_trumps:
            table.declare({0: "H", 1: "S"})
        table.seal()
    table.abort(chance.choice(("operator", f"{'open' if table.hand.seals else 'seal'}_timeout")))


def _portions(chance: Random, seats: tuple[int, ...]) -> list[tuple[int, ...]]:
    order = chance.sample(seats, len(seats))
    cut = chance.randint(0, len(order))
    return [part for part in (tuple(sorted(order[:cut])), tuple(sorted(order[cut:]))) if part]


def _play_any(table: LocalTable, chance: Random) -> None:
    """One hand, to its end or cut short at any stage."""
    game, stop = table.table.game, chance.choice((0, 1, 2, 3, 9, 9, 9, 9, 9, 9, 9, 9))
    table.open_hand(chance.randrange(table.table.terms_event.seats))
    if stop == 0:
        table.abort(chance.choice(("seal_timeout", "operator")))
        return
    if game.declares_trumps:
        rules = table.table.terms_event.ruleset
        suits = chance.sample("CDHS", 2)
        if not rules["distinct_trumps"]:
            suits[1] = chance.choice(suits)
        if chance.random() < 0.5:
            table.declare(dict(enumerate(suits)))
        else:
            for seat in table.hand.declarations_due:
                table.declare({seat: suits[seat]})
    for at, part in enumerate(_portions(chance, table.hand.missing_seals)):
        if at and stop == 1:
            table.abort(chance.choice(("seal_timeout", "operator")))
            return
        table.seal(part)
    parts = _portions(chance, table.hand.missing_seeds)
    for at, part in enumerate(parts):
        if stop == 2 and at == len(parts) - 1:
            table.abort(chance.choice(("open_timeout", "operator")))
            return
        table.open_seeds(part)
    if stop != 3:
        _moves(table, chance)
    if table.table.open_hand is None:
        return
    if chance.random() < 0.75:
        table.close()
    else:
        table.abort(chance.choice(("idle", "operator")))


def _moves(table: LocalTable, chance: Random) -> None:
    rules = table.hand.table.ruleset
    match table.table.game.name:
        case "kozel":
            play_kozel(table, chance.choice((1, 2, 5, 9)), pull=chance.random() < 0.4)
        case "mus":
            for _ in range(chance.randint(0, 3)):
                mus_round(table, tuple(chance.choice((2, 3, 4, 4)) for _ in range(4)))  # type: ignore[arg-type]
            play_mus(table, ())
        case "azi":
            play_azi(table, chance.randint(0, 2) if not rules["blind"] else 0)
        case _:
            for seat in (0, 1):
                fresh = [
                    p for p in table.secrets.holding(seat) if p not in table.hand.playing.shown
                ]
                table.show(seat, chance.sample(fresh, 2))


# --- changes --------------------------------------------------------------------------------------

Change = Callable[[Refit, Random], bool]
"""Changes something; says whether there was something to change."""
CHANGES: Final[dict[str, Change]] = {}


def _change(function: Change) -> Change:
    CHANGES[function.__name__.strip("_")] = function
    return function


@_change
def option(told: Refit, chance: Random) -> bool:
    """An option of the ruleset: another value, mostly one that it has."""
    terms = told.events[0]
    rules = terms["ruleset"]
    name = chance.choice(sorted(rules))
    values = game_named(told.table.table.game.name).options.get(name, (0, 1, 2, 30))
    others = [value for value in values if value is not rules[name]]
    kind = chance.randrange(8)
    if kind == 0:
        rules[name] = chance.choice((0, 1, True, False, "x", None, 3, 4, -1))
    elif kind == 1:
        del rules[name]
    elif kind == 2:
        rules["extra"] = True
    elif not others:
        return False
    else:
        rules[name] = chance.choice(others)
    return True


@_change
def terms_field(told: Refit, chance: Random) -> bool:
    terms = told.events[0]
    seats = terms["seats"]
    kind = chance.randrange(11)
    if kind == 0:
        terms["seats"] = chance.choice((seats - 1, seats + 1, 2, 4, 10)) or 1
    elif kind == 1:
        terms["contribute"] = sorted(chance.sample(range(seats), chance.randint(0, seats)))
    elif kind == 2:
        terms["contribute"] = chance.choice(([seats], [0, 0], [1, 0], [-1], [0, seats]))
    elif kind == 3:
        seat = chance.randrange(seats + 1)
        secret = named(f"refit key {seat}")
        told.seat_keys = {**told.seat_keys, seat: secret}
        terms["keys"][str(seat)] = public_key(secret).hex()
    elif kind == 4:
        # No point, of small order, not canonical.
        seat = chance.randrange(seats)
        bad = ("02" + "00" * 31, "01" + "00" * 31, "ff" * 32, "ee" + "ff" * 30 + "7f")
        terms["keys"][str(seat)] = chance.choice(bad)
        told.seat_keys = {s: key for s, key in told.seat_keys.items() if s != seat}
    elif kind == 5:
        if not terms["keys"]:
            return False
        del terms["keys"][chance.choice(sorted(terms["keys"]))]
    elif kind == 6:
        name = chance.choice(("seal", "open", "hand", "table", "turn"))
        terms["timeouts"][name] = chance.choice((0, 1, 2, 31_536_000, 31_536_001))
    elif kind == 7:
        name, values = chance.choice(
            (("custody", ("seats", "operator", "me")), ("disclosure", ("hand", "table", "never")))
        )
        terms[name] = chance.choice([value for value in values if value != terms[name]])
    elif kind == 8:
        terms["referee"] = not terms["referee"]
    elif kind == 9:
        terms["origin"] = chance.choice(("other.example/log", "", "vectors.example/log "))
    else:
        terms["next_commitment"] = chance.choice(("00" * 32, told.events[1]["next_commitment"]))
    return True


@_change
def another_game(told: Refit, chance: Random) -> bool:
    """A game of as many seats, with a ruleset of its own."""
    terms = told.events[0]
    seats = terms["seats"]
    games = [name for name in sorted(GAMES) if seats in GAMES[name].seats and name != terms["game"]]
    if not games:
        return False
    terms["game"] = chance.choice(games)
    if chance.random() < 0.8:
        terms["ruleset"] = dict(game_named(terms["game"]).ruleset({}))
    return True


@_change
def beginning(told: Refit, chance: Random) -> bool:
    first, opened = told.events[:2]
    kind = chance.randrange(9)
    if kind == 0:
        number = opened["hand"] + chance.choice((1, -1, 2**31))
        for event in told.events[1:]:
            event["hand"] = number
    elif kind == 1:
        opened["first"] = chance.choice((None, *range(first["seats"]), first["seats"]))
    elif kind == 2:
        opened["match"] = chance.choice((None, {}, {"bank": 0}, {"score": [0, 0]}))
    elif kind == 3:
        opened["next_commitment"] = chance.choice((opened["commitment"], "00" * 32))
    elif kind == 4:
        opened["commitment"] = chance.choice(("11" * 32, opened["next_commitment"]))
    elif kind == 5:
        opened["terms"] = chance.choice(("22" * 32, opened["commitment"]))
    elif kind == 6:
        opened["seq"] += chance.choice((1, -1, 5))
    elif kind == 7:
        opened["prev"] = chance.choice(("33" * 32, "", opened["commitment"]))
    else:
        first["seq"], first["prev"] = chance.choice(((1, ""), (0, "44" * 32)))
    return True


@_change
def other_first(told: Refit, chance: Random) -> bool:
    """The given first seat is another one, and all are dealt to from there."""
    dealt = told.one("hand.dealt")
    if dealt is None:
        return False
    seats = told.events[0]["seats"]
    by = chance.randrange(1, seats) if seats > 1 else 0
    dealt["first"] = (dealt["first"] + by) % seats
    dealt["positions"] = {
        str((int(seat) + by) % seats): places for seat, places in dealt["positions"].items()
    }
    if chance.random() < 0.5 and told.events[1]["first"] is not None:
        told.events[1]["first"] = dealt["first"]
    return True


@_change
def declared(told: Refit, chance: Random) -> bool:
    event = told.one("trumps.declared")
    if event is None:
        return False
    seat = chance.choice(sorted(event["trumps"]))
    kind = chance.randrange(4)
    if kind == 0:
        event["trumps"][seat] = chance.choice("CDHSXo")
    elif kind == 1:
        event["trumps"] = {str(1 - int(one)): suit for one, suit in event["trumps"].items()}
    elif kind == 2:
        event["trumps"]["0"] = event["trumps"].get("1", "C")
    else:
        at = told.events.index(event)
        told.events.insert(at + 1, told.like(event, type=event["type"], trumps=event["trumps"]))
    return True


@_change
def sealed(told: Refit, chance: Random) -> bool:
    event = told.one("seeds.sealed", "seeds.opened")
    if event is None:
        return False
    member = _SIGNED[event["type"]]
    values = event[member]
    seat, seats = chance.choice(sorted(values)), told.events[0]["seats"]
    other = str(chance.randrange(seats))
    opened = told.events[1]
    kind = chance.randrange(8)
    if kind == 0:
        del values[seat]
        return bool(values)
    if kind == 1:
        if other in values:
            return False
        values[other] = values[seat]
    elif kind == 2:
        values[seat] = chance.choice(("55" * 32, opened["commitment"], opened["next_commitment"]))
    elif kind == 3:
        # Two seats have one seed; each seals it.
        for one in told.all("seeds.opened"):
            if one["epoch"] == 0:
                for at in one["seeds"]:
                    one["seeds"][at] = SeedOf(min(told.events[0]["contribute"]), 0)
    elif kind == 4:
        # A seed that is public: sealed and opened rightly.
        value = chance.choice(
            (opened["commitment"], opened["next_commitment"], told.events[0]["next_commitment"])
        )
        for one in told.all("seeds.opened"):
            if one["epoch"] == 0 and seat in one["seeds"]:
                one["seeds"][seat] = value
                return not told.all("stock.reshuffled")
        return False
    elif kind == 5:
        for one in told.all("seeds.opened"):
            if one["epoch"] == 1 and seat in one["seeds"]:
                one["seeds"][seat] = chance.choice((SeedOf(int(seat), 0), SeedOf(int(seat), 2)))
                return True
        return False
    elif kind == 6:
        values[str(seats - 1)] = SeedOf(seats - 1, 0) if member == "seeds" else SealOf(seats - 1)
    elif "epoch" in event:
        event["epoch"] += chance.choice((1, -1)) if event["epoch"] else 1
    return True


@_change
def head(told: Refit, chance: Random) -> bool:
    event = told.one("seeds.opened")
    if event is None:
        return False
    at = told.events.index(event)
    event["head"] = chance.choice((Ref(told.events[at - 1]["name"]), Ref(1), Ref(0), "66" * 32))
    return True


@_change
def signature(told: Refit, chance: Random) -> bool:
    event = told.one(*_SIGNED)
    if event is None:
        return False
    told.odd[event["name"]] = chance.choice(("drop", "flip", "other", "extra"))
    return True


@_change
def split(told: Refit, chance: Random) -> bool:
    """An event of several seats or cards becomes two."""
    names = {**_SIGNED, "cards.drawn": "draws", "cards.shown": "shown", "cards.given": "given"}
    found = [event for event in told.all(*names) if len(event[names[event["type"]]]) > 1]
    if not found:
        return False
    event = chance.choice(found)
    member = names[event["type"]]
    all_ = event[member]
    keys = list(all_ if isinstance(all_, list) else sorted(all_))
    cut = chance.randrange(1, len(keys))
    if isinstance(all_, list):
        one, other = all_[:cut], all_[cut:]
    else:
        chance.shuffle(keys)
        one, other = ({key: all_[key] for key in part} for part in (keys[:cut], keys[cut:]))
    event[member] = other
    earlier = copy.deepcopy(event) | {member: one, "name": told._new()}
    told.events.insert(told.events.index(event), earlier)
    return True


@_change
def joined(told: Refit, chance: Random) -> bool:
    """Two events of one kind that follow each other become one."""
    names = {**_SIGNED, "cards.drawn": "draws", "cards.shown": "shown", "cards.given": "given"}
    pairs = [
        (one, other)
        for one, other in zip(told.events, told.events[1:], strict=False)
        if one["type"] == other["type"] and one["type"] in names
    ]
    if not pairs:
        return False
    one, other = chance.choice(pairs)
    member = names[one["type"]]
    if isinstance(one[member], list):
        other[member] = one[member] + other[member]
    else:
        other[member] = one[member] | other[member]
    told.events.remove(one)
    return True


@_change
def dealt(told: Refit, chance: Random) -> bool:
    event = told.one("hand.dealt")
    if event is None:
        return False
    positions, seats = event["positions"], told.events[0]["seats"]
    seat = chance.choice(sorted(positions))
    place = chance.choice(told.places())
    entry = {"card": CardAt(*place), "salt": SaltAt(*place), "epoch": place[0],
             "position": place[1], "seat": chance.choice((None, *range(seats)))}  # fmt: skip
    kind = chance.randrange(9)
    if kind == 0:
        chance.shuffle(positions[seat])
    elif kind == 1:
        other = chance.choice(sorted(positions))
        positions[seat], positions[other] = positions[other], positions[seat]
    elif kind == 2:
        positions[seat].pop()
    elif kind == 3:
        del positions[seat]
    elif kind == 4:
        event["indicator"] = chance.choice((None, "7H", "AS", CardAt(*place)))
        if isinstance(event["indicator"], CardAt):
            event["indicator"] = told.table.secrets.card(Place(*place))
    elif kind == 5:
        event["shown"] = (
            [] if event["shown"] and chance.random() < 0.5 else [*event["shown"], entry]
        )
    elif kind == 6:
        event["shown"] = [entry]
        if event["indicator"] is not None and chance.random() < 0.7:
            event["indicator"] = told.table.secrets.card(Place(*place))
    elif kind == 7:
        if not event["shown"]:
            return False
        event["shown"][0][chance.choice(("salt", "card"))] = chance.choice(("77" * 16, "7H", "AS"))
    else:
        event["deck_root"] = chance.choice(("88" * 32, Root(1)))
    return True


@_change
def drawn(told: Refit, chance: Random) -> bool:
    event = told.one("cards.drawn")
    if event is None:
        return False
    draws, seats = event["draws"], told.events[0]["seats"]
    at = chance.randrange(len(draws))
    kind = chance.randrange(6)
    if kind == 0:
        other = chance.randrange(len(draws))
        draws[at][0], draws[other][0] = draws[other][0], draws[at][0]
    elif kind == 1:
        draws[at][0] = chance.randrange(seats)
    elif kind == 2:
        draws[at][1:] = chance.choice(told.places())
    elif kind == 3:
        del draws[at]
        return bool(draws)
    elif kind == 4:
        seats_ = [one[0] for one in draws]
        for one, seat in zip(draws, seats_[1:] + seats_[:1], strict=True):
            one[0] = seat
    else:
        draws.append([chance.randrange(seats), draws[-1][1], draws[-1][2] + 1])
    return True


@_change
def thrown(told: Refit, chance: Random) -> bool:
    event = told.one("cards.discarded")
    if event is None:
        return False
    discards, seats = event["discards"], told.events[0]["seats"]
    seat = chance.choice(sorted(discards))
    places = list(discards[seat].places)
    kind = chance.randrange(6)
    if kind == 0:
        places[chance.randrange(len(places))] = chance.choice(told.places())
    elif kind == 1:
        places.append(chance.choice((*told.places(), places[0])))
    elif kind == 2:
        places.pop()
    elif kind == 3:
        other = str(chance.randrange(seats))
        discards[other] = discards.pop(seat)
        return True
    elif kind == 4:
        # Another card that the seat was dealt.
        positions = told.all("hand.dealt")[0]["positions"][seat]
        places[chance.randrange(len(places))] = (0, chance.choice(positions))
    else:
        discards[str(chance.randrange(seats))] = Thrown((chance.choice(told.places()),))
        return True
    discards[seat] = Thrown(tuple(places))
    return bool(places)


@_change
def shown(told: Refit, chance: Random) -> bool:
    event = told.one("cards.shown", "cards.given")
    if event is None:
        return False
    member = "shown" if event["type"] == "cards.shown" else "given"
    entries, seats = event[member], told.events[0]["seats"]
    one = chance.choice(entries)
    kind = chance.randrange(6)
    if kind == 0:
        place = chance.choice(told.places())
        one |= {"card": CardAt(*place), "salt": SaltAt(*place)}
        one |= {"epoch": place[0], "position": place[1]}
    elif kind == 1:
        name = chance.choice([name for name in ("seat", "from", "to") if name in one])
        one[name] = chance.choice((None, *range(seats))) if name == "seat" else 1 - one[name]
    elif kind == 2:
        one[chance.choice(("salt", "card"))] = chance.choice(("99" * 16, "7H", "AS"))
    elif kind == 3:
        entries.append(dict(chance.choice(entries)))
    elif kind == 4:
        entries.remove(one)
        return bool(entries)
    else:
        entries.reverse()
        return len(entries) > 1
    return True


@_change
def new_stock(told: Refit, chance: Random) -> bool:
    event = told.one("stock.reshuffled")
    if event is None:
        return False
    pool = told.pools[event["epoch"]]
    kind = chance.randrange(5)
    if kind == 0:
        pool.remove(chance.choice(pool))
        event["count"] -= 1
    elif kind == 1:
        extra = [place for place in told.places() if place not in pool]
        pool.append(chance.choice(extra))
        event["count"] += 1
    elif kind == 2:
        event["count"] += chance.choice((-1, 1))
    elif kind == 3:
        event["epoch"] += 1
    else:
        event["deck_root"] = chance.choice(("aa" * 32, Root(0)))
    return event["count"] > 0


@_change
def inserted(told: Refit, chance: Random) -> bool:
    """An event that nobody has made."""
    at = chance.randrange(2, len(told.events))
    seats = told.events[0]["seats"]
    place = chance.choice(told.places() or [(0, 0)])
    entry = {
        "card": CardAt(*place),
        "salt": SaltAt(*place),
        "epoch": place[0],
        "position": place[1],
    }
    seat = chance.randrange(seats)
    fields = chance.choice(
        (
            {"type": "cards.returned"},
            {"type": "cards.looked", "seat": seat},
            {"type": "cards.shown", "shown": [{**entry, "seat": seat}]},
            {"type": "cards.shown", "shown": [{**entry, "seat": seat}]},
            {"type": "cards.given", "given": [{**entry, "from": seat, "to": (seat + 1) % seats}]},
            {"type": "cards.discarded", "discards": {str(seat): Thrown((place,))}},
            {"type": "cards.drawn", "draws": [[seat, *place]]},
            {"type": "play.called", "seat": seat, "call": "take", "amount": 1},
            {"type": "play.called", "seat": seat, "call": "fold", "amount": None},
            {"type": "play.declared", "what": "pairs", "seats": [seat]},
            {"type": "stock.reshuffled", "epoch": 1, "count": 4, "deck_root": "bb" * 32},
            {"type": "trumps.declared", "trumps": {str(seat): "H"}},
        )
    )
    told.events.insert(at, told.like(told.events[at - 1] if at > 2 else told.events[1], **fields))
    return True


@_change
def dropped(told: Refit, chance: Random) -> bool:
    if len(told.events) < 4:
        return False
    del told.events[chance.randrange(2, len(told.events) - 1)]
    return True


@_change
def doubled(told: Refit, chance: Random) -> bool:
    if len(told.events) < 4:
        return False
    at = chance.randrange(2, len(told.events) - 1)
    to = chance.randrange(at, len(told.events) - 1)
    again = copy.deepcopy(told.events[at]) | {"name": told._new(), "at": told.events[to]["at"]}
    told.events.insert(to + 1, again)
    return True


@_change
def moved(told: Refit, chance: Random) -> bool:
    if len(told.events) < 5:
        return False
    at = chance.randrange(2, len(told.events) - 2)
    to = at + 1 if chance.random() < 0.6 else chance.randrange(2, len(told.events) - 1)
    times = [event["at"] for event in told.events]
    told.events.insert(to, told.events.pop(at))
    for event, time in zip(told.events, times, strict=True):
        event["at"] = time
    return at != to


@_change
def cut(told: Refit, chance: Random) -> bool:
    """The hand ends earlier, or is not over yet."""
    at = chance.randrange(2, len(told.events))
    last = told.events[-1]
    kept = told.events[:at]
    kind = chance.randrange(3)
    end: dict[str, Json] = told.like(kept[-1] if at > 2 else kept[1], name=last["name"])
    if kind == 0:
        told.events = kept
        return True
    if kind == 1:
        result = {} if told.events[0]["referee"] else None
        told.events = [*kept, end | {"type": "hand.closed", "result": result}]
        return True
    told.events = [*kept, end | {"type": "hand.aborted", "reason": "operator", "missing": []}]
    aborted(told, chance)
    return True


@_change
def aborted(told: Refit, chance: Random) -> bool:
    """For another reason, at another time, and naming other seats."""
    last = told.events[-1]
    if last["type"] != "hand.aborted":
        return False
    terms = told.events[0]
    reasons = {
        "seal_timeout": "seal",
        "open_timeout": "open",
        "turn_timeout": "turn",
        "idle": "hand",
    }
    if chance.random() < 0.8:
        last["reason"] = chance.choice((*reasons, *reasons, "operator", "operator", "epochs"))
    if last["reason"] in reasons and chance.random() < 0.9:
        since = chance.choice(told.events[1:-1] or [told.events[1]])
        if chance.random() < 0.6:
            since = told.events[-2]
        wait = 1000 * terms["timeouts"][reasons[last["reason"]]]
        at = parse_time(since["at"]) + wait + chance.choice((-1, 0, 0, 1))
        last["at"] = format_time(max(at, parse_time(told.events[-2]["at"])))
    # Who has sealed or opened is in the events: mostly those that have not are named.
    silent = set(terms["contribute"])
    for event in told.events[2:-1]:
        if event["type"] == "seeds.sealed":
            silent -= {int(seat) for seat in event["seals"]}
            silent = silent or set(terms["contribute"])
        elif event["type"] == "seeds.opened":
            silent -= {int(seat) for seat in event["seeds"]}
        elif event["type"] in ("hand.dealt", "stock.reshuffled"):
            silent = set()
    kind = chance.randrange(6)
    if kind == 0:
        last["missing"] = []
    elif kind == 1:
        last["missing"] = sorted(chance.sample(range(terms["seats"]), chance.randint(1, 2)))
    elif kind == 2:
        last["missing"] = sorted(chance.sample(sorted(silent), chance.randint(0, len(silent))))
    else:
        last["missing"] = sorted(silent)
    return True


@_change
def closed(told: Refit, chance: Random) -> bool:
    last = told.events[-1]
    if last["type"] != "hand.closed":
        return False
    if chance.random() < 0.5:
        last["result"] = chance.choice(
            (None, {}, {"first": 0, "match": {}, "score": {}, "winner": None})
        )
    else:
        told.events[-1] = told.like(
            told.events[-2], type="hand.aborted", reason="operator", missing=[], name=last["name"]
        )
        aborted(told, chance)
    return True


@_change
def clock(told: Refit, chance: Random) -> bool:
    at = chance.randrange(1, len(told.events))
    event, before = told.events[at], told.events[at - 1]
    event["at"] = format_time(parse_time(before["at"]) + chance.choice((-1, 0, TICK)))
    return True


@_change
def hidden(told: Refit, chance: Random) -> bool:
    """The secret stays closed under policy `table`, or is open where the table still kept it."""
    if told.events[0]["disclosure"] != "table":
        return False
    told.is_disclosed = not told.is_disclosed
    return True


@dataclass(frozen=True)
class Changed:
    """A file, and what the core thinks of the hand that it tells."""

    name: str
    data: bytes
    before: Table | None
    secret: Any
    thrown: dict[str, list[list[list[int]]]]


def changed_hands(start: int, end: int, each: int = 8) -> Iterator[Changed]:
    """Hands with one change or two, written so that all else fits.

    Args:
        start: Number of the first hand.
        end: One more than that of the last.
        each: How many changed files a hand is made into, besides the file that is right.
    """
    names = sorted(CHANGES)
    for number in range(start, end):
        table, before, chance = any_hand(number)
        secret = table.server_seed(table.hand.number)
        shared = {id(table): table, id(before): before}
        base = Refit.of(table, before, chance)
        data = base.write()
        assert data is not None
        yield Changed(f"{number} unchanged", data, before, secret, base.thrown)
        for at in range(each):
            chance = Random(f"refit {number} {at}")
            kinds: list[str] = []
            told, wanted = base, chance.choice((1, 1, 1, 2))
            while len(kinds) < wanted:
                kind = chance.choice(names)
                after = copy.deepcopy(told, dict(shared))
                after.chance = chance
                # What the first change took away the second one cannot change.
                with suppress(LookupError, TypeError, AttributeError, ValueError):
                    if CHANGES[kind](after, chance):
                        told = after
                        kinds.append(kind)
            data = told.write()
            if data is not None:
                name = f"{number}.{at} {' '.join(kinds)}"
                yield Changed(name, data, before, secret, told.thrown)


# --- the core's answer ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Answer:
    """What the core says.

    Attributes:
        is_legal: Everybody's part: the public events follow, and openings fit.
        is_right: With the secrets as well: cards, decks, due events, discards, play.
        why: What it does not allow.
    """

    is_legal: bool
    is_right: bool
    why: str = ""


def by_the_core(one: Changed) -> Answer | None:
    """The core's answer; None for a hand of another table than the one that was before it."""
    file = json.loads(one.data)
    legal = False
    try:
        events = [parse_event(raw.encode()) for raw in file["events"]]
        first = events[0]
        assert isinstance(first, TableOpened)
        table = one.before
        if table is None or first.raw != table.terms_event.raw:
            if file["events"] and json.loads(file["events"][1])["hand"] != 1:
                return None
            if json.loads(file["events"][1])["seq"] != 1:
                return None
            table = Table.open(first)
        start = table
        try:
            table = table.apply(events[1])
        except FairdealError:
            if one.before is not None:
                return None  # one file does not show the hand before
            raise
        for event in events[2:]:
            table = table.apply(event)
        for opening in file["openings"]:
            assert table.hand is not None
            found = Opening.from_dict(opening)
            place = Place(opening["epoch"], opening["position"])
            root, size = table.hand.roots[place.epoch]
            found.verify(place, root, size)
        legal = True
        told = file.get("disclosed")
        codecs = HandDisclosed.CODECS
        discards = codecs["discards"].read(one.thrown)
        table, dealing = start, None
        for event in events[1:]:
            if dealing is not None and not isinstance(event, HandAborted):
                due = dealing.due(event.header)
                if due is not None and due != event:
                    return Answer(legal, False, f"due was {due.TYPE}")
            table = table.apply(event)
            assert table.hand is not None
            if isinstance(event, HandOpened):
                dealing = Dealing(table.hand, one.secret, discards)
                continue
            assert dealing is not None
            dealing = dealing.after(table.hand, event)  # type: ignore[arg-type]
            if isinstance(event, CardsShown):
                for seen in event.shown:
                    salt = dealing.decks[seen.place.epoch].salt(seen.place.position)
                    if (dealing.card(seen.place), salt) != (seen.card, seen.salt):
                        return Answer(legal, False, "another card is shown")
        if told is not None and table.hand is not None and table.hand.is_final:
            read = {name: codecs[name].read(told[name]) for name in told}
            table.apply(HandDisclosed(header=table.header(0), hand=table.hand.number, **read))
    except FairdealError as error:
        return Answer(legal, False, f"{error.code}: {error}")
    except (LookupError, AssertionError) as error:
        return Answer(legal, False, repr(error))
    return Answer(legal, True)


def disagreement(one: Changed, exit_code: int) -> str:
    """Where the core and a verifier differ on a file, or "".

    Args:
        one: The file.
        exit_code: What the verifier gives with the log's key: 0, 1, 3 or 4. Spec: VER-4.
    """
    core = by_the_core(one)
    if core is None:
        return ""
    file = json.loads(one.data)
    passes = exit_code in (0, 3)
    if "disclosed" in file:
        # With all disclosed: what can be dealt and played so, and nothing open but the end.
        is_final = json.loads(file["events"][-1])["type"] in ("hand.closed", "hand.aborted")
        wrong = core.is_right != passes or (passes and (exit_code == 0) != is_final)
    else:
        # Of what the secret would show a verifier knows some, by the openings.
        wrong = not core.is_legal and passes
        policy = json.loads(file["events"][0]).get("disclosure")
        wrong |= core.is_right and not passes and policy == "table"
    return f"{one.name}: core {core}, verifier {exit_code}" if wrong else ""
