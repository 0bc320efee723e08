"""A log that cannot go on is followed by another one, with another origin and key. Spec: LOG-31.

Nothing of the old log is signed any more, but for the entry by which the new one begins. No table
and no hand goes on: what was open is named as lost. What could be kept of the old log is written
out as files, to be published.
"""

from __future__ import annotations

import asyncio
import contextlib
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from fairdeal.encoding import encode
from fairdeal.errors import FairdealError
from fairdeal.events import (
    Event,
    HandAborted,
    HandClosed,
    HandDisclosed,
    HandEvent,
    HandOpened,
    TableOpened,
    parse_event,
)
from fairdeal.hand import Hand
from fairdeal.log.checkpoint import Checkpoint
from fairdeal.log.entries import LogContinued, LogSignatures, Lost
from fairdeal.log.keys import LogKeys, rotations_document
from fairdeal.log.note import SigningKey, VerifierKey, lone_note, unbase64
from fairdeal.log.proof import Receipt
from fairdeal.merkle import EMPTY_ROOT, Tree
from fairdeal.table import Table
from fairdeal.transcript import Transcript
from fairdeal_api import backup, keyring, stopping, system
from fairdeal_api.anchor import Anchor
from fairdeal_api.export import CHECKPOINT, ROTATIONS, locked, write_file, write_tiles
from fairdeal_api.ledger import Entry
from fairdeal_api.restore import Opens, Public
from fairdeal_api.service import DATABASE, OPERATORS, Service, initialise, is_empty
from fairdeal_api.settings import Settings, mode_of
from fairdeal_api.store.reading import SQLiteReader
from fairdeal_api.system import StartRefused, lies_in

HANDS: Final = "hands"
_IN_ONE_ENTRY: Final = 1300
"""Lost hands: an entry has at most 65,535 bytes."""

_CUT_OFF: Final = (
    "If this was cut off before and never printed a key, remove the new folder, its anchor and "
    "the folder for the old log's files, and begin again."
)


@dataclass(frozen=True, slots=True)
class Sources:
    """What is left of the old log.

    Attributes:
        backup: Folder of a backup.
        tiles: Folder with the log's public files, for what the backup lacks.
        at_least: Files with checkpoints that somebody holds.
        anchor: The old anchor.
        keys: Folder of the old keys; None if they are lost.
    """

    backup: Path
    tiles: Path | None = None
    at_least: tuple[Path, ...] = ()
    anchor: Path | None = None
    keys: Path | None = None


@dataclass(frozen=True, slots=True)
class Continued:
    """What was done.

    Attributes:
        key: The new log's.
        old: The newest checkpoint that is known of the old log.
        kept: How many of its entries were kept.
        lost: Its hands that were open.
        files: How many of its hands have a file among what was written.
        without_file: Ended hands that have none: they were not disclosed.
        signed: Whether the old key has signed it.
    """

    key: VerifierKey
    old: Checkpoint
    kept: int
    lost: Lost
    files: int
    without_file: int
    signed: bool


def continue_log(settings: Settings, sources: Sources, public: Path) -> Continued:
    """Make the successor of a log that has ended.

    Args:
        settings: Of the new log: its folder, which is empty, and its origin.
        sources: What is left of the old one.
        public: Where the old log's files go; a folder that is not there, or empty.

    Raises:
        StartRefused: One sentence says why.
        OSError: A file cannot be written. What was written of the old log is removed again, unless
            the new one has been begun.

    Spec: LOG-31, LOG-33.
    """
    if not is_empty(settings):
        raise StartRefused(
            f"{settings.data} is not empty; a log is never continued in another's. {_CUT_OFF}"
        )
    if public.exists() and (not public.is_dir() or any(public.iterdir())):
        raise StartRefused(f"{public} is not empty. {_CUT_OFF}")
    if lies_in(public, settings.data):
        raise StartRefused(f"{public} lies in the data folder, which is nobody else's to read.")
    verified = backup.whole(sources.backup)
    old_origin = verified.manifest.origin
    if old_origin == settings.log_origin:
        raise StartRefused(f"The new log needs another origin than {old_origin}.")
    if mode_of(old_origin) != settings.mode:
        raise StartRefused(
            f"{old_origin} is a {mode_of(old_origin)} log, and no {settings.mode} log continues it."
        )
    kept = Public(verified.replayed)
    if sources.tiles is not None:
        kept.fetch(sources.tiles)
    old = _OldLog(sources, kept, verified.manifest)
    missing = [path for path in (public, *public.parents) if not path.exists()]
    with contextlib.ExitStack() as undo:
        # Half of it looks like a log that has lost files, and would be in the way.
        undo.callback(_clear, public, missing)
        with contextlib.closing(SQLiteReader(sources.backup / DATABASE)) as reader:
            pages = _Kept(reader, verified.manifest.size, kept.bodies)
            files = old.publish(pages, public)
        stopping.too_late()  # a new log is a matter of a second, and never made twice
        undo.pop_all()
    return asyncio.run(_begin(settings, sources, old, files))


