"""Data folders whose logs are as long as a test needs, by the service's own writer."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from fairdeal.log.checkpoint import Checkpoint
from fairdeal.log.keys import LogKeys
from fairdeal.log.note import SigningKey
from fairdeal.merkle import Tree, leaf_hash
from fairdeal_api.anchor import Anchor
from fairdeal_api.service import database_path
from fairdeal_api.settings import Settings
from fairdeal_api.store import Batch, EventRow, Head, Rows
from fairdeal_api.store.sqlite import SQLiteStore
from fairdeal_api.system import read_keys
from seeds.hands import play_azi, play_kozel, play_mus
from seeds.local import Book, LocalTable


def signing_key(settings: Settings) -> SigningKey:
    return SigningKey(settings.log_origin, read_keys(settings.keys_path).log)


def append(settings: Settings, bodies: Sequence[bytes], *, anchored: bool = True) -> Tree:
    """Log entries in one commit, with one checkpoint; gives the whole log's tree."""
    key = signing_key(settings)
    store = SQLiteStore(database_path(settings))
    writer, reader = store.writer(), store.reader()
    old, tree = writer.begin_epoch(reader.head()), Tree(reader.leaves())
    assert old is not None
    rows, newest = Rows(), {row.table_id: row.idx for row in reader.all_events()}
    for body in bodies:
        event, index = json.loads(body), len(tree)
        table, seq = event.get("table", "none"), event.get("seq", index)
        hand, before = event.get("hand", 0), newest.get(table)
        row = EventRow(index, table, seq, hand, before, body, leaf_hash(body))
        rows.events.append(row)
        newest[table] = index
        tree.append(row.leaf)
    size = len(tree)
    note = Checkpoint(key.name, size, tree.root()).sign(key)
    writer.commit(Batch(old, Head(size, tree.root(), old.epoch, old.at), note, rows))
    anchor = Anchor(settings.anchor_path)
    anchor.load(LogKeys(key.verifier))
    if anchored:
        anchor.move(note)
    anchor.close()
    reader.close()
    writer.close()
    return tree


def played(book: Book) -> Iterator[None]:
    """Play table after table of all four games into a book: no two of its events are the same."""
    number = 0
    while True:
        number += 1
        keyed = (0, 1) if number % 3 == 0 else ()
        for game in ("kozel", "mus", "azi", "svoi"):
            table = LocalTable(book, game, name=f"{number}{game[0]}", keyed=keyed)
            for hand in range(2):
                table.deal()
                if game == "kozel":
                    play_kozel(table)
                elif game == "mus":
                    play_mus(table, ((1, 2, 3, 4),))
                elif game == "azi":
                    play_azi(table)
                if number % 5 == 0 and hand:
                    table.abort()
                else:
                    table.close()
                yield
            table.close_table()


def real_events(origin: str, count: int) -> list[bytes]:
    """Events of real hands, in the order in which they were logged."""
    book = Book(origin)
    for _ in played(book):
        if len(book.entries) >= count:
            break
    return book.entries[:count]
