"""The seats' devices, as processes."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

from fairdeal_api.terminal.processes import START_SECONDS, Lines, RunError

Report = dict[str, Any]


class Seat(Lines):
    """A seat's device, and what it has told the screen."""

    def __init__(self, number: int, folder: Path, *, keyed: bool) -> None:
        """Start it; `wait` until it is ready."""
        options = ["--keyed"] if keyed else []
        super().__init__(
            ["-m", "fairdeal_api.demo.seat", str(number), *options], folder / f"seat{number}.log"
        )
        self.number = number
        self.public_key: str | None = None
        self.cards: list[tuple[int, int, str, str]] = []
        """Epoch, position, card, state: the last that it has told."""
        self._told: dict[str, Report] = {}

    def __str__(self) -> str:
        return f"The device of seat {self.number}"

    def wait(self) -> Self:
        """Until it takes orders."""
        self.public_key = self.reported("ready", time.monotonic() + START_SECONDS)["public_key"]
        return self

    def sit(self, order: dict[str, Any]) -> None:
        """Send it to a table."""
        self.cards, self._told = [], {}
        self.say(json.dumps(order))

    def reported(self, kind: str, until: float) -> Report:
        """Its newest report of a kind, once there is one.

        Raises:
            RunError: Its client has refused to go on, or it says nothing in time.
        """
        self._read_until(lambda: kind in self._told, until)
        return self._told[kind]

    def has_seen(self, seq: int, until: float) -> None:
        """Wait until it has seen the table's event of this number, and its cards with it."""
        self._read_until(lambda: self._told.get("seen", {"seq": -1})["seq"] >= seq, until)

    def has_opened(self, epoch: int, until: float) -> None:
        """Wait until it has checked the head of an epoch and opened its seed."""
        self._read_until(lambda: self._told.get("opened", {"epoch": -1})["epoch"] >= epoch, until)

    def listen(self) -> None:
        """Take in what it has said so far."""
        while not self._lines.empty():
            self._take(self.line(0))

    def _read_until(self, enough: Callable[[], bool], until: float) -> None:
        while not enough():
            self._take(self.line(until - time.monotonic()))

    def _take(self, line: str) -> None:
        report: Report = json.loads(line)
        self._told[report["report"]] = report
        if report["report"] == "seen":
            self.cards = [(e, p, card, state) for e, p, card, state in report["cards"]]
        elif report["report"] == "failed":
            raise RunError(f"{self} stopped. {report['why']}")
