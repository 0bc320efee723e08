"""Attempts to deceive the verifier."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Any

from fairdeal.cards import suit_of
from fairdeal.encoding import encode
from fairdeal.games import game_named


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
