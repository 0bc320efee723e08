"""The core's play and the verifier's, driven in lock step with the same facts from the same deal.

A fact is what an event of the log says, cards by name. The dealer here knows where each card is and
in which order cards are served; it knows no rules of play. So whatever a fault in one reading of
the rules does, it shows: somebody else is on turn, something else is due, one side takes a move
that the other refuses, or the results differ.

Spec: PLAY-1..6 and the four pages of play.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain, combinations, islice, permutations
from random import Random
from typing import Any, NamedTuple

from fairdeal.cards import FRENCH_RANKS, Card, french_deck, rank_of, suit_of
from fairdeal.codecs import Lock, Place, Shown
from fairdeal.encoding import encode
from fairdeal.errors import FairdealError
from fairdeal.events import (
    CardsDiscarded,
    CardsDrawn,
    CardsLooked,
    CardsReturned,
    CardsShown,
    HandClosed,
    HandEvent,
    PlayCalled,
    PlayDeclared,
)
from fairdeal.games import game_named, rules_of
from fairdeal.games.base import Span
from fairdeal.games.rules.base import Choice, Close, Deal, Declare, Draw, Play, Rules, Serve, Show
from fairdeal.referee import Referee
from fairdeal_verifier.play import PLAYS, is_same
from fairdeal_verifier.play import Deal as TheirDeal
from fairdeal_verifier.play import Play as TheirPlay

NAMES = ("azi", "kozel", "mus", "svoi")
SEATS = {"azi": (2, 3, 4, 5, 6), "kozel": (4,), "mus": (4,), "svoi": (2,)}
MOST_FACTS = 2500
"""No hand has more: Svoi Kozyri stops at 1000 moves, the others much earlier."""
MOST_EPOCHS = 32
SHOWN, DISCARDED, RETURNED = "cards.shown", "cards.discarded", "cards.returned"
LOOKED, CALLED, DECLARED = "cards.looked", "play.called", "play.declared"
DRAWN, CLOSED = "cards.drawn", "hand.closed"
DUE_ONLY = frozenset({DECLARED, DRAWN, CLOSED})
CALLS = {
    "azi": ("bet", "check", "fold", "call", "raise", "all_in", "buy_in", "stay_out"),
    "kozel": (),
    "mus": ("mus", "no_mus", "paso", "envido", "ordago", "quiero", "no_quiero", "raise"),
    "svoi": ("take",),
}
WORDS = tuple(sorted({word for words in CALLS.values() for word in words} | {"pass", "_"}))
WITH_AMOUNT = frozenset({"bet", "raise", "envido", "take"})
AMOUNTS = (None, 0, 1, 2, 3, 4, 5, 10, 18, 29, 30, 36, 38, 39, 40, 41, 1000, 2**53 - 1)
POINTS = {"J": 2, "Q": 3, "K": 4, "10": 10, "A": 11}
"""Kozel's card points, 120 in the deck."""
LANCES = ("grande", "chica", "pares", "juego", "punto")

Cards = tuple[Card, ...]
Named = tuple[tuple[int, Card], ...]


class Fact(NamedTuple):
    """What an event says; what `body` is depends on the kind.

    shown, drawn: ((seat, card), ..); discarded: ((seat, cards), ..); looked: seat;
    called: (seat, call, amount); declared: (what, seats); closed: the result; returned: None.
    """

    kind: str
    body: Any = None


class DisagreementError(AssertionError):
    """The two readings of the rules differ."""


def shown(seat: int, cards: Iterable[Card]) -> Fact:
    return Fact(SHOWN, tuple((seat, card) for card in cards))


def thrown(seat: int, cards: Iterable[Card]) -> Fact:
    return Fact(DISCARDED, ((seat, tuple(cards)),))


def called(seat: int, call: str, amount: int | None = None) -> Fact:
    return Fact(CALLED, (seat, call, amount))


# --- the two sides --------------------------------------------------------------------------------


def _bare(event: type[HandEvent], **fields: object) -> HandEvent:
    """An event without its bytes, which no referee reads and which take long to write."""
    made = object.__new__(event)
    for name, value in fields.items():
        object.__setattr__(made, name, value)
    return made


class Ours:
    """The core's referee. A value: facts give a new one."""

    def __init__(self, referee: Referee, places: Mapping[Card, Place], discards=None) -> None:
        self.referee, self.places = referee, places
        self.discards: dict[int, tuple[tuple[Place, ...], ...]] = discards or {}
        self.card_at = {place: card for card, place in places.items()}.__getitem__

    @property
    def play(self) -> Any:
        return self.referee.play

    @property
    def turn(self) -> list[int]:
        return list(self.referee.turn)

    @property
    def due(self) -> str:
        due = self.play.due
        kinds = {Draw: DRAWN, Serve: DRAWN, Declare: DECLARED, Show: SHOWN, Close: CLOSED}
        return "" if due is None else kinds[type(due)]

    def after(self, fact: Fact) -> Ours | None:
        """The state after a fact, or None if the core does not allow it."""
        event, discards = self._event(fact)
        try:
            referee = self.referee.follow(event, self.card_at, discards)
        except FairdealError:
            return None
        return Ours(referee, self.places, discards)

    def _event(self, fact: Fact) -> tuple[HandEvent, dict]:
        body, discards = fact.body, self.discards
        match fact.kind:
            case "cards.shown":
                cards = [Shown(seat, self.places[card], card, b"") for seat, card in body]
                event = _bare(CardsShown, shown=tuple(cards))
            case "cards.discarded":
                discards = dict(discards)
                for seat, cards in body:
                    places = tuple(sorted(self.places[card] for card in cards))
                    discards[seat] = (*discards.get(seat, ()), places)
                locks = {seat: Lock(len(cards), b"") for seat, cards in body}
                event = _bare(CardsDiscarded, discards=locks)
            case "cards.returned":
                event = _bare(CardsReturned)
            case "cards.looked":
                event = _bare(CardsLooked, seat=body)
            case "play.called":
                event = _bare(PlayCalled, seat=body[0], call=body[1], amount=body[2])
            case "play.declared":
                event = _bare(PlayDeclared, what=body[0], seats=tuple(body[1]))
            case "cards.drawn":
                event = _bare(CardsDrawn, draws=tuple((s, self.places[c]) for s, c in body))
            case _:
                event = _bare(HandClosed, result=body)
        return event, discards


