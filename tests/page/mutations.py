"""Files of hands, spoilt in every way that we can think of: the same ones in every run.

Most changes are made to fit again afterwards (numbers, chain, heads, terms, proof), as a service
that holds the log's key could. Otherwise `format`, `chain` and `log.inclusion` would find nearly
all of them, and nothing behind these would ever be compared.
"""

from __future__ import annotations

import copy
import hashlib
import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

from seeds.forge import _prove

SEEDS: Final = Path(__file__).parents[2] / "seeds"
FILES: Final = [
    SEEDS / name
    for name, expected in sorted(json.loads((SEEDS / "index.json").read_bytes()).items())
    if expected["exit"] in (0, 3)
]
"""Those that are right. A second fault in a file that has one would compare how verifiers go on
after a fault, and no longer whether they find it."""
_REFERENCES: Final = ("prev", "head", "terms")
_HEX: Final = frozenset("0123456789abcdef")
_ODD: Final[tuple[Any, ...]] = (
    None, True, False, 0, 1, -1, 255, 2**31, 2**53 - 1, 2**53, 2**64, 10**30, 1.5, -0.0, 1e21,
    "", "0", "H", "7H", "hand", "__proto__", "\x00", "\x7f", "é", "\U0001f0a1", "\ud800",
    [], {}, [[]], [None], {"": ""}, {"__proto__": {}}, {"constructor": 1},
)  # fmt: skip
"""Values of every kind, and of none that stands there."""

Json = Any
Rng = random.Random


class Mutated(NamedTuple):
    """A spoilt file, and how it was made."""

    name: str
    data: bytes


def encoded(value: Json) -> str:
    """Like ENC-1, and whatever the value is: a spoilt one may be beyond what ENC allows."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def _bytes(file: dict[str, Json]) -> bytes:
    return encoded(file).encode("utf-8", "surrogatepass")


# --- the bytes ----------------------------------------------------------------------------------


def _flip(rng: Rng, data: bytes) -> bytes:
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 8))):
        changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def _another_digit(rng: Rng, data: bytes) -> bytes:
    """One digit of one number or digest: the file stays well formed."""
    places = [i for i, byte in enumerate(data) if byte in b"0123456789abcdef"]
    at = rng.choice(places)
    return data[:at] + rng.choice([b"0", b"1", b"7", b"a", b"f", b"F"]) + data[at + 1 :]


def _cut(rng: Rng, data: bytes) -> bytes:
    start = rng.randrange(len(data))
    end = rng.choice((len(data), start + 1, start + rng.randrange(1, 200)))
    return data[:start] + data[end:]


def _put_in(rng: Rng, data: bytes) -> bytes:
    at = rng.randrange(len(data) + 1)
    pieces = [b"\x00", b" ", b"\n", b'"', b"\\", b"\xff", b"\xef\xbb\xbf", b"{", b"]", b",", b"0"]
    pieces.append(data[at : at + rng.randrange(1, 400)])
    return data[:at] + rng.choice(pieces) + data[at:]


BYTES: Final[dict[str, Callable[[Rng, bytes], bytes]]] = {
    "flip": _flip,
    "digit": _another_digit,
    "cut": _cut,
    "put_in": _put_in,
}


# --- one value ----------------------------------------------------------------------------------


def _places(value: Json) -> Iterator[tuple[Any, Any]]:
    """Every container and key in it."""
    keys = value if isinstance(value, dict) else range(len(value))
    for key in list(keys):
        yield value, key
        if isinstance(value[key], (dict, list)):
            yield from _places(value[key])


def _near(rng: Rng, value: Json) -> Json:
    """A value of the same kind: what only a check of its meaning can tell from the right one."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + rng.choice((-1, 1, 1, 2, -value, 36, 1 << 16))
    if isinstance(value, str):
        if not value:
            return "x"
        if len(value) >= 32 and set(value) <= _HEX:
            at = rng.randrange(len(value))
            return value[:at] + rng.choice("0123456789abcdef") + value[at + 1 :]
        if value[-1] in "CDHSoceb" and value[:-1].isalnum():
            rank = rng.choice(("1", "4", "5", "6", "7", "9", "10", "11", "12", "J", "Q", "K", "A"))
            return rng.choice((rank + value[-1], value[:-1] + rng.choice("CDHSoceb")))
        at = rng.randrange(len(value))
        return value[:at] + rng.choice("0129aZz:.-T") + value[at + 1 :]
    if isinstance(value, list) and value:
        other = list(value)
        kind = rng.randrange(4)
        if kind == 0:
            rng.shuffle(other)
        elif kind == 1:
            del other[rng.randrange(len(other))]
        elif kind == 2:
            other.insert(rng.randrange(len(other) + 1), rng.choice(other))
        else:
            other.reverse()
        return other
    if isinstance(value, dict) and value:
        other = dict(value)
        one, two = rng.choice(list(other)), rng.choice(list(other))
        other[one], other[two] = other[two], other[one]
        return other
    return copy.deepcopy(rng.choice(_ODD))


