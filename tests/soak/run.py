"""`python -m tests.soak [FAMILY ..]`: every part once, resumable; results go to `docs/soak.json`.

Of some families asked for by name only these are run, and the others' results stay as they are.

A part that is done is written to `.soak/<commit>.jsonl` at once; interrupted and started again at
the same commit, the run goes on where it was. Each family of parts has a control: a variant that
is broken on purpose, or input that is right, which the same code must tell apart.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path
from typing import Any
from unittest import mock

from fairdeal_verifier import note as their_notes
from fairdeal_verifier.play import follow
from fairdeal_verifier.verify import verify
from tests.audit.generate import generate, other_prev
from tests.interop.conftest import INDEX, KEY, SEEDS, SMALLEST, hand
from tests.interop.play_files import changed_files, verified_tables
from tests.interop.play_pair import NAMES, paired_games
from tests.interop.rule_faults import FAULTS, hunt
from tests.interop.work import changed_bytes, mangled_files, random_hands
from tests.soak.audit import found_fault, replayed, replayed_log

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "docs/soak.json"
CONTROLS_INSIDE = frozenset({"statistics"})
"""Families whose tests bring their controls along."""
ALONE = frozenset({"audit.replayed", "audit.fault"})
"""Parts that measure time, and are given the machine."""
Result = tuple[int, list[str]] | tuple[int, list[str], dict[str, Any]]
"""How many cases, what was found, and what was measured if anything was."""
Part = tuple[str, Callable[..., Result], tuple[Any, ...]]


def without_signatures() -> tuple[int, list[str]]:
    """Control: a verifier that skips the signature lets changed files pass."""
    name = SMALLEST[0]
    with mock.patch.object(their_notes, "verify_signature", return_value=True):
        return changed_bytes(name, hand(name).index("— ".encode()), len(hand(name)), 16)


def unmangled_files() -> tuple[int, list[str]]:
    """Control: the files that are mangled pass as they are."""
    names = [name for name, expected in INDEX.items() if expected["exit"] == 0]
    return len(names), [n for n in names if verify((SEEDS / n).read_bytes(), key=KEY).exit == 0]


def forged_hands() -> tuple[int, list[str]]:
    """Control: hands that are not right are found not to be."""
    names = [
        name for name, e in INDEX.items() if e["exit"] == 1 and not e.keys() & {"notes", "receipts"}
    ]
    return len(names), [n for n in names if verify((SEEDS / n).read_bytes(), key=KEY).exit == 1]


def faulty_rules() -> tuple[int, list[str]]:
    """Control: a mistake planted in the core's rules is seen by the pairs."""
    return hunt(FAULTS[0].game, FAULTS[0])


def without_results() -> tuple[int, list[str]]:
    """Control: a verifier that does not compare results lets changed files pass."""
    with mock.patch.object(follow, "is_same", return_value=True):
        return changed_files("kozel", 0, 10)


