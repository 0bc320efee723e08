"""Every type of event at every stage of a hand. Spec: TBL-2, HAND-1..17, EVT-2."""

from dataclasses import replace

import pytest

from fairdeal.codecs import Place
from fairdeal.errors import StateError
from fairdeal.events import EVENTS
from fairdeal.hand import Phase
from fairdeal.seeds import SeatSeed
from tests.core.stages import NOTHING, attempt, discard_until, every_stage, outcome, table_at

TABLE_EVENTS = ("hand.opened", "hand.disclosed", "seat.reissued", "table.closed")

OPEN = {"table.opened": "wrong_event"} | dict.fromkeys(TABLE_EVENTS, "hand_open")

SEALING = OPEN | {"trumps.declared": "not_your_turn", "seeds.opened": "too_early"}

PLAYING = OPEN | {
    "cards.drawn": "action_not_allowed",
    "cards.given": "not_due",
    "cards.returned": "action_not_allowed",
    "cards.looked": "action_not_allowed",
    "play.called": "action_not_allowed",
    "play.declared": "action_not_allowed",
}

ENDED = {"table.opened": "wrong_event"}

BETWEEN = "hand.opened seat.reissued "

MATRIX = {  # stage: legal types, the code of most others, the codes of some
    "new": (
        BETWEEN + "table.closed",
        "wrong_phase",
        ENDED | {"hand.disclosed": "already_disclosed"},
    ),
    "sealing": ("seeds.sealed hand.aborted", "wrong_phase", SEALING),
    "half sealed": ("seeds.sealed hand.aborted", "wrong_phase", SEALING),
    "opening": ("seeds.opened hand.aborted", "wrong_phase", OPEN),
    "half opened": ("seeds.opened hand.aborted", "wrong_phase", OPEN),
    "dealing": ("hand.dealt hand.aborted", "wrong_phase", OPEN),
    "playing": (
        "cards.discarded cards.shown hand.closed hand.aborted",
        "wrong_phase",
        PLAYING | {"cards.given": "wrong_event"},
    ),
    "half locked": ("cards.discarded hand.aborted", "wrong_phase", PLAYING),
    "serving": ("cards.drawn hand.aborted", "wrong_phase", OPEN),
    "short": ("cards.drawn hand.aborted", "wrong_phase", OPEN),
    "reopening": ("seeds.opened hand.aborted", "wrong_phase", OPEN),
    "half reopened": ("seeds.opened hand.aborted", "wrong_phase", OPEN),
    "restocking": ("stock.reshuffled hand.aborted", "wrong_phase", OPEN),
    "restocked": ("cards.drawn hand.aborted", "wrong_phase", OPEN),
    "exhausted": ("hand.aborted", "wrong_phase", OPEN),
    "shown": ("cards.shown hand.closed hand.aborted", "wrong_phase", PLAYING),
    "closed": (BETWEEN + "hand.disclosed", "already_final", ENDED | {"table.closed": "not_due"}),
    "aborted": (BETWEEN + "hand.disclosed", "already_final", ENDED | {"table.closed": "not_due"}),
    "lost": (
        BETWEEN + "table.closed",
        "already_final",
        ENDED | {"hand.disclosed": "already_disclosed"},
    ),
    "disclosed": (
        BETWEEN + "table.closed",
        "already_final",
        ENDED | {"hand.disclosed": "already_disclosed"},
    ),
    "over": ("", "table_closed", {}),
}


@every_stage
def test_every_type_of_event_at_every_stage(stage):
    table = table_at(stage, disclosure="table")
    legal, most, some = MATRIX[stage]
    expected = dict.fromkeys(EVENTS, most) | some | dict.fromkeys(legal.split(), "legal")
    assert {name: outcome(table, attempt(table, name)) for name in EVENTS} == expected


@pytest.mark.parametrize("stage", ["closed", "aborted"])
def test_the_disclosure_comes_first_under_policy_hand(stage):
    """HAND-17: at once."""
    table = table_at(stage)
    found = {name: outcome(table, attempt(table, name)) for name in EVENTS}
    assert found.pop("hand.disclosed") == "legal"
    assert {found[name] for name in TABLE_EVENTS if name in found} == {"not_due"}
    assert "legal" not in found.values()
    table.disclose()
    assert outcome(table, attempt(table, "hand.opened")) == "legal"
    assert outcome(table_at("lost"), attempt(table_at("lost"), "hand.opened")) == "legal"