def _clear(public: Path, missing: list[Path]) -> None:
    """Remove what was written into an empty folder, and the folders that were made for it."""
    with stopping.whole():
        for path in public.iterdir() if public.exists() else ():
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)
        for path in missing:
            with contextlib.suppress(OSError):
                path.rmdir()


class _Kept:
    """The entries that were kept: those of the backup, and the public ones after them."""

    def __init__(self, reader: SQLiteReader, size: int, bodies: list[bytes]) -> None:
        self._reader, self._size, self._bodies = reader, size, bodies
        self.notes = dict(reader.checkpoints())

    def entries(self, start: int, end: int) -> list[bytes]:
        """Entries from one index up to, and without, another."""
        found = self._reader.entries(start, min(end, self._size)) if start < self._size else []
        after = max(start - self._size, 0)
        return found + self._bodies[after : max(end - self._size, 0)]

    def all(self) -> Iterator[bytes]:
        """All of them."""
        for row in self._reader.all_events():
            yield row.body
        yield from self._bodies


class _OldLog:
    """The old log as it was kept, and the newest head that is known of it."""

    def __init__(self, sources: Sources, kept: Public, manifest: backup.Manifest) -> None:
        self.origin = manifest.origin
        self.tree: Tree = kept.tree
        self.keys: LogKeys = kept.keys
        self._public_notes = kept.notes
        self._secrets = None if sources.keys is None else system.read_keys(sources.keys)
        notes = [*kept.notes[-1:], *([(0, manifest.checkpoint)] if manifest.checkpoint else [])]
        texts = [note for _, note in notes]
        for path in sources.at_least:
            try:
                texts.append(path.read_text("utf-8"))
            except (OSError, ValueError):
                raise StartRefused(f"{path} cannot be read.") from None
        opens = Opens(self.origin, self.keys, self._secrets)
        if sources.anchor is not None:
            anchor = Anchor(sources.anchor, moves=False)
            with contextlib.closing(anchor):
                anchor.load(opens)
                texts.append(anchor.note)
        if not texts:
            raise StartRefused("No checkpoint of the old log is known; it has nothing to continue.")
        try:
            found = [(opens.open(text), text) for text in texts]
        except FairdealError:
            raise StartRefused(
                "One of the checkpoints is none that the old log's key has signed."
            ) from None
        self.head, note = max(found, key=lambda pair: pair[0].size)
        self.key = opens.key_of(note)
        line = lone_note(note, self.key).rpartition("\n\n")[2]
        self.signature = unbase64(line.rstrip("\n").rpartition(" ")[2])[4:]
        for checkpoint, _ in found:
            size = checkpoint.size
            if size <= len(self.tree) and self.tree.root(size) != checkpoint.root:
                raise StartRefused(
                    f"The first {size} entries are not those that a checkpoint of {size} is of: "
                    "the old log has forked, and this is not the one to go on from."
                )
        self.lost: Lost = ()

    def signing(self) -> SigningKey | None:
        """The private half of the old key, if it is there."""
        if self._secrets is None:
            return None
        found = keyring.find(self.origin, self._secrets, self.key)
        if found is None:
            raise StartRefused("The old keys do not have the one that was in force at the end.")
        return found

    def publish(self, kept: _Kept, public: Path) -> tuple[int, int]:
        """Write the log and the files of its ended hands; how many have one, and how many not."""
        size = len(self.tree)
        self.signing()  # what is wrong with the keys is said before anything is written
        notes = kept.notes | dict(self._public_notes)
        with locked(public):
            write_tiles(public, kept, self.tree, size, None)
            writer = _Files(self, notes, public)
            for index, body in enumerate(kept.all()):
                writer.take(index, body)
            self.lost = writer.lost()
            if self.keys.rotations:
                published = [(r, self._receipt(notes, r.size)) for r in self.keys.rotations]
                whole = [(r, receipt) for r, receipt in published if receipt is not None]
                write_file(public / ROTATIONS, encode(rotations_document(whole)) + b"\n")
            if size in notes:
                write_file(public / CHECKPOINT, notes[size].encode())
        return writer.written, writer.without

    def _receipt(self, notes: dict[int, str], index: int) -> Receipt | None:
        """Against the first checkpoint that covers an entry."""
        size = min((size for size in notes if size > index), default=None)
        if size is None:
            return None
        return Receipt(index, tuple(self.tree.inclusion_path(index, size)), notes[size])