class Theirs:
    """The verifier's play. It changes as it hears, so candidates go to copies."""

    def __init__(self, play: TheirPlay, places: Mapping[Card, Place]) -> None:
        self.play, self.places = play, places

    @property
    def turn(self) -> list[int]:
        return sorted(self.play.turn)

    @property
    def due(self) -> str:
        return self.play.due

    def copy(self) -> Theirs:
        """A play of its own, in the same state."""
        play = self.play
        shared = {id(one): one for one in (play.ruleset, play.match, play.deal)}
        return Theirs(_copied(play, {**shared, id(play.story): []}), self.places)

    def fault(self, fact: Fact) -> str:
        """Follows a fact; "" or what is wrong with it. Spec: PLAY-3, PLAY-4."""
        kind, body, play = fact.kind, fact.body, self.play
        if (play.due and kind != play.due) or (kind != play.due and kind in DUE_ONLY):
            return "not due"
        match kind:
            case "cards.shown":
                order = [(seat, self.places[card]) for seat, card in body]
                if play.due and order != sorted(set(order)):
                    return "not in order"
                return play.shown(list(body))
            case "cards.discarded":
                return self._discarded(dict(body))
            case "cards.returned":
                return play.returned()
            case "cards.looked":
                return play.looked(body)
            case "play.called":
                return play.called(*body)
            case "play.declared":
                return play.declared(body[0], list(body[1]))
            case "cards.drawn":
                return play.drawn(list(body))
        return "" if is_same(play.result(), body) else "another result"

    def _discarded(self, discards: dict[int, Cards]) -> str:
        """Several seats' discards are moves in the order of the turn."""
        if len(discards) > 1 and not self.play.throws_together:
            return "two seats in one event"
        fault = ""
        while discards and not fault:
            seat = next((one for one in discards if one in self.play.turn), min(discards))
            fault = self.play.thrown(seat, list(discards.pop(seat)))
        return fault


_ATOMS = frozenset({str, int, bool, type(None), frozenset})


def _copied(value: Any, memo: dict[int, Any]) -> Any:
    """A deep copy: `copy.deepcopy` takes longer than everything else here together."""
    kind = type(value)
    if kind in _ATOMS:
        return value
    if id(value) in memo:
        return memo[id(value)]
    if kind in {list, tuple}:
        made: Any = kind([one if type(one) in _ATOMS else _copied(one, memo) for one in value])
    elif kind in {set, dict, Counter}:
        made = value.copy()
        if kind is dict:
            made = {key: _copied(one, memo) for key, one in value.items()}
    else:
        made = memo[id(value)] = object.__new__(kind)
        names = getattr(kind, "__slots__", None) or vars(value)
        for name in names:
            object.__setattr__(made, name, _copied(getattr(value, name), memo))
    memo[id(value)] = made
    return made


# --- the cards ------------------------------------------------------------------------------------


