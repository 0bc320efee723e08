"""Two processes that change a key, or use it: every order of their steps, and a crash anywhere.

The log's key (LOG-29) and the sealing key change in the same way: the new key's file is made beside
the old one's, a transaction commits to it, and then its file takes the old one's name. Which key is
in force the database says. As in `two_writers` a process may sleep for ever between any two steps,
and no lock keeps another one from starting meanwhile (`--take-over`); what keeps them apart is the
epoch that a start raises and every transaction compares.

Safe means, in every state and so after a crash at any moment: the key that the database names is in
a file where a start looks for it (nobody is locked out); nothing was signed or sealed by a key that
was not in force; and the old sealing key's file was there for as long as the database held traces
of what it opens.

Databases that are put back are not in here: of them `two_writers` tells, and a start without the
key that they name is refused.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

NONE: Final = -1
PLAIN: Final = 0
"""An entry that changes nothing. Others are the number of the key that they change to; the first
key has no entry, and is number 0 where keys are numbered."""

Head = tuple[int, ...]

# What a process is about to do.
DOWN: Final = "down"
READ: Final = "read"  # it knows what the key files hold
CHECKED: Final = "checked"  # it knows the database, and has a key for it
OWNER: Final = "owner"  # the epoch is its own
READY: Final = "ready"
MADE: Final = "made"  # the next key has a file
COMMITTED: Final = "committed"  # the database names it
SCRUBBED: Final = "scrubbed"  # and nothing of the old one is left in it
LOOKED: Final = "looked"  # it is the next key whose file will take the name
OUT: Final = "out"  # it has lost, or is done


class Bounds(NamedTuple):
    """How far it is searched."""

    entries: int = 3
    epochs: int = 4
    keys: int = 3
    """With the first one."""
    crashes: int = 1


SHORT: Final = Bounds()


@dataclass(frozen=True)
class Procedure:
    """What is done; each switch takes one thing away."""

    seals: bool = False
    """It is the sealing key that changes: a file is scrubbed before the old key goes."""
    makes_first: bool = True
    """The next key's file is durable before the transaction."""
    keeps_made: bool = True
    """A next key that is there is taken, and never written over."""
    names_last: bool = True
    """The name is given after the transaction."""
    looks: bool = True
    """The name is given to the key in force and to no other."""
    holds: bool = True
    """Between this look and the name nobody else gives names."""
    asks_database: bool = True
    """A start takes the key that the database names, and not the one that has the name."""
    compares_head: bool = True
    """The transaction compares head and epoch."""
    new_signs: bool = True
    """The head that covers the change is the new key's."""
    scrubs_first: bool = True
    """What the old sealing key opens is gone before the key is."""


class Process(NamedTuple):
    """What it believes may be long past."""

    at: str = DOWN
    current: int = NONE
    """The key files, as it has read them."""
    following: int = NONE
    head: Head = ()
    epoch: int = 0
    key: int = NONE
    """With which it signs or seals."""
    rotates: bool = False
    """It gives a name after a commit of its own, and then ends; else at its start."""


class State(NamedTuple):
    """All there is."""

    head: Head = ()
    epoch: int = 0
    dirty: bool = False
    """The database's file holds traces of what a former key opens."""
    current: int = 0
    following: int = NONE
    made: int = 1
    """So many keys were made."""
    processes: tuple[Process, ...] = (Process(), Process())
    wrong: bool = False
    """Something was signed or sealed by a key that was not in force."""
    crashes: int = 0


def in_force(head: Head) -> int:
    """The key that a database names."""
    return next((entry for entry in reversed(head) if entry != PLAIN), 0)


def before(head: Head) -> int:
    """The key before that one; NONE for the first."""
    changes = [entry for entry in head if entry != PLAIN]
    return ([NONE, 0, *changes])[len(changes)]


def fault_of(state: State, procedure: Procedure) -> str:
    """What is wrong with a state; empty if nothing is."""
    if state.wrong:
        return "wrong key"
    if not finds(state.head, state.current, state.following, procedure):
        return "locked out"
    if state.dirty and before(state.head) not in (state.current, state.following):
        return "traces"
    return ""


def finds(head: Head, current: int, following: int, procedure: Procedure) -> bool:
    """Whether a start finds its key in the files."""
    key = in_force(head)
    if procedure.seals:  # a pair that no rotation has left is not finished
        return key == current or (key == following and current == before(head))
    return key in (current, following)


