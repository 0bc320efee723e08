"""What happens at the table, told from its public events, one line each.

Like everybody the tale knows what is public. Who takes a trick follows from the cards that lie
open, so it is said as soon as the last one lies.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from fairdeal.cards import Card, rank_of, suit_of
from fairdeal.events import (
    CardsDiscarded,
    CardsDrawn,
    CardsGiven,
    CardsLooked,
    CardsReturned,
    CardsShown,
    Event,
    HandAborted,
    HandDealt,
    PlayCalled,
    PlayDeclared,
    StockReshuffled,
    TrumpsDeclared,
)
from fairdeal.games.rules import azi, kozel
from fairdeal.hand import Hand
from fairdeal_api.terminal.lines import Part
from fairdeal_api.terminal.screen import TableScreen
from fairdeal_api.terminal.seating import YOU, Company

Json = dict[str, Any]

_REASONS: Final = {
    "operator": "The hand is broken off",
    "turn_timeout": "Somebody did not move in time",
    "seal_timeout": "Somebody did not seal in time",
    "open_timeout": "Somebody did not open a seed in time",
}


class Tale:
    """One hand. The base tells what is alike in all games."""

    def __init__(self, screen: TableScreen, company: Company, hand: Hand) -> None:
        """Begin.

        Args:
            screen: Where it is told.
            company: Who sits at the table.
            hand: The hand as it was opened.
        """
        self.screen = screen
        self.company = company
        self.opened = hand
        self.own: tuple[Card, ...] = ()
        """The person's own discard, to be named to it alone; set before it is made."""
        self.drawn: list[Card] = []
        """The person's own new cards."""
        self.declared: dict[str, tuple[int, ...]] = {}

    def tell(self, event: Event, board: Json) -> None:
        """What has happened, and what was on the table before."""
        match event:
            case TrumpsDeclared():
                for seat, suit in event.trumps.items():
                    self.says(seat, "name", self.screen.suit_in_words(suit), " as trumps.")
            case HandDealt():
                self.deal(event)
            case CardsGiven():
                for given in event.given:
                    source, target = given.source, given.target
                    to = (f" to {self.company.object(target)}, whose trump it is.",)
                    self.says(source, "give", self.screen.card(given.card), *to)
            case CardsShown():
                self.show(event, board)
            case CardsDiscarded():
                for seat, lock in event.discards.items():
                    self.throw(seat, lock.size)
                self.own = ()
            case CardsDrawn():
                self.draw(event)
            case CardsReturned():
                self.go_back()
            case CardsLooked():
                whose = "your" if event.seat == YOU else "its"
                self.says(event.seat, "look", f"at {whose} cards.")
            case StockReshuffled():
                self.tell_all(
                    f"{event.count} discards are shuffled into a new stock, with new secrets "
                    "from every seat."
                )
            case PlayCalled():
                self.call(event.seat, event.call, event.amount, board)
            case PlayDeclared():
                self.declare(event.what, event.seats)
            case HandAborted():
                late = self.company.several(event.missing) if event.missing else ""
                why = _REASONS.get(event.reason, f"The hand was ended ({event.reason})")
                self.tell_all(f"{why}{f' ({late})' if late else ''}. It counts for nothing.")

    # --- how it is told -------------------------------------------------------------------------

    def says(self, seat: int, verb: str, *parts: Part) -> None:
        """A seat does something."""
        form = self.company.form(seat, verb)
        gap = " " if parts else ""
        self.screen.tell(self.company.name(seat), f"{form}{gap}", *parts)

    def tell_all(self, *parts: Part) -> None:
        """Something that no seat does."""
        self.screen.tell("", *parts)

    # --- what games tell in their own way -------------------------------------------------------

    def deal(self, event: HandDealt) -> None:
        """The cards are dealt."""
        self.tell_all(f"The cards are dealt; {self.company.does(event.first, 'begin')}.")

    def show(self, event: CardsShown, board: Json) -> None:  # noqa: ARG002 - for games that ask it
        """Cards are laid open: by one seat, or by several at the count."""
        for seat, cards in _by_seat(event).items():
            self.says(seat, "show", self.screen.all_spoken(cards), ".")

    def throw(self, seat: int, count: int) -> None:
        """A seat throws cards face down."""
        if seat == YOU and self.own:
            self.says(seat, "throw", self.screen.all_spoken(self.own), " face down.")
        else:
            self.says(seat, "throw", "1 card" if count == 1 else f"{count} cards", " face down.")

    def draw(self, event: CardsDrawn) -> None:
        """Cards come from the stock."""

    def go_back(self) -> None:
        """The trick goes back."""

    def call(self, seat: int, call: str, amount: int | None, board: Json) -> None:
        """A seat says something."""

    def declare(self, what: str, seats: Sequence[int]) -> None:
        """It is said which seats have something."""


def _by_seat(event: CardsShown) -> dict[int, list[Card]]:
    found: dict[int, list[Card]] = {}
    for shown in event.shown:
        if shown.seat is not None:
            found.setdefault(shown.seat, []).append(shown.card)
    return found


