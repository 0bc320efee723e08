"""`python -m tests.audit.generate DIR --hands N`: an honest log of N hands, as static files.

Tables of all games, some with a referee, seats with keys, hands aborted and disclosed late; they
run side by side, so that their events lie mixed in the log. What is written does not stay in
memory, except for the hashes of the tree.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from fairdeal.games import GAMES
from fairdeal.hand import Phase
from fairdeal.log.checkpoint import Checkpoint
from fairdeal.log.note import SigningKey
from fairdeal.log.proof import Receipt
from fairdeal.log.tiles import WIDTH, Tile, entry_bundle, hash_tile, tiles_of
from fairdeal.merkle import leaf_hash
from seeds.hands import mus_round, play_azi, play_kozel
from seeds.local import Book, LocalTable
from seeds.played import step

ORIGIN = "audit.example/log"
SIDE_BY_SIDE = 8
Tamper = Callable[[bytes], bytes]


class Plant(NamedTuple):
    """A fault in the first entry, from one on, that contains something."""

    start: int
    where: bytes
    change: Tamper


class LogWriter(Book):
    """A book whose full bundles of entries go to a folder."""

    def __init__(self, folder: Path | None, origin: str = ORIGIN) -> None:
        super().__init__(origin)
        self.folder = folder
        self.size = 0
        self.tamper: dict[int, Tamper] = {}
        self.plant: Plant | None = None
        self.planted = -1

    def append(self, raw: bytes) -> int:
        if self.size in self.tamper:
            raw = self.tamper.pop(self.size)(raw)
        if self.plant is not None and self.size >= self.plant.start and self.plant.where in raw:
            raw, self.plant, self.planted = self.plant.change(raw), None, self.size
        self.entries.append(raw)
        self.tree.append(leaf_hash(raw))
        self.size += 1
        if self.folder is not None and self.size % WIDTH == 0:
            self._write(Tile(-1, self.size // WIDTH - 1), entry_bundle(self.entries))
            self.entries.clear()
        return self.size - 1

    def receipt(self, index: int, size: int | None = None) -> Receipt:
        """None is kept while a log of many hands is written."""
        if self.folder is not None:
            return Receipt(index, (), "")
        return super().receipt(index, size)

    def _write(self, tile: Tile, data: bytes) -> None:
        assert self.folder is not None
        path = self.folder / tile.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)

    def checkpoint(self, size: int | None = None) -> str:
        end = self.size if size is None else size
        return Checkpoint(self.key.name, end, self.tree.root(end)).sign(self.key)

    def finish(self) -> None:
        """Write the rest: the last bundle, all hashes, the checkpoint and the key."""
        assert self.folder is not None
        for tile in tiles_of(self.size):
            if tile.level >= 0:
                self._write(tile, hash_tile(self.tree, tile))
            elif tile.is_partial:
                self._write(tile, entry_bundle(self.entries[: tile.width]))
        (self.folder / "checkpoint").write_text(self.checkpoint(), "utf-8")
        (self.folder / "log.vkey").write_text(f"{self.key.verifier}\n", "utf-8")


def write_book(book: Book, folder: Path) -> None:
    """Write a log in memory as static files."""
    for tile in tiles_of(len(book.entries)):
        path = folder / tile.path
        path.parent.mkdir(parents=True, exist_ok=True)
        start = tile.number * WIDTH
        if tile.level < 0:
            path.write_bytes(entry_bundle(book.entries[start : start + tile.width]))
        else:
            path.write_bytes(hash_tile(book.tree, tile))
    if book.former:
        (folder / "rotations").write_text(json.dumps(rotations_of(book)), "utf-8")
    (folder / "checkpoint").write_text(book.checkpoint(len(book.entries)), "utf-8")
    (folder / "log.vkey").write_text(f"{keys_of(book)[0][1].verifier}\n", "utf-8")


def keys_of(book: Book) -> list[tuple[int, SigningKey]]:
    """Each key of a log, and the smallest size that it signs."""
    firsts = [0, *[last + 1 for last, _ in book.former]]
    return list(zip(firsts, [*[key for _, key in book.former], book.key], strict=True))


def rotations_of(book: Book) -> dict[str, Any]:
    """What a log serves of its keys. Spec: LOG-32."""
    members = [
        {
            "entry": book.entries[first - 1].decode(),
            "receipt": book.receipt(first - 1, first).text(),
        }
        for first, _ in keys_of(book)[1:]
    ]
    return {"format": "fairdeal-rotations/1", "rotations": members}


def _table(book: Book, number: int, chance: random.Random) -> LocalTable:
    game = chance.choice(sorted(GAMES))
    rules = GAMES[game]
    referee = chance.random() < 0.08
    seats = chance.choice(rules.seats)
    return LocalTable(
        book,
        game,
        name=f"{number:x}",
        ruleset={} if referee else {n: chance.choice(v) for n, v in rules.options.items()},
        seats=seats,
        keyed=[0] if chance.random() < 0.1 else [],
        custody=chance.choice(("seats", "operator")),
        disclosure=chance.choice(("hand", "hand", "hand", "table")),
        referee=referee,
    )


def _play(table: LocalTable, chance: random.Random) -> Iterator[None]:
    """One hand, with others' events between its own."""
    game, seats = table.table.game.name, table.hand.table.seats if table.table.hand else 0
    first = chance.randrange(seats) if seats else None
    table.open_hand(first)
    if table.table.game.declares_trumps:
        table.declare(dict(enumerate(chance.sample("CDHS", 2))))
        yield
    if chance.random() < 0.02:
        table.abort("seal_timeout")
        return
    table.seal()
    yield
    if chance.random() < 0.02:
        table.abort("operator")
        return
    table.open_seeds()
    yield
    if table.secrets.referee is not None:
        while table.table.open_hand is not None:
            step(table)
            yield
        return
    if chance.random() < 0.15:
        yield from _moves(table, game, chance)
    if chance.random() < 0.02:
        table.abort("idle")
    else:
        table.close()


