"""A process that works on a data folder, cut off at one of its calls. Run with `cuts.c` preloaded.

It imports once and forks for each run: a line `WHAT FOLDER NUMBER ACTION` asks for one, the answer
is its pid, and `wait PID` for how it ended. `stop PID` waits until it has stopped.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

import apsw

from fairdeal_api import cli, keyring, ledger, rotation, stopping
from fairdeal_api.commands import common, keys
from fairdeal_api.settings import Settings
from fairdeal_api.store.sqlite import SQLiteWriter, migrations
from fairdeal_api.system import StartRefused, read_keys

ORIGIN = "deal.example/log"
REFUSED = 3


def settings_of(folder: Path) -> Settings:
    """Of a site in a folder; nothing of it lies elsewhere."""
    return Settings(data=folder / "data", mode="test", origin=ORIGIN)


def rotate(folder: Path) -> None:
    """Change the log's key, as the command does."""
    rotation.rotate(settings_of(folder), abort_hands=True)


def rotate_names_first(folder: Path) -> None:
    """The control: the new key's file gets its name before the entry is committed."""
    original = ledger.Ledger.rotate

    async def names_first(self: ledger.Ledger, new: Any, seq: int) -> Any:
        keyring.settle(settings_of(folder).keys_path, new)
        return await original(self, new, seq)

    ledger.Ledger.rotate = names_first  # type: ignore[method-assign]
    rotate(folder)


def rotate_sealing(folder: Path) -> None:
    """Change the sealing key, as the command does."""
    rotation.rotate_sealing(settings_of(folder))


def rotate_sealing_names_first(folder: Path) -> None:
    """The control: the new key's file gets its name before what is sealed anew is committed."""
    original = ledger.Ledger.reseal

    def names_first(self: ledger.Ledger, old: str, new: str, reseal: Any) -> bool:
        keys = settings_of(folder).keys_path
        keyring.settle_sealing(keys, read_keys(keys).next_sealing)
        return original(self, old, new, reseal)

    ledger.Ledger.reseal = names_first  # type: ignore[method-assign]
    rotate_sealing(folder)


def bring_up(folder: Path) -> None:
    """Bring a database of an older form up, as a start does."""
    SQLiteWriter(settings_of(folder).data / "ledger.db").close()


def bring_up_in_parts(folder: Path) -> None:
    """The control: each statement is a transaction of its own."""
    connection = apsw.Connection(str(settings_of(folder).data / "ledger.db"))
    connection.pragma("journal_mode", "wal")
    connection.pragma("temp_store", 2)
    version = connection.pragma("user_version")
    for number, script in migrations():
        if number > version:
            connection.execute(script)
            connection.pragma("user_version", number)
    connection.close()


def command(folder: Path) -> None:
    """A command of the operator's, whose words are in a file, one a line; what it says, in two."""
    cli._command(folder.with_name(folder.name + ".words").read_text("utf-8").splitlines())


def command_deaf(folder: Path) -> None:
    """The control: it does nothing about being told to end, as Python does by itself."""
    common.heard = contextlib.nullcontext
    command(folder)


def command_bare(folder: Path) -> None:
    """The control: it stops wherever it is, also between a step and what would undo it."""
    stopping.whole = cli.whole = contextlib.nullcontext
    stopping.too_late = cli.too_late = keys.too_late = lambda: None
    command(folder)


TASKS: dict[str, Callable[[Path], None]] = {
    "rotate": rotate,
    "rotate_names_first": rotate_names_first,
    "rotate_sealing": rotate_sealing,
    "rotate_sealing_names_first": rotate_sealing_names_first,
    "bring_up": bring_up,
    "bring_up_in_parts": bring_up_in_parts,
    "command": command,
    "command_deaf": command_deaf,
    "command_bare": command_bare,
}


class Cutter:
    """The process that forks."""

    def __init__(self, library: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.faults.cutting"],
            env={**os.environ, "LD_PRELOAD": str(library)},
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip

    def _ask(self, line: str) -> int:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())

    def begin(self, task: str, folder: Path, number: int, action: str = "k") -> int:
        """Start a run; its pid."""
        return self._ask(f"{task} {folder} {number} {action}")

    def wait(self, pid: int) -> int:
        """How it ended: exit code, or minus the signal."""
        return self._ask(f"wait {pid}")

    def stopped(self, pid: int) -> bool:
        """Whether it stops, rather than ends."""
        return self._ask(f"stop {pid}") == 1

    def run(self, task: str, folder: Path, number: int, action: str = "k") -> int:
        """A run from its beginning to its end."""
        return self.wait(self.begin(task, folder, number, action))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        assert self._process.stdout is not None
        self._process.stdout.close()
        self._process.wait(60)


def calls(folder: Path) -> list[tuple[str, str]]:
    """What the last run did, call by call."""
    lines = (folder.with_name(folder.name + ".calls")).read_text().splitlines()
    return [(what, name) for what, _, name in (line.partition(" ") for line in lines)]


def build(folder: Path) -> Path:
    """Compile the library."""
    compiler = shutil.which("gcc")
    assert compiler, "these tests need gcc, as CONTRIBUTING.md says"
    found = folder / "cuts.so"
    source = Path(__file__).with_name("cuts.c")
    command = [compiler, "-shared", "-fPIC", "-O1", "-Wall", "-o", found, source, "-ldl"]
    subprocess.run(command, check=True)
    return found


def _child(task: str, folder: Path, number: int, action: str) -> None:
    log = folder.with_name(folder.name + ".calls")
    log.unlink(missing_ok=True)
    os.environ["CUTS_LOG"], os.environ["CUTS_UNDER"] = str(log), str(folder)
    for stream, ending in ((1, ".out"), (2, ".err")):
        said = folder.with_name(folder.name + ending) if task.startswith("command") else os.devnull
        os.dup2(os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), stream)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # also where the tests are deaf to it
    ctypes.CDLL(None).cuts_arm(number, ctypes.c_char(action.encode()))
    try:
        TASKS[task](folder)
    except StartRefused:
        os._exit(REFUSED)
    except SystemExit as ended:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        os._exit(ended.code if isinstance(ended.code, int) else 1)
    except BaseException:  # noqa: BLE001 - whatever it is, it has ended
        os._exit(1)
    os._exit(0)


def _main() -> None:
    ended: dict[int, int] = {}
    for line in sys.stdin:
        word, *rest = line.split()
        if word in ("wait", "stop"):
            pid = int(rest[0])
            if pid in ended:
                print(0 if word == "stop" else ended[pid], flush=True)
                continue
            _, status = os.waitpid(pid, os.WUNTRACED if word == "stop" else 0)
            if os.WIFSTOPPED(status):
                print(1, flush=True)
                continue
            ended[pid] = os.waitstatus_to_exitcode(status)
            print(0 if word == "stop" else ended[pid], flush=True)
            continue
        assert threading.active_count() == 1
        folder, number, action = rest
        pid = os.fork()
        if pid == 0:
            with contextlib.suppress(BaseException):
                _child(word, Path(folder), int(number), action)
            os._exit(1)
        print(pid, flush=True)


if __name__ == "__main__":
    _main()
