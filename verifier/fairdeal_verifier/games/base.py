"""What the games have in common: holdings, the stock, and the rules that a game may add to.

A game is one module with one subclass of `Game`. The base plays the cards; the subclass says what
its own section of games.md says. Every method that judges an event gives "" if the event is legal
and else why not; either way it brings the state on as well as it can, so that one fault is not
found again under every later check.
"""

from collections import deque
from collections.abc import Mapping
from typing import Any, ClassVar

from fairdeal_verifier.games.cards import (
    FRENCH_RANKS,
    SPANISH_RANKS,
    Discard,
    Holding,
    Place,
    deck_of,
)

__all__ = ["FRENCH_RANKS", "SPANISH_RANKS", "Discard", "Game", "Holding", "Place", "deck_of"]


class Game:
    """One hand of a game: its deck, its ruleset, and what may happen after the deal.

    Attributes:
        holdings: The seats' cards.
        stock: The places of the newest epoch that have not been dealt, top first.
        epoch: The newest epoch that has a deck.
        due: The type of the event that has to come next, or ""; `seeds.opened`: a reshuffle is due.
        out: With a referee, the seats that do not take part.
        half_locked: Some seats of a round of discards have locked and others have not.
    """

    id: ClassVar[str]
    name: ClassVar[str]
    seat_numbers: ClassVar[range]
    options: ClassVar[dict[str, tuple[object, ...]]]
    types: ClassVar[frozenset[str]]
    said: ClassVar[frozenset[str]] = frozenset()  # types that only a referee asks for
    suits: ClassVar[str] = "CDHS"
    ranks: ClassVar[tuple[str, ...]] = FRENCH_RANKS
    declares: ClassVar[bool] = False
    has_indicator: ClassVar[bool] = False
    showing_plays: bool = True

    def __init__(self, ruleset: Mapping[str, Any], seats: int, hand: int) -> None:
        """Sets the table.

        Args:
            ruleset: Valid options (`ruleset_fault`).
            seats: How many seats there are.
            hand: The number of the hand.
        """
        self.ruleset = ruleset
        self.seats = seats
        self.hand = hand
        self.first = 0
        self.trumps: dict[int, str] = {}
        self.holdings = [Holding() for _ in range(seats)]
        self.stock: deque[Place] = deque()
        self.epoch = 0
        self.due = ""
        self.out: frozenset[int] = frozenset()
        self.half_locked = False

    # What the table is.

    @classmethod
    def ruleset_fault(
        cls, ruleset: Mapping[str, Any], play: Mapping[str, tuple[object, ...] | range]
    ) -> str:
        """Says what is wrong with a ruleset. Spec: GAME-3, GAME-5.

        Args:
            ruleset: Any JSON object.
            play: With a referee, the options of play.
        """
        options = {**cls.options, **play}
        if ruleset.keys() != options.keys():
            return "the ruleset does not have exactly the options of its game"
        for name, values in options.items():
            value = ruleset[name]
            # `1 == True`, so the kinds are compared too.
            if isinstance(values, range):
                is_there = type(value) is int and value in values
            else:
                is_there = any(type(v) is type(value) and v == value for v in values)
            if not is_there:
                return f"the ruleset's option {name} has no value of the game"
        return ""

    def follow(self, out: frozenset[int]) -> None:
        """Has a referee, and these seats do not take part."""
        self.out = out

    @property
    def cards_each(self) -> int:
        """How many cards each seat is dealt."""
        return 4

    def deck(self) -> list[str]:
        """Lists the deck in canonical order. Spec: SHUF-1."""
        return deck_of(self.ranks, self.suits)

    def declaration_fault(self) -> str:
        """Says what is wrong with the declarations, when all are made."""
        return ""

    # The deal.

    def deal(self, body: Mapping[str, Any], cards: list[str] | None) -> str:
        """Follows `hand.dealt`.

        Args:
            body: The event.
            cards: The order of the deck, or None before disclosure.

        Returns:
            What is wrong with it, or "".

        Spec: GAME-1
        """
        n, k = self.seats, self.cards_each
        self.first = body["first"]
        right = {str((self.first + i) % n): list(range(i, n * k, n)) for i in range(n)}
        for seat, places in right.items():
            for position in places:
                self.holdings[int(seat)].take((0, position))
        self.stock = deque((0, position) for position in range(n * k, len(self.deck())))
        fault = self.dealt_fault(body)
        self.after_deal(body, cards)
        if body["positions"] != right:
            return "the cards did not go round one at a time from the first seat"
        return fault

    def dealt_fault(self, body: Mapping[str, Any]) -> str:
        """Says what is wrong with what `hand.dealt` shows: anything, unless a game says so."""
        if body["indicator"] is not None or body["shown"]:
            return "a card is shown at the deal, and this game shows none"
        return ""

    def after_deal(self, body: Mapping[str, Any], cards: list[str] | None) -> None:
        """Changes the stock, or makes an event due."""

    # Play. Each gives "" or why the event is not legal.

    def draw(self, draws: list[Place], seats: list[int]) -> str:
        """Follows `cards.drawn`. Spec: GAME-4.

        Args:
            draws: The places, in the order of service.
            seats: Who gets each of them.
        """
        fault = self.draw_fault(seats)
        for seat, place in zip(seats, draws, strict=True):
            if self.stock and self.stock[0] == place:
                self.stock.popleft()
            else:
                fault = fault or "a card was drawn that did not lie on top of the stock"
                if place in self.stock:
                    self.stock.remove(place)
            self.holdings[seat].take(place)
        self.after_draw(len(draws))
        return fault

    def draw_fault(self, seats: list[int]) -> str:
        """Says if these seats may draw now, in this order."""
        del seats
        return "nothing is drawn in this game"

    def after_draw(self, count: int) -> None:
        """Notes what has been served."""

    def discard(self, discards: list[Discard]) -> str:
        """Follows `cards.discarded`. Spec: HAND-11."""
        fault = self.discard_fault(discards)
        for one in discards:
            holding = self.holdings[one.seat]
            if one.count > holding.size:
                fault = fault or f"seat {one.seat} threw more cards than it had"
            if one.places is None:
                holding.hidden += one.count
            else:
                if len(set(one.places)) != len(one.places) or not holding.cards.issuperset(
                    one.places
                ):
                    fault = fault or f"seat {one.seat} threw a card that it did not hold"
                holding.cards.difference_update(one.places)
                holding.thrown.update(one.places)
            holding.fresh = 0
        self.after_discard(discards)
        return fault

    def discard_fault(self, discards: list[Discard]) -> str:
        """Says if these seats may discard now, this many cards."""
        del discards
        return "nothing is discarded in this game"

    def after_discard(self, discards: list[Discard]) -> None:
        """Notes who has locked."""

    def show(self, seat: int | None, place: Place) -> str:
        """Follows one card of `cards.shown`. Spec: HAND-11."""
        if seat is None:
            return "a card was shown that belongs to no seat"
        holding = self.holdings[seat]
        fault = self.show_fault(seat)
        if place not in holding.cards or holding.size <= (
            0 if self.showing_plays else holding.fresh
        ):
            return fault or f"seat {seat} showed a card that it did not hold"
        if not self.showing_plays and place in holding.shown:
            return fault or f"seat {seat} showed a card twice"
        holding.shown.add(place)
        if self.showing_plays:
            holding.cards.discard(place)
        else:
            holding.fresh += 1
        self.after_show(seat, place)
        return fault

    def show_fault(self, seat: int) -> str:
        """Says if a seat may show cards now."""
        del seat
        return ""

    def after_show(self, seat: int, place: Place) -> None:
        """Notes what has been shown."""

    def give(self, given: list[dict[str, Any]]) -> str:
        """Follows `cards.given`."""
        del given
        return "nothing is given in this game"

    def give_back(self) -> str:
        """Follows `cards.returned`."""
        return "nothing goes back in this game"

    def look(self, seat: int) -> str:
        """Follows `cards.looked`."""
        del seat
        return "nobody looks later in this game"

    def call(self, seat: int, call: str, amount: int | None) -> None:
        """Follows `play.called` as far as it moves cards; if it is legal is not judged here."""

    def pool(self) -> tuple[int, list[Place] | None]:
        """Gives how many cards a reshuffle takes, and which, if that is known."""
        return 0, None

    def reshuffle(self, count: int) -> None:
        """Goes on with a new stock of this many cards. Spec: HAND-13, VER-5."""
        self.epoch += 1
        # Only after a fault is it more than the deck. Events may then state millions, and each draw
        # looks for its place among them.
        count = min(count, len(self.deck()))
        self.stock = deque((self.epoch, position) for position in range(count))

    def may_exchange(self) -> bool:
        """Says if cards may have to change hands right after the deal."""
        return False

    def exchange_fault(self) -> str:
        """Says at the end if something was due after the deal and never came."""
        return ""

    def indicator_index(self, key: Any) -> int:  # noqa: ANN401 (a DealKey; games know no hashing)
        """Gives the position that was drawn for the indicator."""
        raise NotImplementedError
