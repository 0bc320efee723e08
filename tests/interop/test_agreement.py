"""Random hands made by the core: the verifier agrees, and notices every change."""

from __future__ import annotations

import os
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from unittest import mock

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fairdeal.ed25519 import is_on_curve, is_valid_point
from fairdeal.games import GAMES
from fairdeal_verifier import note as their_notes
from fairdeal_verifier.ed25519 import decode_point
from fairdeal_verifier.verify import verify
from seeds.hands import new_table
from tests.interop.conftest import KEY, SMALLEST, hand
from tests.interop.work import changed_bytes, mangled_files, random_hands


@pytest.mark.parametrize("part", range(4))
def test_random_hands_are_verified(part):
    assert random_hands(300 * part, 300 * part + 300) == (300, [])


@given(st.integers(0, 2**255 - 20), st.booleans())
@example(y=2, sign=False)  # no point has this y, and one has 3
@example(y=3, sign=True)
def test_which_keys_lie_on_the_curve(y, sign):
    """The core looks whether there is a square, and the verifier takes the root."""
    key = (y | sign << 255).to_bytes(32, "little")
    assert not is_valid_point(key) or is_on_curve(key) == (decode_point(key) is not None)


def test_unchanged_files_pass():
    """What is changed below is a file that passes."""
    for name in SMALLEST:
        assert verify(hand(name), key=KEY).exit == 0


def test_every_byte_counts():
    """Every byte of the smallest hand of each game, four values each."""
    with ProcessPoolExecutor(os.cpu_count(), mp_context=get_context("spawn")) as pool:
        jobs = [
            pool.submit(changed_bytes, name, start, start + 1000, 64)
            for name in SMALLEST
            for start in range(0, len(hand(name)), 1000)
        ]
        done = [job.result() for job in jobs]
    assert [wrong for _, wrong in done if wrong] == []
    assert sum(made for made, _ in done) == sum(4 * len(hand(name)) for name in SMALLEST) - sum(
        at % 64 == 63 for name in SMALLEST for at in range(len(hand(name)))
    )


def test_a_verifier_that_skips_the_signature_is_noticed():
    """The control: without one of its checks some changed files do pass."""
    name = SMALLEST[0]
    start = hand(name).index("— ".encode())
    with mock.patch.object(their_notes, "verify_signature", return_value=True):
        _, wrong = changed_bytes(name, start, len(hand(name)), 64)
    assert wrong


def test_mangled_files_never_pass_nor_raise():
    """VER-5, on 2,000 files."""
    assert mangled_files(0, 2000) == (2000, [])


def test_both_custodies_deal_the_same_deck():
    """Equal seeds and terms give byte-equal decks, in whatever portions the seeds come."""
    for game in sorted(GAMES):
        alone = new_table(game, "c0")
        together = new_table(game, "c0")
        for table, portions in ((alone, True), (together, False)):
            table.open_hand()
            if table.table.game.declares_trumps:
                for seat in (0, 1) if portions else ():
                    table.declare({seat: "HS"[seat]})
                if not portions:
                    table.declare({0: "H", 1: "S"})
            for step in (table.seal, table.open_seeds):
                seats = table.hand.table.contribute
                for seat in reversed(seats) if portions else ():
                    step((seat,))
                if not portions:
                    step()
        assert len(alone.events) > len(together.events)
        ours, theirs = alone.secrets.decks[0], together.secrets.decks[0]
        assert (ours.order, ours.salts, ours.root) == (theirs.order, theirs.salts, theirs.root)
