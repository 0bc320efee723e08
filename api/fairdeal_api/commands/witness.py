"""`fairdeal witness`: cosigning other people's logs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fairdeal_api.commands.common import fail, taken_back
from fairdeal_api.stopping import too_late

witness_app = typer.Typer(no_args_is_help=True, help="A witness for other people's logs.")


def _folder(name: str) -> Path:
    if not name:  # a variable that is not set, and not the folder that one is in
        raise ValueError("must be the name of a folder")
    return Path(name)


Folder = Annotated[
    Path,
    typer.Option("--data", parser=_folder, metavar="<path>", help="Folder of the witness."),
]


@witness_app.command("init")
def initialise(
    name: Annotated[str, typer.Option(help="Its name: a URL without scheme.")],
    data: Folder = Path("fairdeal-witness"),
) -> None:
    """Make a witness's key and its empty state, where there is nothing."""
    from fairdeal.errors import FairdealError
    from fairdeal_api.witnessing import memory

    try:
        with taken_back("Nothing was made."):
            too_late()  # it takes no second, and then there is a witness, whose key is to be shown
            typer.echo(str(memory.initialise(data, name)))
    except FairdealError:
        fail("A witness's name is visible ASCII without `+`.", code=2)


@witness_app.command("serve")
def serve(
    log: Annotated[
        list[str],
        typer.Option(
            help="Key of a log, or a file with it; again for more, the oldest of a log first."
        ),
    ],
    data: Folder = Path("fairdeal-witness"),
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 takes a free one.")] = 8090,
) -> None:
    """Cosign what extends the heads that were cosigned before."""
    from fairdeal_api.keyfile import log_key
    from fairdeal_api.witnessing import server

    keys = [log_key(one) for one in log]
    if len(set(keys)) != len(keys):
        fail("--log names one key twice.", code=2)
    server.run(data, keys, host, port)
