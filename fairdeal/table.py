"""A table as a state machine: one chain of events, hand after hand. Spec: hand.md (TBL)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

from fairdeal.ed25519 import is_valid_point
from fairdeal.encoding import same_json
from fairdeal.errors import FormatError, StateError, VerificationError
from fairdeal.events import (
    Event,
    HandDisclosed,
    HandEvent,
    HandOpened,
    Header,
    SeatReissued,
    SeedsOpened,
    SeedsSealed,
    TableClosed,
    TableOpened,
    parse_event,
)
from fairdeal.games import game_named, rules_of
from fairdeal.games.base import Game
from fairdeal.hand import Fields, Hand
from fairdeal.hashing import Digest
from fairdeal.log.note import VerifierKey
from fairdeal.seeds import Commitment, verify_commitment
from fairdeal.values import changed


@dataclass(frozen=True, slots=True)
class Seen:
    """Values that may not come twice at a table. Spec: SEAL-2.

    A set that shares its parts with the sets before it: each part is larger than the next, so
    there are few, and a table of many hands is not copied with every event.
    """

    parts: tuple[frozenset[bytes], ...] = ()

    def __contains__(self, value: bytes) -> bool:
        return any(value in part for part in self.parts)

    def add(self, values: Iterable[bytes]) -> Seen:
        """With these values; `seed_reused` if one is there already."""
        new = list(values)
        part = frozenset(new)
        if len(part) != len(new) or not all(map(part.isdisjoint, self.parts)):
            raise StateError("seed_reused", "a commitment, seal or seed is used once at a table")
        parts = list(self.parts)
        while parts and len(parts[-1]) <= len(part):
            part |= parts.pop()
        return Seen((*parts, part))


@dataclass(frozen=True)
class Table:
    """A table, as far as its public events tell."""

    terms_event: TableOpened
    terms: Digest
    head: Digest
    seq: int
    last_at: int
    next_commitment: Commitment
    hand: Hand | None = None
    """The newest hand; it may have ended."""
    undisclosed: Mapping[int, Hand] = field(default_factory=dict)
    """Ended hands whose server seed is still closed, by number."""
    seen: Seen = Seen()
    is_closed: bool = False

    @classmethod
    def open(cls, event: TableOpened) -> Self:
        """A table begins with its terms. Spec: TBL-1."""
        parse_event(event.raw)  # terms made by hand are held to the form of terms that were read
        header = event.header
        if header.seq != 0 or header.prev is not None:
            raise StateError("wrong_event", "the terms are a table's first event")
        game = game_named(event.game)
        if event.seats not in game.seats:
            raise FormatError("seats_not_allowed", f"{event.game} is not played by so many")
        game.check_ruleset(event.ruleset, play=rules_of(game).options if event.referee else None)
        if not event.contribute or max(*event.contribute, *event.keys, 0) >= event.seats:
            raise FormatError("seats_not_allowed", "seats that contribute or sign are at the table")
        if VerifierKey.parse(event.log_key).name != event.origin:
            raise FormatError("log_key_malformed", "the log's key has the log's origin as its name")
        if not all(is_valid_point(key) for key in event.keys.values()):
            raise FormatError("key_malformed", "a seat's key is no usable Ed25519 key")
        terms = event.digest
        seen = Seen().add([event.next_commitment])
        return cls(event, terms, terms, 0, header.at, event.next_commitment, seen=seen)

    @property
    def id(self) -> str:
        """The table's name in every event."""
        return self.terms_event.header.table

    @property
    def game(self) -> Game:
        """The game of the table."""
        return game_named(self.terms_event.game)

    @property
    def open_hand(self) -> Hand | None:
        """The hand that is under way, if one is."""
        return None if self.hand is None or self.hand.is_final else self.hand

    @property
    def disclosure_due(self) -> Hand | None:
        """The hand that must be disclosed before anything else. Spec: HAND-17."""
        if self.terms_event.disclosure != "hand":
            return None
        return next(iter(self.undisclosed.values()), None)

    def header(self, at: int) -> Header:
        """The header of this table's next event; its time never goes back. Spec: EVT-2."""
        return Header(self.id, self.seq + 1, self.head, max(at, self.last_at))

    def apply(self, event: Event) -> Self:
        """The table after this event.

        Raises:
            StateError: The event does not follow, or is not legal now.
            VerificationError: A seed, signature or disclosure does not fit.
        """
        header = event.header
        table, seq, prev, at = header
        if (table, seq, prev) != (self.id, self.seq + 1, self.head) or at < self.last_at:
            raise StateError("not_next", "the event does not follow the table's newest one")
        if self.is_closed:
            raise StateError("table_closed", "the table is closed")
        step = self._STEPS.get(type(event))
        if step is not None:
            fields = step(self, event)
        elif isinstance(event, HandEvent):
            fields = self._hand_event(event)
        else:
            raise StateError("wrong_event", "this event is not one of a table that is open")
        return changed(self, head=event.digest, seq=seq, last_at=at, **fields)

    def _expect_between_hands(self) -> None:
        if self.open_hand is not None:
            raise StateError("hand_open", "a hand is under way")
        if self.disclosure_due is not None:
            raise StateError("not_due", "the hand that has ended is disclosed first")

    def first_choices(self) -> tuple[int | None, ...]:
        """What `first` of the next hand may be; the default stands first. Spec: HAND-2, PLAY-2."""
        hand = self.hand
        if hand is None:
            return (None,)
        if hand.reason is not None:
            return (hand.dealt.first if hand.dealt else hand.first,)
        if hand.result is not None:
            return (hand.result["first"],)
        seats = self.terms_event.seats
        after = (hand.dealt.first + 1) % seats if hand.dealt else 0
        turns = tuple([(after + step) % seats for step in range(seats)])
        return (*turns, None) if self.game.first_may_be_null else turns

    def next_match(self) -> Mapping[str, Any] | None:
        """The match before the next hand; None without a referee. Spec: PLAY-2."""
        terms, hand = self.terms_event, self.hand
        if not terms.referee:
            return None
        if hand is None:
            return rules_of(self.game).fresh(terms.ruleset, terms.seats)
        if hand.result is None:
            return hand.match
        if hand.result["winner"] is not None:
            return rules_of(self.game).fresh(terms.ruleset, terms.seats)
        match: Mapping[str, Any] = hand.result["match"]
        return match

    def _hand_opened(self, event: HandOpened) -> Fields:
        """Spec: HAND-1, HAND-2, SEAL-2."""
        self._expect_between_hands()
        number = self.hand.number + 1 if self.hand else 1
        if event.hand != number or event.terms != self.terms:
            raise StateError("wrong_event", "hands are numbered, and played under the terms")
        if event.commitment != self.next_commitment:
            raise StateError("commitment_mismatch", "the commitment is the one announced before")
        if event.first not in self.first_choices():
            raise StateError("first_not_allowed", "another seat receives the first card")
        if not same_json(event.match, self.next_match()):
            raise StateError("wrong_event", "the match is as the hand before has left it")
        return {
            "hand": Hand.open(self.terms_event, self.terms, event),
            "next_commitment": event.next_commitment,
            "seen": self.seen.add([event.next_commitment]),
        }

    def _hand_event(self, event: HandEvent) -> Fields:
        """Any event between a hand's opening and its end."""
        hand = self.hand
        if hand is None or event.hand != hand.number:
            raise StateError("wrong_phase", "this hand is not under way")
        if hand.is_final:
            raise StateError("already_final", "the hand has ended")
        after = hand.apply(event)
        fields: Fields = {"hand": after}
        if isinstance(event, SeedsSealed):
            fields["seen"] = self.seen.add(event.seals.values())
        elif isinstance(event, SeedsOpened):
            fields["seen"] = self.seen.add(event.seeds.values())
        elif after.is_final and after.reason != "lost":
            fields["undisclosed"] = {**self.undisclosed, after.number: after}
        return fields

    def _hand_disclosed(self, event: HandDisclosed) -> Fields:
        """Spec: HAND-17."""
        if self.open_hand is not None:
            raise StateError("hand_open", "a hand is under way")
        hand = self.undisclosed.get(event.hand)
        if hand is None:
            raise StateError("already_disclosed", "there is no ended hand with a closed seed")
        after = hand.apply(event)
        left = {number: other for number, other in self.undisclosed.items() if number != event.hand}
        newest = after if self.hand is not None and self.hand.number == event.hand else self.hand
        return {"hand": newest, "undisclosed": left}

    def _seat_reissued(self, event: SeatReissued) -> Fields:
        """Spec: TBL-2."""
        self._expect_between_hands()
        terms = self.terms_event
        if terms.custody != "seats" or not 0 <= event.seat < terms.seats:
            raise StateError("seat_unknown", "there is no such seat with a device of its own")
        return {}

    def _table_closed(self, event: TableClosed) -> Fields:
        """Spec: TBL-2."""
        self._expect_between_hands()
        if self.undisclosed:
            raise StateError("not_due", "every hand is disclosed before the table is closed")
        try:
            verify_commitment(self.next_commitment, event.unused_seed)
        except VerificationError as error:
            raise StateError(error.code, str(error)) from None
        return {"is_closed": True}

    _STEPS: ClassVar[Mapping[type[Event], Callable[[Table, Any], Fields]]] = {
        HandOpened: _hand_opened,
        HandDisclosed: _hand_disclosed,
        SeatReissued: _seat_reissued,
        TableClosed: _table_closed,
    }
