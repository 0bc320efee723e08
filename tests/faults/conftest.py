"""How much is done: all of it when these tests were asked for by themselves, a part otherwise."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.cutting import Cutter, build
from tests.faults.launcher import Launcher
from tests.faults.site import Site

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.faults)


def asked_by_name(config: pytest.Config) -> bool:
    """Whether pytest was given this folder, or something in it, and nothing else."""
    start = config.invocation_params.dir
    paths = [(start / argument.split("::")[0]).resolve() for argument in config.args]
    return all(path == HERE or HERE in path.parents for path in paths)


@pytest.fixture(scope="session")
def in_full(pytestconfig: pytest.Config) -> bool:
    """`make faults` and `make soak` do all, `make test` a part; or FAULTS_IN_FULL."""
    said = os.environ.get("FAULTS_IN_FULL")
    soak = "soak" in (pytestconfig.getoption("markexpr") or "").replace("not soak", "")
    return said == "1" if said else soak or asked_by_name(pytestconfig)


@pytest.fixture(scope="session")
def launcher() -> Iterator[Launcher]:
    with Launcher() as running:
        yield running


@pytest.fixture(scope="session")
def cutter(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cutter]:
    with Cutter(build(tmp_path_factory.mktemp("cuts"))) as running:
        yield running


@pytest.fixture
def site(launcher: Launcher, tmp_path: Path) -> Iterator[Site]:
    """A fresh folder; its service is not started."""
    with Site(launcher, tmp_path / "site") as found:
        yield found
