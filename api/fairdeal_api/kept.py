"""An answer in parts: what the log holds anyway, or a deck gives again, is not kept twice.

A retry gets the bytes of the first answer. Its events and its receipt follow from the log, and
the cards of a deal from seeds that are stored sealed: together nine tenths of all answers' bytes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

from fairdeal_api import http


@dataclass(frozen=True, slots=True)
class Parts:
    """What an answer says besides its events and its receipt, as members of one JSON object."""

    before: str
    after: str
    dealt: bool
    """Whether the cards of a deal come last."""

    def answer(
        self, events: Iterable[tuple[int, int, str]], receipt: str, cards: str | None
    ) -> bytes:
        """The whole answer.

        Args:
            events: `(seq, index, text)` of each, the text as a JSON string.
            receipt: For the last event.
            cards: The openings, as JSON; there if and only if `dealt`.
        """
        shown = ",".join(
            [f'{{"seq":{seq},"index":{index},"event":{text}}}' for seq, index, text in events]
        )
        members = [
            self.before,
            f'"events":[{shown}],"receipt":{http.encode_text(receipt)}',
        ]
        if self.after:
            members.append(self.after)
        if cards is not None:
            members.append(f'"cards":{cards}')
        return f"{{{','.join(members)}}}".encode()

    def encode(self) -> bytes:
        """What is kept. JSON has no bare line break."""
        return f"{self.before}\n{self.after}\n{'cards' if self.dealt else ''}".encode()

    @classmethod
    def decode(cls, data: bytes) -> Self:
        """What was kept."""
        before, after, dealt = data.decode().split("\n")
        return cls(before, after, dealt == "cards")
