"""What the documents show can be done: the example runs; settings and codes are those there are."""

from __future__ import annotations

import configparser
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from fairdeal_api.cli import _command
from fairdeal_api.problems import KINDS
from fairdeal_api.settings import Settings
from fairdeal_api.system import EXIT_BROKEN, EXIT_FROZEN, EXIT_LOST
from tests.api.test_process import new_key, serving

ROOT = Path(__file__).parents[2]
API = (ROOT / "docs/api.md").read_text("utf-8")
OPERATIONS = (ROOT / "docs/operations.md").read_text("utf-8")


def example():
    (found,) = re.findall(r"^```python\n(.*?)^```$", API, re.MULTILINE | re.DOTALL)
    return found


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """What the example is told of a service that runs."""
    data = tmp_path_factory.mktemp("example") / "data"
    with serving(data) as (_, client):
        url = str(client.base_url).rstrip("/")
        yield os.environ | {"SERVICE": url, "KEY": new_key(data), "no_proxy": "127.0.0.1"}


@pytest.fixture
def played(environment, tmp_path):
    """Runs the example, or another one made of it, in an empty folder beside the service."""

    def play(text):
        done = subprocess.run(
            [sys.executable, "-I", "-c", text],
            cwd=tmp_path, env=environment, capture_output=True, text=True, check=False,
            timeout=600,
        )  # fmt: skip
        return done, tmp_path

    return play


def test_the_hand_of_the_api_page_is_dealt_and_verified(played):
    done, folder = played(example())
    assert done.returncode == 0, done.stderr
    *hands, link = done.stdout.splitlines()
    assert [line[0] for line in hands] == ["0", "1", "2", "3"]
    assert len({card for line in hands for card in line.split()[1:]}) == 16
    assert "/v/tbl_" in link
    verified = subprocess.run(
        [
            sys.executable, ROOT / "verifier/fairdeal_verifier", "--lang", "en",
            "--key", folder / "log.vkey", folder / "kozel.fair.json",
        ],
        capture_output=True, text=True, check=False, timeout=600,
    )  # fmt: skip
    assert verified.returncode == 0, verified.stdout
    assert "one party may have held all" in verified.stdout


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("bytes([seat])", "bytes([seat + 1])"),
        ("fairdeal/1 ", "fairdeal/2 "),
        ("terms, (1)", "commitment, (1)"),
    ],
)
def test_control_a_seal_that_is_made_otherwise_opens_nothing(played, old, new):
    assert example().count(old) == 1
    done, folder = played(example().replace(old, new))
    assert "HTTP Error 422" in done.stderr
    assert not list(folder.iterdir())


def settings_told(text):
    """The rows of the table of settings: names, and what the default is said to be."""
    section = re.search(r"^## Settings$(.*?)^## ", text, re.MULTILINE | re.DOTALL)
    assert section
    found = {}
    for names, default in re.findall(r"^\| (`.+?) \| (.+?) \|", section[1], re.MULTILINE):
        for name in re.findall(r"`(\w+)`", names):
            assert name not in found
            found[name] = default
    return found


def faults(text):
    told = settings_told(text)
    found = sorted(told.keys() ^ Settings.model_fields.keys())
    for name, field in Settings.model_fields.items():
        default = told.get(name, "")
        if default.startswith("`") and "<" not in default:
            is_it = default.strip("`").lower() == str(field.default).lower()
        else:
            is_it = field.default in (None, ()) or name.startswith("witness")
        if name in told and not is_it:
            found.append(f"{name}: {default}")
    return found


def test_the_table_of_settings_has_them_all_with_their_defaults():
    assert faults(OPERATIONS) == []


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("| `port` | `8080` |", "| `port` | `80` |", "port: `80`"),
        ("| `port` | `8080` |", "| `prot` | `8080` |", "port"),
        ("| `host` | `127.0.0.1` |", "| `host` | none |", "host: none"),
    ],
)
def test_control_a_setting_told_otherwise_is_found(old, new, fault):
    assert OPERATIONS.count(old) == 1
    assert fault in faults(OPERATIONS.replace(old, new))


def codes_told(text):
    """The table of codes, as (status, code); a row may have several statuses."""
    found = set()
    section = text.partition("\n## Codes\n")[2]
    for statuses, cell in re.findall(r"^\| ([\d /]+) \| (.+) \|$", section, re.MULTILINE):
        groups = re.sub(r"\([^)]*\)", "", cell.partition(":")[0]).split(" / ")
        numbers = list(map(int, statuses.split(" / ")))
        assert len(numbers) == len(groups), statuses
        for number, group in zip(numbers, groups, strict=True):
            found |= {(number, code) for code in re.findall(r"`(\w+)`", group)}
    return found


def test_the_page_of_the_api_has_every_code_with_its_status():
    assert codes_told(API) == {(kind.status, code) for code, kind in KINDS.items()}


@pytest.mark.parametrize(
    ("old", "new"),
    [("`too_early`, ", ""), ("| 412 |", "| 409 |"), ("`internal` / ", "`internal`, `more` / ")],
)
def test_control_a_code_told_otherwise_is_found(old, new):
    assert API.count(old) == 1
    assert codes_told(API.replace(old, new)) != codes_told(API)


def ends_told(text):
    """The table of exit codes: of each, whether something else may start the service again."""
    section = text.partition("\n## How it ends, ")[2]
    rows = re.findall(r"^\| (\d+).*? \| .+? \| ?(.*?) ?\|$", section, re.MULTILINE)
    return {int(code): again in ("at once", "after a look") for code, again in rows}


def unit(text):
    """The unit of systemd's, of which each name stands once."""
    (found,) = re.findall(r"^```ini\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    parser = configparser.ConfigParser(interpolation=None)
    parser.optionxform = str  # type: ignore[assignment]
    parser.read_string(found)
    return parser


def unit_faults(text):
    service = unit(text)["Service"]
    again = ends_told(text)
    found = sorted(again.keys() ^ {0, 1, 2, EXIT_BROKEN, EXIT_FROZEN, EXIT_LOST})
    never = {int(code) for code in service["RestartPreventExitStatus"].split()}
    found += sorted(never ^ {code for code, is_tried in again.items() if code and not is_tried})
    if again.get(EXIT_BROKEN) is not True or again.get(EXIT_LOST) or again.get(EXIT_FROZEN):
        found.append("again")
    program, command, *rest = shlex.split(service["ExecStart"])
    try:
        _command.commands[command].make_context(command, rest)
    except Exception as error:  # noqa: BLE001 - whatever is wrong with the words
        found.append(f"{program}: {type(error).__name__}")
    return found


def test_the_unit_of_systemd_starts_again_what_may_be_started_again():
    """What each code means is tested where a process ends so; of SIGTERM in `test_process`."""
    assert unit_faults(OPERATIONS) == []


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("Status=2 71 75", "Status=2 71", EXIT_LOST),
        ("Status=2 71 75", "Status=2 70 71 75", EXIT_BROKEN),
        ("| 71 | the log", "| 72 | the log", EXIT_FROZEN),
        ("gone | at once |", "gone | never by itself |", "again"),
        (
            "fairdeal serve --config",
            "fairdeal serve --conf",
            "/opt/fairdeal/bin/fairdeal: NoSuchOption",
        ),
        (
            "fairdeal serve --config",
            "fairdeal run --config",
            "/opt/fairdeal/bin/fairdeal: KeyError",
        ),
    ],
)
def test_control_a_unit_that_says_otherwise_is_found(old, new, fault):
    assert OPERATIONS.count(old) == 1
    assert fault in unit_faults(OPERATIONS.replace(old, new))
