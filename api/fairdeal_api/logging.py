"""One-line JSON logs from an allow-list: what is not on it cannot be logged.

There is no way to pass a message of an exception, a body, a header or a query string. What the
service knows is secret for minutes, and a log line lives for years.
"""

from __future__ import annotations

import contextlib
import json
import logging
import sys
from typing import Final, TextIO

from fairdeal.encoding import format_time
from fairdeal_api import system

FIELDS: Final = frozenset(
    {
        "address",  # host and port that the service itself listens on
        "count",
        "duration_ms",
        "error",  # the class of an exception, never its text
        "held",  # size of the head that a witness has
        "library",  # whose message it is
        "level",  # `critical`, for what somebody must be woken for
        "mode",
        "origin",
        "request",  # id of a request
        "route",  # template, never the path
        "size",
        "status",
        "version",
        "witness",  # name of one, which is public
    }
)


class Log:
    """Writes lines to a stream."""

    def __init__(self, stream: TextIO | None = None) -> None:
        """Write to standard error unless told otherwise."""
        self._stream = stream

    def write(self, event: str, **fields: str | int | None) -> None:
        """Write one line. A field that is not on the list is a fault of the caller's."""
        strangers = fields.keys() - FIELDS
        if strangers:
            raise ValueError("not a field of the log: " + ", ".join(sorted(strangers)))
        line = {"at": format_time(system.wall_clock()), "event": event, **fields}
        stream = self._stream or sys.stderr
        if stream is None:
            return  # whoever started us has closed it
        # A full disk, or a reader that has gone: there is nobody left to tell, and what the line
        # is about (a log that freezes, a process that ends) has to be done all the same.
        with contextlib.suppress(OSError, ValueError):
            stream.write(json.dumps(line, separators=(",", ":")) + "\n")
            stream.flush()


LOG: Final = Log()


def tell(line: str) -> None:
    """Say something to who started us. Nobody has to listen: what it says is in the log as well."""
    try:
        print(line, flush=True)  # noqa: T201 - for who started us
    except OSError:
        system.mute(sys.stdout)


class _Theirs(logging.Handler):
    """What libraries have to say, without their words: a stranger's request can be in them."""

    def emit(self, record: logging.LogRecord) -> None:
        """Say whose message it is, and of what class the error."""
        kind = record.exc_info[0] if record.exc_info else None
        LOG.write(
            "library.failed", library=record.name, error=kind.__name__ if kind is not None else None
        )


def tame_libraries() -> None:
    """Keep what libraries log to errors, one line each.

    By default Python writes their warnings as they are: uvicorn has one for each request that is
    no HTTP, so that anybody could fill the log.
    """
    logging.root.addHandler(_Theirs(logging.ERROR))
