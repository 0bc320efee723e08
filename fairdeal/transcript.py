"""The hand's file: all that a check of one hand needs. Spec: file.md."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

from fairdeal.dealing import Dealing
from fairdeal.encoding import encode, parse
from fairdeal.errors import StateError
from fairdeal.events import Event, HandDisclosed
from fairdeal.hand import Hand
from fairdeal.log.proof import Receipt
from fairdeal.sealed_deck import Opening

FORMAT = "fairdeal-hand/1"


@dataclass(frozen=True, slots=True)
class Transcript:
    """A hand's events, what opens them, and their place in the log."""

    events: tuple[bytes, ...]
    """`table.opened`, then `hand.opened` to `hand.closed` or `hand.aborted`. Spec: FILE-2."""
    disclosed: HandDisclosed | None
    openings: tuple[Opening, ...]
    receipt: Receipt
    """Of the last event, against the checkpoint of the commit that ended the hand. Spec: FILE-5."""

    @classmethod
    def of(
        cls, hand: Hand, events: Sequence[Event], receipt: Receipt, dealing: Dealing | None = None
    ) -> Self:
        """The file of a hand that has ended.

        Args:
            hand: The hand as it is now.
            events: Those of the hand, from its opening to its end.
            receipt: Of the last of them.
            dealing: The secrets, for the openings of a hand that is not disclosed (nor `lost`).

        Raises:
            StateError: `hand_not_final`.
        """
        if not hand.is_final:
            raise StateError("hand_not_final", "the hand is under way")
        openings: tuple[Opening, ...] = ()
        if hand.disclosed is None and hand.reason != "lost" and dealing is not None:
            openings = tuple([dealing.opening(place) for place, _, _ in hand.shown])
        raw = (hand.table.raw, *[event.raw for event in events])
        return cls(raw, hand.disclosed, openings, receipt)

    def encode(self) -> bytes:
        """The bytes of the file. Spec: FILE-1, FILE-3, FILE-4."""
        value: dict[str, Any] = {
            "events": [event.decode("ascii") for event in self.events],
            "format": FORMAT,
            "openings": [opening.to_dict() for opening in self.openings],
            "proof": self.receipt.text(),
        }
        if self.disclosed is not None:
            event = parse(self.disclosed.raw)
            value["disclosed"] = {name: event[name] for name in ("discards", "server_seed")}
        return encode(value)