class Dealer:
    """A deck at a table, and where each card of it is. Spec: games.md."""

    def __init__(self, game: str, rng: Random, rules: Mapping[str, Any], seats: int, first: int):
        self.game, self.rng, self.rules, self.seats, self.first = game, rng, rules, seats, first
        kind = game_named(game)
        self.deck: Cards = kind.deck(rules)
        self.places = {card: Place(0, at) for at, card in enumerate(self.deck)}
        order, each = list(self.deck), kind.cards_each(rules)
        rng.shuffle(order)
        hands = [order[seat * each : (seat + 1) * each] for seat in range(seats)]
        self.stock = order[seats * each :]
        if rng.random() < 0.3:
            _stack(game, rng, hands, self.stock)
        self.turned: Card | None = None
        self.trumps: dict[int, str] = {}
        getattr(self, f"_begin_{game}")(hands)
        self.dealt = tuple(map(tuple, hands))
        self.undrawn = len(self.stock)
        self.holdings = [set(cards) for cards in hands]
        self.table: list[tuple[int, Card, bool]] = []
        """The trick or the pile: whose it was, and whether it lies face down; the top is last."""
        self.gone: list[tuple[int, Card, bool]] = []
        self.heap: list[tuple[int, Card]] = []
        self.round: list[tuple[int, Card]] = []
        """Discards of Mus: earlier ones, and this round's."""
        self.owed: list[int] = []
        self.reshuffles = 0

    def _begin_kozel(self, hands: list[list[Card]]) -> None:
        index = {"interior": 1 + self.rng.randrange(18), "all": self.rng.randrange(20)}
        at = index.get(self.rules["indicator"], 10)
        self.turned = self.stock[at]
        if self.rules["indicator_place"] == "bottom":
            self.stock.append(self.stock.pop(at))

    def _begin_mus(self, hands: list[list[Card]]) -> None:
        pass

    def _begin_azi(self, hands: list[list[Card]]) -> None:
        last = self.rules["trump"] == "dealer_last"
        self.turned = hands[(self.first - 1) % self.seats][-1] if last else self.stock[0]

    def _begin_svoi(self, hands: list[list[Card]]) -> None:
        suits = self.rng.sample("CDHS", 2)
        if not self.rules["distinct_trumps"] and self.rng.random() < 0.5:
            suits[1] = suits[0]
        self.trumps = dict(enumerate(suits))
        if self.rules["sixes"] == "exchange" and suits[0] != suits[1]:
            gifts = [(s, card) for s in (0, 1) for card in hands[s] if card == f"6{suits[1 - s]}"]
            for seat, card in gifts:
                hands[seat].remove(card)
                hands[1 - seat].append(card)

    def happened(self, fact: Fact) -> None:
        """Moves the cards as a legal fact says."""
        body = fact.body
        if fact.kind == SHOWN and self.game != "mus" and any(self.holdings):
            for seat, card in body:
                self.holdings[seat].remove(card)
                self.table.append((seat, card, False))
        elif fact.kind == DISCARDED:
            for seat, cards in body:
                self.holdings[seat].difference_update(cards)
                if self.game == "mus":
                    self.round += [(seat, card) for card in cards]
                else:
                    self.table += [(seat, card, True) for card in cards]
        elif fact.kind == RETURNED:
            for seat, card, _ in self.table:
                self.holdings[seat].add(card)
            self.table = []
        elif fact.kind == CALLED and body[1] == "take":
            for _ in range(body[2]):
                self.holdings[body[0]].add(self.table.pop()[1])
        elif fact.kind == DRAWN:
            for seat, card in body:
                self.stock.remove(card)
                self.holdings[seat].add(card)

    def clear(self) -> None:
        """A trick of Kozel is over."""
        self.gone += self.table
        self.table = []

    def draw(self, taker: int) -> Fact:
        """Spec: KOZ-5."""
        each = min(4 - len(self.holdings[taker]), len(self.stock) // self.seats)
        order = [(taker + n) % self.seats for n in range(self.seats)] * each
        return Fact(DRAWN, tuple(zip(order, self.stock, strict=False)))

    def serve(self) -> Fact:
        """The next part of a service, after a reshuffle if the stock is empty. Spec: MUS-2..4."""
        if not self.owed:
            self.owed = [seat for seat, _ in self.round]
            if self.rules["service"] != "block" and len(self.owed) == 16:
                self.owed = self.owed[::4] * 4
        if not self.stock:
            self._reshuffle()
        fact = Fact(DRAWN, tuple(zip(self.owed, self.stock, strict=False)))
        self.owed = self.owed[len(fact.body) :]
        if not self.owed:
            self.heap, self.round = self.heap + self.round, []
        return fact

    def _reshuffle(self) -> None:
        kept: list[tuple[int, Card]] = []
        if self.rules["reshuffle"] == "previous":
            kept = self.round
        elif self.rules["reshuffle"] == "all_but_own_last" and len(set(self.owed)) == 1:
            kept = [one for one in self.round if one[0] == self.owed[0]]
        self.stock = [one[1] for one in self.heap + self.round if one not in kept]
        self.rng.shuffle(self.stock)
        self.heap, self.round = [], kept
        self.reshuffles += 1

    def check(self) -> None:
        """Cards are conserved."""
        places = (*self.holdings, self.stock, [one[1] for one in self.table + self.gone])
        cards = list(chain(*places, [one[1] for one in self.heap + self.round]))
        assert len(cards) == len(self.deck)
        assert set(cards) == set(self.deck)


def _stack(game: str, rng: Random, hands: list[list[Card]], stock: list[Card]) -> None:
    """Puts into hands what comes up seldom: four of a suit for a pull, sums of 31."""
    wanted: list[list[Card]] = []
    if game == "kozel":
        for suit in rng.sample("CDHS", rng.randint(1, 3)):
            ranks = rng.sample(FRENCH_RANKS, 4)
            wanted.append([Card(rank + suit) for rank in ranks])
    elif game == "mus":
        suits = rng.sample("oceb", 4)
        sevens = ("7", "7", "7", rng.choice(("10", "11", "12")))
        others = (("11", "12", "10", "1"), ("10", "6", "6", "11"), ("10", "11", "12", "10"))
        sets = (rng.choice((sevens, *others)), rng.choice(others), rng.choice(others))
        wanted = [
            [Card(rank + suits[(at + shift) % 4]) for at, rank in enumerate(sets[shift])]
            for shift in range(rng.randint(1, 3))
        ]
    for cards, hand in zip(wanted, rng.sample(hands, len(wanted)), strict=True):
        for at, card in enumerate(cards):
            other = next(pile for pile in (*hands, stock) if card in pile)
            other[other.index(card)], hand[at] = hand[at], card


# --- a pair ---------------------------------------------------------------------------------------


class Pair:
    """One hand on both sides."""

    def __init__(self, rules: Rules, dealer: Dealer, match: Mapping[str, Any], hand: int) -> None:
        self.dealer, self.match, self.hand = dealer, match, hand
        self.seats, self.ruleset = dealer.seats, dealer.rules
        deal = (hand, dealer.seats, dealer.first)
        rest = (dealer.undrawn, dealer.turned, dealer.trumps)
        play: Play = rules.start(dealer.rules, match, Deal(*deal, dealer.dealt, *rest))
        self.ours = Ours(Referee(play, dealer.seats), dealer.places)
        verifier = PLAYS[dealer.game]
        their_deal = TheirDeal(*deal, list(map(list, dealer.dealt)), *rest)
        self.theirs = Theirs(verifier(dealer.rules, match, their_deal), dealer.places)
        self.facts: list[Fact] = []
        self.candidates = self.legal = 0
        self.style = dealer.rng.choices(("low", "steady", "any"), (86, 11, 3))[0]
        """How both play in Svoi Kozyri."""
        self._is_same(f"out {rules.out(match)}", f"out {verifier.sits_out(match)}")
        fault = verifier.match_fault(dealer.rules, dealer.seats, match)
        if fault:
            raise self.differ(f"the core plays a match that the verifier refuses: {fault}")

    @property
    def due(self) -> str:
        return self.ours.due

    @property
    def has_no_seeds(self) -> bool:
        """A reshuffle is due, and there are no more (HAND-14)."""
        dealer = self.dealer
        service = isinstance(self.ours.play.due, Serve)
        return service and not dealer.stock and dealer.reshuffles == MOST_EPOCHS

    def differ(self, text: str) -> DisagreementError:
        """What is needed to see it again."""
        dealer = self.dealer
        told = {
            "ruleset": dict(self.ruleset),
            "match": dict(self.match),
            "hand": self.hand,
            "first": dealer.first,
            "dealt": dealer.dealt,
            "turned": dealer.turned,
            "trumps": dealer.trumps,
            "facts": [tuple(fact) for fact in self.facts],
        }
        return DisagreementError(
            f"{dealer.game}: {text}\n" + "\n".join(f"{k}: {v}" for k, v in told.items())
        )

    def _is_same(self, ours: str, theirs: str) -> None:
        if ours != theirs:
            raise self.differ(f"core: {ours}, verifier: {theirs}")

    def agree(self) -> None:
        """Both say who is on turn and what is due; one of the two is so, or a pull goes on."""
        ours, theirs = self.ours, self.theirs
        if (ours.turn, ours.due) != (theirs.turn, theirs.due):
            raise self.differ(
                f"core: turn {ours.turn} due {ours.due!r},"
                f" verifier: turn {theirs.turn} due {theirs.due!r}"
            )
        assert bool(ours.turn) + bool(ours.due) + ours.referee.is_pull == 1

    def is_legal(self, fact: Fact) -> bool:
        """Whether both allow a fact now.

        Two things the core's layout sees to before its referee hears of them, so they are not
        asked: that cards lie in the trick when they go back (KOZ-6), and the order of service in
        Mus (MUS-2).
        """
        if fact.kind == RETURNED and not self.dealer.table:
            return False
        if fact.kind == DRAWN and self.due == DRAWN and self.dealer.game == "mus":
            return False
        self.candidates += 1
        ours, fault = self.ours.after(fact) is not None, self.theirs.copy().fault(fact)
        if ours == bool(fault):
            says = "legal" if ours else "illegal"
            raise self.differ(f"{fact}: core: {says}, verifier: {fault or 'legal'}")
        self.legal += ours
        return ours

    def happens(self, fact: Fact) -> None:
        """A legal fact, on both sides and at the table."""
        before = self.ours.due
        after, fault = self.ours.after(fact), self.theirs.fault(fact)
        if after is None or fault:
            says = "legal" if after else "illegal"
            raise self.differ(f"{fact}: core: {says}, verifier: {fault or 'legal'}")
        self.ours = after
        self.facts.append(fact)
        self.theirs.play.story.clear()
        if before != SHOWN:
            self.dealer.happened(fact)
        if self.dealer.game == "kozel" and (self.due in {DRAWN, CLOSED} or _trick_is_over(self)):
            self.dealer.clear()

    def due_fact(self) -> Fact:
        """What is due, as the core has it; for a service, its next part."""
        due = self.ours.play.due
        match due:
            case Draw(first):
                return self.dealer.draw(first)
            case Serve():
                return self.dealer.serve()
            case Declare(what, seats):
                return Fact(DECLARED, (what, tuple(seats)))
            case Show(cards):
                return Fact(
                    SHOWN, tuple((s, c) for s in sorted(cards) for c in self._sorted(cards[s]))
                )
            case Close(result):
                ours = encode(result).decode()
                theirs = json.dumps(
                    self.theirs.play.result(), sort_keys=True, separators=(",", ":")
                )
                self._is_same(ours, theirs)
                return Fact(CLOSED, result)
        raise ValueError("nothing is due")

    def _sorted(self, cards: Iterable[Card]) -> list[Card]:
        return sorted(cards, key=self.dealer.places.__getitem__)

    def choices(self, seat: int) -> tuple[Choice, ...]:
        """What the core lists; after `cards.returned`, the pulls."""
        every = self.ours.referee.choices(seat)
        return tuple(c for c in every if c.kind == "pull") if self.ours.referee.is_pull else every

    def fact_of(self, seat: int, choice: Choice, amount: int | None = None) -> Fact:
        """The event by which a choice begins."""
        if choice.kind == "call":
            return called(seat, choice.call or "", choice.low if amount is None else amount)
        if choice.kind == "throw":
            return thrown(seat, choice.cards)
        if choice.kind == "look":
            return Fact(LOOKED, seat)
        if choice.kind == "pull" and self.dealer.table and not self.ours.referee.is_pull:
            return Fact(RETURNED)
        return shown(seat, choice.cards)


def _trick_is_over(pair: Pair) -> bool:
    """With the stock empty a trick ends without an event; then nothing lies in the core's."""
    return (
        bool(pair.dealer.table) and not pair.ours.play.trick.laid and not pair.ours.referee.is_pull
    )


# --- candidates -----------------------------------------------------------------------------------


def random_fact(pair: Pair, rng: Random) -> Fact:
    """Something that somebody might do now, by the cards that are held: often legal, often not."""
    dealer, game = pair.dealer, pair.dealer.game
    turn = pair.ours.turn or pair.theirs.turn
    seat = rng.choice(turn) if turn and rng.random() < 0.75 else rng.randrange(pair.seats)
    kind = rng.choices((SHOWN, DISCARDED, CALLED, LOOKED, "other"), _WEIGHTS[game])[0]
    if game in {"azi", "mus"} and rng.random() < 0.6:
        kinds = {"call": CALLED, "throw": DISCARDED, "show": SHOWN, "look": LOOKED}
        kind = next((kinds[choice.kind] for choice in pair.choices(seat)), kind)
    if kind == CALLED:
        word = rng.choice(CALLS[game] or WORDS) if rng.random() < 0.9 else rng.choice(WORDS)
        return called(seat, word, _random_amount(pair, seat, word, rng))
    if kind == LOOKED:
        return Fact(LOOKED, seat)
    if kind == "other":
        return _random_other(pair, rng)
    held = sorted(dealer.holdings[seat], key=dealer.places.__getitem__)
    count = _random_count(pair, rng)
    if game == "kozel" and rng.random() < 0.6 and held:
        suits = {suit_of(rng.choice(held)), *([suit_of(dealer.turned)] if dealer.turned else [])}
        held = [card for card in held if suit_of(card) in suits]
    if rng.random() < 0.05 or not held:
        held = list(dealer.deck)
    cards = rng.sample(held, min(count, len(held)))
    if kind == DISCARDED:
        both = rng.random() < 0.1
        other = rng.randrange(pair.seats)
        held = sorted(dealer.holdings[other], key=dealer.places.__getitem__)
        if both and other != seat and held:
            throws = {seat: tuple(cards), other: tuple(rng.sample(held, 1))}
            return Fact(DISCARDED, tuple(sorted(throws.items())))
        return thrown(seat, cards)
    if rng.random() < 0.02 and len(cards) > 1:
        return Fact(SHOWN, ((rng.randrange(pair.seats), cards[0]), *shown(seat, cards[1:]).body))
    return shown(seat, cards)


_WEIGHTS = {
    "kozel": (60, 30, 1, 1, 8),
    "mus": (3, 25, 66, 1, 5),
    "azi": (35, 12, 42, 8, 3),
    "svoi": (66, 1, 29, 1, 3),
}


def _random_count(pair: Pair, rng: Random) -> int:
    """How many cards somebody lays."""
    dealer = pair.dealer
    if dealer.game == "kozel":
        lead = [one for one in dealer.table if one[0] == dealer.table[0][0]]
        return len(lead) if lead and rng.random() < 0.85 else rng.randint(1, 4)
    if dealer.game == "svoi":
        usual = 2 if dealer.table else 1
        return usual if rng.random() < 0.85 else rng.randint(1, 3)
    if dealer.game == "mus":
        return rng.randint(1, 4)
    return 1 if rng.random() < 0.93 else 2


def _random_amount(pair: Pair, seat: int, word: str, rng: Random) -> int | None:
    if (word not in WITH_AMOUNT) == (rng.random() < 0.95):
        return None
    near = [n for n in _near(pair, seat) if n is not None]
    return rng.choice(near) if near and rng.random() < 0.8 else rng.choice(AMOUNTS)


def _near(pair: Pair, seat: int) -> list[int]:
    """Amounts at the bounds, as they are known at the table."""
    dealer, play = pair.dealer, pair.ours.play
    if dealer.game == "svoi":
        return sorted({1, 2, 3, 4, 5, 6, len(dealer.table)})
    if dealer.game == "kozel":
        return [1, 2]
    found = {2, pair.ruleset.get("min_bet", 2), pair.ruleset.get("target", 40)}
    if dealer.game == "azi":
        found |= {max(play.bids), play.bids[seat] + play.stacks[seat], max(play.bids) * 2}
    else:
        level = play.bet.level if play.bet else 0
        found |= {level, pair.ruleset["target"] - level}
    return sorted({n + by for n in found for by in (-1, 0, 1) if 0 <= n + by < 2**53})


def _random_other(pair: Pair, rng: Random) -> Fact:
    """Events that are seldom legal."""
    dealer = pair.dealer
    kind = rng.choice((RETURNED, RETURNED, RETURNED, DECLARED, DRAWN, CLOSED))
    if kind == RETURNED:
        return Fact(RETURNED)
    if kind == DECLARED:
        seats = sorted(rng.sample(range(pair.seats), rng.randint(0, pair.seats)))
        return Fact(DECLARED, (rng.choice(("pares", "juego", "punto")), tuple(seats)))
    if kind == CLOSED:
        return Fact(CLOSED, {"first": 0, "match": dict(pair.match), "score": {}, "winner": None})
    cards = dealer.stock or list(dealer.deck)
    return Fact(DRAWN, ((rng.randrange(pair.seats), cards[0]),))


def every_fact(pair: Pair, rng: Random) -> Iterator[Fact]:
    """All that seats could do now: every show and throw of held cards, every call, the rest."""
    dealer, game = pair.dealer, pair.dealer.game
    for seat in range(pair.seats):
        held = sorted(dealer.holdings[seat], key=dealer.places.__getitem__)
        sizes = range(1, {"svoi": 3, "azi": 3}.get(game, 5))
        for size in sizes:
            pairs = permutations if game == "svoi" and size == 2 and len(held) < 9 else combinations
            for cards in islice(pairs(held, size), 80):
                yield shown(seat, cards)
                if game != "svoi":
                    yield thrown(seat, cards)
        for word in CALLS[game] or WORDS[:2]:
            amounts = (None, 0, 2)
            if word in WITH_AMOUNT:
                amounts = (None, *_near(pair, seat)) if CALLS[game] else amounts
            for amount in amounts:
                yield called(seat, word, amount)
        yield called(seat, rng.choice(WORDS), rng.choice(AMOUNTS))
        yield Fact(LOOKED, seat)
        yield shown(seat, [rng.choice(dealer.deck)])
        yield Fact(SHOWN, ((seat, dealer.deck[0]), ((seat + 1) % pair.seats, dealer.deck[1])))
    yield Fact(RETURNED)
    for _ in range(4):
        yield _random_other(pair, rng)


def wrong_due(pair: Pair, fact: Fact, rng: Random) -> Iterator[Fact]:
    """Events that come close to the one that is due."""
    body = fact.body
    if fact.kind == CLOSED:
        wrong = [changed_leaf(body, rng) for _ in range(2)]
        yield from (Fact(CLOSED, one) for one in wrong if not is_same(one, body))
    elif fact.kind == DECLARED:
        what, seats = body
        yield Fact(DECLARED, ({"pares": "juego"}.get(what, "pares"), seats))
        other = rng.randrange(pair.seats)
        yield Fact(DECLARED, (what, tuple(sorted(set(seats) ^ {other}))))
    elif fact.kind == SHOWN:
        yield Fact(SHOWN, body[::-1] if len(body) > 1 else ((body[0][0] ^ 1, body[0][1]),))
        yield Fact(SHOWN, body[1:] or ((body[0][0], pair.dealer.deck[0]),))
    elif pair.dealer.game == "kozel":
        yield Fact(DRAWN, tuple(((seat + 1) % 4, card) for seat, card in body))
    yield random_fact(pair, rng)


def changed_leaf(value: Any, rng: Random) -> Any:
    """JSON with one other number, truth or null somewhere."""
    if isinstance(value, Mapping) and value:
        key = rng.choice(sorted(value))
        return {**value, key: changed_leaf(value[key], rng)}
    if isinstance(value, list) and value:
        at = rng.randrange(len(value))
        return [*value[:at], changed_leaf(value[at], rng), *value[at + 1 :]]
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + rng.choice((-1, 1)) if value else rng.choice((1, False, None))
    return 0


# --- games ----------------------------------------------------------------------------------------


Mover = Callable[["Pair", Random], Fact]


def choose(pair: Pair, rng: Random) -> Fact:
    """What a seat that may move does: mostly at random, but so that hands come to something."""
    turn = pair.ours.turn
    if turn and rng.random() < 0.8:
        seat = rng.choice(turn)
    else:
        seat = rng.choice([seat for seat in range(pair.seats) if pair.choices(seat)])
    choices = pair.choices(seat)
    game = pair.dealer.game
    pulls = [choice for choice in choices if choice.kind == "pull"]
    if pulls and rng.random() < 0.5:
        choice = pulls[0]
    elif game == "svoi":
        choice = _choose_in_svoi(pair, seat, choices, rng)
    elif game in {"azi", "mus"}:
        wishes = [_WISHES.get(choice.call or "", 4) for choice in choices]
        choice = rng.choices(choices, wishes)[0]
    else:
        choice = rng.choice(choices)
    if choice.low is None or choice.high is None or rng.random() < 0.6:
        return pair.fact_of(seat, choice)
    high = choice.high if rng.random() < 0.2 else min(choice.high, choice.low + 8)
    return pair.fact_of(seat, choice, rng.randint(choice.low, high))


_WISHES = {"mus": 10, "no_mus": 3, "ordago": 0.3, "fold": 1.5, "raise": 3}


def _choose_in_svoi(pair: Pair, seat: int, choices: tuple[Choice, ...], rng: Random) -> Choice:
    """Low cards end a hand soon; anything at all, or the same in the same position, may not."""
    dealer = pair.dealer
    shows = [choice for choice in choices if choice.kind == "show"]
    if pair.style == "steady":
        pile = [card for _, card, _ in dealer.table]
        rng = Random(repr((seat, sorted(dealer.holdings[seat]), pile)))
    wild = {"low": 0.1, "steady": 0.8, "any": 1.0}[pair.style]
    if not shows or (dealer.table and rng.random() < wild):
        return choices[-1] if pair.style == "steady" else rng.choice(choices)
    weights = _WEIGHTS_IN_SVOI[dealer.trumps[seat]]
    return min(shows, key=lambda choice: [weights[card] for card in choice.cards])


_WEIGHTS_IN_SVOI = {
    trump: {
        card: FRENCH_RANKS.index(rank_of(card)) + 9 * (suit_of(card) == trump)
        for card in french_deck()
    }
    for trump in "CDHS"
}


class Played(NamedTuple):
    """A hand that both have played to its end (or to the end of the epochs: no result)."""

    pair: Pair
    result: Mapping[str, Any] | None


class Looks(NamedTuple):
    """How closely a hand is looked at while it is played."""

    tries: int = 3
    """How many candidates are compared in each state."""
    often: float = 0.002
    """In which part of the states all candidates are compared."""
    check: Callable[[Pair], None] | None = None
    """Is called in each state."""


def play(pair: Pair, rng: Random, looks: Looks, mover: Mover = choose) -> Played:
    """Plays a hand to its end, or until the seeds' chains have ended."""
    for _ in range(MOST_FACTS):
        pair.agree()
        if looks.check is not None:
            looks.check(pair)
        if pair.due:
            if pair.has_no_seeds:
                return Played(pair, None)
            fact = pair.due_fact()
            if rng.random() < 0.3:
                for wrong in wrong_due(pair, fact, rng):
                    pair.is_legal(wrong)
            pair.happens(fact)
            if fact.kind == CLOSED:
                return Played(pair, fact.body)
            continue
        if rng.random() < looks.often:
            for candidate in every_fact(pair, rng):
                pair.is_legal(candidate)
        for _ in range(looks.tries):
            pair.is_legal(random_fact(pair, rng))
        pair.happens(mover(pair, rng))
    raise AssertionError("the hand does not end")


def any_value(values: Any, rng: Random) -> Any:
    if not isinstance(values, Span):
        return rng.choice(values)
    near = (1, 2, 3, 5, 7, 10, 15, 25, 40, 60, 100, 333)
    few = [n for n in near if values.low <= n <= values.high]
    return rng.choice((values.default, values.low, values.high, *few * 2))


def any_ruleset(game: str, rng: Random, fixed: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """A whole ruleset, every option at random."""
    kind = game_named(game)
    every = {**kind.options, **rules_of(kind).options}
    chosen = {name: any_value(every[name], rng) for name in sorted(every)}
    if game == "azi" and rng.random() < 0.7:  # stakes that fit each other
        chosen["ante"], chosen["min_bet"] = rng.choice((1, 2, 5, 10)), rng.choice((1, 2, 5, 10))
        chosen["stack"] = rng.choice((10, 15, 25, 40, 60, 100, 1000))
    return chosen | dict(fixed or {})


def any_match(game: str, rules: Mapping[str, Any], fresh: Mapping[str, Any], rng: Random) -> Any:
    """The fresh match, or one that can be so."""
    if rng.random() < 0.6 or game == "azi":
        return fresh
    if game == "kozel":
        defeat = [rng.randrange(4, rules["target"], 2), rng.randrange(0, rules["target"], 2)]
        eggs = rng.random() < 0.5
        doubled = eggs and rules["eggs"] == "double_next" and rng.random() < 0.7
        return {"defeat": defeat, "doubled": doubled, "eggs": eggs, "leader": rng.randrange(4)}
    if game == "mus":
        most = rules["games"] // 2
        score = [rng.randrange(rules["target"] // 2, rules["target"]) for _ in range(2)]
        return {"games": [rng.randint(0, most), rng.randint(0, most)], "score": score}
    return {"draws": rng.randrange(9), "wins": [rng.randrange(9), rng.randrange(9)]}


MOST_HANDS = 12
"""A table is left after so many hands, if its match has not ended before."""


def tables(
    game: str,
    seed: str,
    *,
    rules: Rules | None = None,
    fixed: Mapping[str, Any] | None = None,
    looks: Looks | None = None,
) -> Iterator[Played]:
    """Hand after hand, match after match: each table has a ruleset of its own.

    Args:
        game: The game.
        seed: The same gives the same.
        rules: The core's rules, or what stands for them.
        fixed: Options that are not drawn.
        looks: How closely each hand is looked at.
    """
    rng, rules = Random(f"{game} {seed}"), rules or rules_of(game_named(game))
    verifier = PLAYS[game]
    while True:
        ruleset, seats = any_ruleset(game, rng, fixed), rng.choice(SEATS[game])
        fresh = dict(rules.fresh(ruleset, seats))
        if not is_same(fresh, verifier.fresh(ruleset, seats)):
            raise DisagreementError(f"{game}: {ruleset}: another fresh match")
        match, first = any_match(game, ruleset, fresh, rng), None
        shift = 0 if match is fresh else rng.randrange(2)
        for number in range(1, MOST_HANDS + 1):
            first = rng.randrange(seats) if first is None else first
            dealer = Dealer(game, rng, ruleset, seats, first)
            pair = Pair(rules, dealer, match, number + shift)
            played = play(pair, rng, looks or Looks())
            yield played
            result = played.result
            if result is None:
                continue
            if result["winner"] is not None:
                break
            match, first = result["match"], result["first"]


# --- what must always hold ------------------------------------------------------------------------


def check_state(pair: Pair) -> None:
    """Cards, chips and points, by books of our own."""
    pair.dealer.check()
    _CHECKS[pair.dealer.game](pair)


def _check_hands(pair: Pair, hands: Iterable[Iterable[Card]]) -> None:
    if not pair.ours.referee.is_pull:
        assert [set(hand) for hand in hands] == pair.dealer.holdings


def _worth(entries: Iterable[tuple[int, Card, bool]]) -> int:
    return sum(POINTS.get(rank_of(card), 0) for _, card, _ in entries)


def _check_kozel(pair: Pair) -> None:
    """120 points in all; what lies face down at the end is shown."""
    play, dealer = pair.ours.play, pair.dealer
    _check_hands(pair, play.hands)
    assert sum(play.points) == _worth(dealer.gone)
    if pair.due == CLOSED:
        result = play.due.result
        assert sum(result["score"]["points"]) == 120
        assert result["score"]["penalty"].count(0) >= 1
    if pair.due == SHOWN:
        down = {(seat, card) for seat, card, is_down in dealer.gone if is_down}
        assert set(pair.due_fact().body) == down


def _check_azi(pair: Pair) -> None:
    """Chips are conserved, to the last one; nobody has less than none."""
    play, total = pair.ours.play, pair.seats * pair.ruleset["stack"]
    _check_hands(pair, play.hands)
    assert min(play.stacks) >= 0
    assert min(play.contributions) >= 0
    assert sum(play.stacks) + play.bank == total
    if pair.due == CLOSED:
        match, score = play.due.result["match"], play.due.result["score"]
        assert sum(match["stacks"]) + match["bank"] == total
        assert sum(match["contributions"].values()) == match["bank"]
        assert sum(score["paid"].values()) == (0 if score["azi"] else score["bank"])
        assert len(match["players"]) >= (1 if score["winner"] is not None else 2)


def _check_mus(pair: Pair) -> None:
    """No level above the target, and nothing counted once the game is won."""
    play, target = pair.ours.play, pair.ruleset["target"]
    _check_hands(pair, play.hands)
    assert play.bet is None or play.bet.level <= target
    if pair.due != CLOSED:
        assert max(play.score) < target
        return
    result = play.due.result
    lances, score = result["score"]["lances"], list(pair.match["score"])
    there = [lances[name] for name in LANCES if lances[name] is not None]
    for lance in there:
        if lance["end"] == "refused":
            score[lance["team"]] += lance["stake"]
    for lance in there:
        if max(score) >= target:
            assert (lance["bonus"], lance["seat"]) == (0, None)
        if max(score) >= target and lance["end"] != "refused":
            assert (lance["stake"], lance["team"]) == (0, None)
        elif lance["team"] is not None:
            score[lance["team"]] += lance["bonus"]
            score[lance["team"]] += lance["stake"] * (lance["end"] != "refused")
    points = [now - then for now, then in zip(score, pair.match["score"], strict=True)]
    assert points == result["score"]["points"]
    assert sum(one >= target for one in score) <= 1
    games = [
        now - then for now, then in zip(result["match"]["games"], pair.match["games"], strict=True)
    ]
    assert games == [int(one >= target) for one in score]


def _check_svoi(pair: Pair) -> None:
    """The pile is as it lies, and no hand is longer than it may be."""
    play, dealer = pair.ours.play, pair.dealer
    _check_hands(pair, play.holdings)
    assert list(play.pile) == [card for _, card, _ in dealer.table]
    assert len(pair.facts) <= 1000 + (pair.due == CLOSED)


_CHECKS = {"azi": _check_azi, "kozel": _check_kozel, "mus": _check_mus, "svoi": _check_svoi}


# --- the work, in portions ------------------------------------------------------------------------


class Work(NamedTuple):
    """What a portion has done."""

    games: int
    candidates: int
    """Compared in their states; the facts that happened come on top."""
    legal: int
    """Those of them that both allowed."""
    facts: int
    seen: Counter[str]
    """Events by kind, calls by name, and how hands ended."""


def lock_step(game: str, seed: str, count: int, looks: Looks | None = None) -> Work:
    """Plays so many hands of one game on both sides, and looks at every state."""
    games = candidates = legal = facts = 0
    seen: Counter[str] = Counter()
    every = tables(game, seed, looks=looks or Looks(check=check_state))
    for pair, result in islice(every, count):
        games += 1
        candidates += pair.candidates
        legal += pair.legal
        facts += len(pair.facts)
        seen.update(fact.body[1] if fact.kind == CALLED else fact.kind for fact in pair.facts)
        seen.update(_notable(game, result))
        if pair.dealer.reshuffles:
            seen["reshuffle"] += 1
    return Work(games, candidates, legal, facts, seen)


def _notable(game: str, result: Mapping[str, Any] | None) -> Iterator[str]:
    if result is None:
        yield "epochs"
        return
    score = result["score"]
    if result["winner"] is not None:
        yield "match"
    if game == "svoi":
        yield score["reason"]
    elif game == "kozel":
        yield from (f"penalty {points}" for points in score["penalty"] if points)
        if score["points"] == [60, 60]:
            yield "eggs"
    elif game == "azi":
        yield "azi" if score["azi"] else "part" if len(score["paid"]) > 1 else "bank"
    else:
        yield from {lance["end"] for lance in score["lances"].values() if lance}


def paired_games(game: str, start: int, end: int) -> tuple[int, list[str]]:
    """Plays games in lock step.

    Returns:
        How many, and how core and verifier differed (the first time), if they did.
    """
    try:
        return lock_step(game, f"from {start}", end - start).games, []
    except AssertionError as difference:
        return end - start, [str(difference)[:2000]]
