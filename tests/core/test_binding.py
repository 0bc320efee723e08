"""The deck depends on committed values only. Spec: KEY-1, KEY-2, HAND-5, HAND-12, OPEN-2.

One hand of Mus is played over and over with the same secrets and terms, and everything else varied.
The controls are cores whose key depends on one thing more: each must fail that very check.
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fairdeal.errors import VerificationError
from fairdeal.events import HandDealt, SeedsOpened, SeedsSealed
from fairdeal.hand import Hand, Phase
from fairdeal.hashing import u32be
from fairdeal.sealed_deck import SealedDeck
from fairdeal.seeds import DealKey, deal_key
from seeds.local import Book, LocalTable
from tests.core import naive
from tests.core.stages import SlowTable, attempt, key_of, outcome, table_at

Batches = Sequence[Sequence[int]]
Deck = tuple[bytes, tuple[str, ...]]

TOGETHER: Batches = ((0, 1, 2, 3),)


@dataclass(frozen=True)
class Way:
    """Everything that may vary between two plays of one hand."""

    seals: Batches = TOGETHER
    opened: Batches = TOGETHER
    reopened: Batches = TOGETHER
    locks: Batches = TOGETHER
    """Steps from the round's first seat on, in turn."""
    reissued: int = 0
    pause: int = 0
    """Milliseconds before each event."""


class PausingTable(LocalTable):
    """A table on which time passes."""

    pause = 0

    def header(self):
        self.book.now += self.pause
        return super().header()


def play(way: Way) -> LocalTable:
    """A hand of three epochs."""
    table = PausingTable(Book(), "mus", name="key")
    table.pause = way.pause
    for seat in range(way.reissued):
        table.reissue(seat % 4)
    table.open_hand()
    for seats in way.seals:
        table.seal(seats)
    for seats in way.opened:
        table.open_seeds(seats)
    while table.hand.epoch < 2:
        first = table.hand.playing.first
        for steps in way.locks:
            seats = [(first + step) % 4 for step in steps]
            table.discard({seat: table.secrets.holding(seat) for seat in seats})
        if table.hand.phase is Phase.REOPENING:
            for seats in way.reopened:
                table.open_seeds(seats)
    return table


def decks_of(table: LocalTable) -> list[Deck]:
    return [(bytes(deck.root), deck.order) for deck in table.secrets.decks]


BASE = decks_of(play(Way()))
SINGLY = tuple(permutations(range(4)))[::5]
WAYS = [
    Way(pause=1),
    Way(pause=50_000),
    Way(reissued=1),
    Way(reissued=9),
    *(Way(seals=[(seat,) for seat in order]) for order in SINGLY),
    *(Way(opened=[(seat,) for seat in order]) for order in SINGLY),
    *(Way(reopened=[(seat,) for seat in order]) for order in SINGLY),
    Way(seals=((3, 1), (0, 2)), opened=((2,), (0, 1, 3)), reopened=((3, 0), (2, 1))),
    Way(locks=((0,), (1,), (2,), (3,))),
    Way(locks=((0, 1), (2, 3)), pause=7, reissued=3),
]


def check_decks(ways: Sequence[Way] = WAYS, base: list[Deck] | None = None) -> None:
    """The check: however the hand was played, every epoch has the same root and order."""
    expected = decks_of(play(Way())) if base is None else base
    for way in ways:
        assert decks_of(play(way)) == expected, way


def test_the_deck_depends_on_committed_values_only():
    assert len(BASE) == 3
    check_decks(base=BASE)


def test_the_decks_are_those_of_the_named_values():
    """KEY-1: recomputed from terms, number, epoch, seeds of the seats, and the server seed."""
    table = play(Way())
    for epoch, (root, order) in enumerate(BASE):
        deck = tuple(card for card in table.table.game.deck({}) if card in order)
        key = key_of(table, epoch)
        assert list(order) == naive.order(deck, key)
        assert root == naive.mth(naive.leaves(deck, key, epoch))


@st.composite
def batches(draw, in_turn: bool = False) -> Batches:
    seats = list(range(4)) if in_turn else draw(st.permutations(range(4)))
    cuts = sorted(draw(st.sets(st.integers(1, 3))))
    return [seats[a:b] for a, b in zip([0, *cuts], [*cuts, 4], strict=True)]


