"""The command as a player runs it: in a process of its own."""

import hashlib
import importlib.resources
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import zipapp
from pathlib import Path

import jsonschema
import pytest

from fairdeal_verifier import __version__, command
from fairdeal_verifier.report import Style, to_text
from fairdeal_verifier.texts import NOT_PROVED
from fairdeal_verifier.verify import verify
from tests.verifier import builder as B  # noqa: N812
from tests.verifier.test_evidence import notes

PACKAGE = Path(command.__file__).parent
MUS = B.mus(salt="c")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    (folder / "good.fair.json").write_bytes(MUS.file())
    (folder / "bad.fair.json").write_bytes(
        MUS.file(lambda v: v["disclosed"].update(server_seed="00" * 32))
    )
    (folder / "cut.fair.json").write_bytes(MUS.file()[:-1])
    (folder / "aborted.fair.json").write_bytes(
        B.Builder("azi").open().abort("operator", [1]).file()
    )
    unfinished = B.Builder("azi").start()
    unfinished.disclosed = False
    (folder / "unfinished.fair.json").write_bytes(unfinished.file())
    (folder / "log.vkey").write_text(B.VKEY + "\n", encoding="utf-8")
    (folder / "head.receipt").write_text(MUS.receipt(MUS.sealed_head), encoding="utf-8")
    (folder / "end.receipt").write_text(MUS.receipt(), encoding="utf-8")
    (folder / "notes.json").write_bytes(notes(MUS))
    return folder


def run(folder, *arguments, stdin=None, how=None, **env):
    how = how or ["-S", "-m", "fairdeal_verifier"]
    return subprocess.run(
        [sys.executable, *how, *arguments],
        cwd=folder,
        input=stdin,
        capture_output=True,
        check=False,
        env={"PYTHONPATH": str(PACKAGE.parent), "PYTHONDONTWRITEBYTECODE": "1", "PYTHONUTF8": "1"}
        | env,
    )


@pytest.mark.parametrize(
    ("arguments", "code", "first"),
    [
        (["good.fair.json", "--key", B.VKEY], 0, "VERIFIED  hand 1 of tbl_"),
        (["good.fair.json", "--key", "log.vkey"], 0, "VERIFIED  "),
        (["aborted.fair.json", "--key", "log.vkey"], 0, "VERIFIED (aborted: operator, seats 1)  "),
        (["bad.fair.json", "--key", "log.vkey"], 1, "FAILED  "),
        (
            ["good.fair.json"],
            3,
            "CONSISTENT, log key unknown: this proves nothing about the service  ",
        ),
        (["unfinished.fair.json", "--key", "log.vkey"], 3, "INCOMPLETE  "),
        (["cut.fair.json", "--key", "log.vkey"], 4, "UNREADABLE"),
    ],
)
def test_exit_codes(folder, arguments, code, first):
    done = run(folder, *arguments)
    lines = done.stdout.decode().splitlines()
    assert done.returncode == code
    assert lines[0].startswith(first)
    assert not done.stderr
    for line in NOT_PROVED:
        assert f"  - {line}" in lines


def test_a_failure_is_named_on_a_line_of_its_own(folder):
    lines = run(folder, "bad.fair.json", "--key", "log.vkey").stdout.decode().splitlines()
    assert lines[1].startswith("FAIL server.commitment  ")
    assert any(line.startswith("  SKIP  shuffle ") and "Not checked: " in line for line in lines)


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["none.fair.json"],
        ["good.fair.json", "--key", "none"],
        ["good.fair.json", "--key", "good.fair.json"],
        ["good.fair.json", "--mine", "0=00"],
        ["good.fair.json", "--mine", "0=" + "AB" * 32],
        ["good.fair.json", "--mine", "none.json"],
        ["good.fair.json", "--mine", "log.vkey"],
        ["good.fair.json", "--mine", "notes.json", "--mine", "notes.json"],
        ["good.fair.json", "--receipt", "none"],
        ["good.fair.json", "--lang", "tlh"],
        ["good.fair.json", "--color", "sometimes"],
        ["good.fair.json", "--more"],
        ["good.fair.json", "bad.fair.json", "--more"],
        ["a\0b"],
    ],
)
def test_usage(folder, arguments):
    if "a\0b" in arguments:
        assert command.main(arguments) == 2
        return
    done = run(folder, *arguments)
    assert done.returncode == 2
    assert done.stderr
    assert b"Traceback" not in done.stderr
    assert not done.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["none.fair.json"], "cannot read 'none.fair.json': No such file or directory"),
        (["."], "cannot read '.': Is a directory"),
        (["good.fair.json", "--key", "none"], "'none' is neither a log key nor a file that holds"),
        (
            ["good.fair.json", "--key", "good.fair.json"],
            "'good.fair.json' holds no log key: it is longer",
        ),
        (["--receipt", "head.receipt", "good.fair.json"], "so the hand's goes before it"),
        (
            ["good.fair.json", "bad.fair.json"],
            "give one file, or the files of a match with --match",
        ),
    ],
)
def test_what_is_wrong_with_a_command_is_said_in_words(folder, arguments, words):
    said = run(folder, *arguments).stderr.decode()
    assert said.startswith(f"fairdeal-verify: {words}") or words in said
    assert said.count("\n") == 1
    assert "Errno" not in said


