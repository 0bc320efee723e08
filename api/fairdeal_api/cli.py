"""The command `fairdeal`."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from fairdeal_api.settings import ConfigurationError, Settings, load
from fairdeal_api.system import StartRefused

if TYPE_CHECKING:
    from fairdeal_api.credentials import OperatorKeys

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Provably fair dealing for card games.",
)
keys_app = typer.Typer(no_args_is_help=True, help="Operators' keys.")
log_keys_app = typer.Typer(invoke_without_command=True, help="The service's keys.")
config_app = typer.Typer(no_args_is_help=True, help="Settings.")
backup_app = typer.Typer(no_args_is_help=True, help="Copies of the database.")
log_app = typer.Typer(no_args_is_help=True, help="The public log.")
witness_app = typer.Typer(no_args_is_help=True, help="A witness for other people's logs.")
app.add_typer(witness_app, name="witness")
app.add_typer(keys_app, name="operator-key")
app.add_typer(log_keys_app, name="keys")
app.add_typer(config_app, name="config")
app.add_typer(backup_app, name="backup")
app.add_typer(log_app, name="log")

Data = Annotated[Path | None, typer.Option("--data", help="Data folder.")]
Config = Annotated[Path | None, typer.Option("--config", help="TOML file with settings.")]
Mode = Annotated[str | None, typer.Option("--mode", help="live or test.")]
Origin = Annotated[str | None, typer.Option("--origin", help="Name of the log.")]
AnchorFile = Annotated[Path | None, typer.Option("--anchor", help="The outside checkpoint.")]
KeyFolder = Annotated[Path | None, typer.Option("--keys", help="Folder of the keys.")]


def _fail(*sentences: str, code: int = 1) -> NoReturn:
    for sentence in sentences:
        typer.echo(sentence, err=True)
    raise typer.Exit(code)


def _settings(config: Path | None, **flags: object) -> Settings:
    try:
        return load(config, **flags)
    except ConfigurationError as error:
        _fail(*error.faults, code=2)


def _witnesses(given: list[str] | None) -> list[dict[str, str]] | None:
    if given is None:
        return None
    pairs = [one.split() for one in given]
    if any(len(pair) != 2 for pair in pairs):
        _fail("--witness takes the URL and the vkey of a witness, with a space between.", code=2)
    return [{"url": url, "vkey": vkey} for url, vkey in pairs]


@app.command()
def init(
    data: Data = None,
    config: Config = None,
    mode: Mode = None,
    origin: Origin = None,
    anchor: AnchorFile = None,
    keys: KeyFolder = None,
) -> None:
    """Make keys, databases and anchor where there is nothing."""
    from fairdeal_api.service import initialise

    settings = _settings(config, data=data, mode=mode, origin=origin, anchor=anchor, keys=keys)
    try:
        vkey = initialise(settings)
    except StartRefused as error:
        _fail(str(error))
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

    settings = _settings(
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
    try:
        if init and is_empty(settings):
            initialise(settings)
        server.run(settings, take_over=take_over)
    except StartRefused as error:
        _fail(str(error), code=error.code)


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
    log_key: Annotated[str, typer.Option(help="Its log's key, or a file with it.")] = "",
) -> None:
    """Play against bots; every hand is checked as it goes and verified at its end."""
    from fairdeal_api.terminal import command

    raise typer.Exit(
        command.play(
            command.Options(
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
        )
    )


@log_keys_app.callback()
def show_keys(
    context: typer.Context,
    data: Data = None,
    config: Config = None,
    mode: Mode = None,
    origin: Origin = None,
    keys: KeyFolder = None,
) -> None:
    """Show the public half of the log's key; those before it, and the sealing key's id."""
    from fairdeal_api.keyring import in_force, log_keys, sealing_key
    from fairdeal_api.service import database_path
    from fairdeal_api.store.reading import SQLiteReader
    from fairdeal_api.system import read_keys

    if context.invoked_subcommand is not None:
        return
    settings = _settings(config, data=data, mode=mode, origin=origin, keys=keys)
    try:
        path = database_path(settings)
        if not path.exists():
            raise StartRefused(f"There is no database {path}.")
        reader = SQLiteReader(path)
        try:
            chain, identity = log_keys(reader), reader.identity()
        finally:
            reader.close()
        files = read_keys(settings.keys_path, identity.sealing_id)
        in_force(settings.log_origin, files, chain)
        sealing = sealing_key(files, identity)
    except StartRefused as error:
        _fail(str(error))
    typer.echo(str(chain.current))
    for rotation in reversed(chain.rotations):
        typer.echo(f"Until entry {rotation.size}: {rotation.old_key}", err=True)
    typer.echo(f"The sealing key: {sealing.id}", err=True)


@log_keys_app.command("rotate")
def rotate_key(
    data: Data = None,
    config: Config = None,
    mode: Mode = None,
    origin: Origin = None,
    anchor: AnchorFile = None,
    keys: KeyFolder = None,
    abort_hands: Annotated[
        bool, typer.Option("--abort-hands", help="End the hands that are open, as `operator`.")
    ] = False,
) -> None:
    """Change the log's key. The service is stopped; every table is disclosed and closed."""
    from fairdeal_api.rotation import rotate

    settings = _settings(config, data=data, mode=mode, origin=origin, anchor=anchor, keys=keys)
    try:
        done = rotate(settings, abort_hands=abort_hands)
    except StartRefused as error:
        _fail(str(error), code=error.code)
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


