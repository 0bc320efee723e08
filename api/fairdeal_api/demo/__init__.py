"""`fairdeal demo`: the real service, a process for each seat, a hand of each game, and two forgers.

| module | what |
|---|---|
| `plans` | which hands are played |
| `operator` | opens tables and hands, over HTTP |
| `seat` | a seat's device, the other side of it, as a process of its own |
| `play` | house rules: whose turn, which card |
| `story`, `screen` | what is told, and how it looks |
| `verdicts` | the standalone verifier, as another program; forgeries |
| `processes` | starting and ending all of them |
"""

from __future__ import annotations

import argparse
import contextlib
import shutil
import signal
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import FrameType
from typing import Final

import httpx2

from fairdeal_api.client import Api, ApiError, CheckError
from fairdeal_api.demo.finale import cheat, verify_all, what_next
from fairdeal_api.demo.operator import Operator
from fairdeal_api.demo.plans import KEYED_SEAT, PLANS, Plan
from fairdeal_api.demo.processes import DemoError, Seat, Service
from fairdeal_api.demo.screen import Screen

_OUT: Final = Path("demo-hands")


def run(arguments: Sequence[str] = ()) -> int:
    """Run the demo.

    Returns:
        The exit code: 0 if everything was as it must be, 1 if not, 2 for a wrong option.
    """
    options = _options().parse_args(arguments)
    screen = Screen(quiet=options.quiet)
    plans = [plan for plan in PLANS if options.game in (None, plan.name)]
    started = time.monotonic()
    folder = Path(tempfile.mkdtemp(prefix="fairdeal-demo-"))
    try:
        with _ended_by_signals():
            good = _demo(plans, screen, folder, options.out)
    except (DemoError, ApiError, CheckError, OSError) as error:
        screen.fault(f"The demo failed. {error}")
        return 1
    except KeyboardInterrupt:
        screen.fault("Stopped.")
        return 130
    finally:
        if options.keep:
            screen.fault(f"Kept: {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)
    if good:
        what_next(screen, options.out, plans, time.monotonic() - started)
    return 0 if good else 1


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="fairdeal demo",
        description="Start a throw-away service, play a hand of each game, verify, try to cheat.",
    )
    parser.add_argument(
        "--out", type=Path, default=_OUT, metavar="DIR", help="where the files go (demo-hands)"
    )
    parser.add_argument("--game", choices=[plan.name for plan in PLANS], help="play this hand only")
    parser.add_argument("--keep", action="store_true", help="keep the service's data folder")
    parser.add_argument("--quiet", action="store_true", help="show verdicts and faults only")
    return parser


@contextlib.contextmanager
def _ended_by_signals() -> Iterator[None]:
    """Let a polite kill end the demo as Ctrl-C does, so that its processes are ended too."""

    def stop(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    names = [name for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    before = {name: signal.signal(getattr(signal, name), stop) for name in names}
    try:
        yield
    finally:
        for name, handler in before.items():
            signal.signal(getattr(signal, name), handler)


def _demo(plans: Sequence[Plan], screen: Screen, folder: Path, out: Path) -> bool:
    """Start everything, play, end everything, and let the verifier judge what is left."""
    with contextlib.ExitStack() as stack:
        service = Service(folder)
        stack.callback(service.end)
        devices = []
        for number in range(max(plan.seats for plan in plans)):
            devices.append(Seat(number, folder, keyed=number == KEYED_SEAT))
            stack.callback(devices[-1].end)
        connections = stack.enter_context(httpx2.Client(trust_env=False))
        service.wait()
        api = Api(service.url, service.operator_key(), client=connections)
        log_key = str(api.get("/v1/keys")["keys"][0]["vkey"])
        for device in devices:
            device.wait()
        _introduce(screen, service, devices, log_key)
        key = _clear(out) / "log.vkey"
        key.write_text(log_key + "\n", "utf-8")
        operator = Operator(api, screen, log_key, folder, out)
        try:
            files = [(plan, *operator.play(plan, devices[: plan.seats])) for plan in plans]
        except ApiError as error:
            raise DemoError(f"{error}\n{service.complaint()}") from error
    good = verify_all(screen, files, key)
    return cheat(screen, files, key, folder) and good


def _clear(out: Path) -> Path:
    """Make the folder, and take away what an earlier demo left: another log's key fits no more."""
    out.mkdir(parents=True, exist_ok=True)
    for plan in PLANS:
        for path in (
            *out.glob(f"{plan.name}.fair.json"),
            *out.glob(f"{plan.name}.seat?.notes.json"),
        ):
            path.unlink()
    return out


def _introduce(screen: Screen, service: Service, devices: Sequence[Seat], log_key: str) -> None:
    screen.title("Provably fair dealing")
    screen.tell(
        "service",
        f"listens on {service.url} (process {service.process.pid}), with a log of its own.",
    )
    screen.tell(
        "seats",
        f"{len(devices)} devices, each a process of its own "
        f"({', '.join(str(device.process.pid) for device in devices)}). Each keeps its secrets; "
        "this process, the operator's, never sees one. All they share is the service over HTTP. "
        "(For this show they also tell the screen their cards.)",
    )
    screen.tell("log key", "the one thing that everybody must know from elsewhere:")
    screen.copy(log_key)
