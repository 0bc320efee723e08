"""One lance of Mus: who speaks, who answers, and how the bet stands."""

from collections.abc import Mapping
from typing import Any

from fairdeal_verifier.play.base import is_number

SEATS = 4
LEAST_BET = 2
PASO, ACCEPTED, REFUSED, ORDAGO, UNCONTESTED = (
    "paso",
    "accepted",
    "refused",
    "ordago",
    "uncontested",
)


class Lance:
    """A lance, and in the end who got what for it.

    Attributes:
        name: As in MUS-14.
        speakers: The seats that speak in it, in speaking order.
        waiting: Those who are still to speak, or to answer, in turn.
        bettor: Who made the last bet.
        level: What the bet stands at.
        agreed: What it stood at before its last raise.
        is_ordago: The last bet is an ordago.
        end: How it ended, or "".
        seat: Whose hand was the best, once it was counted.
        team: Who got its points.
        stake: Points of the bet.
        bonus: Points of the cards.
    """

    def __init__(self, name: str, speakers: list[int], ruleset: Mapping[str, Any]) -> None:
        """Opens without a bet; if only one team speaks it ends at once. Spec: MUS-15, MUS-16."""
        self.name = name
        self.speakers = speakers
        self.bettor: int | None = None
        self.level = 0
        self.agreed = 0
        self.is_ordago = False
        is_contested = len({seat % 2 for seat in speakers}) > 1
        self.waiting = list(speakers) if is_contested else []
        self.end = "" if is_contested else UNCONTESTED
        self.seat: int | None = None
        self.team: int | None = None
        self.stake = 0
        self.bonus = 0
        self._ruleset = ruleset

    def called(self, seat: int, call: str, amount: int | None) -> str:
        """Follows a call, as long as the lance has not ended. Spec: MUS-16, MUS-17, MUS-18."""
        fault = self._call_fault(seat, call) or self._amount_fault(seat, call, amount)
        if fault:
            return fault
        self.waiting.pop(0)
        if call in ("envido", "raise", "ordago"):
            self._bet(seat, amount)
        elif call == "quiero":
            self.waiting = []
            self.end = ORDAGO if self.is_ordago else ACCEPTED
        elif not self.waiting:
            self.end = PASO if self.bettor is None else REFUSED
        return ""

    def _call_fault(self, seat: int, call: str) -> str:
        """Spec: MUS-16, MUS-17."""
        is_open = self.bettor is None
        rule = "MUS-16" if is_open else "MUS-17"
        if seat != self.waiting[0]:
            return f"seat {seat} spoke where it was for seat {self.waiting[0]} to ({rule})"
        if is_open and call not in ("paso", "envido", "ordago"):
            return f"seat {seat} called what cannot be called before a bet ({rule})"
        if not is_open and call not in ("quiero", "no_quiero", "raise", "ordago"):
            return f"seat {seat} called what is no answer to a bet ({rule})"
        if self.is_ordago and call in ("raise", "ordago"):
            return f"seat {seat} went beyond an ordago ({rule})"
        if call == "ordago" and not self._ruleset["ordago"]:
            return f"seat {seat} called an ordago, which this table does not play ({rule})"
        return ""

    def _amount_fault(self, seat: int, call: str, amount: int | None) -> str:
        """Spec: MUS-18."""
        if call not in ("envido", "raise"):
            return "" if amount is None else f"seat {seat} named an amount for {call} (MUS-18)"
        most = int(self._ruleset["target"]) - self.level
        if self._ruleset["raises"] == "fixed2":
            most = min(most, LEAST_BET)
        if is_number(amount, LEAST_BET, most):
            return ""
        return f"seat {seat} bet an amount that may not be bet here (MUS-18)"

    def _bet(self, seat: int, amount: int | None) -> None:
        """Makes a bet, which is an ordago if it has no amount. Spec: MUS-17, MUS-18."""
        self.bettor = seat
        self.agreed = self.level
        self.is_ordago = amount is None
        self.level += amount or 0
        answering = ((seat + 1) % SEATS, (seat + 3) % SEATS)
        self.waiting = [one for one in answering if one in self.speakers]

    def won(self, lacking: int) -> int:
        """Gives the points of the bet, if it was not refused. Spec: MUS-20, MUS-22, MUS-24.

        Args:
            lacking: What the team with the best hand lacks to win the game.
        """
        if self.end == ORDAGO:
            return lacking
        if self.end == ACCEPTED:
            return self.level
        return 1 if self.end == PASO and self.name not in ("pares", "juego") else 0

    def entry(self) -> dict[str, Any]:
        """Gives what the result says of it. Spec: MUS-24."""
        return {
            "bonus": self.bonus,
            "end": self.end,
            "seat": self.seat,
            "stake": self.stake,
            "team": self.team,
        }
