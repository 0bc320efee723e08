"""One hand as a state machine: a state and an event give a new state.

Nothing else decides what is legal. The state knows what everybody may know; what only the service
knows (the server seed, which cards lie face down) is in `dealing`.

Spec: hand.md. One method for each event type, named after it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, ClassVar, Final

from fairdeal.cards import Card
from fairdeal.codecs import SEAT, Lock, Place
from fairdeal.discards import Claim, verify_discards
from fairdeal.ed25519 import verify_signature
from fairdeal.errors import StateError, VerificationError
from fairdeal.events import (
    CardsDiscarded,
    CardsDrawn,
    CardsGiven,
    CardsLooked,
    CardsReturned,
    CardsShown,
    HandAborted,
    HandClosed,
    HandDealt,
    HandDisclosed,
    HandEvent,
    HandOpened,
    PlayCalled,
    PlayDeclared,
    SeedsOpened,
    SeedsSealed,
    Signatures,
    StockReshuffled,
    TableOpened,
    TrumpsDeclared,
)
from fairdeal.games import game_named, rules_of
from fairdeal.games.base import Game, Layout, Throw
from fairdeal.hashing import Digest
from fairdeal.seeds import (
    LAST_EPOCH,
    Commitment,
    DealKey,
    Seal,
    SeatSeed,
    ServerSeed,
    deal_key,
    declare_message,
    lock_message,
    open_message,
    seal,
    seal_message,
    verify_commitment,
    verify_link,
)
from fairdeal.values import changed


class Phase(StrEnum):
    """Where a hand stands."""

    SEALING = "sealing"
    OPENING = "opening"
    DEALING = "dealing"
    PLAYING = "playing"
    SERVING = "serving"
    REOPENING = "reopening"
    RESTOCKING = "restocking"
    CLOSED = "closed"
    ABORTED = "aborted"


Fields = dict[str, Any]
"""What an event changes: each method below says it, and the state is made once."""

_FINAL: Final = (Phase.CLOSED, Phase.ABORTED)
_OPENING: Final = (Phase.OPENING, Phase.REOPENING)
_DEADLINES: Final = ("seal_timeout", "open_timeout", "turn_timeout", "idle")
RESULT_FIELDS: Final = frozenset({"first", "match", "score", "winner"})


@dataclass(frozen=True)
class Hand:
    """A hand, as far as its public events tell."""

    table: TableOpened
    terms: Digest
    number: int
    commitment: Commitment
    next_commitment: Commitment
    first: int | None
    """As given when the hand was opened; None if it is drawn."""
    match: Mapping[str, Any] | None
    """The match before the hand, where there is a referee. Spec: PLAY-2."""
    opened_at: int
    last_at: int
    phase: Phase = Phase.SEALING
    trumps: Mapping[int, str] = field(default_factory=dict)
    seals: Mapping[int, Seal] = field(default_factory=dict)
    sealed_head: Digest | None = None
    epoch: int = 0
    """The newest epoch whose seeds are due or open."""
    head: Digest | None = None
    """The head that due seeds open under."""
    head_at: int = 0
    seeds: tuple[Mapping[int, SeatSeed], ...] = ({},)
    """By epoch, by seat."""
    dealt: HandDealt | None = None
    roots: tuple[tuple[Digest, int], ...] = ()
    """By epoch: root and number of cards."""
    pools: tuple[tuple[Throw, ...], ...] = ()
    """By reshuffle: the discards that it took."""
    layout: Layout | None = None
    locks: Mapping[tuple[int, int], Lock] = field(default_factory=dict)
    """By (seat, k)."""
    claims: tuple[Claim, ...] = ()
    shown: tuple[tuple[Place, Card, bytes], ...] = ()
    """Every card made public, in event order."""
    reason: str | None = None
    missing: tuple[int, ...] = ()
    result: Mapping[str, Any] | None = None
    """What the hand gave, where there is a referee. Spec: PLAY-5."""
    disclosed: HandDisclosed | None = None

    @classmethod
    def open(cls, table: TableOpened, terms: Digest, event: HandOpened) -> Hand:
        """A hand begins; that it may is the table's business. Spec: HAND-1."""
        at = event.header.at
        return cls(
            table,
            terms,
            event.hand,
            event.commitment,
            event.next_commitment,
            event.first,
            event.match,
            opened_at=at,
            last_at=at,
        )

    @property
    def game(self) -> Game:
        """The game of this hand's table."""
        return game_named(self.table.game)

    @property
    def is_final(self) -> bool:
        """Whether the hand has ended."""
        return self.phase in _FINAL

    @property
    def missing_seals(self) -> tuple[int, ...]:
        """Contributing seats that have not sealed."""
        return tuple([seat for seat in self.table.contribute if seat not in self.seals])

    @property
    def missing_seeds(self) -> tuple[int, ...]:
        """Contributing seats whose due seed is not open."""
        if self.phase not in _OPENING:
            return ()
        return tuple([seat for seat in self.table.contribute if seat not in self.seeds[self.epoch]])

    @property
    def chains_ended(self) -> bool:
        """Whether a reshuffle is due that no seed can feed. Spec: HAND-14."""
        return self.phase is Phase.RESTOCKING and self.head is None

    @property
    def declarations_due(self) -> tuple[int, ...]:
        """Seats that have not named their trumps, in the order in which they must. Spec: HAND-3."""
        if not self.game.declares_trumps:
            return ()
        seats = self.table.seats
        order = [((self.first or 0) + step) % seats for step in range(seats)]
        return tuple([seat for seat in order if seat not in self.trumps])

    @property
    def deadlines(self) -> Mapping[str, int]:
        """The reasons for which the hand may be aborted if it stays as it is, and when.

        Spec: HAND-16.
        """
        timeouts = self.table.timeouts
        if self.phase is Phase.SEALING:
            return {"seal_timeout": self.opened_at + 1000 * timeouts.seal}
        if self.phase in _OPENING:
            return {"open_timeout": self.head_at + 1000 * timeouts.open}
        if self.is_final or self.phase is Phase.DEALING or self.chains_ended:
            return {}
        idle = self.last_at + 1000 * timeouts.hand
        if self.phase is Phase.PLAYING and self.table.referee:
            # Whether a seat is on turn is the referee's to say (PLAY-6); mostly one is.
            return {"turn_timeout": self.last_at + 1000 * timeouts.turn, "idle": idle}
        return {"idle": idle}

    @property
    def deadline(self) -> tuple[str, int] | None:
        """The first of them."""
        return next(iter(self.deadlines.items()), None)

    @property
    def playing(self) -> Layout:
        """The layout, or `wrong_phase` if no card may be moved by a player now."""
        if self.phase is not Phase.PLAYING or self.layout is None:
            raise self._wrong_phase()
        return self.layout

    def key(self, epoch: int, server_seed: ServerSeed) -> DealKey:
        """K_e, once all seeds of the epoch are open. Spec: KEY-1."""
        seeds = self.seeds[epoch]
        ordered = [seeds[seat] for seat in self.table.contribute]
        return deal_key(self.terms, self.number, epoch, ordered, server_seed)

    def apply(self, event: HandEvent) -> Hand:
        """The hand after this event.

        Raises:
            StateError: The event is not legal now.
            VerificationError: A seed, signature or disclosure does not fit.
        """
        step = self._STEPS.get(type(event))
        if step is None:
            raise self._wrong_phase()
        return changed(self, **{"last_at": event.header.at, **step(self, event)})

    def _wrong_phase(self) -> StateError:
        return StateError("wrong_phase", f"not while the hand is {self.phase}")

    def _expect(self, *phases: Phase) -> None:
        if self.phase not in phases:
            raise self._wrong_phase()

    def _check_seats(self, seats: tuple[int, ...]) -> None:
        for seat in seats:
            if not 0 <= seat < self.table.seats:
                raise StateError("seat_unknown", "the table has no such seat")

    def _check_signatures(
        self, sigs: Signatures, seats: Iterable[int], message: Callable[[int], bytes]
    ) -> None:
        """Every keyed seat of an event has signed its message, and nobody else. Spec: SIG-2."""
        keys = self.table.keys
        if not keys and not sigs:
            return
        signing = [seat for seat in seats if seat in keys]
        for seat in signing:
            if seat not in sigs:
                raise VerificationError("signature_missing", "this seat signs with its own key")
            verify_signature(keys[seat], message(seat), sigs[seat])
        if not sigs.keys() <= set(signing):
            raise VerificationError("signature_invalid", "a signature of a seat that has none here")

    # Before the deal.

    def _trumps_declared(self, event: TrumpsDeclared) -> Fields:
        """Spec: HAND-3."""
        self._expect(Phase.SEALING)
        due = self.declarations_due
        if self.seals or not due or set(event.trumps) != set(due[: len(event.trumps)]):
            raise StateError("not_your_turn", "each seat declares once, in turn, before any seal")
        trumps = {**self.trumps, **event.trumps}
        self.game.check_trumps(self.table.ruleset, trumps)
        self._check_signatures(
            event.sigs,
            event.trumps,
            lambda seat: declare_message(
                self.terms, self.number, seat, self.commitment, event.trumps[seat]
            ),
        )
        return {"trumps": trumps}

    def _seeds_sealed(self, event: SeedsSealed) -> Fields:
        """Spec: HAND-4, SEAL-1."""
        self._expect(Phase.SEALING)
        if self.declarations_due:
            raise StateError("wrong_phase", "trump suits are declared before the first seal")
        for seat in event.seals:
            if seat not in self.table.contribute:
                raise StateError("seat_unknown", "this seat does not contribute")
            if seat in self.seals:
                raise StateError("seal_fixed", "this seat has sealed")
        seals = {**self.seals, **event.seals}
        if len(set(seals.values())) != len(seals):
            raise StateError("seed_reused", "two seats have one seal")
        self._check_signatures(
            event.sigs,
            event.seals,
            lambda seat: seal_message(
                self.terms, self.number, seat, self.commitment, event.seals[seat]
            ),
        )
        if len(seals) < len(self.table.contribute):
            return {"seals": seals}
        return {"seals": seals, "sealed_head": event.digest, **self._await_seeds(event, 0)}

    def _await_seeds(self, event: HandEvent, epoch: int) -> Fields:
        """Seeds of an epoch are due, under the head that this event is. Spec: HAND-5, HAND-12."""
        return {
            "phase": Phase.REOPENING if epoch else Phase.OPENING,
            "epoch": epoch,
            "head": event.digest,
            "head_at": event.header.at,
            "seeds": (*self.seeds[:epoch], {}),
        }

    def _seeds_opened(self, event: SeedsOpened) -> Fields:
        """Spec: HAND-5, HAND-12, SEAL-1, SEED-3."""
        if self.phase is Phase.SEALING:
            raise StateError("too_early", "no seed is opened before every seat has sealed")
        self._expect(Phase.OPENING, Phase.REOPENING)
        if event.epoch != self.epoch:
            raise StateError("too_early", "seeds of another epoch are due")
        if event.head != self.head:
            raise StateError("head_mismatch", "seeds are opened under the head that made them due")
        opened = self.seeds[self.epoch]
        for seat, seed in event.seeds.items():
            if seat not in self.table.contribute:
                raise StateError("seat_unknown", "this seat does not contribute")
            if seat in opened:
                raise StateError("seed_fixed", "this seat has opened its seed")
            self._check_seed(seat, seed)
        self._check_signatures(
            event.sigs,
            event.seeds,
            lambda seat: open_message(event.head, self.epoch, seat, event.seeds[seat]),
        )
        opened = {**opened, **event.seeds}
        seeds = (*self.seeds[: self.epoch], opened)
        if len(opened) < len(self.table.contribute):
            return {"seeds": seeds}
        return {"seeds": seeds, "phase": Phase.RESTOCKING if self.epoch else Phase.DEALING}

    def _check_seed(self, seat: int, seed: SeatSeed) -> None:
        if self.epoch:
            verify_link(self.seeds[self.epoch - 1][seat], seed)
        elif seal(self.terms, self.number, seat, self.commitment, seed) != self.seals[seat]:
            raise VerificationError("seal_mismatch", "this is not the seed that the seat sealed")

    def _hand_dealt(self, event: HandDealt) -> Fields:
        """Spec: HAND-6, GAME-1, GAME-2."""
        self._expect(Phase.DEALING)
        table, rules, game = self.table, self.table.ruleset, self.game
        self._check_seats((event.first,))
        if self.first is not None and event.first != self.first:
            raise StateError("wrong_event", "the first seat was given when the hand was opened")
        indicator = game.indicator(rules)
        if (indicator is None) != (event.indicator is None):
            raise StateError("wrong_event", "an indicator is stated where the game has one")
        position = None
        if indicator is not None and indicator.public:
            position = event.shown[0].place.position if event.shown else -1
            if position not in range(indicator.start, indicator.start + indicator.choices):
                raise StateError("wrong_event", "the indicator is not where it can be")
            if event.shown[0].card != event.indicator:
                raise StateError("wrong_event", "the indicator is the card shown")
        turned = game.turned(rules, table.seats, event.first, position)
        if [(shown.seat, shown.place) for shown in event.shown] != [
            (seat, Place(0, place)) for seat, place in turned
        ]:
            raise StateError("wrong_event", "the cards shown are not the ones that are turned")
        positions = game.positions(rules, table.seats, event.first)
        if event.positions != dict(enumerate(positions)):
            raise StateError("wrong_event", "the cards do not go round as the rules say")
        layout = game.deal(rules, table.seats, event.first, self.number, position)
        if table.referee:
            layout = changed(layout, refereed=True, out=self._out())
        return {
            "phase": Phase.PLAYING,
            "dealt": event,
            "roots": ((event.deck_root, len(game.deck(rules))),),
            "layout": layout,
            "shown": tuple([(shown.place, shown.card, shown.salt) for shown in event.shown]),
        }

    def _out(self) -> frozenset[int]:
        """Seats that sit out."""
        return rules_of(self.game).out(self.match) if self.match is not None else frozenset()

    # After the deal.

    def _cards_drawn(self, event: CardsDrawn) -> Fields:
        """Spec: GAME-4, KOZ-5, MUS-3."""
        layout = self.layout
        if layout is None or self.phase not in (Phase.PLAYING, Phase.SERVING):
            raise self._wrong_phase()
        if self.phase is Phase.PLAYING:
            taker = event.draws[0][0]
            self._check_seats((taker,))
            layout = self.game.draw(self.table.ruleset, layout, taker)
        due = tuple(zip(layout.owed, layout.stock, strict=False))
        if event.draws != due:
            raise StateError("wrong_event", "the next cards of the stock go to the seats in turn")
        return self._continue(layout.serve(due), event)

    def _continue(self, layout: Layout, event: HandEvent) -> Fields:
        """What the rules make due after this layout. Spec: HAND-9, HAND-12, HAND-14."""
        if not layout.owed:
            return {"layout": self.game.served(layout), "phase": Phase.PLAYING}
        if layout.stock:
            return {"layout": layout, "phase": Phase.SERVING}
        if self.epoch == LAST_EPOCH:
            # Only an abort is legal now: a reshuffle is due that no seed can feed.
            return {"layout": layout, "phase": Phase.RESTOCKING, "head": None}
        return {"layout": layout, **self._await_seeds(event, self.epoch + 1)}

    def _cards_discarded(self, event: CardsDiscarded) -> Fields:
        """Spec: HAND-10, KOZ-4, MUS-1, AZI-2."""
        layout = self.playing
        seats = tuple(event.discards)
        self._check_seats(seats)
        counts = {seat: lock.size for seat, lock in event.discards.items()}
        after = self.game.discard(self.table.ruleset, layout, counts)
        self._check_signatures(
            event.sigs,
            event.discards,
            lambda seat: lock_message(
                self.terms, self.number, seat, layout.thrown[seat], *event.discards[seat]
            ),
        )
        locks = dict(self.locks)
        claims = []
        for seat, lock in sorted(event.discards.items()):  # same bytes, same state
            k = layout.thrown[seat]
            locks[seat, k] = lock
            claims.append(Claim(seat, k, layout.received[seat], _down(layout, seat)))
        following = self._continue(after, event) if after.owed else {"layout": after}
        return {"locks": locks, "claims": self.claims + tuple(claims), **following}

    def _cards_shown(self, event: CardsShown) -> Fields:
        """Spec: HAND-11."""
        layout, game, rules = self.playing, self.game, self.table.ruleset
        claims = []
        # Which discards there are does not change by showing cards.
        thrown = {shown.seat: _down(layout, shown.seat) for shown in event.shown}
        for shown in event.shown:
            if shown.seat is None:
                raise StateError("wrong_event", "cards of the stock are shown by the deal only")
            self._check_seats((shown.seat,))
            at_count = not layout.count(shown.seat)
            claim = Claim(shown.seat, None, (shown.place,), thrown[shown.seat], at_count)
            claims.append(claim)
            layout = game.show(rules, layout, shown.seat, shown.place)
        public = tuple([(shown.place, shown.card, shown.salt) for shown in event.shown])
        return {
            "layout": layout,
            "claims": self.claims + tuple(claims),
            "shown": self.shown + public,
        }

    def _cards_given(self, event: CardsGiven) -> Fields:
        """Spec: SVO-3."""
        layout = self.playing
        if not layout.fresh or tuple(sorted({g.source for g in event.given})) != tuple(
            [given.source for given in event.given]
        ):
            raise StateError("not_due", "cards are given once, right after the deal")
        for given in event.given:
            self._check_seats((given.source, given.target))
            target = self.game.gift(self.table.ruleset, self.trumps, given.source, given.card)
            if target != given.target or given.place not in layout.received[given.source]:
                raise StateError("wrong_event", "this card is not to be given")
            layout = layout.take(given.source, given.place)
            layout = layout.with_received(
                given.target, (*layout.received[given.target], given.place)
            )
        places = frozenset([given.place for given in event.given])
        public = tuple([(given.place, given.card, given.salt) for given in event.given])
        if not layout.refereed:
            layout = changed(layout, shown=layout.shown | places)
        return {"layout": layout, "shown": self.shown + public}

    def _cards_returned(self, _event: CardsReturned) -> Fields:
        """Spec: KOZ-6."""
        return {"layout": self.game.give_back(self.table.ruleset, self.playing)}

    def _cards_looked(self, event: CardsLooked) -> Fields:
        """Spec: AZI-3."""
        self._check_seats((event.seat,))
        return {"layout": self.game.look(self.table.ruleset, self.playing, event.seat)}

    def _stock_reshuffled(self, event: StockReshuffled) -> Fields:
        """Spec: HAND-13, MUS-4."""
        layout = self.layout
        if self.phase is not Phase.RESTOCKING or layout is None or self.head is None:
            raise self._wrong_phase()
        pool = self.game.pool(self.table.ruleset, layout)
        if event.epoch != self.epoch or event.count != sum([throw.size for throw in pool]):
            raise StateError("wrong_event", "the new stock is the pool that the rules name")
        stock = tuple([Place(event.epoch, position) for position in range(event.count)])
        heap = tuple([throw for throw in layout.heap if throw not in pool])
        return {
            "phase": Phase.SERVING,
            "roots": (*self.roots, (event.deck_root, event.count)),
            "pools": (*self.pools, pool),
            "layout": changed(layout, stock=stock, heap=heap),
        }

    # With a referee. Whether a move is legal, and a result right, is the referee's to say.

    def _played(self, event: PlayCalled | PlayDeclared) -> Fields:
        """Spec: PLAY-1, PLAY-3."""
        layout = self.playing
        if not self.table.referee:
            raise StateError("action_not_allowed", "this table has no referee")
        self._check_seats((event.seat,) if isinstance(event, PlayCalled) else event.seats)
        if isinstance(event, PlayCalled) and event.call == "take":
            return {"layout": self.game.take(layout, event.seat, event.amount or 0)}
        return {"layout": changed(layout, fresh=False)}

    # The end.

    def _hand_closed(self, event: HandClosed) -> Fields:
        """Spec: HAND-15, PLAY-1, PLAY-5."""
        if not self.game.may_close(self.playing):
            raise StateError("wrong_phase", "a round of discards is under way")
        result = event.result
        if (result is not None) != self.table.referee:
            raise StateError("wrong_event", "a result is stated where there is a referee")
        if result is not None:
            if result.keys() != RESULT_FIELDS or not isinstance(result["match"], dict):
                raise StateError("wrong_event", "a result has first, match, score and winner")
            first = result["first"]
            if first is not None:
                self._check_seats((SEAT.read(first),))
        return {"phase": Phase.CLOSED, "result": result}

    def _hand_aborted(self, event: HandAborted) -> Fields:
        """Spec: HAND-16, HAND-14."""
        if self.is_final:
            raise StateError("already_final", "the hand has ended")
        if event.reason == "turn_timeout":
            self._check_seats(event.missing)
            if not event.missing:
                raise StateError("wrong_event", "`missing` names the seats whose turn it was")
        if self.chains_ended != (event.reason == "epochs"):
            raise StateError("wrong_phase", "a hand ends for `epochs` when the seats' chains have")
        due = self.missing_seals if self.phase is Phase.SEALING else self.missing_seeds
        allowed = due if event.reason in ("seal_timeout", "open_timeout") else ()
        if event.reason in _DEADLINES:
            deadline = self.deadlines.get(event.reason)
            if deadline is None:
                raise StateError("wrong_phase", "this is not what the hand is waiting for")
            if event.header.at < deadline:
                raise StateError("deadline_not_reached", "the deadline has not passed")
        if event.reason == "turn_timeout":
            allowed = event.missing  # the seats on turn: the referee's to say (PLAY-6)
        elif event.reason == "operator":
            allowed = event.missing if set(event.missing) <= set(due) else ()
        if event.missing != allowed:
            raise StateError("wrong_event", "`missing` names the seats whose turn it was")
        return {"phase": Phase.ABORTED, "reason": event.reason, "missing": event.missing}

    def _hand_disclosed(self, event: HandDisclosed) -> Fields:
        """Spec: HAND-17."""
        self._expect(*_FINAL)
        if self.disclosed is not None:
            raise StateError("already_disclosed", "the hand is disclosed")
        if self.reason == "lost":
            raise StateError("wrong_phase", "the server seed of this hand is lost")
        verify_commitment(self.commitment, event.server_seed)
        key = self.key(0, event.server_seed) if self.locks else None
        verify_discards(self.number, self.locks, self.claims, event.discards, key)
        return {"disclosed": event, "last_at": self.last_at}

    _STEPS: ClassVar[Mapping[type[HandEvent], Callable[[Hand, Any], Fields]]] = {
        TrumpsDeclared: _trumps_declared,
        SeedsSealed: _seeds_sealed,
        SeedsOpened: _seeds_opened,
        HandDealt: _hand_dealt,
        CardsDrawn: _cards_drawn,
        CardsDiscarded: _cards_discarded,
        CardsShown: _cards_shown,
        CardsGiven: _cards_given,
        CardsReturned: _cards_returned,
        CardsLooked: _cards_looked,
        StockReshuffled: _stock_reshuffled,
        PlayCalled: _played,
        PlayDeclared: _played,
        HandClosed: _hand_closed,
        HandAborted: _hand_aborted,
        HandDisclosed: _hand_disclosed,
    }


def _down(layout: Layout, seat: int | None) -> tuple[int, ...]:
    """Which of a seat's discards lie face down."""
    return tuple([k for owner, k, _ in layout.down if owner == seat])
