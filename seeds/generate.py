"""Write the vectors, or check that those in the repository are what the core gives.

python -m seeds.generate            writes seeds/*.json and seeds/*.fair.json
python -m seeds.generate --check    writes nothing; exit code 1 if a file differs
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from seeds.answers import ANSWERS
from seeds.forge import broken_hands
from seeds.hands import valid_hands
from seeds.local import Book
from seeds.noted import noted_hands
from seeds.played import lies, matches, played_hands
from seeds.readings import readings
from seeds.witnessed import witnessed_hands

HERE = Path(__file__).parent
VERDICTS = {0: "VERIFIED", 1: "FAILED", 3: "INCOMPLETE", 4: "UNREADABLE"}


def vectors() -> dict[str, bytes]:
    """Every file of the vectors, by name."""
    files: dict[str, bytes] = {"log.vkey": f"{Book().key.verifier}\n".encode()}
    for name, answer in ANSWERS.items():
        files[f"{name}.json"] = _json(answer())
    index: dict[str, dict[str, Any]] = {}
    valid = {}
    for vector in (*valid_hands(), *played_hands()):
        valid[vector.name] = vector
        files[f"{vector.name}.fair.json"] = vector.file
        index[f"{vector.name}.fair.json"] = {
            "verdict": vector.verdict,
            "exit": vector.exit,
            "failed": None,
        }
    for broken in broken_hands(valid):
        name = f"{broken.name}.fair.json"
        files[name] = broken.data
        index[name] = {
            "verdict": "UNREADABLE" if broken.failed is None else "FAILED",
            "exit": 4 if broken.failed is None else 1,
            "failed": broken.failed,
        }
        if broken.checks:
            index[name]["checks"] = dict(broken.checks)
        if broken.receipt is not None:
            kept = broken.name.removesuffix("_fail") + ".receipt"
            files[kept] = broken.receipt.encode()
            index[name]["receipts"] = [kept]
    for reading in readings(valid):
        name = f"{reading.name}.fair.json"
        files[name] = reading.data
        index[name] = {
            "verdict": VERDICTS[reading.exit],
            "exit": reading.exit,
            "failed": reading.failed,
        }
        if reading.checks:
            index[name]["checks"] = dict(reading.checks)
    for asked in witnessed_hands():
        name = f"{asked.name}.fair.json"
        files[name] = asked.file
        files |= {kept: text.encode() for kept, text in asked.receipts.items()}
        index[name] = {
            "verdict": "FAILED" if asked.failed else "VERIFIED",
            "exit": 1 if asked.failed else 0,
            "failed": asked.failed,
            "receipts": list(asked.receipts),
            "witnesses": list(asked.witnesses),
        }
    for noted in noted_hands():
        name, kept = f"{noted.name}.fair.json", f"{noted.name.removesuffix('_fail')}.notes.json"
        files[name], files[kept] = noted.file, noted.notes
        index[name] = {
            "verdict": "FAILED" if noted.failed else "VERIFIED",
            "exit": 1 if noted.failed else 0,
            "failed": noted.failed,
            "checks": {"mine": "FAIL" if noted.failed else "PASS"},
            "notes": kept,
        }
    for lie in lies():
        name = f"{lie.name}.fair.json"
        files[name] = lie.file
        is_good = lie.failed is None  # only its match shows it
        index[name] = {
            "verdict": "VERIFIED" if is_good else "FAILED",
            "exit": 0 if is_good else 1,
            "failed": lie.failed,
        }
    files["index.json"] = _json(index)
    files["matches.json"] = _json(
        {
            match.name: {"files": match.files, "exit": match.exit, "failed": match.failed}
            for match in matches(sorted(index))
        }
    )
    return files


def _json(value: object) -> bytes:
    return (json.dumps(value, indent=1, ensure_ascii=False, sort_keys=True) + "\n").encode()


def main(arguments: list[str]) -> int:
    """Write or check."""
    made = vectors()
    present = {
        path.name: path.read_bytes()
        for pattern in ("*.json", "*.vkey", "*.receipt")
        for path in HERE.glob(pattern)
    }
    if arguments == ["--check"]:
        differ = sorted(
            name for name in made.keys() | present if made.get(name) != present.get(name)
        )
        for name in differ:
            print(f"seeds/{name} is not what the core gives; run: make vectors")
        return 1 if differ else 0
    for name in present.keys() - made.keys():
        (HERE / name).unlink()
    for name, data in made.items():
        (HERE / name).write_bytes(data)
    print(f"{len(made)} files")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