@every_stage
def test_an_open_hand_can_be_aborted(stage):
    """HAND-16: from every state, and then it has ended."""
    table = table_at(stage)
    hand = table.table.open_hand
    if hand is not None:
        after = table.table.apply(attempt(table, "hand.aborted"))
        assert after.open_hand is None
        assert after.hand.phase is Phase.ABORTED
    else:
        assert outcome(table, attempt(table, "hand.aborted")) != "legal"


HEADERS = {
    "table": lambda header: {"table": header.table[:-1] + "1"},
    "seq later": lambda header: {"seq": header.seq + 1},
    "seq again": lambda header: {"seq": header.seq - 1},
    "prev other": lambda header: {"prev": NOTHING},
    "prev none": lambda header: {"prev": None},
    "at earlier": lambda header: {"at": 1_000_000_000_000},
}


@every_stage
@pytest.mark.parametrize("change", HEADERS)
def test_an_event_follows_the_newest_one(stage, change, refused):
    """EVT-2."""
    table = table_at(stage)
    event = attempt(table, next(iter(MATRIX[stage][0].split()), "hand.closed"))
    header = event.header._replace(**HEADERS[change](event.header))
    with refused("not_next", kind=StateError):
        table.table.apply(replace(event, header=header))


def test_times_may_stand_still_but_not_go_back(refused):
    table = table_at("sealing")
    event = attempt(table, "seeds.sealed")
    newest = table.table.last_at
    table.table.apply(replace(event, header=event.header._replace(at=newest)))
    with refused("not_next"):
        table.table.apply(replace(event, header=event.header._replace(at=newest - 1)))
    assert table.table.header(newest - 5).at == newest
    assert table.table.header(newest + 5).at == newest + 5


@pytest.mark.parametrize(
    "stage", ["sealing", "opening", "dealing", "playing", "half locked", "short"]
)
@pytest.mark.parametrize("epoch", [1, 2, 32])
def test_a_later_seed_is_never_opened_early(stage, epoch):
    """HAND-12: x_{e+1} only when the reshuffle is due."""
    table = table_at(stage)
    seeds = {seat: table.chain(seat, 1)[epoch] for seat in range(4)}
    for head in (table.table.head, table.hand.head or NOTHING):
        event = replace(attempt(table, "seeds.opened"), epoch=epoch, head=head, seeds=seeds)
        assert outcome(table, event) in {"too_early", "wrong_phase"}


def test_the_seeds_of_every_epoch_continue_the_chain():
    """SEED-3: at the second reshuffle as at the first."""
    table = table_at("reopening")
    for epoch in (1, 2):
        discard_until(table, lambda hand, e=epoch: (hand.phase, hand.epoch) == (Phase.REOPENING, e))
        event = attempt(table, "seeds.opened")
        assert outcome(table, event) == "legal"
        for other in (NOTHING, table.chain(0, 1)[epoch + 1], table.chain(1, 1)[epoch]):
            wrong = replace(event, seeds={0: SeatSeed(other)})
            assert outcome(table, wrong) == "chain_mismatch"


@pytest.mark.parametrize(
    ("stage", "name", "code"),
    [
        ("closed", "hand.aborted", "already_final"),
        ("closed", "hand.closed", "wrong_phase"),
        ("playing", "hand.disclosed", "wrong_phase"),
        ("lost", "hand.disclosed", "wrong_phase"),
        ("disclosed", "hand.disclosed", "already_disclosed"),
        ("playing", "hand.opened", "wrong_phase"),
    ],
)
def test_a_hand_alone_is_as_strict(stage, name, code, refused):
    table = table_at(stage, disclosure="table")
    with refused(code, kind=StateError):
        table.hand.apply(attempt(table, name))


@pytest.mark.parametrize("seat", [4, 9, -1])
def test_a_dealing_knows_its_seats(seat, refused):
    table = table_at("playing", "kozel")
    dealing, header = table.secrets, table.header()
    for make in (
        lambda: dealing.show(header, seat, [Place(0, 3)]),
        lambda: dealing.discard(header, {seat: [Place(0, 3)]}, {}),
        lambda: dealing.draw(header, seat),
    ):
        with refused("seat_unknown", kind=StateError):
            make()
