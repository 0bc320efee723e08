"""What the command `fairdeal` does."""

from __future__ import annotations

import json
import os
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.main import get_command

from fairdeal_api import __version__
from fairdeal_api.commands.common import (
    AnchorFile,
    Commands,
    Config,
    Data,
    KeyFolder,
    Mode,
    Origin,
    fail,
    taken_back,
    with_settings,
)
from fairdeal_api.commands.copies import backup_app, log_app, restore
from fairdeal_api.commands.keys import keys_app, operator_key_app
from fairdeal_api.commands.witness import witness_app
from fairdeal_api.settings import Settings, load
from fairdeal_api.stopping import too_late, whole

app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"fairdeal {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Provably fair dealing for card games."""


config_app = typer.Typer(no_args_is_help=True, help="Settings.")
app.add_typer(witness_app, name="witness")
app.add_typer(operator_key_app, name="operator-key")
app.add_typer(keys_app, name="keys")
app.add_typer(config_app, name="config")
app.add_typer(backup_app, name="backup")
app.add_typer(log_app, name="log")


@app.command()
@with_settings()
def init(settings: Settings) -> None:
    """Make keys, databases and anchor where there is nothing."""
    from fairdeal_api.service import initialise

    with taken_back("Nothing was made."):
        too_late()  # it takes no second, and then there is a service, whose key is to be shown
        vkey = initialise(settings)
        typer.echo(f"The log's verifier key, to be published: {vkey}")
        typer.echo(f"Back up {settings.keys_path}, apart from the database.")
        typer.echo(f"The anchor {settings.anchor_path} must never be restored from a backup.")


@app.command()
def serve(
    data: Data = None,
    config: Config = None,
    host: Annotated[str | None, typer.Option(help="Address to listen on.")] = None,
    port: Annotated[int | None, typer.Option(help="Port; 0 takes a free one.")] = None,
    mode: Mode = None,
    origin: Origin = None,
    anchor: AnchorFile = None,
    keys: KeyFolder = None,
    metrics_port: Annotated[int | None, typer.Option(help="Loopback port of /metrics.")] = None,
    init: Annotated[bool, typer.Option("--init", help="Make the data folder if empty.")] = False,
    take_over: Annotated[
        bool, typer.Option("--take-over", help="Go on in the place of a process that is stuck.")
    ] = False,
    witness: Annotated[
        list[str] | None, typer.Option(help="'URL VKEY' of a witness; again for more.")
    ] = None,
    witness_quorum: Annotated[int | None, typer.Option(help="How many must cosign.")] = None,
    witness_policy: Annotated[str | None, typer.Option(help="serve or no_new_hands.")] = None,
    witness_patience: Annotated[int | None, typer.Option(help="Seconds until late.")] = None,
    witness_start: Annotated[str | None, typer.Option(help="go_on or refuse.")] = None,
) -> None:
    """Run the service."""
    from fairdeal_api import server
    from fairdeal_api.service import initialise, is_empty

    settings = load(
        config,
        data=data,
        host=host,
        port=port,
        mode=mode,
        origin=origin,
        anchor=anchor,
        keys=keys,
        metrics_port=metrics_port,
        witnesses=_witnesses(witness),
        witness_quorum=witness_quorum,
        witness_policy=witness_policy,
        witness_patience=witness_patience,
        witness_start=witness_start,
    )
    if init and is_empty(settings):
        with taken_back("The folder was made, and not served."), whole():
            initialise(settings)
    server.run(settings, take_over=take_over)


def _witnesses(given: list[str] | None) -> list[dict[str, str]] | None:
    if given is None:
        return None
    pairs = [one.split() for one in given]
    if any(len(pair) != 2 for pair in pairs):
        fail("--witness takes the URL and the vkey of a witness, with a space between.", code=2)
    return [{"url": url, "vkey": vkey} for url, vkey in pairs]


@app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
def demo(context: typer.Context) -> None:
    """Start a throw-away service, play a hand of each game, verify it, try to cheat."""
    from fairdeal_api.demo import run

    raise typer.Exit(run(context.args))


class GameName(StrEnum):
    """What can be played."""

    KOZEL = "kozel"
    MUS = "mus"
    AZI = "azi"
    SVOI = "svoi"


class BotKind(StrEnum):
    """How the other seats play."""

    GREEDY = "greedy"
    RANDOM = "random"


