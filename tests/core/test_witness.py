"""Cosignatures, and how a witness judges. Spec: WIT-1..4."""

import base64
import hashlib
import json
import pickle
from contextlib import suppress
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given
from hypothesis import strategies as st

from fairdeal.errors import FairdealError, FormatError, VerificationError
from fairdeal.log.checkpoint import Checkpoint
from fairdeal.log.cosignature import CosigningKey, WitnessKey
from fairdeal.log.note import SigningKey, VerifierKey
from fairdeal.log.witness import MAX_BODY, Submission, judge
from fairdeal.merkle import EMPTY_ROOT, Tree, leaf_hash
from seeds.local import named

VECTORS = json.loads((Path(__file__).parents[2] / "seeds/witness.json").read_text("utf-8"))
LOG = SigningKey("deal.example/log", named("log"))
WITNESS = CosigningKey("witness.example/w1", named("witness"))
TREE = Tree(leaf_hash(b"%d" % n) for n in range(40))
LOGS = {LOG.name: (LOG.verifier,)}


def head(size, tree=TREE):
    return Checkpoint(LOG.name, size, tree.root(size))


def submission(old, size, tree=TREE):
    proof = tuple(tree.consistency_path(old, size)) if old else ()
    return Submission(old, proof, head(size, tree).sign(LOG))


def test_a_key_is_the_specification_s():
    """WIT-1, by hand."""
    public = Ed25519PrivateKey.from_private_bytes(named("witness")).public_key().public_bytes_raw()
    key_id = hashlib.sha256(b"witness.example/w1\n\x04" + public).digest()[:4]
    data = base64.b64encode(b"\x04" + public).decode()
    assert str(WITNESS.verifier) == f"witness.example/w1+{key_id.hex()}+{data}"
    assert WitnessKey.parse(str(WITNESS.verifier)) == WITNESS.verifier


def test_a_cosignature_is_the_specification_s():
    """WIT-2, by hand."""
    line = WITNESS.cosign(head(7), 1_764_450_000)
    name, data = line.removeprefix("— ").removesuffix("\n").split(" ")
    raw = base64.b64decode(data)
    assert name == "witness.example/w1"
    assert raw[:4] == WITNESS.verifier.id
    assert raw[4:12] == (1_764_450_000).to_bytes(8, "big")
    message = b"cosignature/v1\ntime 1764450000\n" + head(7).text().encode()
    public = Ed25519PrivateKey.from_private_bytes(named("witness")).public_key()
    public.verify(raw[12:], message)
    assert len(raw) == 76


def test_a_log_s_key_is_no_witness_s_nor_the_other_way_round():
    """WIT-1: the type byte keeps a checkpoint's signature and a cosignature apart."""
    with pytest.raises(FormatError):
        WitnessKey.parse(str(LOG.verifier))
    with pytest.raises(FormatError):
        VerifierKey.parse(str(WITNESS.verifier))
    same = CosigningKey(LOG.name, LOG.secret)
    assert same.verifier.id != LOG.verifier.id


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("w1+", "w2+"),
        lambda text: text[:-1],
        lambda text: "+" + text.split("+", 1)[1],
        lambda text: text.upper(),
        lambda text: text.split("+")[0],
        lambda text: text + "\n",
    ],
)
def test_a_malformed_key_is_refused(change):
    with pytest.raises(FormatError):
        WitnessKey.parse(change(str(WITNESS.verifier)))


def test_a_cosignature_is_found_among_others():
    other = CosigningKey("other.example", named("other"))
    lines = other.cosign(head(7), 5) + WITNESS.cosign(head(7), 3) + WITNESS.cosign(head(7), 4)
    found = WITNESS.verifier.find(head(7), lines)
    assert (found.time, found.line) == (4, WITNESS.cosign(head(7), 4))


def test_another_key_of_the_same_name_is_another_witness():
    """WIT-2: name and key id say whose line it is."""
    other = CosigningKey(WITNESS.name, named("other"))
    lines = other.cosign(head(7), 5) + WITNESS.cosign(head(7), 4)
    assert WITNESS.verifier.find(head(7), lines).time == 4
    assert other.verifier.find(head(7), lines).time == 5


def swap_a_bit(line, at):
    name, data = line.removeprefix("— ").removesuffix("\n").split(" ")
    raw = bytearray(base64.b64decode(data))
    raw[at] ^= 1
    return f"— {name} {base64.b64encode(raw).decode()}\n"


@pytest.mark.parametrize(
    "lines",
    [
        WITNESS.cosign(head(6), 9),
        swap_a_bit(WITNESS.cosign(head(7), 9), 11),
        swap_a_bit(WITNESS.cosign(head(7), 9), 12),
        swap_a_bit(WITNESS.cosign(head(7), 9), 75),
        WITNESS.cosign(head(7), 8) + swap_a_bit(WITNESS.cosign(head(7), 9), 70),
        CosigningKey("other.example", named("witness")).cosign(head(7), 9),
        CosigningKey("witness.example/w1", named("other")).cosign(head(7), 9),
        LOG.sign(head(7).text()).split("\n\n")[1],
        "",
    ],
    ids=["head", "time", "R", "S", "one of two", "name", "key", "log's", "none"],
)
def test_what_is_no_cosignature_of_this_witness_is_refused(lines):
    """WIT-2."""
    with pytest.raises(VerificationError):
        WITNESS.verifier.find(head(7), lines)


