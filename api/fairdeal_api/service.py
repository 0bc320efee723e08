"""A data folder, opened: keys, database, log, anchor; and the parts that work on them."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Final

from fairdeal.log.checkpoint import Checkpoint
from fairdeal.log.note import SigningKey, VerifierKey
from fairdeal.log.tree import LogTree
from fairdeal.merkle import EMPTY_ROOT, Tree
from fairdeal_api import keyring, system
from fairdeal_api import ledger as ledgers
from fairdeal_api.anchor import Anchor, verify_start
from fairdeal_api.connections import Bodies, QuietConnections
from fairdeal_api.credentials import Credentials, OperatorKeys
from fairdeal_api.deadlines import Deadlines
from fairdeal_api.dealer import Dealer
from fairdeal_api.ledger import Ledger
from fairdeal_api.logging import LOG
from fairdeal_api.metrics import Metrics
from fairdeal_api.sealing import Sealer
from fairdeal_api.settings import Settings, mode_of
from fairdeal_api.slots import Slots
from fairdeal_api.store import Head, Identity
from fairdeal_api.store import sqlite as sqlite_store
from fairdeal_api.system import StartRefused
from fairdeal_api.witnessing.circle import Witnesses

DATABASE = "ledger.db"
OPERATORS = "operators.db"
LOCK = "LOCK"
_ATTEMPTS = 100
_TICK_SECONDS: Final = 0.25
_REVOKED_EVERY: Final = 4
_IDLE_EVERY: Final = 20
_FORGET_EVERY: Final = 1200
_AT_A_TIME: Final = 100
_DAY: Final = 86_400_000


def verifier_key(settings: Settings, keys: system.Keys) -> VerifierKey:
    """The public half of the log's key."""
    return SigningKey(settings.log_origin, keys.log).verifier


def is_empty(settings: Settings) -> bool:
    """Whether there is nothing yet where the data folder will be; a lock alone is nothing."""
    folder = settings.data
    return not folder.exists() or (
        folder.is_dir() and all(path.name == LOCK for path in folder.iterdir())
    )


def initialise(settings: Settings) -> VerifierKey:
    """Make keys, databases and anchor where there is nothing.

    Raises:
        StartRefused: There is something; nothing is ever overwritten.
        OSError: It cannot be made. What was made of it is removed again.
    """
    folder = settings.data
    if not is_empty(settings):
        raise _not_empty(settings)
    if settings.anchor_path.exists() or settings.anchor_path.is_symlink():
        # Before anything is made: the log that it is of may only be away.
        raise StartRefused(
            f"The anchor {settings.anchor_path} is there already and is never overwritten; "
            "the log that it has seen is missing."
        )
    # Half a service would be in the way of the next attempt, and looks like one that lost files.
    with contextlib.ExitStack() as undo:
        for path in (folder, settings.keys_path):
            if not path.exists():
                undo.callback(_without_fault, path.rmdir)
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.chmod(0o700)
        lock = system.hold_lock(folder / LOCK)
        try:
            key = _make(settings, undo)
        except BaseException:
            undo.close()  # before the lock is given back
            raise
        finally:
            system.release_lock(lock)
        undo.pop_all()
    return key


def _not_empty(settings: Settings) -> StartRefused:
    return StartRefused(
        f"{settings.data} is not empty; a service is never made over another. If `fairdeal init` "
        "was cut off here and never printed a key, remove the folder and "
        f"{settings.anchor_path}, and begin again."
    )


def _make(settings: Settings, undo: contextlib.ExitStack) -> VerifierKey:
    """What `initialise` makes; how to remove it again is left in `undo`."""
    folder = settings.data
    # Once more: now nobody else makes one here, so whatever comes after this is ours to remove.
    if not is_empty(settings):
        raise _not_empty(settings)
    undo.callback(_without_fault, (folder / LOCK).unlink)
    keys = system.create_keys(settings.keys_path)
    for name in (system.SEALING_KEY, system.LOG_KEY):
        undo.callback(_without_fault, (settings.keys_path / name).unlink)
    signing = SigningKey(settings.log_origin, keys.log)
    identity = Identity(settings.log_origin, str(signing.verifier), keys.sealing.id)
    undo.callback(_remove_databases, folder)
    sqlite_store.create(folder / DATABASE, identity, EMPTY_ROOT, system.wall_clock())
    OperatorKeys(folder / OPERATORS, create=True).close()
    system.sync_folder(folder)
    # The last step: with it there is a service, which nothing may take away any more.
    Anchor(settings.anchor_path).create(
        Checkpoint(settings.log_origin, 0, EMPTY_ROOT).sign(signing)
    )
    return signing.verifier


