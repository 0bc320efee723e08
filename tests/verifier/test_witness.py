"""`log.witness`: have the witnesses that the player trusts seen this log? Spec: WIT-10."""

import base64
import hashlib
import json
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from fairdeal_verifier import command, witness
from fairdeal_verifier.encoding import FormatError
from fairdeal_verifier.note import Checkpoint
from fairdeal_verifier.verify import verify
from fairdeal_verifier.witness import WitnessKey, shown_time
from tests.verifier import builder as B  # noqa: N812

VECTORS = json.loads((Path(__file__).parents[2] / "seeds/witness.json").read_text("utf-8"))


class Cosigner:
    """A witness, by the specification alone."""

    def __init__(self, name, secret=b"w"):
        self.name = name
        self._key = Ed25519PrivateKey.from_private_bytes(hashlib.sha256(secret).digest())
        typed = b"\x04" + self._key.public_key().public_bytes_raw()
        self.id = hashlib.sha256(name.encode() + b"\n" + typed).digest()[:4]
        self.vkey = f"{name}+{self.id.hex()}+{B.b64(typed)}"

    def line(self, receipt, time=1_764_450_000, change=lambda data: data):
        text = receipt.split("\n\n")[1] + "\n"
        signature = self._key.sign(f"cosignature/v1\ntime {time}\n{text}".encode())
        data = change(self.id + time.to_bytes(8, "big") + signature)
        return f"— {self.name} {B.b64(data)}\n"


ONE, TWO = Cosigner("w1.example"), Cosigner("w2.example", b"x")


@pytest.fixture(scope="module")
def hand():
    return B.azi()


def check(report):
    return next(one for one in report if one.id == "log.witness")


def judged(hand, receipts, witnesses=(ONE,), **more):
    report = verify(
        hand.file(), key=B.VKEY, receipts=receipts, witnesses=[w.vkey for w in witnesses], **more
    )
    return check(report).status, report.exit


def test_a_cosigned_receipt_passes(hand):
    receipt = hand.receipt(hand.sealed_head)
    report = verify(
        hand.file(), key=B.VKEY, receipts=[receipt + ONE.line(receipt)], witnesses=[ONE.vkey]
    )
    assert check(report).status == "PASS"
    assert check(report).values == "w1.example at 2025-11-29T21:00:00Z"
    assert report.exit == 0


def test_control_without_the_line_it_fails(hand):
    receipt = hand.receipt(hand.sealed_head)
    assert judged(hand, [receipt]) == ("FAIL", 1)


def test_each_witness_has_to_have_cosigned(hand):
    receipt = hand.receipt(hand.sealed_head)
    only_one = receipt + ONE.line(receipt)
    both = only_one + TWO.line(receipt)
    assert judged(hand, [only_one], (ONE, TWO)) == ("FAIL", 1)
    assert judged(hand, [both], (ONE, TWO)) == ("PASS", 0)
    assert judged(hand, [both], (TWO,)) == ("PASS", 0)


def test_another_key_of_the_same_name_is_another_witness(hand):
    """Spec: WIT-2. Its line is left alone; alone it is none."""
    other = Cosigner(ONE.name, b"other")
    receipt = hand.receipt(hand.sealed_head)
    assert judged(hand, [receipt + other.line(receipt) + ONE.line(receipt)])[0] == "PASS"
    assert judged(hand, [receipt + other.line(receipt)])[0] == "FAIL"


def test_one_of_several_receipts_is_enough(hand):
    plain, end = hand.receipt(hand.sealed_head), hand.receipt()
    assert judged(hand, [plain, end + ONE.line(end)]) == ("PASS", 0)


def test_not_asked_and_not_possible(hand):
    receipt = hand.receipt(hand.sealed_head)
    assert judged(hand, [receipt + ONE.line(receipt)], ()) == ("N/A", 0)
    assert judged(hand, []) == ("SKIP", 3)


def flip(at):
    def change(data):
        data = bytearray(data)
        data[at] ^= 1
        return bytes(data)

    return change


@pytest.mark.parametrize(
    "change", [flip(11), flip(12), flip(75), lambda d: d + b"\0", lambda d: d[:-1]],
    ids=["time", "R", "S", "long", "short"],
)  # fmt: skip
def test_a_bad_cosignature_fails_even_beside_a_good_one(hand, change):
    receipt = hand.receipt(hand.sealed_head)
    bad = ONE.line(receipt, change=change)
    assert judged(hand, [receipt + bad]) == ("FAIL", 1)
    assert judged(hand, [receipt + ONE.line(receipt) + bad]) == ("FAIL", 1)
    # The control: of a witness that nobody asked for, it is left alone.
    assert judged(hand, [receipt + bad + TWO.line(receipt)], (TWO,)) == ("PASS", 0)


