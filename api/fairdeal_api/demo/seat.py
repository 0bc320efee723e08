"""A seat's device: a process of its own, which keeps its secrets to itself.

    python -m fairdeal_api.demo.seat 2

It is told by lines on its standard input which table to sit at, by a claim code, as a player would
be by an invitation. Everything else goes through the service. Its reports, on standard output, are
for the screen: they name cards, and never a seed. When its input ends, it ends.
"""

from __future__ import annotations

import argparse
import json
import os
import queue
import secrets
import shutil
import sys
import threading
import time
from pathlib import Path
from typing import Any, Final

import httpx2

from fairdeal.ed25519 import public_key
from fairdeal.errors import FairdealError
from fairdeal.hand import Phase
from fairdeal_api.client import Api, ApiError, HeldCard, SeatClient
from fairdeal_api.demo import play

_HAND_SECONDS: Final = 60
_WAIT: Final = 5
_SUITS: Final = "CDHS"


def report(kind: str, **fields: Any) -> None:  # noqa: ANN401 - JSON
    """One line for the screen."""
    sys.stdout.write(json.dumps({"report": kind, **fields}) + "\n")
    sys.stdout.flush()


class Player:
    """Whoever sits at a seat for one hand."""

    def __init__(self, client: SeatClient) -> None:
        """Sit down."""
        self.client = client
        self._cards: list[HeldCard] = []
        self._told: tuple[int, int] = (-1, -1)

    @property
    def _number(self) -> int:
        return self.client.seat

    def play_hand(self, *, vanish: bool) -> None:
        """Follow the table, and do what is this seat's to do, until the hand has ended.

        Args:
            vanish: Leave without a word once the seal is given.
        """
        client, until = self.client, time.monotonic() + _HAND_SECONDS
        while client.checks.chain.table.hand is None or not client.hand.is_final:
            if time.monotonic() > until:
                raise TimeoutError(f"seat {self._number} waited too long")
            client.sync(wait=_WAIT)
            while client.checks.chain.table.hand is not None and self._step():
                if vanish and self._number in client.hand.seals:
                    report("vanished")
                    os._exit(0)
        client.finish()

    def _step(self) -> bool:
        """Do one thing that is due from this seat, if there is one."""
        self._look()
        client, hand = self.client, self.client.hand
        if hand.phase is Phase.SEALING and self._number in hand.declarations_due[:1]:
            taken = set(hand.trumps.values())
            client.declare(secrets.choice([suit for suit in _SUITS if suit not in taken]))
        elif hand.phase is Phase.SEALING and not hand.declarations_due:
            if self._number not in hand.missing_seals:
                return False
            client.seal()
        elif self._number in hand.missing_seeds:
            client.open_seed()
            report("opened", epoch=hand.epoch)
        else:
            return self._play()
        return True

    def _play(self) -> bool:
        hand, events = self.client.hand, self.client.checks.chain.hand_events
        turn = play.due(hand, events)
        if turn is None or self._number not in turn.seats:
            return False
        chosen = play.choose(turn, hand, events, self._cards)
        thrown = turn.what == "discard" or (
            turn.what == "play" and play.throws(hand, events, self._cards, chosen)
        )
        if thrown:
            self.client.discard(chosen)
        else:
            self.client.show(chosen)
        self._cards = self.client.cards()
        return True

    def _look(self) -> None:
        """Prove cards that have come, and tell the screen how far this seat is."""
        checks, layout = self.client.checks, self.client.hand.layout
        received = layout.received[self._number] if layout else ()
        if any(place not in checks.proved for place in received):
            self._cards = self.client.cards()
        now = (checks.chain.seq, len(checks.proved))
        if now != self._told:
            self._told = now
            cards = [[*card.place, card.card, card.state] for card in self._cards]
            report("seen", seq=checks.chain.seq, cards=cards)


def sit(order: dict[str, Any], signing_key: bytes | None) -> None:
    """Claim a seat, play one hand, keep the notes where the order says."""
    with httpx2.Client(trust_env=False) as connections:
        client = SeatClient.claim(
            Api(order["url"], client=connections),
            order["code"],
            log_key=order["log_key"],
            folder=Path(order["folder"]),
            signing_key=signing_key,
        )
        report("sat", seat=client.seat)
        Player(client).play_hand(vanish=order["vanish"])
        shutil.copyfile(client.notes_path, order["notes"])
        receipts = client.checks.notes[client.ended].receipts
        report("done", receipts=len(receipts), cards=len(client.checks.proved))


def _read_orders(orders: queue.Queue[dict[str, Any]]) -> None:
    for line in sys.stdin:
        orders.put(json.loads(line))
    os._exit(0)  # whoever gave the orders is gone


def main() -> None:
    """Wait for orders, and follow them one after the other."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("number", type=int)
    parser.add_argument("--keyed", action="store_true", help="have an Ed25519 key of its own")
    options = parser.parse_args()
    key = os.urandom(32) if options.keyed else None
    report("ready", public_key=public_key(key).hex() if key else None)
    orders: queue.Queue[dict[str, Any]] = queue.Queue()
    threading.Thread(target=_read_orders, args=(orders,), daemon=True).start()
    while True:
        try:
            sit(orders.get(), key)
        except (ApiError, FairdealError, OSError, ValueError) as error:
            report("failed", why=f"{type(error).__name__}: {error}")


if __name__ == "__main__":
    main()
