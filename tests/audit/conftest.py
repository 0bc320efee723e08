"""A log of 2,000 hands, made once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fairdeal_audit.command import main
from tests.audit.generate import LogWriter, generate

HANDS = 2000


@pytest.fixture(scope="session")
def written(tmp_path_factory) -> tuple[Path, LogWriter]:
    folder = tmp_path_factory.mktemp("honest") / "log"
    return folder, generate(folder, HANDS)


@pytest.fixture(scope="session")
def honest_log(written) -> Path:
    """2,000 hands of all games, as static files."""
    return written[0]


@pytest.fixture
def run(capsys):
    """Runs `fairdeal-audit`; gives the exit code and what it wrote, as JSON if it is."""

    def run(*arguments: object) -> tuple[int, Any]:
        capsys.readouterr()
        quiet = ("--quiet", "--json") if "--text" not in arguments else ("--quiet",)
        code = main([str(one) for one in (*arguments, *quiet) if one != "--text"])
        out = capsys.readouterr()
        try:
            return code, json.loads(out.out.splitlines()[-1])
        except (ValueError, IndexError):
            return code, out.out + out.err

    return run
