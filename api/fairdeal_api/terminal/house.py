"""The operator of a table: a service of its own or a given one, tables, hands, files."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from random import Random
from types import TracebackType
from typing import Any, Final, Self

import httpx2

from fairdeal_api.client import Api, ApiError
from fairdeal_api.players import Player, greedy, random_player
from fairdeal_api.terminal.bots import Bot, Pace
from fairdeal_api.terminal.processes import RunError, Service

_PATIENCE: Final = {"seal": 86_400, "open": 86_400, "turn": 86_400, "hand": 604_800}
"""A person may go for a walk."""
_JOIN_SECONDS: Final = 5
_CONFLICT: Final = 409
_HASTY: Final = 8
"""Attempts: about five seconds."""
_PATIENT: Final = 16
"""Attempts: about twenty seconds, in which a service is up again."""

Json = dict[str, Any]


class House:
    """Whoever runs the tables: it opens hands and ends them, and holds no seat."""

    def __init__(
        self,
        folder: Path,
        *,
        url: str = "",
        key: str = "",
        log_key: str = "",
        waiting: Callable[[ApiError], None] = lambda _: None,
    ) -> None:
        """Nothing is started yet.

        Args:
            folder: For the service's data, if it is one of ours, and for the seats' memories.
            url: The service; if empty, one is started.
            key: Operator key of a given service.
            log_key: The log's vkey, from elsewhere; if empty, the service is asked.
            waiting: Is told when the house, or the person, waits for a service that is away.
        """
        self.folder = folder
        self.url = url
        self.log_key = log_key
        self._key = key
        self._waiting = waiting
        self._service: Service | None = None
        self._stack = contextlib.ExitStack()
        self._api: Api | None = None

    @property
    def is_ours(self) -> bool:
        """Whether the service is a throw-away one, started here."""
        return self._service is not None

    @property
    def api(self) -> Api:
        """The service, with the operator's key."""
        if self._api is None:
            raise RunError("The house is not open.")
        return self._api

    def __enter__(self) -> Self:
        with contextlib.ExitStack() as stack:
            if not self.url:
                self._service = Service(self.folder)
                stack.callback(self._service.end)
                self._service.wait()
                self.url, self._key = self._service.url, self._service.operator_key()
            self._stack = stack.pop_all()
        self._api = self.connect(watched=True).with_credential(self._key)
        if not self.log_key:
            self.log_key = str(self.hasty.get("/v1/keys")["keys"][0]["vkey"])
        return self

    @property
    def hasty(self) -> Api:
        """The same, for what nobody waits for: a first word, and a last one."""
        return self.api.with_attempts(_HASTY)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.close()

    def complaint(self) -> str:
        """What the service that was started here has complained about, if there is one."""
        return self._service.complaint() if self._service is not None else ""

    def connect(self, *, watched: bool = False) -> Api:
        """The service, with connections of the caller's own.

        Args:
            watched: Whether somebody sits before the screen and waits for its answers.
        """
        client = self._stack.enter_context(httpx2.Client(trust_env=False))
        # A given service may be started anew while a hand goes on; ours is never.
        attempts = _HASTY if self.is_ours else _PATIENT
        if not watched:
            return Api(self.url, client=client, attempts=attempts)
        return Api(self.url, client=client, attempts=attempts, waiting=self._waiting)

    def open_table(self, game: str, seats: int | None, ruleset: Mapping[str, Any]) -> Table:
        """A table with a referee, every seat on a device of its own."""
        body: Json = {
            "game": game,
            "custody": "seats",
            "referee": True,
            "ruleset": dict(ruleset),
            "timeouts": dict(_PATIENCE),
        }
        if seats is not None:
            body["seats"] = seats
        return Table(self, self.hasty.post("/v1/tables", body))


class Table:
    """One table, as its operator sees it, and the bots that sit at it."""

    def __init__(self, house: House, opened: Json) -> None:
        """It is open, and its seats are free."""
        self.id = str(opened["table"])
        self.codes = {int(seat): str(code) for seat, code in opened["claim_codes"].items()}
        self.bots: list[Bot] = []
        self._house = house
        self._hand = 0

    @property
    def folder(self) -> Path:
        """Where the seats of this table keep what they must not forget."""
        return self._house.folder / self.id

    def seat_bots(
        self,
        seats: Sequence[int],
        new_player: Callable[[int], Player],
        pace: Pace,
        rng: Random | None = None,
    ) -> None:
        """Bots sit down at these seats, and begin to follow the table."""
        for seat in seats:
            bot = Bot(
                self._house.connect(),
                self.codes[seat],
                log_key=self._house.log_key,
                folder=self.folder / f"seat{seat}",
                player=new_player(seat),
                pace=pace,
                rng=rng,
            )
            self.bots.append(bot)
        for bot in self.bots:
            bot.start()

    def open_hand(self) -> Json:
        """The next hand."""
        opened = self._house.api.post(f"/v1/tables/{self.id}/hands", {})
        self._hand = int(opened["hand"])
        return opened

    def abort_hand(self) -> None:
        """End the newest hand, if it has not ended; it counts for nothing."""
        with contextlib.suppress(ApiError):
            self._house.hasty.post(f"/v1/tables/{self.id}/hands/{self._hand}/abort", {})

    def state(self) -> Json:
        """The newest hand, as everybody may see it."""
        return self._house.api.get(f"/v1/tables/{self.id}/hands/{self._hand}")

    def file(self) -> bytes:
        """The file of the newest hand, which has ended."""
        return self._house.api.content(f"/v1/tables/{self.id}/hands/{self._hand}/transcript")

    def wait_for_bots(self) -> None:
        """Until every bot has checked the end of the newest hand."""
        for bot in self.bots:
            bot.wait_for_end(self._hand)

    def check_bots(self) -> None:
        """Raise what has stopped a bot, if something has."""
        for bot in self.bots:
            if bot.fault is not None:
                raise bot.fault

    def close(self, pace: Pace) -> None:
        """Everybody goes home."""
        pace.stop()
        with contextlib.suppress(ApiError):
            try:
                self._house.hasty.post(f"/v1/tables/{self.id}/close", {})
            except ApiError as error:
                if error.status != _CONFLICT:
                    raise
                # A hand is open still: something went wrong in it, and nobody will play it on.
                self.abort_hand()
                self._house.hasty.post(f"/v1/tables/{self.id}/close", {})
        until = time.monotonic() + _JOIN_SECONDS
        for bot in self.bots:
            bot.join(max(until - time.monotonic(), 0))


def player_of(kind: str, seed: int | None = None) -> Player:
    """A new player of a kind, `greedy` or `random`."""
    if kind == "random":
        return random_player(Random(seed))  # noqa: S311 - moves in a game, no secret
    return greedy
