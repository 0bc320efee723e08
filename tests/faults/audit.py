"""Judge a service from outside: its public API against what its clients wrote down.

Nothing of the service's insides is looked at. What the clients hold are whole answers, kept in
files of their own; what the service says are its checkpoint, its tiles and its tables' events.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fairdeal.errors import FairdealError
from fairdeal.events import TableOpened, parse_event
from fairdeal.log.checkpoint import Checkpoint
from fairdeal.log.note import VerifierKey
from fairdeal.log.proof import Receipt
from fairdeal.log.tiles import WIDTH, Tile, parse_bundle
from fairdeal.merkle import Tree, leaf_hash
from fairdeal.table import Table
from tests.faults.wire import Wire

_ENOUGH = 20
# Commitments, seals and seeds of a log: by the type of an event, where they are in it.
_ONCE = {
    "table.opened": ("next_commitment",),
    "hand.opened": ("next_commitment",),
    "seeds.sealed": ("seals",),
    "seeds.opened": ("seeds",),
    "hand.disclosed": ("server_seed",),
    "table.closed": ("unused_seed",),
}


@dataclass
class Journal:
    """One client's file: a line before each request, and one after each whole answer."""

    path: Path
    offset: int = 0

    def news(self) -> Iterator[dict[str, Any]]:
        """Lines that were not read before."""
        if not self.path.exists():
            return
        with self.path.open("rb") as file:
            file.seek(self.offset)
            for line in file:
                self.offset += len(line)
                yield json.loads(line)


