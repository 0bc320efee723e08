"""Replays a whole log: every table's chain, every hand. Spec: AUD-2, AUD-3."""

import json
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from hashlib import sha256
from itertools import islice
from multiprocessing import get_context
from multiprocessing.connection import Connection
from operator import itemgetter
from pathlib import Path

from fairdeal_audit.continued import Continued, is_test, noted
from fairdeal_audit.hands import card_finding
from fairdeal_audit.heads import HEAD_FILE, parse_head
from fairdeal_audit.keys import keys_of
from fairdeal_audit.lost import Lost, held_against
from fairdeal_audit.overdue import overdue
from fairdeal_audit.progress import Finding, Tally
from fairdeal_audit.store import NAME, Store, Value
from fairdeal_audit.table import event_at
from fairdeal_audit.tiles import WIDTH, Folder, IncompleteError
from fairdeal_audit.worker import Round, Worker, serve
from fairdeal_verifier.encoding import FormatError
from fairdeal_verifier.note import Checkpoint, LogKey
from fairdeal_verifier.rotation import Keys

BUNDLES = 32
"""Done in one step; so much is done again after a kill."""
GRACE = 3600
MOST_FINDINGS = 10_000
_MOST_OPEN = 2 * MOST_FINDINGS
"""So many in all, with those of hands under way."""
_SECOND = 1000

Told = Callable[[int, int, int, int, float], None]
"""Is told entries done, of how many, and of this run the entries, hands and seconds."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a replay came to.

    Attributes:
        head: The log's checkpoint.
        tally: Counts.
        keys: Its keys.
        continued: What it says of the log that it continues, or None.
        running: Hands under way.
        hidden: Hands that have ended and are not due to be disclosed yet.
        findings: In the order of the log.
        lost: What may prove each `LOST`, by its text.
    """

    head: Checkpoint
    keys: Keys
    continued: Continued | None
    tally: Tally
    running: int
    hidden: int
    findings: tuple[Finding, ...]
    lost: Lost


def head_of(folder: Path, keys: Keys) -> Checkpoint:
    """Reads a folder's checkpoint.

    Raises:
        IncompleteError: There is none that the key in force has signed.
    """
    try:
        head = parse_head((folder / HEAD_FILE).read_bytes())
    except (OSError, FormatError) as error:
        raise IncompleteError(f"{folder / HEAD_FILE}: {error}") from None
    if not keys.have_signed(head):
        raise IncompleteError(f"{folder / HEAD_FILE} is not signed by the log's key")
    return head


def replay(
    folder: Path,
    key: LogKey,
    *,
    processes: int = 1,
    grace: int = GRACE,
    continues: Path | None = None,
    told: Told = lambda *_progress: None,
) -> Outcome:
    """Replays a log in a folder, from where an earlier replay has come to.

    Args:
        folder: As `fetch` leaves it, or any in the layout of LOG-8.
        key: The log's key, or one of them if it has had several.
        processes: How many work at once.
        grace: Seconds after a deadline before it counts as missed.
        continues: The folder of the log that this one continues, to be held against it.
        told: Is told of progress.

    Raises:
        IncompleteError: The folder does not hold what the checkpoint says.
        ValueError: The log does not continue that other one.

    Spec: AUD-2, AUD-9, AUD-10
    """
    keys = keys_of(folder, key)
    head = head_of(folder, keys)
    log = Folder(folder, head.size)
    log.check()
    if log.root() != head.root:
        raise IncompleteError("the folder's tiles do not have its checkpoint's root")
    lost = held_against(log, head, keys, continues) if continues else {}
    store = _store(folder, log, keys)
    try:
        if int(store.meta("size") or 0) < log.size:
            workers = (
                _Alone(log, keys, store)
                if processes == 1
                else _Others(folder, log, keys, processes)
            )
            try:
                _follow(log, keys, store, workers, told)
            finally:
                workers.close()
        return _outcome(log, head, keys, store, grace, lost)
    finally:
        store.close()


def _store(folder: Path, log: Folder, keys: Keys) -> Store:
    """Opens what was done before, if it was done of this log and by these keys."""
    store = Store(folder / NAME)
    size = int(store.meta("size") or 0)
    if size > log.size or (
        size
        and (store.meta("root"), store.meta("keys"))
        != (log.root(size).hex(), _keys_until(keys, size))
    ):
        store.close()
        (folder / NAME).unlink()
        store = Store(folder / NAME)
    return store


def _keys_until(keys: Keys, size: int) -> str:
    """Writes which keys were known for the first entries of a log."""
    names = [f"{keys.keys[0].key_id.hex()} {keys.keys[0].public_key.hex()}"]
    names += [one.event.raw.hex() for one in keys.rotations if one.event.size < size]
    return sha256("\n".join(names).encode()).hexdigest()


