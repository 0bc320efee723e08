"""Taken over under load, again and again: one log goes on, and nothing acknowledged is lost.

The rig is that of the kill loop, and so is its control: a service that tells before it commits is
caught by the same audit (`test_kill_loop.py`). Spec: LOG-20.
"""

from __future__ import annotations

import os
import signal
import time

from tests.faults.kill_loop import KILL_AFTER_MS, Rig

CYCLES, CYCLES_IN_FULL = 3, 25


class Succession(Rig):
    """Instead of a kill, a successor takes over from a process that is asleep, or busy."""

    slept = 0

    def _kill_under_load(self) -> None:
        site, first = self.site, self.site.pid
        asleep = self.rng.random() < 0.6
        self.gate.open.set()
        time.sleep(self.rng.uniform(*KILL_AFTER_MS) / 1000)
        if asleep:
            os.kill(first, signal.SIGSTOP)
            self.slept += 1
        site.pid = 0
        site.flags.append("--take-over")
        # A process that sleeps inside a transaction has to be ended first: that is another test.
        for attempt in range(40):
            try:
                self.gate.port = site.start()
                break
            except Exception:
                if attempt == 39:
                    raise
                os.kill(first, signal.SIGCONT)
                time.sleep(0.01)
        site.flags.remove("--take-over")
        if asleep:
            os.kill(first, signal.SIGCONT)
        # Some clients still ask the first one, over connections that they have.
        status = site.launcher.wait(first, 60)
        if status != 75:
            self.audit.fault(f"A process that was taken over from ended with {status}.")
        self._load()
        site.kill()
        self.cycles += 1


def test_nothing_acknowledged_is_lost_and_nothing_forks(launcher, tmp_path, in_full):
    cycles = CYCLES_IN_FULL if in_full else CYCLES
    rig = Succession(launcher, tmp_path, "succession", 4)
    rig.run(cycles)
    result = rig.result()
    print(result, rig.slept)
    assert result["first_faults"] == []
    assert result["cycles"] == cycles
    assert result["lost"] == result["unexplained"] == 0
    assert "all as it must be" in result["fsck"]
    assert result["acked"] > 10 * cycles
    assert result["recovered"] > 0
    assert rig.slept > 0
