"""The processes of the demo: the service and the seats' devices, which are ended, and others."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, Self

_LISTENING: Final = re.compile(r"listening on (http://\S+)")
_START_SECONDS: Final = 30
_END_SECONDS: Final = 5

Report = dict[str, Any]


class DemoError(Exception):
    """The demo cannot go on, in words for whoever runs it."""


def _environment() -> dict[str, str]:
    """The environment without settings of a service that is meant for something else."""
    return {name: value for name, value in os.environ.items() if not name.startswith("FAIRDEAL_")}


class Lines:
    """A process that says something line by line, read without ever blocking for good."""

    def __init__(self, arguments: list[str], errors: Path) -> None:
        """Start it.

        Args:
            arguments: What to run with this Python.
            errors: File for what it complains about.
        """
        self._errors = errors
        with errors.open("wb") as file:
            self.process = subprocess.Popen(  # noqa: S603 - our own modules
                [sys.executable, *arguments],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=file,
                text=True,
                encoding="utf-8",
                env=_environment(),
                # A Ctrl-C is for the demo, which then ends these in order.
                start_new_session=True,
            )
        self._lines: queue.Queue[str | None] = queue.Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        for line in self.process.stdout or ():
            self._lines.put(line)
        self._lines.put(None)

    def line(self, seconds: float) -> str:
        """The next line.

        Raises:
            DemoError: It has ended, or says nothing.
        """
        try:
            line = self._lines.get(timeout=max(seconds, 0.01))
        except queue.Empty:
            raise DemoError(f"{self} says nothing. {self.complaint()}") from None
        if line is None:
            raise DemoError(f"{self} has ended. {self.complaint()}")
        return line

    def say(self, line: str) -> None:
        """Write a line to its standard input."""
        if self.process.stdin is not None:
            self.process.stdin.write(line + "\n")
            self.process.stdin.flush()

    def complaint(self) -> str:
        """The end of what it has written to its error output."""
        text = self._errors.read_text("utf-8", errors="replace").strip()
        return "\n".join(text.splitlines()[-15:])

    def end(self) -> None:
        """End it: gently, then not."""
        with contextlib.suppress(OSError):
            if self.process.stdin is not None:
                self.process.stdin.close()
        self.process.terminate()
        try:
            self.process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self._reader.join(_END_SECONDS)
        if self.process.stdout is not None and not self._reader.is_alive():
            self.process.stdout.close()


class Service(Lines):
    """The real service, on a free port, with a data folder of its own."""

    def __init__(self, folder: Path) -> None:
        """Start it; `wait` until it can be used."""
        self._data = folder / "data"
        arguments = ["-m", "fairdeal_api.cli", "serve", "--init", "--data", str(self._data)]
        super().__init__([*arguments, "--port", "0"], folder / "service.log")
        self.url = ""

    def __str__(self) -> str:
        return "The service"

    def wait(self) -> Self:
        """Until it listens."""
        until = time.monotonic() + _START_SECONDS
        while not self.url:
            found = _LISTENING.search(self.line(until - time.monotonic()))
            self.url = found[1] if found else ""
        return self

    def operator_key(self) -> str:
        """A fresh operator key, made as an operator makes one."""
        command = ["operator-key", "create", "--data", str(self._data), "--name", "demo"]
        words = run(["-m", "fairdeal_api.cli", *command]).split()
        keys = [word for word in words if word.startswith("fd_")]
        if not keys:
            raise DemoError("No operator key was made.")
        return keys[0]


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
        self.public_key = self.reported("ready", time.monotonic() + _START_SECONDS)["public_key"]
        return self

    def sit(self, order: dict[str, Any]) -> None:
        """Send it to a table."""
        self.cards, self._told = [], {}
        self.say(json.dumps(order))

    def reported(self, kind: str, until: float) -> Report:
        """Its newest report of a kind, once there is one.

        Raises:
            DemoError: Its client has refused to go on, or it says nothing in time.
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
            raise DemoError(f"{self} stopped. {report['why']}")


def run(arguments: list[str], *, any_code: bool = False) -> str:
    """Run something of ours to its end, and return what it says.

    Args:
        arguments: What to run with this Python.
        any_code: Whether an exit code other than 0 is an answer too.
    """
    done = subprocess.run(  # noqa: S603 - our own modules
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        encoding="utf-8",
        env=_environment(),
        timeout=_START_SECONDS,
        check=False,
    )
    if done.returncode and (not any_code or not done.stdout):
        raise DemoError(f"{' '.join(arguments[:4])} failed: {done.stderr.strip()}")
    return done.stdout
