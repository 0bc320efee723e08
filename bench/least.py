"""The least service that does what `api_hand` asks for: what is left is the price of all the rest.

Around the protocol of `ceiling` there is only what an answer must not be sent without: the
caller's credential and the Idempotency-Key looked up, the body read and validated, the events in
the log under a signed checkpoint with a receipt, the next server seed and the answer sealed, and
all of it durable in one transaction a batch, with the anchor moved. There are no indexes, locks,
deadlines, problems, metrics or other routes, and nothing that was written can be found again.
"""

from __future__ import annotations

import asyncio
import gc
import hashlib
import hmac
import os
import queue
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any, Final, NamedTuple

import apsw
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from bench import ceiling
from bench.ceiling import KEY, Receive, Send, Slot
from fairdeal.events import HandEvent
from fairdeal.log.checkpoint import Checkpoint
from fairdeal.log.keys import LogKeys
from fairdeal.log.proof import Receipts
from fairdeal.merkle import EMPTY_ROOT, Tree, leaf_hash
from fairdeal_api import strict_json
from fairdeal_api.anchor import Anchor
from fairdeal_api.json_bytes import encode, encode_text
from fairdeal_api.schemas import CloseHand, Deal, OpenHand, Request

MODELS: Final[dict[str, type[Request]]] = {"hands": OpenHand, "deal": Deal, "close": CloseHand}
CALLERS: Final = {hashlib.sha256(b"Bearer none").digest()}
SEALING: Final = os.urandom(32)
_TURNS, _ENOUGH = 8, 32  # as the service's ledger gathers
_SCHEMA: Final = """
CREATE TABLE head (id INTEGER PRIMARY KEY, size INTEGER, root BLOB);
INSERT INTO head VALUES (1, 0, x'');
CREATE TABLE checkpoints (size INTEGER PRIMARY KEY, note TEXT);
CREATE TABLE events (idx INTEGER PRIMARY KEY, table_id TEXT, body BLOB);
CREATE TABLE answers (scope BLOB, request BLOB, sealed BLOB);
CREATE TABLE seeds (commitment BLOB, sealed BLOB);
"""


