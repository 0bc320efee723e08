"""Kozel with 4 cards: the dealing procedure. Spec: KOZ."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from fairdeal.cards import Deck, french_deck
from fairdeal.codecs import Place
from fairdeal.errors import StateError
from fairdeal.games.base import Game, Indicator, Layout, Ruleset, Throw, Turned, Value
from fairdeal.values import changed

_HAND = 4
_STOCK = 16


class Kozel(Game):
    """36 cards, four seats, four cards each; everyone draws up to four after each trick."""

    name: ClassVar[str] = "kozel"
    seats: ClassVar[tuple[int, ...]] = (4,)
    advances: ClassVar[bool] = True
    showing_plays: ClassVar[bool] = True
    options: ClassVar[Mapping[str, tuple[Value, ...]]] = {
        "discards": ("hidden", "open"),
        "indicator": ("interior", "all", "index10"),
        "indicator_place": ("stays", "bottom"),
    }

    def deck(self, rules: Ruleset) -> Deck:
        """Four suits, six to ace."""
        return french_deck()

    def cards_each(self, rules: Ruleset) -> int:
        """Four."""
        return _HAND

    def indicator(self, rules: Ruleset) -> Indicator:
        """A card of the stock. Spec: KOZ-1, KOZ-3."""
        bottom = rules["indicator_place"] == "bottom"
        if rules["indicator"] == "index10":
            return Indicator(_STOCK + 10, 1, drawn=False, public=True)
        if rules["indicator"] == "all":
            return Indicator(_STOCK, 20, drawn=True, public=bottom)
        return Indicator(_STOCK + 1, 18, drawn=True, public=bottom)

    def turned(self, rules: Ruleset, seats: int, first: int, indicator: int | None) -> Turned:
        """The indicator, where its place is public. Spec: KOZ-3."""
        return () if indicator is None else ((None, indicator),)

    def deal(
        self, rules: Ruleset, seats: int, first: int, hand: int, indicator: int | None
    ) -> Layout:
        """Four each; with `bottom` the indicator goes under the stock. Spec: KOZ-1, KOZ-2."""
        layout = super().deal(rules, seats, first, hand, indicator)
        if rules["indicator_place"] == "bottom" and indicator is not None:
            place = Place(0, indicator)
            rest = tuple([other for other in layout.stock if other != place])
            layout = changed(layout, stock=(*rest, place))
        return layout

    def draw(self, rules: Ruleset, layout: Layout, first: int) -> Layout:
        """Everyone draws up to four, one card a pass, the taker first. Spec: KOZ-5."""
        counts = set(layout.counts())
        held = min(counts)
        if len(counts) != 1 or held >= _HAND or not layout.stock:
            raise StateError("draw_not_due", "a draw follows a trick, while there is a stock")
        order = [(first + step) % len(layout.received) for step in range(len(layout.received))]
        owed = order * (_HAND - held)
        return changed(layout, owed=tuple(owed[: len(layout.stock)]))

    def discard(self, rules: Ruleset, layout: Layout, counts: Mapping[int, int]) -> Layout:
        """Cards thrown on a trick face down. Spec: KOZ-4."""
        if rules["discards"] != "hidden":
            raise StateError("action_not_allowed", "discards are open at this table")
        for seat, count in counts.items():
            if not 1 <= count <= min(_HAND, layout.count(seat)):
                raise StateError("not_in_holding", "a seat throws cards that it holds")
        return layout.throw(
            tuple(Throw(seat, layout.thrown[seat], counts[seat]) for seat in sorted(counts))
        )

    def show(self, rules: Ruleset, layout: Layout, seat: int, place: Place) -> Layout:
        """A card played face up, or, at the count, one of the seat's discards. Spec: KOZ-7."""
        if layout.stock or any(layout.counts()):
            return super().show(rules, layout, seat, place)
        if place not in layout.received[seat]:
            raise StateError("not_in_holding", "this is none of the seat's discards")
        # Its places leave `received` and the count of its discards together.
        down = _without_one(layout.down, seat)
        return layout.take(seat, place, down=down, shown=layout.shown | {place})

    def give_back(self, rules: Ruleset, layout: Layout) -> Layout:
        """A pull: the trick goes back. Spec: KOZ-6."""
        if not (layout.trick or layout.locked) or max(layout.counts()) < _HAND:
            raise StateError("not_due", "there is no trick that a seat with four cards could pull")
        back = layout
        for seat, place in layout.trick:
            back = back.with_received(seat, (*back.received[seat], place))
        return changed(
            back,
            down=tuple([throw for throw in layout.down if throw not in layout.locked]),
            heap=tuple([throw for throw in layout.heap if throw not in layout.locked]),
            shown=layout.shown - {place for _, place in layout.trick},
            trick=(),
            locked=(),
        )


def _without_one(down: tuple[Throw, ...], seat: int) -> tuple[Throw, ...]:
    """One card less among a seat's discards: which of them it was is not public."""
    for i, (owner, k, size) in enumerate(down):
        if owner == seat and size:
            return (*down[:i], Throw(owner, k, size - 1), *down[i + 1 :])
    return down
