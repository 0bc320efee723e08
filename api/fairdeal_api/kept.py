"""An answer in parts: what the log holds anyway, or a deck gives again, is not kept twice.

A retry gets the bytes of the first answer. Its events and its receipt follow from the log, and
the cards of a deal from seeds that are stored sealed: together nine tenths of all answers' bytes.
"""

from __future__ import annotations

from typing import NamedTuple, Self

from fairdeal_api.json_bytes import encode_text


class Key(NamedTuple):
    """Under what a POST's answer is kept, and for which body."""

    scope: bytes
    request: bytes


class Parts(NamedTuple):
    """What an answer says besides its events and its receipt, as members of one JSON object."""

    before: bytes
    after: bytes
    dealt: bool
    """Whether the cards of a deal come last."""

    def answer(
        self, cards: bytes | None, seq: int, events: list[bytes], first: int, receipt: bytes
    ) -> bytes:
        """The whole answer.

        Args:
            cards: The openings, as JSON; there if and only if `dealt`.
            seq: Number of the first event.
            events: All of them, as they are logged.
            first: Log index of the first event.
            receipt: For the last one, in UTF-8.
        """
        # Bytes throughout: one dash in the receipt's note would make wide text of all of it.
        shown = [
            b'{"seq":%d,"index":%d,"event":%b}' % (seq + at, first + at, encode_text(event))
            for at, event in enumerate(events)
        ]
        parts = [b"{", self.before, b',"events":[', b",".join(shown), b"]"]
        parts += (b',"receipt":', encode_text(receipt))
        if self.after:
            parts += (b",", self.after)
        if cards is not None:
            parts += (b',"cards":', cards)
        parts.append(b"}")
        return b"".join(parts)

    def encode(self) -> bytes:
        """What is kept. JSON has no bare line break."""
        return b"%b\n%b\n%b" % (self.before, self.after, b"cards" if self.dealt else b"")

    @classmethod
    def decode(cls, data: bytes) -> Self:
        """What was kept."""
        before, after, dealt = data.split(b"\n")
        return cls(before, after, dealt == b"cards")
