"""The play of Svoi Kozyri for two."""

from collections import Counter
from collections.abc import Mapping
from typing import Any, ClassVar

from fairdeal_verifier.games.base import FRENCH_RANKS
from fairdeal_verifier.play.base import (
    CLOSED,
    Deal,
    Play,
    are_numbers,
    is_number,
    rank_of,
    suit_of,
)

MOST_MOVES = 1000
MOST_OFTEN = 3


class SvoiPlay(Play):
    """One open pile; who is rid of all cards has won. Spec: SVO-4 to SVO-14."""

    name = "Svoi Kozyri"
    options: ClassVar = {"pick_up": ("voluntary", "strict"), "repetition": (0, 3)}

    def __init__(self, ruleset: Mapping[str, Any], match: Mapping[str, Any], deal: Deal) -> None:
        """Begins with an empty pile; `first` leads. Spec: SVO-4, SVO-5, SVO-6."""
        super().__init__(ruleset, match, deal)
        self._hands = [set(cards) for cards in deal.hands]
        self._pile: list[str] = []  # the top is last
        self._seat = deal.first
        self._moves = 0
        self._seen: Counter[object] = Counter()
        self._reason = ""
        self._winner: int | None = None
        self._is_third_time()

    # The match.

    @classmethod
    def fresh(cls, ruleset: Mapping[str, Any], seats: int) -> dict[str, Any]:
        """Gives the match before the first hand. Spec: PLAY-2."""
        del ruleset, seats
        return {"draws": 0, "wins": [0, 0]}

    @classmethod
    def match_fault(cls, ruleset: Mapping[str, Any], seats: int, match: Mapping[str, Any]) -> str:
        """Says why no match can be like this. Spec: PLAY-2, SVO-15."""
        del ruleset, seats
        if match.keys() != {"draws", "wins"}:
            return "the match has not exactly draws and wins (PLAY-2)"
        if not is_number(match["draws"]) or not are_numbers(match["wins"], 2):
            return "the draws and wins of the match are not numbers of hands (PLAY-2)"
        return ""

    # The moves.

    def shown(self, cards: list[tuple[int, str]]) -> str:
        """Follows a lead, or a beat with the card laid on it. Spec: SVO-4 to SVO-8."""
        seat, names = self._seat, [card for _, card in cards]
        hand = self._hands[seat]
        stranger = next((one for one, _ in cards if one != seat), None)
        if stranger is not None:
            return f"seat {stranger} showed a card when seat {seat} was on turn (SVO-4)"
        if len(set(names)) != len(names) or not hand.issuperset(names):
            return f"seat {seat} showed a card that it did not hold (SVO-5)"
        if not self._pile:
            if len(names) != 1:
                return f"seat {seat} led with {len(names)} cards (SVO-6)"
        else:
            if len(names) != min(2, len(hand)):
                return f"seat {seat} laid {len(names)} of {len(hand)} cards on the pile (SVO-8)"
            if not self._beats(seat, names[0], self._pile[-1]):
                return f"{names[0]} of seat {seat} does not beat {self._pile[-1]} (SVO-8)"
        hand.difference_update(names)
        self._pile.extend(names)
        self._moved()
        return ""

    def called(self, seat: int, call: str, amount: int | None) -> str:
        """Follows the taking of cards. Spec: SVO-4, SVO-9, SVO-10."""
        if seat != self._seat:
            return f"seat {seat} called {call} when seat {self._seat} was on turn (SVO-4)"
        if call != "take":
            return f"there is no call {call} (SVO-4)"
        if not self._pile:
            return f"seat {seat} took from an empty pile (SVO-6)"
        if self.ruleset["pick_up"] == "strict" and self._can_beat(seat):
            return f"seat {seat} took although it could beat (SVO-10)"
        count = self._to_take(seat)
        if amount != count:
            return f"seat {seat} took {amount} cards and not {count} (SVO-9)"
        taken = self._pile[-count:]
        del self._pile[-count:]
        self._hands[seat].update(taken)
        self._tell("story.takes", seat=seat, cards=taken)
        self._moved()
        return ""

    def _beats(self, seat: int, card: str, top: str) -> bool:
        """Says if a card beats the top of the pile to this seat. Spec: SVO-7."""
        if suit_of(card) == suit_of(top):
            return FRENCH_RANKS.index(rank_of(card)) > FRENCH_RANKS.index(rank_of(top))
        return suit_of(card) == self.deal.trumps.get(seat)

    def _can_beat(self, seat: int) -> bool:
        return any(self._beats(seat, card, self._pile[-1]) for card in self._hands[seat])

    def _to_take(self, seat: int) -> int:
        """Says how many cards a seat takes. Spec: SVO-9."""
        top, size = self._pile[-1], len(self._pile)
        if suit_of(top) != self.deal.trumps.get(seat):
            return min(3, size)
        return size if rank_of(top) == "A" else min(5, size)

    # The end.

    def _moved(self) -> None:
        """Passes the turn on, or ends the play. Spec: SVO-4, SVO-11, SVO-12, SVO-13."""
        mover, other = self._seat, 1 - self._seat
        self._moves += 1
        self._seat = other
        is_third_time = self._is_third_time()
        if not self._hands[mover]:
            if len(self._hands[other]) == 1 and self._can_beat(other):
                self._reason = "last_card"
            else:
                self._reason, self._winner = "out", mover
        elif is_third_time:
            self._reason = "repetition"
        elif self._moves == MOST_MOVES:
            self._reason = "limit"
        if self._winner is not None:
            self._tell("story.svoi.won", seat=mover)
        elif self._reason:
            self._tell(f"story.svoi.{self._reason}")

    def _is_third_time(self) -> bool:
        """Counts the position. Spec: SVO-12."""
        if self.ruleset["repetition"] == 0:
            return False
        position = (self._seat, *map(frozenset, self._hands), tuple(self._pile))
        self._seen[position] += 1
        return self._seen[position] == MOST_OFTEN

    @property
    def turn(self) -> frozenset[int]:
        """Gives the seat that has to lead, to beat or to take. Spec: SVO-4."""
        return frozenset() if self._reason else frozenset((self._seat,))

    @property
    def due(self) -> str:
        """Says if the play is over. Spec: SVO-11 to SVO-13."""
        return CLOSED if self._reason else ""

    def result(self) -> dict[str, Any]:
        """Gives the result of the hand. Spec: SVO-14."""
        draws, wins = self.match["draws"], list(self.match["wins"])
        if self._winner is None:
            draws += 1
        else:
            wins[self._winner] += 1
        return {
            "first": self.deal.first if self._winner is None else self._winner,
            "match": {"draws": draws, "wins": wins},
            "score": {
                "draw": self._winner is None,
                "left": [len(hand) for hand in self._hands],
                "reason": self._reason,
                "winner": self._winner,
            },
            "winner": None,
        }