@log_keys_app.command("rotate-sealing")
def rotate_sealing_key(
    data: Data = None,
    config: Config = None,
    mode: Mode = None,
    origin: Origin = None,
    anchor: AnchorFile = None,
    keys: KeyFolder = None,
) -> None:
    """Change the sealing key. The service is stopped; hands that are open go on after it."""
    from fairdeal_api.rotation import rotate_sealing

    settings = _settings(config, data=data, mode=mode, origin=origin, anchor=anchor, keys=keys)
    try:
        done = rotate_sealing(settings)
    except StartRefused as error:
        _fail(str(error), code=error.code)
    if done.finished:
        typer.echo("A rotation that was cut off is finished; no other was made.")
    else:
        typer.echo(f"{done.values} values were sealed anew.")
    if done.stuck:
        typer.echo(f"{done.stuck} values do not open, as before; `fairdeal fsck` names them.")
    typer.echo(f"The sealing key is {done.new} now; it was {done.old}, whose file is gone.")
    typer.echo(f"Back up the new key. Backups made before need {done.old}: keep its copy for them.")


@app.command()
def fsck(
    data: Data = None,
    config: Config = None,
    mode: Mode = None,
    origin: Origin = None,
    anchor: AnchorFile = None,
    keys: KeyFolder = None,
) -> None:
    """Recompute everything from the stored bytes; the service may be running."""
    from fairdeal_api.fsck import check

    settings = _settings(config, data=data, mode=mode, origin=origin, anchor=anchor, keys=keys)
    try:
        report = check(settings)
    except StartRefused as error:
        _fail(str(error))
    for fault in report.faults:
        typer.echo(fault, err=True)
    if report.faults:
        raise typer.Exit(1)
    if report.lost:
        typer.echo(f"{report.lost} server seeds were lost before a restore.")
    counts = f"{report.events} events of {report.tables} tables, {report.hands} hands"
    typer.echo(f"{counts}: all as it must be.")


@log_app.command("export")
def export_log(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Where to; made if missing.")],
    data: Data = None,
    config: Config = None,
    mode: Mode = None,
    origin: Origin = None,
    anchor: AnchorFile = None,
) -> None:
    """Write the log as static files, or what is new of it; the service may be running."""
    from fairdeal_api.export import export

    settings = _settings(config, data=data, mode=mode, origin=origin, anchor=anchor)
    try:
        done = export(settings, folder)
    except StartRefused as error:
        _fail(str(error))
    except OSError as error:
        _fail(f"{error.filename or folder} cannot be written: {error.strerror}.")
    before = "" if done.old is None else f", {done.old} of them from before"
    typer.echo(f"{folder} holds {done.size} entries{before}; {done.written} tiles are new.")


@backup_app.command("create")
def create_backup(
    target: Annotated[Path, typer.Argument(help="A folder that is not there yet.")],
    data: Data = None,
    config: Config = None,
    mode: Mode = None,
) -> None:
    """Copy the databases; the service may be running. Neither keys nor anchor are in it."""
    from fairdeal_api import backup

    try:
        manifest = backup.create(_settings(config, data=data, mode=mode), target)
    except StartRefused as error:
        _fail(str(error), code=error.code)
    typer.echo(f"{target}: {manifest.size} entries of {manifest.origin}, root {manifest.root}.")
    typer.echo(f"It will need the sealing key {manifest.sealing_id}.")


@backup_app.command("verify")
def verify_backup(
    folder: Annotated[Path, typer.Argument(help="The backup.")],
    key: Annotated[str, typer.Option(help="The log's key; else the one that it names.")] = "",
) -> None:
    """Recompute a backup's whole log from its bytes. No keys are needed."""
    from fairdeal.errors import FairdealError
    from fairdeal.log.note import VerifierKey
    from fairdeal_api import backup

    try:
        found = backup.verify(folder, VerifierKey.parse(key) if key else None)
    except FairdealError:
        _fail("--key is not a log's key.", code=2)
    except StartRefused as error:
        _fail(str(error), code=error.code)
    report, manifest = found.report, found.manifest
    if report.faults:
        _fail(*report.faults)
    typer.echo(
        f"{report.events} events of {report.tables} tables, {report.checkpoints} checkpoints "
        f"of {manifest.origin}: all as it must be."
    )
    typer.echo(f"It needs the sealing key {manifest.sealing_id}.")
    if not key:
        typer.echo(f"Under the key that the backup names itself: {manifest.log_key}")


