"""The only place that reads entropy, the clock and key files.

Everything secret begins here: `os.urandom` for seeds and tokens, and two key files. A key file
that is missing or looks wrong is refused with one sentence; it is never made anew, since a new
key would orphan what the old one sealed or signed.
"""

from __future__ import annotations

import base64
import contextlib
import fcntl
import hashlib
import os
import re
import socket
import stat
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TextIO

from fairdeal.seeds import ServerSeed

_KEY_TEXT = re.compile(rb"[0-9a-f]{64}\n")
_TAKE_OVER: Final = (
    "Stop it first; if it is stuck, `fairdeal serve --take-over` goes on in its place."
)
_CROCKFORD: Final = "0123456789abcdefghjkmnpqrstvwxyz"
SEALING_KEY: Final = "sealing.key"
NEXT_SEALING_KEY: Final = "sealing.next.key"
LOG_KEY: Final = "log.key"
NEXT_LOG_KEY: Final = "log.next.key"
"""Of a rotation that is under way, or was never committed; so is the other `next`."""


BACKLOG: Final = 1024
"""Connections that wait to be accepted."""
EXIT_BROKEN: Final = 70
"""Exit code: a commit of unknown result."""
EXIT_FROZEN: Final = 71
"""A witness holds what this log does not extend."""
EXIT_LOST: Final = 75
"""Exit code: another process has the log."""


class StartRefused(Exception):  # noqa: N818 - it is a decision, and says why
    """The service will not start or go on; the text is one sentence for the operator."""

    def __init__(self, sentence: str, code: int = 1) -> None:
        super().__init__(sentence)
        self.code = code
        """The exit code of the command."""


class Overtaken(Exception):  # noqa: N818 - a verdict
    """Another process writes this log now. Nothing was written, and nothing may be acknowledged."""


@dataclass(frozen=True, slots=True)
class SealingKey:
    """What secrets are stored under: 32 bytes."""

    secret: bytes

    def __repr__(self) -> str:
        return f"SealingKey({self.id})"

    @property
    def id(self) -> str:
        """Names the key without telling anything of it: 8 hex digits."""
        return hashlib.sha256(b"fairdeal sealing key id\x00" + self.secret).hexdigest()[:8]


@dataclass(frozen=True, slots=True)
class Keys:
    """The secrets that live in files."""

    sealing: SealingKey
    log: bytes
    next_log: bytes | None = None
    """Of a rotation that was cut off. Only the database says whether it is the log's."""
    next_sealing: SealingKey | None = None
    """The same, of what is sealed."""

    def __repr__(self) -> str:
        return "Keys(<secret>)"


def entropy(count: int) -> bytes:
    """Bytes from the operating system's generator."""
    return os.urandom(count)


def new_server_seed() -> ServerSeed:
    """A fresh server seed. Spec: SEED-1."""
    return ServerSeed(os.urandom(32))


def new_secret(prefix: str) -> str:
    """A credential of 256 bits, with a prefix by which scanners find it."""
    return prefix + base64.urlsafe_b64encode(os.urandom(32)).rstrip(b"=").decode()