def test_a_time_beyond_the_last_is_refused():
    data = WITNESS.verifier.id + (2**63).to_bytes(8, "big") + bytes(64)
    with pytest.raises(VerificationError):
        WITNESS.verifier.find(head(7), f"— {WITNESS.name} {base64.b64encode(data).decode()}\n")
    for time in (-1, 2**63):
        with pytest.raises(ValueError, match="no time"):
            WITNESS.cosign(head(7), time)


def test_lines_that_are_none_are_refused():
    with pytest.raises(FormatError):
        WITNESS.verifier.find(head(7), "nothing of the kind\n" + WITNESS.cosign(head(7), 9))


def test_a_secret_does_not_get_out():
    assert WITNESS.secret.hex() not in repr(WITNESS)
    with pytest.raises(TypeError):
        pickle.dumps(WITNESS)
    with pytest.raises(FormatError):
        CosigningKey("a name", named("witness"))


@pytest.mark.parametrize("case", VECTORS["cosignatures"], ids=lambda case: str(case["time"]))
def test_vectors_of_cosignatures(case):
    key = WitnessKey.parse(VECTORS["witness_key"])
    log = VerifierKey.parse(VECTORS["log_key"])
    found = key.find(Checkpoint.open(case["checkpoint"], log), case["line"])
    assert found.time == case["time"]


@pytest.mark.parametrize("case", VECTORS["submissions"], ids=lambda case: case["case"])
def test_vectors_of_submissions(case):
    """WIT-3, WIT-4."""
    log = VerifierKey.parse(VECTORS["log_key"])
    held = Checkpoint(log.name, VECTORS["held"]["size"], bytes.fromhex(VECTORS["held"]["root"]))
    data = case["body"].encode()
    parsed = Submission.parse(data)
    assert parsed.encode() == data
    answer = judge(parsed, {log.name: (log,)}, {log.name: held})
    assert (answer.status, answer.size) == (case["status"], case["size"])


def test_the_vectors_have_every_status():
    statuses = {case["status"] for case in VECTORS["submissions"]}
    assert statuses == {200, 400, 403, 404, 409, 422}


@given(st.integers(0, 40), st.integers(0, 40), st.integers(0, 40))
def test_a_witness_signs_what_extends_its_head_and_nothing_else(mine, old, size):
    """WIT-4: all of it, by the sizes alone, for one honest log."""
    held = {LOG.name: head(mine)} if mine else {}
    sent = submission(old, size) if old <= size else Submission(old, (), head(size).sign(LOG))
    answer = judge(sent, LOGS, held)
    expected = 400 if old > size else 409 if old != mine else 200
    assert answer.status == expected
    assert answer.size == (mine if expected == 409 else None)
    assert answer.checkpoint == (head(size) if expected == 200 else None)


@given(st.integers(1, 39), st.integers(1, 40), st.data())
def test_a_witness_never_signs_another_history(mine, size, data):
    """WIT-4: a fork at any entry below what the witness holds is refused."""
    at = data.draw(st.integers(0, mine - 1))
    fork = Tree(leaf_hash(b"%d" % n if n != at else b"rewritten") for n in range(40))
    size = max(size, mine)
    answer = judge(submission(mine, size, fork), LOGS, {LOG.name: head(mine)})
    assert answer.status == (409 if size == mine else 422)
    # The control: what differs only above is extended.
    later = Tree(leaf_hash(b"%d" % n if n < mine else b"new") for n in range(40))
    assert judge(submission(mine, size, later), LOGS, {LOG.name: head(mine)}).status == 200


def test_an_empty_log_has_the_empty_root():
    note = Checkpoint(LOG.name, 0, EMPTY_ROOT).sign(LOG)
    assert judge(Submission(0, (), note), LOGS, {}).status == 200
    note = Checkpoint(LOG.name, 0, bytes(32)).sign(LOG)
    assert judge(Submission(0, (), note), LOGS, {}).status == 422


GOOD = submission(5, 9).encode()


@pytest.mark.parametrize(
    "body",
    [
        b"",
        GOOD.replace(b"old 5", b"old 05"),
        GOOD.replace(b"old 5", b"old -5"),
        GOOD.replace(b"old 5", b"size 5"),
        GOOD.replace(b"\n", b"\r\n"),
        GOOD.replace(b"old 5\n", b"old 5\nAA==\n"),
        GOOD.replace(b"old 5\n", b"old 5\n" + b"A" * 44 + b"\n" * 1),
        GOOD.replace(b"old 5\n", b"old 5\n" + (base64.b64encode(bytes(32)) + b"\n") * 64),
        b"old 0\n\n",
        GOOD + b"\xff",
        GOOD + b"x" * MAX_BODY,
    ],
)
def test_a_malformed_body_is_refused(body):
    """WIT-3."""
    with pytest.raises(FormatError):
        Submission.parse(body)


@pytest.mark.parametrize(
    "note",
    [
        "deal.example/log\n9\n",
        head(9).text(),
        head(9).sign(LOG).replace("\n9\n", "\n09\n"),
        head(9).sign(LOG).replace("\n\n", "\nextension\n\n"),
        head(9).sign(LOG)[:-1],
        "\n\n\n",
    ],
)
def test_a_malformed_checkpoint_is_refused(note):
    with pytest.raises(FormatError):
        judge(Submission(0, (), note), LOGS, {})


@given(st.binary(max_size=300))
def test_no_bytes_do_worse_than_a_format_error(data):
    for body in (data, b"old 0\n\n" + data, b"old 0\n\ndeal.example/log\n9\n" + data):
        with suppress(FairdealError):
            judge(Submission.parse(body), LOGS, {})
