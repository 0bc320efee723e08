"""Random hands made by the core: the verifier agrees, and notices every change."""

from __future__ import annotations

import copy
import json
import os
import random
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import pytest

from fairdeal.games import GAMES
from fairdeal_verifier.verify import verify
from seeds.hands import mus_round, new_table, play_azi, play_kozel, play_mus
from seeds.local import LocalTable
from tests.interop.conftest import INDEX, KEY, SEEDS, SMALLEST, hand

WORKERS = os.cpu_count() or 1


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


@pytest.mark.parametrize("part", range(4))
def test_random_hands_are_verified(part):
    for number in range(300 * part, 300 * part + 300):
        table = random_hand(number)
        report = verify(table.transcript().encode(), key=str(table.book.key.verifier))
        assert report.exit == 0, (number, report.failed, report.verdict)


def _changed(name: str, step: int, offset: int) -> list[str]:
    """Verdicts other than 'failed' and 'unreadable' over one-byte changes of a file."""
    data = bytearray(hand(name))
    wrong = []
    for at in range(len(data)):
        good = data[at]
        for change in range(1 + (at + offset) % step, 256, step):
            data[at] = good ^ change
            report = verify(bytes(data), key=KEY)
            if report.exit not in (1, 4):
                wrong.append(f"{name} byte {at} ^ {change}: {report.verdict}")
        data[at] = good
    return wrong


def _all_changed(step: int) -> list[str]:
    with ProcessPoolExecutor(WORKERS, mp_context=get_context("spawn")) as pool:
        jobs = [pool.submit(_changed, name, step, 0) for name in SMALLEST]
        return [wrong for job in jobs for wrong in job.result()]


def test_unchanged_files_pass():
    """The control of the two tests below: what is changed there is a file that passes."""
    for name in SMALLEST:
        assert verify(hand(name), key=KEY).exit == 0


def test_every_byte_counts():
    """Every byte of the smallest hand of each game, four or so values each."""
    assert _all_changed(step=64) == []


@pytest.mark.soak
def test_every_byte_counts_in_full():
    """Every byte, all 255 values."""
    assert _all_changed(step=1) == []


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
    except ValueError:
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


def _mangle(part: int, count: int) -> Iterator[tuple[int, bytes]]:
    files = [(SEEDS / name).read_bytes() for name in INDEX]
    for number in range(part * count, (part + 1) * count):
        yield number, mangled(random.Random(number), files)


def _mangled_verdicts(part: int, count: int) -> list[str]:
    files = [(SEEDS / name).read_bytes() for name in INDEX]
    originals = {data for data in files if verify(data, key=KEY).exit == 0}
    wrong = []
    for number, data in _mangle(part, count):
        report = verify(data, key=KEY)
        if report.exit not in (1, 3, 4) and data not in originals:
            wrong.append(f"{number}: {report.verdict}")
    return wrong


def test_mangled_files_never_pass_nor_raise():
    """VER-5, on 2,000 files."""
    assert _mangled_verdicts(0, 2000) == []


@pytest.mark.soak
def test_mangled_files_never_pass_nor_raise_in_full():
    """VER-5, on 100,000 files."""
    with ProcessPoolExecutor(WORKERS, mp_context=get_context("spawn")) as pool:
        jobs = [pool.submit(_mangled_verdicts, part, 2500) for part in range(1, 41)]
        assert [wrong for job in jobs for wrong in job.result()] == []


def test_both_custodies_deal_the_same_deck():
    """Equal seeds and terms give byte-equal decks, in whatever portions the seeds come."""
    for game in sorted(GAMES):
        alone = new_table(game, "c0")
        together = new_table(game, "c0")
        for table, portions in ((alone, True), (together, False)):
            table.open_hand()
            if table.table.game.declares_trumps:
                for seat in (0, 1) if portions else ():
                    table.declare({seat: "HS"[seat]})
                if not portions:
                    table.declare({0: "H", 1: "S"})
            for step in (table.seal, table.open_seeds):
                seats = table.hand.table.contribute
                for seat in reversed(seats) if portions else ():
                    step((seat,))
                if not portions:
                    step()
        assert len(alone.events) > len(together.events)
        ours, theirs = alone.secrets.decks[0], together.secrets.decks[0]
        assert (ours.order, ours.salts, ours.root) == (theirs.order, theirs.salts, theirs.root)
