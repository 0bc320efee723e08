"""A service in memory that can cheat, for the client's checks. Seat 0 is the client's."""

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2

from fairdeal.codecs import Place
from fairdeal.events import SeedsOpened, SeedsSealed, TrumpsDeclared
from fairdeal.hashing import Digest
from fairdeal.log.tiles import hash_tile, parse_path
from fairdeal.seeds import Seal, SeatSeed
from fairdeal.table import Table
from fairdeal_api.client import Api, SeatClient
from seeds.local import Book, LocalTable

ME = 0
TOKEN = "fds_" + "A" * 43
Json = dict[str, Any]


class Service:
    """Honest unless told otherwise. The other seats are its own."""

    def __init__(self, game: str = "kozel", **terms: Any) -> None:
        self.book = Book("deal.example/log")
        self.book.append(b"an entry of some other table")
        self.local = LocalTable(self.book, game, name="c1", **terms)
        self.seeds: list[Json] = []
        """What the client has sent to be opened: the thing that it must not do too early."""
        self.claims: Callable[[str], Any] = lambda _: None
        """Is told the key of each claim."""
        self.refuse: tuple[str, int] | None = None
        """Addresses that are not served now, and the status in their place."""
        self.transcripts: dict[int, bytes] = {}
        """Files of hands that are not the newest."""
        self.cards: Callable[[Json], Json] = lambda answer: answer
        """Changes the answer with the client's cards."""

    # --- what the others do ---------------------------------------------------------------------

    @property
    def others(self) -> list[int]:
        return [seat for seat in self.local.table.terms_event.contribute if seat != ME]

    def seal_others(self) -> None:
        self.local.seal([seat for seat in self.local.hand.missing_seals if seat != ME])

    def open_others(self) -> None:
        self.local.open_seeds([seat for seat in self.local.hand.missing_seeds if seat != ME])

    def fork(self, seq: int, later: int = 1000) -> None:
        """From now on the table's history is another one from this event on, as is the log's."""
        old = self.local
        self.book = Book("deal.example/log", old.book.now + later)
        self.local = copy.copy(old)
        self.local.book = self.book
        for raw in old.book.entries[: (*old.indices, len(old.book.entries))[seq]]:
            self.book.append(raw)
        self.local.events, self.local.indices = old.events[:seq], old.indices[:seq]
        table = Table.open(old.table.terms_event)
        for event in self.local.events[1:]:
            table = table.apply(event)
        self.local.table = table
        self.local.hand_events = [e for e in self.local.hand_events if e.header.seq < seq]

    def seal_as(self, seat: int, value: Seal) -> None:
        """Log a seal in somebody's name."""
        local = self.local
        local.log(SeedsSealed(header=local.header(), hand=local.hand.number, seals={seat: value}))

    # --- HTTP -----------------------------------------------------------------------------------

    def api(self) -> Api:
        client = httpx2.Client(transport=httpx2.MockTransport(self.answer))
        return Api("http://test", client=client, attempts=2)

    def join(self, folder: Path) -> SeatClient:
        key = self.local.seat_keys.get(ME)
        return SeatClient.claim(
            self.api(),
            "fdc_" + "A" * 43,
            log_key=str(self.book.key.verifier),
            folder=folder,
            signing_key=key,
        )

    def answer(self, request: httpx2.Request) -> httpx2.Response:
        path, body = request.url.path, json.loads(request.content or b"{}")
        if self.refuse and path.startswith(self.refuse[0]):
            return httpx2.Response(self.refuse[1], json={"code": "x", "title": "Not now."})
        if path.startswith("/log/"):
            return httpx2.Response(200, content=hash_tile(self.book.tree, parse_path(path[5:])))
        if path.startswith("/v1/receipts/"):
            index = int(path.rpartition("/")[2])
            return httpx2.Response(200, text=self.book.receipt(index).text())
        if path.endswith("/transcript"):
            hand = int(path.split("/")[-2])
            file = self.transcripts.get(hand) or self.local.transcript().encode()
            return httpx2.Response(200, content=file)
        before = len(self.local.events)
        value = self._route(path, body, request)
        if isinstance(value, httpx2.Response):
            return value
        logged = self._items(before)
        if logged and request.method != "GET":
            receipt = self.book.receipt(int(logged[-1]["index"])).text()
            value |= {"events": logged, "receipt": receipt}
        return httpx2.Response(200, json=value)

    def _items(self, start: int) -> list[Json]:
        return [
            {"seq": seq, "index": self.local.indices[seq], "event": event.raw.decode()}
            for seq, event in enumerate(self.local.events)
            if seq >= start
        ]

    def _route(self, path: str, body: Json, request: httpx2.Request) -> Any:
        local, last = self.local, path.rpartition("/")[2]
        if path == "/v1/seats/claim":
            self.claims(request.headers["idempotency-key"])
            return {"table": local.table.id, "seat": ME, "token": TOKEN}
        if last == "events":
            start = int(request.url.params["after"]) + 1
            return {"events": self._items(start), "has_more": False}
        if last == "cards":
            return self.cards(self._cards())
        hand = local.hand.number
        signed = {ME: bytes.fromhex(body["sig"])} if "sig" in body else {}
        match last:
            case "seal":
                seals = {ME: Seal.from_hex(body["seal"])}
                event = SeedsSealed(header=local.header(), hand=hand, seals=seals, sigs=signed)
            case "trump":
                event = TrumpsDeclared(
                    header=local.header(), hand=hand, trumps={ME: body["suit"]}, sigs=signed
                )
            case "seed":
                self.seeds.append(body)
                event = SeedsOpened(
                    header=local.header(),
                    hand=hand,
                    epoch=body["epoch"],
                    head=Digest.from_hex(body["head"]),
                    seeds={ME: SeatSeed.from_hex(body["seed"])},
                    sigs=signed,
                )
            case "actions":
                return self._act(body["actions"][0])
            case _:
                return httpx2.Response(404, json={"code": "not_found", "title": "Nothing here."})
        local.log(event)
        return {}

    def _act(self, action: Json) -> Json:
        places = [Place(*card) for card in action["cards"]]
        if action["type"] == "show":
            self.local.show(ME, places)
        else:
            event, dealing = self.local.secrets.discard(
                self.local.header(),
                {ME: places},
                {ME: bytes.fromhex(action["sig"])} if "sig" in action else {},
            )
            self.local.dealing = dealing
            self.local.log(event)
        return {"results": [{}]}

    def _cards(self) -> Json:
        local = self.local
        held = local.secrets.holding(ME)
        k = local.hand.playing.thrown[ME]
        return {
            "seat": ME,
            "cards": [
                {
                    **local.secrets.opening(place).to_dict(),
                    "state": "held" if place in held else "discarded",
                }
                for place in local.hand.playing.received[ME]
            ],
            "next_discard": {"k": k, "salt": local.secrets.discard_salt(ME, k).hex()},
            "seq": len(local.events) - 1,
        }
