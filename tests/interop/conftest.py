"""What core, verifier and vectors have in common: nothing but bytes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

SEEDS = Path(__file__).parents[2] / "seeds"


def load(name: str) -> Any:
    return json.loads((SEEDS / name).read_text("utf-8"))


INDEX: dict[str, dict[str, Any]] = load("index.json")
KEY = (SEEDS / "log.vkey").read_text("utf-8").strip()
SMALLEST = ("kozel-short", "mus-no_round", "azi-two_seats", "svoi-same_trumps")
"""The smallest closed hand of each game."""


@pytest.fixture(scope="session")
def key() -> str:
    return KEY


def hand(name: str) -> bytes:
    return (SEEDS / f"{name}.fair.json").read_bytes()
