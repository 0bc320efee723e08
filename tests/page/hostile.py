"""Files that are as long as a file may be, in its form, and made to keep a reader busy.

Each is a hand that begins well and then goes on for as long as 5 MiB allow: in form, chain and
proof they are right, so that all of them is read, judged and shown.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from itertools import count
from typing import Any, Final

from seeds.forge import _prove
from tests.page.mutations import SEEDS, encoded

LARGEST: Final = 5 * 1024 * 1024
_LONGEST: Final = 65_000
"""Bytes of one event, a little less than ENC-8 allows."""
_CARDS: Final = [rank + suit for rank in ("6", "7", "8", "9", "10", "J", "Q", "K", "A")
                 for suit in "CDHS"]  # fmt: skip

Event = dict[str, Any]


def _shown(i: int) -> Event:
    return {
        "card": _CARDS[i % 36],
        "epoch": i // 256 % 33,
        "position": i % 256,
        "salt": "00" * 16,
        "seat": i % 2,
    }


_LOCK: Final = {"count": 255, "lock": "00" * 32}
_THROWS: Final = 4000


def _pool(i: int) -> Event:
    """Discards of more cards than there are, a reshuffle of all of them, and draws one by one."""
    if i < _THROWS and i % 2:
        return {"type": "cards.drawn", "draws": [[0, 1, 0]] * 16}
    if i < _THROWS or i == _THROWS + 1:
        return {
            "type": "cards.discarded",
            "sigs": {},
            "discards": {str(seat): _LOCK for seat in range(4)},
        }
    if i == _THROWS:  # nothing is left of the stock
        return {"type": "cards.drawn", "draws": [[0, 0, place] for place in range(40)]}
    if i == _THROWS + 2:
        seeds = {str(seat): f"{seat:064x}" for seat in range(4)}
        head = "00" * 32
        return {"type": "seeds.opened", "epoch": 1, "head": head, "seeds": seeds, "sigs": {}}
    if i == _THROWS + 3:
        return {"type": "stock.reshuffled", "epoch": 1, "count": 255, "deck_root": "00" * 32}
    return {"type": "cards.drawn", "draws": [[0, 2, 0]]}


KINDS: Final[dict[str, tuple[str, Callable[[int], Event]]]] = {
    # Tens of thousands of events.
    "returned": ("kozel-short", lambda _i: {"type": "cards.returned"}),
    "called": ("svoi-played", lambda i: {"type": "play.called", "seat": i % 2, "call": "take",
                                         "amount": 1}),
    "shown": ("svoi-played", lambda i: {"type": "cards.shown", "shown": [_shown(i)]}),
    "bets": ("azi-played", lambda i: {"type": "play.called", "seat": i % 4, "call": "raise",
                                      "amount": i}),
    "seals": ("kozel-short", lambda i: {"type": "seeds.sealed", "sigs": {},
                                        "seals": {"0": f"{i:064x}"}}),
    # Few events, each as long as can be.
    "many_shown": ("svoi-played", lambda i: {"type": "cards.shown",
                                             "shown": [_shown(400 * i + j) for j in range(400)]}),
    "many_drawn": ("mus-played", lambda i: {"type": "cards.drawn",
                                            "draws": [[(i + j) % 4, j // 256 % 33, j % 256]
                                                      for j in range(5500)]}),
    "pool": ("mus-played", _pool),
    "many_thrown": ("azi-played_four", lambda i: {"type": "cards.discarded", "sigs": {},
                    "discards": {str(s): {"count": 255, "lock": f"{i:064x}"} for s in range(3)}}),
}  # fmt: skip


def longest(kind: str, most: int = LARGEST - 4096) -> bytes:
    """A hand's file of just less than `most` bytes."""
    base, make = KINDS[kind]
    file = json.loads((SEEDS / f"{base}.fair.json").read_bytes())
    *written, closing = file["events"]
    last, end = json.loads(written[-1]), json.loads(closing)
    common = {name: last[name] for name in ("v", "table", "hand", "at")}
    length = len(encoded(file))
    for i in count():
        event = common | make(i)
        event |= {"seq": last["seq"] + 1, "prev": _digest(written[-1])}
        text = encoded(event)
        assert len(text) < _LONGEST
        length += len(encoded(text)) + 1
        if length > most:
            break
        written.append(text)
        last = event
    end |= {"seq": last["seq"] + 1, "prev": _digest(written[-1])}
    file["events"] = [*written, encoded(end)]
    _prove(file)
    return encoded(file).encode()


def _digest(event: str) -> str:
    return hashlib.sha256(event.encode()).hexdigest()
