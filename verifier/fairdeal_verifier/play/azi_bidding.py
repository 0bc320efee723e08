"""The bidding of Azi: who is asked, what a seat may call, who is short, and who leads."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from fairdeal_verifier.play.azi_bank import Bank

_RAISING = frozenset(("bet", "raise"))  # the calls that have an amount
_MOST_RAISES = 3


class Bidding:
    """One bidding, after the antes. Spec: AZI-9 to AZI-12.

    Attributes:
        active: The players that have not folded.
        folded: Those that have.
        short: The seats whose money did not suffice. Spec: AZI-12.
        turn: Who is on turn; None when the bidding is over.
    """

    def __init__(
        self, ruleset: Mapping[str, Any], bank: Bank, players: Iterable[int], first: int
    ) -> None:
        """Asks the first seat, if two have chips to bid with. Spec: AZI-9, AZI-12.

        Args:
            ruleset: Valid options.
            bank: The chips, after the antes.
            players: The seats that take part.
            first: The seat from which it goes round.
        """
        self.active = set(players)
        self.folded: set[int] = set()
        self.short = {seat for seat in self.active if not bank.stacks[seat]}
        self._ruleset = ruleset
        self._bank = bank
        self._first = first
        self._highest = 0
        self._bids: Counter[int] = Counter()
        self._calls: Counter[int] = Counter()
        self._raises: Counter[int] = Counter()
        self._raiser: int | None = None
        self._owing = self.active - self.short
        if len(self._owing) < 2:
            self._owing = set()
        self.turn = self._next_from(first)

    def _next_from(self, seat: int) -> int | None:
        owing = in_playing_order(self._owing, seat, len(self._bank.stacks))
        return owing[0] if owing else None

    @property
    def leader(self) -> int:
        """Who leads the first trick. Spec: AZI-12."""
        if self._raiser is not None:
            return self._raiser
        seats = self.active - self.short or self.active
        return in_playing_order(seats, self._first, len(self._bank.stacks))[0]

    def called(self, seat: int, call: str, amount: int | None) -> str:
        """Follows a call; gives "" or why it is not legal. Spec: AZI-9, AZI-10, AZI-11."""
        if self.turn is None:
            return f"seat {seat} called {call} when there was no bidding (AZI-9)"
        if seat != self.turn:
            return f"seat {seat} called {call} out of turn (AZI-9)"
        legal = self._legal_calls(seat)
        if call not in legal:
            return f"seat {seat} called {call} where it could only {' or '.join(legal)} (AZI-10)"
        if (amount is None) == (call in _RAISING):
            return (
                f"seat {seat} called {call} with{'out' if amount is None else ''} amount (AZI-10)"
            )
        if call == "raise" and self._has_raised_enough(seat):
            return f"seat {seat} raised once more than the ruleset allows (AZI-11)"
        most = self._all_of(seat)
        if amount is not None and not self._least <= amount <= most:
            return f"seat {seat} bid {amount}, not {self._least} to {most} chips (AZI-10)"
        self._make(seat, call, amount)
        return ""

    def _all_of(self, seat: int) -> int:
        """What the seat's bid would be with all its chips."""
        return self._bids[seat] + self._bank.stacks[seat]

    @property
    def _least(self) -> int:
        """What a bet or a raise has to be at least."""
        return max(int(self._ruleset["min_bet"]), self._highest + 1)

    def _legal_calls(self, seat: int) -> list[str]:
        """Lists what the seat may call, apart from the limit of raises. Spec: AZI-10."""
        everything = self._all_of(seat)
        if not self._highest:
            calls = ["bet" if everything >= self._least else "all_in"]
            return [*calls, "check"] if self._ruleset["opener"] == "may_check" else calls
        calls = ["fold", "call" if everything >= self._highest else "all_in"]
        return [*calls, "raise"] if everything >= self._least else calls

    def _has_raised_enough(self, seat: int) -> bool:
        """Spec: AZI-11."""
        counted = {
            "three_per_player": self._raises[seat],
            "three_total": self._raises.total(),
            "three_actions": self._calls[seat],
        }
        return counted[self._ruleset["raises"]] >= _MOST_RAISES

    def _make(self, seat: int, call: str, amount: int | None) -> None:
        self._calls[seat] += 1
        self._owing.discard(seat)
        if call == "fold":
            self.active.discard(seat)
            self.folded.add(seat)
        elif call == "call":
            self._bid(seat, self._highest)
        elif call == "all_in":
            self.short.add(seat)
            self._bid(seat, self._all_of(seat))
        elif amount is not None:
            self._raises[seat] += 1
            self._raiser = seat
            self._bid(seat, amount)
        self.turn = self._next_from(seat)

    def _bid(self, seat: int, bid: int) -> None:
        """Takes the chips; if the bid is the highest, all others are asked again. Spec: AZI-9."""
        self._bank.take(seat, bid - self._bids[seat])
        self._bids[seat] = bid
        if bid > self._highest:
            self._highest = bid
            for other in self.active - {seat}:
                (self._owing if self._bank.stacks[other] else self.short).add(other)


def in_playing_order(seats: Iterable[int], start: int, count: int) -> list[int]:
    """Lists seats as they sit, from one on, once round a table of this many seats."""
    return sorted(seats, key=lambda seat: (seat - start) % count)
