"""One process's share of a replay: the tables whose names fall to it. Spec: AUD-2, AUD-3."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from zlib import crc32

from fairdeal_audit import continued
from fairdeal_audit.chain import Chain
from fairdeal_audit.progress import Finding, Progress, Tally
from fairdeal_audit.store import Store, Value
from fairdeal_audit.table import event_at
from fairdeal_audit.tiles import WIDTH, Folder, IncompleteError
from fairdeal_verifier import log_events
from fairdeal_verifier.encoding import FormatError, UnreadableError, are_in_one_form
from fairdeal_verifier.events import Step, parse
from fairdeal_verifier.kinds import MAX_SEATS
from fairdeal_verifier.note import LogKey
from fairdeal_verifier.rotation import Keys, Rotated

# The last member of this name is the event's own: behind it stand numbers, suits and words only.
_TABLE = b'"table":"'
_NAME = 30
_MOST_AT_HAND = 20_000


@dataclass(slots=True)
class Round:
    """What came of some bundles."""

    tables: list[tuple[str, Progress]] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    values: list[Value] = field(default_factory=list)
    tally: Tally = field(default_factory=Tally)
    at: int = 0
    """The newest time."""


class Worker:
    """Follows the chains of its share of the tables."""

    def __init__(self, folder: Folder, keys: Keys, store: Store, share: int, shares: int) -> None:
        """Takes its share.

        Args:
            folder: The log.
            keys: Its keys.
            store: Where tables that it does not remember are found.
            share: 0 .. shares - 1.
            shares: How many workers there are.
        """
        self._folder, self._keys, self._store = folder, keys, store
        self._read = partial(event_at, folder)
        self._parts = continued.parts_of(folder)
        self._share, self._shares = share, shares
        self._chains: dict[str, Chain] = {}
        self._touched: dict[str, Chain] = {}

    def _chain(self, name: str, tally: Tally) -> Chain:
        chain = self._chains.get(name)
        if chain is None:
            known = self._store.progress(name) or Progress()
            chain = self._chains[name] = Chain(name, self._read, known, tally, self._keys)
        chain.tally = tally
        return chain

    def run(self, start: int, end: int) -> Round:
        """Follows the entries from one to another, whose bundles are read whole.

        Raises:
            IncompleteError: Something is not there.
        """
        done = Round()
        touched = self._touched = {}
        for number in range(start // WIDTH, -(-end // WIDTH)):
            for index, name, step in self._events(number, start, done):
                chain = touched[name] = self._chain(name, done.tally)
                chain.follow(index, step)
                done.at = max(done.at, step.at)
        for name, chain in touched.items():
            done.tables.append((name, chain.progress))
            done.findings += chain.findings
            done.values += [(kind, value, at, name, hand) for kind, value, at, hand in chain.values]
            chain.findings, chain.values = [], []
        self._chains = touched
        if sum([chain.weight for chain in touched.values()]) > _MOST_AT_HAND:
            for chain in touched.values():
                chain.forget()
        return done

    def _events(self, number: int, start: int, done: Round) -> list[tuple[int, str, Step]]:
        """Reads the own events of a bundle; what is none is a finding."""
        seats: dict[str, int] = {}
        found: list[tuple[int, str, Step]] = []
        texts: list[str] = []
        is_checked_here = number % self._shares == self._share
        folder = self._folder
        for at, raw in enumerate((folder.bundle if is_checked_here else folder.entries)(number)):
            index = number * WIDTH + at
            name = table_of(raw)
            if index < start or crc32(name) % self._shares != self._share:
                continue
            table = name.decode("ascii", "replace")
            if index < self._parts and b'"type":"log.continued"' not in raw:
                self._find(done, index, table, "a part of log.continued is not there")
            if not name and b'"type":"log.' in raw:
                self._on_log_event(done, index, raw)
                continue
            if table not in seats:
                seats[table] = self._chain(table, done.tally).progress.seats
            try:
                text = raw.decode("ascii")
                step = parse(text, seats[table] or MAX_SEATS)
            except (UnreadableError, FormatError, UnicodeDecodeError) as error:
                self._no_event(done, index, table, error)
                continue
            if step.type == "table.opened" and not seats[table]:
                seats[table] = step.body["seats"]
            found.append((index, table, step))
            texts.append(text)
        if are_in_one_form(texts, [step.body for _, _, step in found]):
            return found
        good = []
        for one, text in zip(found, texts, strict=True):
            if are_in_one_form([text], [one[2].body]):
                good.append(one)
            else:
                self._no_event(done, one[0], one[1], FormatError("it is not in its one form"))
        return good

    def _on_log_event(self, done: Round, index: int, raw: bytes) -> None:
        """Looks at an event of the log. Spec: LOG-26, LOG-30, AUD-9."""
        try:
            step = log_events.parse(raw.decode("ascii"))
        except (UnreadableError, FormatError, UnicodeDecodeError) as error:
            self._no_event(done, index, "", error)
            return
        done.at = max(done.at, step.at)
        if step.type == "log.continued":
            fault = continued.fault(self._folder, index, step, self._keys)
        else:
            fault = self._rotation_fault(index, Rotated.parse(raw.decode("ascii")))
        if fault:
            self._find(done, index, "", fault, index)

    def _rotation_fault(self, index: int, event: Rotated) -> str:
        """Says why a `log.rotated` is not good here. Spec: LOG-26, AUD-9."""
        keys = self._keys
        had = [keys.keys[0], *[one.event.new for one in keys.rotations if one.event.size < index]]
        fault = rotation_fault(event, index, self._folder.root(index), had)
        if not fault and not any(one.event.raw == event.raw for one in keys.rotations):
            fault = "it changes a key, and what the log says of its keys does not name it"
        return fault

    def _find(self, done: Round, index: int, name: str, text: str, *entries: int) -> None:
        chain = self._chain(name, done.tally)
        chain.find(index, "KEY", text, *entries, hand=0)
        self._touched[name] = chain

    def _no_event(self, done: Round, index: int, name: str, error: ValueError) -> None:
        why = "it is not ASCII" if isinstance(error, UnicodeDecodeError) else str(error)
        chain = self._chain(name, done.tally)
        chain.find(index, "ENTRY", f"it is no event: {why}")
        self._touched[name] = chain


def rotation_fault(event: Rotated, index: int, root: bytes, keys: Sequence[LogKey]) -> str:
    """Says why a `log.rotated` is not good where it stands, or "".

    Args:
        event: The change.
        index: Where it stands.
        root: Of the entries before it.
        keys: Those that the log has had by then, the one in force last.

    Spec: LOG-26
    """
    if event.size != index:
        return f"it says that it stands at {event.size}"
    if event.root != root:
        return "it names another root than that of the entries before it"
    if event.origin != keys[-1].name:
        return "it is of another origin"
    if event.old != keys[-1]:
        return "its old key is not the one in force"
    if event.new.public_key in {key.public_key for key in keys}:
        return "its new key is one that the log has had"
    return event.fault()


def table_of(raw: bytes) -> bytes:
    """Finds the table's name in an event that is not parsed yet; in what is none, anything."""
    at = raw.rfind(_TABLE)
    return raw[at + len(_TABLE) : at + len(_TABLE) + _NAME] if at >= 0 else b""


def serve(
    pipe: Connection, log: tuple[Path, int], keys: Keys, share: int, shares: int, store: Path
) -> None:
    """Works for another process, until it asks for nothing more."""
    kept = Store(store, writes=False)
    worker = Worker(Folder(*log), keys, kept, share, shares)
    while True:
        try:
            asked = pipe.recv()
        except (EOFError, KeyboardInterrupt):
            break
        if asked is None:
            break
        answer: object
        try:
            answer = worker.run(*asked)
        except IncompleteError as error:
            answer = error
        try:
            pipe.send(answer)
        except BrokenPipeError:  # who asked was killed; the next one begins where it was
            break
    kept.close()
