"""A database from a backup, and from the public log what the backup does not have.

An old backup is an old log, and signing on from it would fork. So it is held against the anchor
and against every checkpoint that is presented; what is missing is appended from the log's own
public files, entry by entry, under a checkpoint that the log has signed. What was never public,
such as the server seeds made since, is lost: their hands end as `lost`. Spec: LOG-24.
"""

from __future__ import annotations

import contextlib
import json
import shutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from fairdeal.errors import FairdealError, VerificationError
from fairdeal.events import (
    CardsDiscarded,
    Event,
    HandAborted,
    HandClosed,
    HandDisclosed,
    HandEvent,
    HandOpened,
    SeatReissued,
    TableClosed,
    TableOpened,
    parse_event,
)
from fairdeal.log.checkpoint import Checkpoint
from fairdeal.log.entries import LogContinued, LogRotated
from fairdeal.log.keys import LogKeys, read_rotations
from fairdeal.log.note import SigningKey, VerifierKey, lone_note
from fairdeal.log.tiles import WIDTH, Tile, parse_bundle
from fairdeal.merkle import Tree, leaf_hash
from fairdeal.seeds import Commitment, ServerSeed, verify_commitment
from fairdeal.table import Table
from fairdeal_api import backup, fsck, stopping, system
from fairdeal_api.anchor import Anchor
from fairdeal_api.draft import NEVER, patience_of
from fairdeal_api.export import CHECKPOINT, ROTATIONS
from fairdeal_api.keyring import NO_TABLE, in_force, log_keys, own_entry, sealing_key, settle
from fairdeal_api.sealing import Sealer
from fairdeal_api.service import DATABASE, LOCK, OPERATORS
from fairdeal_api.settings import Settings
from fairdeal_api.slots import fixed_seed
from fairdeal_api.store import (
    Batch,
    CommitmentRow,
    DisclosureRow,
    EventRow,
    FinishedRow,
    Head,
    Identity,
    Move,
    Rows,
    SeatRow,
    TableRow,
)
from fairdeal_api.store.reading import SQLiteReader
from fairdeal_api.store.sqlite import SQLiteWriter
from fairdeal_api.system import StartRefused

_HasSeed = Callable[[str, int], bool]
"""Whether a hand's server seed is in the database, by table and number."""


@dataclass(slots=True)
class Restored:
    """What was done.

    Attributes:
        size: Entries now.
        appended: Of these, entries from the public files.
        lost_hands: Open hands, by table and number, that the next start ends as `lost`.
        lost_tables: Tables whose next hand cannot be opened: its server seed is lost.
        orphans: Tables whose operator the log does not tell, given to the one that was named.
    """

    size: int
    appended: int
    lost_hands: list[tuple[str, int]] = field(default_factory=list)
    lost_tables: list[str] = field(default_factory=list)
    orphans: list[str] = field(default_factory=list)


def restore(
    settings: Settings,
    folder: Path,
    *,
    at_least: Iterable[Path] = (),
    tiles: Path | None = None,
    operator: str = "",
) -> Restored:
    """Put a backup in the place of a database that is gone. Spec: LOG-24.

    Args:
        settings: Where to; the keys are there already, and the anchor.
        folder: The backup.
        at_least: Files with checkpoints that clients or witnesses hold.
        tiles: The log's public files: `checkpoint`, `tile/entries/..`.
        operator: Whose are tables of which only the log knows.

    Raises:
        StartRefused: One sentence says why; nothing was put anywhere.
    """
    data = settings.data
    manifest = backup.Manifest.read(folder)
    keys = system.read_keys(settings.keys_path, manifest.sealing_id)
    data.mkdir(mode=0o700, parents=True, exist_ok=True)
    lock = system.hold_lock(data / LOCK)
    try:
        for name in (DATABASE, OPERATORS):
            if _in_the_way(data, name, manifest):
                raise StartRefused(
                    f"{data / name} is there already and is never overwritten; "
                    "put it elsewhere first, with all files of that name."
                )
        named = Identity(manifest.origin, manifest.log_key, manifest.sealing_id)
        sealer = Sealer(sealing_key(keys, named, "backup"), settings.log_origin)
        verified = backup.whole(folder, sealer)
        if verified.manifest.origin != settings.log_origin:
            raise StartRefused(
                f"The backup is of the log {verified.manifest.origin}, and the settings name "
                f"{settings.log_origin}."
            )
        public = Public(verified.replayed)
        if tiles is not None:
            public.fetch(tiles)
        tree = verified.replayed.tree
        known = _known(settings, public.keys, keys, at_least)
        what, needed = max(known, key=lambda item: item[1].size)
        if tiles is None and needed.size > len(tree):
            raise StartRefused(
                f"The backup holds {len(tree)} entries and the {what} has seen {needed.size}: "
                "signing on from it would fork the log. `--tiles` appends the missing entries "
                "from the log's public files."
            )
        for what, checkpoint in known:
            _verify_known(tree, checkpoint, what)
        signing = in_force(settings.log_origin, keys, public.keys)
        made = _Rebuilt(verified, sealer, settings, operator)
        made.fold(public.bodies)
        restored = _write(settings, folder, made, tree, public.notes, sealer)
        settle(settings.keys_path, signing)
        return restored
    finally:
        _drop_parts(data)
        system.release_lock(lock)


