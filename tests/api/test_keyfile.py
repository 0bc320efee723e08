"""Keys that are given as they are or as a file: all commands read and refuse them alike."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest
from typer.testing import CliRunner

from fairdeal.log.note import SigningKey
from fairdeal_api.cli import app
from fairdeal_api.keyfile import log_key, operator_key
from fairdeal_api.settings import ConfigurationError
from fairdeal_api.terminal import command

LOG = str(SigningKey("deal.example/log", b"\x01" * 32).verifier)
OPERATOR = "fd_live_" + "A" * 43
SECRET = "Bearer fd_live_" + "B" * 43
"""What is nearly a key, and must not be said again."""
FILES = {
    "empty": b"",
    "blank": b" \n\n",
    "latin": b"caf\xe9\n",
    "long": b"x" * 5000,
    "other": b"something else\n",
}
WHAT = {"log": (LOG, "log key"), "operator": (OPERATOR, "operator key")}
NEITHER = {
    "log": "{} is neither a log key nor a file with one.",
    "operator": "What is given is neither an operator key (fd_live_.., fd_test_..) "
    "nor a file with one.",
}
WORDS = {
    "empty": "'empty' holds no {what}: it is empty.",
    "blank": "'blank' holds no {what}: it is empty.",
    "two": "'two' holds no {what}: it is longer than one line of a key.",
    "endless": "'endless' holds no {what}: it is longer than one line of a key.",
    "long": "'long' holds no {what}: it is longer than one line of a key.",
    "latin": "'latin' holds no {what}: it is not UTF-8.",
    "other": "'other' holds no {what}: it holds something else.",
    "folder": "The {what} 'folder' cannot be read: Is a directory.",
    "locked": "The {what} 'locked' cannot be read: Permission denied.",
}
NO_FILES = ["none", "good/none", "x" * 300, "", "a\0b", "-", SECRET]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Files with keys of a kind and without, where the commands are run."""

    def fill(kind):
        key = WHAT[kind][0]
        for name, content in FILES.items():
            (tmp_path / name).write_bytes(content)
        for name in ("good", "locked"):
            (tmp_path / name).write_text(f"{key}\n", "utf-8")
        (tmp_path / "bare").write_text(key, "utf-8")
        (tmp_path / "dos").write_bytes(f"{key}\r\n".encode())
        (tmp_path / "two").write_text(f"{key}\n{key}\n", "utf-8")
        (tmp_path / "endless").write_text(f"{key}\n" + "\n" * 5000, "utf-8")
        (tmp_path / "folder").mkdir()

    opened = Path.open

    def denied(self, *more, **named):  # the tests may run as root, who may read anything
        if self.name == "locked" and more == ("rb",):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(self))
        return opened(self, *more, **named)

    monkeypatch.setattr(Path, "open", denied)
    monkeypatch.chdir(tmp_path)
    return fill


@pytest.fixture
def taken(monkeypatch):
    """The keys that a command has gone on with; it ends there."""
    found = []

    def play(_options, _company, _ruleset, _screen, house, *_):
        found.append({"log": house.log_key, "operator": house._key})
        return True

    def verify(_folder, key):
        found.append({"log": str(key)})
        raise ConfigurationError(["Far enough."])

    monkeypatch.setattr(command, "_play", play)
    monkeypatch.setattr("fairdeal_api.backup.verify", verify)
    monkeypatch.setattr(
        "fairdeal_api.witnessing.server.run",
        lambda _folder, keys, _host, _port: found.append({"log": str(keys[0])}),
    )
    return found


COMMANDS = {
    "witness serve --log": ("log", ["witness", "serve", "--log"]),
    "backup verify --key": ("log", ["backup", "verify", "backup", "--key"]),
    "play --log-key": ("log", ["play", "kozel", "--log-key"]),
    "play --key": ("operator", ["play", "kozel", "--url", "http://127.0.0.1:1", "--key"]),
}


def run(arguments, given):
    # In one word, so that an empty one, or a dash, is a value.
    return CliRunner().invoke(app, [*arguments[:-1], f"{arguments[-1]}={given}"])


@pytest.mark.parametrize("name", COMMANDS)
def test_what_gives_no_key_has_one_answer_and_one_code(folder, taken, name):
    kind, arguments = COMMANDS[name]
    folder(kind)
    expected = {given: words.format(what=WHAT[kind][1]) for given, words in WORDS.items()}
    expected |= {given: NEITHER[kind].format(repr(given)) for given in NO_FILES}
    for given, words in expected.items():
        if name == "play --key" and not given:
            continue  # that is no key, which has its own sentence
        done = run(arguments, given)
        said = (done.stdout + done.stderr).replace("\n", " ").strip()
        assert (done.exit_code, said) == (2, words), given
    assert taken == []


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("given", [None, "good", "bare", "dos"])
def test_control_a_good_key_is_taken_by_all(folder, taken, name, given):
    kind, arguments = COMMANDS[name]
    folder(kind)
    key = WHAT[kind][0]
    run(arguments, given or key)
    (found,) = taken
    assert found[kind] == key


def test_what_may_be_an_operator_key_is_not_said_again(folder, taken):
    folder("operator")
    done = run(COMMANDS["play --key"][1], SECRET)
    assert done.exit_code == 2
    assert SECRET[10:] not in done.output
    with pytest.raises(ConfigurationError) as caught:
        operator_key(SECRET)
    assert SECRET[10:] not in str(caught.value)
    # Control: one that no service knows is a key, and the service says so.
    run(COMMANDS["play --key"][1], SECRET.removeprefix("Bearer "))
    assert taken[0]["operator"] == SECRET.removeprefix("Bearer ")


def test_a_file_without_an_end_is_not_read_to_it():
    for read in (log_key, operator_key):
        with pytest.raises(ConfigurationError, match="longer than one line"):
            read("/dev/zero")
