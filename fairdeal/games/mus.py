"""Mus: the dealing procedure. Spec: MUS."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from fairdeal.cards import Deck, spanish_deck
from fairdeal.codecs import Place
from fairdeal.errors import StateError
from fairdeal.games.base import Game, Layout, Ruleset, Throw, Value
from fairdeal.values import changed

_HAND = 4


class Mus(Game):
    """40 Spanish cards, four seats; rounds of discards, and reshuffles when the stock runs out."""

    name: ClassVar[str] = "mus"
    seats: ClassVar[tuple[int, ...]] = (4,)
    can_reshuffle: ClassVar[bool] = True
    advances: ClassVar[bool] = True
    options: ClassVar[Mapping[str, tuple[Value, ...]]] = {
        "first_mano": ("random",),
        "min_discard": (1,),
        "mus_corrido": (False, True),
        "reshuffle": ("all", "previous", "all_but_own_last"),
        "service": ("block", "one_by_one_if_all_four"),
    }

    def deck(self, rules: Ruleset) -> Deck:
        """Four suits, 1 to 7 and 10 to 12."""
        return spanish_deck()

    def cards_each(self, rules: Ruleset) -> int:
        """Four."""
        return _HAND

    def _turns(self, rules: Ruleset, layout: Layout) -> list[int]:
        """The seats in the order of this round. Spec: MUS-1."""
        start = layout.first
        if rules["mus_corrido"] and layout.hand == 1:
            start += layout.rounds
        seats = len(layout.received)
        return [(start + step) % seats for step in range(seats)]

    def discard(self, rules: Ruleset, layout: Layout, counts: Mapping[int, int]) -> Layout:
        """The next seats of the round lock their discards; after the last, service is due.

        Spec: MUS-1, MUS-2, MUS-5.
        """
        if layout.shown:
            raise StateError("wrong_phase", "once a card was shown nothing is discarded")
        turns = self._turns(rules, layout)
        done = len(layout.locked)
        now = turns[done : done + len(counts)]
        if set(now) != counts.keys():
            raise StateError("not_your_turn", "discards are locked in turn from the first seat")
        for count in counts.values():
            if not 1 <= count <= _HAND:
                raise StateError("action_not_allowed", "a discard has one to four cards")
        after = layout.throw(tuple(Throw(seat, layout.thrown[seat], counts[seat]) for seat in now))
        if len(after.locked) < len(turns):
            return after
        return changed(after, owed=_service(rules, after.locked))

    def served(self, layout: Layout) -> Layout:
        """The round is over."""
        return changed(layout, locked=(), rounds=layout.rounds + 1)

    def show(self, rules: Ruleset, layout: Layout, seat: int, place: Place) -> Layout:
        """A card shown, between rounds. Spec: MUS-5."""
        if layout.locked:
            raise StateError("wrong_phase", "cards are shown between rounds of discards")
        return super().show(rules, layout, seat, place)

    def pool(self, rules: Ruleset, layout: Layout) -> tuple[Throw, ...]:
        """The discards that become the new stock. Spec: MUS-4."""
        kept: tuple[Throw, ...] = ()
        if rules["reshuffle"] == "previous":
            kept = layout.locked
        elif rules["reshuffle"] == "all_but_own_last" and len(set(layout.owed)) == 1:
            kept = tuple([throw for throw in layout.locked if throw.seat == layout.owed[0]])
        return tuple([throw for throw in layout.heap if throw not in kept])

    def may_close(self, layout: Layout) -> bool:
        """Not in the middle of a round."""
        return not layout.locked


def _service(rules: Ruleset, locked: tuple[Throw, ...]) -> tuple[int, ...]:
    """Who gets a card, one after the other. Spec: MUS-2."""
    if rules["service"] == "one_by_one_if_all_four" and all(
        throw.size == _HAND for throw in locked
    ):
        return tuple([throw.seat for throw in locked] * _HAND)
    return tuple([throw.seat for throw in locked for _ in range(throw.size)])
