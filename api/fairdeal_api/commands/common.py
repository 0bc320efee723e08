"""What the commands have in common: options, settings, and how one ends that cannot go on."""

from __future__ import annotations

import contextlib
import errno
import functools
import inspect
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any, Final, Literal, NoReturn

import typer
from pydantic import ValidationError
from typer.core import TyperGroup

from fairdeal_api.settings import ConfigurationError, load
from fairdeal_api.stopping import Stopped, heard
from fairdeal_api.system import EXIT_LOST, Overtaken, StartRefused, mute
from fairdeal_api.wording import failure_in_words, fault_in_words

# These are texts to the settings. A Path could not tell an empty one, which is a variable that is
# not set, from the folder that the command happens to be started in.
Data = Annotated[str | None, typer.Option("--data", metavar="<path>", help="Data folder.")]
Config = Annotated[Path | None, typer.Option("--config", help="TOML file with settings.")]
Mode = Annotated[str | None, typer.Option("--mode", help="live or test.")]
Origin = Annotated[str | None, typer.Option("--origin", help="Name of the log.")]
AnchorFile = Annotated[
    str | None, typer.Option("--anchor", metavar="<path>", help="The outside checkpoint.")
]
KeyFolder = Annotated[
    str | None, typer.Option("--keys", metavar="<path>", help="Folder of the keys.")
]

Setting = Literal["data", "mode", "origin", "anchor", "keys"]
Command = Callable[..., None]

# In the order in which `--help` shows them.
_OPTIONS: Final[dict[str, Any]] = {
    "data": Data,
    "config": Config,
    "mode": Mode,
    "origin": Origin,
    "anchor": AnchorFile,
    "keys": KeyFolder,
}


def fail(*sentences: str, code: int = 1) -> NoReturn:
    """Tell the operator why nothing more is done, and end the command."""
    with contextlib.suppress(OSError):  # nobody can be told, and the code says it all the same
        for sentence in sentences:
            typer.echo(sentence, err=True)
    for stream in filter(None, (sys.stdout, sys.stderr)):
        try:
            stream.flush()
        except OSError:
            mute(stream)
    raise typer.Exit(code)


@contextlib.contextmanager
def taken_back(sentence: str) -> Iterator[None]:
    """Let SIGTERM, SIGHUP and Ctrl-C end a command in order, and say what is then.

    Args:
        sentence: What has become of what was begun.
    """
    try:
        with heard():
            yield
    except Stopped as stopped:
        fail(f"Stopped. {sentence}", code=stopped.code)


class Commands(TyperGroup):
    """All commands. What one raises because it cannot go on becomes words and an exit code here."""

    def invoke(self, ctx: typer.Context) -> object:  # type: ignore[override]  # a private base
        """Run a command, whichever group it is in."""
        try:
            return super().invoke(ctx)
        except typer.BadParameter as error:
            # Which option it is, and how it is asked for, is for Typer to say.
            if isinstance(error.__cause__, ValidationError):
                fault, *_ = error.__cause__.errors()
                error.message = f"{fault_in_words(fault)}."
            raise
        except ConfigurationError as error:
            fail(*error.faults, code=2)
        except StartRefused as error:
            fail(str(error), code=error.code)
        except Overtaken:
            fail("Another process has this log now; nothing was written.", code=EXIT_LOST)
        except OSError as error:
            if error.errno == errno.EPIPE:
                raise  # who read us has gone, and Click ends without a word
            fail(f"{failure_in_words(error)}.")
        except Exception as error:
            # Only a command that opens a database pays for the import.
            if not isinstance(error, sys.modules["apsw"].Error if "apsw" in sys.modules else ()):
                raise
            fail(f"A database cannot be read or written ({type(error).__name__}).")


def with_settings(*names: Setting) -> Callable[[Command], Command]:
    """Give a command its `settings`, made of the options that stand in that parameter's place.

    Args:
        names: What may be set on the command line besides the file with settings; by default all.

    Raises:
        ConfigurationError: By the command, before it has begun.
    """
    options = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=option)
        for name, option in _OPTIONS.items()
        if not names or name in (*names, "config")
    ]

    def decorate(command: Command) -> Command:
        @functools.wraps(command)
        def run(**given: object) -> None:
            flags: dict[str, Any] = {option.name: given.pop(option.name) for option in options}
            command(settings=load(**flags), **given)

        # Typer reads the options off the signature, and passes each by its name.
        signature = inspect.signature(command, eval_str=True)
        parameters: list[inspect.Parameter] = []
        for one in signature.parameters.values():
            by_name = one.replace(kind=inspect.Parameter.KEYWORD_ONLY)
            parameters += options if one.name == "settings" else [by_name]
        run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
        return run

    return decorate
