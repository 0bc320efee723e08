"""Azi: bidding for the lead, three tricks, the bank. Spec: AZI-5..18."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Literal, Self

from fairdeal.cards import FRENCH_RANKS, Card, rank_of, suit_of
from fairdeal.errors import StateError
from fairdeal.games.rules.base import (
    Choice,
    Close,
    Deal,
    Due,
    Json,
    Match,
    Move,
    Options,
    Play,
    RuleError,
    Rules,
    Span,
)
from fairdeal.values import changed

Part = Literal["throws", "bidding", "tricks", "buying", "over"]
Chips = tuple[int, ...]
"""Chips by seat."""
_Span = tuple[int, int] | None
"""The amounts of a call, both allowed; None if it has none."""

_MOST_RAISES: Final = 3
_MOST_TRICKS: Final = 3
_TO_WIN: Final = 2
_RANKS: Final = {rank: number for number, rank in enumerate(FRENCH_RANKS)}
_ABOVE_ALL: Final = len(FRENCH_RANKS)
_RULE_OF_PART: Final[Mapping[Part, str]] = {
    "throws": "AZI-7",
    "bidding": "AZI-9",
    "tricks": "AZI-13",
    "buying": "AZI-17",
    "over": "PLAY-3",
}


def replies(
    hand: tuple[Card, ...], led: str | None, trump: str, *, must_trump: bool
) -> tuple[Card, ...]:
    """The cards of a hand that may be shown to the suit led (None: it leads). Spec: AZI-13."""
    if led is None:
        return hand
    following = tuple([card for card in hand if suit_of(card) == led])
    if following:
        return following
    trumps = tuple([card for card in hand if suit_of(card) == trump])
    return trumps if trumps and must_trump else hand


def best(trick: Sequence[tuple[int, Card]], trump: str, *, six_on_stage: bool) -> int:
    """The seat that wins a trick; the card led is its first. Spec: AZI-14.

    Args:
        trick: Seat and card, as they were shown.
        trump: The trump suit.
        six_on_stage: The six of trumps is above all.
    """
    led = suit_of(trick[0][1])

    def strength(shown: tuple[int, Card]) -> tuple[int, int]:
        suit, rank = suit_of(shown[1]), rank_of(shown[1])
        if suit == trump:
            return 2, _ABOVE_ALL if six_on_stage and rank == "6" else _RANKS[rank]
        return int(suit == led), _RANKS[rank]

    return max(trick, key=strength)[0]


def capped(contributions: Chips, winner: int) -> Chips:
    """What each seat is paid when a short winner matches each contribution. Spec: AZI-16."""
    most = contributions[winner]
    paid = [max(chips - most, 0) for chips in contributions]
    paid[winner] = sum([min(chips, most) for chips in contributions])
    return tuple(paid)


def proportional(contributions: Chips, winner: int, active: Collection[int]) -> Chips:
    """What each seat is paid when a short winner gets its share of the bank. Spec: AZI-16."""
    bank, own = sum(contributions), contributions[winner]
    part = bank * own // max(contributions) if bank else 0
    others = bank - own
    paid = [(bank - part) * chips // others if others else 0 for chips in contributions]
    paid[winner] = part
    left = bank - sum(paid)
    takers = sorted(set(active) - {winner}) or [winner]
    for number in range(left):
        paid[takers[number % len(takers)]] += 1
    return tuple(paid)


class AziRules(Rules):
    """The rules of Azi. Spec: AZI-5..18."""

    options: ClassVar[Options] = {
        "all_in": ("capped", "proportional"),
        "ante": Span(10, 1, 1_000_000),
        "azi": ("all_ante", "half_bank", "three_only"),
        "min_bet": Span(10, 1, 1_000_000),
        "must_trump": (True, False),
        "opener": ("must_bet", "may_check"),
        "raises": ("three_per_player", "three_total", "three_actions"),
        "stack": Span(1000, 1, 1_000_000_000),
    }

    def fresh(self, rules: Mapping[str, Any], seats: int) -> Match:
        """Everybody has the same chips, the bank is empty. Spec: AZI-5."""
        return {
            "bank": 0,
            "contributions": {},
            "players": list(range(seats)),
            "stacks": [rules["stack"]] * seats,
            "winner": None,
        }

    def out(self, match: Match) -> frozenset[int]:
        """Seats that are not players of the next hand. Spec: AZI-5."""
        return frozenset(range(len(match["stacks"]))) - frozenset(match["players"])

    def start(self, rules: Mapping[str, Any], match: Match, deal: Deal) -> AziPlay:
        """Antes are paid; throws or the bidding begin. Spec: AZI-6, AZI-7, AZI-9."""
        if deal.turned is None:
            raise StateError("wrong_phase", "a card is turned before Azi is played")
        players = frozenset(match["players"])
        play = AziPlay(
            rules=rules,
            match=match,
            first=deal.first,
            players=players,
            trump=suit_of(deal.turned),
            six_on_stage=bool(rules["six_on_stage"]) and rank_of(deal.turned) == "A",
            part="throws",
            hands=deal.hands,
            stacks=tuple(match["stacks"]),
            contributions=tuple(
                [match["contributions"].get(str(seat), 0) for seat in range(deal.seats)]
            ),
            bids=(0,) * deal.seats,
        )._antes()
        return play if rules["cards"] == 4 else play._bidding()


@dataclass(frozen=True)
class AziPlay(Play):
    """A hand of Azi being played. Tuples are by seat unless they say otherwise."""

    throws_together: ClassVar[bool] = True

    rules: Mapping[str, Any]
    match: Match
    """The match before the hand."""
    first: int
    players: frozenset[int]
    """Seats that take part; for the others nothing changes."""
    trump: str
    six_on_stage: bool
    """The six of trumps is the highest card."""
    part: Part
    hands: tuple[tuple[Card, ...], ...]
    stacks: Chips
    contributions: Chips
    """Chips in the bank, whole azi chain."""
    bids: Chips
    """What each seat has paid in calls of this bidding."""
    thrown: Mapping[int, Card] | None = None
    """By seat, the fourth card."""
    looked: frozenset[int] = frozenset()
    folded: frozenset[int] = frozenset()
    owing: frozenset[int] = frozenset()
    """Bidding: seats that owe an answer. Buying: seats that have not been asked."""
    mover: int = -1
    """Bidding, tricks, buying: the seat on turn."""
    callers: tuple[int, ...] = ()
    """Who has called in the bidding, in order."""
    raisers: tuple[int, ...] = ()
    """Who has bet or raised, in order."""
    short: frozenset[int] = frozenset()
    """Seats that had no money for a bid."""
    leader: int | None = None
    trick: tuple[tuple[int, Card], ...] = ()
    """Seat and card, as shown."""
    played: tuple[tuple[int, Card], ...] = ()
    """All cards shown in earlier tricks."""
    tricks: tuple[int, ...] = ()
    """The winner of each trick."""
    winner: int | None = None
    price: int = 0
    """What buying in costs."""
    bought: frozenset[int] = frozenset()

    # --- what anybody may ask -----------------------------------------------------------------

    @property
    def active(self) -> frozenset[int]:
        """Players that have not folded. Spec: AZI-9."""
        return self.players - self.folded

    @property
    def bank(self) -> int:
        """Chips to be won."""
        return sum(self.contributions)

    @property
    def turn(self) -> tuple[int, ...]:
        """Who still has to throw, or the one seat on turn. Spec: PLAY-6, AZI-7, AZI-9."""
        if self.part == "over":
            return ()
        return tuple(sorted(self._unthrown())) if self.part == "throws" else (self.mover,)

    @property
    def due(self) -> Due | None:
        """The end of the hand, when it is decided and nobody is asked. Spec: AZI-18."""
        return Close(self._result()) if self.part == "over" else None

    def choices(self, seat: int) -> tuple[Choice, ...]:
        """Throws, calls or shows, and then the look."""
        found: list[Choice] = []
        if seat in self.turn:
            if self.part == "throws":
                found += [Choice("throw", (card,)) for card in self.hands[seat]]
            elif self.part != "tricks":
                found += [
                    Choice("call", (), call, *(span or (None, None)))
                    for call, span in self._calls().items()
                ]
            elif not self._blind(seat):
                found += [Choice("show", (card,)) for card in self._replies()]
        if self.part != "over" and self._blind(seat):
            found.append(Choice("look"))
        return tuple(found)

    def apply(self, move: Move) -> Self:
        """The play after a throw, look, call or show. Spec: AZI-7..17.

        Raises:
            RuleError: The move is not legal now.
        """
        if self.part == "over":
            raise RuleError("PLAY-3", "the hand is over")
        if move.seat not in self.players:
            raise RuleError("AZI-5", "only a seat that takes part in the hand moves")
        if move.kind == "look":
            return self._look(move)
        if move.seat not in self.turn:
            raise RuleError(_RULE_OF_PART[self.part], "the seat is not on turn")
        if self.part == "throws":
            return self._throw(move)
        if self.part == "tricks":
            return self._show(move)
        return self._call(move)

    def done(self, due: Due, drawn: Sequence[tuple[int, Card]] = ()) -> Self:
        """Only the end is ever due, and nothing follows it.

        Raises:
            RuleError: This is not due.
        """
        if due != self.due or drawn:
            raise RuleError("PLAY-4", "this is not due")
        return self

    # --- the table ----------------------------------------------------------------------------

    def _from(self, seat: int) -> Iterator[int]:
        """This seat and then the next ones, once round."""
        seats = len(self.stacks)
        return ((seat + step) % seats for step in range(seats))

    def _next(self, seat: int, among: Collection[int]) -> int:
        """The first of some seats from this one."""
        return next(other for other in self._from(seat) if other in among)

    def _pay(self, seat: int, chips: int) -> Self:
        """Chips go from a seat into the bank. Spec: AZI-6."""
        return changed(
            self,
            stacks=_plus(self.stacks, seat, -chips),
            contributions=_plus(self.contributions, seat, chips),
        )

    def _antes(self) -> Self:
        """Everybody's ante, unless a bank is played for without. Spec: AZI-6."""
        play = self
        if self.match["bank"] == 0 or self.rules["azi"] == "all_ante":
            for seat in self.players:
                play = play._pay(seat, min(self.rules["ante"], self.stacks[seat]))
        return play

    # --- throws and looks ---------------------------------------------------------------------

    def _unthrown(self) -> frozenset[int]:
        """Who still has to throw a card. Spec: AZI-7."""
        return self.players - (self.thrown or {}).keys()

    def _throw(self, move: Move) -> Self:
        """The fourth card. Spec: AZI-7."""
        if (
            move.kind != "throw"
            or not _one_card(move)
            or move.cards[0] not in self.hands[move.seat]
        ):
            raise RuleError("AZI-7", "each player throws one of its cards first")
        play = changed(
            self,
            hands=_without(self.hands, move.seat, move.cards[0]),
            thrown={**(self.thrown or {}), move.seat: move.cards[0]},
        )
        return play if play._unthrown() else play._bidding()

    def _blind(self, seat: int) -> bool:
        """Whether a seat may still look, and must before it shows a card. Spec: AZI-8."""
        return bool(self.rules["blind"]) and seat in self.active and seat not in self.looked

    def _look(self, move: Move) -> Self:
        """A seat takes up its cards; the turn stays. Spec: AZI-8."""
        if not self._blind(move.seat) or not _bare(move):
            raise RuleError("AZI-8", "a seat looks once, with blind bidding, and before it folds")
        return changed(self, looked=self.looked | {move.seat})

    # --- bidding ------------------------------------------------------------------------------

    def _rich(self) -> frozenset[int]:
        """Active seats that have chips."""
        return frozenset([seat for seat in self.active if self.stacks[seat]])

    def _bidding(self) -> Self:
        """The bidding begins, if two can bid. Spec: AZI-9, AZI-12."""
        rich = self._rich()
        play = changed(self, short=self.active - rich)
        if len(rich) < 2:
            return play._lead()
        return changed(play, part="bidding", owing=rich, mover=self._next(self.first, rich))

    def _calls(self) -> dict[str, _Span]:
        """The calls that the seat on turn may make. Spec: AZI-10, AZI-17."""
        if self.part == "buying":
            return {"buy_in": None, "stay_out": None}
        every, highest = self.bids[self.mover] + self.stacks[self.mover], max(self.bids)
        low = self.rules["min_bet"]
        calls: dict[str, _Span] = {}
        if highest == 0:
            if every >= low:
                calls["bet"] = (low, every)
            else:
                calls["all_in"] = None
            if self.rules["opener"] == "may_check":
                calls["check"] = None
            return calls
        calls["call" if every >= highest else "all_in"] = None
        calls["fold"] = None
        low = max(low, highest + 1)
        if every >= low and self._may_raise(self.mover):
            calls["raise"] = (low, every)
        return calls

    def _may_raise(self, seat: int) -> bool:
        """The limit on raises. Spec: AZI-11."""
        limit = self.rules["raises"]
        if limit == "three_total":
            return len(self.raisers) < _MOST_RAISES
        counted = self.raisers if limit == "three_per_player" else self.callers
        return counted.count(seat) < _MOST_RAISES

    def _call(self, move: Move) -> Self:
        """A call of the bidding, or about buying in. Spec: AZI-10, AZI-17."""
        rule = "AZI-10" if self.part == "bidding" else "AZI-17"
        calls = self._calls()
        if move.kind != "call" or move.cards or move.call not in calls:
            limited = move.call == "raise" and rule == "AZI-10" and not self._may_raise(move.seat)
            raise RuleError("AZI-11" if limited else rule, "the seat may not call this now")
        span = calls[move.call]
        if not (move.amount is None if span is None else _within(move.amount, span)):
            raise RuleError(rule, "the call has another amount, or none")
        if self.part == "buying":
            return self._buy(move.seat, wanted=move.call == "buy_in")
        return self._bid(move.seat, move.call, move.amount)

    def _bid(self, seat: int, call: str, amount: int | None) -> Self:
        """What a legal call of the bidding does. Spec: AZI-9, AZI-10, AZI-12."""
        highest = max(self.bids)
        bid = to = self.bids[seat]
        if call == "call":
            to = highest
        elif call == "all_in":
            to = bid + self.stacks[seat]
        elif amount is not None:
            to = amount
        play = changed(
            self._pay(seat, to - bid),
            bids=_plus(self.bids, seat, to - bid),
            callers=(*self.callers, seat),
            owing=self.owing - {seat},
        )
        if call == "fold":
            play = changed(play, folded=self.folded | {seat})
        if call == "all_in":
            play = changed(play, short=play.short | {seat})
        if call in {"bet", "raise"}:
            play = changed(play, raisers=(*self.raisers, seat))
        if to > highest:
            rich = play._rich()
            play = changed(
                play, short=play.short | (self.active - rich - {seat}), owing=rich - {seat}
            )
        if play.owing:
            return changed(play, mover=play._next(seat, play.owing))
        return play._lead()

    # --- tricks -------------------------------------------------------------------------------

    def _lead(self) -> Self:
        """Who bid most leads, or has won, if all others folded. Spec: AZI-12, AZI-13, AZI-15."""
        if len(self.active) == 1:
            (winner,) = self.active
            return self._won(winner)
        if self.raisers:
            leader = self.raisers[-1]
        else:
            leader = self._next(self.first, (self.active - self.short) or self.active)
        return changed(self, part="tricks", owing=frozenset(), leader=leader, mover=leader)

    def _replies(self) -> tuple[Card, ...]:
        """The cards that the seat on turn may show. Spec: AZI-13."""
        led = suit_of(self.trick[0][1]) if self.trick else None
        must_trump = self.rules["must_trump"]
        return replies(self.hands[self.mover], led, self.trump, must_trump=must_trump)

    def _show(self, move: Move) -> Self:
        """A card to the trick. Spec: AZI-8, AZI-13."""
        if move.kind != "show" or not _one_card(move):
            raise RuleError("AZI-13", "one card is shown to the trick")
        if self._blind(move.seat):
            raise RuleError("AZI-8", "a seat looks at its cards before it shows one")
        if move.cards[0] not in self._replies():
            raise RuleError("AZI-13", "the suit led is followed, else trumped, with a card held")
        play = changed(
            self,
            hands=_without(self.hands, move.seat, move.cards[0]),
            trick=(*self.trick, (move.seat, move.cards[0])),
        )
        if len(play.trick) < len(self.active):
            return changed(play, mover=self._next(move.seat + 1, self.active))
        return play._taken()

    def _taken(self) -> Self:
        """A trick is full. Spec: AZI-14, AZI-15."""
        winner = best(self.trick, self.trump, six_on_stage=self.six_on_stage)
        tricks = (*self.tricks, winner)
        play = changed(self, played=self.played + self.trick, trick=(), tricks=tricks, mover=winner)
        if tricks.count(winner) == _TO_WIN:
            return play._won(winner)
        return play if len(tricks) < _MOST_TRICKS else play._azi()

    # --- the bank -----------------------------------------------------------------------------

    def _won(self, winner: int) -> Self:
        """A seat has won the hand. Spec: AZI-15."""
        return changed(self, part="over", winner=winner, owing=frozenset())

    def _azi(self) -> Self:
        """Nobody has won; with `half_bank` others are asked for half of it. Spec: AZI-17."""
        if self.rules["azi"] != "half_bank":
            return changed(self, part="over")
        price = self.bank // 2
        asked = [
            seat for seat in self.players.difference(self.tricks) if self.stacks[seat] >= price
        ]
        return changed(self, price=price, owing=frozenset(asked))._ask()

    def _ask(self) -> Self:
        """The next seat that may buy in is asked. Spec: AZI-17."""
        if not self.owing:
            return changed(self, part="over")
        return changed(self, part="buying", mover=self._next(self.first, self.owing))

    def _buy(self, seat: int, *, wanted: bool) -> Self:
        """An answer. Spec: AZI-17."""
        play = changed(self, owing=self.owing - {seat})
        if wanted:
            play = changed(play._pay(seat, self.price), bought=self.bought | {seat})
        return play._ask()

    def _paid(self) -> Chips:
        """What each seat gets out of the bank. Spec: AZI-16."""
        nothing = (0,) * len(self.stacks)
        if self.winner is None:
            return nothing
        if self.winner not in self.short:
            return _plus(nothing, self.winner, self.bank)
        if self.rules["all_in"] == "capped":
            return capped(self.contributions, self.winner)
        return proportional(self.contributions, self.winner, self.active)

    def _players(self, stacks: Chips, kept: Chips) -> list[int]:
        """Who takes part in the next hand. Spec: AZI-17, AZI-18."""
        if self.winner is None and self.rules["azi"] != "all_ante":
            return sorted({*self.tricks, *self.bought})
        return [seat for seat, chips in enumerate(stacks) if chips or kept[seat]]

    def _result(self) -> Json:
        """The end of the hand. Spec: AZI-18."""
        paid = self._paid()
        stacks = tuple([own + more for own, more in zip(self.stacks, paid, strict=True)])
        azi = self.winner is None
        kept = self.contributions if azi else (0,) * len(stacks)
        before = tuple(
            [c - self.price * (s in self.bought) for s, c in enumerate(self.contributions)]
        )
        last = self.match["winner"] if azi else self.winner
        rich = [seat for seat, chips in enumerate(stacks) if chips]
        return {
            "first": None if last is None else (last + 1) % len(stacks),
            "match": {
                "bank": sum(kept),
                "contributions": _by_seat(kept),
                "players": self._players(stacks, kept),
                "stacks": list(stacks),
                "winner": last,
            },
            "score": {
                "azi": azi,
                "bank": sum(before),
                "bought": sorted(self.bought),
                "contributions": _by_seat(before),
                "folded": sorted(self.folded),
                "leader": self.leader,
                "paid": _by_seat(paid),
                "tricks": list(self.tricks),
                "winner": self.winner,
            },
            "winner": self.winner if rich == [self.winner] else None,
        }


def _plus(chips: Chips, seat: int, more: int) -> Chips:
    """With more chips at one seat."""
    return (*chips[:seat], chips[seat] + more, *chips[seat + 1 :])


def _by_seat(chips: Chips) -> dict[str, int]:
    """The seats that have chips."""
    return {str(seat): number for seat, number in enumerate(chips) if number}


def _without(
    hands: tuple[tuple[Card, ...], ...], seat: int, gone: Card
) -> tuple[tuple[Card, ...], ...]:
    """With one card less at one seat."""
    left = tuple([card for card in hands[seat] if card != gone])
    return (*hands[:seat], left, *hands[seat + 1 :])


def _bare(move: Move) -> bool:
    """Whether a move is nothing but its kind."""
    return not move.cards and move.call is None and move.amount is None


def _one_card(move: Move) -> bool:
    """Whether a move is one card and nothing else."""
    return len(move.cards) == 1 and move.call is None and move.amount is None


def _within(amount: int | None, span: tuple[int, int]) -> bool:
    """Whether an amount is a number within bounds."""
    return type(amount) is int and span[0] <= amount <= span[1]
