"""A service in a folder of its own, and an operator's key for it."""

from __future__ import annotations

import os
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Self

import pytest
from starlette.testclient import TestClient

from fairdeal_api import system
from fairdeal_api.app import create_app
from fairdeal_api.service import Service, initialise
from fairdeal_api.settings import Settings


def fail(error: BaseException) -> None:
    """Ends the process as the service would, but says why: no test means to get here."""
    traceback.print_exception(error)
    os._exit(99)


class Site:
    """A running service, seen from outside."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.service = Service(settings, fatal=fail)
        self.client = TestClient(create_app(settings, self.service), base_url="http://test")

    def key(self, name: str = "club") -> str:
        return self.service.operators.create(name, self.settings.mode)[1]

    def __enter__(self) -> Self:
        self.client.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self.client.__exit__(*error)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(data=tmp_path / "data", mode="test", origin="deal.example/log")


@pytest.fixture
def site(settings: Settings) -> Iterator[Site]:
    initialise(settings)
    with Site(settings) as running:
        yield running


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """One service for all tests of a module: for tests that make tables of their own."""
    folder = tmp_path_factory.mktemp("shared")
    settings = Settings(data=folder / "data", mode="test", origin="deal.example/log")
    initialise(settings)
    with Site(settings) as running:
        yield running


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> Callable[[Site, float], None]:
    """Lets seconds pass at once, on both clocks of a service, which go on from there.

    A time that had to be waited for would have to be short, and a machine that is busy is late
    for a short one.
    """
    wall, steady, passed = system.wall_clock, system.monotonic, 0
    monkeypatch.setattr(system, "monotonic", lambda: steady() + passed)

    def pass_by(site: Site, seconds: float) -> None:
        nonlocal passed
        passed += round(1000 * seconds)
        monkeypatch.setattr(site.service.clock, "_read", lambda: wall() + passed)

    return pass_by
