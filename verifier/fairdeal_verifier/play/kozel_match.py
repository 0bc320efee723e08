"""The points of Kozel: what a game gives, and the match before a hand."""

from collections.abc import Mapping
from typing import Any

from fairdeal_verifier.play.base import are_numbers, is_same, is_seat
from fairdeal_verifier.play.kozel_trick import SEATS

HALF = 60
FEW = 30


def fresh_match() -> dict[str, Any]:
    """Gives the match before its first game. Spec: PLAY-2."""
    return {"defeat": [0, 0], "doubled": False, "eggs": False, "leader": None}


def match_fault(ruleset: Mapping[str, Any], match: Mapping[str, Any]) -> str:
    """Says why no games can have led to this match. Spec: PLAY-2, KOZ-20."""
    fresh = fresh_match()
    if match.keys() != fresh.keys():
        return "the match does not have exactly the members of Kozel (KOZ-19)"
    defeat, doubled, eggs = match["defeat"], match["doubled"], match["eggs"]
    if not are_numbers(defeat, 2, 0, ruleset["target"] - 1) or any(one % 2 for one in defeat):
        return "the match's defeat is not two even numbers below the target (KOZ-19)"
    if type(doubled) is not bool or type(eggs) is not bool:
        return "the match's doubled or eggs is neither true nor false (KOZ-19)"
    if match["leader"] is None:
        is_fresh = is_same(match, fresh)
        return "" if is_fresh else "a match that has begun names no leader (KOZ-19)"
    if not is_seat(match["leader"], SEATS):
        return "the match's leader is no seat (KOZ-19)"
    # The games so far: some was a loss or 60-60; after 60-60 the next counts double, unless it is
    # 60-60 again.
    doubles = ruleset["eggs"] == "double_next"
    if doubled and not (eggs and doubles):
        return "the next game counts double, and nothing has made it so (KOZ-19)"
    if not eggs and defeat == [0, 0]:
        return "no game was lost and none was 60-60, yet the match has begun (KOZ-19)"
    if eggs and doubles and not doubled and max(defeat) < 4:
        return "the game after 60-60 did not count double (KOZ-18)"
    return ""


def penalties(points: list[int], tricks: list[int], *, doubled: bool) -> list[int]:
    """Gives the defeat points of a game by team. Spec: KOZ-18."""
    penalty = [0, 0]
    for team in range(2):
        if points[team] < HALF:
            penalty[team] = 2 if points[team] > FEW else 4 if tricks[team] else 6
    return [2 * one if doubled else one for one in penalty]