def pytest_part(*arguments: str) -> tuple[int, list[str]]:
    """Tests that are marked `soak`."""
    command = [sys.executable, "-m", "pytest", "-q", "-m", "soak", *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    last = done.stdout.strip().splitlines()[-1]
    return 1, [] if done.returncode == 0 else [last]


def planted_fault() -> Result:
    """Control: a log in which one event names another one before it is not clean."""
    with tempfile.TemporaryDirectory() as name:
        generate(Path(name), 500, tamper={2001: other_prev})
        done = replayed(Path(name))
    lines = (done.stdout + done.stderr).strip().splitlines()
    return 500, [] if done.returncode == 0 else lines[2:5] or lines


def kill_loop(cycles: int, *variant: str) -> tuple[int, list[str]]:
    """The service killed in a loop; what it lost, if anything."""
    command = [sys.executable, "-m", "tests.faults.kill_loop", "--cycles", str(cycles), *variant]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    last = (done.stdout.strip().splitlines() or [done.stderr[-300:]])[-1]
    return cycles, [] if done.returncode == 0 else [last]


def parts() -> Iterator[Part]:
    """Everything there is to do; controls are named so."""
    yield "every_byte.control", without_signatures, ()
    for name in SMALLEST:
        for start in range(0, len(hand(name)), 250):
            yield f"every_byte.{name}.{start}", changed_bytes, (name, start, start + 250)
    yield "mangled.control", unmangled_files, ()
    for start in range(2000, 102_000, 2500):
        yield f"mangled.{start}", mangled_files, (start, start + 2500)
    yield "random_hands.control", forged_hands, ()
    for start in range(10_000, 30_000, 500):
        yield f"random_hands.{start}", random_hands, (start, start + 500)
    yield "play.control", faulty_rules, ()
    for game in NAMES:
        for start in range(0, 20_000, 500):
            yield f"play.{game}.{start}", paired_games, (game, start, start + 500)
    yield "play-files.control", without_results, ()
    for game in NAMES:
        for start in range(10_000, 11_000, 100):
            yield f"play-files.{game}.{start}", verified_tables, (game, start, start + 100)
            changed = f"play-files.{game}.{start}.changed"
            yield changed, changed_files, (game, start, start + 100)
    yield "statistics.core", pytest_part, ("tests/core",)
    yield "audit.control", planted_fault, ()
    yield "audit.replayed", replayed_log, (100_000,)
    yield "audit.fault", found_fault, (100_000,)
    yield "kill_loop.control", kill_loop, (6, "--variant", "ack_before_commit")
    yield "kill_loop.50", kill_loop, (50,)


def family(name: str) -> str:
    """The family of a part."""
    return name.partition(".")[0]


def run(state: Path, families: Sequence[str] = ()) -> dict[str, Any]:
    """Do what is not done yet, of some families or of all; returns these parts' results."""
    done = {}
    if state.exists():
        for line in state.read_text("utf-8").splitlines():
            done |= json.loads(line)
    asked = [part for part in parts() if not families or family(part[0]) in families]
    todo = [part for part in asked if part[0] not in done]
    together = [part for part in todo if part[0] not in ALONE]
    began = time.monotonic()
    number = 0
    with state.open("a", encoding="utf-8") as log:
        for some, workers in ((together, os.cpu_count()), (_alone(todo), 1)):
            for name, result in _results(some, workers):
                done[name] = result
                log.write(json.dumps({name: result}) + "\n")
                log.flush()
                number += 1
                left = (time.monotonic() - began) / number * (len(todo) - number)
                print(f"{number}/{len(todo)} {name}, about {left:.0f} s left", flush=True)
    return {name: done[name] for name, _, _ in asked}


def _alone(todo: Sequence[Part]) -> list[Part]:
    return [part for part in todo if part[0] in ALONE]


def _results(some: Sequence[Part], workers: int | None) -> Iterator[tuple[str, dict[str, Any]]]:
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        jobs = {pool.submit(work, *arguments): name for name, work, arguments in some}
        for job in as_completed(jobs):
            count, found, *measured = job.result()
            result = {"count": count, "found": len(found), "first": found[:3]}
            yield jobs[job], result | ({"measured": measured[0]} if measured else {})


def summary(done: dict[str, Any], commit: str, before: dict[str, Any]) -> dict[str, Any]:
    """Counts by family, and whether all is as it must be.

    Args:
        done: Results of parts.
        commit: At which they were made.
        before: Families of earlier runs, which stay unless they were run again.
    """
    families: dict[str, dict[str, Any]] = {}
    for name, result in sorted(done.items()):
        part = name.partition(".")[2]
        entry = families.setdefault(family(name), {"count": 0, "found": 0, "first": []})
        if part == "control":
            entry["control"] = {"count": result["count"], "found": result["found"]}
        else:
            entry["count"] += result["count"]
            entry["found"] += result["found"]
            entry["first"] += result["first"]
        if "measured" in result:
            entry.setdefault("measured", {})[part] = result["measured"]
    for entry in families.values():
        entry["commit"] = commit
    families = dict(sorted((before | families).items()))
    good = all(
        entry["found"] == 0
        and (name in CONTROLS_INSIDE or entry.get("control", {}).get("found", 0) > 0)
        for name, entry in families.items()
    )
    return {"python": sys.version.split()[0], "good": good, "families": families}


def main(families: Sequence[str] = ()) -> int:
    """Run these families, or all of them, and write the results among the others'."""
    known = {family(name) for name, _, _ in parts()}
    if not set(families) <= known:
        print(f"families: {', '.join(sorted(known))}", file=sys.stderr)
        return 2
    commit = subprocess.run(
        ["git", "describe", "--always", "--dirty"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    folder = ROOT / ".soak"
    folder.mkdir(exist_ok=True)
    before = json.loads(RESULTS.read_text("utf-8"))["families"] if RESULTS.exists() else {}
    known_before = {name: entry for name, entry in before.items() if name in known}
    done = run(folder / f"{commit}.jsonl", families)
    results = summary(done, commit, known_before)
    RESULTS.write_text(json.dumps(results, indent=1) + "\n", "utf-8")
    print(json.dumps(results))
    return 0 if results["good"] else 1