# --- Kozel --------------------------------------------------------------------------------------


class KozelTale(Tale):
    """Leads, beats, throws, pulls, who takes."""

    _trump = ""
    _leader = 0
    _laid = 0
    """How many seats have laid cards in this trick."""
    _led = ""
    _best: tuple[int, ...] = ()
    _taker = 0
    _cards = 0
    """All cards laid in tricks that are over."""
    _size = 0
    _gone_back = False
    """Whether the cards of this trick went back, by a pull."""

    def deal(self, event: HandDealt) -> None:
        """Who leads first follows from the match."""
        match, rules = self.opened.match or {}, self.opened.table.ruleset
        dealer = (event.first + 3) % 4
        first = event.first if rules["first_leader"] == "dealer_left" else dealer
        self._leader = first if match["leader"] is None else match["leader"]
        indicator = event.indicator or Card("6C")
        self._trump = suit_of(indicator)
        self.tell_all(
            "Trumps are ",
            self.screen.suit_in_words(self._trump),
            ", named by ",
            self.screen.card(indicator),
            f". {self.company.does(self._leader, 'lead')} the first trick.",
        )

    def show(self, event: CardsShown, board: Json) -> None:  # noqa: ARG002 - see the base
        """A lead, a pull, a beat, an open throw, or the count."""
        if self._cards == 36:
            for seat, cards in _by_seat(event).items():
                self.says(seat, "turn", "up ", self.screen.all_spoken(cards), ".")
            return
        (seat, cards), *_ = _by_seat(event).items()
        shown = self.screen.all_spoken(cards)
        if self._laid == 0:
            pulled = seat != self._leader or self._gone_back
            self._led, self._size = suit_of(cards[0]), len(cards)
            self._best = kozel.strengths(cards, self._led, self._trump) or ()
            self._taker = seat
            self.says(seat, "pull with" if pulled else "lead", shown, ".")
        elif kozel.beats(cards, self._best, self._led, self._trump):
            self._best = kozel.strengths(cards, self._led, self._trump) or ()
            self._taker = seat
            self.says(seat, "beat it with", shown, ".")
        else:
            self.says(seat, "throw", shown, ".")
        self._lay()

    def throw(self, seat: int, count: int) -> None:
        """An answer that does not beat."""
        super().throw(seat, count)
        self._lay()

    def _lay(self) -> None:
        self._laid += 1
        if self._laid == 4:
            self._laid, self._gone_back = 0, False
            self._cards += 4 * self._size
            self._leader = self._taker
            self.says(self._taker, "take", "the trick.")

    def go_back(self) -> None:
        """A pull."""
        self._laid, self._gone_back = 0, True
        self.tell_all("A pull: the cards of the trick go back to the hands they came from.")

    def draw(self, event: CardsDrawn) -> None:
        """Everybody draws."""
        each = len(event.draws) // 4
        first = self.company.object(event.draws[0][0])
        count = "a card" if each == 1 else f"{each} cards"
        self.tell_all(f"Everybody draws {count}, {first} first.")


# --- Mus ----------------------------------------------------------------------------------------


class MusTale(Tale):
    """The talk, the lances, the bets."""

    _lance = ""

    def deal(self, event: HandDealt) -> None:
        """Mano speaks first."""
        self.tell_all(f"The cards are dealt. {self.company.does(event.first, 'are')} mano.")

    def show(self, event: CardsShown, board: Json) -> None:  # noqa: ARG002 - see the base
        """All show, for the count."""
        self.screen.blank()
        for seat, cards in _by_seat(event).items():
            self.says(seat, "have", self.screen.all_spoken(cards))

    def draw(self, event: CardsDrawn) -> None:
        """A service."""
        counts: dict[int, int] = {}
        for seat, _ in event.draws:
            counts[seat] = counts.get(seat, 0) + 1
        told = [f"{self.company.object(seat)} {count}" for seat, count in counts.items()]
        self.tell_all(f"New cards: {', '.join(told)}.")

    def call(self, seat: int, call: str, amount: int | None, board: Json) -> None:
        """A call, with the lance that it is made in."""
        lance = board.get("lance")
        on = f" on {lance}" if lance else ""
        if lance and lance != self._lance:
            self._lance = lance
            self.screen.line((f"{lance.capitalize()}", "bold"))
        bet = board.get("bet")
        to = f" to {bet['level'] + (amount or 0)}" if bet else ""
        verb, words = {
            "mus": ("say", "mus: wants other cards."),
            "no_mus": ("cut", ": no mus."),
            "paso": ("pass", f"{on.strip()}."),
            "envido": ("bet", f"{amount}{on}."),
            "raise": ("raise", f"by {amount}{to}{on}."),
            "quiero": ("accept", f"{_what(bet)}{on}."),
            "no_quiero": ("refuse", f"{_what(bet)}{on}."),
            "ordago": ("say", f"órdago{on}: the whole game!"),
        }[call]
        if call == "mus" and seat == YOU:
            words = "mus: you want other cards."
        if call == "no_mus":
            self.screen.tell(self.company.name(seat), f"{self.company.form(seat, verb)}{words}")
            return
        self.says(seat, verb, words)

    def declare(self, what: str, seats: Sequence[int]) -> None:
        """Who has pares, who has juego."""
        self.declared[what] = tuple(seats)
        self.screen.line((what.capitalize(), "bold"))
        self._lance = what
        teams = {seat % 2 for seat in seats}
        after = ""
        if not seats:
            after = " The lance is not played."
            if what == "juego":
                after = " Punto is played instead."
        elif len(teams) == 1:
            after = " No bets: only one side has it."
        have = "has" if len(seats) < 2 and YOU not in seats else "have"
        names = self.company.several(seats)
        self.tell_all(f"{names[:1].upper()}{names[1:]} {have} it.{after}")


