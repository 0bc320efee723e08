"""The unit of the benches: what the bare hashing of a deck costs on this machine.

From the seeds to a sealed deck of 40 cards a program cannot do with fewer SHA-256 compressions
than these. One floor is the time that they take at the speed of one bulk hash.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Sequence
from typing import Final

_HMAC_BLOCK: Final = 4
_CARDS: Final = 40

COMPRESSIONS: Final = (
    4  # the deal key's salt: 219 framed bytes for four seats
    + _HMAC_BLOCK  # HKDF-Extract
    + 2 * _HMAC_BLOCK  # stream `shuffle`: 39 draws and a few rejections
    + 20 * _HMAC_BLOCK  # stream `salts`: 16 bytes a card
    + _HMAC_BLOCK  # stream `pick first`
    + _CARDS  # leaves of 42 or 43 bytes
    + 2 * (_CARDS - 1)  # inner nodes of 65 bytes
)

_BULK: Final = bytes(1 << 20)


def bulk_hash() -> None:
    """2^14 compressions and one."""
    hashlib.sha256(_BULK).digest()


def floor_of(bulk_seconds: float) -> float:
    """Seconds of one floor, from the seconds that one bulk hash took."""
    return bulk_seconds * COMPRESSIONS / ((len(_BULK) + 64) // 64)


def minima(works: Sequence[Callable[[], object]], rounds: int) -> list[float]:
    """The least seconds of each piece of work, the pieces taken in turn in every round."""
    best = [float("inf")] * len(works)
    for _ in range(rounds):
        for i, work in enumerate(works):
            start = time.perf_counter()
            work()
            best[i] = min(best[i], time.perf_counter() - start)
    return best


def report(name: str, ratio: float, unit: str, limit: float | None, **more: object) -> None:
    """Print one figure as one JSON line."""
    line = {"name": name, "ratio": round(ratio, 3), "unit": unit, "limit": limit, **more}
    print(json.dumps(line), flush=True)
