"""What only the service can do: make events from its secrets.

A `Dealing` is a hand together with its server seed and the places of its face-down discards. It
derives decks, says which event is due, and opens cards. Whatever it makes goes through the state
machine of `table`, like everybody's events.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NoReturn

from fairdeal.cards import Card, Deck, in_canonical_order
from fairdeal.codecs import Given, Lock, Place, Shown
from fairdeal.discards import discard_lock, discard_salt
from fairdeal.errors import StateError
from fairdeal.events import (
    CardsDiscarded,
    CardsDrawn,
    CardsGiven,
    CardsShown,
    Discards,
    HandClosed,
    HandDealt,
    HandDisclosed,
    HandEvent,
    Header,
    PlayDeclared,
    Signatures,
    StockReshuffled,
)
from fairdeal.games import rules_of
from fairdeal.games.base import Layout
from fairdeal.games.rules.base import Close, Deal, Declare, Draw, Play, Show
from fairdeal.hand import Hand, Phase
from fairdeal.referee import Referee
from fairdeal.sealed_deck import Opening, SealedDeck
from fairdeal.seeds import ServerSeed
from fairdeal.shuffle import pick
from fairdeal.values import changed


@dataclass(frozen=True)
class Dealing:
    """A hand and its secrets. Never logged, never pickled.

    Openings exist from the deal on; they leave the service once its event is in the log (HAND-7).
    """

    hand: Hand
    server_seed: ServerSeed
    thrown: Discards
    """Every discard of the hand so far: by seat, by k, ascending."""
    decks: tuple[SealedDeck, ...] = ()
    """By epoch, as far as they have been needed."""
    referee: Referee | None = None
    """How the play stands, at a table that has a referee."""

    def __repr__(self) -> str:
        return f"Dealing(hand={self.hand.number}, <secret>)"

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("secrets are not pickled")

    def at(self, hand: Hand) -> Dealing:
        """The same secrets with the hand as it is now, its decks derived."""
        if hand is self.hand and self.decks:
            return self
        dealing = changed(self, hand=hand)
        # The newest seeds are the only ones of which some may still be due.
        known = len(hand.seeds) - (len(hand.seeds[-1]) < len(hand.table.contribute))
        return dealing if len(self.decks) == known else dealing._with_decks(known)

    def after(self, hand: Hand, event: HandEvent) -> Dealing:
        """The same secrets after an event of the hand, which the referee has judged.

        Raises:
            StateError: The referee does not allow it. Spec: PLAY-3, PLAY-4.
        """
        if not hand.table.referee:
            return self.at(hand)
        dealing = self if len(self.decks) == len(hand.seeds) else self.at(hand)
        return changed(dealing, hand=hand, referee=dealing._judged(event))

    def replayed(self, events: Iterable[HandEvent]) -> Dealing:
        """The same secrets, with the referee's view after all these events of the hand."""
        dealing = self
        for event in events:
            dealing = dealing.after(self.hand, event)
        return dealing

    def _judged(self, event: HandEvent) -> Referee | None:
        if isinstance(event, HandDealt):
            return Referee(self._start(event), self.hand.table.seats)
        if self.referee is None or isinstance(event, (CardsGiven, HandDisclosed)):
            return self.referee
        return self.referee.follow(event, self.card, self.thrown)

    def _start(self, event: HandDealt) -> Play:
        """The play after the deal, and the exchange of sixes that follows from it."""
        hand, rules = self.hand, self.hand.table.ruleset
        hands = [
            [self.decks[0].order[position] for position in event.positions[seat]]
            for seat in range(hand.table.seats)
        ]
        for source, held in enumerate([list(cards) for cards in hands]):
            for card in held:
                target = hand.game.gift(rules, hand.trumps, source, card)
                if target is not None:
                    hands[source].remove(card)
                    hands[target].append(card)
        deal = Deal(
            hand=hand.number,
            seats=hand.table.seats,
            first=event.first,
            hands=tuple([tuple(cards) for cards in hands]),
            stock=len(self.decks[0]) - sum([len(cards) for cards in hands]),
            turned=event.indicator or (event.shown[0].card if event.shown else None),
            trumps=hand.trumps,
        )
        return rules_of(hand.game).start(rules, hand.match or {}, deal)

    def _with_decks(self, known: int) -> Dealing:
        """Derive the decks of the first `known` epochs, whose seeds are all open."""
        hand, decks = self.hand, self.decks
        for epoch in range(len(decks), known):
            cards = self._pool(epoch, decks) if epoch else hand.game.deck(hand.table.ruleset)
            key = hand.key(epoch, self.server_seed)
            decks = (*decks, SealedDeck.from_key(key, epoch, cards))
        return changed(self, decks=decks)

    def _pool(self, epoch: int, decks: Sequence[SealedDeck]) -> Deck:
        """The cards that an epoch's reshuffle takes or took. Spec: HAND-13, MUS-4."""
        hand, rules = self.hand, self.hand.table.ruleset
        done = epoch <= len(hand.pools)
        pool = hand.pools[epoch - 1] if done else hand.game.pool(rules, self._layout)
        cards = [
            decks[place.epoch].order[place.position]
            for throw in pool
            for place in self.thrown[throw.seat][throw.k]
        ]
        return in_canonical_order(frozenset(cards), hand.game.deck(rules))

    @property
    def _layout(self) -> Layout:
        if self.hand.layout is None:
            raise StateError("wrong_phase", "the hand is not dealt")
        return self.hand.layout

    def card(self, place: Place) -> Card:
        """The card at a place."""
        return self.decks[place.epoch].order[place.position]

    def opening(self, place: Place) -> Opening:
        """What proves the card at a place."""
        return self.decks[place.epoch].opening(place.position)

    def holding(self, seat: int) -> tuple[Place, ...]:
        """What a seat holds now, in the order received."""
        layout = self._layout
        received = layout.received[seat]
        down = {
            place
            for throw in layout.down
            if throw.seat == seat
            for place in self.thrown[seat][throw.k]
        }
        return tuple([place for place in received if place not in down]) if down else received

    def places(self, seat: int, cards: Iterable[Card]) -> tuple[Place, ...]:
        """Where these cards of a seat's holding lie, or `not_in_holding`."""
        held = {self.card(place): place for place in self.holding(seat)}
        wanted = tuple(cards)
        if not held.keys() >= set(wanted):
            raise StateError("not_in_holding", "the seat does not hold such a card")
        return tuple([held[card] for card in wanted])

    def discard_salt(self, seat: int, k: int) -> bytes:
        """The salt of a seat's k-th discard. Spec: HAND-10."""
        return discard_salt(self.decks[0].key, seat, k)

    # Events that follow by themselves.

    def due(self, header: Header) -> HandEvent | None:
        """The event that the rules make due now, if it is one of the service's. Spec: HAND-9."""
        hand = self.hand
        if hand.phase is Phase.DEALING:
            return self._deal(header)
        layout = hand.layout
        if layout is None:
            return None
        if hand.phase is Phase.PLAYING:
            gifts = self._gifts(header, layout) if layout.fresh else None
            return gifts or self._due_in_play(header, layout)
        if hand.phase is Phase.SERVING:
            draws = tuple(zip(layout.owed, layout.stock, strict=False))
            return CardsDrawn(header=header, hand=hand.number, draws=draws)
        if hand.phase is Phase.RESTOCKING and hand.head is not None:
            deck = self.decks[hand.epoch]
            return StockReshuffled(
                header=header,
                hand=hand.number,
                epoch=hand.epoch,
                count=len(deck),
                deck_root=deck.root,
            )
        return None

    def _due_in_play(self, header: Header, layout: Layout) -> HandEvent | None:
        """What the referee says is due. Spec: PLAY-4, PLAY-5."""
        number = self.hand.number
        match self.referee.play.due if self.referee is not None else None:
            case Draw(first):
                return self.draw(header, first)
            case Declare(what, seats):
                return PlayDeclared(header=header, hand=number, what=what, seats=seats)
            case Close(result):
                return HandClosed(header=header, hand=number, result=result)
            case Show(cards):
                shown = [
                    Shown(seat, place, card, self.decks[place.epoch].salt(place.position))
                    for seat in sorted(cards)
                    for place in sorted(self._showable(seat, layout))
                    if (card := self.card(place)) in cards[seat]
                ]
                return CardsShown(header=header, hand=number, shown=tuple(shown))
            case _:
                return None

    def _deal(self, header: Header) -> HandDealt:
        """Spec: HAND-6, GAME-1, GAME-2, KOZ-1, AZI-1."""
        hand, deck = self.hand, self.decks[0]
        game, rules, seats = hand.game, hand.table.ruleset, hand.table.seats
        first = pick(deck.key, "first", seats) if hand.first is None else hand.first
        rule, indicator, position = game.indicator(rules), None, None
        if rule is not None:
            at = rule.start + (pick(deck.key, "indicator", rule.choices) if rule.drawn else 0)
            indicator = deck.order[at]
            position = at if rule.public else None
        return HandDealt(
            header=header,
            hand=hand.number,
            deck_root=deck.root,
            first=first,
            positions=dict(enumerate(game.positions(rules, seats, first))),
            indicator=indicator,
            shown=tuple(
                [
                    Shown(seat, Place(0, p), deck.order[p], deck.salt(p))
                    for seat, p in game.turned(rules, seats, first, position)
                ]
            ),
        )

    def _gifts(self, header: Header, layout: Layout) -> CardsGiven | None:
        """Spec: SVO-3."""
        hand = self.hand
        if not hand.game.gives:
            return None
        given = []
        for seat, places in enumerate(layout.received):
            for place in places:
                target = hand.game.gift(hand.table.ruleset, hand.trumps, seat, self.card(place))
                if target is not None:
                    salt = self.decks[place.epoch].salt(place.position)
                    given.append(Given(seat, target, place, self.card(place), salt))
        if not given:
            return None
        return CardsGiven(header=header, hand=hand.number, given=tuple(given))

    # Events that somebody asked for.

    def draw(self, header: Header, taker: int) -> CardsDrawn:
        """Everyone draws, the taker first. Spec: KOZ-5."""
        hand = self.hand
        if not 0 <= taker < hand.table.seats:
            raise StateError("seat_unknown", "the table has no such seat")
        layout = hand.game.draw(hand.table.ruleset, hand.playing, taker)
        draws = tuple(zip(layout.owed, layout.stock, strict=False))
        return CardsDrawn(header=header, hand=hand.number, draws=draws)

    def discard(
        self, header: Header, discards: Mapping[int, Iterable[Place]], sigs: Signatures
    ) -> tuple[CardsDiscarded, Dealing]:
        """Seats throw these cards; the dealing remembers which. Spec: HAND-10, HAND-11."""
        hand, layout = self.hand, self.hand.playing
        locks = {}
        thrown = dict(self.thrown)
        for seat, places in discards.items():
            if not 0 <= seat < hand.table.seats:
                raise StateError("seat_unknown", "the table has no such seat")
            cards = tuple(sorted(places))
            if len(set(cards)) != len(cards) or not set(cards) <= set(self.holding(seat)):
                raise StateError("not_in_holding", "a seat throws cards that it holds, each once")
            k = layout.thrown[seat]
            salt = self.discard_salt(seat, k)
            locks[seat] = Lock(len(cards), discard_lock(hand.number, seat, k, salt, cards))
            thrown[seat] = (*thrown.get(seat, ()), cards)
        event = CardsDiscarded(header=header, hand=hand.number, discards=locks, sigs=sigs)
        return event, changed(self, thrown=thrown)

    def _showable(self, seat: int, layout: Layout) -> tuple[Place, ...]:
        """A seat's holding; at the count of a Kozel hand its discards. Spec: HAND-11, KOZ-7."""
        return self.holding(seat) if layout.count(seat) else layout.received[seat]

    def show(self, header: Header, seat: int, places: Sequence[Place]) -> CardsShown:
        """A seat lays cards open. Spec: HAND-11, KOZ-7."""
        hand, layout = self.hand, self.hand.playing
        if not 0 <= seat < hand.table.seats:
            raise StateError("seat_unknown", "the table has no such seat")
        if not set(places) <= set(self._showable(seat, layout)):
            raise StateError("not_in_holding", "a seat shows cards that it holds")
        return CardsShown(
            header=header,
            hand=hand.number,
            shown=tuple(
                [Shown(seat, p, self.card(p), self.decks[p.epoch].salt(p.position)) for p in places]
            ),
        )

    def disclose(self, header: Header) -> HandDisclosed:
        """Open the hand's secret. Spec: HAND-17."""
        return HandDisclosed(
            header=header,
            hand=self.hand.number,
            server_seed=self.server_seed,
            discards=self.thrown,
        )
