"""Random legal play at tables of all kinds, with what must hold after each single event.

Spec: EVT-2, HAND-9..17, GAME-4, ENC-7. Failures: F43 (cards lost or doubled), F16, F45.
"""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import fields, replace

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from fairdeal.codecs import Place
from fairdeal.events import EVENTS, Event, HandAborted, SeatReissued, Timeouts, parse_event
from fairdeal.games import GAMES
from fairdeal.hand import Phase
from fairdeal.table import Table
from seeds.local import Book
from tests.core.stages import SlowTable, attempt, outcome

TIMEOUTS = Timeouts(seal=3, open=2, hand=20, table=60)


class Watched(SlowTable):
    """A table on which every event is looked at from all sides as it is logged."""

    replayed: Table | None = None

    def log(self, event: Event) -> None:
        if self.replayed is None:
            self.replayed = Table.open(parse_event(self.events[0].raw))
        super().log(event)
        self.check_chain(event)
        self.check_replay(event)
        self.check_once(event)
        if self.table.hand is not None:
            self.check_end()
        if self.table.hand is not None and self.hand.layout is not None:
            self.check_cards()

    def check_chain(self, event: Event) -> None:
        """One chain, without gaps, in time. Read as anybody reads it."""
        before, value = self.events[-2], json.loads(event.raw)
        assert value["seq"] == len(self.events) - 1
        assert value["prev"] == hashlib.sha256(before.raw).hexdigest()
        assert value["at"] >= json.loads(before.raw)["at"]
        assert value["table"] == self.table.id

    def check_replay(self, event: Event) -> None:
        """What is read from the bytes leads to the same state."""
        again = parse_event(event.raw)
        assert again == event
        self.replayed = self.replayed.apply(again)
        assert self.replayed == self.table
        for value in (self.table, self.table.hand, getattr(self.table.hand, "layout", None)):
            if value is not None:
                assert vars(value).keys() == {field.name for field in fields(value)}

    def check_once(self, event: Event) -> None:
        """No event is legal twice: neither its bytes, nor what it says."""
        assert outcome(self, event) in {"not_next", "table_closed"}
        # Two discards of one size look alike until their locks are opened.
        alike = event.TYPE == "cards.discarded" and self.table.game.name == "kozel"
        if not isinstance(event, SeatReissued) and not alike:
            assert outcome(self, replace(event, header=self.table.header(self.book.now))) != "legal"

    def check_end(self) -> None:
        """An open hand can be ended: at once by the operator, and when its deadline passes."""
        hand = self.hand
        reason = "epochs" if hand.chains_ended else "operator"
        end = HandAborted(
            header=self.table.header(self.book.now), hand=hand.number, reason=reason, missing=()
        )
        assert (outcome(self, end) == "legal") == (self.table.open_hand is not None)
        if hand.deadline is not None:
            reason, at = hand.deadline
            late = replace(
                end,
                header=self.table.header(at),
                reason=reason,
                missing=hand.missing_seals or hand.missing_seeds,
            )
            assert outcome(self, late) == "legal"
            if at > self.table.last_at:
                early = replace(late, header=self.table.header(at - 1))
                assert outcome(self, early) == "deadline_not_reached"

    def check_cards(self) -> None:
        """Holdings, stock, heap and what was played face up are the deck, each card once."""
        dealing, layout, game = self.secrets, self.hand.layout, self.table.game
        held = [dealing.holding(seat) for seat in range(self.table.terms_event.seats)]
        assert tuple(map(len, held)) == layout.counts()
        up = {place for place in layout.shown if game.showing_plays}
        heap = {
            place
            for throw in layout.heap
            for place in dealing.thrown[throw.seat][throw.k]
            if place not in up
        }
        cards = [
            dealing.card(place) for places in (*held, layout.stock, heap, up) for place in places
        ]
        assert sorted(cards) == sorted(game.deck(self.table.terms_event.ruleset))


def some(data, values: Iterable, least: int = 1, most: int | None = None) -> list:
    """At least one of these, in any order."""
    values = list(values)
    chosen = data.draw(st.permutations(values))
    top = len(values) if most is None else min(most, len(values))
    return chosen[: data.draw(st.integers(least, max(least, top)))]


sometimes = st.integers(0, 7).map(lambda number: number == 5)


