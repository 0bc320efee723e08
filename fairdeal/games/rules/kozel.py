"""The play of Kozel: leads of several cards, beats, discards, pulls, the count.

Spec: play-kozel.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, ClassVar, Final, NamedTuple

from fairdeal.cards import Card, french_deck, rank_of, suit_of
from fairdeal.errors import StateError
from fairdeal.games.rules.base import (
    Choice,
    Close,
    Deal,
    Draw,
    Due,
    Json,
    Match,
    Move,
    Options,
    Play,
    RuleError,
    Rules,
    Show,
)
from fairdeal.values import changed

Cards = tuple[Card, ...]

SEATS: Final = 4
TEAMS: Final = 2
HAND: Final = 4

RANKS: Final = ("6", "7", "8", "9", "J", "Q", "K", "10", "A")
POINTS: Final = {"J": 2, "Q": 3, "K": 4, "10": 10, "A": 11}
HALF: Final = 60
LOW: Final = 31

# Looked up for every card of every move: rank within the suit, and the place in the deck.
_RANK: Final = {card: RANKS.index(rank_of(card)) for card in french_deck()}
_SUIT: Final = {card: suit_of(card) for card in french_deck()}
_POINTS: Final = {card: POINTS.get(rank_of(card), 0) for card in french_deck()}
_PLACE: Final = {card: place for place, card in enumerate(french_deck())}


def strengths(cards: Iterable[Card], led: str, trump: str) -> tuple[int, ...] | None:
    """How strong cards are in a trick, ascending; None if one is neither trump nor of the suit led.

    Spec: KOZ-9, KOZ-12.
    """
    found = []
    for card in cards:
        suit = _SUIT[card]
        if suit == trump:
            found.append(_RANK[card] + len(RANKS))
        elif suit == led:
            found.append(_RANK[card])
        else:
            return None
    return tuple(sorted(found))


def beats(cards: Iterable[Card], best: Sequence[int], led: str, trump: str) -> bool:
    """Whether as many cards beat the best ones, given as strengths. Spec: KOZ-12."""
    mine = strengths(cards, led, trump)
    return mine is not None and all([high > low for high, low in zip(mine, best, strict=True)])


def can_beat(hand: Iterable[Card], best: Sequence[int], led: str, trump: str) -> bool:
    """Whether some of these cards beat the best ones. Spec: KOZ-13.

    If any do, then the strongest do.
    """
    useful = [card for card in hand if _SUIT[card] in (led, trump)]
    if len(useful) < len(best):
        return False
    mine = strengths(useful, led, trump) or ()
    return all([high > low for high, low in zip(mine[-len(best) :], best, strict=True)])


def points_of(cards: Iterable[Card]) -> int:
    """Card points. Spec: KOZ-18."""
    return sum([_POINTS[card] for card in cards])


def penalty_of(points: int, tricks: int, *, doubled: bool = False) -> int:
    """Defeat points of a team for one game. Spec: KOZ-18."""
    if points >= HALF:
        return 0
    penalty = 2 if points >= LOW else 4 if tricks else 6
    return 2 * penalty if doubled else penalty


class Terms(NamedTuple):
    """What the ruleset says of the play."""

    hidden: bool
    must_beat: bool
    pull: str
    double_next: bool
    target: int


@dataclass(frozen=True)
class Trick:
    """A trick under way: at first nothing lies in it."""

    leader: int
    """Whose turn it was to lead; it stays the same through all pulls. Spec: KOZ-14."""
    before: tuple[Cards, ...]
    """The hands when the trick began."""
    opener: int | None = None
    """Who led or pulled."""
    pulled: bool = False
    led: str = ""
    """The suit led."""
    best: tuple[int, ...] = ()
    """Strengths of the best cards. Spec: KOZ-12."""
    taker: int = 0
    """Whose these are."""
    laid: tuple[Cards, ...] = ()
    """All cards of the trick, the opener's first."""
    thrown: tuple[tuple[int, Cards], ...] = ()
    """Those of them that lie face down, by seat."""

    def distance(self, seat: int) -> int:
        """How many seats clockwise from the leader. Spec: KOZ-14."""
        return (seat - self.leader) % SEATS

    @property
    def turn(self) -> int:
        """The seat on turn. Spec: KOZ-10, KOZ-11."""
        if self.opener is None:
            return self.leader
        return (self.opener + len(self.laid)) % SEATS

    @property
    def size(self) -> int:
        """How many cards each seat lays. Spec: KOZ-11."""
        return len(self.best)


