"""The work of the agreement tests, in portions: `make test` does some, `make soak` all."""

from __future__ import annotations

import copy
import json
import random

from fairdeal.games import GAMES
from fairdeal_verifier.verify import verify
from seeds.hands import mus_round, new_table, play_azi, play_kozel, play_mus
from seeds.local import LocalTable
from tests.interop.conftest import INDEX, KEY, SEEDS, hand


def random_hand(number: int) -> LocalTable:
    """A finished hand of a random game, ruleset and course, the same for the same number."""
    chance = random.Random(number)
    game = chance.choice(sorted(GAMES))
    rules = {name: chance.choice(values) for name, values in GAMES[game].options.items()}
    seats = chance.choice(GAMES[game].seats)
    table = new_table(
        game,
        f"{number:x}".replace("i", "j"),
        ruleset=rules,
        seats=seats,
        keyed=[seat for seat in range(seats) if chance.random() < 0.2],
        custody=chance.choice(("seats", "operator")),
        contribute=sorted(chance.sample(range(seats), chance.randint(1, seats))),
    )
    trumps = dict(enumerate(chance.sample("CDHS", 2)))
    for _ in range(chance.randint(1, 2)):
        table.deal(first=chance.randrange(seats), trumps=trumps)
        if game == "kozel":
            play_kozel(table, chance.randint(0, 9), pull=chance.random() < 0.3)
        elif game == "mus":
            for _ in range(chance.randint(0, 4)):
                mus_round(table, tuple(chance.randint(1, 4) for _ in range(4)))
            play_mus(table, ())
        elif game == "azi":
            play_azi(table, chance.randint(0, 2) if not rules["blind"] else 0)
        else:
            for seat in range(seats):
                cards = table.secrets.holding(seat)
                fresh = [place for place in cards if place not in table.hand.playing.shown]
                table.show(seat, chance.sample(fresh, 3))
        if chance.random() < 0.8:
            table.close()
        else:
            table.abort("operator")
    return table


def changed_bytes(name: str, start: int, end: int, step: int = 1) -> tuple[int, list[str]]:
    """Change each byte of a part of a file, to every step-th other value.

    Returns:
        How many files that made, and which of them were neither refused nor unreadable.
    """
    data = bytearray(hand(name))
    made, wrong = 0, []
    for at in range(start, min(end, len(data))):
        good = data[at]
        for change in range(1 + at % step, 256, step):
            data[at] = good ^ change
            made += 1
            report = verify(bytes(data), key=KEY)
            if report.exit not in (1, 4):
                wrong.append(f"{name} byte {at} ^ {change}: {report.verdict}")
        data[at] = good
    return made, wrong


def mangled(chance: random.Random, files: list[bytes]) -> bytes:
    """A file cut, spliced, repeated or changed in its JSON."""
    data = bytearray(chance.choice(files))
    kind = chance.randrange(6)
    if kind == 0:
        for _ in range(chance.randint(1, 8)):
            data[chance.randrange(len(data))] = chance.randrange(256)
    elif kind == 1:
        a, b = sorted(chance.sample(range(len(data)), 2))
        del data[a:b]
    elif kind == 2:
        a, b = sorted(chance.sample(range(len(data)), 2))
        data[a:a] = data[a:b]
    elif kind == 3:
        other = chance.choice(files)
        data[chance.randrange(len(data)) :] = other[chance.randrange(len(other)) :]
    else:
        return _mangled_json(chance, bytes(data), files, deep=kind == 5)
    return bytes(data)


def _mangled_json(chance: random.Random, data: bytes, files: list[bytes], *, deep: bool) -> bytes:
    """A file that is still canonical JSON, with parts of others or odd values in it."""
    try:
        file, other = json.loads(data), json.loads(chance.choice(files))
        events = [json.loads(event) for event in file["events"]]
    except (TypeError, ValueError):  # what is no string is no event
        return data
    odd = [None, True, -1, 2**53, "", "x" * 70, [], {}, [[]], {"0": 0}, 1.5, "00" * 32]
    if deep:
        event = chance.choice(events)
        event[chance.choice(sorted(event))] = copy.deepcopy(chance.choice(odd))
        if chance.random() < 0.5:
            inner = [value for value in event.values() if isinstance(value, dict) and value]
            if inner:
                target = chance.choice(inner)
                target[chance.choice(sorted(target))] = copy.deepcopy(chance.choice(odd))
        file["events"] = [
            json.dumps(event, sort_keys=True, separators=(",", ":")) for event in events
        ]
    else:
        name = chance.choice(sorted(file))
        file[name] = chance.choice((other.get(name, ""), chance.choice(odd)))
    return json.dumps(file, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def _told(data: bytes) -> dict[str, object]:
    """What a file tells of its hand: all but the proof.

    Some forgeries hold a proof, rightly signed, of a hand that a valid file also tells. A splice
    of the two is as valid as the file.
    """
    file: dict[str, object] = json.loads(data)
    del file["proof"]
    return file


def mangled_files(start: int, end: int) -> tuple[int, list[str]]:
    """Verify mangled files.

    Returns:
        How many, and which of them passed without telling the hand of a valid vector.
    """
    files = [(SEEDS / name).read_bytes() for name in INDEX]
    originals = [_told(data) for data in files if verify(data, key=KEY).exit == 0]
    wrong = []
    for number in range(start, end):
        data = mangled(random.Random(number), files)
        report = verify(data, key=KEY)
        if report.exit not in (1, 3, 4) and _told(data) not in originals:
            wrong.append(f"{number}: {report.verdict}")
    return end - start, wrong


def random_hands(start: int, end: int) -> tuple[int, list[str]]:
    """Play random hands with the core and verify them.

    Returns:
        How many, and which of them the verifier did not find right.
    """
    wrong = []
    for number in range(start, end):
        table = random_hand(number)
        report = verify(table.transcript().encode(), key=str(table.book.key.verifier))
        if report.exit:
            wrong.append(f"{number}: {report.failed}")
    return end - start, wrong
