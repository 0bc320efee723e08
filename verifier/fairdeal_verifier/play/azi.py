"""The play of Azi: throws, bidding, tricks, buying in, and who gets the bank."""

from collections.abc import Mapping
from typing import Any, ClassVar

from fairdeal_verifier.games.base import FRENCH_RANKS
from fairdeal_verifier.play import azi_bank
from fairdeal_verifier.play.azi_bank import Bank, by_seat
from fairdeal_verifier.play.azi_bidding import Bidding, in_playing_order
from fairdeal_verifier.play.base import CLOSED, Deal, Play, rank_of, suit_of

BUYING = frozenset(("buy_in", "stay_out"))
TO_WIN = 2
TRICKS = 3


class AziPlay(Play):
    """Two to six seats, three tricks, two of them win the bank. Spec: AZI-5 to AZI-18."""

    name = "Azi"
    throws_together = True
    options: ClassVar = {
        "all_in": ("capped", "proportional"),
        "ante": range(1, 1_000_001),
        "azi": ("all_ante", "half_bank", "three_only"),
        "min_bet": range(1, 1_000_001),
        "must_trump": (True, False),
        "opener": ("must_bet", "may_check"),
        "raises": ("three_per_player", "three_total", "three_actions"),
        "stack": range(1, 1_000_000_001),
    }

    def __init__(self, ruleset: Mapping[str, Any], match: Mapping[str, Any], deal: Deal) -> None:
        """Takes the antes. Spec: AZI-6."""
        super().__init__(ruleset, match, deal)
        self._players = frozenset(match["players"])
        self._bank = Bank(match)
        if not match["bank"] or ruleset["azi"] == "all_ante":
            for seat in self._players:
                self._bank.take(seat, min(ruleset["ante"], self._bank.stacks[seat]))
        self._hands = [set(hand) for hand in deal.hands]
        self._looked: set[int] = set()
        self._throwing = self._players if ruleset["cards"] == 4 else frozenset()
        self._bidding = Bidding(ruleset, self._bank, self._players, deal.first)
        # The tricks: who led the first, who won each, and the one on the table.
        self._trumps = deal.trump_suit
        self._is_six_on_stage = bool(
            ruleset["six_on_stage"] and deal.turned and rank_of(deal.turned) == "A"
        )
        self._leader: int | None = None
        self._tricks: list[int] = []
        self._laid: list[tuple[int, str]] = []
        self._order: list[int] = []  # who shows a card to the trick, in turn
        # The end: what is decided, and who is asked after azi, at which price.
        self._score: dict[str, Any] = {}
        self._winner: int | None = None
        self._asked: list[int] = []
        self._price = 0
        self._bought: list[int] = []
        self._begin_tricks()

    # The match.

    @classmethod
    def fresh(cls, ruleset: Mapping[str, Any], seats: int) -> dict[str, Any]:
        """Gives the match before its first hand. Spec: AZI-5."""
        return azi_bank.fresh_match(ruleset, seats)

    @classmethod
    def match_fault(cls, ruleset: Mapping[str, Any], seats: int, match: Mapping[str, Any]) -> str:
        """Says why no hands can have led to this match. Spec: PLAY-2, AZI-19."""
        return azi_bank.match_fault(ruleset, seats, match)

    @classmethod
    def sits_out(cls, match: Mapping[str, Any]) -> frozenset[int]:
        """Gives the seats that are dealt cards which nobody sees. Spec: AZI-5."""
        return frozenset(range(len(match["stacks"]))).difference(match["players"])

    # The moves.

    def _stranger_fault(self, seat: int) -> str:
        """Says if the seat can make no move at all. Spec: PLAY-3, AZI-5."""
        if self.due:
            return f"seat {seat} made a move where {CLOSED} was due (PLAY-3)"
        return "" if seat in self._players else f"seat {seat} takes no part in this hand (AZI-5)"

    def thrown(self, seat: int, cards: list[str]) -> str:
        """Follows the throw of the fourth card. Spec: AZI-7."""
        fault = self._stranger_fault(seat)
        if fault:
            return fault
        if seat not in self._throwing:
            return f"seat {seat} threw cards where it had none to throw (AZI-7)"
        if len(cards) != 1 or cards[0] not in self._hands[seat]:
            return f"seat {seat} did not throw one of its four cards (AZI-7)"
        self._hands[seat].remove(cards[0])
        self._throwing -= {seat}
        self._begin_tricks()
        return ""

    def looked(self, seat: int) -> str:
        """Follows a player's look at its cards, whoever is on turn. Spec: AZI-8."""
        fault = self._stranger_fault(seat)
        if fault:
            return fault
        if not self.ruleset["blind"]:
            return f"seat {seat} looked later although the ruleset has no blind play (AZI-8)"
        if seat in self._bidding.folded:
            return f"seat {seat} looked at its cards after it had folded (AZI-8)"
        if seat in self._looked:
            return f"seat {seat} looked at its cards twice (AZI-8)"
        self._looked.add(seat)
        return ""

    def called(self, seat: int, call: str, amount: int | None) -> str:
        """Follows a bid, or the answer of a seat that may buy in. Spec: AZI-9, AZI-17."""
        fault = self._stranger_fault(seat)
        if fault:
            return fault
        if self._asked:
            return self._buy(seat, call, amount)
        if self._throwing:
            return f"seat {seat} called {call} before all had thrown a card (AZI-7)"
        fault = self._bidding.called(seat, call, amount)
        if not fault:
            self._begin_tricks()
        return fault

    def shown(self, cards: list[tuple[int, str]]) -> str:
        """Follows a card played to a trick. Spec: AZI-13."""
        if len(cards) != 1:
            return "not one card of one seat was shown (AZI-13)"
        seat, card = cards[0]
        fault = self._stranger_fault(seat) or self._show_fault(seat, card)
        if fault:
            return fault
        self._hands[seat].remove(card)
        self._laid.append((seat, card))
        if len(self._laid) == len(self._order):
            self._end_trick()
        return ""

    # The tricks.

    def _begin_tricks(self) -> None:
        """Goes on when the throws and the bidding are over. Spec: AZI-13, AZI-15."""
        if self._throwing or self._bidding.turn is not None:
            return
        if len(self._bidding.active) == 1:
            self._win(*self._bidding.active)
        else:
            self._leader = self._bidding.leader
            self._order = self._round_from(self._leader)
            self._tell("story.azi.tricks", n=self._bank.chips, seat=self._leader)

    def _round_from(self, seat: int) -> list[int]:
        return in_playing_order(self._bidding.active, seat, self.deal.seats)

    def _show_fault(self, seat: int, card: str) -> str:
        """Spec: AZI-8, AZI-13."""
        if not self._order:
            return f"seat {seat} showed a card when there was no trick (AZI-13)"
        if seat not in self.turn:
            return f"seat {seat} showed a card out of turn (AZI-13)"
        if self.ruleset["blind"] and seat not in self._looked:
            return f"seat {seat} showed a card before it had looked at its cards (AZI-8)"
        if card not in self._hands[seat]:
            return f"seat {seat} showed a card that it did not hold (AZI-13)"
        if not self._laid:
            return ""
        held, led = set(map(suit_of, self._hands[seat])), suit_of(self._laid[0][1])
        if led in held and suit_of(card) != led:
            return f"seat {seat} did not follow suit though it could (AZI-13)"
        must_trump = self.ruleset["must_trump"] and led not in held and self._trumps in held
        if must_trump and suit_of(card) != self._trumps:
            return f"seat {seat} did not trump though it could (AZI-13)"
        return ""

    def _strength(self, card: str) -> tuple[bool, bool, bool, int]:
        """Ranks a card in the trick on the table. Spec: AZI-14."""
        suit, rank = suit_of(card), rank_of(card)
        is_trump = suit == self._trumps
        is_on_stage = self._is_six_on_stage and is_trump and rank == "6"
        is_led = suit == suit_of(self._laid[0][1])
        return is_on_stage, is_trump, is_led, FRENCH_RANKS.index(rank)

    def _end_trick(self) -> None:
        """Spec: AZI-14, AZI-15."""
        winner = max(self._laid, key=lambda one: self._strength(one[1]))[0]
        self._tricks.append(winner)
        self._tell("story.trick", n=len(self._tricks), seat=winner)
        self._laid = []
        self._order = self._round_from(winner)
        if self._tricks.count(winner) == TO_WIN:
            self._win(winner)
        elif len(self._tricks) == TRICKS:
            self._carry_over()

    # The end of the hand.

    def _decide(self, winner: int | None, paid: Mapping[int, int]) -> None:
        """Notes the score, before the bank changes. Spec: AZI-18."""
        self._order = []
        self._winner = winner
        self._score = {
            "azi": winner is None,
            "bank": self._bank.chips,
            "contributions": by_seat(self._bank.contributions),
            "folded": sorted(self._bidding.folded),
            "leader": self._leader,
            "paid": by_seat(paid),
            "tricks": list(self._tricks),
            "winner": winner,
        }

    def _win(self, winner: int) -> None:
        """Pays out the bank. Spec: AZI-16."""
        chips = self._bank.contributions
        if winner not in self._bidding.short:
            paid = {winner: self._bank.chips}
        elif self.ruleset["all_in"] == "capped":
            paid = azi_bank.capped_shares(chips, winner)
        else:
            paid = azi_bank.proportional_shares(chips, winner, self._bidding.active)
        self._decide(winner, paid)
        self._bank.pay_out(paid)
        self._tell("story.azi.won", seat=winner)
        for seat in sorted(paid):
            if paid[seat]:
                self._tell("story.azi.gets", seat=seat, n=paid[seat])

    def _carry_over(self) -> None:
        """Finds who is asked to buy in after azi. Spec: AZI-17."""
        self._decide(None, {})
        self._tell("story.azi.carried", n=self._bank.chips)
        self._price = self._bank.chips // 2
        if self.ruleset["azi"] == "half_bank":
            without = self._players.difference(self._tricks)
            able = [seat for seat in without if self._bank.stacks[seat] >= self._price]
            self._asked = in_playing_order(able, self.deal.first, self.deal.seats)

    def _buy(self, seat: int, call: str, amount: int | None) -> str:
        """Follows an answer of a seat that took no trick. Spec: AZI-17."""
        if seat not in self.turn:
            return f"seat {seat} called {call} where it was not asked to buy in (AZI-17)"
        if call not in BUYING:
            return f"seat {seat} called {call} where it could only buy in or stay out (AZI-17)"
        if amount is not None:
            return f"seat {seat} named an amount although the price is fixed (AZI-17)"
        self._asked.pop(0)
        if call == "buy_in":
            self._bank.take(seat, self._price)
            self._bought.append(seat)
        return ""

    @property
    def turn(self) -> frozenset[int]:
        """Gives the seats that throw, bid, show a card or are asked to buy in. Spec: PLAY-6."""
        if self._throwing:
            return self._throwing
        if self._bidding.turn is not None:
            return frozenset((self._bidding.turn,))
        if self._score:
            return frozenset(self._asked[:1])
        return frozenset((self._order[len(self._laid)],))

    @property
    def due(self) -> str:
        """Says when the hand is over. Spec: AZI-18."""
        return CLOSED if self._score and not self._asked else ""

    def result(self) -> dict[str, Any]:
        """Gives the score, and the match after the hand. Spec: AZI-17, AZI-18."""
        stacks = self._bank.stacks
        rich = [seat for seat, chips in enumerate(stacks) if chips]
        is_won = self._winner is not None
        last_winner = self._winner if is_won else self.match["winner"]
        if is_won:
            players = rich
        elif self.ruleset["azi"] == "all_ante":
            players = sorted({*rich, *self._bank.contributions})
        else:
            players = sorted((*self._tricks, *self._bought))
        return {
            "first": None if last_winner is None else (last_winner + 1) % self.deal.seats,
            "match": {
                "bank": self._bank.chips,
                "contributions": by_seat(self._bank.contributions),
                "players": players,
                "stacks": list(stacks),
                "winner": last_winner,
            },
            "score": {**self._score, "bought": sorted(self._bought)},
            "winner": rich[0] if is_won and len(rich) == 1 else None,
        }
