"""Azi."""

from collections.abc import Mapping
from typing import Any, ClassVar

from fairdeal_verifier.games.base import Discard, Game, deck_of


class Azi(Game):
    """Two to six seats, 27 cards of three suits, one card turned. Spec: AZI-1, AZI-2."""

    id = "azi"
    name = "Azi"
    seat_numbers = range(2, 7)
    options: ClassVar = {
        "blind": (False, True),
        "cards": (3, 4),
        "six_on_stage": (True, False),
        "suits": ("DHS", "CDH", "CDS", "CHS"),
        "trump": ("next_card", "dealer_last"),
    }
    types = frozenset(("cards.discarded", "cards.shown", "cards.looked"))
    said = frozenset(("play.called",))

    def __init__(self, ruleset: Mapping[str, Any], seats: int, hand: int) -> None:
        """Sets the table."""
        super().__init__(ruleset, seats, hand)
        self._looked: set[int] = set()
        self._locked: set[int] = set()

    @property
    def cards_each(self) -> int:
        """How many cards each seat is dealt."""
        return int(self.ruleset["cards"])

    def deck(self) -> list[str]:
        """Lists the three suits. Spec: AZI-1, SHUF-1."""
        return deck_of(self.ranks, self.ruleset["suits"])

    def dealt_fault(self, body: Mapping[str, Any]) -> str:
        """Spec: AZI-1."""
        if body["indicator"] is not None:
            return "an indicator is stated, and this game has none"
        after = self.seats * self.cards_each
        if self.ruleset["trump"] == "next_card":
            seat, position = None, after
        else:
            seat, position = (self.first - 1) % self.seats, after - 1
        shown = body["shown"]
        if len(shown) != 1 or shown[0]["seat"] != seat:
            return "the turned card is not shown as this ruleset says"
        if (shown[0]["epoch"], shown[0]["position"]) != (0, position):
            return "the turned card is not the one that the ruleset names"
        return ""

    def discard_fault(self, discards: list[Discard]) -> str:
        """Spec: AZI-2."""
        if self.cards_each == 3:
            return "nothing is thrown when three cards are dealt"
        if any(holding.shown for holding in self.holdings):
            return "a card was thrown after one had been shown"
        if any(one.count != 1 or one.seat in self._locked for one in discards):
            return "each seat throws one card, once"
        if any(one.seat in self.out for one in discards):
            return "a seat threw a card that does not take part"
        return ""

    def after_discard(self, discards: list[Discard]) -> None:
        """Notes who has thrown."""
        self._locked.update(one.seat for one in discards)
        self.half_locked = self._are_throws_missing()

    def _are_throws_missing(self) -> bool:
        """Says if a seat that takes part has not thrown yet."""
        return self.cards_each == 4 and not self._locked | self.out >= set(range(self.seats))

    def show_fault(self, seat: int) -> str:
        """Spec: AZI-2, AZI-3."""
        if self.ruleset["blind"] and seat not in self._looked:
            return f"seat {seat} showed a card without having looked at its cards"
        if self._are_throws_missing():
            return "a card was shown before every seat had thrown one"
        return ""

    def look(self, seat: int) -> str:
        """Follows `cards.looked`: only with `blind`, and once for each seat. Spec: AZI-3."""
        if not self.ruleset["blind"]:
            return "a seat looked at its cards later although the ruleset has no blind play"
        if seat in self._looked:
            return f"seat {seat} looked at its cards twice"
        self._looked.add(seat)
        return ""
