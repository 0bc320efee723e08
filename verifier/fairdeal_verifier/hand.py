"""Replays a hand: what was legal when, and which card lay where.

`Replay` walks the events once. The first fault of a check is the one that is told. It never stops
at a fault, since each check is reported on its own; how it goes on is its own affair (VER-9).

Spec: HAND-6, HAND-9, HAND-10, HAND-11, HAND-12, HAND-13, HAND-14
"""

from collections.abc import Callable

from fairdeal_verifier.ceremony import Ceremony, Wait
from fairdeal_verifier.decks import Decks
from fairdeal_verifier.events import Body, Step
from fairdeal_verifier.file import HandFile
from fairdeal_verifier.findings import Findings
from fairdeal_verifier.games import Game
from fairdeal_verifier.games.base import Discard, Place
from fairdeal_verifier.kinds import MAX_EPOCH
from fairdeal_verifier.play import PLAYS, match_fault
from fairdeal_verifier.words import say

KINDS = {
    "cards.drawn": "draw",
    "cards.discarded": "discard",
    "cards.shown": "show",
    "cards.given": "show",
    "stock.reshuffled": "reshuffle",
}


class Replay:
    """One hand, played again from its events.

    Attributes:
        findings: What is wrong, and what could not be checked.
        game: The holdings and the stock as they are at the end.
        decks: The decks of the epochs.
        dealt: `hand.dealt`.
        match_fault: With a referee, why the match before the hand cannot be so, or "".
        sealed_head: The event by which the last contributing seat sealed.
    """

    def __init__(self, file: HandFile, *, are_seeds_good: bool) -> None:
        """Replays a hand.

        Args:
            file: A file that passes `format`, of a table with a valid ruleset.
            are_seeds_good: Every seed is the one that was committed to; else no lock is checked.
        """
        self.file = file
        self.findings = Findings()
        self.dealt: Step | None = None
        ruleset, match = file.table.body["ruleset"], file.opened.body["match"]
        self.game: Game = file.game(ruleset, file.seats, file.hand)
        self.match_fault = ""
        if file.referee:
            play = PLAYS[file.game.id]
            self.match_fault = match_fault(play, ruleset, file.seats, file.hand, match)
            self.game.follow(frozenset() if self.match_fault else play.sits_out(match))
        self._types = self.game.types | (self.game.said if file.referee else frozenset())
        self.decks = Decks(file, are_seeds_good=are_seeds_good)
        self._are_seeds_good = are_seeds_good
        self._ceremony = Ceremony(file, self.game, self.decks, self.findings)
        self._return_fault = ""
        self._before = file.opened
        handlers: dict[str, Callable[[Step], None]] = {
            "trumps.declared": self._ceremony.on_declared,
            "seeds.sealed": self._ceremony.on_sealed,
            "seeds.opened": self._on_opened,
            "hand.dealt": self._on_dealt,
            "hand.closed": self._on_end,
            "hand.aborted": self._on_end,
        }
        for step in file.steps[1:]:
            handlers.get(step.type, self._on_play)(step)
            self._before = step
            self.findings.settle(self._return_fault)
        self.findings.fault("end", self._return_fault)
        self.sealed_head = self._ceremony.sealed_head

    def _on_opened(self, step: Step) -> None:
        if self.dealt and step.type not in self._types:
            self.findings.fault(
                "order", "a seed was opened after the deal of a game that never reshuffles"
            )
        self._ceremony.on_opened(step)

    def _on_dealt(self, step: Step) -> None:
        """Follows `hand.dealt`. Spec: HAND-6, GAME-1."""
        body = step.body
        if self._ceremony.waits_for is not Wait.DEAL:
            self.findings.fault("order", "the cards were dealt when the deal was not due")
        if self.dealt:
            self.findings.fault("deal", "the cards were dealt twice")
        else:
            self.dealt = step
            self._ceremony.waits_for = Wait.PLAY
            deck = self.game.deck()
            self.decks.use(0, deck)
            self.decks.state_root(0, body["deck_root"], len(deck))
            known = self.decks.used.get(0)
            self.findings.fault("deal", self.game.deal(body, known.order if known else None))
            if known is None and self.game.may_exchange():
                self.findings.cannot_check("deal", say("note.sixes"))
        for shown in body["shown"]:
            self._prove("deal", shown)

    # Play.

    def _on_play(self, step: Step) -> None:
        """Judges an event after the deal. What is said is judged by the play. Spec: HAND-9."""
        fault = self._place_fault(step)
        kind = KINDS.get(step.type)
        if kind is not None:
            check = self.findings.next_id(kind)
            # A faulty return of cards is told with the next of these.
            self.findings.fault(check, self._return_fault or fault)
            self._return_fault = ""
            judge = {
                "draw": self._on_drawn,
                "discard": self._on_discarded,
                "show": self._on_shown,
                "reshuffle": self._on_reshuffled,
            }[kind]
            self.findings.fault(check, judge(step, check))
        elif step.type == "cards.returned":
            self._return_fault = self._return_fault or fault or self.game.give_back()
        elif step.type == "cards.looked":
            self.findings.fault("deal", fault or self.game.look(step.body["seat"]))
        elif step.type == "play.called":
            self.game.call(step.body["seat"], step.body["call"], step.body["amount"])
        if self._ceremony.waits_for is Wait.PLAY and self.game.due == "seeds.opened":
            if self.game.epoch == MAX_EPOCH:
                self._ceremony.waits_for = Wait.NO_MORE_EPOCHS
            else:
                self._ceremony.ask_for_seeds(self.game.epoch + 1, step)

    def _place_fault(self, step: Step) -> str:
        """Says why an event of this type may not stand here, whatever is in it."""
        waits_for, due = self._ceremony.waits_for, self.game.due
        fault = ""
        if self.dealt is None:
            fault = f"{step.type} stands before the deal"
        elif step.type not in self._types:
            fault = f"{self.game.name} has no {step.type}"
        elif waits_for is Wait.STOCK and step.type != "stock.reshuffled":
            fault = f"{step.type} stands where a new stock was due"
        elif waits_for not in (Wait.STOCK, Wait.PLAY):
            fault = f"{step.type} stands where only seeds may be opened, or nothing more"
        # HAND-12 is a matter of order as well. An event that the game itself makes due is not.
        self.findings.fault("order", fault)
        if not fault and waits_for is Wait.PLAY and due and step.type != due:
            fault = f"{step.type} stands where {due} was due"
            self.findings.fault("deal", self.game.exchange_fault())
        return fault

    def _on_drawn(self, step: Step, _check: str) -> str:
        """Follows `cards.drawn`. Spec: GAME-4."""
        draws = step.body["draws"]
        return self.game.draw([(e, p) for _, e, p in draws], [seat for seat, _, _ in draws])

    def _on_discarded(self, step: Step, check: str) -> str:
        """Follows `cards.discarded`. Spec: HAND-10, HAND-11."""
        discards: list[Discard] = []
        fault = ""
        disclosed = self.file.disclosed
        for text, stated in step.body["discards"].items():
            seat = int(text)
            holding = self.game.holdings[seat]
            k = holding.locks
            holding.locks += 1
            places: list[Place] | None = None
            if disclosed is not None:
                listed = disclosed["discards"].get(text, [])
                if k >= len(listed) or len(listed[k]) != stated["count"]:
                    fault = fault or f"seat {seat}'s discard {k} is not disclosed as it was made"
                else:
                    places = [(epoch, position) for epoch, position in listed[k]]
            lock = self.decks.lock(seat, k, places) if places is not None else None
            if lock is None:
                self.findings.cannot_check(check, say("note.lock"))
            elif lock.hex() != stated["lock"]:
                fault = fault or f"seat {seat}'s lock does not fit the cards disclosed for it"
            discards.append(Discard(seat, stated["count"], places))
        return self.game.discard(discards) or fault

    def _on_shown(self, step: Step, check: str) -> str:
        """Follows `cards.shown` and `cards.given`. Spec: HAND-11, DECK-3."""
        if step.type == "cards.given":
            stated = step.body["given"]
            fault = self.game.give(stated)
            # That the exchange was made exactly when due is part of the deal. Spec: SVO-3
            self.findings.fault("deal", fault)
        else:
            stated = step.body["shown"]
            faults = [
                self.game.show(one["seat"], (one["epoch"], one["position"])) for one in stated
            ]
            fault = next(filter(None, faults), "")
        for one in stated:
            self._prove(check, one)
        return fault

    def _prove(self, check: str, shown: Body) -> None:
        fault, unchecked = self.decks.prove(shown)
        self.findings.fault(check, fault)
        self.findings.cannot_check(check, unchecked)

    def _on_reshuffled(self, step: Step, check: str) -> str:
        """Follows `stock.reshuffled`. Spec: HAND-13, MUS-4, VER-9."""
        body, epoch = step.body, self._ceremony.epoch
        if self._ceremony.waits_for is not Wait.STOCK:
            return "a new stock was made when none was due"
        if body["epoch"] != epoch:
            return "a new stock is of another epoch than the seeds"
        count, places = self.game.pool()
        cards = self.decks.cards_at(places, self.game.deck())
        if cards is not None and not self.findings.settled:
            self.decks.use(epoch, cards)
        self.decks.state_root(epoch, body["deck_root"], count)
        self.game.reshuffle(count)
        self._ceremony.waits_for = Wait.PLAY
        if body["count"] != count:
            return "the new stock has not as many cards as the pool"
        deck = self.decks.used.get(epoch)
        if deck is None or not self._are_seeds_good:
            self.findings.cannot_check(check, say("note.pool"))
        elif deck.root.hex() != body["deck_root"]:
            return "the root is not that of the pool, shuffled with the new seeds"
        return ""

    def _on_end(self, step: Step) -> None:
        """Follows the last event. Spec: HAND-14, HAND-15, HAND-16."""
        if step.type == "hand.closed":
            self.findings.fault("end", self._ceremony.closed_fault())
            self.findings.fault("deal", self.game.exchange_fault())
        else:
            is_dealt = self.dealt is not None
            self.findings.fault(
                "end", self._ceremony.aborted_fault(step, self._before, is_dealt=is_dealt)
            )