def _in_the_way(data: Path, name: str, manifest: backup.Manifest) -> bool:
    """Whether a database is there that is another than the one to be put in its place.

    The same is there if a restore was cut off between one database and the other.
    """
    found = list(data.glob(f"{name}*"))
    if found != [data / name] or name == DATABASE or not found[0].is_file():
        return bool(found)
    return backup.digest_of(found[0]) != manifest.files[name]


class Opens:
    """Reads what the log's keys have signed, those among them that the backup does not know."""

    def __init__(self, origin: str, chain: LogKeys, keys: system.Keys | None) -> None:
        """Keys of the entries, and those that the key files hold, if they are there."""
        self._chain = chain
        files = () if keys is None else (keys.log, keys.next_log)
        secrets = [secret for secret in files if secret is not None]
        self._later = [SigningKey(origin, secret).verifier for secret in secrets]

    def open(self, note: str, *, lone: bool = False) -> Checkpoint:
        """Read a checkpoint; one of a later key is of a log that has gone on. Spec: LOG-27."""
        try:
            return self._chain.open(note, lone=lone)
        except VerificationError:
            for key in self._later:
                if key not in self._chain:
                    with contextlib.suppress(VerificationError):
                        return Checkpoint.open(note, key, lone=lone)
            raise

    def key_of(self, note: str) -> VerifierKey:
        """Whose signature such a checkpoint was opened by."""
        size = self.open(note).size
        return next(
            key
            for key in (self._chain.at(size), *self._later)
            if LogKeys(key).signer(note) is not None
        )


def _known(
    settings: Settings, chain: LogKeys, keys: system.Keys, at_least: Iterable[Path]
) -> list[tuple[str, Checkpoint]]:
    """All checkpoints that the log must extend, and who has seen them."""
    opens = Opens(settings.log_origin, chain, keys)
    anchor = Anchor(settings.anchor_path, moves=False)
    found = [("anchor", anchor.load(opens))]
    anchor.close()
    seen = [anchor.seen_path] if anchor.seen_path.exists() else []
    for path in (*seen, *at_least):
        try:
            checkpoint = opens.open(path.read_text("utf-8"))
        except OSError as error:
            raise StartRefused(f"{path} cannot be read ({error.strerror}).") from None
        except (FairdealError, ValueError):
            raise StartRefused(f"{path} holds no checkpoint of this log.") from None
        found.append((f"checkpoint in {path}", checkpoint))
    return found


def _verify_known(tree: Tree, checkpoint: Checkpoint, what: str) -> None:
    size = checkpoint.size
    if size > len(tree):
        raise StartRefused(
            f"Backup and public files hold {len(tree)} entries and the {what} has seen {size}: "
            "signing on would fork the log."
        )
    if tree.root(size) != checkpoint.root:
        raise StartRefused(f"The first {size} entries are not those that the {what} has seen.")


