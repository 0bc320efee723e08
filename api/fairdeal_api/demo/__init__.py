"""`fairdeal demo`: the real service, a process for each seat, each game, a match, and forgers.

| module | what |
|---|---|
| `plans` | which hands are played |
| `operator` | opens tables and hands, over HTTP |
| `seat` | a seat's device, the other side of it, as a process of its own |
| `play` | house rules: whose turn, which card |
| `match` | a match with a referee, by bots |
| `story`, `screen` | what is told, and how it looks |
| `verdicts` | the standalone verifier, as another program; forgeries |
| `processes` | starting and ending all of them |
"""

from __future__ import annotations

import argparse
import contextlib
import shutil
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import httpx2

from fairdeal_api.client import Api, ApiError, CheckError
from fairdeal_api.demo import match
from fairdeal_api.demo.finale import cheat, verify_all, what_next
from fairdeal_api.demo.operator import Operator
from fairdeal_api.demo.plans import KEYED_SEAT, PLANS, Plan
from fairdeal_api.demo.processes import Seat
from fairdeal_api.demo.screen import Screen
from fairdeal_api.terminal.house import House
from fairdeal_api.terminal.processes import RunError, Service, ended_by_signals
from fairdeal_api.wording import failure_in_words

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
        with ended_by_signals():
            good = _demo(plans, screen, folder, options.out)
    except OSError as error:
        screen.fault(f"The demo failed. {failure_in_words(error)}.")
        return 1
    except (RunError, ApiError, CheckError) as error:
        screen.fault(f"The demo failed. {error}")
        return 1
    except KeyboardInterrupt:
        screen.fault("Stopped.")
        return 130
    finally:
        # What a seat has found wrong is kept, whoever asked for it. Spec: OPEN-2.
        if options.keep or any(folder.rglob("evidence*.json")):
            screen.fault(f"Kept: {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)
    if good:
        what_next(screen, options.out, plans, time.monotonic() - started)
    return 0 if good else 1


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="fairdeal demo",
        description="Start a throw-away service, play each game and a match, verify, try to cheat.",
    )
    parser.add_argument(
        "--out", type=Path, default=_OUT, metavar="DIR", help="where the files go (demo-hands)"
    )
    parser.add_argument("--game", choices=[plan.name for plan in PLANS], help="play this hand only")
    parser.add_argument("--keep", action="store_true", help="keep the service's data folder")
    parser.add_argument("--quiet", action="store_true", help="show verdicts and faults only")
    return parser


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
        operator_key = service.operator_key()
        api = Api(service.url, operator_key, client=connections)
        log_key = str(api.get("/v1/keys")["keys"][0]["vkey"])
        for device in devices:
            device.wait()
        _introduce(screen, service, devices, log_key)
        key = _clear(out) / "log.vkey"
        key.write_text(log_key + "\n", "utf-8")
        operator = Operator(api, screen, log_key, folder, out)
        try:
            files = [(plan, *operator.play(plan, devices[: plan.seats])) for plan in plans]
            hands: list[Path] = []
            if len(plans) > 1:
                house = House(folder, url=service.url, key=operator_key, log_key=log_key)
                hands = match.play_match(stack.enter_context(house), screen, out)
        except ApiError as error:
            raise RunError(f"{error}\n{service.complaint()}") from error
    good = verify_all(screen, files, hands, key)
    return cheat(screen, files, hands, key, folder) and good


def _clear(out: Path) -> Path:
    """Make the folder, and take away what an earlier demo left: another log's key fits no more."""
    out.mkdir(parents=True, exist_ok=True)
    for path in out.glob(f"{match.NAME}-*.fair.json"):
        path.unlink()
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