def test_all_that_can_be_given(folder):
    seed = MUS.chains[1][0].hex()
    more = [
        "--mine",
        "notes.json",
        "--mine",
        f"1={seed}",
        "--receipt",
        "head.receipt",
        "end.receipt",
    ]
    done = run(folder, "good.fair.json", *more, "--lang", "en")
    assert done.returncode == 0
    text = done.stdout.decode()
    assert "  PASS  mine " in text
    assert "  PASS  receipt " in text


def test_from_standard_input(folder):
    done = run(folder, "-", "--key", B.VKEY, stdin=MUS.file())
    assert done.returncode == 0
    assert run(folder, "-", stdin=b"").returncode == 4


def test_json_is_as_the_schema_says(folder):
    schema = json.loads(
        importlib.resources.files("fairdeal_verifier").joinpath("report.schema.json").read_text()
    )
    jsonschema.Draft202012Validator.check_schema(schema)
    for name in ("good", "bad", "cut", "aborted", "unfinished"):
        done = run(folder, f"{name}.fair.json", "--json", "--key", "log.vkey")
        value = json.loads(done.stdout)
        jsonschema.validate(value, schema)
        assert value["exit"] == done.returncode
        assert value["format"] == "fairdeal-report/1"
    for b in (B.kozel(), B.azi(), B.svoi()):
        jsonschema.validate(verify(b.file()).to_json(), schema)


def test_trace_shows_every_draw(folder):
    text = run(folder, "good.fair.json", "--trace").stdout.decode()
    assert text.count("  Shuffle of epoch ") == 2
    assert sum(line.startswith("    step ") for line in text.splitlines()) == 39 + 27
    assert "refused" in text
    report = verify(MUS.file(), trace=True)
    for trace in report.trace:
        order = list(trace.cards)
        for draw in trace.draws:
            assert all(byte >= 256 - 256 % (draw.i + 1) for byte in draw.taken[:-1])
            order[draw.i], order[draw.j] = order[draw.j], order[draw.i]
        assert order == MUS.orders[trace.epoch]


def test_explain_gives_reasons_and_values(folder):
    text = run(folder, "good.fair.json", "--explain").stdout.decode()
    assert text.count("          why: ") == sum(
        text.count(f"  {word}  ") for word in ("PASS", "SKIP", "N/A ")
    )
    assert MUS.C.hex() in text


def test_colour_is_never_alone(folder):
    plain = run(folder, "good.fair.json").stdout.decode()
    assert "\x1b" not in plain
    coloured = run(folder, "good.fair.json", "--color", "always").stdout.decode()
    assert coloured.startswith("\x1b[33mCONSISTENT")
    assert re.sub("\x1b\\[\\d+m", "", coloured) == plain
    assert "\x1b" not in run(folder, "good.fair.json", "--color", "never").stdout.decode()


@pytest.mark.parametrize(
    ("no_color", "is_tty", "colour"), [(None, True, True), ("1", True, False), (None, False, False)]
)
def test_no_color_is_honoured(monkeypatch, no_color, is_tty, colour):
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    if no_color:
        monkeypatch.setenv("NO_COLOR", no_color)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: is_tty, raising=False)
    assert command._style("auto").colour == colour
    assert command._style("always").colour