@app.command()
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
    from fairdeal_api import restore as restoring

    if new_origin is not None:
        settings = _settings(
            config, data=data, mode=mode, origin=new_origin, anchor=anchor, keys=keys
        )
        if public is None:
            _fail("--new-origin needs --public: the old log's files are to be published.", code=2)
        _continue(settings, folder, tiles, at_least or [], public, old_keys, old_anchor)
        return
    if public or old_keys or old_anchor:
        _fail("--public, --old-keys and --old-anchor go with --new-origin.", code=2)
    settings = _settings(config, data=data, mode=mode, origin=origin, anchor=anchor, keys=keys)
    try:
        done = restoring.restore(
            settings, folder, at_least=at_least or (), tiles=tiles, operator=operator
        )
    except StartRefused as error:
        _fail(str(error), code=error.code)
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
    try:
        done = continue_log(settings, sources, public)
    except StartRefused as error:
        _fail(str(error), code=error.code)
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
        _fail(f"{path} is not what the service is; run `fairdeal openapi`.")


def _operators(settings: Settings) -> OperatorKeys:
    from fairdeal_api.credentials import OperatorKeys
    from fairdeal_api.service import OPERATORS

    try:
        return OperatorKeys(settings.data / OPERATORS)
    except StartRefused as error:
        _fail(str(error))


@keys_app.command("create")
def create_key(
    name: Annotated[str, typer.Option("--name", help="Whose; keys of one name are one operator.")],
    data: Data = None,
    config: Config = None,
    mode: Mode = None,
) -> None:
    """Make a key and show it, once. The service may be running."""
    settings = _settings(config, data=data, mode=mode)
    try:
        key, secret = _operators(settings).create(name, settings.mode)
    except ValueError as error:
        _fail(f"{error}.", code=2)
    typer.echo(secret)
    typer.echo(f"{key.id} of {name}: shown this once, stored as SHA-256 only.", err=True)


@keys_app.command("list")
def list_keys(data: Data = None, config: Config = None) -> None:
    """Show all keys, without the keys."""
    from fairdeal.encoding import format_time

    for key in _operators(_settings(config, data=data)).all():
        state = f"revoked {format_time(key.revoked)}" if key.revoked else "active"
        typer.echo(f"{key.id}  {key.mode}  {format_time(key.created)}  {state}  {key.name}")


@keys_app.command("revoke")
def revoke_key(key_id: str, data: Data = None, config: Config = None) -> None:
    """Make a key useless, within a second."""
    if not _operators(_settings(config, data=data)).revoke(key_id):
        _fail(f"There is no active key {key_id}.")


@config_app.command("check")
def check_config(
    data: Data = None,
    config: Config = None,
    mode: Mode = None,
    origin: Origin = None,
    anchor: AnchorFile = None,
    keys: KeyFolder = None,
) -> None:
    """Say what is wrong with the settings, one sentence a fault."""
    _settings(config, data=data, mode=mode, origin=origin, anchor=anchor, keys=keys)
    typer.echo("The settings are good.")


@config_app.command("show")
def show_config(
    data: Data = None,
    config: Config = None,
    mode: Mode = None,
    origin: Origin = None,
    anchor: AnchorFile = None,
    keys: KeyFolder = None,
) -> None:
    """Show the settings; none of them is secret."""
    settings = _settings(config, data=data, mode=mode, origin=origin, anchor=anchor, keys=keys)
    for name, value in settings.model_dump(mode="json").items():
        typer.echo(f"{name} = {value}")
    typer.echo(f"# log origin: {settings.log_origin}")
    typer.echo(f"# anchor: {settings.anchor_path}")
    typer.echo(f"# keys: {settings.keys_path}")


Witness = Annotated[Path, typer.Option("--data", help="Folder of the witness.")]


@witness_app.command("init")
def init_witness(
    name: Annotated[str, typer.Option(help="Its name: a URL without scheme.")],
    data: Witness = Path("fairdeal-witness"),
) -> None:
    """Make a witness's key and its empty state, where there is nothing."""
    from fairdeal.errors import FairdealError
    from fairdeal_api.witnessing.memory import initialise

    try:
        typer.echo(str(initialise(data, name)))
    except FairdealError:
        _fail("A witness's name is visible ASCII without `+`.", code=2)
    except StartRefused as error:
        _fail(str(error))


@witness_app.command("serve")
def serve_witness(
    log: Annotated[
        list[str],
        typer.Option(help="Key of a log, or a file; again for more, the oldest of a log first."),
    ],
    data: Witness = Path("fairdeal-witness"),
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port; 0 takes a free one.")] = 8090,
) -> None:
    """Cosign what extends the heads that were cosigned before."""
    from fairdeal.errors import FairdealError
    from fairdeal.log.note import VerifierKey
    from fairdeal_api.witnessing import server

    try:
        keys = [
            VerifierKey.parse(Path(one).read_text("utf-8").strip() if Path(one).is_file() else one)
            for one in log
        ]
    except (FairdealError, OSError, UnicodeDecodeError):
        _fail("--log takes a log's vkey (of type 0x01), or a file that holds one.", code=2)
    if len(set(keys)) != len(keys):
        _fail("--log names one key twice.", code=2)
    try:
        server.run(data, keys, host, port)
    except StartRefused as error:
        _fail(str(error))


def main() -> None:
    """Run the command."""
    app()


if __name__ == "__main__":
    main()
