"""Svoi Kozyri for two."""

from collections.abc import Mapping
from typing import Any, ClassVar

from fairdeal_verifier.games.base import Game, Place


class Svoi(Game):
    """Two seats, 36 cards, each seat its own trump. Spec: SVO-1, SVO-2, SVO-3, SVO-5."""

    id = "svoi"
    name = "Svoi Kozyri"
    seat_numbers = range(2, 3)
    options: ClassVar = {
        "distinct_trumps": (True, False),
        "pack": (36,),
        "sixes": ("keep", "exchange"),
    }
    types = frozenset(("cards.shown", "cards.given"))
    said = frozenset(("play.called",))
    declares = True
    showing_plays = False

    def __init__(self, ruleset: Mapping[str, Any], seats: int, hand: int) -> None:
        """Sets the table."""
        super().__init__(ruleset, seats, hand)
        self._order: list[str] | None = None
        self._due_sixes: list[tuple[int, Place]] | None = None  # None before disclosure
        self._is_first = True
        self._pile: list[Place] | None = None  # only a referee knows of it

    @property
    def cards_each(self) -> int:
        """All cards are dealt. Spec: SVO-2."""
        return 18

    def declaration_fault(self) -> str:
        """Spec: SVO-1."""
        if self.ruleset["distinct_trumps"] and len(set(self.trumps.values())) < len(self.trumps):
            return "both seats declared one suit"
        return ""

    def after_deal(self, body: Mapping[str, Any], cards: list[str] | None) -> None:
        """Finds the sixes that have to change hands. Spec: SVO-3."""
        del body
        self._order = cards
        if self.ruleset["sixes"] != "exchange" or len(self.trumps) != 2:
            self._due_sixes = []
        elif cards is not None:
            self._due_sixes = [
                (seat, place)
                for seat in (0, 1)
                for place in self.holdings[seat].cards
                if cards[place[1]] == "6" + self.trumps[1 - seat]
                and self.trumps[seat] != self.trumps[1 - seat]
            ]
            if self._due_sixes:
                self.due = "cards.given"

    def give(self, given: list[dict[str, Any]]) -> str:
        """Follows the exchange of sixes. Spec: SVO-3."""
        fault = "" if self._is_first else "sixes changed hands later than right after the deal"
        self._is_first = False
        self.due = ""
        stated = [(one["from"], (one["epoch"], one["position"])) for one in given]
        if self.ruleset["sixes"] != "exchange":
            fault = "sixes changed hands although the ruleset keeps them"
        elif self._due_sixes is not None and stated != self._due_sixes:
            fault = fault or "other cards changed hands than the sixes that had to"
        elif [seat for seat, _ in stated] != sorted({seat for seat, _ in stated}):
            fault = fault or "seat 0's six did not go first, or a seat gave two"
        for one in given:
            fault = self._give_one(one) or fault
        return fault

    def _give_one(self, one: dict[str, Any]) -> str:
        seat, to, place = one["from"], one["to"], (one["epoch"], one["position"])
        if to != 1 - seat or place not in self.holdings[seat].cards:
            return "a card was given by a seat that did not hold it, or to itself"
        self.holdings[seat].cards.discard(place)
        self.holdings[to].take(place)
        self.holdings[to].shown.add(place)
        suit = self.trumps.get(to)
        if one["card"] != f"6{suit}" or self.trumps.get(seat) == suit:
            return "a card was given that is not a six of the other seat's trump alone"
        return ""

    def follow(self, out: frozenset[int]) -> None:
        """Cards that are shown leave the holding for the pile. Spec: SVO-5."""
        super().follow(out)
        self.showing_plays = True
        self._pile = []

    def show(self, seat: int | None, place: Place) -> str:
        """Notes that the time of the exchange is over, and follows the card."""
        self._is_first = False
        return super().show(seat, place)

    def after_show(self, seat: int, place: Place) -> None:
        """Puts the card on the pile, if there is one. Spec: SVO-5."""
        del seat
        if self._pile is not None:
            self._pile.append(place)

    def call(self, seat: int, call: str, amount: int | None) -> None:
        """Takes the top cards of the pile. Spec: SVO-5, SVO-9."""
        self._is_first = False
        if call == "take" and amount and self._pile:
            start = max(0, len(self._pile) - amount)
            for place in self._pile[start:]:
                self.holdings[seat].take(place)
            del self._pile[start:]

    def exchange_fault(self) -> str:
        """Says if the sixes never changed hands. Spec: SVO-3."""
        return "the sixes that had to change hands did not" if self.due == "cards.given" else ""

    def may_exchange(self) -> bool:
        """Says if sixes may have to change hands."""
        return self.ruleset["sixes"] == "exchange" and len(set(self.trumps.values())) == 2
