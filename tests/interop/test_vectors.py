"""Every vector, read by the core and by the verifier. Spec: every ID that has a vector."""

from __future__ import annotations

import hashlib
import hmac
import json
import subprocess
import sys
from itertools import pairwise

import pytest

from fairdeal.ed25519 import verify_signature
from fairdeal.errors import FormatError, VerificationError
from fairdeal.events import parse_event
from fairdeal.log.checkpoint import Checkpoint
from fairdeal.log.note import VerifierKey
from fairdeal.log.proof import Receipt
from fairdeal.log.tiles import parse_path
from fairdeal.merkle import verify_consistency
from fairdeal.table import Table
from fairdeal_verifier import ed25519 as their_ed25519
from fairdeal_verifier.texts import NOT_PROVED
from fairdeal_verifier.verify import verify
from seeds.generate import vectors
from tests.interop.conftest import INDEX, KEY, SEEDS, hand, load

VALID = [name for name, expected in INDEX.items() if expected["exit"] in (0, 3)]
CHECKS_WITHOUT_A_FORGERY = {"beacon", "seats"}
MATCHES = load("matches.json")


def test_vectors_are_what_the_core_gives():
    made = vectors()
    assert {name: (SEEDS / name).read_bytes() for name in made} == made


@pytest.mark.parametrize("name", INDEX)
def test_verdict(name):
    """VER-1..4: unreadable or not, the first check that fails, the exit code."""
    expected = INDEX[name]
    receipts = [(SEEDS / kept).read_text("utf-8") for kept in expected.get("receipts", [])]
    report = verify(
        (SEEDS / name).read_bytes(),
        key=KEY,
        receipts=receipts,
        witnesses=expected.get("witnesses", []),
        notes=(SEEDS / expected["notes"]).read_bytes() if "notes" in expected else None,
    )
    assert (report.exit, report.failed) == (expected["exit"], expected["failed"])
    assert report.verdict.startswith(expected["verdict"])
    checks = expected.get("checks", {})
    assert {check: report.status(check) for check in checks} == checks


@pytest.mark.parametrize("name", MATCHES)
def test_match(name):
    """PLAY-9, VER-7: the verdict of the files together, by the command."""
    expected = MATCHES[name]
    files = [str(SEEDS / file) for file in expected["files"]]
    done = subprocess.run(
        [sys.executable, "-m", "fairdeal_verifier", "--key", KEY, "--json", "--match", *files],
        capture_output=True,
        text=True,
        check=False,
    )
    report = json.loads(done.stdout)
    assert (done.returncode, report["failed"]) == (expected["exit"], expected["failed"])
    assert [file["report"]["exit"] for file in report["files"]] == [
        INDEX[file]["exit"] for file in expected["files"]
    ]


def test_every_game_has_a_match_and_a_lie_about_one():
    """Of the lies some fail although each of their files is right."""
    right = {name for name, expected in MATCHES.items() if expected["exit"] == 0}
    wrong = {
        name
        for name, expected in MATCHES.items()
        if expected["failed"] == "match"
        and not any(INDEX[one]["exit"] for one in expected["files"])
    }
    for names in (right, wrong):
        assert {name.partition("-")[0] for name in names} == {"azi", "kozel", "mus", "svoi"}


def test_every_check_has_a_forgery_that_fails_it_first():
    failed = {expected["failed"] for expected in INDEX.values()} - {None}
    kinds = {".".join(part for part in check.split(".") if not part.isdigit()) for check in failed}
    texts = {
        "format", "chain", "terms", "server.commitment", "seal", "order", "shuffle",
        "deck.cards", "deck.root", "first", "deal", "pick.first", "pick.indicator", "draw",
        "discard", "show", "reshuffle", "play", "end", "disclosure", "log.inclusion",
        "log.signature", "log.witness", "receipt", "seat.signature", "mine",
    }  # fmt: skip
    assert texts <= kinds | CHECKS_WITHOUT_A_FORGERY
    assert "chain.1.3" in failed