class Model:
    """The steps of a procedure."""

    def __init__(self, procedure: Procedure, bounds: Bounds) -> None:
        self.procedure, self.bounds = procedure, bounds

    def steps(self, state: State) -> Iterator[State]:
        """Every state that may follow."""
        for number, process in enumerate(state.processes):
            for changed, after in self._process(state, process):
                yield self._put(changed, number, after)
            if process.at not in (DOWN, OUT) and state.crashes:
                crashed = state._replace(crashes=state.crashes - 1)
                yield self._put(crashed, number, Process())
            if process.at == OUT:
                yield self._put(state, number, Process())

    def _put(self, state: State, number: int, process: Process) -> State:
        processes = list(state.processes)
        processes[number] = process
        # Two processes are alike: one order of them is enough.
        return state._replace(processes=tuple(sorted(processes)))

    def _process(self, state: State, me: Process) -> Iterator[tuple[State, Process]]:
        rules, lost = self.procedure, Process(OUT)
        if me.at == DOWN:
            if state.epoch < self.bounds.epochs:
                yield state, Process(READ, state.current, state.following)
        elif me.at == READ:
            key = in_force(state.head) if rules.asks_database else me.current
            if not finds(state.head, me.current, me.following, rules) and rules.asks_database:
                yield state, lost  # refused; it may try again
            else:
                yield state, me._replace(at=CHECKED, head=state.head, epoch=state.epoch, key=key)
        elif me.at == CHECKED:
            if (state.head, state.epoch) == (me.head, me.epoch):
                mine = state.epoch + 1
                yield state._replace(epoch=mine), me._replace(at=OWNER, epoch=mine)
            else:
                yield state, lost
        elif me.at in (OWNER, COMMITTED) and rules.seals and rules.scrubs_first:
            # Nothing is to be written anew by who has no rotation to finish.
            unsettled = state.current != me.key
            yield (state._replace(dirty=False) if unsettled else state), me._replace(at=SCRUBBED)
        elif me.at in (OWNER, COMMITTED, SCRUBBED):
            yield from self._look(state, me, lost)
        elif me.at == LOOKED:
            yield from self._name(state, me, lost)
        elif me.at == READY:
            yield from self._commit(state, me, PLAIN, lost)
            if rules.makes_first:
                yield from self._make(state, me)
            elif state.made < self.bounds.keys:
                new = state.made
                yield state._replace(made=new + 1), me._replace(at=MADE, following=new)
        elif me.at == MADE:
            yield from self._commit(state, me, me.following, lost)

    def _make(self, state: State, me: Process) -> Iterator[tuple[State, Process]]:
        """The next key gets a file, unless one was left there."""
        if state.following != NONE and self.procedure.keeps_made:
            if state.following != me.key:  # the one in force is refused
                yield state, me._replace(at=MADE, following=state.following)
        elif state.made < self.bounds.keys:
            new = state.made
            changed = state._replace(following=new, made=new + 1)
            if not self.procedure.names_last:
                changed = changed._replace(current=new, following=NONE)
            yield changed, me._replace(at=MADE, following=new)

    def _commit(
        self, state: State, me: Process, entry: int, lost: Process
    ) -> Iterator[tuple[State, Process]]:
        if len(me.head) == self.bounds.entries:
            return
        if self.procedure.compares_head and (state.head, state.epoch) != (me.head, me.epoch):
            yield state, lost
            return
        head = (*me.head, entry)
        key = entry if entry != PLAIN and self.procedure.new_signs else me.key
        # Without the comparison what it believes is written over what is there.
        changed = state._replace(head=head, wrong=state.wrong or key != in_force(head))
        if entry == PLAIN:
            yield changed, me._replace(head=head)
            return
        if self.procedure.seals:
            changed = changed._replace(dirty=True)
        yield changed, me._replace(at=COMMITTED, head=head, key=entry, rotates=True)

    def _look(self, state: State, me: Process, lost: Process) -> Iterator[tuple[State, Process]]:
        """Before the name is given: is there something to do, and is it the right key's file."""
        then = OUT if me.rotates else READY
        if not self.procedure.makes_first and me.rotates and state.following == NONE:
            yield state._replace(following=me.key), me  # only now it gets its file
        elif state.current == me.key:
            yield state, self._done(me, then)
        elif self.procedure.looks and state.following != me.key:
            yield state, lost
        elif self.procedure.holds:
            yield from self._name(state, me, lost)
        else:
            yield state, me._replace(at=LOOKED)

    def _name(self, state: State, me: Process, lost: Process) -> Iterator[tuple[State, Process]]:
        if state.following == NONE:
            yield state, lost  # somebody else has given it
            return
        changed = state._replace(current=state.following, following=NONE)
        yield changed, self._done(me, OUT if me.rotates else READY)

    def _done(self, me: Process, then: str) -> Process:
        return Process(OUT) if then == OUT else me._replace(at=READY, current=NONE, following=NONE)


class Found(NamedTuple):
    """What a search has met."""

    states: int
    faults: frozenset[str]
    changed: int
    """The most keys that a database has had with the last one's file under its name."""


def search(procedure: Procedure, bounds: Bounds = SHORT, *, until: str = "") -> Found:
    """Every state that can be reached, breadth first; or as far as to the first of one fault."""
    model = Model(procedure, bounds)
    start = State(crashes=bounds.crashes)
    seen, waiting = {start}, deque([start])
    faults: set[str] = set()
    changed = 0
    while waiting:
        state = waiting.popleft()
        if fault := fault_of(state, procedure):
            faults.add(fault)
            if fault == until:
                break
            continue  # what comes of it is not asked
        if state.current == in_force(state.head):
            changed = max(changed, len([entry for entry in state.head if entry != PLAIN]))
        for after in model.steps(state):
            if after not in seen:
                seen.add(after)
                waiting.append(after)
    return Found(len(seen), frozenset(faults), changed)