ways = st.builds(
    Way,
    seals=batches(),
    opened=batches(),
    reopened=batches(),
    locks=batches(in_turn=True),
    reissued=st.integers(0, 5),
    pause=st.integers(0, 10**9),
)


@settings(max_examples=40)
@given(ways)
def test_any_way_of_playing_gives_the_same_decks(way):
    check_decks([way], BASE)


# The controls: what has crept into the key.

CREPT = {
    "the time of hand.opened": lambda hand, epoch: u32be(hand.opened_at % 2**32),
    "the time of an epoch's head": lambda hand, epoch: u32be(hand.head_at % 2**32),
    "the sealed head": lambda hand, epoch: hand.sealed_head,
    "the head of the epoch": lambda hand, epoch: hand.head,
    "the order in which seeds were opened": lambda hand, epoch: bytes(hand.seeds[epoch]),
    "the order in which seats sealed": lambda hand, epoch: bytes(hand.seals),
}


@pytest.mark.parametrize("crept", CREPT.values(), ids=CREPT)
def test_a_key_of_anything_else_is_caught(crept, monkeypatch):
    honest = Hand.key

    def key(self: Hand, epoch: int, server_seed) -> DealKey:
        salted = honest(self, epoch, server_seed) + crept(self, epoch)
        return DealKey(hashlib.sha256(salted).digest())

    check_decks()
    monkeypatch.setattr(Hand, "key", key)
    with pytest.raises(AssertionError):
        check_decks()


def test_a_deal_key_that_sees_the_clock_is_caught(monkeypatch):
    """As before, but in `deal_key`: whatever is passed to it, the time of some event gets in."""
    now = []

    def key(terms, hand, epoch, seats, server) -> DealKey:
        honest = deal_key(terms, hand, epoch, seats, server)
        return DealKey(hashlib.sha256(honest + repr(now[-1:]).encode()).digest())

    opened = Hand.open.__func__

    def remember(cls, table, terms, event):
        now.append(event.header.at)
        return opened(cls, table, terms, event)

    monkeypatch.setattr(Hand, "open", classmethod(remember))
    check_decks()
    monkeypatch.setattr("fairdeal.hand.deal_key", key)
    with pytest.raises(AssertionError):
        check_decks()


def test_seeds_in_order_of_arrival_are_caught(monkeypatch):
    def key(self: Hand, epoch: int, server_seed) -> DealKey:
        return deal_key(
            self.terms, self.number, epoch, list(self.seeds[epoch].values()), server_seed
        )

    monkeypatch.setattr(Hand, "key", key)
    with pytest.raises(AssertionError):
        check_decks()


# The sibling attack: a service that has learnt the seeds writes the head's event again.


def siblings(event, count: int) -> Iterator:
    for delay in range(1, count + 1):
        header = event.header._replace(at=event.header.at + delay)
        yield replace(event, header=header)


def before(table: SlowTable, stage: str):
    """The table's state before the event that is its head now."""
    state = table_at("new", keyed=tuple(table.seat_keys)).table
    for event in table.events[1:-1]:
        state = state.apply(event)
    assert state.apply(table.events[-1]) == table.table, stage
    return state


def deck_under(table: SlowTable, state, sibling) -> SealedDeck | VerificationError:
    """The deck that the service gets by putting the opened seeds under the sibling."""
    state = state.apply(sibling)
    honest = attempt(table, "seeds.opened")
    header = state.header(honest.header.at + 10**6)
    moved = replace(honest, header=header, head=sibling.digest)
    state = state.apply(moved)
    return table.secrets.at(state.hand).decks[state.hand.epoch]


HEADS = ["opening", "reopening"]


@pytest.mark.parametrize("stage", HEADS)
def test_a_sibling_of_the_head_changes_nothing_in_the_deck(stage):
    """Of the sealed head, and of a reshuffle's."""
    table = table_at(stage)
    state = before(table, stage)
    head = table.events[-1]
    assert isinstance(head, SeedsSealed) == (stage == "opening")
    honest = deck_under(table, state, head)
    found = [deck_under(table, state, sibling) for sibling in siblings(head, 50)]
    assert {(deck.root, deck.order) for deck in found} == {(honest.root, honest.order)}


