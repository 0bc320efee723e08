"""Writes to the streams that whoever started a program has given it."""

import os
from typing import TextIO


def write(stream: TextIO | None, text: str) -> None:
    """Writes all of a text at once. A stream that was closed before the start takes anything.

    Raises:
        OSError: It cannot be written. What is left in the buffer goes nowhere: it would be an
            error once more at the end, with an exit code that is not ours.
    """
    if stream is None:
        return
    try:
        stream.write(text)
        stream.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        raise