def _what(bet: Json | None) -> str:
    if bet is None:
        return "it"
    return "the órdago" if bet["ordago"] else f"the bet of {bet['level']}"


# --- Azi ----------------------------------------------------------------------------------------


class AziTale(Tale):
    """Bids, tricks, azi."""

    def __init__(self, screen: TableScreen, company: Company, hand: Hand) -> None:
        """Who takes part follows from the match."""
        super().__init__(screen, company, hand)
        self._active = set((hand.match or {})["players"])
        self._trick: list[tuple[int, Card]] = []
        self._trump = ""
        self._six = False

    def deal(self, event: HandDealt) -> None:
        """A card is turned."""
        turned = event.shown[0].card
        self._trump = suit_of(turned)
        self._six = bool(self.opened.table.ruleset["six_on_stage"]) and rank_of(turned) == "A"
        whose = event.shown[0].seat
        words: list[Part] = [self.screen.card(turned), " is turned: trumps are "]
        if whose is not None:
            words.insert(0, f"The dealer's last card ({self.company.object(whose)}), ")
        self.tell_all(
            *words,
            self.screen.suit_in_words(self._trump),
            ". The six of trumps is above all." if self._six else ".",
        )
        bank = (self.opened.match or {})["bank"]
        if bank:
            self.tell_all(f"A bank of {bank} is carried over.")

    def call(self, seat: int, call: str, amount: int | None, board: Json) -> None:
        """A bid, or buying in."""
        stack = board.get("stacks", {})
        if call == "fold":
            self._active.discard(seat)
        high = max(board.get("bids") or [0])
        verb, words = {
            "bet": ("bet", f"{amount}."),
            "check": ("check", ""),
            "fold": ("fold", ""),
            "call": ("call", f"{high}."),
            "raise": ("raise", f"to {amount}."),
            "all_in": ("go", f"all in with {stack[seat] if stack else 'all it has'}."),
            "buy_in": ("buy", f"in for {board.get('price')}."),
            "stay_out": ("stay", "out."),
        }[call]
        if words:
            self.says(seat, verb, words)
        else:
            self.screen.tell(self.company.name(seat), f"{self.company.form(seat, verb)}.")

    def show(self, event: CardsShown, board: Json) -> None:  # noqa: ARG002 - see the base
        """A card of a trick."""
        for seat, (card, *_) in _by_seat(event).items():
            verb = "play" if self._trick else "lead"
            self._trick.append((seat, card))
            self.says(seat, verb, self.screen.card(card), ".")
        if len(self._trick) == len(self._active):
            taker = azi.best(self._trick, self._trump, six_on_stage=self._six)
            self._trick = []
            self.says(taker, "take", "the trick.")


# --- Svoi Kozyri --------------------------------------------------------------------------------


class SvoiTale(Tale):
    """Leads, beats with one more, takings."""

    def deal(self, event: HandDealt) -> None:
        """Everybody knows all cards."""
        self.tell_all(f"18 cards each. {self.company.does(event.first, 'lead')}.")

    def show(self, event: CardsShown, board: Json) -> None:
        """One card leads or goes last; of two the first beats."""
        for seat, cards in _by_seat(event).items():
            first = self.screen.card(cards[0])
            if not board.get("pile"):
                self.says(seat, "lead", first, ".")
            elif len(cards) == 1:
                self.says(seat, "beat it with", first, ", the last card.")
            else:
                then = self.screen.card(cards[1])
                self.says(seat, "beat it with", first, ", then ", then, " on top.")

    def call(self, seat: int, call: str, amount: int | None, board: Json) -> None:
        """Taking from the pile."""
        if call != "take":
            return
        pile = [Card(card) for card in board.get("pile", ())]
        taken = pile[-amount:] if amount else []
        left = len(pile) - len(taken)
        after = f"; {left} stay." if left else "; the pile is empty."
        self.says(seat, "take", self.screen.cards(taken, keep=True), after)


TALES: Final[dict[str, type[Tale]]] = {
    "kozel": KozelTale,
    "mus": MusTale,
    "azi": AziTale,
    "svoi": SvoiTale,
}