def test_with_the_head_in_the_key_there_would_be_a_choice(monkeypatch):
    """The control: the design that was broken in review, by this very search."""
    honest = Hand.key
    monkeypatch.setattr(
        Hand,
        "key",
        lambda self, epoch, server: DealKey(
            hashlib.sha256(honest(self, epoch, server) + self.head).digest()
        ),
    )
    table = table_at("opening")
    state = before(table, "opening")
    found = {deck_under(table, state, sibling).root for sibling in siblings(table.events[-1], 50)}
    assert len(found) == 50


@pytest.mark.parametrize("stage", HEADS)
def test_a_kept_receipt_does_not_cover_the_sibling(stage, refused):
    """OPEN-2: whoever opened under the head holds what shows that there are two."""
    table = table_at(stage)
    book, head = table.book, table.events[-1]
    receipt = book.receipt(table.indices[-1])
    receipt.verify(head.raw, book.key.verifier)
    for sibling in siblings(head, 5):
        assert sibling.digest != head.digest
        with refused("path_invalid", kind=VerificationError):
            receipt.verify(sibling.raw, book.key.verifier)
        index = book.append(sibling.raw)
        later = book.receipt(index)
        later.verify(sibling.raw, book.key.verifier)
        with refused("path_invalid", kind=VerificationError):
            later.verify(head.raw, book.key.verifier)


@pytest.mark.parametrize("stage", HEADS)
def test_a_keyed_seat_has_signed_the_head_that_it_saw(stage, refused):
    """SIG-2, TAG-1 `open`: its signature fits no other head."""
    table = table_at(stage, keyed=(2,))
    state = before(table, stage)
    head = table.events[-1]
    logged = []
    table.log = logged.append
    table.open_seeds()
    (opened,) = logged
    assert isinstance(opened, SeedsOpened)
    assert state.apply(head).apply(opened).hand.missing_seeds == ()
    for sibling in siblings(head, 5):
        other = state.apply(sibling)
        header = other.header(opened.header.at)
        moved = replace(opened, header=header, head=sibling.digest)
        with refused("signature_invalid", kind=VerificationError):
            other.apply(moved)
        with refused("head_mismatch"):
            other.apply(replace(opened, header=header))


def test_what_follows_a_sibling_does_not_follow_the_head():
    """Events chain: a deal under the sibling is no deal of this table."""
    table = table_at("opening")
    state = before(table, "opening")
    sibling = next(siblings(table.events[-1], 1))
    table.open_seeds()
    dealt = attempt(table, "hand.dealt")
    assert isinstance(dealt, HandDealt)
    assert outcome(table, dealt) == "legal"
    moved = replace(dealt, header=dealt.header._replace(prev=state.apply(sibling).head))
    assert outcome(table, moved) == "not_next"


# The same seeds elsewhere: F21.


def test_the_same_seeds_give_other_decks_at_another_hand_table_or_epoch():
    """Nothing of one hand says anything of another: T, the number and the epoch are in the key."""
    table = play(Way())
    hand, server = table.hand, table.server_seed(1)
    seats = [hand.seeds[0][seat] for seat in range(4)]
    terms = [hand.terms, LocalTable(Book(), "mus", name="key2").table.terms]
    keys = {
        deal_key(t, number, epoch, seats, server)
        for t in terms
        for number in (1, 2, 3)
        for epoch in (0, 1, 2)
    }
    assert len(keys) == 18


def test_custody_is_in_the_terms_and_batching_is_not():
    """Both custodies deal by one rule: with equal terms and seeds decks are equal to the byte."""
    tables = [LocalTable(Book(), "kozel", name="c", custody=c) for c in ("seats", "operator")]
    assert tables[0].table.terms != tables[1].table.terms
    for table in tables:
        table.deal()
        deck = table.table.game.deck({})
        assert table.hand.dealt.deck_root == naive.mth(naive.leaves(deck, key_of(table)))
    batched = []
    for custody, seats in (("operator", TOGETHER), ("operator", [(s,) for s in (3, 1, 0, 2)])):
        table = LocalTable(Book(), "kozel", name="c", custody=custody)
        table.open_hand()
        for batch in seats:
            table.seal(batch)
        for batch in seats[::-1]:
            table.open_seeds(batch)
        batched.append(
            [table.secrets.opening(p) for row in table.hand.layout.received for p in row]
        )
    assert batched[0] == batched[1]