@dataclass
class Audit:
    """What has been seen so far, and what was wrong with it."""

    key: VerifierKey
    journals: list[Journal]
    entries: list[bytes] = field(default_factory=list)
    tree: Tree = field(default_factory=Tree)
    tables: dict[str, Table] = field(default_factory=dict)
    broken_tables: set[str] = field(default_factory=set)
    once: dict[tuple[str, str], int] = field(default_factory=dict)
    checkpoints: dict[int, bytes] = field(default_factory=dict)
    acked: dict[int, str] = field(default_factory=dict)
    """Acknowledged events, by index."""
    lost: set[int] = field(default_factory=set)
    answers: dict[str, str] = field(default_factory=dict)
    """The first answer to each idempotency key."""
    requests: dict[str, dict[str, Any]] = field(default_factory=dict)
    repeated_puts: set[str] = field(default_factory=set)
    """Tables at which a PUT came again."""
    counts: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)

    def fault(self, sentence: str) -> None:
        self.counts["faults"] += 1
        if len(self.faults) < _ENOUGH:
            self.faults.append(sentence)

    # --- what the clients hold ------------------------------------------------------------------

    def read_journals(self) -> list[dict[str, Any]]:
        """Take in the clients' news; gives the new acknowledgements."""
        acks = []
        for journal in self.journals:
            for line in journal.news():
                if line["kind"] == "sent":
                    self.requests[line["key"]] = line
                    self.counts["requests"] += 1
                elif line["kind"] == "answered":
                    self._answered(line, acks)
                elif line["kind"] == "senseless":
                    self.fault(f"A client could not go on with an answer: {line['error']}.")
                else:
                    self.counts[line["kind"]] += 1
        return acks

    def _answered(self, line: dict[str, Any], acks: list[dict[str, Any]]) -> None:
        self.counts["answers"] += 1
        if not 200 <= line["status"] < 300:
            self.counts["refused"] += 1
            return
        acks.append(line)
        self.counts["acked"] += 1
        self.counts["replayed"] += line["replayed"]
        request = self.requests[line["key"]]
        if line["attempt"]:
            self.counts["recovered"] += 1
        if request["method"] != "POST":
            if line["status"] == 200:
                self.repeated_puts.add(request["path"].split("/")[3])
            return
        # A PUT has no kept answer: its receipt is as new as the request.
        first = self.answers.setdefault(line["key"], line["body"])
        if first != line["body"]:
            self.fault(f"{request['path']}: a repeated request got other bytes.")

    def _accept(self, acks: list[dict[str, Any]]) -> None:
        for ack in acks:
            body = json.loads(ack["body"])
            events = body.get("events", [])
            for event in events:
                known = self.acked.setdefault(event["index"], event["event"])
                if known != event["event"]:
                    self.fault(f"Index {event['index']} was given to two events.")
            if body.get("receipt"):
                self._receipt(body["receipt"], events[-1] if events else None)

    def _receipt(self, text: str, event: dict[str, Any] | None) -> None:
        try:
            receipt = Receipt.parse(text)
            if event is None:
                self.fault("A receipt without an event.")
                return
            checkpoint = receipt.verify(event["event"].encode(), self.key, lone=True)
        except FairdealError as error:
            self.fault(f"A receipt is not valid: {error.code}.")
            return
        if receipt.index != event["index"]:
            self.fault("A receipt is for another index.")
        self.saw(checkpoint)

    def saw(self, checkpoint: Checkpoint) -> None:
        """A signed head: the log may never again be anything that does not extend it."""
        if self.checkpoints.setdefault(checkpoint.size, checkpoint.root) != checkpoint.root:
            self.fault(f"Two roots were signed for size {checkpoint.size}: the log is forked.")

    # --- what the service says ------------------------------------------------------------------

    def look(self, port: int, *, thorough: bool = False) -> None:
        """Hold the service against everything that is known of it. Nobody writes meanwhile."""
        acks = self.read_journals()
        self._accept(acks)
        with Wire(port) as wire:
            note = wire.ask("GET", "/log/checkpoint").body.decode()
            try:
                checkpoint = Checkpoint.open(note, self.key, lone=True)
            except FairdealError as error:
                self.fault(f"The checkpoint is not valid: {error.code}.")
                return
            largest = max(self.checkpoints, default=0)
            if checkpoint.size < largest:
                self.fault(f"The head went back from {largest} to {checkpoint.size}.")
            self._take(self._download(wire, checkpoint.size))
            # Before it is added to the heads that were seen: it is the one that is looked at.
            if self.tree.root() != checkpoint.root:
                self.fault(f"The tiles do not give the root of the head of {checkpoint.size}.")
            self._check_hashes(wire)
            self.saw(checkpoint)
            self._check_checkpoints()
            self._check_acked(range(len(self.entries)) if thorough else None)
            touched = {json.loads(ack["body"]).get("table", "") for ack in acks} - {""}
            for table in sorted(self.tables if thorough else touched & set(self.tables)):
                self._check_table(wire, table)
            if thorough:
                for index in range(0, len(self.entries), 1 + len(self.entries) // 100):
                    text = wire.ask("GET", f"/v1/receipts/{index}").body.decode()
                    event = {"index": index, "event": self.entries[index].decode()}
                    self._receipt(text, event)

    def _download(self, wire: Wire, size: int) -> list[bytes]:
        found: list[bytes] = []
        while len(found) < size:
            tile = Tile(-1, len(found) // WIDTH, min(WIDTH, size - len(found)))
            bundle = parse_bundle(wire.ask("GET", f"/log/{tile.path}").body)
            if len(bundle) != tile.width:
                self.fault(f"{tile.path} has {len(bundle)} entries.")
                break
            found += bundle
        return found

    def _check_hashes(self, wire: Wire) -> None:
        size = len(self.tree)
        number = (size - 1) // WIDTH
        if size:
            tile = Tile(0, number, size - WIDTH * number)
            expected = b"".join(self.tree.levels[0][WIDTH * number :])
            if wire.ask("GET", f"/log/{tile.path}").body != expected:
                self.fault(f"{tile.path} holds other hashes than the entries give.")

    def _take(self, found: list[bytes]) -> None:
        """Take in the log, which must be the known one and more."""
        if found[: len(self.entries)] != self.entries:
            self.fault("Entries that were seen are gone or are others now.")
            self.entries, self.tree, self.tables, self.once = [], Tree(), {}, {}
            self.broken_tables = set()
        for raw in found[len(self.entries) :]:
            self._fold(len(self.entries), raw)
            self.entries.append(raw)
            self.tree.append(leaf_hash(raw))

    def _fold(self, index: int, raw: bytes) -> None:
        value = json.loads(raw)
        table = value["table"]
        for name in _ONCE.get(value["type"], ()):
            found = value[name]
            for secret in found.values() if isinstance(found, dict) else [found]:
                kind = "commitment" if name == "next_commitment" else name
                if self.once.setdefault((kind, secret), index) != index:
                    self.fault(f"Entry {index}: {kind} of entry {self.once[kind, secret]} again.")
        if table in self.broken_tables:
            return
        try:
            event = parse_event(raw)
            if isinstance(event, TableOpened):
                if table in self.tables:
                    self.fault(f"Entry {index}: {table} begins again.")
                self.tables[table] = Table.open(event)
            else:
                self.tables[table] = self.tables[table].apply(event)
        except (FairdealError, KeyError) as error:
            self.broken_tables.add(table)
            self.fault(f"Entry {index}: {value['type']} does not follow at {table}: {error!r}.")

    def _check_checkpoints(self) -> None:
        for size, root in self.checkpoints.items():
            if size > len(self.tree) or self.tree.root(size) != root:
                self.fault(f"The log does not extend its head of {size}.")

    def _check_acked(self, indexes: range | None) -> None:
        for index in self.acked if indexes is None else [i for i in indexes if i in self.acked]:
            raw = self.acked[index].encode()
            if (index >= len(self.entries) or self.entries[index] != raw) and (
                index not in self.lost
            ):
                self.lost.add(index)
                self.fault(f"Entry {index} was acknowledged and is not there.")
        self.counts["lost"] = len(self.lost)

    def _check_table(self, wire: Wire, table: str) -> None:
        after, more = -1, True
        while more:
            page = wire.ask("GET", f"/v1/tables/{table}/events?after={after}&limit=200").json()
            for event in page["events"]:
                if event["seq"] != after + 1:
                    self.fault(f"{table}: event {event['seq']} follows {after}.")
                after, index = event["seq"], event["index"]
                if index >= len(self.entries) or self.entries[index] != event["event"].encode():
                    self.fault(f"{table}: event {after} is not entry {index} of the log.")
            more = page["has_more"]
        if table not in self.broken_tables and after != self.tables[table].seq:
            self.fault(f"{table} shows {after} and the log has {self.tables[table].seq}.")

    # --- at the end -----------------------------------------------------------------------------

    def unacknowledged(self) -> list[int]:
        """Entries that no whole answer has named: legal, if whoever asks again is told of them."""
        return [index for index in range(len(self.entries)) if index not in self.acked]
