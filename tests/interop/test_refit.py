"""Core and verifier judge changed hands alike: terms, seals, seeds, deal, cards, ending.

What changes here is not the play alone (that is `test_play`) but everything, and all that follows
from a change is made to follow: `refit` says how. The page is held to the same files in
`tests/page/test_verdicts.py`.

Spec: TBL-1, HAND-1..16, SIG-2, SEAL-1..2, games.md, VER-2.
"""

from __future__ import annotations

from collections import Counter
from importlib import import_module
from unittest import mock

import pytest

from fairdeal_verifier import ceremony, dealing, evidence, hand
from fairdeal_verifier.games.kozel import Kozel
from fairdeal_verifier.outcome import PASS, Check
from fairdeal_verifier.verify import verify
from seeds.local import Book
from tests.interop.refit import CHANGES, by_the_core, changed_hands, disagreement

verifying = import_module("fairdeal_verifier.verify")  # the package has a function of this name
KEY = str(Book("vectors.example/log").key.verifier)
HANDS = 45
"""Hands, each with eight changed files."""


@pytest.fixture(scope="module")
def files():
    return list(changed_hands(0, HANDS))


@pytest.fixture(scope="module")
def reports(files):
    return [verify(one.data, key=KEY) for one in files]


def test_core_and_verifier_agree(files, reports):
    pairs = zip(files, reports, strict=True)
    found = [disagreement(one, report.exit) for one, report in pairs]
    assert [one for one in found if one] == []


def test_what_is_not_changed_is_right(files, reports):
    for one, report in zip(files, reports, strict=True):
        if one.name.endswith("unchanged"):
            assert report.failed is None, one.name
            assert by_the_core(one).is_right, one.name


def test_the_files_reach_all_parts(files, reports):
    """Or the test above would say less than it seems to."""
    made = Counter(kind for one in files for kind in one.name.split()[1:])
    assert made.keys() - {"unchanged"} == CHANGES.keys()
    failed = Counter(str(report.failed).split(".")[0] for report in reports)
    assert failed.keys() >= {
        "None", "chain", "terms", "seal", "order", "shuffle", "first", "deal", "pick", "draw",
        "discard", "show", "play", "end", "seat",
    }  # fmt: skip
    # A change that is made to fit can be right, and many are.
    right = sum(one.name.split()[1:] != ["unchanged"] and report.exit == 0
                for one, report in zip(files, reports, strict=True))  # fmt: skip
    assert len(files) / 10 < right < len(files) / 2


def nothing(*_args, **_named):
    return ""


def passed(check_id):
    return lambda *_: Check(check_id, PASS)


@pytest.mark.parametrize(
    "without",
    [
        (ceremony.Ceremony, "aborted_fault", nothing),
        (ceremony.Ceremony, "closed_fault", nothing),
        (ceremony.Ceremony, "_speaks", lambda _, seat, done, *__: done.add(seat)),
        (verifying, "check_terms", passed("terms")),
        (hand.Replay, "_place_fault", nothing),
        (dealing.ReplayChecks, "_pick_first", passed("pick.first")),
        (evidence, "verify_signature", lambda *_: True),
        (Kozel, "draw_fault", nothing),
    ],
    ids=lambda without: f"{getattr(without[0], '__name__', '').split('.')[-1]} {without[1]}",
)
def test_control_a_verifier_without_a_check_is_found(files, reports, without):
    """The control: of the files that fail, the first that would not."""
    owner, name, instead = without
    with mock.patch.object(owner, name, instead):
        for one, report in zip(files, reports, strict=True):
            if report.exit == 1 and disagreement(one, verify(one.data, key=KEY).exit):
                return
    pytest.fail("no file shows that the check is gone")
