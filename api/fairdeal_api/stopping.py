"""A command that is told to end (SIGTERM, SIGHUP, Ctrl-C) stops, and takes back what it has begun.

Python raises an exception for it wherever the program happens to be, also between a step and the
note of how to undo it. So such steps are `whole`; and before the one that cannot be taken back it
becomes `too_late`.
"""

from __future__ import annotations

import contextlib
import signal
import threading
import time
from collections.abc import Iterator
from types import FrameType
from typing import Final

_STOPS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_AT_ONCE: Final = 5.0
"""Seconds. `timeout` and shells tell the process and then its group: that is one stop, not two,
and must not end the tidying up that the first one has begun."""


class Stopped(KeyboardInterrupt):
    """The command was told to end."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.code = 128 + number
        """The exit code, as a shell would say it."""


class _Steps(threading.local):
    """What the main thread is doing. Only there signals are handled; elsewhere nothing is held."""

    held = 0
    asked = 0
    """The signal that waits for a step to be whole."""
    stopped_at: float | None = None


_steps = _Steps()


def _stop(number: int, _frame: FrameType | None) -> None:
    if _steps.held:
        _steps.asked = number
        return
    now = time.monotonic()
    if _steps.stopped_at is None or now - _steps.stopped_at > _AT_ONCE:
        _steps.stopped_at = now
        raise Stopped(number)


@contextlib.contextmanager
def heard() -> Iterator[None]:
    """Let signals stop what is done here. Who has started the command deaf to one has it so.

    Raises:
        Stopped: By anything in it that is not `whole`.
    """
    before = {
        number: signal.signal(number, _stop)
        for number in _STOPS
        if signal.getsignal(number) != signal.SIG_IGN
    }
    _steps.held, _steps.asked, _steps.stopped_at = 0, 0, None
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        _steps.held = 0


@contextlib.contextmanager
def whole() -> Iterator[None]:
    """Let a stop wait until a step is done, and with it the note of how to undo it.

    Raises:
        Stopped: After the step, if it was asked for meanwhile.
    """
    _steps.held += 1
    try:
        yield
    finally:
        _steps.held -= 1
    if not _steps.held:
        may_stop()


def may_stop() -> None:
    """Let a stop come through here, in the middle of what is `whole` otherwise.

    Raises:
        Stopped: If it was asked for.
    """
    if _steps.asked:
        number, _steps.asked = _steps.asked, 0
        raise Stopped(number)


def too_late() -> None:
    """What comes now is not taken back: it is done to its end, and a stop changes nothing."""
    _steps.held += 1
