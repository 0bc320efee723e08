"""A seat, step by step. How it asks stands in `conversation`, what must hold in `checks`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final, Self

from fairdeal.codecs import Place
from fairdeal.ed25519 import sign
from fairdeal.encoding import unhex
from fairdeal.errors import StateError
from fairdeal.events import Event
from fairdeal.hand import Hand, Phase
from fairdeal.hashing import digest
from fairdeal.seeds import (
    LAST_EPOCH,
    SeatSeed,
    declare_message,
    lock_message,
    open_message,
    seal,
    seal_message,
    seed_chain,
)
from fairdeal_api.client.api import Answer, Api, new_key
from fairdeal_api.client.chain import Standing
from fairdeal_api.client.checks import HeldCard
from fairdeal_api.client.conversation import Conversation
from fairdeal_api.client.errors import CheckError
from fairdeal_api.client.memory import HandMemory, Invitation, Memory, Thrown, make_folder

_ENDS: Final = ("hand.closed", "hand.aborted")


class SeatClient:
    """One seat of one table, on the device of whoever sits there."""

    def __init__(self, api: Api, memory: Memory) -> None:
        """Go on with what was remembered; `sync` fetches the rest.

        Args:
            api: The service; the seat's token is added.
            memory: From `claim`, or from `Memory.load` after a restart.
        """
        self.memory = memory
        self._talk = Conversation(api, memory)
        self.checks = self._talk.checks

    @classmethod
    def claim(
        cls,
        api: Api,
        code: str,
        *,
        log_key: str,
        folder: Path,
        signing_key: bytes | None = None,
    ) -> Self:
        """Take a seat with the code that came with the invitation.

        Args:
            api: The service.
            code: The claim code; it works once. After a crash in here it may be tried again.
            log_key: The log's vkey, from elsewhere than the service.
            folder: Of this seat's own; its memory, notes and evidence are kept there. If the seat
                was issued anew, what it remembers from before still counts.
            signing_key: The seat's Ed25519 secret, if the table's terms name its public key.

        Raises:
            CheckError: The table is not one that this seat can play at in safety.
            StateError: The folder is another seat's. Its memory is not touched.
        """
        make_folder(folder)
        invitation = Invitation.of(folder, code, new_key())
        claimed = api.post("/v1/seats/claim", {"code": code}, key=invitation.key)
        path, table, number = folder / "seat.json", str(claimed["table"]), int(claimed["seat"])
        if path.exists():
            memory = Memory.load(path)
            if (memory.table, memory.seat) != (table, number):
                raise StateError("folder_taken", f"{folder} is the folder of another seat")
            memory.token = str(claimed["token"])
        else:
            first = api.get(f"/v1/tables/{table}/events", after=-1, limit=1)["events"][0]
            terms = digest(str(first["event"]).encode())
            token = str(claimed["token"])
            memory = Memory(path, table, number, token, log_key, terms, signing_key)
        memory.save()
        invitation.used()
        seat = cls(api, memory)
        seat.sync()
        with seat._talk.checking():
            if not seat.checks.log.knows(log_key):
                raise CheckError("terms_mismatch", "the seat was claimed under another log key")
            seat.checks.receipt(0)
        memory.save()
        return seat

    # --- what there is --------------------------------------------------------------------------

    @property
    def seat(self) -> int:
        """This seat's number."""
        return self.memory.seat

    @property
    def stopped(self) -> CheckError | None:
        """The check that failed; nothing is done after it, also by a program started later."""
        return self._talk.stopped

    @property
    def hand(self) -> Hand:
        """The newest hand, as far as its public events tell."""
        return self.checks.chain.hand

    @property
    def ended(self) -> int:
        """The number of the newest hand that has ended; 0 if there is none."""
        hand = self.checks.chain.table.hand
        return 0 if hand is None else hand.number if hand.is_final else hand.number - 1

    @property
    def notes_path(self) -> Path:
        """Where the notes of the newest hand that has ended are, or else of the newest one."""
        return self.memory.notes_path(self.ended or self.hand.number)

    def sync(self, wait: int = 0) -> list[Event]:
        """Fetch what is new and check it.

        Args:
            wait: Seconds to wait for something new, 0..25.

        Returns:
            The new events.

        Raises:
            CheckError: Something does not follow from what was there before. Spec: OPEN-2.
        """
        return self._talk.sync(wait)

    def standing(self) -> Standing:
        """How the play stands after the newest event that is known here, as the service says it.

        Nothing is asked if the answer that brought this event has told it.

        Raises:
            StateError: The table has no referee, or no hand yet.
        """
        chain = self.checks.chain
        if chain.standing is None:
            self.sync()
        if chain.standing is None:
            raise StateError("too_early", "the service does not say whose turn it is")
        return chain.standing

    @property
    def unproved(self) -> tuple[Place, ...]:
        """Where cards lie that this seat may see, and that were not proved to it yet."""
        layout = self.hand.layout
        if layout is None:
            return ()
        if layout.refereed:
            is_blind = self.hand.table.ruleset.get("blind") and self.seat not in layout.looked
            if is_blind or self.seat in layout.out:
                return ()  # asking does not help. Spec: AZI-3, AZI-5
        received = layout.received[self.seat]
        return tuple([place for place in received if place not in self.checks.proved])

    def cards(self) -> list[HeldCard]:
        """This seat's cards of the hand, each proved now. Spec: OPEN-3."""
        with self._talk.checking():
            return self._prove(self._talk.cards())

    def moves(self) -> list[Answer]:
        """What this seat may do, at a table with a referee, as the service lists it.

        Every card named is one that was proved to this seat.
        """
        with self._talk.checking():
            answer = self._talk.cards()
            self._prove(answer)
            moves: list[Answer] = answer["moves"]
            for move in moves:
                self.checks.named(move)
        return moves

    def _prove(self, answer: Answer) -> list[HeldCard]:
        """The cards of an answer, each proved, and none left out that this seat may see."""
        held = [self.checks.card(item) for item in answer["cards"]]
        if self.unproved:
            raise CheckError("card_missing", "the service keeps a card of this seat back")
        self._talk.save_notes()
        return held

    # --- before the deal ------------------------------------------------------------------------

    def declare(self, suit: str) -> None:
        """Name this seat's trumps. Spec: HAND-3."""
        hand, mine = self._enter()
        if suit not in mine.suits:
            mine.suits.append(suit)
            self.memory.save()
        message = declare_message(hand.terms, hand.number, self.seat, hand.commitment, suit)
        self._talk.put("trump", {"suit": suit}, message)

    def seal(self) -> None:
        """Draw this hand's secret, keep it, and send its seal. Spec: SEED-2, SEAL-1."""
        hand, mine = self._enter()
        message = seal_message(hand.terms, hand.number, self.seat, hand.commitment, mine.seal)
        self._talk.put("seal", {"seal": mine.seal.hex()}, message)

    def open_seed(self) -> None:
        """Check the head, then open the seed that is due. Spec: OPEN-1, OPEN-2.

        That it was opened, and under which head, is on the disk before the seed leaves.

        Raises:
            StateError: No seed of this seat is due.
            CheckError: Something does not hold; the seed stays closed.
        """
        with self._talk.checking():
            hand = self.hand
            opened = self.checks.head(hand)
            mine = self.memory.hands[hand.number]
            mine.opened[hand.epoch] = opened
            self.memory.save()
        seed = mine.seed(hand.epoch)
        body = {"epoch": hand.epoch, "head": opened.head.hex(), "seed": seed.hex()}
        self._talk.put("seed", body, open_message(opened.head, hand.epoch, self.seat, seed))

    def _enter(self) -> tuple[Hand, HandMemory]:
        """This hand's memory, made and saved with a fresh secret when it is first needed."""
        hand = self.hand
        if hand.phase is not Phase.SEALING:
            raise StateError("wrong_phase", "the hand is past its seals")
        mine = self.memory.hands.get(hand.number)
        if mine is None:
            last, reshuffles = SeatSeed(os.urandom(32)), hand.game.can_reshuffle
            first_seed = seed_chain(last, LAST_EPOCH if reshuffles else 0)[0]
            value = seal(hand.terms, hand.number, self.seat, hand.commitment, first_seed)
            mine = HandMemory(last, reshuffles, hand.commitment, hand.first, value)
            self.memory.hands[hand.number] = mine
            self.memory.save()
        return hand, mine

    # --- after the deal -------------------------------------------------------------------------

    def show(self, places: Sequence[Place]) -> None:
        """Lay cards open."""
        cards = [list(place) for place in places]
        self._talk.act({"type": "show", "seat": self.seat, "cards": cards})

    def play(self, move: Answer) -> None:
        """Make a move: one of `moves`, with `amount` where it has one, or an action."""
        fields = ("type", "seat", "cards", "call", "amount")
        action = {name: move[name] for name in fields if name in move}
        if action["type"] == "discard":
            self.discard([Place(*card) for card in action["cards"]])
        else:
            self._talk.act(action)

    def discard(self, places: Sequence[Place]) -> None:
        """Throw cards face down. The lock is computed here, and must be the one logged."""
        hand, cards = self.hand, tuple(sorted(places))
        with self._talk.checking():
            following = self._talk.next_discard()
            k, salt = int(following["k"]), unhex(following["salt"], 32)
            lock = self.checks.lock(self.hand, k, salt, cards)
        action = {"type": "discard", "seat": self.seat, "cards": [list(card) for card in cards]}
        if self.memory.signing_key is not None:
            message = lock_message(hand.terms, hand.number, self.seat, k, lock.size, lock.lock)
            action["sig"] = sign(self.memory.signing_key, message).hex()
        # It is on the disk before it is sent: an answer that is lost, or a restart, must not make
        # this seat take its own discard for a forgery.
        sent = Thrown(k, cards, lock)
        mine = self.memory.hands[hand.number]
        if sent not in mine.thrown:
            mine.thrown.append(sent)
            self.memory.save()
        self._talk.act(action)
        with self._talk.checking():
            if self.hand.locks.get((self.seat, k)) != lock:
                raise CheckError("lock_mismatch", "the log holds another lock than this discard's")

    def finish(self) -> bytes:
        """Once a hand has ended: keep the last receipt, and get the hand's file.

        The hand is the newest that has ended: the next one may have been opened with its close.

        Raises:
            StateError: No hand has ended yet.
        """
        number = self.ended
        if not number:
            raise StateError("too_early", "no hand has ended yet")
        with self._talk.checking():
            end = [e for e in self.checks.chain.events_of(number) if e.TYPE in _ENDS]
            self.checks.receipt(end[-1].header.seq)
            content = self._talk.file(number)
            self.checks.file(number, content)
            self.checks.notes.save(number)
            self._talk.save_notes()
        return content