def _moves(table: LocalTable, game: str, chance: random.Random) -> Iterator[None]:
    if game == "kozel":
        play_kozel(table, chance.randint(0, 9), pull=chance.random() < 0.3)
    elif game == "mus":
        for _ in range(chance.randint(0, 4)):
            mus_round(table, (1, 2, 3, chance.randint(1, 4)))
            yield
    elif game == "azi":
        rules = table.hand.table.ruleset
        play_azi(table, 0 if rules["blind"] else chance.randint(0, 2))
    elif table.hand.phase is Phase.PLAYING:
        place = next(p for p in table.secrets.holding(0) if p not in table.hand.playing.shown)
        table.show(0, [place])
    yield


def _life(book: Book, number: int, chance: random.Random, left: list[int]) -> Iterator[None]:
    """A table from its opening on; at the end of the log some stay open."""
    table = _table(book, number, chance)
    for _ in range(chance.choice((1, 3, 10, 30))):
        if left[0] <= 0:
            break
        left[0] -= 1
        yield from _play(table, chance)
        if table.table.terms_event.disclosure == "table":
            table.disclose()
        if chance.random() < 0.02 and table.table.terms_event.custody == "seats":
            table.reissue(0)
        del table.events[1:]
        del table.indices[:-1]
        table.sealed_receipts.clear()
        yield
    if left[0] > 0 or chance.random() < 0.5:
        table.close_table()


def write_log(book: Book, hands: int, seed: int = 1) -> None:
    """Write an honest log of so many hands."""
    chance = random.Random(seed)
    left, number = [hands], 0
    lives: list[Iterator[None]] = []
    while left[0] > 0 or lives:
        while left[0] > 0 and len(lives) < SIDE_BY_SIDE:
            number += 1
            lives.append(_life(book, number, chance, left))
        life = chance.choice(lives)
        if next(life, life) is life:
            lives.remove(life)


def other_prev(raw: bytes) -> bytes:
    """An event that names another one before it."""
    at = raw.index(b'"prev":"') + 8
    return raw[:at] + (b"1" if raw[at : at + 1] == b"0" else b"0") + raw[at + 1 :]


def other_root(raw: bytes) -> bytes:
    """A `hand.dealt` that names another deck."""
    at = raw.index(b'"deck_root":"') + 13
    return raw[:at] + (b"1" if raw[at : at + 1] == b"0" else b"0") + raw[at + 1 :]


def generate(
    folder: Path,
    hands: int,
    seed: int = 1,
    tamper: dict[int, Tamper] | None = None,
    plant: Plant | None = None,
) -> LogWriter:
    """Write a log of so many hands into a folder, honest but for what is tampered with."""
    folder.mkdir(parents=True, exist_ok=True)
    book = LogWriter(folder)
    book.tamper, book.plant = dict(tamper or {}), plant
    write_log(book, hands, seed)
    book.finish()
    return book


def main() -> None:
    parser = argparse.ArgumentParser(description="Write an honest log.")
    parser.add_argument("dir", type=Path)
    parser.add_argument("--hands", type=int, required=True)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    book = generate(options.dir, options.hands, options.seed)
    print(f"{options.hands} hands, {book.size} entries, key {book.key.verifier}")


if __name__ == "__main__":
    main()
