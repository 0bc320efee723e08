"""Processes that are started here and ended here: the service, and others of ours."""

from __future__ import annotations

import contextlib
import os
import queue
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Final, Self

_LISTENING: Final = re.compile(r"listening on (http://\S+)")
START_SECONDS: Final = 30
_END_SECONDS: Final = 5


class RunError(Exception):
    """What was started cannot go on, in words for whoever runs it."""


@contextlib.contextmanager
def ended_by_signals() -> Iterator[None]:
    """Let a polite kill end the program as Ctrl-C does, so that its processes are ended too."""

    def stop(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    names = [name for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    before = {name: signal.signal(getattr(signal, name), stop) for name in names}
    try:
        yield
    finally:
        for name, handler in before.items():
            signal.signal(getattr(signal, name), handler)


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
                # A Ctrl-C is for the program, which then ends these in order.
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
            RunError: It has ended, or says nothing.
        """
        try:
            line = self._lines.get(timeout=max(seconds, 0.01))
        except queue.Empty:
            raise RunError(f"{self} says nothing. {self.complaint()}") from None
        if line is None:
            raise RunError(f"{self} has ended. {self.complaint()}")
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
        arguments = ["-m", "fairdeal_api", "serve", "--init", "--data", str(self._data)]
        super().__init__([*arguments, "--port", "0"], folder / "service.log")
        self.url = ""

    def __str__(self) -> str:
        return "The service"

    def wait(self) -> Self:
        """Until it listens."""
        until = time.monotonic() + START_SECONDS
        while not self.url:
            found = _LISTENING.search(self.line(until - time.monotonic()))
            self.url = found[1] if found else ""
        return self

    def operator_key(self) -> str:
        """A fresh operator key, made as an operator makes one."""
        command = ["operator-key", "create", "--data", str(self._data), "--name", "club"]
        words = run(["-m", "fairdeal_api", *command]).split()
        keys = [word for word in words if word.startswith("fd_")]
        if not keys:
            raise RunError("No operator key was made.")
        return keys[0]


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
        timeout=START_SECONDS,
        check=False,
    )
    if done.returncode and (not any_code or not done.stdout):
        raise RunError(f"{' '.join(arguments[:4])} failed: {done.stderr.strip()}")
    return done.stdout
