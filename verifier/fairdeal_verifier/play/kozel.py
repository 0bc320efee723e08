"""The play of Kozel: leads, beats and discards, pulls, draws, and the count."""

from collections.abc import Mapping
from typing import Any, ClassVar

from fairdeal_verifier.play import kozel_match
from fairdeal_verifier.play.base import CLOSED, DRAWN, SHOWN, Deal, Play, suit_of
from fairdeal_verifier.play.kozel_trick import FULL, SEATS, Laid, Trick


class KozelPlay(Play):
    """Four seats in two teams, tricks of one to four cards. Spec: KOZ-8 to KOZ-19."""

    name = "Kozel"
    options: ClassVar = {
        "eggs": ("none", "double_next"),
        "first_leader": ("dealer_left", "dealer"),
        "must_beat": (False, True),
        "pull": ("any_suit", "trumps_only", "off"),
        "target": (12, 6, 8, 10),
    }

    def __init__(self, ruleset: Mapping[str, Any], match: Mapping[str, Any], deal: Deal) -> None:
        """Begins the play; who leads is said by the match, else by the ruleset. Spec: KOZ-10."""
        super().__init__(ruleset, match, deal)
        self._hands = [set(hand) for hand in deal.hands]
        self._stock = deal.stock
        self._is_draw_due = False
        # Who leads the trick: after the first one, who took the one before.
        dealer = (deal.first + 3) % SEATS
        self._leader: int = deal.first if ruleset["first_leader"] == "dealer_left" else dealer
        if match["leader"] is not None:
            self._leader = match["leader"]
        self._trick = Trick(deal.trump_suit, self._leader)
        self._pulling: frozenset[int] = frozenset()  # cards went back; one of these shows its four
        # What the teams have, and what lies face down in tricks that are over.
        self._points = [0, 0]
        self._tricks = [0, 0]
        self._face_down: list[tuple[int, str]] = []

    # The match.

    @classmethod
    def fresh(cls, ruleset: Mapping[str, Any], seats: int) -> dict[str, Any]:
        """Gives the match before its first game. Spec: PLAY-2."""
        del ruleset, seats
        return kozel_match.fresh_match()

    @classmethod
    def match_fault(cls, ruleset: Mapping[str, Any], seats: int, match: Mapping[str, Any]) -> str:
        """Says why no games can have led to this match. Spec: PLAY-2, KOZ-20."""
        del seats
        return kozel_match.match_fault(ruleset, match)

    # The moves.

    def shown(self, cards: list[tuple[int, str]]) -> str:
        """Follows a lead, a pull, an answer face up, or the count. Spec: KOZ-8, KOZ-15."""
        if self.due == SHOWN:
            return self._show_discards(cards)
        seat, names = cards[0][0] if cards else -1, [card for _, card in cards]
        fault = self._due_fault(SHOWN)
        if not fault and any(one != seat for one, _ in cards):
            fault = "cards of several seats were shown as one move (KOZ-8)"
        fault = fault or self._holding_fault(seat, names)
        if fault:
            return fault
        if self._pulling:
            if seat not in self._pulling:
                return f"seat {seat} showed cards although it may not pull (KOZ-15)"
            return self._pull(seat, names)
        if self._trick.laid:
            return self._answer_open(seat, names)
        if seat == self._leader:
            return self._lead(seat, names)
        if seat not in self._who_may_pull():
            return f"seat {seat} is not the leader of the trick and may not pull (KOZ-14)"
        return self._pull(seat, names)

    def thrown(self, seat: int, cards: list[str]) -> str:
        """Follows an answer face down. Spec: KOZ-8, KOZ-11, KOZ-13."""
        if self.ruleset["discards"] != "hidden":
            return "cards were thrown face down although the ruleset has them open (KOZ-8)"
        fault = self._due_fault("cards.discarded") or self._holding_fault(seat, cards)
        if fault:
            return fault
        if self._pulling:
            return f"seat {seat} threw cards where only a pull could come (KOZ-15)"
        if not self._trick.laid:
            return f"seat {seat} threw cards in a trick that nobody had led (KOZ-10)"
        fault = self._answer_fault(seat, cards) or self._must_beat_fault(seat)
        if not fault:
            self._lay(Laid(seat, cards, "threw", is_face_down=True), is_best=False)
        return fault

    def returned(self) -> str:
        """Follows the first half of a pull into a trick that has begun. Spec: KOZ-15."""
        fault = self._due_fault("cards.returned")
        if fault:
            return fault
        if self._pulling:
            return "cards went back twice for one pull (KOZ-15)"
        if not self._trick.laid:
            return "cards went back although none lay in the trick (KOZ-15)"
        may_pull = self._who_may_pull()
        if not may_pull:
            return "cards went back although no seat might pull (KOZ-14)"
        self._pulling = may_pull
        for laid in self._trick.clear():
            self._hands[laid.seat].update(laid.cards)
        return ""

    def _holding_fault(self, seat: int, cards: list[str]) -> str:
        """Spec: KOZ-8."""
        if seat not in range(SEATS) or not cards:
            return "a move is not one of a seat, or has no cards (KOZ-8)"
        if len(set(cards)) != len(cards):
            return f"seat {seat} laid a card twice in one move (KOZ-8)"
        if not self._hands[seat].issuperset(cards):
            return f"seat {seat} laid a card that it did not hold (KOZ-8)"
        return ""

    def _lead(self, seat: int, cards: list[str]) -> str:
        """Spec: KOZ-10."""
        if len(set(map(suit_of, cards))) != 1:
            return f"seat {seat} led cards of several suits (KOZ-10)"
        self._lay(Laid(seat, cards, "led"), is_best=True)
        return ""

    def _answer_open(self, seat: int, cards: list[str]) -> str:
        """Follows a beat, or a discard at a table that has them open. Spec: KOZ-11, KOZ-13."""
        fault = self._answer_fault(seat, cards)
        if fault:
            return fault
        if self._trick.beats(cards):
            self._lay(Laid(seat, cards, "beat"), is_best=True)
            return ""
        if self.ruleset["discards"] == "hidden":
            return f"seat {seat} showed cards that do not beat (KOZ-11)"
        fault = self._must_beat_fault(seat)
        if not fault:
            self._lay(Laid(seat, cards, "threw"), is_best=False)
        return fault

    def _answer_fault(self, seat: int, cards: list[str]) -> str:
        """Says why it is not this seat that answers, with this many cards. Spec: KOZ-11."""
        if seat != self._trick.seat:
            return f"seat {seat} was not on turn (KOZ-11)"
        asked = len(self._trick.best)
        if len(cards) != asked:
            return f"seat {seat} answered {asked} cards with {len(cards)} (KOZ-11)"
        return ""

    def _must_beat_fault(self, seat: int) -> str:
        """Says if a seat discards that must beat. Spec: KOZ-13."""
        if self.ruleset["must_beat"] and self._trick.can_be_beaten(self._hands[seat]):
            return f"seat {seat} discarded though it could beat (KOZ-13)"
        return ""

    def _pull(self, seat: int, cards: list[str]) -> str:
        """Follows the four cards of a seat that may pull. Spec: KOZ-15."""
        if self._hands[seat] != set(cards):
            return f"seat {seat} pulled without showing its four cards (KOZ-15)"
        self._pulling = frozenset()
        self._trick.puller = seat
        self._lay(Laid(seat, cards, "pulled"), is_best=True)
        return ""

    def _who_may_pull(self) -> frozenset[int]:
        """Gives the seats that may pull, if nothing is due. Spec: KOZ-14."""
        return frozenset(
            seat
            for seat in range(SEATS)
            if self._has_a_pull(seat) and self._trick.may_be_pulled_by(seat)
        )

    def _has_a_pull(self, seat: int) -> bool:
        """Says if a seat has the cards for a pull. Spec: KOZ-14."""
        hand, allowed = self._hands[seat], self.ruleset["pull"]
        suits = set(map(suit_of, hand))
        if len(hand) != FULL or len(suits) != 1 or allowed == "off":
            return False
        return allowed == "any_suit" or suits == {self.deal.trump_suit}

    # The end of a trick, and of the game.

    def _lay(self, laid: Laid, *, is_best: bool) -> None:
        """Lays cards; the third answer ends the trick. Spec: KOZ-16."""
        self._hands[laid.seat].difference_update(laid.cards)
        self._trick.lay(laid, is_best=is_best)
        if not laid.is_face_down:  # that it was thrown is told already
            self._tell(f"story.kozel.{laid.deed}", seat=laid.seat)
        if self._trick.is_over:
            self._end_trick(self._trick)

    def _end_trick(self, trick: Trick) -> None:
        """Counts the trick; the taker leads the next one. Spec: KOZ-16, KOZ-18."""
        team, points = trick.taker % 2, trick.points
        self._points[team] += points
        self._tricks[team] += 1
        for laid in trick.laid:
            if laid.is_face_down:
                self._face_down += [(laid.seat, card) for card in laid.cards]
        self._tell("story.kozel.trick", n=sum(self._tricks), seat=trick.taker, points=points)
        self._leader = trick.taker
        self._trick = Trick(self.deal.trump_suit, self._leader)
        self._is_draw_due = self._stock > 0
        if self._is_over:
            self._tell_points()

    def drawn(self, cards: list[tuple[int, str]]) -> str:
        """Follows the draw after a trick, from the taker on. Spec: KOZ-16, KOZ-5."""
        if not self._is_draw_due:
            return "cards were drawn although no draw was due (KOZ-16)"
        lacking = sum(max(0, FULL - len(hand)) for hand in self._hands)
        due = [(self._leader + i) % SEATS for i in range(min(lacking, self._stock))]
        if [seat for seat, _ in cards] != due:
            return (
                "the seats did not draw one card a pass, from the taker on, until all held four"
                " or the stock was empty (KOZ-16)"
            )
        for seat, card in cards:
            self._hands[seat].add(card)
        self._stock -= len(cards)
        self._is_draw_due = False
        return ""

    def _show_discards(self, cards: list[tuple[int, str]]) -> str:
        """Follows the showing at the count; the order within a seat is by place. Spec: KOZ-17."""
        if len(cards) != len(self._face_down) or set(cards) != set(self._face_down):
            return "at the count not exactly the cards thrown face down were shown (KOZ-17)"
        if [seat for seat, _ in cards] != sorted(seat for seat, _ in cards):
            return "at the count the seats were not shown in ascending order (PLAY-4)"
        self._face_down = []
        return ""

    @property
    def _is_over(self) -> bool:
        return not self._stock and not any(self._hands)

    @property
    def due(self) -> str:
        """Gives the event that is due. Spec: KOZ-16, KOZ-17."""
        if self._is_draw_due:
            return DRAWN
        if self._is_over:
            return SHOWN if self._face_down else CLOSED
        return ""

    @property
    def turn(self) -> frozenset[int]:
        """Gives the seat that leads or answers. Spec: KOZ-10, KOZ-11, KOZ-15."""
        return frozenset() if self.due or self._pulling else frozenset((self._trick.seat,))

    def _tell_points(self) -> None:
        self._tell("story.kozel.points", a=self._points[0], b=self._points[1])
        for team in range(2):
            if self._penalty[team]:
                self._tell("story.kozel.defeat", team=team, n=self._penalty[team])
        if not any(self._penalty):
            self._tell("story.kozel.eggs")

    @property
    def _penalty(self) -> list[int]:
        doubled = self.match["doubled"]
        return kozel_match.penalties(self._points, self._tricks, doubled=doubled)

    def result(self) -> dict[str, Any]:
        """Gives the score, and the match after it. Spec: KOZ-18, KOZ-19."""
        penalty = self._penalty
        defeat = [before + one for before, one in zip(self.match["defeat"], penalty, strict=True)]
        are_eggs = self._points == [kozel_match.HALF] * 2
        below = [team for team in range(2) if defeat[team] < self.ruleset["target"]]
        return {
            "first": (self.deal.first + 1) % SEATS,
            "match": {
                "defeat": defeat,
                "doubled": are_eggs and self.ruleset["eggs"] == "double_next",
                "eggs": self.match["eggs"] or are_eggs,
                "leader": self._leader,
            },
            "score": {
                "penalty": penalty,
                "points": list(self._points),
                "tricks": list(self._tricks),
            },
            "winner": below[0] if len(below) == 1 else None,
        }
