"""A key that is given as it is, or as a file that holds it: all commands read it alike."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import Final

from fairdeal.errors import FairdealError
from fairdeal.log.note import VerifierKey
from fairdeal_api.settings import ConfigurationError

_MOST: Final = 4096
"""Bytes; a key's line is much shorter, and a file need not have an end."""
_NO_FILE: Final = (errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG)
_OPERATORS: Final = ("fd_live_", "fd_test_")


def log_key(option: str) -> VerifierKey:
    """The log's key that an option is, or that the file holds which it names.

    Raises:
        ConfigurationError: A sentence says why there is none.
    """
    try:
        return VerifierKey.parse(option)
    except FairdealError:
        text = _line_of(option, "log key", f"{option!r} is neither a log key nor a file with one.")
    try:
        return VerifierKey.parse(text)
    except FairdealError:
        raise _unfit(option, "log key", "it holds something else") from None


def operator_key(option: str) -> str:
    """The operator's key that an option is, or that the file holds which it names.

    Raises:
        ConfigurationError: A sentence says why there is none. It never shows what may be a key.
    """
    if option.startswith(_OPERATORS):
        return option
    neither = (
        "What is given is neither an operator key (fd_live_.., fd_test_..) nor a file with one."
    )
    text = _line_of(option, "operator key", neither)
    if not text.startswith(_OPERATORS):
        raise _unfit(option, "operator key", "it holds something else")
    return text


def _line_of(name: str, what: str, neither: str) -> str:
    """What a file holds: one line of UTF-8, with or without its end."""
    try:
        with Path(name).open("rb") as source:
            data = source.read(_MOST + 1)
    except OSError as error:
        if not name or error.errno in _NO_FILE:
            raise ConfigurationError([neither]) from None
        raise ConfigurationError(
            [f"The {what} {name!r} cannot be read: {error.strerror}."]
        ) from None
    except ValueError:  # a NUL, or what no file name can hold
        raise ConfigurationError([neither]) from None
    try:
        text = data.decode("utf-8").strip()
    except UnicodeDecodeError:
        raise _unfit(name, what, "it is not UTF-8") from None
    if not text:
        raise _unfit(name, what, "it is empty")
    if len(data) > _MOST or len(text.splitlines()) > 1:
        raise _unfit(name, what, "it is longer than one line of a key")
    return text


def _unfit(name: str, what: str, why: str) -> ConfigurationError:
    return ConfigurationError([f"{name!r} holds no {what}: {why}."])
