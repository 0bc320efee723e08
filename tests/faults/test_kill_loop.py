"""The kill loop, and the service that it must find guilty."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.faults import kill_loop

CYCLES, CYCLES_IN_FULL, CYCLES_OF_SOAK = 8, 50, 1000
# What loses something in every second kill is missed once in a million runs.
CONTROL_CYCLES = 20


def report(result: dict) -> None:
    """Shown when a test fails, and kept where CI asks for it."""
    line = json.dumps(result)
    print(line)
    if folder := os.environ.get("FAULTS_RESULTS"):
        Path(folder, f"kill_loop-{result['variant'] or 'service'}.json").write_text(line + "\n")


def check(result: dict, cycles: int) -> None:
    report(result)
    assert result["first_faults"] == []
    assert result["cycles"] == cycles
    assert result["lost"] == 0
    assert result["unexplained"] == 0
    assert "all as it must be" in result["fsck"]
    # Without load nothing was shown.
    assert result["acked"] > 10 * cycles
    assert result["hands"] > cycles
    assert result["checkpoints"] > cycles
    assert result["recovered"] > 0
    assert result["repeated"] > 0


def test_nothing_acknowledged_is_lost(launcher, tmp_path, in_full):
    cycles = CYCLES_IN_FULL if in_full else CYCLES
    seed = os.environ.get("FAULTS_SEED", "1")
    check(kill_loop.run(launcher, tmp_path, cycles=cycles, seed=seed), cycles)


@pytest.mark.soak
@pytest.mark.parametrize("part", range(4))
def test_nothing_acknowledged_is_lost_in_a_long_run(launcher, tmp_path, part):
    cycles = CYCLES_OF_SOAK // 4
    check(kill_loop.run(launcher, tmp_path, cycles=cycles, seed=f"soak {part}"), cycles)


def test_a_service_that_tells_before_it_writes_is_caught(launcher, tmp_path):
    result = kill_loop.run(
        launcher,
        tmp_path,
        cycles=CONTROL_CYCLES,
        seed="control",
        variant="ack_before_commit",
        until_caught=True,
    )
    report(result)
    assert result["lost"] > 0
    assert result["cycles"] <= CONTROL_CYCLES
    assert any("went back" in fault for fault in result["first_faults"])
