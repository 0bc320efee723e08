"""Who calls: operators by keys that the command line makes, seats by tokens, and the public.

Operator keys are in a small database of their own. The command line may write to it while the
service runs, and the ledger's database still has one writer only.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

import apsw

from fairdeal_api import system
from fairdeal_api.problems import Problem
from fairdeal_api.store import Reader
from fairdeal_api.system import StartRefused

LIVE, TEST, SEAT, CLAIM = "fd_live_", "fd_test_", "fds_", "fdc_"
_SECRET: Final = re.compile(f"({LIVE}|{TEST}|{SEAT})[A-Za-z0-9_-]{{43}}")
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._-]{0,63}")
_SCHEMA: Final = """
CREATE TABLE operator_keys (
  id      TEXT    PRIMARY KEY,
  name    TEXT    NOT NULL,
  digest  BLOB    NOT NULL UNIQUE,
  mode    TEXT    NOT NULL CHECK (mode IN ('live', 'test')),
  created INTEGER NOT NULL,
  revoked INTEGER
) STRICT, WITHOUT ROWID
"""


def digest(secret: str) -> bytes:
    """What is stored of a credential: it has 256 bits, so a slow hash adds nothing."""
    return hashlib.sha256(secret.encode("utf-8", "surrogateescape")).digest()


class OperatorKey(NamedTuple):
    """An operator's key, without the key. Keys of one name are one operator."""

    id: str
    name: str
    digest: bytes
    mode: str
    created: int
    revoked: int | None


@dataclass(frozen=True, slots=True)
class SeatHolder:
    """Somebody with a seat's token."""

    table: str
    seat: int
    digest: bytes


Caller = OperatorKey | SeatHolder


class OperatorKeys:
    """The file of operators' keys."""

    def __init__(self, path: Path, *, create: bool = False) -> None:
        """Open the file.

        Raises:
            StartRefused: It is missing or another file, or there already when it is to be made.
        """
        if create:
            if path.exists():
                raise StartRefused(f"{path} is there already and is never overwritten.")
            path.touch(0o600)
        elif not path.exists():
            raise StartRefused(
                f"There is no {path}, the operators' keys: `--data` says where the service is, and "
                "of one that has lost them they are in every backup."
            )
        try:
            self._connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
            self._connection.set_busy_timeout(5000)
            self._connection.pragma("trusted_schema", 0)
            self._connection.pragma("synchronous", "extra")
            if create:
                self._connection.execute(_SCHEMA)
            self.all()  # an emptied file is a database to SQLite, and would refuse everybody
        except apsw.Error as error:
            raise StartRefused(
                f"{path} does not hold the operators' keys ({type(error).__name__}); "
                "it is in every backup."
            ) from None
        self._known: dict[bytes, OperatorKey] = {}
        self._version: Any = None

    def create(self, name: str, mode: str) -> tuple[OperatorKey, str]:
        """A new key, and its text, which is shown once.

        Raises:
            ValueError: The name is not 1 to 64 letters, digits, spaces, `.`, `_`, `-`.
        """
        if not _NAME.fullmatch(name):
            raise ValueError("a name has 1 to 64 letters, digits, spaces, dots, `_` or `-`")
        secret = system.new_secret(TEST if mode == "test" else LIVE)
        key = OperatorKey(
            "key_" + system.entropy(6).hex(), name, digest(secret), mode, system.wall_clock(), None
        )
        self._connection.execute("INSERT INTO operator_keys VALUES (?, ?, ?, ?, ?, ?)", key)
        self._version = None  # `data_version` counts what others write
        return key, secret

    def all(self) -> list[OperatorKey]:
        """All keys, oldest first, revoked ones as well."""
        rows: list[Any] = self._connection.execute(
            "SELECT id, name, digest, mode, created, revoked FROM operator_keys ORDER BY created"
        ).fetchall()
        return [OperatorKey(*row) for row in rows]

    def revoke(self, key_id: str) -> bool:
        """Revoke a key; False if there is no such key that works."""
        self._connection.execute(
            "UPDATE operator_keys SET revoked = ? WHERE id = ? AND revoked IS NULL",
            (system.wall_clock(), key_id),
        )
        self._version = None
        return bool(self._connection.changes())

    def refresh(self) -> None:
        """Read again, if another process has written."""
        version = self._connection.pragma("data_version")
        if version != self._version:
            self._version = version
            self._known = {key.digest: key for key in self.all() if key.revoked is None}

    def find(self, wanted: bytes) -> OperatorKey | None:
        """The key of a digest. One made a moment ago is found, too."""
        key = self._known.get(wanted)
        if key is None:
            self.refresh()
            key = self._known.get(wanted)
        # The dictionary compared hashes of a 256-bit secret; this makes the rule plain.
        return key if key is not None and hmac.compare_digest(key.digest, wanted) else None

    def holds(self, key: OperatorKey) -> bool:
        """Whether a key that was found before works still."""
        return key.digest in self._known

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()


class Credentials:
    """Tells who a bearer is."""

    def __init__(self, operators: OperatorKeys, reader: Reader, mode: str) -> None:
        """Look in these places, for a service in this mode."""
        self._operators, self._reader, self._mode = operators, reader, mode

    def caller(self, secret: str) -> Caller:
        """Who this is.

        Raises:
            Problem: `credential_unknown`; `test_only` or `live_only` for a key of the other mode.
        """
        found = _SECRET.fullmatch(secret)
        kind = found[1] if found else None
        if kind == SEAT:
            wanted = digest(secret)
            row = self._reader.seat_by_token(wanted)
            if row is not None and row.token and hmac.compare_digest(row.token, wanted):
                return SeatHolder(row.table_id, row.seat, wanted)
        elif kind is not None:
            if (kind == TEST) != (self._mode == "test"):
                raise Problem("test_only" if kind == TEST else "live_only")
            wanted = digest(secret)
            key = self._operators.find(wanted)
            if key is not None and key.mode == self._mode:
                return key
        raise Problem("credential_unknown")

    def operator(self, secret: str) -> OperatorKey:
        """The operator that this is, or `operator_only`."""
        caller = self.caller(secret)
        if not isinstance(caller, OperatorKey):
            raise Problem("operator_only")
        return caller
