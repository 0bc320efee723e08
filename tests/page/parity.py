"""What the verifier in Python says of a file, and what the one in TypeScript says, side by side."""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
import sys
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from fairdeal_verifier.verify import verify
from fairdeal_verifier.words import say
from tests.verifier.builder import vkey
from tests.verifier.test_rotations import ENDS, KEYS, LEAD_NOWHERE, file, members, served

ROOT: Final = Path(__file__).parents[2]
SEEDS: Final = ROOT / "seeds"
WEB: Final = ROOT / "verifier" / "web"
KEY: Final = (SEEDS / "log.vkey").read_text("utf-8").strip()
INDEX: Final[dict[str, Any]] = json.loads((SEEDS / "index.json").read_bytes())
ROTATION: Final[dict[str, Any]] = json.loads((SEEDS / "rotation.json").read_bytes())
MATCHES: Final[dict[str, Any]] = json.loads((SEEDS / "matches.json").read_bytes())
NEEDED: Final = (
    "Node and the packages of verifier/web are needed: `make test` installs them "
    "(npm ci in verifier/web, with the Node of the environment)."
)


class Said(NamedTuple):
    """A verdict, with each check's id and status.

    Attributes:
        notes: For each check what this hand adds to its sentence, as plain English. Of a FAIL it
            is not compared, if not of the catalogue: what is wrong each says in its own words.
    """

    verdict: str
    exit: int
    failed: str | None
    checks: tuple[tuple[str, str], ...]
    notes: tuple[str, ...] = ()


class Asked(NamedTuple):
    """A file, and what a player gives with it."""

    data: bytes
    receipts: tuple[str, ...] = ()
    witnesses: tuple[str, ...] = ()
    rotations: str | None = None
    key: str = KEY
    notes: str | None = None


def vector(name: str) -> Asked:
    """A vector of `seeds/`, with what its line of the index says is given."""
    expected = INDEX[name]
    kept = tuple((SEEDS / one).read_text("utf-8") for one in expected.get("receipts", ()))
    notes = (SEEDS / expected["notes"]).read_text("utf-8") if "notes" in expected else None
    witnesses = tuple(expected.get("witnesses", ()))
    return Asked((SEEDS / name).read_bytes(), kept, witnesses, notes=notes)


def rotated() -> dict[str, Asked]:
    """The vectors of a log whose key has changed: hands, and documents that lead somewhere or not.

    Each document comes with a hand of the last key, asked by the first and by the second.
    """
    first, second, _ = ROTATION["keys"]
    hands = {
        one["case"]: Asked(
            one["file"].encode(),
            tuple(one["receipts"]),
            (),
            json.dumps(one["rotations"]) if one["rotations"] is not None else None,
            one["key"],
        )
        for one in ROTATION["hands"]
    }
    far = hands["two rotations away"].data
    documents = {
        f"{one['case']}, key {i}": Asked(far, (), (), one["document"], key)
        for one in ROTATION["documents"]
        for i, key in enumerate((first, second))
    }
    # Wrong in one thing each, with receipts and signatures over it.
    forged = {
        case: Asked(file("log", 30), (), (), served(rotations).decode(), vkey("log"))
        for case, rotations in {**LEAD_NOWHERE, "nothing wrong": members()}.items()
    }
    # Every key at the last size at which it may sign, and at the first at which it may not.
    bounds = {
        f"{signer} at {size}": Asked(
            file(signer, size), (), (), served(members()).decode(), vkey("log")
        )
        for signer in KEYS
        for size in (ENDS[0], ENDS[0] + 1, ENDS[1], ENDS[1] + 1)
    }
    return hands | documents | forged | bounds


@cache
def by_python(asked: Asked) -> Said:
    report = verify(
        asked.data,
        key=asked.key,
        receipts=list(asked.receipts),
        witnesses=list(asked.witnesses),
        rotations=None if asked.rotations is None else asked.rotations.encode(),
        notes=None if asked.notes is None else asked.notes.encode(),
    )
    checks = tuple((check.id, check.status) for check in report.checks)
    notes = tuple(
        "" if check.status == "FAIL" and isinstance(check.note, str) else str(check.note)
        for check in report.checks
    )
    return Said(report.verdict, report.exit, report.failed, checks, notes)


def node() -> Path:
    """The Node of this environment, whatever else the machine has; without it a test fails."""
    found = shutil.which("node", path=str(Path(sys.executable).parent))
    assert found is not None, NEEDED
    assert (WEB / "node_modules" / "@noble").is_dir(), NEEDED
    return Path(found)


def by_typescript(asked: Iterable[Asked], web: Path = WEB) -> list[Said]:
    """All of them in one process.

    Args:
        asked: The files.
        web: Where the verifier's sources are.
    """
    lines = [
        json.dumps(
            {
                "file": base64.b64encode(one.data).decode(),
                "key": one.key,
                "receipts": one.receipts,
                "witnesses": one.witnesses,
                **({} if one.rotations is None else {"rotations": one.rotations}),
                **({} if one.notes is None else {"notes": one.notes}),
            }
        )
        + "\n"
        for one in asked
    ]
    done = subprocess.run(
        [node(), web / "tests" / "verdicts.ts", "--requests"],
        input="".join(lines).encode(),
        capture_output=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr.decode()[-2000:]
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(found) == len(lines)
    return [
        Said(
            one["verdict"],
            one["exit"],
            one["failed"],
            tuple((check, status) for check, status in one["checks"]),
            tuple(
                str(say(note["key"], **note.get("values", {}))) if note else ""
                for note in one["notes"]
            ),
        )
        for one in found
    ]


def _said(one: Said) -> list[tuple[str, ...]]:
    notes = one.notes or ("",) * len(one.checks)
    return [(*check, note) for check, note in zip(one.checks, notes, strict=True)]


def differences(names: Sequence[str], one: Sequence[Said], other: Sequence[Said]) -> list[str]:
    """Where two verifiers differ, told for people."""
    found = []
    for name, a, b in zip(names, one, other, strict=True):
        if a != b:
            x, y = set(_said(a)), set(_said(b))
            found.append(f"{name}: {a.failed} / {b.failed}; {sorted(x - y)} / {sorted(y - x)}")
    return found
