"""The ceiling of `api_hand`: the protocol alone behind HTTP, nothing stored and nothing checked.

The least that a service on this core can do: read the JSON, put the events through the state
machine, derive the deck, write the cards with their proofs. There is no log, no signature, no
database, no credential, no idempotency, no validation of the request, and no framework.
"""

from __future__ import annotations

import gc
import json
import os
import time
from collections.abc import Awaitable, Callable
from typing import Any

from fairdeal.dealing import Dealing
from fairdeal.events import (
    HandClosed,
    HandEvent,
    HandOpened,
    Header,
    SeedsOpened,
    SeedsSealed,
    TableOpened,
    Timeouts,
)
from fairdeal.games import game_named
from fairdeal.hand import Hand
from fairdeal.log.note import SigningKey
from fairdeal.seeds import Seal, SeatSeed, ServerSeed, commit
from fairdeal.table import Table
from fairdeal_api import views
from fairdeal_api.json_bytes import encode

KEY = SigningKey("bench.example/log", bytes(32))
TABLES: dict[str, Slot] = {}
Send = Callable[[dict[str, Any]], Awaitable[None]]
Receive = Callable[[], Awaitable[dict[str, Any]]]


def _now() -> int:
    return time.time_ns() // 1_000_000


class Slot:
    """A table in memory."""

    def __init__(self, name: str) -> None:
        self.seed = ServerSeed(os.urandom(32))
        terms = TableOpened(
            header=Header(name, 0, None, _now()), origin=KEY.name, log_key=str(KEY.verifier),
            game="mus", ruleset=game_named("mus").ruleset({}, play=None), seats=4,
            contribute=(0, 1, 2, 3), keys={}, custody="operator", timeouts=Timeouts(),
            disclosure="hand", referee=False, next_commitment=commit(self.seed),
        )  # fmt: skip
        self.table = Table.open(terms)
        self.dealing: Dealing | None = None

    def apply(self, event: HandEvent) -> None:
        self.table = self.table.apply(event)
        if self.dealing is not None:
            self.dealing = self.dealing.after(self.hand, event)

    @property
    def hand(self) -> Hand:
        assert self.table.hand is not None
        return self.table.hand

    @property
    def opened(self) -> dict[str, Any]:
        """The answer to its own opening."""
        return {
            "table": self.table.id,
            "terms": self.table.terms.hex(),
            "next_commitment": self.table.next_commitment.hex(),
        }

    def answer(self, what: str, body: dict[str, Any]) -> dict[str, Any]:
        """What the three requests do."""
        return {"hands": self.open, "deal": self.deal, "close": self.close}[what](body)

    def open(self, body: dict[str, Any]) -> dict[str, Any]:
        table, seed = self.table, self.seed
        number = 1 + (table.hand.number if table.hand else 0)
        self.seed, self.dealing = ServerSeed(os.urandom(32)), None
        first = table.first_choices()[0]
        self.apply(
            HandOpened(
                header=table.header(_now()), hand=number, terms=table.terms,
                commitment=table.next_commitment, next_commitment=commit(self.seed),
                first=first, match=None,
            )
        )  # fmt: skip
        self.dealing = Dealing(self.hand, seed, {})
        seals = {int(seat): Seal(bytes.fromhex(value)) for seat, value in body["seals"].items()}
        header = self.table.header(_now())
        self.apply(SeedsSealed(header=header, hand=number, seals=seals, sigs={}))
        hand = self.hand
        return {
            "commitment": hand.commitment.hex(),
            "next_commitment": hand.next_commitment.hex(),
            **views.sealing(hand),
        }

    def deal(self, body: dict[str, Any]) -> dict[str, Any]:
        hand = self.hand
        assert hand.head is not None
        seeds = {int(s): SeatSeed(bytes.fromhex(value)) for s, value in body["seeds"].items()}
        header = self.table.header(_now())
        self.apply(
            SeedsOpened(
                header=header, hand=hand.number, epoch=0, head=hand.head, seeds=seeds, sigs={}
            )
        )
        self._due()
        assert self.dealing is not None
        return views.dealt(self.hand, self.dealing)

    def close(self, _body: dict[str, Any]) -> dict[str, Any]:
        hand = self.hand
        self.apply(HandClosed(header=self.table.header(_now()), hand=hand.number, result=None))
        assert self.dealing is not None
        event = self.dealing.disclose(self.table.header(_now()))
        self.apply(event)
        return {"server_seed": event.server_seed.hex()}

    def _due(self) -> None:
        assert self.dealing is not None
        while (event := self.dealing.due(self.table.header(_now()))) is not None:
            self.apply(event)


async def app(scope: dict[str, Any], receive: Receive, send: Send) -> None:
    """Three requests: `../hands`, `../deal`, `../close`."""
    if scope["type"] != "http":
        return
    raw = await body_of(receive)
    path = scope["path"].split("/")
    if path[-1] == "tables":
        name = new_name(len(TABLES))
        TABLES[name] = Slot(name)
        answer = TABLES[name].opened
    else:
        answer = TABLES[path[3]].answer(path[-1], json.loads(raw))
    await reply(send, encode(answer))


def new_name(number: int) -> str:
    """A table's id."""
    return "tbl_" + str(number).rjust(26, "0")


async def body_of(receive: Receive) -> bytes:
    """A request's body."""
    message = await receive()
    raw: bytes = message["body"]
    while message.get("more_body"):
        message = await receive()
        raw += message["body"]
    return raw


async def reply(send: Send, data: bytes) -> None:
    """Send an answer."""
    length = str(len(data)).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", length)]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": data})


gc.collect()
gc.freeze()
