"""Which hands the demo plays, and what is special about each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final


@dataclass(frozen=True, slots=True)
class Plan:
    """One hand of one table."""

    name: str
    """Of its files."""
    game: str
    title: str
    seats: int
    ruleset: Mapping[str, Any] = field(default_factory=dict)
    timeouts: Mapping[str, int] = field(default_factory=dict)
    vanishes: int | None = None
    """The seat that seals, and is never heard of again."""
    aim: str = ""
    """What there is to see."""

    @property
    def verdict(self) -> str:
        """How the verifier's first line begins if all is well."""
        if self.vanishes is None:
            return "VERIFIED"
        return f"VERIFIED (aborted: open_timeout, seats {self.vanishes})"


KEYED_SEAT: Final = 0
"""The seat whose device has an Ed25519 key of its own, at every table."""

PLANS: Final = (
    Plan(
        "kozel",
        "kozel",
        "Kozel: 36 cards, four seats, four cards each",
        4,
        aim="Nine tricks, a draw after each while there is a stock, cards thrown face down.",
    ),
    Plan(
        "mus",
        "mus",
        "Mus: 40 Spanish cards, four seats",
        4,
        aim="Everyone says mus until the stock is used up, and the discards are shuffled anew.",
    ),
    Plan(
        "azi",
        "azi",
        "Azi with four cards: 27 cards, three seats",
        3,
        {"cards": 4},
        aim="Each seat throws one of its four cards unseen, and plays the other three.",
    ),
    Plan(
        "svoi",
        "svoi",
        "Svoi Kozyri (each its own trumps): 36 cards, two seats, eighteen each",
        2,
        {"sixes": "exchange"},
        aim="Trump suits are named before any deck can be known; sixes change hands openly.",
    ),
    Plan(
        "kozel-aborted",
        "kozel",
        "Kozel again, and a player who vanishes",
        4,
        timeouts={"open": 2},
        vanishes=2,
        aim="What happens when somebody seals, and then never opens.",
    ),
)
