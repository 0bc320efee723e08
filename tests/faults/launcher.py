"""A process that has imported the service once, and starts it again and again by `fork`.

Starting an interpreter takes most of a second, a fork some milliseconds: what is killed fifty times
had better start quickly. Each child is a process of its own, with its own command line of the
command `fairdeal`, and may be told to be broken in one of the ways of `variants`.

As a program it reads one JSON request a line and answers each with one JSON line.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import signal
import subprocess
import sys
import threading
import time
import traceback
from pathlib import Path
from typing import Any, NoReturn, Self

ROOT = Path(__file__).resolve().parents[2]
_PR_SET_PDEATHSIG = 1


class Launcher:
    """The rig's side: starts children, and is their parent's only customer."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        environment = {k: v for k, v in os.environ.items() if not k.startswith("FAIRDEAL_")}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.faults.launcher"],
            cwd=ROOT,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    def _ask(self, **request: Any) -> Any:
        with self._lock:
            assert self._process.stdin is not None
            assert self._process.stdout is not None
            self._process.stdin.write(json.dumps(request).encode() + b"\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        if not line:
            raise RuntimeError("the launcher has ended")
        return json.loads(line)

    def start(
        self,
        arguments: list[str],
        out: Path,
        err: Path,
        variant: str = "",
        detail: str = "",
        environment: dict[str, str] | None = None,
    ) -> int:
        """Start `fairdeal` with these arguments; gives its process id.

        Args:
            arguments: What follows the word `fairdeal`.
            out: File for standard output.
            err: File for standard error.
            variant: How it is broken; with `exec` before it, in an interpreter of its own.
            detail: What the variant has to know.
            environment: More of it.
        """
        return self._ask(
            do="start",
            arguments=arguments,
            out=str(out),
            err=str(err),
            variant=variant,
            detail=detail,
            environment=environment or {},
        )["pid"]

    def wait(self, pid: int, seconds: float) -> int | None:
        """The exit status of a child (negative: its signal), or None if it goes on."""
        return self._ask(do="wait", pid=pid, seconds=seconds)["status"]

    def run(self, arguments: list[str], folder: Path) -> tuple[int, str, str]:
        """Run a command to its end: status, standard output, standard error."""
        out, err = (folder / f"run-{time.monotonic_ns()}.{end}" for end in ("out", "err"))
        status = self.wait(self.start(arguments, out, err), 60)
        assert status is not None, "a command did not end"
        return status, out.read_text(), err.read_text()

    def close(self) -> None:
        """End the launcher and what it has started."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(60)
        self._process.stdout.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


# --- the process --------------------------------------------------------------------------------


def _child(request: dict[str, Any], arguments: list[str]) -> NoReturn:
    status = 99
    try:
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
        for number, name in ((1, "out"), (2, "err")):
            os.dup2(os.open(request[name], flags, 0o600), number)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.environ.update(request["environment"])
        if request["variant"].startswith("exec"):
            # A process as an operator starts it, with an environment and a command line of its own.
            name = request["variant"].removeprefix("exec").strip()
            module = ["tests.faults.variants", name] if name else ["fairdeal_api"]
            os.execv(sys.executable, [sys.executable, "-m", *module, *arguments])
        from fairdeal_api.cli import app  # noqa: PLC0415 - imported before the fork
        from tests.faults import variants  # noqa: PLC0415

        variants.apply(request["variant"], request["detail"])
        app(arguments)
    except SystemExit as error:
        status = error.code if isinstance(error.code, int) else int(error.code is not None)
    except BaseException:  # noqa: BLE001 - whatever it is belongs into the child's own output
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def _wait(pid: int, seconds: float) -> int | None:
    end = time.monotonic() + seconds
    while True:
        found, status = os.waitpid(pid, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() >= end:
            return None
        time.sleep(0.002)


def main() -> None:
    import fairdeal_api.cli  # noqa: PLC0415
    import fairdeal_api.fsck  # noqa: PLC0415
    import fairdeal_api.server  # noqa: F401, PLC0415

    alive: set[int] = set()
    for line in sys.stdin.buffer:
        request = json.loads(line)
        if request["do"] == "start":
            pid = os.fork()
            if pid == 0:
                _child(request, request["arguments"])
            alive.add(pid)
            answer: dict[str, Any] = {"pid": pid}
        else:
            pid = request["pid"]
            status = _wait(pid, request["seconds"])
            if status is not None:
                alive.discard(pid)
            answer = {"status": status}
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()
    for pid in alive:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


if __name__ == "__main__":
    main()
