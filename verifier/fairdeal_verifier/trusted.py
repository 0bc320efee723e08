"""Reads the log key that somebody trusts, given as it is or as a file that holds it."""

import errno
from pathlib import Path

from fairdeal_verifier.encoding import FormatError
from fairdeal_verifier.note import LogKey

_MOST = 4096
_NO_FILE = (errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG)


def key_of(option: str | None) -> str | None:
    """Gives the vkey that an option is, or that the file holds that it names; None for None.

    Raises:
        ValueError: A sentence says why there is none. The exit code is that of wrong usage.
    """
    if option is None:
        return None
    try:
        LogKey.parse(option)
    except FormatError:
        return read_key(option)
    return option


def read_key(name: str | Path) -> str:
    """Reads a vkey from a file: one line of UTF-8, with or without its end.

    Raises:
        ValueError: A sentence says why there is none.
    """
    neither = f"{str(name)!r} is neither a log key nor a file that holds one"
    try:
        with Path(name).open("rb") as source:
            data = source.read(_MOST + 1)
    except OSError as error:
        if error.errno in _NO_FILE:
            raise ValueError(neither) from None
        raise ValueError(f"cannot read the log key {str(name)!r}: {error.strerror}") from None
    except ValueError:  # a NUL, or what no file name can hold
        raise ValueError(neither) from None
    try:
        text = data.decode("utf-8").strip()
    except UnicodeDecodeError:
        raise ValueError(f"{str(name)!r} holds no log key: it is not UTF-8") from None
    if not text:
        raise ValueError(f"{str(name)!r} holds no log key: it is empty")
    if len(data) > _MOST or len(text.splitlines()) > 1:
        raise ValueError(f"{str(name)!r} holds no log key: it is longer than one line of a key")
    try:
        LogKey.parse(text)
    except FormatError as error:
        raise ValueError(f"{str(name)!r} holds no log key: {error}") from None
    return text