def test_cards_in_letters_where_symbols_cannot_be_written(folder):
    (folder / "kozel.fair.json").write_bytes(B.kozel().file())
    done = run(folder, "kozel.fair.json", PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    text = done.stdout.decode("ascii")
    assert done.returncode == 3
    assert "  turned " in text
    symbols = to_text(verify(B.kozel().file()), Style())
    assert "♥" in symbols


def test_version(folder):
    done = run(folder, "--version")
    assert done.stdout.decode().strip() == f"fairdeal-verify {__version__}"


def test_a_reader_that_goes_away(folder):
    line = (
        f"'{sys.executable}' -S -m fairdeal_verifier good.fair.json --trace --explain; echo $? >&2"
    )
    done = subprocess.run(
        ["bash", "-c", f"({line}) | head -1"],
        cwd=folder,
        capture_output=True,
        check=False,
        env={"PYTHONPATH": str(PACKAGE.parent), "PATH": os.environ["PATH"], "PYTHONUTF8": "1"},
    )
    assert b"Traceback" not in done.stderr
    assert done.stderr.strip() == b"3"


# Uninstalled: copied as a folder, or in a zip; without site-packages and this project's path.


@pytest.fixture(scope="module")
def copied(tmp_path_factory):
    target = tmp_path_factory.mktemp("copied")
    shutil.copytree(
        PACKAGE, target / "fairdeal_verifier", ignore=shutil.ignore_patterns("__pycache__")
    )
    (target / "log.vkey").write_text(B.VKEY, encoding="utf-8")
    (target / "good.fair.json").write_bytes(MUS.file())
    return target


@pytest.mark.parametrize(
    "how",
    [
        ["-I", "-S", "fairdeal_verifier"],
        ["-S", "-m", "fairdeal_verifier"],
        ["-E", "-s", "-S", "-m", "fairdeal_verifier"],
        ["-I", "-S", "fairdeal_verifier/__main__.py"],
    ],
)
def test_uninstalled(copied, how):
    done = run(copied, "good.fair.json", "--key", "log.vkey", how=how, PYTHONPATH="")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(b"VERIFIED")


def test_in_a_zip(copied, tmp_path):
    target = tmp_path / "verify.pyz"
    source = tmp_path / "source"
    shutil.copytree(copied / "fairdeal_verifier", source / "fairdeal_verifier")
    zipapp.create_archive(source, target, main="fairdeal_verifier.__main__:main")
    done = run(
        copied,
        "good.fair.json",
        "--key",
        "log.vkey",
        "--json",
        how=["-I", "-S", str(target)],
        PYTHONPATH="",
    )
    assert json.loads(done.stdout)["verdict"] == "VERIFIED"


def test_nothing_but_the_standard_library_is_imported(copied):
    code = (
        "import sys; sys.path.insert(0, '.'); import fairdeal_verifier.command;"
        "known = sys.stdlib_module_names | {'fairdeal_verifier', '__main__'};"
        "print([m for m in sys.modules if m.split('.')[0] not in known])"
    )
    done = run(copied, how=["-I", "-S", "-c", code], PYTHONPATH="")
    assert done.stdout.strip() == b"[]"


def test_the_same_file_gives_the_same_report(folder):
    once = run(folder, "good.fair.json", "--explain", "--trace", PYTHONHASHSEED="1").stdout
    again = run(folder, "good.fair.json", "--explain", "--trace", PYTHONHASHSEED="2").stdout
    assert once == again


# The language, and the page.


def test_the_report_in_a_language(folder):
    done = run(folder, "good.fair.json", "--key", "log.vkey", "--lang", "ru", "--explain")
    text = done.stdout.decode()
    assert done.returncode == 0
    assert text.startswith("ПОДТВЕРЖДЕНО")
    assert "The " not in text
    failed = run(folder, "bad.fair.json", "--key", "log.vkey", "--lang", "es").stdout.decode()
    assert failed.splitlines()[1].startswith("FALLO server.commitment  detalle (en inglés): the ")


def test_json_has_no_language(folder):
    english = run(folder, "good.fair.json", "--json").stdout
    assert run(folder, "good.fair.json", "--json", "--lang", "ta").stdout == english


@pytest.mark.parametrize(
    ("settings", "language"),
    [
        ({}, "en"),
        ({"LANG": "ru_RU.UTF-8"}, "ru"),
        ({"LANG": "zu"}, "zu"),
        ({"LANG": "ru_RU.UTF-8", "LC_ALL": "ta_IN"}, "ta"),
        ({"LANG": "ru_RU.UTF-8", "LC_MESSAGES": "es_MX@euro"}, "es"),
        ({"LANG": "de_DE.UTF-8"}, "en"),
        ({"LANG": "C.UTF-8"}, "en"),
        ({"LANG": "ru_RU.UTF-8", "LC_ALL": ""}, "ru"),
        ({"LANG": "../languages/ru"}, "en"),
    ],
)
def test_the_language_of_the_environment(folder, settings, language):
    asked = run(folder, "good.fair.json", "--lang", language).stdout
    assert run(folder, "good.fair.json", **settings).stdout == asked
    english = run(folder, "good.fair.json", "--lang", "en", **settings).stdout
    assert english.startswith(b"CONSISTENT")


def test_a_language_that_cannot_be_written(folder):
    """Question marks would say nothing; English does, and standard error says why."""
    ascii_only = {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    done = run(folder, "good.fair.json", "--lang", "ru", **ascii_only)
    assert done.stdout.startswith(b"CONSISTENT")
    assert b"?" not in done.stdout
    assert b"ascii cannot write all of ru" in done.stderr
    done = run(folder, "good.fair.json", LANG="ru_RU", **ascii_only)
    assert done.stdout.startswith(b"CONSISTENT")
    assert not done.stderr


def test_the_page_and_its_hash(folder, tmp_path):
    page = (PACKAGE / "verify.html").read_bytes()
    digest = hashlib.sha256(page).hexdigest()
    done = run(folder, "--page-hash")
    assert (done.returncode, done.stdout) == (0, f"{digest}  verify.html\n".encode())
    same, other = tmp_path / "same.html", tmp_path / "other.html"
    same.write_bytes(page)
    other.write_bytes(page[:-1] + b" ")
    done = run(folder, "--page-hash", str(same))
    assert done.returncode == 0
    assert b"NOT" not in done.stdout
    done = run(folder, "--page-hash", str(other))
    assert done.returncode == 1
    assert b"NOT the page" in done.stdout
    assert run(folder, "--page-hash", "none").returncode == 2
    assert run(folder, "--page-hash", "-", stdin=page).returncode == 0
    assert run(folder, "--page-hash", str(same), "--match", "good.fair.json").returncode == 2


def test_languages_and_page_are_in_the_zip(copied, tmp_path):
    build = importlib.util.spec_from_file_location(
        "build_zipapp", PACKAGE.parent / "build_zipapp.py"
    )
    module = importlib.util.module_from_spec(build)
    build.loader.exec_module(module)
    target = tmp_path / "verify.pyz"
    module.build(target)
    how = ["-I", "-S", str(target)]
    done = run(copied, "good.fair.json", "--lang", "ta", how=how)
    folder = run(copied, "good.fair.json", "--lang", "ta", how=["-I", "-S", "fairdeal_verifier"])
    assert done.stdout == folder.stdout
    assert done.stdout.startswith("பொருந்துகிறது".encode())
    assert run(copied, "--page-hash", how=how).returncode == 0


# --- where nobody can be told -------------------------------------------------------------------


def code(folder, name, streams):
    """The exit code of the command, run by a shell with its streams elsewhere."""
    script = f'exec "$0" -S -m fairdeal_verifier --key log.vkey {name} {streams}'
    return subprocess.run(
        ["/bin/sh", "-c", script, sys.executable],
        cwd=folder,
        check=False,
        env={"PYTHONPATH": str(PACKAGE.parent), "PYTHONDONTWRITEBYTECODE": "1"},
    ).returncode


GOOD, BAD, NONE = "good.fair.json", "bad.fair.json", "none.fair.json"
CLOSED, FULL = ">&- 2>&-", ">/dev/full 2>/dev/full"


@pytest.mark.parametrize(
    ("name", "streams", "expected"),
    [
        (GOOD, ">/dev/null", 0),
        (GOOD, CLOSED, 0),
        (GOOD, FULL, 2),
        (BAD, CLOSED, 1),
        (BAD, FULL, 1),
        (NONE, CLOSED, 2),
        (NONE, FULL, 2),
        (f"--lang ta {GOOD}", ">/dev/null 2>/dev/full", 0),
    ],
)
def test_a_good_hand_has_not_failed_because_nobody_can_be_told(folder, name, streams, expected):
    assert code(folder, name, streams) == expected


def test_a_report_that_cannot_be_written_is_a_sentence(folder):
    with open("/dev/full", "w") as full:  # noqa: PTH123 - a device
        done = subprocess.run(
            [sys.executable, "-S", "-m", "fairdeal_verifier", "good.fair.json"],
            cwd=folder,
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
            env={"PYTHONPATH": str(PACKAGE.parent)},
        )
    assert (
        done.stderr == b"fairdeal-verify: the report cannot be written: No space left on device\n"
    )