def test_a_receipt_with_a_bad_cosignature_spoils_no_other(hand):
    receipt, end = hand.receipt(hand.sealed_head), hand.receipt()
    bad, good = receipt + ONE.line(receipt, change=flip(75)), end + ONE.line(end)
    for receipts in ([bad, good], [good, bad]):
        report = verify(hand.file(), key=B.VKEY, receipts=receipts, witnesses=[ONE.vkey])
        assert (check(report).status, report.exit) == ("PASS", 0)
        assert "not good" in check(report).values
    # The control: neither do two bad ones make a good one.
    assert judged(hand, [bad, end + ONE.line(end, change=flip(75))]) == ("FAIL", 1)
    assert judged(hand, [bad, end]) == ("FAIL", 1)


def test_a_line_that_is_repeated_is_looked_at_once(hand, monkeypatch):
    """VER-5: whoever gives a receipt can write the same line below it as often as there is room."""
    looked = []
    good = witness.verify_signature
    monkeypatch.setattr(witness, "verify_signature", lambda *a: looked.append(a) or good(*a))
    receipt = hand.receipt(hand.sealed_head)
    assert judged(hand, [receipt + 50 * ONE.line(receipt)]) == ("PASS", 0)
    assert len(looked) == 1
    # Control: other lines are looked at one by one, and one that is bad is still found.
    lines = "".join([ONE.line(receipt, time) for time in range(50)])
    assert judged(hand, [receipt + lines]) == ("PASS", 0)
    assert len(looked) == 51
    assert judged(hand, [receipt + lines + ONE.line(receipt, change=flip(20))]) == ("FAIL", 1)


def test_a_cosignature_of_another_head_fails(hand):
    receipt = hand.receipt(hand.sealed_head)
    other = B.receipt([b"another log"], 0)
    assert judged(hand, [receipt + ONE.line(other)]) == ("FAIL", 1)


def test_a_cosigned_receipt_that_fits_no_step_does_not_count(hand):
    entries = [*hand.entries(), b"an event of another hand"]
    foreign = B.receipt(entries, len(entries) - 1)
    mine = hand.receipt(hand.sealed_head)
    assert judged(hand, [mine, foreign + ONE.line(foreign)])[0] == "FAIL"


def test_a_cosigned_receipt_of_another_log_does_not_count(hand):
    receipt = hand.receipt(hand.sealed_head, signer="another")
    assert judged(hand, [receipt + ONE.line(receipt)])[0] == "FAIL"


def test_a_time_beyond_the_last_is_no_time(hand):
    receipt = hand.receipt(hand.sealed_head)
    assert judged(hand, [receipt + ONE.line(receipt, 2**63)]) == ("FAIL", 1)
    assert judged(hand, [receipt + ONE.line(receipt, 2**63 - 1)]) == ("PASS", 0)


def test_times_are_shown_whatever_they_are():
    assert shown_time(0) == "1970-01-01T00:00:00Z"
    assert shown_time(253_402_300_799) == "9999-12-31T23:59:59Z"
    assert shown_time(2**63 - 1) == f"{2**63 - 1} s after 1970"


@pytest.mark.parametrize(
    "text",
    [
        "",
        B.VKEY,
        ONE.vkey[:-1],
        ONE.vkey.replace("w1", "w2"),
        ONE.vkey.upper(),
        "a b" + ONE.vkey[10:],
        ONE.vkey + "\n",
        ONE.vkey.split("+")[0] + "+00000000+AAAA",
    ],
)
def test_what_is_no_key_of_a_witness_is_refused(text):
    with pytest.raises(FormatError):
        WitnessKey.parse(text)


@pytest.mark.parametrize("case", VECTORS["cosignatures"], ids=lambda case: str(case["time"]))
def test_vectors(case):
    key = WitnessKey.parse(VECTORS["witness_key"])
    checkpoint = Checkpoint.parse((case["checkpoint"] + case["line"]).split("\n"))
    assert key.times(checkpoint) == [case["time"]]
    without = Checkpoint.parse(case["checkpoint"].split("\n"))
    assert key.times(without) == []
    name, data = case["line"][2:-1].split(" ")
    raw = bytearray(base64.b64decode(data))
    raw[40] ^= 4
    bad = f"{case['checkpoint']}— {name} {B.b64(bytes(raw))}\n"
    assert key.times(Checkpoint.parse(bad.split("\n"))) is None


def test_the_command_line(hand, tmp_path, capsys):
    file, kept = tmp_path / "hand.fair.json", tmp_path / "kept.receipt"
    file.write_bytes(hand.file())
    receipt = hand.receipt(hand.sealed_head)
    kept.write_text(receipt + ONE.line(receipt), encoding="utf-8")
    given = [str(file), "--key", B.VKEY, "--receipt", str(kept)]
    assert command.main([*given, "--witness", ONE.vkey]) == 0
    assert command.main([*given, "--witness", ONE.vkey, "--witness", TWO.vkey]) == 1
    assert "log.witness" in capsys.readouterr().out
    assert command.main([*given, "--witness", B.VKEY]) == 2
    assert command.main(["--match", str(file), "--key", B.VKEY, "--witness", ONE.vkey]) == 2