@pytest.mark.parametrize("name", ["kozel-short", "kozel-cut_off_fail", "mus-root_fail"])
def test_every_report_says_what_it_does_not_prove(name):
    """VER-6."""
    text = subprocess.run(
        [sys.executable, "-m", "fairdeal_verifier", "--key", KEY, str(SEEDS / f"{name}.fair.json")],
        capture_output=True,
        text=True,
        check=False,
    ).stdout
    assert NOT_PROVED
    assert all(str(line) in " ".join(text.split()) for line in NOT_PROVED)


def test_without_a_key_nothing_is_proved():
    for name in VALID:
        report = verify((SEEDS / name).read_bytes())
        assert report.exit == 3
        assert not report.verdict.startswith("VERIFIED")


@pytest.mark.parametrize("name", VALID)
def test_the_core_replays_each_valid_hand(name):
    events = [parse_event(raw.encode()) for raw in json.loads(hand(name[:-10]))["events"]]
    assert [event.digest for event in events[1:-1]] == [event.header.prev for event in events[2:]]
    if events[1].header.seq == 1:  # the first hand of its table can be replayed from its file
        table = Table.open(events[0])
        for event in events[1:]:
            table = table.apply(event)
        assert table.hand is not None
        assert table.hand.is_final == (events[-1].TYPE in ("hand.closed", "hand.aborted"))


def test_encoding_vectors():
    answers = load("encoding.json")
    for event in answers["valid"]:
        assert parse_event(event.encode()).raw == event.encode()
    for case in answers["invalid"]:
        with pytest.raises(FormatError):
            parse_event(case["event"].encode())


@pytest.mark.parametrize("case", load("ed25519.json")["cases"], ids=lambda case: case["case"])
def test_ed25519_edge_cases(case):
    """SIG-1: both implementations accept and refuse the same."""
    arguments = [bytes.fromhex(case[name]) for name in ("key", "message", "signature")]
    try:
        verify_signature(*arguments)
        ours = True
    except VerificationError:
        ours = False
    assert ours == case["valid"]
    assert their_ed25519.verify_signature(*arguments) == case["valid"]


def test_log_vectors():
    answers = load("log.json")
    key = VerifierKey.parse(answers["vkey"])
    for case in answers["receipts"]:
        receipt = Receipt.parse(case["receipt"])
        checkpoint = receipt.verify(answers["entries"][case["index"]].encode(), key)
        assert isinstance(checkpoint, Checkpoint)
        assert checkpoint.size == case["size"]
        with pytest.raises(VerificationError):
            receipt.verify(b"another entry", key)
    for case in answers["malformed"]:
        # Where it is the note's text that is wrong, the log's signature does not fit it either.
        with pytest.raises((FormatError, VerificationError)):
            Checkpoint.open(Receipt.parse(case["receipt"]).note, key)
    roots = [bytes.fromhex(root) for root in answers["roots"]]
    for case in answers["consistency"]:
        path = [bytes.fromhex(node) for node in case["path"]]
        verify_consistency(case["old"], roots[case["old"]], case["size"], roots[9], path)
    for tile in answers["tiles"]:
        assert parse_path(tile["path"])[:3] == (tile["level"], tile["index"], tile["width"])


def test_streams_are_rfc5869():
    """STREAM-1, by an expand step written here."""
    for case in load("hashing.json")["streams"]:
        info = b"fairdeal/1 " + case["name"].encode()
        key = bytes.fromhex(case["key"])
        blocks = [b""]
        for i in (1, 2):
            blocks.append(hmac.digest(key, blocks[-1] + info + bytes([i]), hashlib.sha256))
        assert b"".join(blocks).hex() == case["bytes"]


def test_tags_and_frames():
    """ENC-9, TAG-1."""
    cases = load("hashing.json")["framed"]
    for case in cases:
        parts = [b"fairdeal/1 " + case["tag"].encode(), *map(bytes.fromhex, case["fields"])]
        message = b"".join(len(part).to_bytes(4, "big") + part for part in parts)
        assert message.hex() == case["message"]
        assert hashlib.sha256(message).hexdigest() == case["hash"]
    tags = sorted(case["tag"] for case in cases)
    assert not any(later.startswith(earlier) for earlier, later in pairwise(tags))