def new_table_id() -> str:
    """`tbl_` and a UUIDv7 in Crockford's base32. Spec: EVT-2."""
    number = (time.time_ns() // 1_000_000) << 80 | int.from_bytes(os.urandom(10), "big")
    number = number & ~(0xF << 76) | 7 << 76
    number = number & ~(0b11 << 62) | 0b10 << 62
    return "tbl_" + "".join(_CROCKFORD[number >> shift & 31] for shift in range(125, -1, -5))


def table_made_before(table_id: str, at: int) -> bool:
    """Whether a table's id, as `new_table_id` makes them, is of a time before a moment (ms)."""
    digits = table_id.removeprefix("tbl_")
    if len(digits) != 26 or not set(digits) <= set(_CROCKFORD):
        return False
    number = 0
    for digit in digits:
        number = number << 5 | _CROCKFORD.index(digit)
    return number >> 80 < at


def wall_clock() -> int:
    """Milliseconds since 1970."""
    return time.time_ns() // 1_000_000


def monotonic() -> int:
    """Milliseconds since some moment; for durations and deadlines, whatever the wall clock does."""
    return time.monotonic_ns() // 1_000_000


class Clock:
    """Log time: the wall clock, but never earlier than what the log has seen."""

    __slots__ = ("_last", "_read")

    def __init__(self, last: int, read: Callable[[], int] = wall_clock) -> None:
        """Begin after the newest event of the log."""
        self._last = last
        self._read = read

    def now(self) -> int:
        """Milliseconds since 1970. Spec: EVT-2 (`at` never decreases)."""
        self._last = max(self._last, self._read())
        return self._last


# --- key files ----------------------------------------------------------------------------------


def create_keys(folder: Path) -> Keys:
    """Make both keys in a folder that has none.

    Raises:
        StartRefused: A key is there already, or the folder is not the owner's alone.
        OSError: One cannot be written. Neither is there then.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    _check_folder(folder)
    with contextlib.ExitStack() as undo:
        for name in (SEALING_KEY, LOG_KEY):
            _create(folder / name, os.urandom(32).hex().encode() + b"\n")
            undo.callback((folder / name).unlink)
        sync_folder(folder)
        keys = read_keys(folder)
        undo.pop_all()
    return keys


def read_keys(folder: Path, sealing_id: str = "") -> Keys:
    """Read both keys, and those of rotations if there are any.

    Args:
        folder: Where they are.
        sealing_id: Of the sealing key that is wanted, to say so if it is missing.

    Raises:
        StartRefused: Something about a file or the folder is not as it must be.
    """
    _check_folder(folder)
    if sealing_id and not os.path.lexists(folder / SEALING_KEY):
        raise StartRefused(
            f"The key {folder / SEALING_KEY} is missing. It is never made anew: restore it from "
            f"its backup. It is {sealing_id} that is wanted."
        )
    next_sealing = _read_if_there(folder / NEXT_SEALING_KEY)
    return Keys(
        SealingKey(_read_key(folder / SEALING_KEY)),
        _read_key(folder / LOG_KEY),
        _read_if_there(folder / NEXT_LOG_KEY),
        SealingKey(next_sealing) if next_sealing is not None else None,
    )


def _read_if_there(path: Path) -> bytes | None:
    return _read_key(path) if os.path.lexists(path) else None


def next_key(path: Path) -> bytes:
    """The key that a rotation leads to: the one left by an attempt before, or a new one.

    Args:
        path: `NEXT_LOG_KEY` or `NEXT_SEALING_KEY` in the folder of the keys.

    Raises:
        StartRefused: Something about its file or the folder is not as it must be.
    """
    with contextlib.suppress(FileExistsError):
        _make_key(path)
    return _read_key(path)


def create_key(path: Path) -> bytes:
    """Make one key in an owner's folder.

    Raises:
        StartRefused: It is there already, or the folder is not the owner's alone.
    """
    try:
        _make_key(path)
    except FileExistsError:
        raise StartRefused(f"{path} is there already and is never overwritten.") from None
    return _read_key(path)


def _make_key(path: Path) -> None:
    """Write a new key, whole or not at all: every start would refuse half a key.

    Never over one that is there, which somebody may just have committed to.

    Raises:
        FileExistsError: One is there.
    """
    folder = path.parent
    _check_folder(folder)
    part = path.with_name(f"{path.name}.{os.getpid()}")
    for left in folder.iterdir():
        if is_part_of(path, left):
            left.unlink(missing_ok=True)
    _create(part, os.urandom(32).hex().encode() + b"\n")
    try:
        path.hardlink_to(part)
    finally:
        part.unlink()
        sync_folder(folder)


def is_part_of(path: Path, other: Path) -> bool:
    """Whether a file is a key's, of an attempt that was cut off; a copy of somebody's is not."""
    return re.fullmatch(re.escape(path.name) + r"\.\d+", other.name, re.ASCII) is not None


def read_key(path: Path) -> bytes:
    """Read one key, as `read_keys` does.

    Raises:
        StartRefused: Something about it or its folder is not as it must be.
    """
    _check_folder(path.parent)
    return _read_key(path)


def _check_folder(folder: Path) -> None:
    try:
        status = folder.lstat()
    except FileNotFoundError:
        raise StartRefused(
            f"The key folder {folder} is missing. Keys are never made anew: restore them from "
            "their backup."
        ) from None
    if not stat.S_ISDIR(status.st_mode):
        raise StartRefused(f"{folder} is not a folder.")
    _check_owner(folder, status)


def _check_owner(path: Path, status: os.stat_result) -> None:
    if status.st_uid != os.geteuid():
        raise StartRefused(f"{path} belongs to another user.")
    if status.st_mode & 0o077:
        raise StartRefused(f"{path} is open to others; its mode must be owner-only (chmod go= ..).")


def _read_key(path: Path) -> bytes:
    try:
        # Not waiting: a pipe of that name would hold up the start until somebody writes to it.
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        descriptor = os.open(path, flags)
    except FileNotFoundError:
        raise StartRefused(
            f"The key {path} is missing. It is never made anew: restore it from its backup."
        ) from None
    except OSError as error:
        raise StartRefused(
            f"The key {path} cannot be opened ({error.strerror}); it must be a plain file."
        ) from None
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise StartRefused(f"The key {path} is not a plain file.")
        _check_owner(path, status)
        text = os.read(descriptor, 66)
    finally:
        os.close(descriptor)
    if not _KEY_TEXT.fullmatch(text):
        raise StartRefused(f"The key {path} is not 64 hex digits and a newline.")
    return bytes.fromhex(text.decode())


def _create(path: Path, content: bytes) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        descriptor = os.open(path, flags, 0o600)
    except FileExistsError:
        raise StartRefused(f"{path} is there already and is never overwritten.") from None
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
    except BaseException:
        path.unlink()  # half a key would be refused for good
        raise


# --- files --------------------------------------------------------------------------------------


def create_file(path: Path, content: bytes) -> None:
    """Write a file that is not there yet, durably.

    Raises:
        StartRefused: It is there.
        OSError: It cannot be written. Nothing is there then.
    """
    _create(path, content)
    try:
        sync_folder(path.parent)
    except BaseException:
        path.unlink()
        raise


def sync_folder(folder: Path) -> None:
    """Make the names in a folder durable."""
    _sync(folder, os.O_DIRECTORY)


def sync_file(path: Path) -> None:
    """Make durable what another library has written."""
    _sync(path)


def _sync(path: Path, flags: int = 0) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | flags)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def replace_file(path: Path, content: bytes) -> None:
    """Put a new content in the place of a file, durably: before or after, never half."""
    part = path.with_name(path.name + ".part")
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
    # Not by `os.write` alone: on a disk that is about to be full it writes less, and says nothing.
    with os.fdopen(os.open(part, flags, 0o600), "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)
    sync_folder(path.parent)


def hold_lock(path: Path, *, take_over: bool = False, advice: str = _TAKE_OVER) -> int:
    """Take the lock of a data folder for the life of the process.

    A file of its own: closing any descriptor of a database file would drop SQLite's locks. The
    lock only spares two processes the trouble; what keeps the log whole is the epoch. Spec: LOG-20.

    Args:
        path: The file.
        take_over: Whether to put a new file in the place of one that another process holds.
        advice: What to do about that process, in a sentence.

    Raises:
        StartRefused: Another process holds it.
    """
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    while True:
        # To take over is to lock a file that nobody knows yet, and to give it the name.
        name = path.with_name(f"{path.name}.{os.getpid()}") if take_over else path
        descriptor = os.open(name, flags, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.pread(descriptor, 20, 0).decode("ascii", "replace").strip() or "unknown"
            os.close(descriptor)
            raise StartRefused(
                f"Another process is using {path.parent}: locked by pid {holder}. {advice}",
                EXIT_LOST,
            ) from None
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, b"%d\n" % os.getpid(), 0)
        if take_over:
            name.replace(path)
        with contextlib.suppress(FileNotFoundError):
            if os.fstat(descriptor).st_ino == path.lstat().st_ino:
                return descriptor
        os.close(descriptor)  # taken over between the two: look at the new file


def release_lock(descriptor: int) -> None:
    """Give the lock back."""
    with contextlib.suppress(OSError):
        os.close(descriptor)


def mute(stream: TextIO) -> None:
    """Let what a stream could not write go nowhere.

    What is left in its buffer would be an error once more at the end, with exit code 120.
    """
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def lies_in(path: Path, folder: Path) -> bool:
    """Whether a file or folder is, whatever its name, inside another, or that one itself."""
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder))


# --- addresses ----------------------------------------------------------------------------------


def listen(host: str, port: int) -> socket.socket:
    """An address, taken.

    Raises:
        StartRefused: It is not to be had.
    """
    if not host:
        raise StartRefused("No address to listen on is given; an empty one would be all there are.")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
        # Already here: of two sockets that are bound, only one may listen.
        listening.listen(BACKLOG)
    except (OSError, UnicodeError) as error:
        listening.close()
        why = getattr(error, "strerror", None) or "not an address"
        raise StartRefused(f"{host}:{port} cannot be listened on ({why}).") from None
    return listening


def address_of(listening: socket.socket) -> str:
    """Host and port, as they stand in an URL."""
    host, port = listening.getsockname()[:2]
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
