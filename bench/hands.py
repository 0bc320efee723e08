"""`derive`, `verify_hand`, `verify_signature`, `replay_kozel`: what one deck and one hand cost."""

from __future__ import annotations

import base64
import hashlib
import json
from pathlib import Path
from unittest import mock

from bench.floor import bulk_hash, floor_of, minima, report
from fairdeal.cards import spanish_deck
from fairdeal.dealing import Dealing
from fairdeal.events import Event, HandDisclosed, HandEvent, TableOpened, parse_event
from fairdeal.games.rules.base import Close
from fairdeal.hashing import Digest
from fairdeal.sealed_deck import SealedDeck
from fairdeal.seeds import SeatSeed, ServerSeed, deal_key
from fairdeal.shuffle import pick
from fairdeal.table import Table
from fairdeal_verifier import ed25519
from fairdeal_verifier import note as their_notes
from fairdeal_verifier.verify import verify

SEEDS = Path(__file__).parents[1] / "seeds"
HAND = SEEDS / "mus-one_round.fair.json"
KOZEL = SEEDS / "kozel-played.fair.json"


def derive() -> None:
    """Order, salts, picks and tree of a 40-card deck, from the seeds."""
    server = ServerSeed(bytes(range(32)))
    terms = Digest(hashlib.sha256(b"terms").digest())
    seats = [SeatSeed(hashlib.sha256(bytes([i])).digest()) for i in range(4)]
    deck = spanish_deck()

    def work() -> None:
        key = deal_key(terms, 1, 0, seats, server)
        pick(key, "first", 4)
        SealedDeck.from_key(key, 0, deck)

    bulk, ours = minima([bulk_hash, work], rounds=3000)
    report("derive", ours / floor_of(bulk), "floors", 12)


def verify_hand() -> None:
    """The standalone verifier on a whole Mus hand, its signature check measured apart."""
    data = HAND.read_bytes()
    key = (SEEDS / "log.vkey").read_text("utf-8").strip()
    public = base64.b64decode(key.split("+", 2)[2])[1:]
    whole = verify(data, key=key)
    if whole.exit != 0:
        raise SystemExit(f"the hand to measure is not valid: {whole.verdict}")
    checked: list[tuple[bytes, bytes, bytes]] = []
    real = ed25519.verify_signature

    def noted(public_key: bytes, message: bytes, signature: bytes) -> bool:
        checked.append((public_key, message, signature))
        return True

    with mock.patch.object(their_notes, "verify_signature", noted):
        bulk, ours = minima([bulk_hash, lambda: verify(data, key=key)], rounds=1500)
    if checked[0][0] != public:
        raise SystemExit("the signature that was left out is not the log's")
    signature = min(minima([lambda: real(*checked[0])], rounds=60))
    if not real(*checked[0]):
        raise SystemExit("the signature to measure is not valid")
    floor = floor_of(bulk)
    report("verify_hand", ours / floor, "floors", 150, bytes=len(data))
    report("verify_signature", signature / floor, "floors", None)


def replay_kozel() -> None:
    """The core on a refereed Kozel hand, from its terms to the referee's result.

    36 cards are played. All that a replay does is in it: seals, seeds, deck, every state and move.
    What it costs to read the events from their bytes is reported apart, as `read_kozel`.
    """
    file = json.loads(KOZEL.read_bytes())
    raws = [raw.encode() for raw in file["events"]]
    server_seed = ServerSeed.from_hex(file["disclosed"]["server_seed"])
    discards = HandDisclosed.CODECS["discards"].read(file["disclosed"]["discards"])

    def read() -> list[Event]:
        return [parse_event(raw) for raw in raws]

    terms, *events = read()
    assert isinstance(terms, TableOpened)

    def work() -> Dealing:
        table, dealing = Table.open(terms), None
        for event in events:
            table = table.apply(event)
            hand = table.hand
            assert hand is not None
            assert isinstance(event, HandEvent)
            dealing = dealing or Dealing(hand, server_seed, discards)
            dealing = dealing.after(hand, event)
        assert dealing is not None
        return dealing

    referee = work().referee
    if referee is None or not isinstance(referee.play.due, Close):
        raise SystemExit("the hand to replay was not played to its end")
    bulk, ours, reading = minima([bulk_hash, work, read], rounds=600)
    floor = floor_of(bulk)
    report("replay_kozel", ours / floor, "floors", 200, events=len(raws))
    report("read_kozel", reading / floor, "floors", None, bytes=sum(map(len, raws)))


def main() -> None:
    """All."""
    derive()
    verify_hand()
    replay_kozel()