class _Table(Slot):
    """A table that gathers its events, with the cipher of its hand."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name
        self.events: list[bytes] = []
        self.cipher = AESGCM(SEALING)

    def apply(self, event: HandEvent) -> None:
        super().apply(event)
        self.events.append(event.raw)

    def seal(self, secret: bytes, place: bytes) -> bytes:
        nonce = os.urandom(12)
        return nonce + self.cipher.encrypt(nonce, secret, place)


class _Entry(NamedTuple):
    """What a request writes and answers."""

    future: asyncio.Future[bytes]
    table: str
    events: list[bytes]
    rest: bytes
    answer: tuple[bytes, bytes, bytes]
    seed: tuple[bytes, bytes] | None


class _Ledger:
    """The log, and the one thread that writes."""

    def __init__(self) -> None:
        self.folder = tempfile.TemporaryDirectory()  # as long as the process
        folder = Path(self.folder.name)
        self.database = apsw.Connection(str(folder / "least.db"), statementcachesize=512)
        for pragma, value in (("journal_mode", "wal"), ("synchronous", "full")):
            self.database.pragma(pragma, value)
        self.database.pragma("wal_autocheckpoint", 4000)
        self.database.execute(_SCHEMA)
        self.anchor = Anchor(folder / "anchor")
        self.anchor.create(Checkpoint(KEY.name, 0, EMPTY_ROOT).sign(KEY))
        self.anchor.load(LogKeys(KEY.verifier))
        self.tree = Tree()
        self.waiting: list[_Entry] = []
        self.busy = False
        self.loop = asyncio.get_running_loop()
        self.jobs: queue.SimpleQueue[Any] = queue.SimpleQueue()
        threading.Thread(target=self._write, daemon=True).start()

    def submit(self, *entry: Any) -> asyncio.Future[bytes]:  # noqa: ANN401 - the rest of an entry
        future: asyncio.Future[bytes] = self.loop.create_future()
        self.waiting.append(_Entry(future, *entry))
        if not self.busy:
            self.busy = True
            self.loop.call_soon(self._gather, _TURNS)
        return future

    def _gather(self, turns: int) -> None:
        if turns and len(self.waiting) < _ENOUGH:
            self.loop.call_soon(self._gather, turns - 1)
            return
        entries, self.waiting = self.waiting, []
        tree, firsts = self.tree, []
        rows: dict[str, list[tuple[Any, ...]]] = {"events": [], "answers": [], "seeds": []}
        for entry in entries:
            firsts.append(len(rows["events"]) + len(tree))
            for raw in entry.events:
                rows["events"].append((len(rows["events"]) + len(tree), entry.table, raw))
            rows["answers"].append(entry.answer)
            if entry.seed is not None:
                rows["seeds"].append(entry.seed)
        tree.extend([leaf_hash(raw) for *_, raw in rows["events"]])
        size, root = len(tree), tree.root()
        note = Checkpoint(KEY.name, size, root).sign(KEY)
        receipts = Receipts(tree, size, note)
        told = [
            (entry.future, self._answer(entry, first, receipts))
            for entry, first in zip(entries, firsts, strict=True)
        ]
        self.jobs.put((rows, size, root, note, told))

    def _answer(self, entry: _Entry, first: int, receipts: Receipts) -> bytes:
        receipt = receipts.encode(first + len(entry.events) - 1)
        shown = b",".join(
            [
                b'{"index":%d,"event":%b}' % (index, encode_text(raw))
                for index, raw in enumerate(entry.events, first)
            ]
        )
        return b'{"events":[%b],"receipt":%b,%b' % (shown, encode_text(receipt), entry.rest[1:])

    def _write(self) -> None:
        execute = self.database.execute
        while True:
            rows, size, root, note, told = self.jobs.get()
            execute("BEGIN IMMEDIATE")
            execute("UPDATE head SET size = ?, root = ? WHERE id = 1", (size, root))
            execute("INSERT INTO checkpoints VALUES (?, ?)", (size, note))
            for name, found in rows.items():
                if found:
                    row = f"({','.join('?' * len(found[0]))})"
                    marks = ",".join([row] * len(found))
                    values = [value for one in found for value in one]
                    execute(f"INSERT INTO {name} VALUES {marks}", values)
            execute("COMMIT")
            self.anchor.move(note)
            self.loop.call_soon_threadsafe(self._done, told)

    def _done(self, told: list[tuple[asyncio.Future[bytes], bytes]]) -> None:
        for future, answer in told:
            future.set_result(answer)
        if self.waiting:
            self._gather(_TURNS)
        else:
            self.busy = False


TABLES: Final[dict[str, _Table]] = {}
KEPT: Final[set[bytes]] = set()
LEDGER: Final[list[_Ledger]] = []


async def app(scope: dict[str, Any], receive: Receive, send: Send) -> None:
    """Three requests: `../hands`, `../deal`, `../close`."""
    if scope["type"] != "http":
        return
    if not LEDGER:
        LEDGER.append(_Ledger())
    raw = await ceiling.body_of(receive)
    headers = dict(scope["headers"])
    caller = hashlib.sha256(headers[b"authorization"]).digest()
    key = hashlib.sha256(caller + scope["path"].encode() + headers[b"idempotency-key"]).digest()
    if caller not in CALLERS or key in KEPT:
        raise ValueError("not for this bench")
    KEPT.add(key)
    path = scope["path"].split("/")
    if path[-1] == "tables":
        table = _Table(ceiling.new_name(len(TABLES)))
        TABLES[table.name] = table
        await ceiling.reply(send, encode(table.opened))
        return
    body = MODELS[path[-1]].model_validate(strict_json.parse(raw)).__dict__
    table, seed = TABLES[path[3]], None
    table.events = []
    answer = table.answer(path[-1], body)
    if path[-1] == "hands":
        table.cipher = AESGCM(
            hmac.digest(SEALING, f"{path[3]} {table.hand.number}".encode(), "sha256")
        )
        commitment = table.table.next_commitment
        seed = (commitment, table.seal(table.seed, commitment))
    kept = {name: value for name, value in answer.items() if name != "cards"}
    sealed = table.seal(encode(kept), key)
    rest = encode(answer)
    row = (key, hashlib.sha256(raw).digest(), sealed)
    await ceiling.reply(send, await LEDGER[0].submit(path[3], table.events, rest, row, seed))


sys.setswitchinterval(0.0005)  # as the service does
gc.collect()
gc.freeze()
gc.set_threshold(50_000, 20, 100)
