"""The chips of Azi: stacks, the bank, whose chips are in it, and how it is paid out."""

from collections.abc import Collection, Mapping
from typing import Any

from fairdeal_verifier.play.base import are_numbers, is_number, is_same, is_seat


class Bank:
    """The bank and the seats' stacks. Spec: AZI-5, AZI-6.

    Attributes:
        stacks: The chips of each seat.
        contributions: By seat, the chips in the bank that were its own; only seats that have some.
    """

    def __init__(self, match: Mapping[str, Any]) -> None:
        """Begins with what lies there before the hand."""
        self.stacks: list[int] = list(match["stacks"])
        self.contributions = {int(seat): chips for seat, chips in match["contributions"].items()}

    @property
    def chips(self) -> int:
        """How many chips are to be won."""
        return sum(self.contributions.values())

    def take(self, seat: int, chips: int) -> None:
        """Takes an ante, a bid or a buy-in from a seat that has as much."""
        if chips:
            self.stacks[seat] -= chips
            self.contributions[seat] = self.contributions.get(seat, 0) + chips

    def pay_out(self, paid: Mapping[int, int]) -> None:
        """Empties the bank."""
        for seat, chips in paid.items():
            self.stacks[seat] += chips
        self.contributions = {}


def by_seat(chips: Mapping[int, int]) -> dict[str, int]:
    """Writes chips by seat as JSON has them, without seats that have none."""
    return {str(seat): chips[seat] for seat in sorted(chips) if chips[seat]}


# Who gets what out of the bank, for a winner that is short. Spec: AZI-16.


def capped_shares(contributions: Mapping[int, int], winner: int) -> dict[int, int]:
    """Gives the winner at most its own contribution of each seat's, and the rest back."""
    most = contributions[winner]
    shares = {seat: max(0, chips - most) for seat, chips in contributions.items()}
    shares[winner] = sum(min(chips, most) for chips in contributions.values())
    return shares


def proportional_shares(
    contributions: Mapping[int, int], winner: int, active: Collection[int]
) -> dict[int, int]:
    """Gives the winner its part of the greatest contribution, and the others the rest by theirs.

    Args:
        contributions: Whose chips are in the bank.
        winner: Who has won the hand.
        active: The seats that have not folded; chips left by rounding go to these.
    """
    bank = sum(contributions.values())
    won = bank * contributions[winner] // max(contributions.values())
    rest, others = bank - won, bank - contributions[winner]
    shares = {
        seat: rest * chips // others for seat, chips in contributions.items() if seat != winner
    }
    shares[winner] = won
    takers = sorted(set(active) - {winner}) or [winner]
    for i in range(bank - sum(shares.values())):
        taker = takers[i % len(takers)]
        shares[taker] = shares.get(taker, 0) + 1
    return shares


# The match before a hand, which may be any JSON object.

_MEMBERS = frozenset(("bank", "contributions", "players", "stacks", "winner"))


def fresh_match(ruleset: Mapping[str, Any], seats: int) -> dict[str, Any]:
    """Gives the match before anybody has won or paid anything. Spec: AZI-5."""
    return {
        "bank": 0,
        "contributions": {},
        "players": list(range(seats)),
        "stacks": [ruleset["stack"]] * seats,
        "winner": None,
    }


def match_fault(ruleset: Mapping[str, Any], seats: int, match: Mapping[str, Any]) -> str:
    """Says why no hands can have led to this match. Spec: PLAY-2, AZI-19."""
    fault = _shape_fault(ruleset, seats, match)
    if fault:
        return fault
    if match["bank"]:
        return _carried_fault(ruleset, match)
    if match["winner"] is None:
        is_fresh = is_same(match, fresh_match(ruleset, seats))
        return "" if is_fresh else "nobody has won, and the match is not a fresh one (AZI-5)"
    if match["players"] != [seat for seat, chips in enumerate(match["stacks"]) if chips]:
        return "with no chips in the bank the players are not the seats that have chips (AZI-18)"
    if len(match["players"]) < 2:
        return "the match goes on although one seat has all chips (AZI-18)"
    if match["winner"] not in match["players"]:
        return "the last winner has no chips although no hand was played since (AZI-16)"
    return ""


def _shape_fault(ruleset: Mapping[str, Any], seats: int, match: Mapping[str, Any]) -> str:
    """Spec: AZI-5, AZI-19."""
    if match.keys() != _MEMBERS:
        return "the match does not have exactly the members of Azi (AZI-5)"
    total = seats * ruleset["stack"]
    bank, contributions, players = match["bank"], match["contributions"], match["players"]
    if not is_number(bank, 0, total) or not are_numbers(match["stacks"], seats, 0, total):
        return "the match's bank or stacks are not numbers of chips (AZI-5)"
    if bank + sum(match["stacks"]) != total:
        return "the stacks and the bank together are not the chips that there are (AZI-5)"
    names = frozenset(map(str, range(seats)))
    if not isinstance(contributions, dict) or not names.issuperset(contributions):
        return "the match's contributions are not by seat (AZI-5)"
    if not all(is_number(chips, 1, total) for chips in contributions.values()):
        return "a contribution is not a number of chips above 0 (AZI-5)"
    if sum(contributions.values()) != bank:
        return "the contributions together are not the bank (AZI-6)"
    if not isinstance(players, list) or not all(is_seat(one, seats) for one in players):
        return "the match's players are not seats (AZI-5)"
    if players != sorted(set(players)):
        return "the match's players do not ascend (AZI-5)"
    if match["winner"] is not None and not is_seat(match["winner"], seats):
        return "the match's winner is no seat (AZI-18)"
    return ""


def _carried_fault(ruleset: Mapping[str, Any], match: Mapping[str, Any]) -> str:
    """Says why no azi can have left this bank. Spec: AZI-6, AZI-17, AZI-19.

    The first hand of the chain was played by all seats that had chips, and each paid an ante.
    """
    stacks, winner, players = match["stacks"], match["winner"], match["players"]
    contributions = {int(seat): chips for seat, chips in match["contributions"].items()}
    for seat, chips in enumerate(stacks):
        paid = contributions.get(seat, 0)
        if chips and paid < ruleset["ante"]:
            return f"seat {seat} has chips and has not paid an ante into the bank (AZI-6)"
        if winner is None and chips + paid != ruleset["stack"]:
            return f"nobody has won, and seat {seat} has gained or lost chips (AZI-5)"
    if winner is not None and winner not in contributions:
        return "the last winner has paid nothing into the bank (AZI-6)"
    if len(players) < 3 or not contributions.keys() >= set(players):
        return "after azi there are not three players who have paid into the bank (AZI-17)"
    if ruleset["azi"] == "all_ante" and len(players) != len(contributions):
        return "after azi not all who have paid into the bank are players (AZI-17)"
    if ruleset["azi"] == "three_only" and len(players) != 3:
        return "after azi not only the three who took a trick are players (AZI-17)"
    return ""