def _change(rng: Rng, value: Json) -> None:
    """Change one value anywhere in a container."""
    places = list(_places(value))
    if not places:
        return
    container, key = rng.choice(places)
    kind = rng.randrange(20)
    if kind == 0:
        container[key] = copy.deepcopy(rng.choice(_ODD))
    elif kind == 1:
        del container[key]
    elif kind == 2 and isinstance(container, dict):
        container[rng.choice(("extra", "__proto__", "A", key + "s"))] = copy.deepcopy(
            rng.choice(_ODD)
        )
    elif kind in (3, 4, 5, 6):
        # A value from elsewhere, of the same type: seats, seeds, cards, digests change places.
        like = [(c, k) for c, k in places if type(c[k]) is type(container[key])]
        other, place = rng.choice(like)
        mine, theirs = container[key], other[place]
        if not isinstance(mine, (dict, list)):
            container[key], other[place] = theirs, mine
    else:
        container[key] = _near(rng, container[key])


# --- the events ---------------------------------------------------------------------------------

Events = list[Json]


def _one_event(rng: Rng, events: Events) -> None:
    _change(rng, rng.choice(events))


def _late_event(rng: Rng, events: Events) -> None:
    """Near the end, where most of the play is."""
    _change(rng, events[-1 - min(rng.randrange(8), len(events) - 1)])


def _inside(rng: Rng, events: Events) -> int:
    """Mostly between the beginning and the end: without these, a file is not even read further."""
    whole = len(events) < 4 or rng.random() < 0.1
    return rng.randrange(len(events)) if whole else rng.randrange(2, len(events) - 1)


def _drop(rng: Rng, events: Events) -> None:
    if len(events) > 1:
        del events[_inside(rng, events)]


def _double(rng: Rng, events: Events) -> None:
    at, to = sorted((_inside(rng, events), _inside(rng, events)))
    events.insert(to + 1, events[at] | {"at": events[to]["at"]})


def _swap(rng: Rng, events: Events) -> None:
    at = _inside(rng, events)
    other = min(at + 1, len(events) - 1) if rng.random() < 0.6 else _inside(rng, events)
    for name in ("at", "seq"):  # so that time and numbers still run forwards
        if all(isinstance(events[i], dict) and name in events[i] for i in (at, other)):
            events[at][name], events[other][name] = events[other][name], events[at][name]
    events[at], events[other] = events[other], events[at]


def _exchange(rng: Rng, events: Events) -> None:
    """Two events of one kind exchange the value of one member."""
    at = rng.randrange(len(events))
    alike = [one for one in events if one["type"] == events[at]["type"]]
    name = rng.choice([n for n in events[at] if n not in ("type", "seq", "prev")])
    other = rng.choice(alike)
    if name in other:
        events[at][name], other[name] = other[name], events[at][name]


def _end_early(rng: Rng, events: Events) -> None:
    """A hand that was cut short is aborted, for a reason and with seats that may not fit."""
    keep = _inside(rng, events)
    closing = events[-1]
    last = {name: closing[name] for name in ("at", "hand", "prev", "seq", "table", "v")}
    reason = rng.choice(
        ("idle", "lost", "operator", "seal_timeout", "open_timeout", "turn_timeout", "epochs")
    )
    missing = sorted(rng.sample(range(events[0].get("seats", 4)), rng.randrange(3)))
    events[keep:] = [last | {"type": "hand.aborted", "reason": reason, "missing": missing}]


EVENTS: Final[dict[str, Callable[[Rng, Events], None]]] = {
    "event": _one_event,
    "late_event": _late_event,
    "drop": _drop,
    "double": _double,
    "swap": _swap,
    "exchange": _exchange,
    "end_early": _end_early,
}


def _mended(old: list[str], events: Events) -> list[str]:
    """The events with their references to one another made right, as far as they have any."""
    names = {}
    for raw in old:
        names[json.loads(raw)["seq"]] = hashlib.sha256(raw.encode()).hexdigest()
    renamed: dict[str, str] = {}
    written: list[str] = []
    before = None
    for i, event in enumerate(events):
        seq = event.get("seq")
        was = names.get(seq, "") if isinstance(seq, int) else ""
        if i > 1 and isinstance(before, int):
            event["seq"] = before + 1
            event["prev"] = hashlib.sha256(written[-1].encode("utf-8", "surrogatepass")).hexdigest()
        for name in _REFERENCES:
            if isinstance(event.get(name), str):
                event[name] = renamed.get(event[name], event[name])
        before = event.get("seq")
        written.append(encoded(event))
        renamed[was] = hashlib.sha256(written[-1].encode("utf-8", "surrogatepass")).hexdigest()
    return written


# --- all of it ----------------------------------------------------------------------------------


def _well_formed(path: Path) -> dict[str, Json] | None:
    try:
        file = json.loads(path.read_bytes())
        events = [json.loads(raw) for raw in file["events"]]
    except (ValueError, TypeError, KeyError):
        return None
    if not all(isinstance(event.get("seq"), int) for event in events):
        return None
    return file


