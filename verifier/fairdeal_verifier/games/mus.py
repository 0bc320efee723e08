"""Mus."""

from collections.abc import Mapping
from typing import Any, ClassVar

from fairdeal_verifier.games.base import SPANISH_RANKS, Discard, Game, Place

SEATS = 4
MOST = 4


class Mus(Game):
    """Four seats, 40 Spanish cards, rounds of discards, and reshuffles. Spec: MUS-1 to MUS-5."""

    id = "mus"
    name = "Mus"
    seat_numbers = range(4, 5)
    options: ClassVar = {
        "first_mano": ("random",),
        "min_discard": (1,),
        "mus_corrido": (False, True),
        "reshuffle": ("all", "previous", "all_but_own_last"),
        "service": ("block", "one_by_one_if_all_four"),
    }
    types = frozenset(
        ("cards.drawn", "cards.discarded", "cards.shown", "seeds.opened", "stock.reshuffled")
    )
    said = frozenset(("play.called", "play.declared"))
    suits = "oceb"
    ranks = SPANISH_RANKS
    showing_plays = False

    def __init__(self, ruleset: Mapping[str, Any], seats: int, hand: int) -> None:
        """Sets the table."""
        super().__init__(ruleset, seats, hand)
        self._round = 0
        self._locked: list[Discard] = []  # this round's, in the order of locking
        self._owed: list[int] = []  # seats still to be served, in the order of service
        self._heap: list[Discard] = []  # of earlier rounds

    def _in_turn(self) -> list[int]:
        """Lists the seats that have not locked in this round, in turn. Spec: MUS-1."""
        corrido = self.ruleset["mus_corrido"] and self.hand == 1
        start = self.first + (self._round if corrido else 0)
        return [(start + i) % SEATS for i in range(len(self._locked), SEATS)]

    def discard_fault(self, discards: list[Discard]) -> str:
        """Spec: MUS-1, MUS-5."""
        if any(holding.shown for holding in self.holdings):
            return "cards were thrown after one had been shown"
        if {one.seat for one in discards} != set(self._in_turn()[: len(discards)]):
            return "the seats did not throw in turn from the round's first seat"
        if any(one.count > MOST for one in discards):
            return "more than four cards were thrown at once"
        return ""

    def after_discard(self, discards: list[Discard]) -> None:
        """When all four have locked, they are served. Spec: MUS-2."""
        turn = self._in_turn()
        if not turn:
            return
        known = [one for one in discards if one.seat in turn]
        self._locked.extend(sorted(known, key=lambda one: turn.index(one.seat)))
        self.half_locked = len(self._locked) < SEATS
        if self.half_locked:
            return
        order = [one.seat for one in self._locked]
        one_by_one = self.ruleset["service"] == "one_by_one_if_all_four"
        if one_by_one and all(one.count == MOST for one in self._locked):
            self._owed = order * MOST
        else:
            self._owed = [one.seat for one in self._locked for _ in range(min(one.count, MOST))]
        self._next_due()

    def _next_due(self) -> None:
        """Spec: MUS-3, HAND-12."""
        if self._owed:
            self.due = "cards.drawn" if self.stock else "seeds.opened"
            return
        self.due = ""
        self._heap.extend(self._locked)
        self._locked = []
        self._round += 1

    def draw_fault(self, seats: list[int]) -> str:
        """Spec: MUS-2, MUS-3."""
        if not self._owed:
            return "cards were drawn although nobody was owed any"
        if seats != self._owed[: len(self.stock)]:
            return "the seats were not served all that was owed, in the order of their discards"
        return ""

    def after_draw(self, count: int) -> None:
        """What is still owed waits for a reshuffle."""
        if self._owed:
            self._owed = self._owed[count:]
            self._next_due()

    def show_fault(self, seat: int) -> str:
        """Spec: MUS-5."""
        del seat
        return (
            "a card was shown while a round of discards was half locked" if self.half_locked else ""
        )

    def _split(self) -> tuple[list[Discard], list[Discard]]:
        """Says which discards a reshuffle takes, and which of this round it leaves. Spec: MUS-4."""
        kind = self.ruleset["reshuffle"]
        if kind == "previous":
            return self._heap, self._locked
        waiting = set(self._owed)
        if kind == "all_but_own_last" and len(waiting) == 1:
            kept = [one for one in self._locked if one.seat in waiting]
            return self._heap + [one for one in self._locked if one.seat not in waiting], kept
        return self._heap + self._locked, []

    def pool(self) -> tuple[int, list[Place] | None]:
        """Spec: MUS-4."""
        taken = self._split()[0]
        places: list[Place] = []
        for one in taken:
            if one.places is None:
                return sum(one.count for one in taken), None
            places.extend(one.places)
        return len(places), places

    def reshuffle(self, count: int) -> None:
        """Takes the pool off the heap. Spec: HAND-13."""
        self._heap, self._locked = [], self._split()[1]
        super().reshuffle(count)
        self._next_due()
