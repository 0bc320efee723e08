"""A service in a folder of its own: started, killed, started again."""

from __future__ import annotations

import os
import re
import signal
import time
from pathlib import Path
from typing import Self

from tests.faults.launcher import Launcher
from tests.faults.wire import Wire

_LISTENING = re.compile(r"listening on http://127\.0\.0\.1:(\d+)\n")
START_SECONDS = 120
STOPPED = -15  # uvicorn gives the signal on once it has stopped


class StartFailed(Exception):  # noqa: N818 - what has happened
    """The service did not start; the text is what it said."""

    def __init__(self, status: int | None, said: str) -> None:
        super().__init__(f"exit status {status}: {said}")
        self.status, self.said = status, said


class Site:
    """One data folder and the process that works on it, if there is one."""

    def __init__(self, launcher: Launcher, folder: Path, *flags: str) -> None:
        self.launcher, self.folder, self.flags = launcher, folder, list(flags)
        known = [at for at, flag in enumerate(flags) if flag in ("--mode", "--origin")]
        self.identity = [text for at in known for text in flags[at : at + 2]]
        """The flags that say whose log it is, which other commands need as well."""
        self.data = folder / "data"
        self.anchor = folder / "data.anchor"
        self.pid = 0
        self.port = 0
        self.starts = 0
        self.environment: dict[str, str] = {}
        folder.mkdir(parents=True, exist_ok=True)

    @property
    def out(self) -> Path:
        return self.folder / f"out-{self.starts:03}"

    @property
    def err(self) -> Path:
        return self.folder / f"err-{self.starts:03}"

    def start(self, variant: str = "", detail: str = "", *, init: bool = False) -> int:
        """Start the service; gives its port.

        Raises:
            StartFailed: It has ended instead, or says nothing.
        """
        assert not self.pid, "it runs already"
        self.starts += 1
        arguments = ["serve", "--data", str(self.data), "--port", "0", *self.flags]
        if init:
            arguments.append("--init")
        self.pid = self.launcher.start(
            arguments, self.out, self.err, variant, detail, self.environment
        )
        end = time.monotonic() + START_SECONDS
        while time.monotonic() < end:
            text = self.out.read_text() if self.out.exists() else ""
            if match := _LISTENING.search(text):
                self.port = int(match[1])
                return self.port
            status = self.launcher.wait(self.pid, 0.004)
            if status is not None:
                self.pid = 0
                raise StartFailed(status, self.err.read_text())
        self.kill()
        raise StartFailed(None, "nothing in time")

    def kill(self) -> None:
        """SIGKILL."""
        pid, self.pid = self.pid, 0
        os.kill(pid, signal.SIGKILL)
        status = self.launcher.wait(pid, 60)
        assert status == -signal.SIGKILL, f"it had ended before: {status} {self.err.read_text()}"

    def died(self) -> int | None:
        """How the process has ended by itself; None if it does not end."""
        status = self.launcher.wait(self.pid, 60)
        if status is not None:
            self.pid = 0
        return status

    def died_already(self) -> int | None:
        """The same, without waiting."""
        return self.launcher.wait(self.pid, 0.5)

    def terminate(self) -> int | None:
        """SIGTERM; gives the exit status."""
        os.kill(self.pid, signal.SIGTERM)
        return self.died()

    def close(self) -> None:
        if self.pid:
            self.kill()

    def wire(self) -> Wire:
        return Wire(self.port)

    def operator_key(self, name: str) -> str:
        arguments = ["operator-key", "create", "--data", str(self.data), "--name", name]
        if "test" in self.identity:
            arguments += ["--mode", "test"]
        status, out, err = self.launcher.run(arguments, self.folder)
        assert status == 0, err
        return out.strip()

    def fsck(self) -> tuple[int, str]:
        """What `fairdeal fsck` says."""
        arguments = ["fsck", "--data", str(self.data)]
        status, out, err = self.launcher.run([*arguments, *self.identity], self.folder)
        return status, out + err

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()
