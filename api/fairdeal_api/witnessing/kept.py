"""The newest cosigned head, kept for whoever reads the data folder beside the service.

Cosignatures can be asked for again, so nothing depends on this file: it is written without waiting
for the disk, and one that is torn, old or of another log is as good as none.

Spec: LOG-10, WIT-8.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Final

from fairdeal.errors import FairdealError
from fairdeal.log.checkpoint import Checkpoint
from fairdeal.log.keys import LogKeys
from fairdeal.merkle import Tree
from fairdeal_api.logging import LOG

FILE: Final = "cosigned"
_MAX: Final = 64 * 1024


def keep(data: Path, note: str) -> None:
    """Put a head with its cosignatures in the place of the one before; a full disk is no fault."""
    part = data / f"{FILE}.part"
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        with os.fdopen(os.open(part, flags, 0o600), "wb") as file:
            file.write(note.encode())
        part.replace(data / FILE)
    except OSError as error:
        LOG.write("witnesses.not_kept", error=type(error).__name__)


def kept(data: Path, keys: LogKeys, tree: Tree) -> tuple[Checkpoint, str] | None:
    """Give the head that is kept, and its note, if it is one of this log's.

    Args:
        data: The data folder.
        keys: The log's.
        tree: The log.
    """
    with contextlib.suppress(OSError, ValueError, FairdealError):
        with (data / FILE).open("rb") as file:
            note = file.read(_MAX + 1).decode("utf-8")
        head = keys.open(note)
        if len(note) <= _MAX and head.size <= len(tree) and tree.root(head.size) == head.root:
            return head, note
    return None
