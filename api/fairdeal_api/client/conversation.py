"""A seat's conversation with the service: an answer is checked before anything comes of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, Final

from fairdeal.ed25519 import sign
from fairdeal.errors import FairdealError, StateError
from fairdeal.events import Event
from fairdeal_api.client.api import Answer, Api, ApiError
from fairdeal_api.client.checks import Checks
from fairdeal_api.client.errors import CheckError
from fairdeal_api.client.memory import Memory

_TRIES: Final = 10


class Conversation:
    """What one seat asks and is answered. After a check that failed it says nothing more."""

    def __init__(self, api: Api, memory: Memory) -> None:
        """Nothing is asked yet.

        Args:
            api: The service; the seat's token is added.
            memory: What the seat must not forget.
        """
        self.stopped: CheckError | None = None
        """The check that failed, now or in an earlier run of the program."""
        if (before := memory.stopped()) is not None:
            code, path = before
            self.stopped = CheckError(code, f"this seat has stopped before, see {path}")
        self._api = api.with_credential(memory.token)
        self._memory = memory
        self.checks = Checks(self._api, memory)
        self._kept = memory.checkpoint
        self._cards: Answer | None = None
        """The last answer with this seat's cards."""

    @contextmanager
    def checking(self) -> Iterator[None]:
        """Whatever fails in here stops this client for good, with the evidence on its disk."""
        if self.stopped is not None:
            raise self.stopped
        try:
            yield
        except StateError:
            raise  # a step that is not due: the caller's mistake, no fault of the service
        except CheckError as failure:
            self._stop(failure)
            raise
        except (FairdealError, ValueError, KeyError, TypeError, IndexError) as error:
            malformed = CheckError("answer_malformed", f"an answer cannot be read: {error!r}")
            self._stop(malformed)
            raise malformed from error

    def _stop(self, failure: CheckError) -> None:
        if self.stopped is None:
            self.stopped = failure
            # On a full disk the failure itself must still be told.
            with suppress(OSError):
                self._memory.keep_evidence(
                    {"code": failure.code, "why": str(failure), **failure.evidence}
                )

    # --- what is read ---------------------------------------------------------------------------

    def sync(self, wait: int = 0) -> list[Event]:
        """Fetch what is new and check it; gives the new events. Spec: OPEN-2."""
        with self.checking():
            events = self.checks.chain.sync(wait)
            self.checks.follow(events)
            if events:
                self.save_notes()
        return events

    def cards(self) -> Answer:
        """The answer with this seat's cards, at a moment that the chain has come to as well."""
        seq = -1
        for _ in range(_TRIES):
            answer = self._api.get(f"{self._seat_path}/cards")
            seq = int(answer["seq"])
            if seq > self.checks.chain.seq:
                self.sync()
            if seq == self.checks.chain.seq:
                self.checks.roots()
                self._cards = answer
                return answer
        if seq > self.checks.chain.seq:
            raise CheckError("events_missing", "an answer goes beyond the events that are shown")
        # Events came faster than answers: a slow line, and nobody's fault.
        raise ApiError("too_early", 0, "the table moves on while cards are fetched", retryable=True)

    def next_discard(self) -> Answer:
        """What this seat's next discard is locked with: of the last answer, if it still holds."""
        known = self._cards
        if known is None or known["seq"] != self.checks.chain.seq:
            known = self.cards()
        following: Answer = known["next_discard"]
        return following

    def file(self, number: int) -> bytes:
        """A hand's file, as it comes."""
        return self._api.content(f"/v1/tables/{self._memory.table}/hands/{number}/transcript")

    # --- what is written ------------------------------------------------------------------------

    def put(self, what: str, body: dict[str, Any], message: bytes) -> None:
        """Put this seat's `trump`, `seal` or `seed`.

        Args:
            what: Which of them.
            body: Without a signature.
            message: What a seat with a key signs of it. Spec: SIG-2.
        """
        if self._memory.signing_key is not None:
            body["sig"] = sign(self._memory.signing_key, message).hex()
        with self.checking():
            self._take(self._api.put(f"{self._seat_path}/{what}", body))

    def act(self, action: dict[str, Any]) -> None:
        """One action of this seat's."""
        with self.checking():
            self._take(self._api.post(f"{self._hand_path}/actions", {"actions": [action]}))

    def _take(self, answer: Answer) -> None:
        """Fold what a write has logged, and keep its receipt."""
        self.checks.follow(self.checks.chain.accept(answer))
        if items := answer["events"]:
            self.checks.receipt(int(items[-1]["seq"]), str(answer["receipt"]))
            self.save_notes()

    # --- what is kept ---------------------------------------------------------------------------

    def save_notes(self) -> None:
        """Keep the newest hand's notes, and the newest checkpoint with them. Spec: NOTE-1."""
        self.checks.notes.save()
        if self._memory.checkpoint != self._kept:
            self._memory.save()
            self._kept = self._memory.checkpoint

    @property
    def _hand_path(self) -> str:
        return f"/v1/tables/{self._memory.table}/hands/{self.checks.chain.hand.number}"

    @property
    def _seat_path(self) -> str:
        return f"{self._hand_path}/seats/{self._memory.seat}"
