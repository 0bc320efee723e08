"""The standalone verifier as another program, and two attempts to deceive it."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from fairdeal.cards import suit_of
from fairdeal.encoding import encode
from fairdeal.games import game_named
from fairdeal_api.demo.processes import run

VERIFIER: Final = "fairdeal_verifier"
_FAILED: Final = re.compile(r"FAIL +([a-z0-9.]+)")


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the verifier said: its whole report, which begins with the verdict."""

    report: str

    @property
    def words(self) -> str:
        """The verdict: `VERIFIED`, and what stands with it."""
        return self._line(0).split("  ")[0]

    @property
    def failed(self) -> str:
        """The id of the check that the verdict names; empty if none failed."""
        found = _FAILED.match(self._line(1))
        return found[1] if found else ""

    @property
    def reason(self) -> str:
        """Why it failed, in the verifier's words."""
        return self._line(1).partition(self.failed)[2].strip() if self.failed else ""

    def _line(self, number: int) -> str:
        lines = self.report.splitlines()
        return lines[number] if number < len(lines) else ""


def verify(file: Path, key: Path, notes: Path) -> Verdict:
    """Run the verifier on a file, with the log's key and what one seat has kept."""
    arguments = ["-m", VERIFIER, "--key", str(key), "--mine", str(notes), str(file)]
    return Verdict(run(arguments, any_code=True))


@dataclass(frozen=True, slots=True)
class Forgery:
    """A copy of a hand's file in which one card is another."""

    content: bytes
    seat: int
    before: str
    after: str


def change_a_card(content: bytes, *, rechain: bool) -> Forgery:
    """Turn one card that a seat showed into another.

    Args:
        content: A hand's file.
        rechain: Whether the forger also mends the chain: every later event is linked to the changed
            one before it, as if it had always been so.
    """
    value = json.loads(content)
    events: list[str] = value["events"]
    at, event = next(
        (i, json.loads(raw)) for i, raw in enumerate(events) if '"type":"cards.shown"' in raw
    )
    shown = event["shown"][0]
    before = str(shown["card"])
    shown["card"] = after = _another(before, json.loads(events[0]))
    events[at] = encode(event).decode()
    if rechain:
        for i in range(at + 1, len(events)):
            following: dict[str, Any] = json.loads(events[i])
            following["prev"] = hashlib.sha256(events[i - 1].encode()).hexdigest()
            events[i] = encode(following).decode()
    return Forgery(encode(value), int(shown["seat"]), before, after)


def _another(card: str, terms: dict[str, Any]) -> str:
    """The highest other card of its suit."""
    deck = game_named(terms["game"]).deck(terms["ruleset"])
    return [other for other in deck if suit_of(other) == card[-1] and other != card][-1]