def _without_fault(step: Callable[[], object]) -> None:
    with contextlib.suppress(OSError):
        step()


def _remove_databases(folder: Path) -> None:
    for name in (DATABASE, OPERATORS):
        for path in folder.glob(f"{name}*"):
            _without_fault(path.unlink)


def _find(settings: Settings) -> None:
    """Look whether there is a service at all.

    Raises:
        StartRefused: There is none, or it has lost its database.
    """
    path = settings.data / DATABASE
    if path.exists():
        return
    if is_empty(settings) and not os.path.lexists(settings.anchor_path):
        raise StartRefused(f"There is no service in {settings.data}; `fairdeal init` makes one.")
    raise StartRefused(
        f"There is no {path}: `fairdeal restore` puts a backup in its place, unless "
        "`fairdeal init` was cut off here and never printed a key; then remove what it has left, "
        "and begin again."
    )


def verify_origin(identity: Identity, settings: Settings) -> None:
    """Hold what a database says of itself against the settings.

    Raises:
        StartRefused: It is of a log of another name.
    """
    if identity.origin != settings.log_origin:
        raise StartRefused(
            f"The data folder is of the log {identity.origin}, and the settings name "
            f"{settings.log_origin}."
        )


def verify_mode(identity: Identity, settings: Settings) -> None:
    """Hold the mode of a database against that of the settings, whatever their origin is.

    Raises:
        StartRefused: They are two. Spec: LOG-33.
    """
    mode = mode_of(identity.origin)
    if mode != settings.mode:
        raise StartRefused(
            f"The service in {settings.data} is in {mode} mode, where keys of {settings.mode} mode "
            f"are refused; `--mode {mode}` makes one that works."
        )


def _identity_of(path: Path) -> tuple[int, int] | None:
    """Which file has a name; None if none has."""
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    return status.st_dev, status.st_ino


