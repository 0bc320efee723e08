"""What the commands have in common: where their settings come from, and how one ends."""

from __future__ import annotations

import json
import re
import tomllib
from typing import Annotated

import pytest
import typer
from pydantic import ValidationError
from typer.core import TyperGroup
from typer.main import get_command
from typer.testing import CliRunner

from fairdeal.log.cosignature import WitnessKey
from fairdeal_api import __version__
from fairdeal_api.cli import app
from fairdeal_api.commands.common import Commands, with_settings
from fairdeal_api.settings import ConfigurationError, Settings, load
from fairdeal_api.system import EXIT_LOST, StartRefused

# What each needs besides the settings, to be read at all.
ARGUMENTS = {
    "backup create": ["target"],
    "log export": ["folder"],
    "operator-key create": ["--name", "club"],
    "operator-key revoke": ["key_0"],
    "restore": ["backup"],
}
WITHOUT_DATA = {"init", "config check", "config show"}


def commands(group, path=()):
    """All that are run, by their names."""
    for name, command in group.commands.items():
        here = (*path, name)
        if hasattr(command, "commands"):
            if command.invoke_without_command:
                yield " ".join(here), command
            yield from commands(command, here)
        else:
            yield " ".join(here), command


WITH_SETTINGS = {
    name: [option.opts[0] for option in command.params]
    for name, command in commands(get_command(app))
    if any("--config" in option.opts for option in command.params)
}


def run(*arguments):
    return CliRunner().invoke(app, list(map(str, arguments)))


def test_these_are_all_that_have_settings():
    assert set(WITH_SETTINGS) == {
        "init", "serve", "fsck", "restore", "keys", "keys rotate", "keys rotate-sealing",
        "operator-key create", "operator-key list", "operator-key revoke",
        "config check", "config show", "backup create", "log export",
    }  # fmt: skip


def test_it_says_which_version_it_is():
    said = run("--version")
    assert (said.exit_code, said.output) == (0, f"fairdeal {__version__}\n")


@pytest.mark.parametrize("name", WITH_SETTINGS)
def test_a_command_tells_all_faults_of_its_settings(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "fairdeal.toml"
    file.write_text("port = 99999\ncolour = 1\n")
    done = run(*name.split(), *ARGUMENTS.get(name, []), "--config", file)
    assert done.exit_code == 2
    assert done.stdout == ""
    said = done.stderr.splitlines()
    assert len(said) == 2
    assert said[0].startswith("port (FAIRDEAL_PORT): ")
    assert said[1] == "colour is not a setting."
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize("name", sorted(set(WITH_SETTINGS) - WITHOUT_DATA))
def test_a_command_without_a_data_folder_is_refused_in_one_sentence(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = run(*name.split(), *ARGUMENTS.get(name, []), "--data", "nowhere")
    assert done.exit_code == 1
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1
    assert done.stderr.endswith(".\n")


@pytest.mark.parametrize("name", WITH_SETTINGS)
def test_the_options_stand_in_one_order(name):
    order = ["--data", "--config", "--mode", "--origin", "--anchor", "--keys"]
    found = [option for option in WITH_SETTINGS[name] if option in order]
    assert found == [option for option in order if option in found]
    assert found[:2] == order[:2]


def test_a_flag_goes_before_the_file(tmp_path):
    file = tmp_path / "fairdeal.toml"
    file.write_text("data = 'of the file'\norigin = 'file.example'\n")
    said = run("config", "show", "--config", file, "--origin", "flag.example").stdout.splitlines()
    assert 'data = "of the file"' in said
    assert 'origin = "flag.example"' in said


def test_what_the_settings_come_to_is_a_file_of_settings(tmp_path, monkeypatch):
    """Shown again from that file they are the same. Control: a flag makes another of it."""
    file = tmp_path / "fairdeal.toml"
    witness = {"url": "https://w.example", "vkey": str(WitnessKey("w.example/1", b"\x11" * 32))}
    monkeypatch.setenv("FAIRDEAL_WITNESSES", json.dumps([witness]))
    shown = run("config", "show", "--data", 'a \\ "ü"', "--mode", "test").stdout
    monkeypatch.delenv("FAIRDEAL_WITNESSES")
    found = tomllib.loads(shown)
    assert found["data"] == 'a \\ "ü"'
    assert found["anchor"] == found["data"] + ".anchor"
    assert found["keys"] == found["data"] + "/keys"
    assert found["witness_quorum"] == 1
    assert found["witnesses"] == [witness]
    assert "# The log's origin is fairdeal.localhost/log/test\n" in shown
    file.write_text(shown)
    assert run("config", "show", "--config", file).stdout == shown
    assert run("config", "show", "--config", file, "--mode", "live").stdout != shown
    # Without witnesses there is no quorum, and nothing to say of it.
    alone = run("config", "show").stdout
    assert "# witness_quorum: none\n" in alone
    file.write_text(alone)
    assert run("config", "show", "--config", file).stdout == alone


# --- what is wrong with a value -----------------------------------------------------------------

LIBRARY = ("Input should", "Value error", "Field required", "<class", "pydantic", "cannot be this")
"""Words of pydantic's, and what stands for those that we have none for."""
UNFIT = ["x", "", -1, 10**30, 1.5, [], {}, True, ["x"], [{}], [{"url": 1, "vkey": "x", "k": 1}]]


def test_faults_of_settings_are_in_our_words(tmp_path):
    """Of each setting, whatever stands there that is none. Control: pydantic says it otherwise."""
    file, said = tmp_path / "fairdeal.toml", set()
    for name in Settings.model_fields:
        for value in UNFIT:
            text = json.dumps(value).replace('": ', '" = ')
            file.write_text(f"{name} = {text}\n")
            try:
                load(file)
            except ConfigurationError as error:
                said |= set(error.faults)
    witness = f'{{url = "http://a", vkey = "{WitnessKey("w.example/1", bytes(32))}"}}'
    file.write_text(f"witnesses = [{', '.join([witness] * 17)}]\n")
    with pytest.raises(ConfigurationError, match=r"WITNESSES\): must be 16 or fewer"):
        load(file)
    for sentence in said:
        assert sentence.endswith("."), sentence
        assert not any(word in sentence for word in LIBRARY), sentence
    for words in (
        "port (FAIRDEAL_PORT): must be 65535 or less.",
        "port (FAIRDEAL_PORT): must be 0 or more.",
        "port (FAIRDEAL_PORT): must be a whole number.",
        "host (FAIRDEAL_HOST): must not be empty.",
        "mode (FAIRDEAL_MODE): must be 'live' or 'test'.",
        "log_requests (FAIRDEAL_LOG_REQUESTS): must be true or false.",
        "keys (FAIRDEAL_KEYS): must be the name of a file or folder.",
        "witnesses (FAIRDEAL_WITNESSES): must be a list.",
        "witnesses.0 (FAIRDEAL_WITNESSES): must have `url` and `vkey`.",
        "witnesses.0.url (FAIRDEAL_WITNESSES): is missing.",
    ):
        assert words in said
    with pytest.raises(ValidationError, match="Input should"):
        Settings(port="x")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["play", "poker"], "'poker' is not one of 'kozel', 'mus', 'azi', 'svoi'."),
        (["play", "kozel", "--bots", "wise"], "'wise' is not one of 'greedy', 'random'."),
        (["play", "kozel", "--hands", "some"], "must be a whole number."),
        (["serve", "--port", "http"], "must be a whole number."),
        (["witness", "serve", "--log", "k", "--port", "65536"], "must be 65535 or less."),
        (["witness", "serve", "--log", "k", "--port", "-1"], "must be 0 or more."),
    ],
)
def test_faults_of_options_are_in_our_words(arguments, words):
    done = run(*arguments)
    assert done.exit_code == 2
    said = re.sub(r"[\s│]+", " ", done.stderr)
    assert f": {words}" in said
    assert not any(word in said for word in LIBRARY)
    # The control. It fails when Typer's own words are for everybody, and ours may go.
    library = CliRunner().invoke(ends(TyperGroup), ["counted", "--many", "some"])
    assert "Input should" in library.stderr