@dataclass(frozen=True)
class KozelPlay(Play):
    """A game of Kozel being played."""

    terms: Terms
    match: Match
    first: int
    trump: str
    hands: tuple[Cards, ...]
    stock: int
    trick: Trick
    points: tuple[int, ...] = (0,) * TEAMS
    tricks: tuple[int, ...] = (0,) * TEAMS
    down: Mapping[int, Cards] = field(default_factory=dict)
    """Cards discarded face down in tricks that are over, by seat."""
    pending: Due | None = None

    @property
    def turn(self) -> tuple[int, ...]:
        """One seat: the leader, or the one that answers. Spec: KOZ-10, KOZ-11."""
        return () if self.pending else (self.trick.turn,)

    @property
    def due(self) -> Due | None:
        """A draw after a trick, the showing at the count, the close. Spec: KOZ-16, KOZ-17."""
        return self.pending

    # --- what a seat may do ---------------------------------------------------------------------

    def choices(self, seat: int) -> tuple[Choice, ...]:
        """A seat on turn leads or answers; any seat may have a pull."""
        if self.pending:
            return ()
        hand = tuple(sorted(self.hands[seat], key=_PLACE.__getitem__))
        found: list[Choice] = []
        if seat == self.trick.turn:
            found = self._leads(hand) if self.trick.opener is None else self._answers(hand)
        if self.may_pull(seat):
            found.append(Choice("pull", hand))
        return tuple(found)

    def _leads(self, hand: Cards) -> list[Choice]:
        """One or more cards of one suit. Spec: KOZ-10."""
        return [
            Choice("show", cards)
            for size in range(1, len(hand) + 1)
            for cards in combinations(hand, size)
            if _one_suit(cards)
        ]

    def _answers(self, hand: Cards) -> list[Choice]:
        """Beats, then discards. Spec: KOZ-11, KOZ-13."""
        every = list(combinations(hand, self.trick.size))
        shown = [cards for cards in every if self._beats(cards)]
        if self.terms.must_beat and shown:
            return [Choice("show", cards) for cards in shown]
        if self.terms.hidden:
            return [Choice("show", cards) for cards in shown] + [
                Choice("throw", cards) for cards in every
            ]
        return [Choice("show", cards) for cards in every]

    def may_pull(self, seat: int) -> bool:
        """Whether a seat may come in with four cards of one suit. Spec: KOZ-14."""
        hand, trick = self.hands[seat], self.trick
        if self.pending or self.terms.pull == "off" or len(hand) != HAND or not _one_suit(hand):
            return False
        if self.terms.pull == "trumps_only" and _SUIT[hand[0]] != self.trump:
            return False
        if trick.opener is None:
            return seat != trick.leader
        if trick.pulled:
            return len(trick.laid) == 1 and trick.distance(seat) < trick.distance(trick.opener)
        return trick.size < HAND

    def _beats(self, cards: Cards) -> bool:
        return beats(cards, self.trick.best, self.trick.led, self.trump)

    # --- moves ----------------------------------------------------------------------------------

    def apply(self, move: Move) -> KozelPlay:
        """A lead, a beat, a discard or a pull.

        With nothing in the trick, what a seat that is not the leader shows is a pull: in the log
        they are the same event. Spec: KOZ-15.
        """
        if self.pending:
            raise RuleError("PLAY-3", "an event is due, nobody has a move")
        if move.kind not in ("show", "throw", "pull"):
            raise RuleError("KOZ-8", "cards are shown, discarded or pulled, nothing else")
        self._check_cards(move)
        opening = self.trick.opener is None
        unsaid = opening and move.kind == "show" and len(move.cards) == HAND
        if move.kind == "pull" or (unsaid and self.may_pull(move.seat)):
            return self._pull(move)
        if move.seat != self.trick.turn:
            rule = "KOZ-10" if opening else "KOZ-11"
            raise RuleError(rule, "another seat is on turn")
        return self._lead(move) if opening else self._answer(move)

    def _check_cards(self, move: Move) -> None:
        """Different cards that the seat holds, and nothing that only a call has. Spec: KOZ-8."""
        if move.call is not None or move.amount is not None:
            raise RuleError("KOZ-8", "nothing is called")
        if not 0 <= move.seat < SEATS:
            raise RuleError("KOZ-8", "there are four seats")
        if not move.cards or len(set(move.cards)) != len(move.cards):
            raise RuleError("KOZ-8", "a move is of one or more different cards")
        if not set(move.cards) <= set(self.hands[move.seat]):
            raise RuleError("KOZ-8", "a seat plays cards that it holds")

    def _lead(self, move: Move) -> KozelPlay:
        """Spec: KOZ-10."""
        if move.kind != "show":
            raise RuleError("KOZ-10", "a lead is shown")
        if not _one_suit(move.cards):
            raise RuleError("KOZ-10", "a lead is of one suit")
        return self._open(move, pulled=False)

    def _answer(self, move: Move) -> KozelPlay:
        """A beat or a discard. Spec: KOZ-11."""
        trick = self.trick
        if len(move.cards) != trick.size:
            raise RuleError("KOZ-11", "an answer has as many cards as were led")
        hidden = move.kind == "throw"
        if hidden and not self.terms.hidden:
            raise RuleError("KOZ-8", "discards are open at this table")
        beaten = not hidden and self._beats(move.cards)
        if not beaten and not hidden and self.terms.hidden:
            raise RuleError("KOZ-11", "these cards do not beat, and discards are face down")
        if not beaten and self.terms.must_beat:
            self._check_cannot_beat(move.seat)
        after = changed(trick, laid=(*trick.laid, move.cards))
        if beaten:
            best = strengths(move.cards, trick.led, self.trump)
            after = changed(after, best=best, taker=move.seat)
        if hidden:
            after = changed(after, thrown=(*trick.thrown, (move.seat, move.cards)))
        play = changed(self, hands=_without(self.hands, move.seat, move.cards), trick=after)
        return play._end_of_trick() if len(after.laid) == SEATS else play

    def _check_cannot_beat(self, seat: int) -> None:
        """Spec: KOZ-13."""
        if can_beat(self.hands[seat], self.trick.best, self.trick.led, self.trump):
            raise RuleError("KOZ-13", "a seat that can beat must")

    def _pull(self, move: Move) -> KozelPlay:
        """The trick goes back, and four cards of one suit lead instead. Spec: KOZ-15."""
        if not self.may_pull(move.seat):
            raise RuleError("KOZ-14", "this seat cannot pull now")
        if len(move.cards) != HAND:
            raise RuleError("KOZ-15", "a pull is of all four cards")
        trick = Trick(self.trick.leader, self.trick.before)
        return changed(self, hands=trick.before, trick=trick)._open(move, pulled=True)

    def _open(self, move: Move, *, pulled: bool) -> KozelPlay:
        """The first cards of a trick. Spec: KOZ-10, KOZ-15."""
        led = _SUIT[move.cards[0]]
        trick = changed(
            self.trick,
            opener=move.seat,
            pulled=pulled,
            led=led,
            best=strengths(move.cards, led, self.trump),
            taker=move.seat,
            laid=(move.cards,),
        )
        return changed(self, hands=_without(self.hands, move.seat, move.cards), trick=trick)

    # --- what follows ---------------------------------------------------------------------------

    def _end_of_trick(self) -> KozelPlay:
        """The taker's team has the cards; a draw, the next trick, or the count. Spec: KOZ-16."""
        trick = self.trick
        team = trick.taker % TEAMS
        worth = sum([points_of(cards) for cards in trick.laid])
        down = dict(self.down)
        for seat, cards in trick.thrown:
            down[seat] = (*down.get(seat, ()), *cards)
        play = changed(
            self,
            trick=Trick(trick.taker, self.hands),
            points=_plus(self.points, team, worth),
            tricks=_plus(self.tricks, team, 1),
            down=down,
        )
        if self.stock:
            return changed(play, pending=Draw(trick.taker))
        return play if any(self.hands) else play._count()

    def _count(self) -> KozelPlay:
        """What was discarded face down is shown, if anything was. Spec: KOZ-17."""
        if self.down:
            return changed(self, pending=Show(dict(sorted(self.down.items()))))
        return changed(self, pending=Close(self.result()))

    def done(self, due: Due, drawn: Sequence[tuple[int, Card]] = ()) -> KozelPlay:
        """After a draw the taker leads; after the showing the game is closed. Spec: KOZ-16, KOZ-17.

        Nothing follows a close: it stays due.
        """
        if self.pending is None or due != self.pending:
            raise StateError("not_due", "this is not what the rules make due")
        if isinstance(due, Draw):
            return self._drawn(due.first, drawn)
        return changed(self, pending=Close(self.result()))

    def _drawn(self, first: int, drawn: Sequence[tuple[int, Card]]) -> KozelPlay:
        """Everybody has as many new cards. Spec: KOZ-5, KOZ-16."""
        each = min(HAND - len(self.hands[0]), self.stock // SEATS)
        if [seat for seat, _ in drawn] != [(first + step) % SEATS for step in range(SEATS)] * each:
            raise StateError("not_due", "each seat draws up to four, one card a pass")
        hands = tuple(
            [
                (*hand, *[card for other, card in drawn if other == seat])
                for seat, hand in enumerate(self.hands)
            ]
        )
        return changed(
            self,
            hands=hands,
            stock=self.stock - len(drawn),
            trick=Trick(first, hands),
            pending=None,
        )

    # --- score ----------------------------------------------------------------------------------

    def result(self) -> Json:
        """What the game gave and how the match stands. Spec: KOZ-18, KOZ-19, PLAY-5."""
        level = self.points[0] == self.points[1]
        penalty = [
            penalty_of(points, tricks, doubled=self.match["doubled"])
            for points, tricks in zip(self.points, self.tricks, strict=True)
        ]
        defeat = [old + new for old, new in zip(self.match["defeat"], penalty, strict=True)]
        lost = [team for team in range(TEAMS) if defeat[team] >= self.terms.target]
        return {
            "first": (self.first + 1) % SEATS,
            "match": {
                "defeat": defeat,
                "doubled": level and self.terms.double_next,
                "eggs": self.match["eggs"] or level,
                "leader": self.trick.leader,
            },
            "score": {
                "penalty": penalty,
                "points": list(self.points),
                "tricks": list(self.tricks),
            },
            "winner": 1 - lost[0] if lost else None,
        }


class KozelRules(Rules):
    """Two teams of two; a match goes on until one team has too many defeat points."""

    options: ClassVar[Options] = {
        "eggs": ("none", "double_next"),
        "first_leader": ("dealer_left", "dealer"),
        "must_beat": (False, True),
        "pull": ("any_suit", "trumps_only", "off"),
        "target": (12, 6, 8, 10),
    }

    def fresh(self, rules: Mapping[str, Any], seats: int) -> Match:
        """No defeat points, and nobody who took a last trick. Spec: PLAY-2, KOZ-19."""
        return {"defeat": [0] * TEAMS, "doubled": False, "eggs": False, "leader": None}

    def start(self, rules: Mapping[str, Any], match: Match, deal: Deal) -> KozelPlay:
        """The leader of the first trick is on turn. Spec: KOZ-9, KOZ-10."""
        if deal.turned is None:
            raise StateError("no_trump", "a game of Kozel has an indicator")
        leader: int | None = match["leader"]
        if leader is None:
            back = 1 if rules["first_leader"] == "dealer" else 0
            leader = (deal.first - back) % SEATS
        terms = Terms(
            hidden=rules["discards"] == "hidden",
            must_beat=rules["must_beat"],
            pull=rules["pull"],
            double_next=rules["eggs"] == "double_next",
            target=rules["target"],
        )
        return KozelPlay(
            terms=terms,
            match=match,
            first=deal.first,
            trump=suit_of(deal.turned),
            hands=deal.hands,
            stock=deal.stock,
            trick=Trick(leader, deal.hands),
        )


def _one_suit(cards: Cards) -> bool:
    suit = _SUIT[cards[0]]
    return all([_SUIT[card] == suit for card in cards])


def _without(hands: tuple[Cards, ...], seat: int, cards: Cards) -> tuple[Cards, ...]:
    left = tuple([card for card in hands[seat] if card not in cards])
    return (*hands[:seat], left, *hands[seat + 1 :])


def _plus(counts: tuple[int, ...], team: int, more: int) -> tuple[int, ...]:
    return tuple([count + more if i == team else count for i, count in enumerate(counts)])
