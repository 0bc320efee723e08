"""Mus: talk, four or five lances, the count. Spec: play-mus.md."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, ClassVar, Final, Literal, NamedTuple, Self

from fairdeal.cards import Card, rank_of
from fairdeal.games.rules.base import (
    Choice,
    Close,
    Deal,
    Declare,
    Due,
    Match,
    Move,
    Options,
    Play,
    RuleError,
    Rules,
    Serve,
    Show,
)
from fairdeal.values import changed

Hand = tuple[Card, ...]
Lance = Literal["grande", "chica", "pares", "juego", "punto"]
End = Literal["paso", "accepted", "refused", "ordago", "uncontested"]
Stage = Literal["talk", "throw", "serve", "declare", "bet", "show", "close"]
Score = tuple[int, int]

LANCES: Final[tuple[Lance, ...]] = ("grande", "chica", "pares", "juego", "punto")
LEAST: Final = 2
"""The smallest bet and the smallest raise. Spec: MUS-18."""

_SEATS: Final = 4
_AFTER: Final[Mapping[Lance, Lance]] = {"grande": "chica", "chica": "pares", "pares": "juego"}
_ELSEWHERE: Final = {"throw": "MUS-13", "show": "MUS-21"}
"""Who says that a move of this kind is not made now."""
_JUEGO: Final = (31, 32, 40, 37, 36, 35, 34, 33)
_REAL: Final = [7, 7, 7, 10]


# --- What hands are worth -------------------------------------------------------------------------


def rank(card: Card, kings: int) -> int:
    """The rank that a card counts as, 1 to 12. Spec: MUS-6."""
    written = int(rank_of(card))
    return {2: 1, 3: 12}.get(written, written) if kings == 8 else written


def total(hand: Hand, kings: int) -> int:
    """The sum of a hand. Spec: MUS-6."""
    return sum([min(rank(card, kings), 10) for card in hand])


def grande(hand: Hand, kings: int) -> tuple[int, ...]:
    """How high a hand is; more is better. Spec: MUS-7."""
    return tuple(sorted([rank(card, kings) for card in hand], reverse=True))


def chica(hand: Hand, kings: int) -> tuple[int, ...]:
    """How low a hand is, from its lowest card on; more is better. Spec: MUS-7."""
    return tuple([-low for low in sorted([rank(card, kings) for card in hand])])


def pares(hand: Hand, kings: int) -> tuple[int, ...]:
    """The figure, 1 (par) to 3 (duples), and the ranks that decide; empty without. Spec: MUS-8."""
    counts = Counter([rank(card, kings) for card in hand])
    alike = sorted([of for of, count in counts.items() if count > 1], reverse=True)
    if not alike:
        return ()
    most = counts[alike[0]]
    if most == 4:
        return 3, alike[0], alike[0]
    if len(alike) == 2:
        return 3, *alike
    return most - 1, alike[0]


def juego(hand: Hand, kings: int, real31: bool) -> tuple[int, ...]:
    """The place of a sum among the sums of juego, more is better; empty without. Spec: MUS-9."""
    points = total(hand, kings)
    if points not in _JUEGO:
        return ()
    real = real31 and sorted([int(rank_of(card)) for card in hand]) == _REAL
    return -_JUEGO.index(points), int(real)


class _Terms(NamedTuple):
    """The play options."""

    games: int
    kings: int
    ordago: bool
    plus_one: bool
    fixed: bool
    real31: bool
    target: int

    def strength(self, lance: Lance, hand: Hand) -> tuple[int, ...]:
        """What to compare hands by; empty if the hand has no part in it. Spec: MUS-7..9."""
        if lance == "grande":
            return grande(hand, self.kings)
        if lance == "chica":
            return chica(hand, self.kings)
        if lance == "pares":
            return pares(hand, self.kings)
        if lance == "juego":
            return juego(hand, self.kings, self.real31)
        return (total(hand, self.kings),)

    def bonus(self, lance: Lance, hand: Hand) -> int:
        """What a hand adds for its team. Spec: MUS-23."""
        strength = self.strength(lance, hand)
        if not strength:
            return 0
        if lance == "pares":
            return strength[0]
        return 3 if total(hand, self.kings) == 31 else 2


# --- A lance --------------------------------------------------------------------------------------


class _Bet(NamedTuple):
    """A bet that waits for its answer. Spec: MUS-17, MUS-18."""

    team: int
    agreed: int
    level: int
    ordago: bool
    answer: tuple[int, ...]
    """Who can still answer, in turn."""


class _Ended(NamedTuple):
    """A lance that is over; whose points they are comes with the refusal or the count."""

    lance: Lance
    end: End
    bettor: int | None = None
    """The team of the last bet."""
    level: int = 0
    team: int | None = None
    seat: int | None = None
    stake: int = 0
    bonus: int = 0

    def report(self) -> dict[str, Any]:
        """As the score states it. Spec: MUS-24."""
        return {
            "bonus": self.bonus,
            "end": self.end,
            "seat": self.seat,
            "stake": self.stake,
            "team": self.team,
        }


def _add(score: Score, team: int, points: int) -> Score:
    return (score[0] + points, score[1]) if team == 0 else (score[0], score[1] + points)


# --- The play -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class MusPlay(Play):
    """A hand of Mus under way. Spec: MUS-11..25."""

    throws_together: ClassVar[bool] = True

    terms: _Terms
    corrido: bool
    """Whether mano moves in this hand. Spec: MUS-12."""
    before: Score
    games: Score
    score: Score
    mano: int
    hands: tuple[Hand, ...]
    stage: Stage = "talk"
    said: int = 0
    """How many have spoken in this talk, thrown in this round, or passed in this lance."""
    owed: tuple[int, ...] = (0, 0, 0, 0)
    """By seat: cards still to be served."""
    lance: Lance = "grande"
    speakers: tuple[int, ...] = ()
    """Who speaks in this lance, in speaking order."""
    bet: _Bet | None = None
    ended: tuple[_Ended, ...] = ()
    pending: Due | None = None

    # What is awaited.

    @property
    def turn(self) -> tuple[int, ...]:
        """The one seat whose turn it is. Spec: MUS-11, MUS-13, MUS-16, MUS-17."""
        if self.pending is not None:
            return ()
        if self.bet is not None:
            return self.bet.answer[:1]
        order = self.speakers if self.stage == "bet" else self.order()
        return (order[self.said],)

    @property
    def due(self) -> Due | None:
        """A service, a declaration, the showing, or closing."""
        return self.pending

    def order(self) -> tuple[int, ...]:
        """The four seats in speaking order."""
        return tuple([(self.mano + step) % _SEATS for step in range(_SEATS)])

    # Moves.

    def choices(self, seat: int) -> tuple[Choice, ...]:
        """Every legal move of a seat."""
        if seat not in self.turn:
            return ()
        if self.stage == "throw":
            hand = self.hands[seat]
            return tuple(
                [Choice("throw", part) for n in range(1, 5) for part in combinations(hand, n)]
            )
        return tuple([Choice("call", (), call, *self._amounts(call)) for call in self._calls()])

    def apply(self, move: Move) -> Self:
        """The play after a move; the order of the cards of a throw means nothing."""
        if self.pending is not None:
            raise RuleError("PLAY-3", "something else is due now")
        if move.seat not in self.turn:
            raise RuleError(self._rule_of_turn(), "another seat is on turn")
        if move.kind != ("throw" if self.stage == "throw" else "call"):
            rule = "MUS-13" if self.stage == "throw" else "PLAY-3"
            raise RuleError(_ELSEWHERE.get(move.kind, rule), "such a move is not made now")
        if self.stage == "throw":
            return self._throw(move)
        if move.cards:
            raise RuleError("PLAY-3", "a call has no cards")
        call = self._checked(move)
        if self.stage == "talk":
            return self._talk(move.seat, call)
        if self.bet is None:
            return self._open(move.seat, call, move.amount)
        return self._answer(self.bet, move.seat, call, move.amount)

    def _rule_of_turn(self) -> str:
        """The requirement that says who moves now, and how."""
        if self.stage == "bet":
            return "MUS-16" if self.bet is None else "MUS-17"
        return "MUS-11" if self.stage == "talk" else "MUS-13"

    def _calls(self) -> tuple[str, ...]:
        """The calls of the seat on turn. Spec: MUS-11, MUS-16, MUS-17."""
        if self.stage == "talk":
            return "mus", "no_mus"
        ordago = ("ordago",) if self.terms.ordago else ()
        if self.bet is None:
            return "paso", "envido", *ordago
        if self.bet.ordago:
            return "quiero", "no_quiero"
        can_raise = self.bet.level + LEAST <= self.terms.target
        return "quiero", "no_quiero", *(("raise",) if can_raise else ()), *ordago

    def _amounts(self, call: str) -> tuple[int, int] | tuple[None, None]:
        """The least and the greatest amount of a call. Spec: MUS-18."""
        if call not in {"envido", "raise"}:
            return None, None
        level = self.bet.level if self.bet else 0
        return LEAST, LEAST if self.terms.fixed else self.terms.target - level

    def _checked(self, move: Move) -> str:
        """The call of a move, if it can be made now. Spec: MUS-16..18."""
        call = move.call
        if call is None or call not in self._calls():
            no_room = call == "raise" and self.bet is not None and not self.bet.ordago
            raise RuleError("MUS-18" if no_room else self._rule_of_turn(), "no such call now")
        low, high = self._amounts(call)
        if low is None or high is None:
            if move.amount is not None:
                raise RuleError("MUS-18", "this call has no amount")
        elif move.amount is None or not low <= move.amount <= high:
            raise RuleError("MUS-18", f"the amount is {low} to {high}")
        return call

    # The talk.

    def _talk(self, seat: int, call: str) -> Self:
        """Four times mus, or a cut. Spec: MUS-11, MUS-12."""
        if call == "no_mus":
            cut = changed(self, mano=seat) if self.corrido else self
            return cut._begin("grande")
        if self.said + 1 < _SEATS:
            return changed(self, said=self.said + 1)
        return changed(self, stage="throw", said=0)

    def _throw(self, move: Move) -> Self:
        """The next seat's discards. Spec: MUS-13."""
        if move.call is not None or move.amount is not None:
            raise RuleError("PLAY-3", "a discard says nothing")
        hand, thrown = self.hands[move.seat], frozenset(move.cards)
        if not thrown or len(thrown) < len(move.cards) or not thrown <= set(hand):
            raise RuleError("MUS-13", "a discard has one to four cards of the hand")
        rest = tuple([card for card in hand if card not in thrown])
        after = changed(
            self,
            hands=(*self.hands[: move.seat], rest, *self.hands[move.seat + 1 :]),
            said=self.said + 1,
        )
        if after.said < _SEATS:
            return after
        owed = tuple([_SEATS - len(left) for left in after.hands])
        return changed(after, stage="serve", owed=owed, pending=Serve())

    def _serve(self, drawn: Sequence[tuple[int, Card]]) -> Self:
        """Cards come; after the last a new talk. Spec: MUS-12, MUS-13."""
        hands, owed = list(self.hands), list(self.owed)
        for seat, card in drawn:
            if not owed[seat]:
                raise ValueError("this seat is owed no card")
            hands[seat] += (card,)
            owed[seat] -= 1
        after = changed(self, hands=tuple(hands), owed=tuple(owed))
        if any(owed):
            return after
        mano = (self.mano + 1) % _SEATS if self.corrido else self.mano
        return changed(after, stage="talk", said=0, mano=mano, pending=None)

    # The lances.

    def _begin(self, lance: Lance) -> Self:
        """The play when it is a lance's turn to be played. Spec: MUS-14."""
        here = changed(self, lance=lance, said=0, bet=None)
        if lance in {"pares", "juego"}:
            have = tuple([seat for seat in range(_SEATS) if self._strength(lance, seat)])
            return changed(here, stage="declare", speakers=(), pending=Declare(lance, have))
        return changed(here, stage="bet", speakers=self.order())

    def _declared(self, have: tuple[int, ...]) -> Self:
        """A lance of those who have something. Spec: MUS-14, MUS-15."""
        here = changed(self, stage="bet", pending=None)
        if not have:
            return here._begin("punto") if self.lance == "juego" else here._next()
        if len({seat % 2 for seat in have}) == 1:
            return here._end("uncontested")
        return changed(here, speakers=tuple([seat for seat in self.order() if seat in have]))

    def _next(self) -> Self:
        """The lance after this one (punto apart), or the showing. Spec: MUS-14, MUS-21."""
        after = _AFTER.get(self.lance)
        return self._begin(after) if after else self._show()

    def _end(self, end: End, bettor: int | None = None, level: int = 0) -> Self:
        """The lance is over, and nothing is paid yet."""
        return changed(
            self, bet=None, ended=(*self.ended, _Ended(self.lance, end, bettor, level))
        )._next()

    def _open(self, seat: int, call: str, amount: int | None) -> Self:
        """Pass or bet. Spec: MUS-16."""
        if call == "paso":
            if self.said + 1 < len(self.speakers):
                return changed(self, said=self.said + 1)
            return self._end("paso")
        return self._raise(seat, 0, amount)

    def _answer(self, bet: _Bet, seat: int, call: str, amount: int | None) -> Self:
        """The answer to a bet. Spec: MUS-17."""
        if call == "no_quiero":
            if len(bet.answer) > 1:
                return changed(self, bet=bet._replace(answer=bet.answer[1:]))
            return self._refused(bet)
        if call != "quiero":
            return self._raise(seat, bet.level, amount)
        if not bet.ordago:
            return self._end("accepted", bet.team, bet.level)
        lost = _Ended(self.lance, "ordago")
        return changed(self, bet=None, ended=(*self.ended, lost))._show()

    def _raise(self, seat: int, agreed: int, amount: int | None) -> Self:
        """A new bet (an ordago if it has no amount), for the others to answer. Spec: MUS-17..18."""
        others = [(seat + 1) % _SEATS, (seat + 3) % _SEATS]
        answer = tuple([other for other in others if other in self.speakers])
        level = agreed + (amount or 0)
        return changed(self, bet=_Bet(seat % 2, agreed, level, amount is None, answer))

    def _refused(self, bet: _Bet) -> Self:
        """Paid at once, and perhaps the end of the game. Spec: MUS-19."""
        paid = max(1, bet.agreed)
        over = _Ended(self.lance, "refused", bettor=bet.team, team=bet.team, stake=paid)
        after = changed(
            self, bet=None, ended=(*self.ended, over), score=_add(self.score, bet.team, paid)
        )
        return after._close() if after._game_over() else after._next()

    # The end.

    def _show(self) -> Self:
        """Everyone's cards are due. Spec: MUS-20, MUS-21."""
        return changed(self, stage="show", pending=Show(dict(enumerate(self.hands))))

    def _count(self) -> Self:
        """Lance by lance until the game is won. Spec: MUS-20, MUS-22."""
        score = self.score
        counted = []
        ordago = self.ended[-1].end == "ordago"
        for over in self.ended:
            if max(score) >= self.terms.target or (ordago and over.end != "ordago"):
                counted.append(over)
                continue
            points = self._points(over)
            if points.team is not None:
                due = points.bonus + (0 if over.end == "refused" else points.stake)
                score = _add(score, points.team, due)
            counted.append(points)
        return changed(self, score=score, ended=tuple(counted))._close()

    def _points(self, over: _Ended) -> _Ended:
        """A lance with its points. Spec: MUS-20, MUS-22."""
        if over.end == "refused":
            return over._replace(bonus=self._bonus(over, over.bettor))
        seat = self._best(over.lance)
        team = seat % 2
        if over.end == "ordago":
            return over._replace(seat=seat, team=team, stake=self.terms.target - self.score[team])
        stake = over.level
        if over.end == "paso" and over.lance in {"grande", "chica", "punto"}:
            stake = 1
        return over._replace(seat=seat, team=team, stake=stake, bonus=self._bonus(over, team))

    def _bonus(self, over: _Ended, team: int | None) -> int:
        """What comes on top for the cards, or for a punto with a bet. Spec: MUS-22, MUS-23."""
        if over.lance == "punto":
            return int(self.terms.plus_one and over.end != "paso")
        if over.lance in {"grande", "chica"}:
            return 0
        return sum(
            [
                self.terms.bonus(over.lance, hand)
                for seat, hand in enumerate(self.hands)
                if seat % 2 == team
            ]
        )

    def _best(self, lance: Lance) -> int:
        """The seat with the best hand, the first of equals. Spec: MUS-10."""
        return max(self.order(), key=lambda seat: self._strength(lance, seat))

    def _strength(self, lance: Lance, seat: int) -> tuple[int, ...]:
        return self.terms.strength(lance, self.hands[seat])

    def _game_over(self) -> bool:
        return max(self.score) >= self.terms.target

    def _close(self) -> Self:
        """The result. Spec: MUS-24, MUS-25."""
        games, score, winner = list(self.games), list(self.score), None
        if self._game_over():
            team = int(self.score[1] >= self.terms.target)
            games[team] += 1
            if 2 * games[team] > self.terms.games:
                winner = team
            else:
                score = [0, 0]
        result = {
            "first": (self.mano + 1) % _SEATS,
            "match": {"games": games, "score": score},
            "score": self._report(),
            "winner": winner,
        }
        return changed(self, stage="close", pending=Close(result))

    def _report(self) -> dict[str, Any]:
        """What the hand gave. Spec: MUS-24."""
        lances: dict[str, dict[str, Any] | None] = dict.fromkeys(LANCES)
        for over in self.ended:
            lances[over.lance] = over.report()
        points = [now - then for now, then in zip(self.score, self.before, strict=True)]
        return {"lances": lances, "mano": self.mano, "points": points}

    def done(self, due: Due, drawn: Sequence[tuple[int, Card]] = ()) -> Self:
        """The play after what was due."""
        if due != self.pending:
            raise ValueError("this is not due now")
        if isinstance(due, Serve):
            return self._serve(drawn)
        if isinstance(due, Declare):
            return self._declared(due.seats)
        if isinstance(due, Show):
            return self._count()
        raise ValueError("nothing comes after this")


