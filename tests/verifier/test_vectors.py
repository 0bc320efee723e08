"""The published vectors: another implementation's answers."""

import json
from pathlib import Path

import pytest

from fairdeal_verifier.ed25519 import verify_signature
from fairdeal_verifier.encoding import FormatError, UnreadableError, are_in_one_form
from fairdeal_verifier.events import parse
from fairdeal_verifier.note import LogKey, Receipt
from fairdeal_verifier.primitives import (
    DealKey,
    SealedDeck,
    framed_hash,
    leaf_hash,
    message,
    root_by_path,
    shuffle,
    uniform,
)
from fairdeal_verifier.verify import verify

SEEDS = Path(__file__).parents[2] / "seeds"


def vectors(name: str):
    return json.loads((SEEDS / name).read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", sorted(vectors("index.json")))
def test_hand(name):
    expected = vectors("index.json")[name]
    report = verify(
        (SEEDS / name).read_bytes(),
        key=(SEEDS / "log.vkey").read_text(encoding="utf-8").strip(),
        receipts=[(SEEDS / one).read_bytes() for one in expected.get("receipts", [])],
        witnesses=expected.get("witnesses", []),
        notes=(SEEDS / expected["notes"]).read_bytes() if "notes" in expected else None,
    )
    assert (report.exit, report.failed) == (expected["exit"], expected["failed"])
    assert report.verdict.startswith(expected["verdict"])
    checks = expected.get("checks", {})
    assert {check: report.status(check) for check in checks} == checks


def test_signatures():
    for one in vectors("ed25519.json")["cases"]:
        key, data, signature = (bytes.fromhex(one[x]) for x in ("key", "message", "signature"))
        assert verify_signature(key, data, signature) == one["valid"], one["case"]


def test_hashing():
    for one in vectors("hashing.json")["framed"]:
        fields = [bytes.fromhex(x) for x in one["fields"]]
        assert message(one["tag"], *fields).hex() == one["message"]
        assert framed_hash(one["tag"], *fields).hex() == one["hash"]


def test_shuffles():
    cases = vectors("shuffle.json")
    for one in cases["orders"]:
        assert shuffle(DealKey(bytes.fromhex(one["key"])), one["deck"]) == one["order"]
    for one in cases["picks"]:
        assert DealKey(bytes.fromhex(one["key"])).pick(one["name"], one["m"]) == one["number"]
    for one in cases["uniform"]:
        script = list(bytes.fromhex(one["bytes"]))
        assert uniform(iter(script), one["m"]) == (one["number"], script)


def test_decks():
    for one in vectors("deck.json")["decks"]:
        deck = SealedDeck(DealKey(bytes.fromhex(one["key"])), one["epoch"], one["deck"])
        leaves = [
            f"{one['epoch']} {p} {card} {salt}"
            for p, (card, salt) in enumerate(zip(deck.order, deck.salts, strict=True))
        ]
        assert leaves == one["leaves"]
        assert deck.root.hex() == one["root"]
        for opening in one["openings"]:
            position = opening["position"]
            leaf = leaf_hash(leaves[position].encode())
            path = [bytes.fromhex(x) for x in opening["path"]]
            assert root_by_path(leaf, position, len(leaves), path) == deck.root


def is_event(text: str) -> bool:
    try:
        return are_in_one_form([text], [parse(text, 10).body])
    except (FormatError, UnreadableError):
        return False


def test_events():
    cases = vectors("encoding.json")
    assert all(is_event(text) for text in cases["valid"])
    assert [one["case"] for one in cases["invalid"] if is_event(one["event"])] == []


def test_receipts():
    cases = vectors("log.json")
    key = LogKey.parse(cases["vkey"])
    for one in cases["receipts"]:
        receipt = Receipt.parse(one["receipt"])
        assert receipt.checkpoint.is_signed_by(key)
        for index, entry in enumerate(cases["entries"]):
            assert receipt.includes(entry.encode()) == (index == one["index"])
    for one in cases["malformed"]:
        with pytest.raises(FormatError):
            Receipt.parse(one["receipt"])