@pytest.mark.parametrize("option", ["--data", "--anchor", "--keys"])
@pytest.mark.parametrize("name", WITH_SETTINGS)
def test_an_option_that_names_nothing_is_a_fault(name, option, tmp_path, monkeypatch):
    """As of a variable that is not set: it must not be the folder that one is in."""
    monkeypatch.chdir(tmp_path)
    if option not in WITH_SETTINGS[name]:
        assert run(*name.split(), *ARGUMENTS.get(name, []), f"{option}=").exit_code == 2
        return
    done = run(*name.split(), *ARGUMENTS.get(name, []), f"{option}=")
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith(f"{option[2:]} (FAIRDEAL_{option[2:].upper()}): must be the name")
    assert list(tmp_path.iterdir()) == []


def test_a_witness_is_not_made_in_no_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = run("witness", "init", "--name", "w.example", "--data=")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "must be the name of a folder." in done.stderr
    assert list(tmp_path.iterdir()) == []
    assert run("witness", "init", "--name", "w.example", "--data=.").exit_code == 0  # the control


# --- how a command ends -------------------------------------------------------------------------


def ends(cls):
    """Commands that cannot go on, at the top and in a group."""
    top, group = typer.Typer(cls=cls), typer.Typer()
    top.add_typer(group, name="group")

    @top.command()
    @with_settings("data")
    def refused(settings: Settings, why: Annotated[str, typer.Option()] = "") -> None:
        raise StartRefused(f"{settings.data}{why} is another's.", EXIT_LOST)

    @top.command()
    def counted(many: Annotated[int, typer.Option()]) -> None:
        raise AssertionError(many)

    @group.command("wrong")
    def wrong() -> None:
        raise ConfigurationError(["One.", "Two."])

    @group.command("broken")
    def broken() -> None:
        raise ValueError("a fault of the program")

    return top


def test_what_keeps_a_command_from_going_on_becomes_words_and_a_code():
    runner, top = CliRunner(), ends(Commands)
    done = runner.invoke(top, ["refused", "--data", "d", "--why", "!"])
    assert (done.exit_code, done.stderr, done.stdout) == (EXIT_LOST, "d! is another's.\n", "")
    done = runner.invoke(top, ["group", "wrong"])
    assert (done.exit_code, done.stderr, done.stdout) == (2, "One.\nTwo.\n", "")


def test_a_fault_of_the_program_stays_one():
    done = CliRunner().invoke(ends(Commands), ["group", "broken"])
    assert isinstance(done.exception, ValueError)


def test_control_without_it_a_refusal_would_be_a_traceback():
    runner, top = CliRunner(), ends(TyperGroup)
    assert isinstance(runner.invoke(top, ["refused"]).exception, StartRefused)
    assert isinstance(runner.invoke(top, ["group", "wrong"]).exception, ConfigurationError)
