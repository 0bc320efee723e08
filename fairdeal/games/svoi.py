"""Svoi Kozyri ("Your trumps"): the dealing procedure. Spec: SVO."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from fairdeal.cards import Card, Deck, french_deck, rank_of, suit_of
from fairdeal.errors import StateError
from fairdeal.games.base import Game, Layout, Ruleset, Value
from fairdeal.values import changed


class Svoi(Game):
    """36 cards, two seats, eighteen each; both name their trumps before the deck can be known."""

    name: ClassVar[str] = "svoi"
    seats: ClassVar[tuple[int, ...]] = (2,)
    declares_trumps: ClassVar[bool] = True
    gives: ClassVar[bool] = True
    options: ClassVar[Mapping[str, tuple[Value, ...]]] = {
        "distinct_trumps": (True, False),
        "pack": (36,),
        "sixes": ("keep", "exchange"),
    }

    def deck(self, rules: Ruleset) -> Deck:
        """Four suits, six to ace."""
        return french_deck()

    def cards_each(self, rules: Ruleset) -> int:
        """Eighteen. Spec: SVO-2."""
        return 18

    def check_trumps(self, rules: Ruleset, trumps: Mapping[int, str]) -> None:
        """Two suits that differ, unless the ruleset lets them coincide. Spec: SVO-1."""
        if rules["distinct_trumps"] and len(set(trumps.values())) != len(trumps):
            raise StateError("trump_not_allowed", "the two trump suits differ at this table")

    def plays_by_showing(self, layout: Layout) -> bool:
        """With a referee a card shown lies on the pile, until it is picked up. Spec: PLAY-3."""
        return layout.refereed

    def take(self, layout: Layout, seat: int, count: int) -> Layout:
        """The top of the pile goes to a seat. Spec: PLAY-3."""
        if not layout.refereed or not 1 <= count <= len(layout.trick):
            raise StateError("wrong_event", "so many cards do not lie on the pile")
        taken = tuple([place for _, place in layout.trick[-count:]])
        after = layout.with_received(seat, layout.received[seat] + taken)
        return changed(after, trick=layout.trick[:-count], shown=layout.shown - frozenset(taken))

    def gift(
        self, rules: Ruleset, trumps: Mapping[int, str], source: int, card: Card
    ) -> int | None:
        """A six goes to the seat whose trump it is. Spec: SVO-3."""
        if rules["sixes"] != "exchange" or rank_of(card) != "6":
            return None
        suit, other = suit_of(card), 1 - source
        return other if trumps[other] == suit != trumps[source] else None
