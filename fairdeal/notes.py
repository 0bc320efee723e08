"""A player's notes: what only the player knows, written by the client. Spec: NOTE-1."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from fairdeal.cards import Card
from fairdeal.codecs import Place
from fairdeal.encoding import encode, format_time
from fairdeal.hashing import Digest
from fairdeal.seeds import SeatSeed

FORMAT = "fairdeal-notes/1"


@dataclass(slots=True)
class Notes:
    """Grows as the hand goes on; `encode` at any time gives a whole file."""

    log_key: str
    table: str
    hand: int
    seat: int
    seeds: list[SeatSeed] = field(default_factory=list)
    """Own seeds that were opened, by epoch."""
    receipts: list[tuple[Digest, str]] = field(default_factory=list)
    """Event and receipt, the sealed head's among them."""
    cards: list[tuple[int, Place, Card]] = field(default_factory=list)
    """When a card was seen (milliseconds since 1970), where it lay, which it was."""

    def encode(self) -> bytes:
        """The bytes of the file. They hold the player's own secrets."""
        value: dict[str, Any] = {
            "format": FORMAT,
            "log_key": self.log_key,
            "table": self.table,
            "hand": self.hand,
            "seat": self.seat,
            "seeds": [seed.hex() for seed in self.seeds],
            "receipts": [
                {"digest": digest.hex(), "proof": proof} for digest, proof in self.receipts
            ],
            "cards": [
                {
                    "at": format_time(at),
                    "card": card,
                    "epoch": place.epoch,
                    "position": place.position,
                }
                for at, place, card in self.cards
            ],
        }
        return encode(value)
