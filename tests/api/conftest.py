"""A service in a folder of its own, and an operator's key for it."""

from __future__ import annotations

import os
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Self

import pytest
from starlette.testclient import TestClient

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