def _spoil(rng: Rng, path: Path) -> Mutated:
    file = _well_formed(path)
    kind = rng.choice([*BYTES, "file", *EVENTS, *EVENTS, *EVENTS])
    if file is None or kind in BYTES:
        kind = kind if kind in BYTES else rng.choice(list(BYTES))
        return Mutated(kind, BYTES[kind](rng, path.read_bytes()))
    if kind == "file":
        # Proof, openings, what was disclosed; the events among them as one text each.
        _change(rng, rng.choice([file, *(v for v in file.values() if isinstance(v, (dict, list)))]))
        return Mutated(kind, _bytes(file))
    events = [json.loads(raw) for raw in file["events"]]
    for _ in range(rng.choice((1, 1, 1, 2))):
        EVENTS[kind](rng, events)
    mends = rng.random()
    if mends < 0.15:
        file["events"] = [encoded(event) for event in events]
        return Mutated(f"{kind}, as it is", _bytes(file))
    file["events"] = _mended(file["events"], events)
    if rng.random() < 0.1:
        _change(rng, file)  # and something else besides
    try:
        _prove(file)
    except (KeyError, TypeError, IndexError, AttributeError, UnicodeEncodeError):
        return Mutated(f"{kind}, mended", _bytes(file))
    return Mutated(f"{kind}, mended and proved", _bytes(file))


def reordered(count: int, seed: int = 5) -> Iterator[Mutated]:
    """Hands with reshuffles, whose events are left out, doubled or put in another order."""
    paths = [path for path in FILES if b"stock.reshuffled" in path.read_bytes()]
    for i in range(count):
        path = paths[i % len(paths)]
        rng = random.Random(f"{seed}/{path.name}/{i // len(paths)}")
        file = json.loads(path.read_bytes())
        events = [json.loads(raw) for raw in file["events"]]
        kinds = [rng.choice((_drop, _double, _swap, _swap)) for _ in range(rng.choice((1, 1, 2)))]
        for kind in kinds:
            kind(rng, events)
        file["events"] = _mended(file["events"], events)
        _prove(file)
        names = ", ".join(kind.__name__.removeprefix("_") for kind in kinds)
        yield Mutated(f"{i}: {path.name}: {names}", _bytes(file))


def mutated(count: int, seed: int = 5) -> Iterator[Mutated]:
    """Spoilt files, each right vector of `seeds/` in turn.

    How a file is spoilt depends on its name, so a new vector changes nothing about the others.
    """
    for i in range(count):
        path = FILES[i % len(FILES)]
        made = _spoil(random.Random(f"{seed}/{path.name}/{i // len(FILES)}"), path)
        yield Mutated(f"{i}: {path.name}: {made.name}", made.data)


# --- what players bring -------------------------------------------------------------------------

NOTED: Final = (
    "azi-two_seats", "azi-lost_fail", "kozel-undisclosed", "kozel-server_seed_fail",
    "kozel-ruleset_fail", "mus-reshuffled", "mus-match_2_begun", "mus-unknown_pool_fail",
)  # fmt: skip
"""Hands of which not everything is known, or nothing can be played, and two that are right."""


def _notes_of(rng: Rng, data: bytes, key: str) -> dict[str, Json]:
    """What a player of a hand might have noted, some of it wrong."""
    events = [json.loads(raw) for raw in json.loads(data)["events"]]
    seat = rng.randrange(events[0]["seats"] + 1)
    seeds, cards = [], []
    for event in events:
        if event["type"] == "seeds.opened" and str(seat) in event["seeds"]:
            seeds.append(event["seeds"][str(seat)])
        cards += [
            {name: one[name] for name in ("card", "epoch", "position")}
            for one in event.get("shown", [])
            if one["seat"] == seat or rng.random() < 0.1
        ]
        if event["type"] == "hand.dealt" and rng.random() < 0.5:
            card = rng.choice(("1o", "6C", "7H", "AS"))
            places = event["positions"].get(str(seat), [])[:1]
            cards += [{"card": card, "epoch": 0, "position": place} for place in places]
    return {
        "format": "fairdeal-notes/1",
        "log_key": key,
        "table": events[0]["table"],
        "hand": events[1]["hand"],
        "seat": seat,
        "seeds": seeds[: rng.randrange(len(seeds) + 1)],
        "receipts": [],
        "cards": [{"at": "", **one} for one in cards],
    }


def noted(count: int, key: str, seed: int = 5) -> Iterator[tuple[str, bytes, str]]:
    """Hands with notes: a name, the file, the notes, which may be none."""
    kept = json.loads((SEEDS / "azi-noted.notes.json").read_bytes())
    for i in range(count):
        rng = random.Random(f"{seed}/notes/{i}")
        if i % 3:
            name = rng.choice(NOTED)
            data = (SEEDS / f"{name}.fair.json").read_bytes()
            notes = _notes_of(rng, data, key)
        else:
            name, notes = "azi-noted", copy.deepcopy(kept)
            data = (SEEDS / f"{name}.fair.json").read_bytes()
        for _ in range(rng.choice((0, 1, 1, 2))):
            _change(rng, notes)
        yield f"{i}: {name}", data, json.dumps(notes)
