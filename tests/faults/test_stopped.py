"""Ctrl-C while a command is still reading its modules: it ends, and says nothing."""

from __future__ import annotations

import signal
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
COMMANDS = {
    name: entry
    for project in ("api", "verifier")
    for name, entry in tomllib.loads((ROOT / project / "pyproject.toml").read_text("utf-8"))[
        "project"
    ]["scripts"].items()
}
SLOW = {
    "fairdeal": "fairdeal_api.settings",
    "fairdeal-verify": "fairdeal_verifier.encoding",
    "fairdeal-audit": "fairdeal_audit.replay",
}
"""A module that each has to read, here the one in which it is stopped."""

SCRIPT = "from {0} import {1}; sys.argv = ['it', '--version']; sys.exit({1}())"
MODULE = "sys.argv = ['it', '--version']; runpy.run_module({!r}, run_name='__main__')"
PATH = "sys.argv = ['it', '--version']; runpy.run_path({!r}, run_name='__main__')"

# It says that it is there, and goes on when it is told to.
WAITS = """
import runpy, sys
class Waits:
    def find_spec(self, name, *_):
        if name == {!r}:
            print("here", flush=True)
            sys.stdin.readline()
sys.meta_path.insert(0, Waits())
{}
"""


def started(slow: str, code: str, handling: signal.Handlers) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", WAITS.format(slow, code)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, handling),  # noqa: PLW1509 - nothing else
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stdout.readline() == "here\n"
    process.send_signal(signal.SIGINT)
    return process


def ways(tmp_path: Path) -> dict[str, tuple[str, str]]:
    """All ways to start each command: the module to wait in, and the program."""
    zipped = tmp_path / "verify.pyz"
    build = ROOT / "verifier" / "build_zipapp.py"
    subprocess.run([sys.executable, build, zipped], check=True, capture_output=True)
    found = {
        name: (SLOW[name], SCRIPT.format(*entry.split(":"))) for name, entry in COMMANDS.items()
    }
    for name, entry in COMMANDS.items():
        package = entry.partition(".")[0]
        found[f"-m {package}"] = SLOW[name], MODULE.format(package)
    folder = ROOT / "verifier" / "fairdeal_verifier"
    found["folder"] = SLOW["fairdeal-verify"], PATH.format(str(folder))
    found["zip"] = SLOW["fairdeal-verify"], PATH.format(str(zipped))
    return found


def test_ctrl_c_at_the_start_of_a_command_is_no_fault_of_it(tmp_path):
    for way, (slow, code) in ways(tmp_path).items():
        with started(slow, code, signal.SIG_DFL) as process:
            out, err = process.communicate("\n", timeout=120)
        assert (process.returncode, out, err) == (-signal.SIGINT, "", ""), way


def test_who_starts_a_command_deaf_to_ctrl_c_has_it_so(tmp_path):
    """As a shell does with what it puts into the background."""
    for way, (slow, code) in ways(tmp_path).items():
        with started(slow, code, signal.SIG_IGN) as process:
            out, err = process.communicate("\n", timeout=120)
        assert (process.returncode, err) == (0, ""), way
        assert out.endswith(" 0.1.0\n"), way


BUILDS = """
import sys, typer.main
reads = typer.main.get_params_from_function
def waits(function):
    typer.main.get_params_from_function = reads
    print("here", flush=True)
    sys.stdin.readline()
    return reads(function)
typer.main.get_params_from_function = waits
sys.argv = ["it", "--version"]
"""


@pytest.mark.parametrize("way", ["main", "control"])
def test_ctrl_c_while_the_options_are_put_together(way):
    code = (
        BUILDS
        + {
            "main": "from fairdeal_api.__main__ import main; main()",
            "control": "from fairdeal_api import cli; cli.main()",
        }[way]
    )
    with started("", code, signal.SIG_DFL) as process:
        out, err = process.communicate("\n", timeout=120)
    assert (process.returncode, out) == (-signal.SIGINT, "")
    assert err.endswith("KeyboardInterrupt\n") if way == "control" else err == ""


@pytest.mark.parametrize("package", ["fairdeal_api.cli", "fairdeal_verifier.command"])
def test_the_control_python_s_own_way_is_a_page_of_text(package):
    slow = next(one for one in SLOW.values() if one.startswith(package.partition(".")[0]))
    with started(slow, f"import {package}", signal.SIG_DFL) as process:
        _, err = process.communicate("\n", timeout=120)
    assert err.endswith("KeyboardInterrupt\n")
    assert err.startswith("Traceback")
