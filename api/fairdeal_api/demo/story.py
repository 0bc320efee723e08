"""The story of a hand, told from its public events, and from what each seat tells of its cards."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.text import Text

from fairdeal.cards import Card
from fairdeal.codecs import Place
from fairdeal.events import (
    CardsDiscarded,
    CardsDrawn,
    CardsGiven,
    CardsShown,
    Event,
    HandAborted,
    HandClosed,
    HandDealt,
    HandDisclosed,
    HandEvent,
    HandOpened,
    SeedsOpened,
    SeedsSealed,
    StockReshuffled,
    TableOpened,
    TrumpsDeclared,
)
from fairdeal.hand import Hand, Phase
from fairdeal.table import Table
from fairdeal_api.demo import play
from fairdeal_api.demo.plans import KEYED_SEAT, Plan
from fairdeal_api.demo.processes import Seat
from fairdeal_api.demo.screen import Part, Screen, counted, seats
from fairdeal_api.terminal.processes import RunError


class Story:
    """Tells one hand. Like everybody it folds the table's events, so it knows how things stood."""

    def __init__(
        self, screen: Screen, plan: Plan, devices: Sequence[Seat], until: float, *, brief: bool
    ) -> None:
        """Begin a chapter.

        Args:
            screen: Where it is told.
            plan: Which hand it is.
            devices: Of the seats, for what only they know.
            until: When waiting for them ends.
            brief: Whether what is the same in every hand has been told.
        """
        self._screen = screen
        self._plan = plan
        self._devices = [device for device in devices if device.number != plan.vanishes]
        self._until = until
        self._brief = brief
        self._table: Table | None = None
        self._events: list[HandEvent] = []
        self._sealed: list[int] = []
        self._thrown: dict[int, int] = {}
        self._rounds = 0
        self._tricks = 0
        self._dealt: dict[int, list[Card]] = {}
        screen.title(plan.title)
        screen.tell("", Text(plan.aim, style="italic"))

    @property
    def _hand(self) -> Hand:
        if self._table is None or self._table.hand is None:
            raise RunError("A story without a hand.")
        return self._table.hand

    def tell(self, events: Sequence[Event]) -> None:
        """What has happened since."""
        for event in events:
            if isinstance(event, TableOpened):
                self._table = Table.open(event)
            elif self._table is not None:
                self._table = self._table.apply(event)
            if isinstance(event, HandEvent):
                self._events.append(event)
            self._tell(event)

    def _tell(self, event: Event) -> None:
        screen, game = self._screen, self._plan.game
        match event:
            case TableOpened():
                self._open_table(event)
            case HandOpened():
                why = " Nobody else has given anything yet, so it is not picked to go with theirs."
                screen.tell(
                    "commit",
                    "The service has committed to its secret: ",
                    screen.short(event.commitment),
                    "." if self._brief else f".{why}",
                )
            case TrumpsDeclared():
                for seat, suit in event.trumps.items():
                    screen.tell("trumps", f"Seat {seat} names ", screen.suit(suit), ".")
            case SeedsSealed():
                self._seal(event)
            case SeedsOpened() if not self._hand.missing_seeds:
                self._open(event.epoch)
            case HandDealt():
                self._deal(event)
            case CardsGiven():
                self._give(event)
            case CardsDiscarded() if game != "kozel":
                self._discard(event)
            case CardsDrawn() if game == "mus":
                self._serve(event)
            case StockReshuffled():
                screen.tell(
                    "reshuffle",
                    f"{event.count} discards are the new stock, each sealed anew under root ",
                    screen.short(event.deck_root),
                    ".",
                )
            case CardsShown() | CardsDiscarded():
                self._play(event)
            case HandClosed():
                self._close(event)
            case HandAborted():
                self._abort(event)
            case HandDisclosed():
                screen.tell(
                    "disclose",
                    "The service opens its secret, ",
                    screen.short(event.server_seed.hex()),
                    ". Anybody can shuffle again now."
                    if self._hand.dealt
                    else ", which is of no use to anybody now.",
                )

    # --- before the deal ------------------------------------------------------------------------

    def _open_table(self, event: TableOpened) -> None:
        keyed = f" Seat {KEYED_SEAT} signs with a key of its own as well." if event.keys else ""
        self._screen.tell(
            "table",
            f"{event.header.table}, its terms fixed by ",
            self._screen.short(event.digest),
            f". Its {event.seats} seats are taken.",
            "" if self._brief else keyed,
        )

    def _seal(self, event: SeedsSealed) -> None:
        self._sealed += event.seals
        if self._hand.sealed_head is None:
            return
        self._screen.tell(
            "seal",
            f"{seats(self._sealed).capitalize()} each drew a secret and sent a seal on it. All "
            "seals are in; the head of the chain is ",
            self._screen.short(event.digest),
            ".",
        )

    def _open(self, epoch: int) -> None:
        for device in self._devices:
            device.has_opened(epoch, self._until)
        who = seats([device.number for device in self._devices]).capitalize()
        if epoch:
            self._screen.tell(
                "open",
                f"{who} each made the same checks again, and opened the next link of the chain of "
                "secrets that they had sealed before the deal.",
            )
        elif self._brief:
            self._screen.tell("open", f"{who} each checked that head, and opened their secrets.")
        else:
            self._screen.tell(
                "check",
                f"{who} each followed the chain to that head, found their own seal in it and one "
                "of every seat, and got a receipt that the log holds it.",
            )
            self._screen.tell("open", "Only then did they open their secrets.")

    def _deal(self, event: HandDealt) -> None:
        screen = self._screen
        size = sum([len(positions) for positions in event.positions.values()])
        deck = len(self._hand.game.deck(self._hand.table.ruleset))
        parts: list[Part] = [
            f"All {deck} cards are shuffled with all secrets, and each is sealed alone: root ",
            screen.short(event.deck_root),
            f". {size} of them are dealt, seat {event.first} first",
        ]
        if event.indicator:
            parts += ["; trumps are named by ", screen.card(event.indicator)]
        elif event.shown:
            parts += ["; turned up for trumps: ", screen.card(event.shown[0].card)]
        screen.tell("deal", *parts, ".")
        for device in self._devices:
            device.has_seen(event.header.seq, self._until)
            held = [Card(card) for _, _, card, _ in device.cards]
            self._dealt[device.number] = held
            checked = Text.assemble(("  each proved under ", "dim"), screen.short(event.deck_root))
            screen.tell(f"seat {device.number}", screen.cards(held), checked)
        if self._plan.game == "mus":
            screen.tell("", screen.legend)

    # --- playing --------------------------------------------------------------------------------

    def _give(self, event: CardsGiven) -> None:
        for given in event.given:
            self._screen.tell(
                "exchange",
                self._screen.card(given.card),
                f" goes from seat {given.source} to seat {given.target}, whose trump it is, for "
                "all to see.",
            )

    def _discard(self, event: CardsDiscarded) -> None:
        self._thrown |= {seat: lock.size for seat, lock in event.discards.items()}
        if len(self._thrown) < self._plan.seats:
            return
        self._rounds += 1
        label = f"mus {self._rounds}" if self._plan.game == "mus" else "discard"
        locks = "A lock in the log holds each to its choice, and shows nobody what it was."
        text = f"{counted(self._thrown).capitalize()} face down. "
        self._screen.tell(label, text + (locks if self._rounds == 1 else ""))
        self._thrown = {}

    def _serve(self, event: CardsDrawn) -> None:
        drawn: dict[int, list[Place]] = {}
        for seat, place in event.draws:
            drawn.setdefault(seat, []).append(place)
        parts: list[Part] = ["From the top of the stock"]
        for device in self._devices:
            device.has_seen(event.header.seq, self._until)
        for seat, places in drawn.items():
            known = {Place(e, p): Card(card) for e, p, card, _ in self._devices[seat].cards}
            cards = self._screen.cards([known[place] for place in places])
            parts += [f", seat {seat} gets " if len(parts) > 1 else f" seat {seat} gets ", cards]
        left = len(self._hand.layout.stock) if self._hand.layout else 0
        self._screen.tell("serve", *parts, f"; each proved. {left} left.")
        if self._hand.phase is Phase.REOPENING and self._hand.layout:
            owed = seats(sorted(set(self._hand.layout.owed)))
            self._screen.tell(
                "used up",
                f"{owed.capitalize()} must still get {len(self._hand.layout.owed)}: the discards "
                "are to be shuffled, and for that everybody must give a new secret.",
            )

    def _play(self, event: CardsShown | CardsDiscarded) -> None:
        screen, hand = self._screen, self._hand
        cards = [shown.card for shown in event.shown] if isinstance(event, CardsShown) else []
        seat = event.shown[0].seat if isinstance(event, CardsShown) else None
        if self._plan.game in ("mus", "svoi"):
            screen.tell("show", f"Seat {seat}: ", screen.cards(cards))
            return
        found = play.tricks(hand, self._events)
        trick = found[-1]
        if len(found) > self._tricks and len(trick) == self._plan.seats:
            self._tricks += 1
            parts: list[Part] = []
            for player, card in trick:
                shown = screen.face_down() if card is None else screen.card(card)
                parts += [f"{player}: ", shown, "  "]
            taker = play.taker(trick, hand)
            draws = hand.layout is not None and self._plan.game == "kozel" and hand.layout.stock
            parts.append(f"seat {taker} takes" + (", all draw one card" if draws else ""))
            screen.tell(f"trick {self._tricks}", *parts)
        elif len(found) == self._tricks:
            screen.tell("count", f"Seat {seat} turns over what it threw: ", screen.cards(cards))

    # --- the end --------------------------------------------------------------------------------

    def _close(self, event: HandClosed) -> None:
        rows: list[list[Part]] = []
        for device in self._devices:
            device.has_seen(event.header.seq, self._until)
            cards = [(Card(card), state) for _, _, card, state in device.cards]
            by_state: list[Part] = [
                self._screen.cards([card for card, now in cards if now == state])
                for state in ("held", "shown", "discarded")
            ]
            rows.append([f"seat {device.number}   ", *by_state])
        self._screen.tell("close", "The hand is over. Where the cards of each seat have gone:")
        self._screen.table(["", "still held", "shown", "face down"], rows)

    def _abort(self, event: HandAborted) -> None:
        self._open(0)
        self._screen.tell(
            "abort",
            f"Seat {self._plan.vanishes} had sealed, and was never heard of again. After "
            f"{self._hand.table.timeouts.open} seconds the service ended the hand. The log names "
            f"who was missing: {seats(event.missing)}.",
        )
        self._screen.tell(
            "",
            "No card was dealt. Without the missing secret nobody can know the deck, not even the "
            "service, and these seals are never used again.",
        )

    def saved(self, file: Path, notes: Sequence[Path]) -> None:
        """Where the hand is now."""
        self._screen.tell("saved", f"{file.name}, and the notes that {len(notes)} seats have kept.")