class Public:
    """A log as a backup has it, and what its public files add."""

    def __init__(self, replayed: fsck.Replayed) -> None:
        """Begin with the backup; its tree grows with what is fetched."""
        self.tree, self.keys = replayed.tree, replayed.keys
        self.bodies: list[bytes] = []
        """Entries that the backup does not have."""
        self.notes: list[tuple[int, str]] = []
        """Checkpoints that it does not have, with the log's signature alone; the newest last."""

    def fetch(self, folder: Path) -> None:
        """Append the entries that the backup does not have.

        Raises:
            StartRefused: The files are not those of this log, or not all there.
        """
        path = folder / CHECKPOINT
        note = _text(path)
        try:
            checkpoint = Checkpoint.parse_text(note.partition("\n\n")[0] + "\n")
        except FairdealError:
            raise StartRefused(f"{path} is no checkpoint that this log's key has signed.") from None
        first, size = len(self.tree), checkpoint.size
        for number in range(first // WIDTH, -(-size // WIDTH) if size > first else 0):
            start = WIDTH * number
            bundle = _bundle(folder, number, min(WIDTH, size - start))
            self.bodies += bundle[max(first - start, 0) :]
        for index, body in enumerate(self.bodies, first):
            self._follow(index, body)
            self.tree.append(leaf_hash(body))
        try:
            self.keys.open(note)
        except FairdealError:
            raise StartRefused(f"{path} is no checkpoint that this log's key has signed.") from None
        if size >= first and (len(self.tree) != size or self.tree.root() != checkpoint.root):
            raise StartRefused(
                f"Backup and entries of {folder} do not give the root of the checkpoint of {size}."
            )
        if self.bodies:
            self._keep(folder, first, size, note)

    def _follow(self, index: int, body: bytes) -> None:
        """Take note of a rotation: what comes after it is another key's."""
        if isinstance(entry := own_entry(body), LogRotated):
            try:
                self.keys = self.keys.rotate(entry, index, self.tree.root())
            except FairdealError as error:
                raise StartRefused(f"Entry {index} does not follow: {error.code}.") from None

    def _keep(self, folder: Path, first: int, size: int, note: str) -> None:
        """The newest checkpoint, and for each rotation one that shows it. Spec: LOG-32."""
        found = {size: lone_note(note, self.keys.at(size))}
        new = [rotation for rotation in self.keys.rotations if rotation.size >= first]
        if len(new) > 1 or (new and (folder / ROTATIONS).exists()):
            path = folder / ROTATIONS
            try:
                for _, receipt in read_rotations(json.loads(_text(path))):
                    checkpoint = self.keys.open(receipt.note)
                    end = checkpoint.size
                    if first < end <= size and self.tree.root(end) == checkpoint.root:
                        found[end] = lone_note(receipt.note, self.keys.at(end))
            except (FairdealError, ValueError):
                raise StartRefused(f"{path} does not lead from key to key.") from None
        self.notes = sorted(found.items())


def _text(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8")
    except OSError as error:
        raise StartRefused(f"{path} cannot be read ({error.strerror}).") from None
    except UnicodeDecodeError:
        raise StartRefused(f"{path} is not text.") from None


def _bundle(folder: Path, number: int, width: int) -> list[bytes]:
    for tile in (Tile(-1, number, width), Tile(-1, number)):
        path = folder / tile.path
        if path.is_file():
            try:
                return parse_bundle(path.read_bytes())[:width]
            except FairdealError:
                raise StartRefused(f"{path} is no bundle of entries.") from None
    raise StartRefused(f"{folder} has no {Tile(-1, number, width).path}.")


class _Rebuilt:
    """The rows that follow from entries after the backup."""

    def __init__(
        self, verified: backup.Verified, sealer: Sealer, settings: Settings, operator: str
    ) -> None:
        self.tables: dict[str, Table] = dict(verified.replayed.tables)
        self.rows = Rows()
        self.result = Restored(len(verified.replayed.tree), 0)
        self.at = 0
        self._first = verified.manifest.size
        self._own = verified.replayed.own
        self._sealer, self._settings, self._operator = sealer, settings, operator
        self._old_seq = {name: table.seq for name, table in self.tables.items()}
        self._old_newest = verified.replayed.newest
        self._newest = dict(self._old_newest)
        """Index of each table's newest event."""
        self._promised: dict[tuple[str, int], tuple[Commitment, int]] = {}
        """Commitments, and the entries that have published them."""
        self._opened: dict[tuple[str, int], ServerSeed] = {}
        self._thrown: set[tuple[str, int]] = set()
        """Hands in which cards were thrown since: which ones is not public."""
        self._seats: dict[tuple[str, int], SeatRow] = {}

    def fold(self, bodies: list[bytes]) -> None:
        """Take in entries, in the order of the log."""
        for index, body in enumerate(bodies, self._first):
            try:
                if (entry := own_entry(body)) is not None:
                    self._apply_own(index, entry)
                else:
                    self._apply(index, parse_event(body))
            except FairdealError as error:
                raise StartRefused(f"Entry {index} does not follow: {error.code}.") from None
        self.result.appended = len(bodies)

    def _apply_own(self, index: int, entry: LogRotated | LogContinued) -> None:
        """An entry of no table; whether it is good where it stands `fsck` says at the end."""
        self.at = max(self.at, entry.at)
        leaf = leaf_hash(entry.raw)
        self.rows.events.append(EventRow(index, NO_TABLE, self._own, 0, None, entry.raw, leaf))
        self._own += 1

    def _apply(self, index: int, event: Event) -> None:
        name, seq, _, at = event.header
        if isinstance(event, TableOpened):
            if name in self.tables:
                raise StartRefused(f"Entry {index}: {name} begins twice.")
            self.tables[name] = Table.open(event)
            self._promised[name, 1] = event.next_commitment, index
        elif name in self.tables:
            self.tables[name] = self.tables[name].apply(event)
        else:
            raise StartRefused(f"Entry {index}: {name} begins without its terms.")
        hand = event.hand if isinstance(event, HandEvent) else 0
        self.at = max(self.at, at)
        before, leaf = self._newest.get(name), leaf_hash(event.raw)
        self.rows.events.append(EventRow(index, name, seq, hand, before, event.raw, leaf))
        self._newest[name] = index
        match event:
            case HandOpened():
                self._promised[name, hand + 1] = event.next_commitment, index
            case HandDisclosed():
                self._opened[name, hand] = event.server_seed
                if fsck.is_late(self.tables[name], event):
                    self.rows.late_disclosures.append(DisclosureRow(name, hand, index))
            case TableClosed():
                last = self.tables[name].hand
                self._opened[name, 1 + (last.number if last else 0)] = event.unused_seed
            case CardsDiscarded():
                self._thrown.add((name, hand))
            case SeatReissued():
                # The old token is dead, and the new claim code nobody can know.
                unknown = system.entropy(32)
                self._seats[name, event.seat] = SeatRow(name, event.seat, unknown, None)
            case HandClosed() | HandAborted():
                state = "closed" if isinstance(event, HandClosed) else "aborted"
                game = self.tables[name].terms_event.game
                self.rows.finished.append(FinishedRow(index, name, hand, game, state, at))
            case _:
                pass

    def finish(self, reader: SQLiteReader) -> None:
        """Make the rows of commitments, tables and seats."""
        touched = dict.fromkeys(name for _, name, *_ in self.rows.events)
        touched.pop(NO_TABLE, None)
        known = {name: row for name in touched if (row := reader.table(name)) is not None}
        for (name, hand), (commitment, idx) in self._promised.items():
            row = known.get(name)
            seed = self._opened.get((name, hand)) or self._fixed(row, hand, commitment)
            sealed = b""
            if seed is not None:
                verify_commitment(commitment, seed)
                sealed = self._sealer.seal("server seed", name, hand, seed, commitment)
            of_test = row.test_seed is not None if row else self._settings.mode == "test"
            self.rows.commitments.append(
                CommitmentRow(commitment, name, hand, int(of_test), sealed, idx)
            )
        made = {(row.table_id, row.hand): row.sealed for row in self.rows.commitments}

        def has_seed(name: str, hand: int) -> bool:
            if (name, hand) in made:
                return bool(made[name, hand])
            row = reader.commitment(name, hand)
            return row is not None and bool(row.sealed)

        for name in touched:
            self._table(name, known.get(name), has_seed)
        self.rows.seats += self._seats.values()

    def _fixed(self, row: TableRow | None, hand: int, commitment: Commitment) -> ServerSeed | None:
        """The seed of a hand at a table with a test seed, which gives all of them."""
        if row is None or row.test_seed is None:
            return None
        seed = fixed_seed(self._sealer.open("test seed", row.id, 0, row.test_seed), hand)
        verify_commitment(commitment, seed)
        return seed

    def _table(self, name: str, row: TableRow | None, has_seed: _HasSeed) -> None:
        table = self.tables[name]
        hand = table.open_hand
        number = table.hand.number if table.hand else 0
        patience = table.terms_event.timeouts.table
        due = table.last_at + 1000 * patience
        state = "idle"
        stuck = [
            old
            for old in table.undisclosed
            if not has_seed(name, old) or (name, old) in self._thrown
        ]
        if table.is_closed:
            state, due = "closed", table.last_at
        elif hand is not None:
            state, patience = "hand_open", patience_of(hand)
            if not has_seed(name, number) or (name, number) in self._thrown:
                patience = 0  # it ends at the first look of the service that starts
                self.result.lost_hands.append((name, number))
            due = table.last_at + 1000 * patience
        elif stuck:
            due = NEVER
        if not table.is_closed and (stuck or not has_seed(name, number + 1)):
            self.result.lost_tables.append(name)
            due = NEVER if hand is None else due
        newest = self._newest[name]
        if row is not None:
            old_seq, old_newest = self._old_seq[name], self._old_newest[name]
            self.rows.moves.append(
                Move(name, old_seq, old_newest, table.seq, number, state, patience, due, newest)
            )
            return
        self.result.orphans.append(name)
        game = table.terms_event.game
        self.rows.tables.append(
            TableRow(
                name, self._operator, game, None, table.seq, number, state, patience, due, newest
            )
        )
        if table.terms_event.custody == "seats":
            for seat in range(table.terms_event.seats):
                self._seats[name, seat] = SeatRow(name, seat, system.entropy(32), None)


def _write(
    settings: Settings,
    folder: Path,
    made: _Rebuilt,
    tree: Tree,
    notes: list[tuple[int, str]],
    sealer: Sealer,
) -> Restored:
    """Make the databases aside, look at them once more, and give them their names."""
    data = settings.data
    parts = {name: data / f"restoring-{name}" for name in (OPERATORS, DATABASE)}
    _drop_parts(data)
    for name, part in parts.items():
        part.touch(0o600)
        shutil.copyfile(folder / name, part)
    path = parts[DATABASE]
    writer = SQLiteWriter(path)  # which brings up what an older version has written
    try:
        reader = SQLiteReader(path)
        try:
            head = reader.head()
            made.finish(reader)
        finally:
            reader.close()
        if made.rows.events:
            at = max(head.at, made.at)
            new = Head(len(tree), tree.root(), head.epoch, at)
            made.rows.checkpoints += notes[:-1]
            writer.commit(Batch(head, new, notes[-1][1], made.rows))
    finally:
        writer.close()
    reader = SQLiteReader(path)
    try:
        report, _ = fsck.examine(reader, log_keys(reader).first, sealer)
    finally:
        reader.close()
    if report.faults:
        raise StartRefused(f"What was restored is not whole: {report.faults[0]}")
    _drop_parts(data, frozenset(parts.values()))  # what a reader has left beside the database
    for part in parts.values():
        system.sync_file(part)
    stopping.too_late()
    for name, part in parts.items():
        part.rename(data / name)
    system.sync_folder(data)
    made.result.size = len(tree)
    return made.result


def _drop_parts(data: Path, keep: frozenset[Path] = frozenset()) -> None:
    """Remove what stands aside, of this restore or of one that was cut off."""
    with stopping.whole(), contextlib.suppress(OSError):
        for part in set(data.glob("restoring-*")) - keep:
            part.unlink()