class Play(RuleBasedStateMachine):
    """Seats, an operator and a service, who do what they may, whenever they like."""

    game: str

    @initialize(data=st.data())
    def open_table(self, data):
        game = GAMES[self.game]
        seats = data.draw(st.sampled_from(game.seats))
        everyone = range(seats)
        self.dealings = {}
        self.table = Watched(
            Book(),
            self.game,
            name="m",
            seats=seats,
            ruleset={name: data.draw(st.sampled_from(v)) for name, v in game.options.items()},
            contribute=sorted(some(data, everyone)),
            keyed=some(data, everyone, least=0),
            custody=data.draw(st.sampled_from(["seats", "operator"])),
            disclosure=data.draw(st.sampled_from(["hand", "table"])),
            timeouts=TIMEOUTS,
        )

    # Where the hand stands.

    @property
    def state(self) -> Table:
        return self.table.table

    @property
    def phase(self) -> Phase | None:
        return self.state.open_hand.phase if self.state.open_hand else None

    @property
    def between(self) -> bool:
        return (
            self.state.open_hand is None
            and self.state.disclosure_due is None
            and not self.state.is_closed
        )

    @property
    def due(self) -> Event | None:
        return self.table.secrets.due(self.table.header()) if self.phase else None

    @property
    def playing(self) -> bool:
        return self.phase is Phase.PLAYING and self.due is None

    @property
    def ruleset(self):
        return self.state.terms_event.ruleset

    def keep(self) -> None:
        """The secrets of each hand, for its disclosure."""
        self.dealings[self.state.hand.number] = self.table.secrets

    def cards(self, data, seat: int, most: int | None = None) -> list[Place]:
        return some(data, self.table.secrets.holding(seat), most=most)

    # Before the deal.

    @precondition(lambda self: self.between)
    @rule(data=st.data())
    def open_hand(self, data):
        self.table.open_hand(data.draw(st.sampled_from(self.state.first_choices())))
        self.keep()

    @precondition(lambda self: self.phase is Phase.SEALING and self.state.hand.declarations_due)
    @rule(data=st.data())
    def declare(self, data):
        due = self.state.hand.declarations_due
        seats = due[: data.draw(st.integers(1, len(due)))]
        taken = set(self.state.hand.trumps.values()) if self.ruleset["distinct_trumps"] else set()
        suits = data.draw(st.permutations([suit for suit in "CDHS" if suit not in taken]))
        self.table.declare(dict(zip(seats, suits, strict=False)))

    @precondition(lambda self: self.phase is Phase.SEALING and not self.state.hand.declarations_due)
    @rule(data=st.data())
    def seal(self, data):
        self.table.seal(some(data, self.state.hand.missing_seals))

    @precondition(lambda self: self.phase in {Phase.OPENING, Phase.REOPENING})
    @rule(data=st.data())
    def open_seeds(self, data):
        self.table.open_seeds(some(data, self.state.hand.missing_seeds))

    @precondition(lambda self: self.due is not None)
    @rule()
    def follow(self):
        self.table.follow()

    @precondition(lambda self: self.between or self.phase is Phase.SEALING)
    @rule(data=st.data())
    def deal(self, data):
        """All of it in one go, so that most runs come to play."""
        if self.phase is None:
            self.open_hand(data)
        if self.state.hand.declarations_due:
            suits = "HS" if self.ruleset["distinct_trumps"] else "HH"
            for seat in self.state.hand.declarations_due:
                others = set(self.state.hand.trumps.values())
                suit = next((s for s in suits if s not in others), suits[0])
                self.table.declare({seat: suit})
        self.table.seal()
        self.table.open_seeds()
        while self.due is not None:
            self.table.follow()

    # Play.

    @precondition(
        lambda self: self.playing and self.game == "mus" and not self.state.hand.layout.shown
    )
    @rule(data=st.data(), rounds=st.integers(0, 4))
    def mus_round(self, data, rounds):
        """The next seat locks; or all do, round after round, so that stocks run out."""
        if rounds == 0:
            self.lock(data, 1)
        for _ in range(rounds):
            self.lock(data, 4)
            while self.due is not None or self.phase is Phase.REOPENING:
                if self.due is None:
                    self.table.open_seeds(some(data, self.state.hand.missing_seeds))
                else:
                    self.table.follow()
            if not self.playing:
                break

    def lock(self, data, count):
        layout = self.state.hand.playing
        corrido = self.ruleset["mus_corrido"] and layout.hand == 1
        start = layout.first + (layout.rounds if corrido else 0)
        left = [(start + step) % 4 for step in range(len(layout.locked), 4)]
        for seat in left[:count]:
            size = data.draw(st.sampled_from([4, 4, 4, 3, 2, 1]))
            self.table.discard({seat: self.table.secrets.holding(seat)[:size]})

    @precondition(lambda self: self.playing and self.game == "azi" and self.ruleset["cards"] == 4)
    @rule(data=st.data())
    def azi_discard(self, data):
        thrown = self.state.hand.layout.thrown
        seats = [seat for seat, count in enumerate(thrown) if not count]
        if seats:
            chosen = some(data, seats)
            self.table.discard({seat: self.cards(data, seat, most=1) for seat in chosen})

    @precondition(
        lambda self: (
            self.playing
            and self.game == "kozel"
            and self.ruleset["discards"] == "hidden"
            and any(self.state.hand.layout.counts())
        )
    )
    @rule(data=st.data())
    def kozel_discard(self, data):
        counts = self.state.hand.layout.counts()
        chosen = some(data, [seat for seat, count in enumerate(counts) if count], most=2)
        self.table.discard({seat: self.cards(data, seat) for seat in chosen})

    @precondition(lambda self: self.playing)
    @rule(data=st.data())
    def show(self, data):
        layout = self.state.hand.layout
        seat = data.draw(st.integers(0, len(layout.received) - 1))
        if self.game == "kozel" and not any(layout.counts()) and not layout.stock:
            places = layout.received[seat]
        else:
            places = self.table.secrets.holding(seat)
        places = [place for place in places if place not in layout.shown]
        half = self.game == "mus" and layout.locked
        unready = self.game == "azi" and self.ruleset["cards"] == 4 and not all(layout.thrown)
        blind = self.game == "azi" and self.ruleset["blind"] and seat not in layout.looked
        if places and not half and not unready and not blind:
            self.table.show(seat, some(data, places))

    @precondition(lambda self: self.playing and self.game == "kozel" and self.may_draw)
    @rule(taker=st.integers(0, 3))
    def draw(self, taker):
        self.table.draw(taker)

    @property
    def may_draw(self) -> bool:
        counts = set(self.state.hand.layout.counts())
        return len(counts) == 1 and max(counts) < 4 and bool(self.state.hand.layout.stock)

    @precondition(
        lambda self: (
            self.playing
            and self.game == "kozel"
            and (self.state.hand.layout.trick or self.state.hand.layout.locked)
            and 4 in self.state.hand.layout.counts()
        )
    )
    @rule()
    def pull(self):
        self.table.give_back()

    @precondition(lambda self: self.playing and self.game == "kozel")
    @rule(taker=st.integers(0, 3), hidden=st.booleans())
    def trick(self, taker, hidden):
        """Who has most plays down to the same number, then all draw: so hands come to an end."""
        counts = self.state.hand.layout.counts()
        low = max(min(counts) - (min(counts) == max(counts)), 0)
        for seat, count in enumerate(counts):
            places = self.table.secrets.holding(seat)[: count - low]
            if not places:
                continue
            if hidden and seat % 2 and self.ruleset["discards"] == "hidden":
                self.table.discard({seat: places})
            else:
                self.table.show(seat, places)
        if self.may_draw:
            self.table.draw(taker)

    @precondition(lambda self: self.playing and self.game == "azi" and self.ruleset["blind"])
    @rule(data=st.data())
    def look(self, data):
        left = {*range(self.state.terms_event.seats)} - self.state.hand.layout.looked
        if left:
            self.table.look(data.draw(st.sampled_from(sorted(left))))

    # The end.

    @precondition(lambda self: self.playing and self.state.game.may_close(self.state.hand.layout))
    @rule(sure=sometimes)
    def close(self, sure):
        if sure:
            self.table.close()
            self.keep()

    @precondition(lambda self: self.phase is not None)
    @rule(data=st.data(), sure=sometimes)
    def abort(self, data, sure):
        hand = self.state.hand
        if hand.chains_ended:
            self.table.abort("epochs")
        elif sure:
            reasons = ["operator", "lost", *([hand.deadline[0]] if hand.deadline else [])]
            reason = data.draw(st.sampled_from(reasons))
            due = hand.missing_seals if self.phase is Phase.SEALING else hand.missing_seeds
            missing = sorted(some(data, due, least=0)) if reason == "operator" else ()
            self.table.abort(reason, tuple(missing))
        self.keep()

    @precondition(lambda self: self.phase is None and self.state.undisclosed)
    @rule(data=st.data())
    def disclose(self, data):
        """Any of the hands that are closed still: its seeds, locks and cards fit together."""
        number = data.draw(st.sampled_from(sorted(self.state.undisclosed)))
        self.table.log(self.dealings[number].disclose(self.table.header()))
        assert number not in self.state.undisclosed

    @precondition(lambda self: self.between and self.state.terms_event.custody == "seats")
    @rule(data=st.data(), sure=sometimes)
    def reissue(self, data, sure):
        if sure:
            self.table.reissue(data.draw(st.integers(0, self.state.terms_event.seats - 1)))

    @precondition(lambda self: self.between and not self.state.undisclosed and self.state.hand)
    @rule(sure=sometimes)
    def close_table(self, sure):
        if sure:
            self.table.close_table()

    @rule(seconds=st.integers(0, 100))
    def wait(self, seconds):
        self.table.book.now += 1000 * seconds

    @rule(name=st.sampled_from(sorted(EVENTS)))
    def try_anything(self, name):
        """An event of any type is legal, or refused with a code; it never breaks anything."""
        before = self.state
        assert outcome(self.table, attempt(self.table, name))
        assert self.state is before

    def teardown(self):
        """The whole table again, from its bytes alone."""
        if not hasattr(self, "table"):
            return
        opened, *events = [parse_event(event.raw) for event in self.table.events]
        state = Table.open(opened)
        for event in events:
            state = state.apply(event)
        assert state == self.state


def machine(name: str, examples: int):
    cls = type(f"Play{name.capitalize()}", (Play,), {"game": name})
    cls.TestCase.settings = settings(max_examples=examples, stateful_step_count=60)
    return cls.TestCase


TestKozel = machine("kozel", 40)
TestMus = machine("mus", 40)
TestAzi = machine("azi", 40)
TestSvoi = machine("svoi", 40)


@pytest.mark.soak
@pytest.mark.parametrize("name", GAMES)
def test_many_tables(name):
    case = machine(name, 2_000)
    result = case("runTest").run()
    assert result.wasSuccessful(), result.errors + result.failures
