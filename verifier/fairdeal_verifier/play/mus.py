"""The play of Mus: the talk, the discards, four or five lances, and the count."""

from collections.abc import Mapping
from typing import Any, ClassVar

from fairdeal_verifier.play.base import (
    CLOSED,
    DECLARED,
    DRAWN,
    SHOWN,
    Deal,
    Play,
    are_numbers,
)
from fairdeal_verifier.play.mus_hands import bonus, strength
from fairdeal_verifier.play.mus_lance import ACCEPTED, ORDAGO, PASO, REFUSED, SEATS, Lance

CARDS = 4
LANCES = ("grande", "chica", "pares", "juego", "punto")


class MusPlay(Play):
    """One hand of Mus. Spec: MUS-6 to MUS-25.

    The talk and the discards come before the first lance, and `_is_throwing` tells them apart. The
    seats that are still to talk or to throw wait in `_waiting`; those of a lance wait there.
    """

    name = "Mus"
    throws_together = True
    options: ClassVar = {
        "games": (1, 3, 5),
        "kings": (8, 4),
        "ordago": (True, False),
        "punto": ("plus_one", "literal"),
        "raises": ("free", "fixed2"),
        "real31": (False, True),
        "target": (40, 30),
    }

    def __init__(self, ruleset: Mapping[str, Any], match: Mapping[str, Any], deal: Deal) -> None:
        """Begins with the talk. Spec: MUS-11."""
        super().__init__(ruleset, match, deal)
        self._hands = [list(hand) for hand in deal.hands]
        self._mano = deal.first
        self._waiting = self._speaking_order()
        self._is_throwing = False
        self._thrown: list[tuple[int, int]] = []  # this round's: seats, and how many cards
        self._owed: list[int] = []  # seats still to be served, in the order of service
        self._lances: list[Lance] = []
        self._to_declare = ""
        self._due = ""
        self._score: list[int] = list(match["score"])
        self._points = [0, 0]
        self._game_to: int | None = None  # the team that has won the game

    # The match.

    @classmethod
    def fresh(cls, ruleset: Mapping[str, Any], seats: int) -> dict[str, Any]:
        """Gives the match before the first hand. Spec: PLAY-2."""
        del ruleset, seats
        return {"games": [0, 0], "score": [0, 0]}

    @classmethod
    def match_fault(cls, ruleset: Mapping[str, Any], seats: int, match: Mapping[str, Any]) -> str:
        """Says why no match can be like this before a hand. Spec: PLAY-2, MUS-26."""
        del seats
        if match.keys() != {"games", "score"}:
            return "the match is not games and score (PLAY-2)"
        if not are_numbers(match["games"], 2, 0, ruleset["games"] // 2):
            return "the games of the match are not those of one that is still played (MUS-25)"
        if not are_numbers(match["score"], 2, 0, ruleset["target"] - 1):
            return "the score is not that of a game which is still played (MUS-25)"
        return ""

    # What may come next.

    @property
    def turn(self) -> frozenset[int]:
        """Gives the seat on turn. Spec: PLAY-6."""
        waiting = self._lances[-1].waiting if self._lances else self._waiting
        return frozenset() if self._due else frozenset(waiting[:1])

    @property
    def due(self) -> str:
        """Gives the event that has to come next, or "". Spec: PLAY-4."""
        return self._due

    def _speaking_order(self) -> list[int]:
        return [(self._mano + i) % SEATS for i in range(SEATS)]

    # The talk and the discards.

    def called(self, seat: int, call: str, amount: int | None) -> str:
        """Follows a call, in the talk or in a lance. Spec: MUS-11, MUS-16, MUS-17."""
        fault = self._due_fault("play.called")
        if fault:
            return fault
        if self._is_throwing:
            return f"seat {seat} called in a round of discards (MUS-13)"
        if not self._lances:
            return self._talk(seat, call, amount)
        lance = self._lances[-1]
        fault = lance.called(seat, call, amount)
        if lance.end:
            self._after(lance)
        return fault

    def _talk(self, seat: int, call: str, amount: int | None) -> str:
        """Spec: MUS-11, MUS-12."""
        if seat != self._waiting[0]:
            return f"seat {seat} talked where it was for seat {self._waiting[0]} to (MUS-11)"
        if call not in ("mus", "no_mus"):
            return f"seat {seat} called neither mus nor no_mus in the talk (MUS-11)"
        if amount is not None:
            return f"seat {seat} named an amount in the talk (MUS-11)"
        self._waiting.pop(0)
        if call == "no_mus":
            if self._is_corrido():
                self._mano = seat
            self._tell("story.mus.mano", seat=self._mano)
            self._begin("grande", self._speaking_order())
        elif not self._waiting:
            self._is_throwing = True
            self._waiting = self._speaking_order()
        return ""

    def _is_corrido(self) -> bool:
        return bool(self.ruleset["mus_corrido"]) and self.deal.hand == 1

    def thrown(self, seat: int, cards: list[str]) -> str:
        """Follows a discard. Spec: MUS-13."""
        if self._due or not self._is_throwing:
            return f"seat {seat} threw cards outside of a round of discards (MUS-13)"
        if seat != self._waiting[0]:
            return f"seat {seat} threw cards where it was for seat {self._waiting[0]} to (MUS-13)"
        if not 1 <= len(cards) <= CARDS or len(set(cards)) != len(cards):
            return f"seat {seat} did not throw one to four different cards (MUS-13)"
        if not set(cards) <= set(self._hands[seat]):
            return f"seat {seat} threw a card that it did not hold (MUS-13)"
        self._hands[seat] = [card for card in self._hands[seat] if card not in cards]
        self._waiting.pop(0)
        self._thrown.append((seat, len(cards)))
        if not self._waiting:
            self._owed = self._service()
            self._due = DRAWN
        return ""

    def _service(self) -> list[int]:
        """Lists who gets a card, in the order of service. Spec: MUS-2."""
        one_by_one = self.ruleset["service"] == "one_by_one_if_all_four"
        if one_by_one and all(count == CARDS for _, count in self._thrown):
            return [seat for seat, _ in self._thrown] * CARDS
        return [seat for seat, count in self._thrown for _ in range(count)]

    def drawn(self, cards: list[tuple[int, str]]) -> str:
        """Follows a service, or the part of it that a reshuffle cuts off. Spec: MUS-13, MUS-12.

        Where the stock ends, and what becomes the new one, is for `draw.K` and `reshuffle.K`.
        """
        if self._due != DRAWN:
            return "cards were drawn although nobody was owed any (MUS-13)"
        if not cards or [seat for seat, _ in cards] != self._owed[: len(cards)]:
            return "the seats were not served what they were owed, in order (MUS-2)"
        for seat, card in cards:
            self._hands[seat].append(card)
        del self._owed[: len(cards)]
        if not self._owed:
            self._due = ""
            self._is_throwing = False
            self._thrown = []
            if self._is_corrido():
                self._mano = (self._mano + 1) % SEATS
            self._waiting = self._speaking_order()
        return ""

    # The lances.

    def _begin(self, name: str, speakers: list[int]) -> None:
        """Spec: MUS-14, MUS-15."""
        lance = Lance(name, speakers, self.ruleset)
        self._lances.append(lance)
        if lance.end:
            self._tell("story.mus.alone", lance=name, team=speakers[0] % 2)
            self._after(lance)

    def _after(self, lance: Lance) -> None:
        """Goes on after a lance. Spec: MUS-14, MUS-19, MUS-20, MUS-21."""
        if lance.end == REFUSED and lance.bettor is not None:
            lance.team = lance.bettor % 2
            lance.stake = max(1, lance.agreed)
            self._pay(lance, lance.stake)
        elif lance.end == ACCEPTED:
            self._tell("story.mus.accepted", lance=lance.name, n=lance.level)
        elif lance.end == ORDAGO:
            self._tell("story.mus.ordago", lance=lance.name)
        if self._game_to is not None:
            self._close()
        elif lance.end == ORDAGO or lance.name in ("juego", "punto"):
            self._due = SHOWN
        elif lance.name == "grande":
            self._begin("chica", self._speaking_order())
        else:
            self._due = DECLARED
            self._to_declare = "pares" if lance.name == "chica" else "juego"

    def declared(self, what: str, seats: list[int]) -> str:
        """Follows the declaration of pares or juego. Spec: MUS-14, MUS-15."""
        if self._due != DECLARED or what != self._to_declare:
            return "something was declared that was not to be declared (MUS-14)"
        having = [seat for seat in range(SEATS) if bonus(what, self._hands[seat], self.ruleset)]
        if seats != having:
            return f"the seats declared are not those that have {what} (MUS-14)"
        if having:
            self._due = ""
            self._begin(what, [seat for seat in self._speaking_order() if seat in having])
        elif what == "juego":
            self._due = ""
            self._begin("punto", self._speaking_order())
        else:
            self._to_declare = "juego"
        return ""

    def _pay(self, lance: Lance, points: int) -> None:
        """Gives points to the team of a lance. Spec: MUS-19, MUS-22."""
        team = lance.team or 0
        self._points[team] += points
        self._score[team] += points
        if points:
            how = "story.mus.refused" if lance.end == REFUSED else "story.mus.best"
            self._tell(how, lance=lance.name, team=team, n=points)
        if self._score[team] >= self.ruleset["target"]:
            self._game_to = team
            self._tell("story.mus.won", team=team, n=self._score[team])

    def _close(self) -> None:
        self._due = CLOSED
        a, b = self._score
        self._tell("story.mus.score", a=a, b=b)

    # The count.

    def shown(self, cards: list[tuple[int, str]]) -> str:
        """Follows the showing of all hands. Spec: MUS-21, PLAY-4.

        The order of one seat's cards is that of their places, which are not known here.
        """
        if self._due != SHOWN:
            return "cards were shown before the end of the lances (MUS-21)"
        held = [(seat, card) for seat, hand in enumerate(self._hands) for card in hand]
        are_in_order = [seat for seat, _ in cards] == [seat for seat, _ in held]
        if not are_in_order or sorted(cards) != sorted(held):
            return "the cards shown are not all that the four seats hold, seat by seat (MUS-21)"
        last = self._lances[-1]
        for lance in [last] if last.end == ORDAGO else self._lances:
            if self._game_to is None:
                self._count(lance)
        self._close()
        return ""

    def _count(self, lance: Lance) -> None:
        """Spec: MUS-10, MUS-20, MUS-22."""
        if lance.team is None:
            # Of equal hands the first is found, so the first in speaking order.
            lance.seat = max(
                lance.speakers,
                key=lambda seat: strength(lance.name, self._hands[seat], self.ruleset),
            )
            lance.team = lance.seat % 2
            lance.stake = lance.won(self.ruleset["target"] - self._score[lance.team])
        lance.bonus = self._bonus(lance, lance.team)
        # What a refused bet gave has been paid.
        self._pay(lance, lance.bonus + (0 if lance.end == REFUSED else lance.stake))

    def _bonus(self, lance: Lance, team: int) -> int:
        """Gives the points of a team's cards, and the one more in punto. Spec: MUS-22, MUS-23."""
        if lance.end == ORDAGO:
            return 0
        if lance.name == "punto":
            return int(self.ruleset["punto"] == "plus_one" and lance.end != PASO)
        return sum(bonus(lance.name, hand, self.ruleset) for hand in self._hands[team::2])

    def result(self) -> dict[str, Any]:
        """Gives what `hand.closed` must say. Spec: PLAY-5, MUS-24, MUS-25."""
        lances: dict[str, dict[str, Any] | None] = dict.fromkeys(LANCES)
        lances.update((lance.name, lance.entry()) for lance in self._lances)
        games, score, winner = list(self.match["games"]), list(self._score), None
        if self._game_to is not None:
            games[self._game_to] += 1
            if games[self._game_to] > self.ruleset["games"] // 2:
                winner = self._game_to
            else:
                score = [0, 0]
        return {
            "first": (self._mano + 1) % SEATS,
            "match": {"games": games, "score": score},
            "score": {"lances": lances, "mano": self._mano, "points": list(self._points)},
            "winner": winner,
        }
