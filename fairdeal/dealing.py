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
    HandDealt,
    HandDisclosed,
    HandEvent,
    Header,
    Signatures,
    StockReshuffled,
)
from fairdeal.games.base import Layout
from fairdeal.hand import Hand, Phase
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

    def __repr__(self) -> str:
        return f"Dealing(hand={self.hand.number}, <secret>)"

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("secrets are not pickled")

    def at(self, hand: Hand) -> Dealing:
        """The same secrets with the hand as it is now, its decks derived."""
        if hand is self.hand and self.decks:
            return self
        return changed(self, hand=hand)._with_decks()

    def _with_decks(self) -> Dealing:
        """Derive the deck of every epoch whose seeds are all open."""
        hand = self.hand
        decks = self.decks
        if len(decks) == len(hand.seeds):
            return self  # there is none for the newest seeds only while some of them are due
        known = sum([len(seeds) == len(hand.table.contribute) for seeds in hand.seeds])
        for epoch in range(len(decks), known):
            cards = self._pool(epoch, decks) if epoch else hand.game.deck(hand.table.ruleset)
            key = hand.key(epoch, self.server_seed)
            decks = (*decks, SealedDeck.from_key(key, epoch, cards))
        return self if decks is self.decks else changed(self, decks=decks)

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
        down = {
            place
            for throw in layout.down
            if throw.seat == seat
            for place in self.thrown[seat][throw.k]
        }
        return tuple([place for place in layout.received[seat] if place not in down])

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
        if hand.phase is Phase.PLAYING and layout.fresh:
            return self._gifts(header, layout)
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
        layout = game.deal(rules, seats, first, hand.number, position)
        return HandDealt(
            header=header,
            hand=hand.number,
            deck_root=deck.root,
            first=first,
            positions={
                seat: tuple([place.position for place in places])
                for seat, places in enumerate(layout.received)
            },
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
                target = hand.game.gift(hand.table.ruleset, layout, seat, self.card(place))
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

    def show(self, header: Header, seat: int, places: Sequence[Place]) -> CardsShown:
        """A seat lays cards open. Spec: HAND-11, KOZ-7."""
        hand, layout = self.hand, self.hand.playing
        if not 0 <= seat < hand.table.seats:
            raise StateError("seat_unknown", "the table has no such seat")
        held = self.holding(seat) if layout.count(seat) else layout.received[seat]
        if not set(places) <= set(held):
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
