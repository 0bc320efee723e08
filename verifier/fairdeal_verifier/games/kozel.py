"""Kozel on four cards."""

from collections.abc import Mapping
from typing import Any, ClassVar

from fairdeal_verifier.games.base import Discard, Game, Place
from fairdeal_verifier.primitives import DealKey

FULL = 4
STOCK = range(16, 36)


class Kozel(Game):
    """Four seats, 36 cards, an indicator inside the stock. Spec: KOZ-1 to KOZ-7."""

    id = "kozel"
    name = "Kozel"
    seat_numbers = range(4, 5)
    options: ClassVar = {
        "discards": ("hidden", "open"),
        "indicator": ("interior", "all", "index10"),
        "indicator_place": ("stays", "bottom"),
    }
    types = frozenset(("cards.drawn", "cards.discarded", "cards.shown", "cards.returned"))
    has_indicator = True

    def __init__(self, ruleset: Mapping[str, Any], seats: int, hand: int) -> None:
        """Sets the table."""
        super().__init__(ruleset, seats, hand)
        self._played: list[tuple[int, Place]] = []  # since the deal or the last draw
        self._thrown: list[Discard] = []

    @property
    def _is_place_public(self) -> bool:
        """Spec: KOZ-3."""
        kind, place = self.ruleset["indicator"], self.ruleset["indicator_place"]
        return bool(place == "bottom" or kind == "index10")

    def _possible_places(self) -> range:
        kind = self.ruleset["indicator"]
        if kind == "index10":
            return range(26, 27)
        return STOCK if kind == "all" else STOCK[1:-1]

    def indicator_index(self, key: DealKey) -> int:
        """Gives the indicator's position. Spec: KOZ-1."""
        kind = self.ruleset["indicator"]
        if kind == "interior":
            return 17 + key.pick("indicator", 18)
        return 16 + (key.pick("indicator", 20) if kind == "all" else 10)

    def dealt_fault(self, body: Mapping[str, Any]) -> str:
        """Spec: KOZ-1, KOZ-3."""
        shown = body["shown"]
        if body["indicator"] is None:
            return "no indicator is stated"
        if not self._is_place_public:
            return "the indicator's place is shown before its time" if shown else ""
        if len(shown) != 1 or shown[0]["seat"] is not None:
            return "the indicator is not shown, alone and in nobody's hand"
        if shown[0]["epoch"] or shown[0]["position"] not in self._possible_places():
            return "the indicator is shown at a place where it cannot lie"
        if shown[0]["card"] != body["indicator"]:
            return "the card shown is not the indicator"
        return ""

    def after_deal(self, body: Mapping[str, Any], cards: list[str] | None) -> None:
        """Puts the indicator under the stock if it goes there. Spec: KOZ-2."""
        del cards
        shown = body["shown"]
        if self.ruleset["indicator_place"] == "bottom" and shown:
            place = (shown[0]["epoch"], shown[0]["position"])
            if place in self.stock:
                self.stock.remove(place)
                self.stock.append(place)

    def draw_fault(self, seats: list[int]) -> str:
        """Spec: KOZ-5."""
        sizes = {holding.size for holding in self.holdings}
        if len(sizes) != 1 or max(sizes) >= FULL:
            return "cards were drawn although the seats did not all hold the same number below four"
        if not self.stock:
            return "cards were drawn although the stock was empty"
        due = min(4 * (FULL - max(sizes)), len(self.stock))
        if seats != [(seats[0] + i) % 4 for i in range(due)]:
            return "the seats did not draw in turn until all held four or the stock was empty"
        return ""

    def after_draw(self, count: int) -> None:
        """What lies on the table now can no longer be pulled back."""
        del count
        self._played.clear()
        self._thrown.clear()

    def discard_fault(self, discards: list[Discard]) -> str:
        """Spec: KOZ-4."""
        if self.ruleset["discards"] == "open":
            return "cards were thrown face down although the ruleset has them open"
        if any(one.count > FULL for one in discards):
            return "more than four cards were thrown at once"
        return ""

    def after_discard(self, discards: list[Discard]) -> None:
        """Notes them, for a pull."""
        self._thrown.extend(discards)

    def show(self, seat: int | None, place: Place) -> str:
        """Spec: KOZ-4, KOZ-7."""
        if seat is None or self.stock or any(holding.size for holding in self.holdings):
            return super().show(seat, place)
        # The count: the seats show what they had thrown face down.
        holding = self.holdings[seat]
        if place in holding.thrown:
            holding.thrown.discard(place)
        elif holding.hidden and place in holding.cards:
            holding.cards.discard(place)
            holding.hidden -= 1
        else:
            return f"seat {seat} showed a card at the count that it had not thrown"
        holding.shown.add(place)
        return ""

    def after_show(self, seat: int, place: Place) -> None:
        """Notes it, for a pull."""
        self._played.append((seat, place))

    def give_back(self) -> str:
        """Follows a pull. Spec: KOZ-6."""
        if not self._played and not self._thrown:
            return "cards went back although none had been shown or thrown since the last draw"
        fault = ""
        if max(holding.size for holding in self.holdings) < FULL:
            fault = "cards went back although no seat held the four that a pull takes"
        for seat, place in self._played:
            self.holdings[seat].cards.add(place)
        for one in self._thrown:
            holding = self.holdings[one.seat]
            if one.places is None:
                holding.hidden = max(0, holding.hidden - one.count)
            else:
                holding.thrown.difference_update(one.places)
                holding.cards.update(one.places)
        self._played.clear()
        self._thrown.clear()
        return fault
