"""The play of the games that have a referee: one module a game, and one line here.

Spec: PLAY-1
"""

from collections.abc import Mapping
from typing import Any

from fairdeal_verifier.play.azi import AziPlay
from fairdeal_verifier.play.base import Deal, Play, in_one_form, is_same
from fairdeal_verifier.play.kozel import KozelPlay
from fairdeal_verifier.play.mus import MusPlay
from fairdeal_verifier.play.svoi import SvoiPlay

PLAYS: dict[str, type[Play]] = {
    "kozel": KozelPlay,
    "mus": MusPlay,
    "azi": AziPlay,
    "svoi": SvoiPlay,
}

__all__ = ["PLAYS", "Deal", "Play", "in_one_form", "is_same", "match_fault"]


def match_fault(
    play: type[Play],
    ruleset: Mapping[str, Any],
    seats: int,
    hand: int,
    match: Mapping[str, Any] | None,
) -> str:
    """Says why the match before a hand cannot be what it is said to be. Spec: PLAY-1, PLAY-2.

    Args:
        play: The play of the game.
        ruleset: Valid options.
        seats: How many seats there are.
        hand: The number of the hand.
        match: `hand.opened.match`.
    """
    if match is None:
        return "the hand is part of no match although the table has a referee (PLAY-1)"
    if hand == 1 and not is_same(match, play.fresh(ruleset, seats)):
        return "the table's first hand does not begin a fresh match (PLAY-2)"
    return play.match_fault(ruleset, seats, match)