class Service:
    """Everything that is alive while the service runs."""

    _more_to_forget = False
    _sweeper: asyncio.Task[None] | None = None

    def __init__(
        self,
        settings: Settings,
        *,
        fatal: Callable[[BaseException], object] = ledgers.end_process,
        take_over: bool = False,
    ) -> None:
        """Open a data folder and hold it against its anchor. Spec: LOG-7, LOG-21.

        Args:
            settings: Where it is.
            fatal: What to do when the result of a commit is not known.
            take_over: Whether to go on in the place of a process that holds the lock.

        Raises:
            StartRefused: Something is not as it must be; one sentence says what.
        """
        self.settings = settings
        self.draining = False
        self.frozen = False
        folder = settings.data
        _find(settings)
        with contextlib.ExitStack() as undo:
            lock = system.hold_lock(folder / LOCK, take_over=take_over)
            undo.callback(system.release_lock, lock)
            store = sqlite_store.SQLiteStore(folder / DATABASE)
            writer = store.writer()
            undo.callback(writer.close)
            self.reader = store.reader()
            undo.callback(self.reader.close)
            keys = system.read_keys(settings.keys_path, self.reader.identity().sealing_id)
            anchor = Anchor(settings.anchor_path)
            undo.callback(anchor.close)
            self._check_identity(keys, anchor)
            tree, head = self._take_head(writer, anchor)
            self.signing_key = keyring.in_force(settings.log_origin, keys, self.log_keys)
            note = Checkpoint(settings.log_origin, head.size, head.root).sign(self.signing_key)
            # From here on nobody else can commit; but who has committed may be about to anchor it.
            with anchor.held():
                if verify_start(tree, anchor.load(self.log_keys)):
                    anchor.replace(note)
            self._anchor = anchor
            self.settled = self.settle_log_key(self.signing_key)
            self._settle_sealing(keys, writer)
            anchor.forget_seen()
            self.witnesses = Witnesses(settings)
            checkpoint = Checkpoint(settings.log_origin, head.size, head.root)
            self.witnesses.ask_at_start(tree, checkpoint, note)
            operators = OperatorKeys(folder / OPERATORS)
            operators.refresh()
            undo.callback(operators.close)
            self._close = undo.pop_all()
        self._tree = tree
        self._rotations: dict[str, Any] | None = None
        self.operators = operators
        self.clock = system.Clock(head.at)
        self.sealer = Sealer(self.sealing_key, settings.log_origin)
        self.metrics = Metrics()
        self.credentials = Credentials(operators, self.reader, settings.mode)
        self.ledger = Ledger(
            writer=writer,
            anchor=anchor,
            key=self.signing_key,
            tree=tree,
            head=head,
            note=note,
            clock=self.clock,
            seal=partial(self.sealer.seal, "answer"),
            fatal=fatal,
        )
        self.deadlines = Deadlines()
        self.quiet = QuietConnections(settings.head_seconds)
        self.bodies = Bodies(settings.body_seconds, settings.max_in_flight)
        self.dealer = self._make_dealer()
        self._measure()
        self._file, self._fatal = _identity_of(folder / DATABASE), fatal

    def _make_dealer(self) -> Dealer:
        slots = Slots(self.reader, self.sealer, self.settings.cached_tables)
        slots.follows = keyring.follows(self.reader)
        return Dealer(
            slots=slots,
            ledger=self.ledger,
            reader=self.reader,
            deadlines=self.deadlines,
            sealer=self.sealer,
            clock=self.clock,
            metrics=self.metrics,
            max_waiting=self.settings.max_waiting,
        )

    def _measure(self) -> None:
        self.metrics.gauge("log_size", lambda: self.ledger.size)
        self.metrics.gauge("log_frozen", lambda: int(self.frozen))
        self.metrics.gauge("ledger_batches", lambda: self.ledger.batches)

    def _take_head(self, writer: sqlite_store.SQLiteWriter, anchor: Anchor) -> tuple[Tree, Head]:
        """Look at the whole log, and take it over as it was seen. Spec: LOG-20, LOG-21."""
        tree = LogTree()
        for _ in range(_ATTEMPTS):
            # First the anchor: beside a process that runs the database is never behind it.
            self.log_keys = keyring.log_keys(self.reader)
            anchored = anchor.load(self.log_keys)
            head = self.reader.head()
            # What is still being read would hold the reader where the database was.
            with contextlib.closing(self.reader.leaves(len(tree))) as leaves:
                tree.extend(itertools.islice(leaves, max(head.size - len(tree), 0)))
                more = next(leaves, None) is not None
            others = StartRefused(
                f"The database's head names {head.size} entries and its events are others; "
                "`fairdeal fsck` says more."
            )
            if len(tree) != head.size or tree.root() != head.root:
                raise others
            verify_start(tree, anchored)
            keyring.verify_roots(self.log_keys, tree)
            anchor.verify_seen(tree, self.log_keys)
            if (mine := writer.begin_epoch(head)) is not None:
                if more:
                    raise others
                return tree, mine
        raise StartRefused(
            "Another process goes on writing to the database; end it first.", system.EXIT_LOST
        )

    def _check_identity(self, keys: system.Keys, anchor: Anchor) -> None:
        mine = self.reader.identity()
        verify_origin(mine, self.settings)
        self.log_keys = keyring.log_keys(self.reader)
        keyring.in_force(mine.origin, keys, self.log_keys, anchor, self.reader.head().size)
        self.sealing_key = keyring.sealing_key(keys, mine)

    def _settle_sealing(self, keys: system.Keys, writer: sqlite_store.SQLiteWriter) -> None:
        """Finish a rotation of the sealing key that was cut off after it was committed."""
        # Once more: nobody else can change it any more, but somebody may just have done so.
        self.sealing_key = keyring.sealing_key(keys, self.reader.identity())
        unsettled = self.sealing_key is not keys.sealing
        # The old key stays for as long as the files hold what it opens.
        self.sealing_settled = unsettled and writer.scrub()
        self.sealing_waits = unsettled and not self.sealing_settled
        if self.sealing_settled:
            self.settle_sealing_key(self.sealing_key)

    def settle_log_key(self, key: SigningKey) -> bool:
        """Give the log key in force its name, if it has not got it; whether it had not.

        To look which file takes the name and to give it are two steps. A process that slept between
        them could give it to a key of a later rotation, and the one in force would be gone: so
        nobody else gives names meanwhile. Spec: LOG-29.
        """
        with self._anchor.held():
            return keyring.settle(self.settings.keys_path, key)

    def settle_sealing_key(self, key: system.SealingKey) -> bool:
        """The same for the sealing key."""
        with self._anchor.held():
            return keyring.settle_sealing(self.settings.keys_path, key)

    @property
    def verifier_key(self) -> VerifierKey:
        """The public half of the key in force."""
        return self.log_keys.current

    async def start(self, *, watch: bool = True) -> None:
        """Begin to write, and to watch deadlines.

        Args:
            watch: Whether to watch them; without, nothing happens that was not asked for.
        """
        self.ledger.start(asyncio.get_running_loop())
        self.witnesses.start(self.ledger, self.metrics)
        self.deadlines.restart(self.reader.open_hands())
        if watch:
            self._sweeper = asyncio.create_task(self._watch())
        if self.settled:
            LOG.write("key.settled", size=self.ledger.size)
        if self.sealing_settled:
            LOG.write("sealing.settled", size=self.ledger.size)
        if self.sealing_waits:
            LOG.write("sealing.unsettled", size=self.ledger.size)
        LOG.write(
            "service.started",
            origin=self.settings.log_origin,
            mode=self.settings.mode,
            size=self.ledger.size,
        )

    async def _watch(self) -> None:
        """Sweep until cancelled."""
        for turn in itertools.count(1):
            await asyncio.sleep(_TICK_SECONDS)
            try:
                await self.sweep(turn)
            except Exception as error:  # noqa: BLE001 - the next sweep tries again
                LOG.write("sweep.failed", error=type(error).__name__)

    async def sweep(self, turn: int) -> None:
        """Do what is due without being asked: some of it at each turn, some now and then.

        Spec: HAND-18, TBL-3.
        """
        if turn % _REVOKED_EVERY == 0:
            self.operators.refresh()
            self.ledger.look_at_epoch(self.reader.head())
            if _identity_of(self.settings.data / DATABASE) != self._file:
                # Removed, or another in its place: what is written now has no name any more, and
                # would be gone with this process.
                self._fatal(FileNotFoundError())
        self.quiet.sweep()
        self.bodies.sweep()
        if self.frozen:
            return  # nothing is written any more
        for table in self.deadlines.take_passed(_AT_A_TIME):
            if not await self.dealer.expire(table):
                self.deadlines.set(table, 1)
        if turn % _IDLE_EVERY == 0:
            for row in self.reader.idle_before(self.clock.now(), _AT_A_TIME):
                await self.dealer.close_idle(row.id)
        if turn % _FORGET_EVERY == 0 or self._more_to_forget:
            self._more_to_forget = await self.dealer.forget(self.clock.now() - _DAY)

    def rotations(self) -> dict[str, Any]:
        """What the log publishes of its rotations: they only change while it is stopped."""
        if self._rotations is None:
            self._rotations = keyring.published(self.reader, self._tree)
        return self._rotations

    def freeze(self, note: str, size: int) -> None:
        """A checkpoint that this key has signed is not of this log: write nothing more.

        Args:
            note: The checkpoint, signed.
            size: That it names.

        Spec: LOG-22.
        """
        first, self.frozen = not self.frozen, True
        self.ledger.freeze()
        self.dealer.wake_all()
        if first:
            LOG.write("log.frozen", level="CRITICAL", size=size)
            try:
                self._anchor.keep_seen(note)
            except OSError as error:  # then a restart would forget; this process does not
                LOG.write("log.frozen_not_kept", level="CRITICAL", error=type(error).__name__)

    async def stop(self) -> None:
        """Finish what is in flight and let go of everything."""
        self.draining = True
        self.dealer.wake_all()
        if self._sweeper is not None:
            self._sweeper.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._sweeper
        await self.witnesses.stop()
        await self.ledger.stop()
        self._close.close()
        LOG.write("service.stopped", size=self.ledger.size)


def database_path(settings: Settings) -> Path:
    """Where the database is.

    Raises:
        StartRefused: There is none.
    """
    path = settings.data / DATABASE
    if not path.exists():
        raise StartRefused(f"There is no database {path}; `--data` says where the service is.")
    return path
