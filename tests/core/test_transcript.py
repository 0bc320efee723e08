"""The hand's file and the player's notes. Spec: FILE-1..5, NOTE-1; and the cards in it: DECK-3."""

import json
from itertools import pairwise
from pathlib import Path

import pytest
import rfc8785

from fairdeal.codecs import Place
from fairdeal.encoding import format_time
from fairdeal.errors import StateError
from fairdeal.events import HandDisclosed, parse_event
from fairdeal.hashing import digest
from fairdeal.log.proof import Receipt
from fairdeal.notes import Notes
from fairdeal.sealed_deck import Opening
from fairdeal.table import Table
from fairdeal.transcript import Transcript
from seeds.hands import play_azi, play_kozel, play_mus
from seeds.local import Book, LocalTable

VECTORS = Path(__file__).parents[2] / "seeds"
INDEX = json.loads((VECTORS / "index.json").read_text("utf-8"))


def played(game: str, how: str = "closed", **terms) -> LocalTable:
    """A table with one hand that has ended."""
    table = LocalTable(Book(), game, **terms)
    if how == "sealing":
        table.open_hand()
        table.abort("seal_timeout")
        return table
    table.deal()
    match game:
        case "kozel":
            play_kozel(table, 2)
        case "mus":
            play_mus(table, ((4, 4, 4, 4), (3, 3, 2, 4), (1, 2, 3, 4)))
        case "azi":
            play_azi(table)
        case "svoi":
            for seat in (0, 1):
                table.show(seat, table.secrets.holding(seat)[:3])
    if how == "closed":
        table.close()
    else:
        table.abort(how)
    return table


CASES = {
    "kozel": {},
    "mus": {"keyed": (1, 3)},
    "azi": {"seats": 3, "ruleset": {"cards": 4, "blind": False}},
    "svoi": {"contribute": (1,)},
}
every_game = pytest.mark.parametrize("game", CASES)
every_policy = pytest.mark.parametrize("policy", ["hand", "table"])
every_end = pytest.mark.parametrize("how", ["closed", "operator", "idle", "lost", "sealing"])


@every_game
@every_policy
@every_end
def test_the_file_is_as_its_page_says(game, policy, how):
    table = played(game, how, disclosure=policy, **CASES[game])
    raw = table.transcript().encode()
    value = json.loads(raw)
    assert raw == rfc8785.dumps(value)
    disclosed = policy == "hand" and how != "lost"
    assert set(value) == {"events", "format", "openings", "proof"} | (
        {"disclosed"} if disclosed else set()
    )
    assert value["format"] == "fairdeal-hand/1"

    events = [parse_event(text.encode("ascii")) for text in value["events"]]
    types = [event.TYPE for event in events]
    assert types[:2] == ["table.opened", "hand.opened"]
    assert types[-1] in {"hand.closed", "hand.aborted"}
    assert "hand.disclosed" not in types
    assert [event.raw for event in events] == [
        event.raw for event in table.events if event.TYPE != "hand.disclosed"
    ]
    for one, other in pairwise(events):
        assert (other.header.prev, other.header.seq) == (one.digest, one.header.seq + 1)

    receipt = Receipt.parse(value["proof"])
    key = table.book.key.verifier
    checkpoint = receipt.verify(events[-1].raw, key, lone=True)
    # The commit that ended the hand holds the disclosure too, under policy `hand`.
    assert (receipt.index, checkpoint.size) == (len(events) - 1, len(events) + disclosed)

    if disclosed:
        assert value["disclosed"] == {
            name: json.loads(table.events[-1].raw)[name] for name in ("discards", "server_seed")
        }
    shown = [card for event in events for card in cards_of(event)]
    openings = [] if disclosed or how == "lost" else shown
    assert [(Place(o["epoch"], o["position"]), o["card"]) for o in value["openings"]] == openings
    for written in value["openings"]:
        opening = Opening.from_dict(written)
        root, size = table.hand.roots[opening.epoch]
        opening.verify(Place(opening.epoch, opening.position), root, size)


def cards_of(event) -> list[tuple[Place, str]]:
    """Cards in a `shown` or `given`, in order."""
    cards = [*getattr(event, "shown", ()), *getattr(event, "given", ())]
    return [(card.place, card.card) for card in cards]


