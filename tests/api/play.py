"""Players for the tests: they seal, open and check as a client does, by the core alone."""

from __future__ import annotations

import hashlib
import itertools
import json
import os
from typing import Any

from fairdeal.games import GAMES
from fairdeal.hashing import Digest
from fairdeal.seeds import Commitment, SeatSeed, seal, seed_chain

_keys = itertools.count()


def idempotency(key: str | None = None) -> dict[str, str]:
    return {"Idempotency-Key": key or f"key-{next(_keys)}"}


def bearer(secret: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {secret}"}


def expect(response: Any, status: int = 200, code: str | None = None) -> Any:
    assert response.status_code == status, response.text
    value = response.json()
    if code is not None:
        assert value["code"] == code, value
    return value


class Seats:
    """The seats' secrets of one hand."""

    def __init__(self, game: str, seats: int, terms: str, hand: int, commitment: str) -> None:
        last = [SeatSeed(os.urandom(32)) for _ in range(seats)]
        reshuffles = GAMES[game].can_reshuffle
        self.chains = [seed_chain(seed) if reshuffles else (seed,) for seed in last]
        self.seals = {
            str(seat): seal(
                Digest.from_hex(terms), hand, seat, Commitment.from_hex(commitment), chain[0]
            ).hex()
            for seat, chain in enumerate(self.chains)
        }

    def seeds(self, epoch: int = 0) -> dict[str, str]:
        return {str(seat): chain[epoch].hex() for seat, chain in enumerate(self.chains)}


class Operator:
    """A game server that holds all seats of a table (custody `operator`)."""

    def __init__(self, client: Any, key: str, game: str, **terms: Any) -> None:
        self.client, self.key, self.game = client, key, game
        if game == "azi":
            terms.setdefault("seats", 4)
        terms.setdefault("custody", "operator")
        self.opened = expect(
            client.post(
                "/v1/tables", json={"game": game, **terms}, headers={**bearer(key), **idempotency()}
            ),
            201,
        )
        self.table = self.opened["table"]
        self.seats = terms.get("seats") or GAMES[game].seats[0]
        self.next_commitment = self.opened["next_commitment"]
        self.number = 0
        self.secrets: Seats | None = None

    def url(self, rest: str = "") -> str:
        return f"/v1/tables/{self.table}/hands/{self.number}{rest}"

    def post(self, url: str, body: Any, key: str | None = None, **headers: str) -> Any:
        return self.client.post(
            url, json=body, headers={**bearer(self.key), **idempotency(key), **headers}
        )

    def hand_body(self, **more: Any) -> dict[str, Any]:
        self.secrets = Seats(
            self.game, self.seats, self.opened["terms"], self.number + 1, self.next_commitment
        )
        body = {"seals": self.secrets.seals, **more}
        if self.game == "svoi":
            body.setdefault("trumps", {"0": "H", "1": "C"})
        if self.number and self.game in ("svoi", "azi"):
            body.setdefault("first", 0)
        return body

    def open(self, **more: Any) -> Any:
        answer = expect(self.post(f"/v1/tables/{self.table}/hands", self.hand_body(**more)), 201)
        self.number = answer["hand"]
        self.next_commitment = answer["next_commitment"]
        return answer

    def deal(self) -> Any:
        return expect(self.post(self.url("/deal"), {"seeds": self.secrets.seeds()}))

    def act(self, *actions: dict[str, Any]) -> Any:
        return expect(self.post(self.url("/actions"), {"actions": list(actions)}))

    def close(self, **body: Any) -> Any:
        return expect(self.post(self.url("/close"), body))

    def transcript(self) -> dict[str, Any]:
        return expect(self.client.get(self.url("/transcript")))

    def state(self) -> dict[str, Any]:
        return expect(self.client.get(self.url()))

    def cards(self, seat: int) -> dict[str, Any]:
        return expect(self.client.get(self.url(f"/seats/{seat}/cards"), headers=bearer(self.key)))


def places(cards: list[dict[str, Any]], count: int | None = None) -> list[list[int]]:
    return [[card["epoch"], card["position"]] for card in cards][:count]


def head_of(answer: dict[str, Any]) -> str:
    return hashlib.sha256(answer["events"][-1]["event"].encode()).hexdigest()


def event_types(answer: dict[str, Any]) -> list[str]:
    return [json.loads(event["event"])["type"] for event in answer["events"]]


class Devices:
    """Seats on devices of their own (custody `seats`), and the operator of their table."""

    def __init__(self, client: Any, key: str, game: str, **terms: Any) -> None:
        self.operator = Operator(client, key, game, custody="seats", **terms)
        self.client, self.table = client, self.operator.table
        codes = self.operator.opened["claim_codes"]
        assert len(codes) == self.operator.seats
        self.tokens = [self.claim(codes[str(seat)]) for seat in range(self.operator.seats)]
        self.secrets: Seats | None = None

    def claim(self, code: str) -> str:
        claimed = expect(
            self.client.post("/v1/seats/claim", json={"code": code}, headers=idempotency())
        )
        assert claimed["table"] == self.table
        return claimed["token"]

    def url(self, seat: int, rest: str) -> str:
        return self.operator.url(f"/seats/{seat}/{rest}")

    def put(self, seat: int, rest: str, body: Any, token: int | None = None) -> Any:
        bearer_of = self.tokens[seat if token is None else token]
        return self.client.put(self.url(seat, rest), json=body, headers=bearer(bearer_of))

    def act(self, seat: int, *actions: dict[str, Any]) -> Any:
        return self.client.post(
            self.operator.url("/actions"),
            json={"actions": list(actions)},
            headers={**bearer(self.tokens[seat]), **idempotency()},
        )

    def cards(self, seat: int) -> Any:
        return expect(self.client.get(self.url(seat, "cards"), headers=bearer(self.tokens[seat])))

    def open(self, **body: Any) -> Any:
        answer = expect(self.operator.post(f"/v1/tables/{self.table}/hands", body), 201)
        self.operator.number = answer["hand"]
        self.secrets = Seats(
            self.operator.game,
            self.operator.seats,
            self.operator.opened["terms"],
            answer["hand"],
            answer["commitment"],
        )
        return answer

    def seal_all(self) -> str:
        """Every seat seals; gives the sealed head."""
        answer: dict[str, Any] = {}
        for seat in range(self.operator.seats):
            answer = expect(self.put(seat, "seal", {"seal": self.secrets.seals[str(seat)]}), 201)
        assert answer["sealed_head"] == head_of(answer)
        return answer["sealed_head"]

    def open_all(self, head: str, epoch: int = 0) -> Any:
        """Every seat opens; gives the last answer."""
        answer: dict[str, Any] = {}
        for seat in range(self.operator.seats):
            body = {"epoch": epoch, "head": head, "seed": self.secrets.seeds(epoch)[str(seat)]}
            answer = expect(self.put(seat, "seed", body), 201)
        return answer