class _Alone:
    """Does each step in this process, when it is waited for."""

    def __init__(self, log: Folder, keys: Keys, store: Store) -> None:
        self._worker = Worker(log, keys, store, 0, 1)
        self._asked = (0, 0)

    def ask(self, start: int, end: int) -> None:
        self._asked = (start, end)

    def wait(self) -> list[Round]:
        return [self._worker.run(*self._asked)]

    def close(self) -> None:
        """Nothing is to be closed."""


class _Others:
    """Has each step done by other processes, while this one writes down the step before.

    A worker remembers the tables of its last step, and finds those of earlier ones in the store:
    all but the last have been written when it is asked for the next.
    """

    def __init__(self, folder: Path, log: Folder, keys: Keys, processes: int) -> None:
        context = get_context("spawn")
        self._pipes: list[Connection] = []
        self._children = []
        for share in range(processes):
            ours, theirs = context.Pipe()
            where = (folder, log.size)
            arguments = (theirs, where, keys, share, processes, folder / NAME)
            child = context.Process(target=serve, args=arguments, daemon=True)
            with _deaf_to_ctrl_c():
                child.start()
            theirs.close()
            self._pipes.append(ours)
            self._children.append(child)

    def ask(self, start: int, end: int) -> None:
        for pipe in self._pipes:
            with suppress(BrokenPipeError):  # told when it is waited for
                pipe.send((start, end))

    def wait(self) -> list[Round]:
        try:
            answers = [pipe.recv() for pipe in self._pipes]
        except (EOFError, ConnectionError):
            raise IncompleteError("a process of the replay has ended; start it again") from None
        for answer in answers:
            if isinstance(answer, IncompleteError):
                raise answer
        return answers

    def close(self) -> None:
        for pipe in self._pipes:
            pipe.close()
        for child in self._children:
            child.terminate()  # in the middle of a step, if this one was stopped; it writes nothing
            child.join(10)


@contextmanager
def _deaf_to_ctrl_c() -> Iterator[None]:
    """Starts processes that do not hear Ctrl-C: it is for this one, which then ends them."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _follow(log: Folder, keys: Keys, store: Store, workers: _Alone | _Others, told: Told) -> None:
    """Follows all entries from one on, step by step."""
    done = start = int(store.meta("size") or 0)
    began, hands = time.monotonic(), 0
    tally, newest = store.tally(), int(store.meta("at") or 0)

    def ask(after: int) -> int:
        end = min((after // WIDTH + BUNDLES) * WIDTH, log.size)
        if end > after:
            workers.ask(after, end)
        return end

    end = ask(done)
    while done < log.size:
        rounds = workers.wait()
        done, end = end, ask(end)
        values = sorted([one for part in rounds for one in part.values], key=itemgetter(2))
        store.begin()
        for part in rounds:
            store.save(part.tables)
            store.add(part.findings)
            newest = max(newest, part.at)
            hands += part.tally.hands
            tally = Tally(**{n: v + asdict(part.tally)[n] for n, v in asdict(tally).items()})
        if not is_test(keys.name):
            store.add(_reuse(store, values))
        store.set("size", str(done))
        store.set("root", log.root(done).hex())
        store.set("keys", _keys_until(keys, done))
        store.set("at", str(newest))
        store.set("tally", json.dumps(asdict(tally)))
        store.end()
        told(done, log.size, done - start, hands, time.monotonic() - began)


def _reuse(store: Store, values: list[Value]) -> Iterator[Finding]:
    """Finds what stands twice in the whole log. Spec: AUD-2."""
    for (kind, _, index, table, hand), before in store.see(values):
        text = f"its {kind} was there before, in entry {before}"
        proof = (before, index) if kind == "commitment" else ()
        yield Finding(index, "REUSE", table, hand, text, proof)


def _outcome(
    log: Folder, head: Checkpoint, keys: Keys, store: Store, grace: int, lost: Lost
) -> Outcome:
    """Adds what shows only now: what nobody ended, and what others say. Spec: AUD-2, AUD-9."""
    told = [Finding(0, "LOST", "", 0, text) for text in lost]
    findings = [*told, *islice(store.findings(), MOST_FINDINGS)]
    for one in keys.rotations:
        index = one.event.size
        if index < log.size and log.entry(index) != one.event.raw:
            text = "what the log says of its keys names a log.rotated that is not there"
            findings.append(Finding(index, "KEY", "", 0, text))
    running = hidden = 0
    for name, progress in store.open_tables():
        running += bool(progress.running)
        if len(findings) < _MOST_OPEN:
            steps = [event_at(log, one) for one in progress.running]
            findings += card_finding(name, progress.hand, progress.running, steps)
        hidden += len(progress.hidden)
    now = int(store.meta("at") or 0)
    findings += islice(overdue(log, store, now, grace * _SECOND), MOST_FINDINGS)
    counted = (store.tally(), running, hidden, tuple(findings))
    return Outcome(head, keys, noted(log), *counted, lost)