@app.command()
def play(
    game: Annotated[GameName, typer.Argument(help="What to play.")],
    seats: Annotated[int | None, typer.Option(help="Seats of an Azi table, 2 to 6.")] = None,
    hands: Annotated[int | None, typer.Option(help="How many hands; else you are asked.")] = None,
    match: Annotated[bool, typer.Option("--match", help="Until somebody has won it.")] = False,
    bots: Annotated[BotKind, typer.Option(help="How the others play.")] = BotKind.GREEDY,
    rule: Annotated[
        list[str] | None, typer.Option(help="NAME=VALUE, an option of the game; again for more.")
    ] = None,
    auto: Annotated[bool, typer.Option("--auto", help="A bot plays your seat, too.")] = False,
    save: Annotated[Path, typer.Option(help="Where the hands go.")] = Path("played-hands"),
    url: Annotated[str, typer.Option(help="A service that runs; else one is started.")] = "",
    key: Annotated[
        str,
        typer.Option(envvar="FAIRDEAL_OPERATOR_KEY", help="Its operator key, or a file with it."),
    ] = "",
    log_key: Annotated[str | None, typer.Option(help="Its log's key, or a file with it.")] = None,
) -> None:
    """Play against bots; every hand is checked as it goes and verified at its end."""
    from fairdeal_api.terminal import command

    options = command.Options(
        game.value,
        seats=seats,
        hands=hands,
        match=match,
        bots=bots.value,
        auto=auto,
        save=save,
        rules=tuple(rule or ()),
        url=url,
        key=key if url else "",
        log_key=log_key,
    )
    raise typer.Exit(command.play(options))


@app.command()
@with_settings()
def fsck(settings: Settings) -> None:
    """Recompute everything from the stored bytes; the service may be running."""
    from fairdeal_api.fsck import check

    report = check(settings)
    if report.faults:
        fail(*report.faults)
    if report.lost:
        typer.echo(f"{report.lost} server seeds were lost before a restore.")
    counts = f"{report.events} events of {report.tables} tables, {report.hands} hands"
    typer.echo(f"{counts}: all as it must be.")


app.command()(restore)


@app.command()
def openapi(
    check: Annotated[bool, typer.Option("--check", help="Compare only.")] = False,
    file: Annotated[Path | None, typer.Option(help="The file; api/openapi.json.")] = None,
) -> None:
    """Write the OpenAPI file, or compare it with what the service is."""
    from fairdeal_api import openapi as document

    path = file or Path(__file__).resolve().parents[1] / "openapi.json"
    if not check:
        path.write_bytes(document.encoded())
        return
    if not path.exists() or path.read_bytes() != document.encoded():
        fail(f"{path} is not what the service is; run `fairdeal openapi`.")


@config_app.command("check")
@with_settings()
def check_config(settings: Settings) -> None:  # noqa: ARG001 - to have made them is the check
    """Say what is wrong with the settings, one sentence a fault."""
    typer.echo("The settings are good.")


@config_app.command("show")
@with_settings()
def show_config(settings: Settings) -> None:
    """Show what the settings come to, as a file for --config; none of them is secret."""
    values = settings.model_dump(mode="json")
    values["anchor"], values["keys"] = str(settings.anchor_path), str(settings.keys_path)
    values["witness_quorum"] = settings.quorum or None
    witnesses = values.pop("witnesses")
    _show(values)
    typer.echo(f"# The log's origin is {settings.log_origin}")
    for one in witnesses:  # tables stand last
        typer.echo("\n[[witnesses]]")
        _show(one)


def _show(values: dict[str, Any]) -> None:
    # A string of JSON is one of TOML, as long as what is no ASCII stays as it is.
    for name, value in values.items():
        text = json.dumps(value, ensure_ascii=False)
        typer.echo(f"# {name}: none" if value is None else f"{name} = {text}")


# Made here, with what else takes a while before a command can be stopped in order.
_command = get_command(app)


def main() -> None:
    """Run the command."""
    _hold_descriptors()
    _command()


def _hold_descriptors() -> None:
    """Keep the numbers of standard input, output and error from files of ours.

    Where one was closed, the next file gets its number. That would be the lock or the anchor, and
    a library that writes its last words to descriptor 2 would write them into it.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free: this one
    if sys.stdin is None:
        sys.stdin = open(0, closefd=False)  # noqa: SIM115 - who asks finds its end


if __name__ == "__main__":
    main()
