"""Logs whose key has changed, and services that cheat about it, with their real keys."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from fairdeal.ed25519 import sign
from fairdeal.log.checkpoint import Checkpoint
from fairdeal.log.note import SigningKey
from seeds.hands import play_kozel
from seeds.local import Book, LocalTable, named
from tests.audit.cheats import encode
from tests.audit.generate import ORIGIN, keys_of, rotations_of, write_book
from tests.verifier.builder import msg

Event = dict[str, Any]


def play(book: Book, name: str, hands: int = 2, *, close: bool = True) -> LocalTable:
    """A table with some hands, closed."""
    table = LocalTable(book, "kozel", name=name)
    for _ in range(hands):
        table.deal()
        play_kozel(table, 1)
        table.close()
    if close:
        table.close_table()
    return table


def thrice() -> Book:
    """An honest log of three keys."""
    book = Book(ORIGIN)
    for number in range(3):
        if number:
            book.rotate(f"log key {number + 1}")
        play(book, f"r{number}")
    return book


def signed(body: Event, old: SigningKey, new: SigningKey, tag: str = "rotate") -> Event:
    """An event of the log, signed by two keys."""
    unsigned = {name: value for name, value in body.items() if name != "sigs"}
    message = msg(tag, encode(unsigned))
    sigs = {"new": sign(new.secret, message).hex(), "old": sign(old.secret, message).hex()}
    return unsigned | {"sigs": sigs}


def rotation(book: Book, name: str, **changes: Any) -> tuple[Event, SigningKey]:
    """A `log.rotated` that is due now, told as its keys like it, and the new key."""
    new = SigningKey(book.key.name, named(name))
    body = {
        "at": "2025-11-30T00:00:00.000Z",
        "new_key": str(new.verifier),
        "old_key": str(book.key.verifier),
        "origin": ORIGIN,
        "root": book.tree.root().hex(),
        "size": len(book.entries),
        "type": "log.rotated",
        "v": "fairdeal/1",
    }
    return signed(body | changes, book.key, new), new


def go_on(book: Book, event: Event, new: SigningKey) -> None:
    """Log a change of keys, such as it is, and go on under the new one."""
    book.former.append((len(book.entries), book.key))
    book.append(encode(event))
    book.key = new


class Cheat(NamedTuple):
    """A log, what is served of its keys (None: what is honest), and what must come of it."""

    book: Book
    served: list[dict[str, str]] | None = None
    note: str | None = None
    trusted: int = 0
    """Which of its keys the auditor has."""
    by_fetch: bool = False
    code: str = "KEY"
    has_evidence: bool = True

    def write(self, folder: Path) -> None:
        write_book(self.book, folder)
        if self.served is not None:
            document = rotations_of(self.book) | {"rotations": self.served}
            (folder / "rotations").write_text(json.dumps(document), "utf-8")
            if not self.served:
                (folder / "rotations").unlink()
        if self.note is not None:
            (folder / "checkpoint").write_text(self.note, "utf-8")

    @property
    def vkey(self) -> str:
        return str(keys_of(self.book)[self.trusted][1].verifier)


def note_by(book: Book, key: SigningKey, size: int | None = None) -> str:
    """A checkpoint by a key of the service's choice."""
    end = len(book.entries) if size is None else size
    return Checkpoint(key.name, end, book.tree.root(end)).sign(key)


def begun() -> Book:
    book = Book(ORIGIN)
    play(book, "r0")
    return book


def old_key_signs_on() -> Cheat:
    """It is published that the key has changed, and the old one signs the newest head."""
    book = begun()
    old = book.key
    book.rotate("second")
    play(book, "r1")
    return Cheat(book, note=note_by(book, old), by_fetch=True)


def new_key_signs_the_past() -> Cheat:
    book = begun()
    size = len(book.entries)
    book.rotate("second")
    play(book, "r1")
    return Cheat(book, note=note_by(book, book.key, size), by_fetch=True)


def keeps_it_quiet() -> Cheat:
    """The log has the change, nothing is said of it, and the old key signs on."""
    book = begun()
    old = book.key
    book.rotate("second")
    quiet = Book(ORIGIN)
    for raw in book.entries:
        quiet.append(raw)
    quiet.key = old
    play(quiet, "r1")
    return Cheat(quiet, served=[])


def new_key_keeps_it_quiet() -> Cheat:
    """As it looks to one who has the new key: only who has the old one could be misled."""
    book = begun()
    book.rotate("second")
    play(book, "r1")
    return Cheat(book, served=[], trusted=1, has_evidence=False)


