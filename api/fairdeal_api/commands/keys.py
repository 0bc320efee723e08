"""`fairdeal keys`, the service's own, and `fairdeal operator-key`, those of its operators."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Annotated

import typer

from fairdeal_api.commands.common import (
    Config,
    Data,
    KeyFolder,
    Mode,
    Origin,
    fail,
    taken_back,
    with_settings,
)
from fairdeal_api.settings import Settings, load
from fairdeal_api.stopping import too_late

if TYPE_CHECKING:
    from fairdeal_api.credentials import OperatorKeys
    from fairdeal_api.rotation import Resealed, Rotated

keys_app = typer.Typer(invoke_without_command=True, help="The service's keys.")
operator_key_app = typer.Typer(no_args_is_help=True, help="Operators' keys.")


@keys_app.callback()
def show(
    context: typer.Context,
    data: Data = None,
    config: Config = None,
    mode: Mode = None,
    origin: Origin = None,
    keys: KeyFolder = None,
) -> None:
    """Show the public half of the log's key; those before it, and the sealing key's id."""
    # A command of the group has settings of its own; this runs before it.
    if context.invoked_subcommand is None:
        _show(load(config, data=data, mode=mode, origin=origin, keys=keys))


def _show(settings: Settings) -> None:
    from fairdeal_api.keyring import in_force, log_keys, sealing_key
    from fairdeal_api.service import database_path, verify_origin
    from fairdeal_api.store.reading import SQLiteReader
    from fairdeal_api.system import read_keys

    reader = SQLiteReader(database_path(settings))
    try:
        chain, identity = log_keys(reader), reader.identity()
    finally:
        reader.close()
    verify_origin(identity, settings)
    files = read_keys(settings.keys_path, identity.sealing_id)
    in_force(settings.log_origin, files, chain)
    sealing = sealing_key(files, identity)
    typer.echo(str(chain.current))
    for rotation in reversed(chain.rotations):
        typer.echo(f"Until entry {rotation.size}: {rotation.old_key}", err=True)
    typer.echo(f"The sealing key: {sealing.id}", err=True)


@keys_app.command("rotate")
@with_settings()
def rotate_log_key(
    settings: Settings,
    abort_hands: Annotated[
        bool, typer.Option("--abort-hands", help="End the hands that are open, as `operator`.")
    ] = False,
) -> None:
    """Change the log's key. The service is stopped; every table is disclosed and closed."""
    from fairdeal_api.rotation import rotate

    with taken_back("The log's key is the old one; hands and tables may have been ended for it."):
        _tell_rotated(rotate(settings, abort_hands=abort_hands))


def _tell_rotated(done: Rotated) -> None:
    for table, hand in done.aborted:
        typer.echo(f"Hand {hand} of {table} was aborted.", err=True)
    for table in done.stuck:
        typer.echo(f"{table} cannot be closed: its server seed is lost.", err=True)
    if done.finished:
        typer.echo("A rotation that was cut off is finished; no other was made.", err=True)
    typer.echo(f"{len(done.closed)} tables closed; entry {done.size} is the rotation.", err=True)
    typer.echo(f"The log's verifier key, to be published: {done.new}")
    typer.echo(f"Until then it was: {done.old}", err=True)
    typer.echo("Back up the new key, and the database anew.", err=True)


@keys_app.command("rotate-sealing")
@with_settings()
def rotate_sealing_key(settings: Settings) -> None:
    """Change the sealing key. The service is stopped; hands that are open go on after it."""
    from fairdeal_api.rotation import rotate_sealing

    with taken_back("The sealing key is the old one."):
        _tell_resealed(rotate_sealing(settings))


def _tell_resealed(done: Resealed) -> None:
    if done.finished:
        typer.echo("A rotation that was cut off is finished; no other was made.")
    else:
        typer.echo(f"{done.values} values were sealed anew.")
    if done.stuck:
        typer.echo(f"{done.stuck} values do not open, as before; `fairdeal fsck` names them.")
    typer.echo(f"The sealing key is {done.new} now; it was {done.old}, whose file is gone.")
    typer.echo(f"Back up the new key. Backups made before need {done.old}: keep its copy for them.")


def _operators(settings: Settings) -> OperatorKeys:
    from fairdeal_api.credentials import OperatorKeys
    from fairdeal_api.service import OPERATORS

    return OperatorKeys(settings.data / OPERATORS)


@operator_key_app.command("create")
@with_settings("data", "mode")
def create(
    name: Annotated[str, typer.Option("--name", help="Whose; keys of one name are one operator.")],
    settings: Settings,
) -> None:
    """Make a key and show it, once. The service may be running."""
    from fairdeal_api.service import database_path, verify_mode
    from fairdeal_api.store.reading import SQLiteReader

    with taken_back("No key was made."):
        operators = _operators(settings)
        with contextlib.closing(SQLiteReader(database_path(settings))) as reader:
            verify_mode(reader.identity(), settings)
        too_late()  # a key that is made and not shown would be one that nobody has
        try:
            key, secret = operators.create(name, settings.mode)
        except ValueError as error:
            fail(f"{error}.", code=2)
        try:
            typer.echo(secret)
        except OSError:
            operators.revoke(key.id)  # nobody has seen it, and nobody will
            raise
        typer.echo(f"{key.id} of {name}: shown this once, stored as SHA-256 only.", err=True)


@operator_key_app.command("list")
@with_settings("data")
def show_all(settings: Settings) -> None:
    """Show all keys, without the keys."""
    from fairdeal.encoding import format_time

    for key in _operators(settings).all():
        state = f"revoked {format_time(key.revoked)}" if key.revoked else "active"
        typer.echo(f"{key.id}  {key.mode}  {format_time(key.created)}  {state}  {key.name}")


@operator_key_app.command("revoke")
@with_settings("data")
def revoke(key_id: str, settings: Settings) -> None:
    """Make a key useless, within a second."""
    if not _operators(settings).revoke(key_id):
        fail(f"There is no active key {key_id}; `fairdeal operator-key list` shows their ids.")
