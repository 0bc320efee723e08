"""What a witness's answer means to the log. Spec: WIT-6, WIT-7."""

from __future__ import annotations

import hashlib

import pytest

from fairdeal.log.cosignature import CosigningKey
from fairdeal.log.witness import Submission
from fairdeal_api.witnessing.exchange import Head, Said, Witness
from tests.witness.stand import OneLog

LOG = OneLog()
KEY = CosigningKey("witness.example/w1", hashlib.sha256(b"w").digest())
SIZE = "text/x.tlog.size"


def head(size=9):
    return Head(LOG.head(size), LOG.head(size).sign(LOG.key), 0)


def witness(held=0):
    return Witness("http://w.example", KEY.verifier, held)


def take(one, at, status, text="", media="text/plain", newest=20):
    one.body(at, LOG.tree)
    return one.take(at, newest, status, media, text.encode())


def test_a_cosignature_is_kept():
    one, at = witness(5), head()
    assert take(one, at, 200, KEY.cosign(at.checkpoint, 7)) is None
    assert at.lines[str(KEY.verifier)].time == 7
    assert one.held == 9


@pytest.mark.parametrize("text", ["", "nothing\n", KEY.cosign(LOG.head(8), 7), "\udcff"])
def test_a_cosignature_that_does_not_fit_is_thrown_away(text):
    one, at = witness(5), head()
    one.body(at, LOG.tree)
    said = one.take(at, 20, 200, "text/plain", text.encode("utf-8", "surrogateescape"))
    assert said is Said.UNWILLING
    assert not at.lines
    assert one.held == 5


def test_what_is_asked_goes_from_the_size_held():
    one, at = witness(), head()
    assert Submission.parse(one.body(at, LOG.tree)).proof == ()
    assert take(one, at, 409, "5\n", SIZE) is Said.AGAIN
    sent = Submission.parse(one.body(at, LOG.tree))
    assert (sent.old, sent.proof) == (5, LOG.proof(5, 9))


def test_a_witness_ahead_of_the_log_is_a_conflict():
    """WIT-7, with its control: ahead of the head asked for, and not of the log."""
    assert take(witness(), head(), 409, "21\n", SIZE) is Said.CONFLICT
    assert take(witness(), head(), 409, "20\n", SIZE) is Said.PASSED
    assert take(witness(), head(), 409, "10\n", SIZE) is Said.PASSED


def test_another_root_at_one_size_is_a_conflict():
    one, at = witness(9), head()
    assert take(one, at, 409, "9\n", SIZE) is Said.CONFLICT


def test_no_proof_from_the_size_just_named_is_a_conflict():
    one, at = witness(), head()
    assert take(one, at, 409, "5\n", SIZE) is Said.AGAIN
    assert take(one, at, 422) is Said.CONFLICT


def test_a_first_422_only_makes_it_name_its_size():
    """The control: what was remembered may be wrong; what it says now is not."""
    one, at = witness(5), head()
    assert take(one, at, 422) is Said.AGAIN
    assert one.held == 0
    assert take(one, at, 422) is Said.UNWILLING
    one = witness(5)
    assert take(one, at, 409, "4\n", SIZE) is Said.AGAIN
    assert take(one, at, 200, KEY.cosign(at.checkpoint, 7)) is None
    assert take(one, at, 422) is Said.AGAIN  # an answer between: nothing was named just now


@pytest.mark.parametrize(
    ("status", "text", "media"),
    [
        (409, "5\n", "text/plain"),
        (409, "5", SIZE),
        (409, "05\n", SIZE),
        (409, "-1\n", SIZE),
        (409, "99999999999999999999999\n", SIZE),
        (409, "", SIZE),
        (409, "4\n", SIZE),
        (400, "", ""),
        (403, "", ""),
        (404, "", ""),
        (500, "", ""),
        (302, "", ""),
        (204, "", ""),
    ],
)
def test_anything_else_is_no_cosignature_and_no_conflict(status, text, media):
    one, at = witness(4), head()
    assert take(one, at, status, text, media) is Said.UNWILLING
    assert one.held == 4
    assert not at.lines


def test_a_size_that_is_no_answer_never_freezes_by_itself():
    one, at = witness(4), head()
    assert take(one, at, 409, "4\n", SIZE) is Said.UNWILLING  # asked from 4, for 9: nonsense
