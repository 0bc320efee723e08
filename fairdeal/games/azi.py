"""Azi: the dealing procedure. Spec: AZI."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from fairdeal.cards import Deck, french_deck
from fairdeal.codecs import Place
from fairdeal.errors import StateError
from fairdeal.games.base import Game, Layout, Ruleset, Throw, Turned, Value
from fairdeal.values import changed


class Azi(Game):
    """27 cards of three suits, two to six seats, three or four cards each."""

    name: ClassVar[str] = "azi"
    seats: ClassVar[tuple[int, ...]] = (4, 2, 3, 5, 6)
    first_may_be_null: ClassVar[bool] = True
    showing_plays: ClassVar[bool] = True
    options: ClassVar[Mapping[str, tuple[Value, ...]]] = {
        "blind": (False, True),
        "cards": (3, 4),
        "six_on_stage": (True, False),
        "suits": ("DHS", "CDH", "CDS", "CHS"),
        "trump": ("next_card", "dealer_last"),
    }

    def deck(self, rules: Ruleset) -> Deck:
        """Three suits, six to ace."""
        return french_deck(str(rules["suits"]))

    def cards_each(self, rules: Ruleset) -> int:
        """Three or four."""
        return int(rules["cards"])

    def turned(self, rules: Ruleset, seats: int, first: int, indicator: int | None) -> Turned:
        """The trump card. Spec: AZI-1."""
        dealt = seats * self.cards_each(rules)
        if rules["trump"] == "next_card":
            return ((None, dealt),)
        return (((first - 1) % seats, dealt - 1),)

    def discard(self, rules: Ruleset, layout: Layout, counts: Mapping[int, int]) -> Layout:
        """With four cards each seat throws one, once, before anybody plays. Spec: AZI-2."""
        if rules["cards"] != 4:
            raise StateError("action_not_allowed", "nothing is discarded with three cards")
        if any(count != 1 for count in counts.values()):
            raise StateError("action_not_allowed", "each seat discards one card")
        if any(layout.thrown[seat] for seat in counts):
            raise StateError("not_your_turn", "each seat discards once")
        return layout.throw(tuple(Throw(seat, 0, 1) for seat in sorted(counts)))

    def show(self, rules: Ruleset, layout: Layout, seat: int, place: Place) -> Layout:
        """A card played. Spec: AZI-2, AZI-3."""
        if rules["cards"] == 4 and not all(_thrown(layout)):
            raise StateError("wrong_phase", "every seat discards before a card is played")
        if rules["blind"] and seat not in layout.looked:
            raise StateError("not_looked", "a seat looks at its cards before it plays one")
        return super().show(rules, layout, seat, place)

    def may_close(self, layout: Layout) -> bool:
        """Not when some seats have discarded and others have not."""
        return all(_thrown(layout)) or not any(layout.thrown)

    def look(self, rules: Ruleset, layout: Layout, seat: int) -> Layout:
        """A seat's cards may leave the service from now on. Spec: AZI-3."""
        if not rules["blind"] or seat in layout.looked:
            return super().look(rules, layout, seat)
        return changed(layout, looked=layout.looked | {seat}, fresh=False)


def _thrown(layout: Layout) -> list[int]:
    """How many discards each seat that takes part has made."""
    return [made for seat, made in enumerate(layout.thrown) if seat not in layout.out]