class MusRules(Rules):
    """Two teams, games to 40 points. Spec: MUS-6..25."""

    options: ClassVar[Options] = {
        "games": (1, 3, 5),
        "kings": (8, 4),
        "ordago": (True, False),
        "punto": ("plus_one", "literal"),
        "raises": ("free", "fixed2"),
        "real31": (False, True),
        "target": (40, 30),
    }

    def fresh(self, rules: Mapping[str, Any], seats: int) -> Match:
        """No games, no points. Spec: MUS-25."""
        return {"games": [0, 0], "score": [0, 0]}

    def start(self, rules: Mapping[str, Any], match: Match, deal: Deal) -> MusPlay:
        """The first talk. Spec: MUS-11, MUS-12."""
        terms = _Terms(
            games=rules["games"],
            kings=rules["kings"],
            ordago=rules["ordago"],
            plus_one=rules["punto"] == "plus_one",
            fixed=rules["raises"] == "fixed2",
            real31=rules["real31"],
            target=rules["target"],
        )
        score = (match["score"][0], match["score"][1])
        return MusPlay(
            terms=terms,
            corrido=rules["mus_corrido"] and deal.hand == 1,
            before=score,
            games=(match["games"][0], match["games"][1]),
            score=score,
            mano=deal.first,
            hands=deal.hands,
        )
