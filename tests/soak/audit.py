"""A long log, replayed: how fast, in how much memory, killed and resumed, with a fault in it."""

from __future__ import annotations

import json
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from fairdeal_audit.store import NAME
from tests.audit.generate import Plant, generate, other_root

SEED = 20261130
MAX_MEGABYTES = 300
KILLS = 3
Result = tuple[int, list[str], dict[str, Any]]

# The peak of this process, and of the largest of those that worked for it.
MEASURED = """
import json, resource, sys, time
from fairdeal_audit.command import main
began = time.monotonic()
code = main(sys.argv[1:])
seconds = time.monotonic() - began
own = int(open("/proc/self/status").read().partition("VmHWM:")[2].split()[0])
others = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
print(json.dumps({"seconds": round(seconds, 1), "megabytes": round(max(own, others) / 1024)}))
sys.exit(code)
"""


def command(folder: Path) -> list[str]:
    return ["replay", str(folder), "-j", "2", "--quiet"]


def replayed(folder: Path) -> subprocess.CompletedProcess[str]:
    """A replay by two processes, measured in its last line."""
    argv = [sys.executable, "-c", MEASURED, *command(folder)]
    return subprocess.run(argv, capture_output=True, text=True, check=False)


def forget(folder: Path) -> None:
    """Nothing was replayed yet."""
    for path in folder.glob(f"{NAME}*"):
        path.unlink()
    shutil.rmtree(folder / "evidence", ignore_errors=True)
    (folder / "report.json").unlink(missing_ok=True)


def replayed_log(hands: int) -> Result:
    """An honest log, replayed at one go, and again with kills in between: the same report."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        began = time.monotonic()
        entries = generate(folder, hands).size
        generated = time.monotonic() - began
        done = replayed(folder)
        lines = (done.stdout + done.stderr).strip().splitlines()
        if done.returncode:
            return hands, lines[2:5] or lines, {}
        measured = json.loads(lines[-1])
        found = []
        if measured["megabytes"] >= MAX_MEGABYTES:
            found.append(f"it took {measured['megabytes']} MB")
        whole = (folder / "report.json").read_bytes()
        forget(folder)
        kills = killed_replay(folder, measured["seconds"])
        if (folder / "report.json").read_bytes() != whole:
            found.append("killed and resumed, it comes to something else")
        if kills < KILLS:
            found.append(f"only {kills} of {KILLS} kills came before the end")
    rate = round(hands / measured["seconds"])
    return (
        hands,
        found,
        measured
        | {
            "hands": hands,
            "entries": entries,
            "hands_per_second": rate,
            "kills": kills,
            "generated_in": round(generated),
        },
    )


def killed_replay(folder: Path, seconds: float) -> int:
    """Replay, killed some times on the way; gives how many kills came before its end."""
    chance, kills = random.Random(SEED), 0
    for _ in range(KILLS):
        with subprocess.Popen(
            [sys.executable, "-m", "fairdeal_audit", *command(folder)], stdout=subprocess.DEVNULL
        ) as process:
            try:
                process.wait(chance.uniform(0.1, 0.3) * seconds)
            except subprocess.TimeoutExpired:
                process.kill()
            kills += process.wait() == -signal.SIGKILL
    subprocess.run(
        [sys.executable, "-m", "fairdeal_audit", *command(folder)],
        stdout=subprocess.DEVNULL,
        check=False,
    )
    return kills


def found_fault(hands: int) -> Result:
    """A log with one hand, anywhere in it, whose deck is not the one its seeds give."""
    start = random.Random(SEED).randrange(7 * hands)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        planted = generate(folder, hands, plant=Plant(start, b'"hand.dealt"', other_root)).planted
        done = replayed(folder)
        lines = (done.stdout + done.stderr).strip().splitlines()
        if planted < 0 or done.returncode != 1:
            return hands, ["the fault was not found", *lines[-2:]], {}
        report = json.loads((folder / "report.json").read_bytes())
        event = json.loads(_entry(folder, planted))
    findings = report["findings"]
    tables, codes = {one["table"] for one in findings}, sorted({one["code"] for one in findings})
    found = []
    if tables != {event["table"]}:
        found.append(f"found at {len(tables)} tables, planted at {event['table']}")
    if not any(
        one["code"] == "HAND" and one["hand"] == event["hand"] for one in report["findings"]
    ):
        found.append("the hand itself was not found")
    if not any(one["evidence"] for one in findings):
        found.append("nothing proves it")
    measured = {"hands": hands, "entry": planted, "hand": event["hand"], "codes": codes}
    return hands, found, measured | json.loads(lines[-1])


def _entry(folder: Path, index: int) -> bytes:
    from fairdeal_audit.tiles import Folder  # noqa: PLC0415 - as in its own tests

    size = int((folder / "checkpoint").read_text("utf-8").split("\n")[1])
    return Folder(folder, size).entry(index)
