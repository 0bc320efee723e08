"""Two writers, a database, an anchor and a reader: every order of their steps, from the start.

The protocol of LOG-20 and LOG-21 as a machine that is small enough to be searched to its end. A
writer takes one step at a time and may stop for ever between any two (it sleeps, and wakes up
after all the others have moved on) or lose all it knows (it crashes, and starts again). The
database may be put back to an older one that a backup has kept, at any moment, under the feet of
writers that run: in the file that they have open, or in another one that only later starts see.
Whatever has been shown to anybody, checkpoints and acknowledgements, is remembered outside.

A log is the tuple of its entries; a root stands for it whole, so that two logs are consistent if
and only if one begins with the other.

Safe means: no two checkpoints were ever shown that are not consistent (no fork), and unless a
backup was put back, what was acknowledged is in the database (nothing lost).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

Log = tuple[int, ...]

# What a writer is about to do.
DOWN: Final = "down"
CHECKED: Final = "checked"  # it has seen that the database extends the anchor
COUNTED: Final = "counted"  # the epoch is its own; now the anchor must be looked at once more
READY: Final = "ready"
COMMITTED: Final = "committed"  # its entry is in the database
ANCHORED: Final = "anchored"  # the anchor names it
OUT: Final = "out"  # it has lost, and has ended


class Bounds(NamedTuple):
    """How far it is searched: without bounds it would not end."""

    entries: int = 3
    """In a log."""
    epochs: int = 4
    """That is, how many starts."""
    crashes: int = 1
    restores: int = 1


@dataclass(frozen=True)
class Protocol:
    """What is done; each switch takes one thing away."""

    compares_head: bool = True
    """The transaction compares size, root and epoch."""
    checks_anchor: bool = True
    """A start looks at the anchor."""
    compares_roots: bool = True
    """That look compares roots, not sizes alone."""
    compares_anchor: bool = True
    """The anchor is moved only from where this writer has left it."""
    anchors_first: bool = True
    """The anchor is moved before anything is shown."""
    restores_anchor: bool = False
    """A backup brings back the anchor as well: the whole machine is rolled back."""


class Writer(NamedTuple):
    """A process. What it believes may be long past."""

    at: str = DOWN
    log: Log = ()
    epoch: int = 0
    anchor: Log = ()
    """As it has seen or written it last."""
    file: int = 0
    """Which database it has open."""


class State(NamedTuple):
    """All there is."""

    files: tuple[tuple[Log, int], ...] = (((), 0),)
    """Databases: log and epoch of each. The last one has the name, and starts open it."""
    anchor: Log = ()
    writers: tuple[Writer, ...] = (Writer(), Writer())
    backup: tuple[Log, int, Log] | None = None
    shown: frozenset[Log] = frozenset()
    """Checkpoints that somebody holds: the longest of each line."""
    acknowledged: frozenset[tuple[int, int]] = frozenset()
    """Index and entry of what somebody was told of."""
    crashes: int = 0
    """That may still happen."""
    restores: int = 0
    restored: bool = False


def extends(longer: Log, shorter: Log) -> bool:
    return longer[: len(shorter)] == shorter


def new_entry(state: State, log: Log) -> int:
    """An entry that nobody has seen after this log; which one it is makes no difference."""
    logs = [state.anchor, *state.shown, *(one for one, _ in state.files)]
    logs += [writer.log for writer in state.writers] + [writer.anchor for writer in state.writers]
    if state.backup is not None:
        logs += [state.backup[0], state.backup[2]]
    size = len(log)
    taken = {other[size] for other in logs if len(other) > size and other[:size] == log}
    return next(number for number in range(len(taken) + 1) if number not in taken)


def fault_of(state: State) -> str:
    """What is wrong with a state; empty if nothing is."""
    if len(state.shown) > 1:
        return "fork"
    log, _ = state.files[-1]
    if not state.restored and any(
        log[index : index + 1] != (entry,) for index, entry in state.acknowledged
    ):
        return "loss"
    return ""


class Found(NamedTuple):
    """What a search has met."""

    states: int
    faults: frozenset[str]
    depth: int


class Model:
    """The steps of a protocol."""

    def __init__(self, protocol: Protocol, bounds: Bounds) -> None:
        self.protocol, self.bounds = protocol, bounds

    def steps(self, state: State) -> Iterator[State]:
        """Every state that may follow."""
        for number, writer in enumerate(state.writers):
            for changed, after in self._writer(state, writer):
                writers = list(changed.writers)
                writers[number] = after
                # Two writers are alike: one order of them is enough.
                yield changed._replace(writers=tuple(sorted(writers)))
            if writer.at not in (DOWN, OUT) and state.crashes:
                yield self._put(state._replace(crashes=state.crashes - 1), number, Writer())
            if writer.at == OUT:
                yield self._put(state, number, Writer())
        log, epoch = state.files[-1]
        if state.backup is None:
            yield state._replace(backup=(log, epoch, state.anchor))
        elif state.restores:
            log, epoch, anchor = state.backup
            kept = anchor if self.protocol.restores_anchor else state.anchor
            after = state._replace(anchor=kept, restores=state.restores - 1, restored=True)
            yield after._replace(files=(*state.files[:-1], (log, epoch)))
            yield after._replace(files=(*state.files, (log, epoch)))

    def _store(self, state: State, file: int, log: Log, epoch: int) -> State:
        files = list(state.files)
        files[file] = (log, epoch)
        return state._replace(files=tuple(files))

    def _put(self, state: State, number: int, writer: Writer) -> State:
        writers = list(state.writers)
        writers[number] = writer
        return state._replace(writers=tuple(sorted(writers)))

    def _accepts(self, log: Log, anchor: Log) -> bool:
        """What a start makes of database and anchor."""
        if not self.protocol.checks_anchor:
            return True
        if not self.protocol.compares_roots:
            return len(log) >= len(anchor)
        return extends(log, anchor)

    def _writer(self, state: State, me: Writer) -> Iterator[tuple[State, Writer]]:
        rules = self.protocol
        lost = Writer(OUT)
        if me.at == DOWN:
            log, epoch = state.files[-1]
            if epoch < self.bounds.epochs and self._accepts(log, state.anchor):
                yield state, Writer(CHECKED, log, epoch, file=len(state.files) - 1)
        elif me.at == CHECKED:
            if state.files[me.file] == (me.log, me.epoch):
                mine = me.epoch + 1
                yield self._store(state, me.file, me.log, mine), me._replace(at=COUNTED, epoch=mine)
            else:
                yield state, lost
        elif me.at == COUNTED:
            # Under the anchor's lock: who has committed before may have moved it meanwhile.
            if not self._accepts(me.log, state.anchor):
                yield state, lost
            elif rules.checks_anchor:
                yield state._replace(anchor=me.log), me._replace(at=READY, anchor=me.log)
            else:
                yield state, me._replace(at=READY, anchor=state.anchor)
        elif me.at == READY:
            yield from self._commit(state, me, lost)
        elif me.at == COMMITTED:
            if not rules.anchors_first:
                yield self._show(state, me), me._replace(at=ANCHORED)
            else:
                yield self._anchor(state, me, ANCHORED, lost)
        elif me.at == ANCHORED:
            if rules.anchors_first:
                yield self._show(state, me), me._replace(at=READY)
            else:
                yield self._anchor(state, me, READY, lost)

    def _commit(self, state: State, me: Writer, lost: Writer) -> Iterator[tuple[State, Writer]]:
        if len(me.log) == self.bounds.entries:
            return
        _, epoch = state.files[me.file]
        if self.protocol.compares_head and state.files[me.file] != (me.log, me.epoch):
            yield state, lost
            return
        longer = (*me.log, new_entry(state, me.log))
        # Without the comparison it writes what it believes over what is there.
        changed = self._store(state, me.file, longer, epoch)
        yield changed, me._replace(at=COMMITTED, log=longer)

    def _anchor(self, state: State, me: Writer, then: str, lost: Writer) -> tuple[State, Writer]:
        if self.protocol.compares_anchor and state.anchor != me.anchor:
            return state, lost
        return state._replace(anchor=me.log), me._replace(at=then, anchor=me.log)

    def _show(self, state: State, me: Writer) -> State:
        shown = {log for log in state.shown if not extends(me.log, log)}
        if not any(extends(log, me.log) for log in state.shown):
            shown.add(me.log)
        told = state.acknowledged | {(len(me.log) - 1, me.log[-1])}
        return state._replace(shown=frozenset(shown), acknowledged=told)


def search(protocol: Protocol, bounds: Bounds, *, until: str = "") -> Found:
    """Every state that can be reached, breadth first.

    Args:
        protocol: What is done.
        bounds: How far.
        until: A fault at which to stop; else all states are seen.
    """
    model = Model(protocol, bounds)
    start = State(crashes=bounds.crashes, restores=bounds.restores)
    seen = {start}
    waiting = deque([(start, 0)])
    faults: set[str] = set()
    depth = 0
    while waiting:
        state, depth = waiting.popleft()
        if fault := fault_of(state):
            faults.add(fault)
            if fault == until:
                break
        for after in model.steps(state):
            if after not in seen:
                seen.add(after)
                waiting.append((after, depth + 1))
    return Found(len(seen), frozenset(faults), depth)
