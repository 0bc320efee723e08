"""`fairdeal backup`, `fairdeal restore` and `fairdeal log`: what is copied, and put back."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fairdeal_api.commands.common import (
    AnchorFile,
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

backup_app = typer.Typer(no_args_is_help=True, help="Copies of the database.")
log_app = typer.Typer(no_args_is_help=True, help="The public log.")


@log_app.command("export")
@with_settings("data", "mode", "origin", "anchor")
def export_log(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Where to; made if missing.")],
    settings: Settings,
) -> None:
    """Write the log as static files, or what is new of it; the service may be running."""
    from fairdeal_api.export import export

    try:
        with taken_back("The next export goes on from what was written."):
            done = export(settings, folder)
            too_late()
            before = "" if done.old is None else f", {done.old} of them from before"
            typer.echo(f"{folder} holds {done.size} entries{before}; {done.written} tiles are new.")
    except OSError as error:
        fail(f"{error.filename or folder} cannot be written: {error.strerror}.")


@backup_app.command("create")
@with_settings("data", "mode")
def create_backup(
    target: Annotated[Path, typer.Argument(help="A folder that is not there yet.")],
    settings: Settings,
) -> None:
    """Copy the databases; the service may be running. Neither keys nor anchor are in it."""
    from fairdeal_api import backup

    with taken_back("No backup was made."):
        for part, is_gone in backup.remove_left(target.parent):
            if is_gone:
                typer.echo(f"{part} was left by a backup that was cut off; it is gone.", err=True)
            else:
                typer.echo(f"If no other backup runs, remove {part}: one was cut off.", err=True)
        manifest = backup.create(settings, target)
        typer.echo(f"{target}: {manifest.size} entries of {manifest.origin}, root {manifest.root}.")
        typer.echo(f"It will need the sealing key {manifest.sealing_id}.")


@backup_app.command("verify")
def verify_backup(
    folder: Annotated[Path, typer.Argument(help="The backup.")],
    key: Annotated[
        str | None,
        typer.Option(help="The log's key, or a file with it; else the one that the backup names."),
    ] = None,
) -> None:
    """Recompute a backup's whole log from its bytes. No keys are needed."""
    from fairdeal_api import backup
    from fairdeal_api.keyfile import log_key

    found = backup.verify(folder, None if key is None else log_key(key))
    report, manifest = found.report, found.manifest
    if report.faults:
        fail(*report.faults)
    typer.echo(
        f"{report.events} events of {report.tables} tables, {report.checkpoints} checkpoints "
        f"of {manifest.origin}: all as it must be."
    )
    typer.echo(f"It needs the sealing key {manifest.sealing_id}.")
    if key is None:
        typer.echo(f"Under the key that the backup names itself: {manifest.log_key}")


def restore(
    folder: Annotated[Path, typer.Argument(help="A backup.")],
    data: Data = None,
    config: Config = None,
    mode: Mode = None,
    origin: Origin = None,
    anchor: AnchorFile = None,
    keys: KeyFolder = None,
    at_least: Annotated[
        list[Path] | None, typer.Option(help="File with a checkpoint that somebody holds.")
    ] = None,
    tiles: Annotated[
        Path | None, typer.Option(help="The log's public files, for what the backup lacks.")
    ] = None,
    operator: Annotated[
        str, typer.Option(help="Whose are tables that only the public files know.")
    ] = "",
    new_origin: Annotated[
        str | None,
        typer.Option(help="The log has ended: begin another one of this name that continues it."),
    ] = None,
    public: Annotated[
        Path | None, typer.Option(help="With --new-origin: where the old log's files go.")
    ] = None,
    old_keys: Annotated[
        Path | None, typer.Option(help="With --new-origin: folder of the old keys, if not lost.")
    ] = None,
    old_anchor: Annotated[
        Path | None, typer.Option(help="With --new-origin: the old anchor, if not lost.")
    ] = None,
) -> None:
    """Put a backup in the place of a lost database, unless that would fork the log."""
    if new_origin is None and (public or old_keys or old_anchor):
        fail("--public, --old-keys and --old-anchor go with --new-origin.", code=2)
    name = origin if new_origin is None else new_origin
    settings = load(config, data=data, mode=mode, origin=name, anchor=anchor, keys=keys)
    if new_origin is None:
        with taken_back("Nothing was put in place."):
            _restore(settings, folder, tiles, at_least or [], operator)
    elif public is None:
        fail("--new-origin needs --public: the old log's files are to be published.", code=2)
    else:
        with taken_back("Nothing was made."):
            _continue(settings, folder, tiles, at_least or [], public, old_keys, old_anchor)


def _restore(
    settings: Settings, folder: Path, tiles: Path | None, at_least: list[Path], operator: str
) -> None:
    from fairdeal_api.restore import restore

    done = restore(settings, folder, at_least=at_least, tiles=tiles, operator=operator)
    typer.echo(f"{done.size} entries, {done.appended} of them from the public files.")
    for table, hand in done.lost_hands:
        typer.echo(f"Hand {hand} of {table} will end as lost.")
    for table in done.lost_tables:
        typer.echo(f"{table} can have no more hands: its next server seed is lost.")
    for table in done.orphans:
        typer.echo(f"{table} is now of {operator or 'no operator'}; its seats have no tokens.")


def _continue(
    settings: Settings,
    folder: Path,
    tiles: Path | None,
    at_least: list[Path],
    public: Path,
    old_keys: Path | None,
    old_anchor: Path | None,
) -> None:
    from fairdeal_api.continuation import Sources, continue_log

    sources = Sources(folder, tiles, tuple(at_least), old_anchor, old_keys)
    done = continue_log(settings, sources, public)
    old = done.old
    for table, hand in done.lost:
        typer.echo(f"Hand {hand} of {table} is lost.", err=True)
    typer.echo(
        f"{done.kept} of {old.size} entries of {old.origin} and the files of {done.files} hands "
        f"are in {public}, to be published.",
        err=True,
    )
    if done.without_file:
        typer.echo(f"{done.without_file} hands were not disclosed and have no file.", err=True)
    if not done.signed:
        typer.echo(
            "Without --old-keys the old key has not signed it: it proves nothing of the old log.",
            err=True,
        )
    typer.echo(f"The new log's verifier key, to be published: {done.key}")
    typer.echo(f"Back up {settings.keys_path}, apart from the database.", err=True)
