"""The order of declarations, seals and seeds: who speaks when, before any card moves.

Spec: HAND-3, HAND-4, HAND-5, HAND-6, HAND-12
"""

from enum import Enum, auto

from fairdeal_verifier.decks import Decks
from fairdeal_verifier.events import Step
from fairdeal_verifier.file import HandFile
from fairdeal_verifier.findings import Findings
from fairdeal_verifier.games import Game


class Wait(Enum):
    """What the hand waits for."""

    DECLARATIONS = auto()
    SEALS = auto()
    SEEDS = auto()
    DEAL = auto()
    PLAY = auto()
    STOCK = auto()  # all seeds of a reshuffle are open
    NO_MORE_EPOCHS = auto()  # a 33rd reshuffle would be due


class Ceremony:
    """Follows what the seats say, and finds what is out of order.

    Attributes:
        waits_for: What has to come next.
        epoch: The epoch whose seeds were asked for last.
        head: The event under which they are opened.
        sealed_head: The event by which the last contributing seat sealed.
    """

    def __init__(self, file: HandFile, game: Game, decks: Decks, findings: Findings) -> None:
        """Starts at `hand.opened`.

        Args:
            file: The hand's file.
            game: Learns the declarations.
            decks: Learns the seeds.
            findings: Takes what is wrong.
        """
        self._file = file
        self._game = game
        self._decks = decks
        self._findings = findings
        self._all = frozenset(file.contribute)
        self._sealed: set[int] = set()
        self._opened: set[int] = set()
        # A seed that the service has announced, or could have, is no seat's own.
        self._seen = {
            file.table.body["next_commitment"],
            file.opened.body["commitment"],
            file.opened.body["next_commitment"],
        }
        self.waits_for = Wait.DECLARATIONS if file.game.declares else Wait.SEALS
        self.epoch = 0
        self.head = file.opened
        self.sealed_head: Step | None = None

    def on_declared(self, step: Step) -> None:
        """Follows `trumps.declared`. Spec: HAND-3, SVO-1."""
        if self.waits_for is not Wait.DECLARATIONS:
            self._findings.fault("order", "a trump was declared when no declaration was due")
        game = self._game
        declared = {int(seat): suit for seat, suit in step.body["trumps"].items()}
        speaker = self._file.opened.body["first"] or 0
        if declared.keys() & game.trumps.keys():
            self._findings.fault("order", "a seat declared twice")
        elif not game.trumps and len(declared) == 1 and speaker not in declared:
            self._findings.fault("order", "the second seat declared before the first")
        if not set(declared.values()) <= set(game.suits):
            self._findings.fault("order", "a suit was declared that the game does not have")
        game.trumps |= declared
        if len(game.trumps) == self._file.seats:
            self._findings.fault("order", game.declaration_fault())
            if self.waits_for is Wait.DECLARATIONS:
                self.waits_for = Wait.SEALS

    def on_sealed(self, step: Step) -> None:
        """Follows `seeds.sealed`. Spec: HAND-4."""
        if self.waits_for is not Wait.SEALS:
            self._findings.fault("order", "a seat sealed when no seal was due")
        for seat, seal in step.body["seals"].items():
            self._speaks(int(seat), self._sealed, "sealed", seal)
        if self._sealed >= self._all and self.sealed_head is None:
            self.sealed_head = step
            self.ask_for_seeds(0, step)

    def on_opened(self, step: Step) -> None:
        """Follows `seeds.opened`. Spec: HAND-5, HAND-12."""
        body = step.body
        epoch = body["epoch"]
        if self.waits_for is not Wait.SEEDS or epoch != self.epoch:
            self._findings.fault("order", "a seed was opened when it was not due")
        elif body["head"] != self.head.head:
            self._findings.fault(
                "order", "a seed was opened under another head than the one that asks for it"
            )
        for seat, seed in body["seeds"].items():
            self._speaks(int(seat), self._opened if epoch == self.epoch else set(), "opened", seed)
            self._decks.open_seed(epoch, int(seat), bytes.fromhex(seed))
        self._decks.complete_epoch(epoch)
        if self.waits_for is Wait.SEEDS and self._opened >= self._all:
            self.waits_for = Wait.STOCK if self.epoch else Wait.DEAL

    def ask_for_seeds(self, epoch: int, head: Step) -> None:
        """Waits for every seat's seed of an epoch, opened under this head."""
        self.waits_for = Wait.SEEDS
        self.epoch = epoch
        self.head = head
        self._opened = set()

    def _speaks(self, seat: int, done: set[int], verb: str, text: str) -> None:
        if seat not in self._all:
            self._findings.fault("order", f"seat {seat} {verb} although it does not contribute")
        if seat in done:
            self._findings.fault("order", f"seat {seat} {verb} twice")
        if text in self._seen:
            self._findings.fault(
                "order", "a seal or a seed is equal to another one or to a commitment"
            )
        done.add(seat)
        self._seen.add(text)

    def missing(self) -> list[int]:
        """Lists the contributing seats whose due seal or seed is not in the log. Spec: HAND-16."""
        if self.waits_for in (Wait.DECLARATIONS, Wait.SEALS):
            return sorted(self._all - self._sealed)
        return sorted(self._all - self._opened) if self.waits_for is Wait.SEEDS else []

    def closed_fault(self) -> str:
        """Says why the hand may not be closed now. Spec: HAND-15, PLAY-1."""
        if self.waits_for is not Wait.PLAY:
            return "the hand was closed before it was dealt, or while seeds or a new stock were due"
        if self._game.due:
            return f"the hand was closed while {self._game.due} was due"
        if self._game.half_locked:
            return "the hand was closed while a round of discards was half locked"
        if (self._file.last.body["result"] is None) == self._file.referee:
            return "a hand has a result exactly if the table has a referee"
        return ""

    def aborted_fault(self, step: Step, before: Step, *, is_dealt: bool) -> str:
        """Says why the hand may not be aborted now, as it was.

        Args:
            step: `hand.aborted`.
            before: The event before it.
            is_dealt: The cards have been dealt.

        Spec: HAND-14, HAND-16, PLAY-6
        """
        reason, missing, late = step.body["reason"], step.body["missing"], self.missing()
        if reason == "lost":
            return "the service has lost its secret of this hand, so nothing can be checked"
        if (self.waits_for is Wait.NO_MORE_EPOCHS) != (reason == "epochs"):
            return "the reason epochs stands exactly where a 33rd reshuffle would be due"
        # By reason: has it come to this, since when, and which timeout was it.
        since = {
            "seal_timeout": (
                self.waits_for in (Wait.DECLARATIONS, Wait.SEALS),
                self._file.opened,
                "seal",
            ),
            "open_timeout": (self.waits_for is Wait.SEEDS, self.head, "open"),
            # That a seat is on turn, and which, shows in the play, with every card known.
            "turn_timeout": (
                self._file.referee and self.waits_for is Wait.PLAY and not self._game.due,
                before,
                "turn",
            ),
            "idle": (is_dealt and self.waits_for is not Wait.SEEDS, before, "hand"),
        }
        if reason in since:
            is_so, start, name = since[reason]
            if not is_so:
                return f"there was no {reason}: nothing of that kind was being waited for"
            if step.at - start.at < self._file.table.body["timeouts"][name] * 1000:
                return f"there was no {reason}: the time was not over"
        if reason == "turn_timeout":
            is_right = bool(missing)
        elif reason == "operator":
            is_right = set(missing) <= set(late)
        else:
            is_right = missing == (late if reason in ("seal_timeout", "open_timeout") else [])
        return "" if is_right else "the seats named as missing are not those that are"
