"""Witnesses on ports of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.faults.launcher import Launcher
from tests.witness.stand import Stand


@pytest.fixture
def make_witness(tmp_path: Path) -> Iterator[Callable[[str], Stand]]:
    made: list[Stand] = []

    def make(name: str = "witness.example/w1") -> Stand:
        made.append(Stand(tmp_path / f"witness-{len(made)}", name))
        return made[-1]

    yield make
    for one in made:
        one.stop()


@pytest.fixture(scope="module")
def launcher() -> Iterator[Launcher]:
    with Launcher() as running:
        yield running
