"""Hypothesis strategies for events: values of every field, and events of every type."""

from hypothesis import strategies as st

from fairdeal.cards import CARDS
from fairdeal.codecs import Given, Lock, Place, Shown
from fairdeal.events import ABORT_REASONS, EVENTS, Header, Timeouts
from fairdeal.hashing import Digest
from fairdeal.seeds import Commitment, Seal, SeatSeed, ServerSeed

YEAR_2000, YEAR_10000 = 946_684_800_000, 253_402_300_800_000

words = st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E, exclude_characters="+"))
seats = st.integers(0, 9)
seconds = st.integers(1, 31_536_000)
cards = st.sampled_from(sorted(CARDS))
places = st.builds(Place, st.integers(0, 32), st.integers(0, 255))
salts = st.binary(min_size=16, max_size=16)
seat_lists = st.sets(seats).map(sorted).map(tuple)


def bytes_of(length: int):
    return st.binary(min_size=length, max_size=length)


def word(cls):
    return bytes_of(32).map(cls)


def by_seat(values, least: int = 1):
    return st.dictionaries(seats, values, min_size=least, max_size=4)


def some(values):
    return st.lists(values, min_size=1, max_size=4).map(tuple)


shown = st.builds(Shown, st.none() | seats, places, cards, salts)
options = words | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1)

names = st.from_regex(r"[a-z0-9_]{1,32}", fullmatch=True)
objects = st.dictionaries(
    names,
    st.recursive(
        st.none() | options,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
        max_leaves=6,
    ),
    max_size=4,
)

FIELDS = {
    "origin": words.filter(bool),
    "log_key": st.text("abc+/=", min_size=1),
    "game": st.from_regex(r"[a-z0-9_]{1,32}", fullmatch=True),
    "ruleset": st.dictionaries(st.from_regex(r"[a-z0-9_]{1,32}", fullmatch=True), options),
    "seats": st.integers(1, 10),
    "contribute": seat_lists,
    "keys": by_seat(bytes_of(32), 0),
    "custody": st.sampled_from(["seats", "operator"]),
    "timeouts": st.builds(Timeouts, seconds, seconds, seconds, seconds, seconds),
    "disclosure": st.sampled_from(["hand", "table"]),
    "beacon": st.none(),
    "round": st.none(),
    "commitment": word(Commitment),
    "next_commitment": word(Commitment),
    "terms": word(Digest),
    "head": word(Digest),
    "deck_root": word(Digest),
    "server_seed": word(ServerSeed),
    "unused_seed": word(ServerSeed),
    "hand": st.integers(1, 2**32 - 1),
    "epoch": st.integers(0, 32),
    "count": st.integers(1, 255),
    "seat": seats,
    "first": seats,
    "trumps": by_seat(st.sampled_from("CDHS")),
    "seals": by_seat(word(Seal)),
    "seeds": by_seat(word(SeatSeed)),
    "sigs": by_seat(bytes_of(64), 0),
    "positions": by_seat(some(st.integers(0, 255))),
    "indicator": st.none() | cards,
    "shown": some(shown),
    "given": some(st.builds(Given, seats, seats, places, cards, salts)),
    "draws": some(st.tuples(seats, places)),
    "reason": st.sampled_from(ABORT_REASONS),
    "missing": seat_lists,
    "referee": st.booleans(),
    "match": st.none() | objects,
    "result": st.none() | objects,
    "call": st.from_regex(r"[a-z_]{1,16}", fullmatch=True),
    "what": st.from_regex(r"[a-z_]{1,16}", fullmatch=True),
    "amount": st.none() | st.integers(0, 2**53 - 1),
}
OTHERWISE = {
    ("hand.opened", "first"): st.none() | seats,
    ("play.declared", "seats"): seat_lists,
    ("hand.dealt", "shown"): st.lists(shown, max_size=3).map(tuple),
    ("cards.discarded", "discards"): by_seat(st.builds(Lock, st.integers(1, 255), bytes_of(32))),
    ("hand.disclosed", "discards"): by_seat(some(some(places)), 0),
}

headers = st.builds(
    Header,
    st.from_regex(r"tbl_[0-9a-hjkmnp-tv-z]{26}", fullmatch=True),
    st.integers(0, 2**53 - 1),
    st.none() | word(Digest),
    st.integers(YEAR_2000, YEAR_10000 - 1),
)


def events_of(name: str):
    """Events of one type, well formed and otherwise of any content."""
    cls = EVENTS[name]
    fields = {field: OTHERWISE.get((name, field), FIELDS.get(field)) for field in cls.CODECS}
    return st.builds(cls, header=headers, **fields)
