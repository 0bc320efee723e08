"""The operator: opens tables and hands, asks for draws, closes. It never holds a seat's secret.

It talks to the service like any game server, with an operator key, and learns from the table's
public events what there is to do. The devices of the seats get a claim code from it, once.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from fairdeal.hand import Hand
from fairdeal_api.client import Api, Chain
from fairdeal_api.demo import play
from fairdeal_api.demo.plans import KEYED_SEAT, Plan
from fairdeal_api.demo.processes import Seat
from fairdeal_api.demo.screen import Screen
from fairdeal_api.demo.story import Story
from fairdeal_api.terminal.processes import RunError

_HAND_SECONDS: Final = 45
_WAIT: Final = 5


class Operator:
    """Whoever runs the tables."""

    def __init__(self, api: Api, screen: Screen, log_key: str, folder: Path, out: Path) -> None:
        """Take up an operator's key.

        Args:
            api: The service, with that key.
            screen: Where the story is told.
            log_key: The log's vkey.
            folder: For the devices' own folders.
            out: For the files of the hands, and the notes.
        """
        self._api = api
        self._screen = screen
        self._log_key = log_key
        self._folder = folder
        self._out = out
        self._told = 0

    def play(self, plan: Plan, seats: Sequence[Seat]) -> tuple[Path, list[Path]]:
        """Play one hand at a table of its own.

        Returns:
            The hand's file, and the notes of each seat that has seen its end.
        """
        until = time.monotonic() + _HAND_SECONDS
        table = self._open_table(plan, seats)
        notes = self._seat(plan, table, seats, until)
        opened = self._api.post(f"/v1/tables/{table['table']}/hands", {})
        chain = Chain(self._api, table["table"])
        story = Story(self._screen, plan, seats, until, brief=self._told > 0)
        self._told += 1
        path = f"/v1/tables/{table['table']}/hands/{opened['hand']}"
        story.tell(chain.sync())
        while not chain.hand.is_final:
            if time.monotonic() > until:
                raise RunError(f"The hand of {plan.game} takes too long.")
            story.tell(chain.sync(wait=_WAIT))
            for seat in seats:
                if seat.number != plan.vanishes:
                    seat.listen()
            self._do_what_is_due(chain.hand, chain, path)
        story.tell(chain.sync())
        file = self._out / f"{plan.name}.fair.json"
        file.write_bytes(self._api.content(f"{path}/transcript"))
        for seat in seats:
            if seat.number != plan.vanishes:
                seat.reported("done", until)
        story.saved(file, notes)
        return file, notes

    def _open_table(self, plan: Plan, seats: Sequence[Seat]) -> dict[str, Any]:
        key = seats[KEYED_SEAT].public_key
        body: dict[str, Any] = {
            "game": plan.game,
            "seats": plan.seats,
            "custody": "seats",
            "ruleset": dict(plan.ruleset),
            "keys": {str(KEYED_SEAT): key} if key else {},
        }
        if plan.timeouts:
            body["timeouts"] = dict(plan.timeouts)
        return self._api.post("/v1/tables", body)

    def _seat(
        self, plan: Plan, table: dict[str, Any], seats: Sequence[Seat], until: float
    ) -> list[Path]:
        """Hand each device its claim code; where their notes will be."""
        notes = []
        for seat in seats:
            path = self._out / f"{plan.name}.seat{seat.number}.notes.json"
            if seat.number != plan.vanishes:
                notes.append(path)
            seat.sit(
                {
                    "url": self._api.url,
                    "code": table["claim_codes"][str(seat.number)],
                    "log_key": self._log_key,
                    "folder": str(self._folder / f"seat{seat.number}" / plan.name),
                    "notes": str(path),
                    "vanish": seat.number == plan.vanishes,
                }
            )
        for seat in seats:
            seat.reported("sat", until)
        return notes

    def _do_what_is_due(self, hand: Hand, chain: Chain, path: str) -> None:
        due = None if hand.is_final else play.due(hand, chain.hand_events)
        if due is None or due.seats:
            return
        if due.what == "draw":
            action = {"type": "draw", "first": due.taker}
            self._api.post(f"{path}/actions", {"actions": [action]})
        elif due.what == "close":
            self._api.post(f"{path}/close", {})