def _by_one_key_only(which: str) -> Cheat:
    """The other signature is over something else; the new key goes on."""
    book = begun()
    event, new = rotation(book, "second")
    other, _ = rotation(book, "second", size=1)
    event["sigs"][which] = other["sigs"][which]
    go_on(book, event, new)
    play(book, "r1")
    return Cheat(book, served=[], trusted=1)


def signed_by_the_new_key_only() -> Cheat:
    return _by_one_key_only("old")


def signed_by_the_old_key_only() -> Cheat:
    return _by_one_key_only("new")


def _told(**changes: Any) -> Cheat:
    """Something of the change is not so, and both keys sign that; the old one signs on."""
    book = begun()
    changes = {n: v(book) if callable(v) else v for n, v in changes.items()}
    event, _ = rotation(book, "second", **changes)
    book.append(encode(event))
    play(book, "r1")
    return Cheat(book, served=[])


def stands_elsewhere() -> Cheat:
    return _told(size=lambda book: len(book.entries) - 1)


def names_another_root() -> Cheat:
    return _told(root="ab" * 32)


def is_of_another_origin() -> Cheat:
    return _told(origin="elsewhere.example/log")


def changes_to_itself() -> Cheat:
    return _told(new_key=lambda book: str(book.key.verifier))


def names_another_root_and_goes_on() -> Cheat:
    """The new key goes on, and nobody who knows the tree takes the root."""
    book = begun()
    event, new = rotation(book, "second", root="ab" * 32)
    go_on(book, event, new)
    play(book, "r1")
    return Cheat(book)


def a_table_names_the_old_key() -> Cheat:
    book = begun()
    old = book.key
    book.rotate("second")
    new, book.key = book.key, old
    play(book, "r1")
    book.key = new
    return Cheat(book)


def a_table_names_the_key_to_come() -> Cheat:
    book = begun()
    old = book.key
    book.key = SigningKey(ORIGIN, named("second"))
    play(book, "r1")
    book.key = old
    book.rotate("second")
    return Cheat(book)


def a_table_goes_on() -> Cheat:
    book = begun()
    table = play(book, "r1", 1, close=False)
    book.rotate("second")
    table.deal()
    table.close()
    table.close_table()
    return Cheat(book)


def a_table_of_another_origin() -> Cheat:
    book = begun()
    other = Book("elsewhere.example/log", book.now)
    play(other, "r1")
    for raw in other.entries:
        book.append(raw)
    return Cheat(book)


def two_successors() -> Cheat:
    """Two new keys of one key: those who ask are told of one or of the other."""
    book = begun()
    book.rotate("second")
    play(book, "r1")
    return Cheat(book, code="FORK", by_fetch=True)


def other_successor() -> Book:
    book = begun()
    book.rotate("another second")
    play(book, "r2", 3)
    return book


def a_change_that_is_none() -> Cheat:
    book = begun()
    book.append(b'{"type":"log.rotated","v":"fairdeal/1"}')
    play(book, "r1")
    return Cheat(book, code="ENTRY", has_evidence=False)


def a_hand_under_an_older_key() -> Cheat:
    """Dealt twice what was there once, two keys ago."""
    book = Book(ORIGIN)
    table = LocalTable(Book(ORIGIN), "kozel", name="r0")
    table.deal()
    play_kozel(table, 2)
    table.close()
    table.close_table()
    events = [json.loads(event.raw) for event in table.events]
    shown = [event for event in events if event["type"] == "cards.shown"]
    shown[1]["shown"][0]["card"] = shown[0]["shown"][0]["card"]
    from tests.audit.cheats import fitted  # noqa: PLC0415 - only here

    for event in fitted(events):
        book.append(encode(event))
    for name in ("second", "third"):
        book.now += 10_000_000
        book.rotate(name)
        play(book, f"r{name[0]}")
    return Cheat(book, code="CARD", trusted=2)


CHEATS: dict[str, Callable[[], Cheat]] = {
    cheat.__name__: cheat
    for cheat in (
        old_key_signs_on,
        new_key_signs_the_past,
        keeps_it_quiet,
        new_key_keeps_it_quiet,
        signed_by_the_new_key_only,
        signed_by_the_old_key_only,
        stands_elsewhere,
        names_another_root,
        is_of_another_origin,
        changes_to_itself,
        names_another_root_and_goes_on,
        a_table_names_the_old_key,
        a_table_names_the_key_to_come,
        a_table_goes_on,
        a_table_of_another_origin,
        two_successors,
        a_change_that_is_none,
        a_hand_under_an_older_key,
    )
}
