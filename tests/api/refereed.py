"""Whole refereed hands and matches over REST, played by programs. For tests, demo and load.

`Refereed(client, key, "mus")` is a table with players; `play_match` plays hand after hand until
somebody has won the match, and gives each hand's file.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from random import Random
from typing import Any

from fairdeal.codecs import Place
from fairdeal.dealing import Dealing
from fairdeal.events import HandOpened, TableOpened, parse_event
from fairdeal.games import rules_of
from fairdeal.hand import Hand
from fairdeal.seeds import ServerSeed
from fairdeal_api.players import Player, View, greedy, random_player, view_of
from tests.api.play import Devices, Operator, bearer, expect, idempotency

Json = dict[str, Any]
Watch = Callable[["Refereed"], None]
"""Called after every move."""
LIMIT = 4000


class Refereed:
    """A table with a referee, in either custody, driven by players."""

    def __init__(
        self,
        client: Any,
        key: str,
        game: str,
        *,
        custody: str = "operator",
        rng: Random | None = None,
        players: list[Player] | None = None,
        **terms: Any,
    ) -> None:
        self.client, self.key, self.game, self.custody = client, key, game, custody
        self.devices: Devices | None = None
        if custody == "seats":
            self.devices = Devices(client, key, game, referee=True, **terms)
            self.operator = self.devices.operator
        else:
            self.operator = Operator(client, key, game, referee=True, **terms)
        self.rng = rng or Random(1)
        self.seats = self.operator.seats
        self.players = players or [greedy] * self.seats
        self.answer: Json = {}
        self.files: list[bytes] = []

    # --- requests -------------------------------------------------------------------------------

    def token(self, seat: int) -> str:
        return self.devices.tokens[seat] if self.devices else self.key

    def act(self, *actions: Json) -> Any:
        """Actions of one seat, by whoever acts for it."""
        return self.client.post(
            self.operator.url("/actions"),
            json={"actions": list(actions)},
            headers={**bearer(self.token(actions[0]["seat"])), **idempotency()},
        )

    def own(self, seat: int) -> Json:
        url = self.operator.url(f"/seats/{seat}/cards")
        return expect(self.client.get(url, headers=bearer(self.token(seat))))

    def view(self, seat: int) -> View:
        return view_of(self.game, self.own(seat), self.operator.state()["play"])

    # --- steps ----------------------------------------------------------------------------------

    def open_seeds(self, epoch: int, head: str) -> None:
        seeds = (self.devices or self.operator).secrets.seeds(epoch)
        if self.devices:
            self.answer = self.devices.open_all(head, epoch)
        else:
            action = {"type": "seeds", "epoch": epoch, "head": head, "seeds": seeds}
            self.answer = expect(self.operator.post(self.operator.url("/actions"), one(action)))

    def deal(self) -> Json:
        """Open a hand, seal and open; the seats are dealt their cards."""
        if self.devices:
            self.devices.open()
            if self.game == "svoi":
                first = self.operator.state()["first"] or 0
                for seat in (first, 1 - first):
                    expect(self.devices.put(seat, "trump", {"suit": "HC"[seat]}), 201)
            self.answer = self.devices.open_all(self.devices.seal_all())
        else:
            body = self.operator.hand_body()
            body.pop("first", None)
            opened = expect(
                self.operator.post(f"/v1/tables/{self.operator.table}/hands", body), 201
            )
            self.operator.number = opened["hand"]
            self.operator.next_commitment = opened["next_commitment"]
            self.answer = self.operator.deal()
        return self.answer

    def step(self) -> None:
        """One move by one seat on turn, or the seeds of a reshuffle."""
        state = self.operator.state()
        if state["state"] == "reopening":
            self.open_seeds(state["epoch"], state["due_head"])
            return
        seat = self.rng.choice(state["turn"])
        action = self.players[seat](self.view(seat))
        self.answer = expect(self.act(action))

    def play_hand(self, watch: Watch | None = None) -> Json:
        """A whole hand; gives its result."""
        self.deal()
        for _ in range(LIMIT):
            if watch is not None:
                watch(self)
            if self.answer["state"] in ("closed", "aborted"):
                break
            self.step()
        else:
            raise AssertionError("the hand does not end")
        if self.answer["state"] == "closed":
            self.files.append(self.client.get(self.operator.url("/transcript")).content)
        return self.answer["result"]


def one(action: Json) -> Json:
    return {"actions": [action]}


def play_match(table: Refereed, watch: Watch | None = None, *, most: int = 500) -> list[bytes]:
    """Hand after hand until the match is won; gives the hands' files."""
    for _ in range(most):
        if (result := table.play_hand(watch)) is not None and result["winner"] is not None:
            return table.files
    raise AssertionError("nobody wins")


def mixed(seats: int, rng: Random) -> list[Player]:
    """Players of both kinds."""
    return [greedy if seat % 2 else random_player(rng) for seat in range(seats)]


def judge(content: bytes) -> Hand:
    """The hand of a disclosed file, after the core has played it again with every card known."""
    file = json.loads(content)
    opened, *events = [parse_event(text.encode()) for text in file["events"]]
    assert isinstance(opened, TableOpened)
    first, *rest = events
    assert isinstance(first, HandOpened)
    hand = Hand.open(opened, opened.digest, first)
    for event in rest:
        hand = hand.apply(event)
    seed = ServerSeed.from_hex(file["disclosed"]["server_seed"])
    thrown = {
        int(seat): tuple(tuple(Place(*place) for place in cards) for cards in discards)
        for seat, discards in file["disclosed"]["discards"].items()
    }
    Dealing(hand, seed, thrown).at(hand).replayed(events)
    return hand


def follow_each_other(files: list[bytes]) -> None:
    """Each hand begins with the match that the one before has left. Spec: PLAY-2, PLAY-5."""
    before: Json | None = None
    for content in files:
        hand = judge(content)
        fresh = rules_of(hand.game).fresh(hand.table.ruleset, hand.table.seats)
        if before is None or before["winner"] is not None:
            assert hand.match == fresh
        else:
            assert hand.match == before["match"]
        assert hand.first == (None if before is None else before["first"])
        before = hand.result