class _Files:
    """Writes each ended hand's file as its log goes by. Spec: FILE-2..5."""

    def __init__(self, old: _OldLog, notes: dict[int, str], public: Path) -> None:
        self._old, self._public = old, public
        self._sizes = sorted(notes)
        self._notes = notes
        self._tables: dict[str, Table] = {}
        self._hands: dict[tuple[str, int], tuple[list[Event], Hand, int]] = {}
        """Of hands without a file: events, the hand as it is, and the index of its last event."""
        self.written = 0

    def take(self, index: int, body: bytes) -> None:
        """The next entry."""
        if keyring.own_entry(body) is not None:
            return
        event = parse_event(body)
        name = event.header.table
        if isinstance(event, TableOpened):
            self._tables[name] = Table.open(event)
            return
        table = self._tables[name] = self._tables[name].apply(event)
        if isinstance(event, HandOpened):
            hand = Hand.open(table.terms_event, table.terms, event)
            self._hands[name, event.hand] = ([event], hand, index)
        elif isinstance(event, HandEvent):
            events, hand, last = self._hands[name, event.hand]
            hand = hand.apply(event)
            if isinstance(event, HandDisclosed):
                self._write(name, event.hand, events, hand, last)
                del self._hands[name, event.hand]
            else:
                self._hands[name, event.hand] = ([*events, event], hand, index)
        if table.is_closed:
            del self._tables[name]

    def lost(self) -> Lost:
        """What is open at the end; files of what has ended and needs no secret are written."""
        for (name, number), (events, hand, last) in list(self._hands.items()):
            ended = isinstance(events[-1], HandClosed | HandAborted)
            if ended and (hand.reason == "lost" or not hand.shown):
                self._write(name, number, events, hand, last)
                del self._hands[name, number]
        return tuple(sorted(key for key, (_, hand, _) in self._hands.items() if not hand.is_final))

    @property
    def without(self) -> int:
        """Ended hands whose file would need what only the service knew."""
        return sum(hand.is_final for _, hand, _ in self._hands.values())

    def _write(self, name: str, number: int, events: list[Event], hand: Hand, last: int) -> None:
        size = next(size for size in self._sizes if size > last)
        path = tuple(self._old.tree.inclusion_path(last, size))
        file = Transcript.of(hand, events, Receipt(last, path, self._notes[size])).encode()
        write_file(self._public / HANDS / name / f"{number}.fair.json", file)
        self.written += 1


def _parts(
    settings: Settings, old: _OldLog, new: SigningKey, signing: SigningKey | None, at: int
) -> Iterable[LogContinued]:
    """The entries by which the new log begins. Spec: LOG-30."""
    chunks = [old.lost[n : n + _IN_ONE_ENTRY] for n in range(0, len(old.lost), _IN_ONE_ENTRY)]
    kept = len(old.tree)
    for part, lost in enumerate(chunks or [()]):
        yield LogContinued(
            at=at,
            origin=settings.log_origin,
            sigs=LogSignatures(bytes(64), None),
            log_key=new.verifier,
            old_key=old.key,
            old=old.head,
            old_sig=old.signature,
            kept_size=kept,
            kept_root=old.tree.root() if kept else EMPTY_ROOT,
            part=part,
            parts=max(len(chunks), 1),
            lost=lost,
        ).signed(new, signing)


async def _begin(
    settings: Settings, sources: Sources, old: _OldLog, files: tuple[int, int]
) -> Continued:
    """Make the new log's folder, and its first entries."""
    signing = old.signing()
    key = initialise(settings)
    # Who may open tables is no part of the log: the operators go on with the keys that they have.
    shutil.copyfile(sources.backup / OPERATORS, settings.data / OPERATORS)
    service = Service(settings)
    await service.start(watch=False)
    try:
        entries = list(_parts(settings, old, service.signing_key, signing, service.clock.now()))
        before = None
        for index, entry in enumerate(entries):
            entry.verify(index, before)
            before = entry
        events = [(index, 0, entry.raw) for index, entry in enumerate(entries)]
        await service.ledger.submit(Entry("", 0, events, lambda *_: b""))
    finally:
        await service.stop()
    written, without = files
    return Continued(key, old.head, len(old.tree), old.lost, written, without, signing is not None)
