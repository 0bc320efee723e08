"""Whole hands as generators of requests: who drives them may lose, repeat and record each one.

A play yields a `Call` and is sent its 2xx answer; any other answer is thrown in as `Refused`.
"""

from __future__ import annotations

import random
from collections.abc import Generator
from typing import Any, NamedTuple, TypeVar

from fairdeal.games import GAMES
from fairdeal.hashing import Digest
from fairdeal.seeds import Commitment, SeatSeed, seal, seed_chain
from tests.faults.wire import Answer

OPERATOR = "operator"


class Call(NamedTuple):
    """A request, by somebody."""

    method: str
    path: str
    body: dict[str, Any] | None
    bearer: str
    caller: str


class Refused(Exception):  # noqa: N818 - what has happened
    """An answer that is not 2xx."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(f"{answer.status} {answer.code}")
        self.answer = answer


T = TypeVar("T")
Play = Generator[Call, Answer, T]
RULESETS: dict[str, list[dict[str, Any]]] = {
    "kozel": [{}, {"discards": "open"}, {"indicator_place": "bottom"}, {"indicator": "index10"}],
    "mus": [{}, {"reshuffle": "previous"}, {"service": "one_by_one_if_all_four"}],
    "azi": [{}, {"cards": 4}, {"blind": True}, {"trump": "dealer_last"}],
    "svoi": [{}, {"sixes": "exchange"}],
}


def seat_name(seat: int) -> str:
    return f"seat {seat}"


class Table:
    """A table, its operator and its seats, with all that they know."""

    def __init__(
        self,
        rng: random.Random,
        operator: str,
        game: str,
        custody: str,
        *,
        ruleset: dict[str, Any] | None = None,
        seats: int | None = None,
        disclosure: str = "hand",
        test_seed: str = "",
        abort_rate: float = 0.04,
    ) -> None:
        self.rng, self.key, self.game, self.custody = rng, operator, game, custody
        self.ruleset = dict(ruleset if ruleset is not None else rng.choice(RULESETS[game]))
        self.seats = seats or rng.choice(GAMES[game].seats)
        self.disclosure, self.test_seed, self.abort_rate = disclosure, test_seed, abort_rate
        self.id = self.terms = self.next_commitment = ""
        self.tokens: dict[int, str] = {}
        self.codes: dict[int, str] = {}
        self.number = 0
        self.last_end = ""
        self.chains: dict[int, dict[int, tuple[SeatSeed, ...]]] = {}
        """By hand, by seat: x_0, x_1 .."""
        self.seals: dict[str, str] = {}

    # --- who asks -------------------------------------------------------------------------------

    def post(self, path: str, body: dict[str, Any], seat: int | None = None) -> Play[Any]:
        answer = yield self.call("POST", path, body, seat)
        return answer.json()

    def call(self, method: str, path: str, body: Any, seat: int | None = None) -> Call:
        if seat is None or self.custody == "operator":
            return Call(method, path, body, self.key, OPERATOR)
        return Call(method, path, body, self.tokens[seat], seat_name(seat))

    def url(self, rest: str = "", number: int | None = None) -> str:
        return f"/v1/tables/{self.id}/hands/{number or self.number}{rest}"

    def put(self, seat: int, what: str, body: dict[str, Any]) -> Play[Any]:
        answer = yield self.call("PUT", self.url(f"/seats/{seat}/{what}"), body, seat)
        return answer.json()

    def act(self, seat: int | None, *actions: dict[str, Any]) -> Play[Any]:
        return (yield from self.post(self.url("/actions"), {"actions": list(actions)}, seat))

    def state(self) -> Play[Any]:
        answer = yield Call("GET", self.url(), None, "", "public")
        return answer.json()

    def cards(self, seat: int) -> Play[list[dict[str, Any]]]:
        answer = yield self.call("GET", self.url(f"/seats/{seat}/cards"), None, seat)
        return answer.json()["cards"]

    def held(self, seat: int) -> Play[list[list[int]]]:
        cards = yield from self.cards(seat)
        return [[c["epoch"], c["position"]] for c in cards if c["state"] == "held"]

    # --- a table's life -------------------------------------------------------------------------

    def terms_body(self) -> dict[str, Any]:
        body: dict[str, Any] = {
            "game": self.game,
            "custody": self.custody,
            "seats": self.seats,
            "ruleset": self.ruleset,
            "disclosure": self.disclosure,
        }
        if self.test_seed:
            body["test_seed"] = self.test_seed
        return body

    def open(self) -> Play[None]:
        opened = yield from self.post("/v1/tables", self.terms_body())
        self.id, self.terms = opened["table"], opened["terms"]
        self.next_commitment = opened["next_commitment"]
        for seat, code in opened.get("claim_codes", {}).items():
            self.codes[int(seat)] = code
            yield from self.claim(int(seat))

    def claim(self, seat: int) -> Play[None]:
        body = {"code": self.codes[seat]}
        answer = yield Call("POST", "/v1/seats/claim", body, "", seat_name(seat))
        self.tokens[seat] = answer.json()["token"]

    def life(self, hands: int) -> Play[None]:
        """Open the table, play, and now and then close it."""
        yield from self.open()
        for _ in range(hands):
            try:
                yield from self.hand()
            except Refused:
                yield from self.resume()
        if self.rng.random() < 0.5:
            yield from self.post(f"/v1/tables/{self.id}/close", {})

    def resume(self) -> Play[None]:
        """Find out where the table is, and end the hand that is open."""
        answer = yield Call("GET", f"/v1/tables/{self.id}", None, "", "public")
        table = answer.json()
        if table["state"] == "hand_open":
            self.number = table["hand"]["hand"]
            yield from self.abort()
        elif table["hand"] is not None:
            self.number, self.last_end = table["hand"]["hand"], table["hand"]["state"]
        self.next_commitment = table["next_commitment"]

    def abort(self) -> Play[Any]:
        answer = yield from self.post(self.url("/abort"), {})
        self.last_end = "aborted"
        return answer

    # --- a hand ---------------------------------------------------------------------------------

    def prepare(self, number: int, commitment: str) -> dict[str, str]:
        """Seeds for a hand, and their seals."""
        chains = {}
        for seat in range(self.seats):
            last = SeatSeed(self.rng.randbytes(32))
            chains[seat] = seed_chain(last) if GAMES[self.game].can_reshuffle else (last,)
        self.chains[number] = chains
        promise = Commitment.from_hex(commitment)
        self.seals = {
            str(seat): seal(Digest.from_hex(self.terms), number, seat, promise, chain[0]).hex()
            for seat, chain in chains.items()
        }
        return self.seals

    def seeds(self, epoch: int = 0, number: int | None = None) -> dict[str, str]:
        chains = self.chains[number or self.number]
        return {str(seat): chain[epoch].hex() for seat, chain in chains.items()}

    def hand_body(self, *, sealed: bool) -> dict[str, Any]:
        """The body of a request that opens the next hand."""
        body: dict[str, Any] = {}
        if self.number and self.last_end != "aborted" and self.game in ("svoi", "azi"):
            body["first"] = self.rng.randrange(self.seats)
        seals = self.prepare(self.number + 1, self.next_commitment)
        if sealed:
            if self.game == "svoi":
                body["trumps"] = {"0": "H", "1": "C"}
            body["seals"] = seals
        return body

    def opened(self, answer: dict[str, Any]) -> None:
        self.number, self.next_commitment = answer["hand"], answer["next_commitment"]

    def hand(self) -> Play[None]:
        """One hand, from its opening to its end; the next one may be opened with the end."""
        sealed = self.custody == "operator" and self.rng.random() < 0.7
        answer = yield from self.post(f"/v1/tables/{self.id}/hands", self.hand_body(sealed=sealed))
        self.opened(answer)
        again = True
        while again:
            if "sealed_head" not in answer:
                if self._stops():
                    yield from self.abort()
                    return
                answer = yield from self.seal_seats()
            again, answer = yield from self.rest_of_hand(answer["sealed_head"])

    def seal_seats(self) -> Play[Any]:
        if self.game == "svoi":
            order = (0, 1)
            state = yield from self.state()
            if state["first"] == 1:
                order = (1, 0)
            for seat in order:
                yield from self.put(seat, "trump", {"suit": "HC"[seat]})
        answer: dict[str, Any] = {}
        for seat in self.rng.sample(range(self.seats), self.seats):
            answer = yield from self.put(seat, "seal", {"seal": self.seals[str(seat)]})
        return answer

    def rest_of_hand(self, head: str) -> Play[tuple[bool, Any]]:
        if self._stops():
            yield from self.abort()
            return False, None
        yield from self.open_seeds(0, head)
        if self._stops():
            yield from self.abort()
            return False, None
        yield from getattr(self, f"play_{self.game}")()
        if self._stops():
            yield from self.abort()
            return False, None
        body: dict[str, Any] = {}
        if self.rng.random() < 0.3:
            self.last_end = "closed"
            body["next"] = self.hand_body(sealed=self.custody == "operator")
        answer = yield from self.post(self.url("/close"), body)
        self.last_end = "closed"
        if body:
            self.opened(answer["next"])
            return True, answer["next"]
        return False, None

    def _stops(self) -> bool:
        return self.rng.random() < self.abort_rate

    def open_seeds(self, epoch: int, head: str) -> Play[None]:
        seeds = self.seeds(epoch)
        if self.custody == "operator" and self.rng.random() < 0.7:
            if epoch:
                action = {"type": "seeds", "epoch": epoch, "head": head, "seeds": seeds}
                yield from self.act(None, action)
            else:
                yield from self.post(self.url("/deal"), {"seeds": seeds, "head": head})
            return
        for seat in self.rng.sample(range(self.seats), self.seats):
            body = {"epoch": epoch, "head": head, "seed": seeds[str(seat)]}
            yield from self.put(seat, "seed", body)

    # --- the games ------------------------------------------------------------------------------

    def play_kozel(self) -> Play[None]:
        hidden = self.ruleset.get("discards", "hidden") == "hidden"
        trick = 0
        while trick < self.rng.randrange(4):
            turns = [(trick + step) % 4 for step in range(4)]
            for step, seat in enumerate(turns):
                place = self.rng.choice((yield from self.held(seat)))
                kind = "discard" if hidden and self.rng.random() < 0.4 else "show"
                yield from self.act(seat, {"type": kind, "seat": seat, "cards": [place]})
                if step == 0 and self.rng.random() < 0.15:
                    yield from self.act(None, {"type": "return"})
                    break
            else:
                yield from self.act(None, {"type": "draw", "first": self.rng.choice(turns)})
            trick += 1

    def play_mus(self) -> Play[None]:
        first = (yield from self.state())["first"]
        epoch = 0
        for _ in range(self.rng.randrange(4)):
            for step in range(4):
                seat = (first + step) % 4
                held = yield from self.held(seat)
                cards = held[: self.rng.choice((1, 3, 4, 4))]
                answer = yield from self.act(
                    seat, {"type": "discard", "seat": seat, "cards": cards}
                )
            if answer["state"] == "reopening":
                epoch += 1
                yield from self.open_seeds(epoch, answer["due_head"])
        for seat in self.rng.sample(range(4), 2):
            held = yield from self.held(seat)
            yield from self.act(seat, {"type": "show", "seat": seat, "cards": held})

    def play_azi(self) -> Play[None]:
        if self.ruleset.get("blind"):
            for seat in range(self.seats):
                yield from self.act(seat, {"type": "look", "seat": seat})
        if self.ruleset.get("cards") == 4:
            for seat in range(self.seats):
                held = yield from self.held(seat)
                action = {"type": "discard", "seat": seat, "cards": held[1:2]}
                yield from self.act(seat, action)
        yield from self.show_some(range(self.seats))

    def play_svoi(self) -> Play[None]:
        yield from self.show_some((0, 1, 0))

    def show_some(self, seats: Any) -> Play[None]:
        for seat in seats:
            held = yield from self.held(seat)
            action = {"type": "show", "seat": seat, "cards": [self.rng.choice(held)]}
            yield from self.act(seat, action)