@every_game
def test_the_file_does_not_change(game):
    """FILE-5: not when it is written again, nor with what the table and the log do afterwards."""
    table = played(game, **CASES[game])
    transcript = table.transcript()
    raw = transcript.encode()
    table.deal()
    table.abort()
    assert transcript.encode() == raw
    again = Transcript.of(table.table.hand, table.hand_events, table.last_receipt, table.secrets)
    assert again.encode() != raw
    assert played(game, **CASES[game]).transcript().encode() == raw


def test_a_disclosure_later_makes_the_openings_needless():
    """Under policy `table` the file gets `disclosed` and loses its openings; nothing else."""
    table = played("kozel", disclosure="table")
    before = json.loads(table.transcript().encode())
    table.disclose()
    after = json.loads(
        Transcript.of(table.hand, table.hand_events, table.last_receipt, table.secrets).encode()
    )
    assert before["openings"]
    assert after.pop("disclosed")["server_seed"] == table.server_seed(1).hex()
    assert after == before | {"openings": []}


def test_a_hand_under_way_has_no_file(new_table, refused):
    table = new_table()
    table.deal()
    with refused("hand_not_final", kind=StateError):
        Transcript.of(table.hand, table.hand_events, table.book.receipt(0), table.secrets)


@every_game
def test_every_card_of_every_holding_opens(game):
    """DECK-3, OPEN-3: in each epoch, under the root that was logged, at its place."""
    table = LocalTable(Book(), game, **CASES[game])
    table.deal()
    if game == "mus":
        play_mus(table, ((4, 4, 4, 4), (3, 3, 2, 4)))
    logged = {
        getattr(event, "epoch", 0): event.deck_root
        for event in table.events
        if hasattr(event, "deck_root")
    }
    assert logged.keys() == set(range(len(table.hand.roots)))
    for epoch, (root, size) in enumerate(table.hand.roots):
        assert root == logged[epoch]
        for position in range(size):
            place = Place(epoch, position)
            opening = table.secrets.opening(place)
            opening.verify(place, root, size)
            assert opening.card == table.secrets.card(place)


def first_hands() -> list[str]:
    """Valid files of a table's first hand; what came before the others is not in them."""
    return [
        name
        for name, row in INDEX.items()
        if row["exit"] in {0, 3} and '\\"hand\\":1,' in (VECTORS / name).read_text("utf-8")
    ]


@pytest.mark.parametrize("name", first_hands())
def test_the_published_hands_are_legal(name):
    """They go through the state machine, disclosure and all."""
    raw = (VECTORS / name).read_bytes()
    value = json.loads(raw)
    assert rfc8785.dumps(value) == raw
    opened, *events = [parse_event(text.encode("ascii")) for text in value["events"]]
    table = Table.open(opened)
    for event in events:
        table = table.apply(event)
    if "disclosed" in value:
        codecs = HandDisclosed.CODECS
        fields = {field: codecs[field].read(part) for field, part in value["disclosed"].items()}
        header = table.header(table.last_at)
        table = table.apply(HandDisclosed(header=header, hand=1, **fields))
    assert table.hand.is_final == (events[-1].TYPE in {"hand.closed", "hand.aborted"})


def test_notes():
    """NOTE-1: the members, and what the player put there."""
    table = played("mus")
    events, book = table.events, table.book
    sealed = next(i for i, event in enumerate(events) if event.digest == table.hand.sealed_head)
    place = table.hand.layout.received[2][0]
    notes = Notes(str(book.key.verifier), table.table.id, hand=1, seat=2)
    empty = json.loads(notes.encode())
    notes.seeds += [table.hand.seeds[epoch][2] for epoch in (0, 1)]
    notes.receipts.append((events[sealed].digest, book.receipt(sealed).text()))
    notes.cards.append((book.now, place, table.secrets.card(place)))
    value = json.loads(notes.encode())
    assert empty == value | {"seeds": [], "receipts": [], "cards": []}
    assert value == {
        "format": "fairdeal-notes/1",
        "log_key": events[0].log_key,
        "table": events[0].header.table,
        "hand": 1,
        "seat": 2,
        "seeds": [table.chain(2, 1)[epoch].hex() for epoch in (0, 1)],
        "receipts": [
            {"digest": digest(events[sealed].raw).hex(), "proof": book.receipt(sealed).text()}
        ],
        "cards": [
            {
                "at": format_time(book.now),
                "card": table.secrets.card(place),
                "epoch": place.epoch,
                "position": place.position,
            }
        ],
    }
    assert table.chain(2, 1)[0].hex() not in repr(notes)
