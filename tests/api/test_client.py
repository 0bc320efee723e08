"""The reference client refuses what it must refuse. Beside each refusal stands the honest way."""

import itertools
import json
import stat
import tracemalloc
import zlib

import httpx2
import pytest

from fairdeal.codecs import Lock, Place
from fairdeal.errors import StateError
from fairdeal.events import CardsDiscarded, HandDealt
from fairdeal.log.checkpoint import Checkpoint
from fairdeal.log.note import SigningKey, VerifierKey
from fairdeal.log.proof import Receipt
from fairdeal.log.tiles import Tile, hash_tile
from fairdeal.merkle import Tree, leaf_hash
from fairdeal.seeds import Seal
from fairdeal_api.client import (
    Api,
    ApiError,
    Chain,
    CheckError,
    Memory,
    PinnedLog,
    SeatClient,
    Standing,
)
from fairdeal_api.client.log import consistency_path
from fairdeal_api.client.memory import Opened
from fairdeal_api.terminal.bots import held_by
from seeds.local import named
from tests.api.cheat import ME, Service


@pytest.fixture
def service():
    return Service()


def sealed(service, folder):
    """A client that has sealed last, so that its seal made the head."""
    service.local.open_hand()
    service.seal_others()
    client = service.join(folder)
    client.seal()
    return client


def dealt(service, folder):
    client = sealed(service, folder)
    client.open_seed()
    service.open_others()
    client.sync()
    return client


def refused(client, code):
    """A check has failed: nothing goes on, and what was seen is kept."""
    assert client.stopped is not None
    assert client.stopped.code == code
    with pytest.raises(CheckError):
        client.sync()
    return json.loads(client.memory.path.with_name("evidence.json").read_bytes())


def restarted(service, client):
    return SeatClient(service.api(), Memory.load(client.memory.path))


# --- the honest way -----------------------------------------------------------------------------


@pytest.mark.parametrize("keyed", [[], [ME]])
def test_a_whole_hand(tmp_path, keyed):
    service = Service(keyed=keyed)
    client = dealt(service, tmp_path)
    cards = client.cards()
    assert [card.place for card in cards] == list(client.hand.playing.received[ME])
    client.discard([cards[0].place])
    client.show([cards[1].place])
    service.local.close()
    client.sync()
    assert client.finish() == service.local.transcript().encode()
    notes = json.loads(client.notes_path.read_bytes())
    assert notes["seeds"] == [service.seeds[0]["seed"]]
    assert {card["card"] for card in notes["cards"]} == {card.card for card in cards}
    head = client.hand.sealed_head
    assert head is not None
    assert head.hex() in {receipt["digest"] for receipt in notes["receipts"]}


def test_a_reshuffle_opens_the_next_link_under_its_own_head(tmp_path):
    service = Service("mus")
    client = dealt(service, tmp_path)
    while not client.hand.missing_seeds:
        seat = (client.hand.playing.first + len(client.hand.playing.locked)) % 4
        if seat == ME:
            client.discard([card.place for card in client.cards() if card.state == "held"])
        else:
            service.local.discard({seat: service.local.secrets.holding(seat)})
        client.sync()
    client.open_seed()
    service.open_others()
    client.sync()
    first, second = service.seeds
    assert (first["epoch"], second["epoch"]) == (0, 1)
    assert first["head"] != second["head"]
    assert len(client.hand.roots) == 2
    client.cards()
    assert client.checks.proved.keys() == set(client.checks.places)


def test_a_declaration_is_given_and_checked(tmp_path):
    service = Service("svoi")
    service.local.open_hand()
    client = service.join(tmp_path)
    client.declare("S")
    service.local.declare({1: "H"})
    service.seal_others()
    client.sync()
    client.seal()
    client.open_seed()
    assert len(service.seeds) == 1


def test_a_declaration_that_was_refused_is_no_forgery(service, tmp_path):
    """Nor one whose answer was lost before another suit was tried."""
    svoi = Service("svoi")
    svoi.local.open_hand()
    client = svoi.join(tmp_path)
    client.declare("S")
    client.memory.hands[1].suits[:0] = ["H"]  # tried before, and refused
    with pytest.raises(StateError):
        client.declare("H")
    svoi.local.declare({1: "H"})
    svoi.seal_others()
    client.sync()
    client.seal()
    client.open_seed()
    assert client.stopped is None
    service.local.open_hand()  # a game without declarations
    other = service.join(tmp_path / "other")
    with pytest.raises(StateError):
        other.declare("S")
    service.seal_others()
    other.sync()
    other.seal()
    other.open_seed()
    assert len(service.seeds) == 1


def test_seeds_are_fresh_and_of_the_system(tmp_path, monkeypatch):
    drawn = []
    monkeypatch.setattr(
        "fairdeal_api.client.seat.os.urandom", lambda n: drawn.append(n) or b"x" * n
    )
    client = sealed(Service(), tmp_path)
    assert drawn.count(32) == 1
    assert client.memory.hands[1].seed(0) == b"x" * 32


def test_a_restart_loses_nothing_that_matters(service, tmp_path):
    client = dealt(service, tmp_path)
    cards = client.cards()
    again = restarted(service, client)
    again.sync()
    assert again.cards() == cards
    service.local.close()
    again.sync()
    again.finish()
    notes = json.loads(again.notes_path.read_bytes())
    assert notes["seeds"] == [service.seeds[0]["seed"]]
    assert len(notes["cards"]) == 4
    assert again.hand.sealed_head.hex() in {kept["digest"] for kept in notes["receipts"]}


def cut_off(client, carried_out, monkeypatch):
    """The answer to the client's next write is lost; the write itself is not, if `carried_out`."""
    post = Api.post

    def lost(api, path, body):
        monkeypatch.setattr(Api, "post", post)
        if carried_out:
            post(api, path, body)
        raise ApiError("unreachable", 0, "cut off", retryable=True)

    monkeypatch.setattr(Api, "post", lost)


def close_and_disclose(service, client):
    service.local.close()
    client.sync()
    assert client.hand.is_final
    client.finish()
    assert client.stopped is None


def test_a_restart_between_two_discards_is_no_forgery(service, tmp_path):
    """The second program knows what the first has thrown, and what is left."""
    client = dealt(service, tmp_path)
    cards = [card.place for card in client.cards()]
    client.discard([cards[2], cards[0]])
    again = restarted(service, client)
    again.sync()
    again.cards()
    assert again.checks.thrown == {0: (cards[0], cards[2])}
    assert [card.place for card in held_by(again)] == [cards[1], cards[3]]
    again.discard([cards[3]])
    close_and_disclose(service, again)
    assert again.checks.thrown == {0: (cards[0], cards[2]), 1: (cards[3],)}


@pytest.mark.parametrize("carried_out", [False, True])
def test_a_discard_whose_answer_is_lost_is_no_forgery(service, tmp_path, monkeypatch, carried_out):
    client = dealt(service, tmp_path)
    cards = [card.place for card in client.cards()]
    client.discard([cards[0]])
    cut_off(client, carried_out, monkeypatch)
    with pytest.raises(ApiError):
        client.discard([cards[1]])
    client.sync()
    assert len(client.checks.thrown) == 1 + carried_out
    client.discard([cards[2]])
    close_and_disclose(service, client)
    assert [len(places) for places in client.checks.thrown.values()] == [1] * (2 + carried_out)


def test_a_discard_that_the_seat_never_sent(service, tmp_path):
    client = dealt(service, tmp_path)
    cards = client.cards()
    service._act({"type": "discard", "seat": ME, "cards": [list(cards[0].place)]})
    with pytest.raises(CheckError, match="never sent"):
        client.sync()
    assert "cards.discarded" in refused(client, "lock_mismatch")["got"]


def test_another_history_after_a_restart(service, tmp_path):
    """What the seat has a receipt for must come again, though it was after the last opening."""
    client = dealt(service, tmp_path)
    cards = client.cards()
    at = len(service.local.events)
    client.discard([cards[0].place])
    honest = restarted(service, client)
    honest.sync()  # the control
    receipts = json.loads(honest.notes_path.read_bytes())["receipts"]
    assert service.local.events[-1].digest.hex() in {kept["digest"] for kept in receipts}
    service.fork(at)
    service.local.show(ME, [cards[1].place])
    again = restarted(service, client)
    again.memory.checkpoint = again.checks.log.kept = None  # so that this check is reached
    with pytest.raises(CheckError, match="has a receipt for"):
        again.sync()
    kept = refused(again, "not_descended")["kept"]
    assert Receipt.parse(kept).index == client.checks.chain.indices[at]


def test_the_newest_checkpoint_is_kept_through_a_restart(service, tmp_path):
    client = dealt(service, tmp_path)
    cards = client.cards()
    client.discard([cards[0].place])
    kept = Checkpoint.open(Memory.load(client.memory.path).checkpoint, service.book.key.verifier)
    assert kept.size == len(service.book.entries)


def test_a_restart_keeps_when_a_card_was_seen(service, tmp_path):
    client = dealt(service, tmp_path)
    client.cards()
    before = json.loads(client.notes_path.read_bytes())
    again = restarted(service, client)
    again.sync()
    again.cards()
    after = json.loads(again.notes_path.read_bytes())
    assert after["cards"] == before["cards"]
    assert {kept["digest"] for kept in after["receipts"]} == {
        kept["digest"] for kept in before["receipts"]
    }


def test_notes_that_cannot_be_read_are_put_aside(service, tmp_path):
    client = dealt(service, tmp_path)
    client.notes_path.write_bytes(b"somebody wrote here")
    again = restarted(service, client)
    again.sync()
    assert len(again.cards()) == 4
    assert json.loads(again.notes_path.read_bytes())["hand"] == 1
    aside = again.notes_path.with_name(again.notes_path.name + ".unread")
    assert aside.read_bytes() == b"somebody wrote here"


def test_a_hand_is_finished_when_the_next_is_open_already(service, tmp_path):
    """A game server may open the next hand in the request that closes this one."""
    client = dealt(service, tmp_path)
    with pytest.raises(StateError, match="no hand has ended"):
        client.finish()
    client.cards()
    service.local.close()
    file = service.local.transcript().encode()
    service.transcripts[1] = file
    service.local.open_hand(first=0)
    client.sync()
    assert client.hand.number == 2
    assert client.finish() == file
    notes = json.loads(client.notes_path.read_bytes())
    assert (notes["hand"], len(notes["cards"])) == (1, 4)
    ends = {e.digest.hex() for e in client.checks.chain.events_of(1) if e.TYPE == "hand.closed"}
    assert ends <= {kept["digest"] for kept in notes["receipts"]}
    client.seal()
    assert client.stopped is None


def test_a_seat_that_is_played_by_two_programs(service, tmp_path):
    """The second to write would forget what the first has opened; it does not get so far."""
    client = sealed(service, tmp_path)
    twin = restarted(service, client)
    twin.sync()
    client.open_seed()
    with pytest.raises(StateError, match="another program plays this seat"):
        twin.open_seed()
    assert len(service.seeds) == 1
    assert Memory.load(client.memory.path).hands[1].opened[0].head == client.hand.sealed_head


def test_a_claim_that_was_cut_off_is_made_again(service, tmp_path, monkeypatch):
    """A code works once: the token must not be lost with the first answer that follows it."""
    get, keys = Api.get, []
    monkeypatch.setattr(
        Api, "get", lambda *_, **__: (_ for _ in ()).throw(ApiError("x", 0, "", retryable=True))
    )
    service.claims = keys.append
    with pytest.raises(ApiError):
        service.join(tmp_path)
    monkeypatch.setattr(Api, "get", get)
    service.join(tmp_path)
    assert keys == [keys[0], keys[0]]
    service.join(tmp_path / "another")  # the control: what was claimed and kept is claimed anew
    assert keys[2] != keys[0]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["another", "seat.json"]


def test_a_seat_that_is_issued_anew_forgets_nothing(service, tmp_path):
    client = dealt(service, tmp_path)
    cards = client.cards()
    client.discard([cards[0].place])
    service.local.close()
    client.sync()
    client.finish()
    before = Memory.load(client.memory.path)
    service.local.reissue(ME)
    again = service.join(tmp_path)
    assert again.memory.hands == before.hands
    assert again.memory.hands[1].opened
    assert again.checks.thrown == {0: (cards[0].place,)}
    service.fork(client.checks.chain.find(client.hand.sealed_head))
    service.seal_as(ME, client.memory.hands[1].seal)
    with pytest.raises(CheckError) as failure:  # another history of the hand that it has played
        service.join(tmp_path)
    assert failure.value.code == "not_descended"


def test_who_comes_later_has_no_notes_of_what_was_before(service, tmp_path):
    service.local.open_hand()
    service.local.abort()
    service.transcripts[1] = service.local.transcript().encode()
    service.local.open_hand()
    client = service.join(tmp_path)
    client.seal()
    assert [path.name for path in tmp_path.glob("*.notes.json")] == ["hand-2.notes.json"]
    assert client.finish() == service.transcripts[1]  # a hand that it did not play


def test_a_folder_of_another_seat_is_not_touched(service, tmp_path):
    client = sealed(service, tmp_path)
    before = client.memory.path.read_bytes()
    other = Service("mus")
    answer = other.answer

    def elsewhere(request):
        if request.url.path == "/v1/seats/claim":
            return httpx2.Response(200, json={"table": "tbl_x", "seat": ME, "token": "fds_x"})
        return answer(request)

    other.answer = elsewhere
    with pytest.raises(StateError, match="another seat"):
        other.join(tmp_path)
    assert client.memory.path.read_bytes() == before


def test_who_has_stopped_stays_stopped(service, tmp_path):
    """A program that is started again does not go on as if nothing had been, nor forgets why."""
    client = dealt(service, tmp_path)
    honest = service.cards
    change(service, salt="00" * 16)
    with pytest.raises(CheckError):
        client.cards()
    path = client.memory.path.with_name("evidence.json")
    kept = path.read_bytes()
    service.cards = honest
    again = restarted(service, client)
    with pytest.raises(CheckError, match="has stopped before") as failure:
        again.sync()
    assert failure.value.code == client.stopped.code
    with pytest.raises(CheckError, match="has stopped before"):
        service.join(tmp_path)
    again.memory.keep_evidence({"code": "another"})
    assert path.read_bytes() == kept
    assert json.loads(path.with_name("evidence-2.json").read_bytes()) == {"code": "another"}
    path.unlink()  # the control: whoever has looked at it may go on
    again = restarted(service, client)
    again.sync()
    assert len(again.cards()) == 4


def test_a_full_disk_does_not_hide_a_lie(service, tmp_path, monkeypatch):
    client = dealt(service, tmp_path)
    change(service, salt="00" * 16)

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Memory, "keep_evidence", full)
    with pytest.raises(CheckError, match="not what was sealed"):
        client.cards()


def test_notes_hold_no_seed_that_is_closed(service, tmp_path):
    client = sealed(service, tmp_path)
    client.sync()
    assert json.loads(client.notes_path.read_bytes())["seeds"] == []
    assert client.memory.hands[1].seed(0).hex() not in client.notes_path.read_text()


# --- OPEN-1: before a seed is opened ------------------------------------------------------------


def test_no_seed_before_all_seals(service, tmp_path):
    service.local.open_hand()
    client = service.join(tmp_path)
    client.seal()
    with pytest.raises(StateError, match="no seed of this seat is due"):
        client.open_seed()
    assert service.seeds == []
    assert client.stopped is None


def test_a_head_with_a_missing_seal(service, tmp_path):
    """The service goes on as if seat 3 had sealed, and shows no such event."""
    service.local.open_hand()
    client = service.join(tmp_path)
    client.seal()
    service.local.seal([1, 2])
    client.sync()
    service.local.seal([3])
    service.open_others()
    service.local.events.pop(-2)
    service.local.indices.pop(-2)
    with pytest.raises(CheckError):
        client.sync()
    assert "seeds.opened" in refused(client, "not_next")["got"]
    assert service.seeds == []


def test_seeds_that_are_open_before_all_seals(service, tmp_path):
    """The same, with a chain that is mended: the state machine sees that a seal is missing."""
    service.local.open_hand()
    client = service.join(tmp_path)
    client.seal()
    service.local.seal([1, 2])
    client.sync()
    head = service.local.table
    service.local.seal([3])
    service.open_others()
    opened = service.local.events.pop()
    forged = type(opened)(
        header=head.header(opened.header.at),
        hand=1,
        epoch=0,
        head=head.head,
        seeds=opened.seeds,
    )
    service.local.events[-1:] = [forged]
    with pytest.raises(CheckError):
        client.sync()
    refused(client, "too_early")
    assert service.seeds == []


def test_another_seal_in_this_seats_name(service, tmp_path):
    service.local.open_hand()
    client = service.join(tmp_path)
    client.seal()
    service.fork(2)
    service.seal_as(ME, Seal(named("another seed")))
    service.seal_others()
    client.notes_path.unlink()  # so that this check is reached
    again = SeatClient(service.api(), Memory.load(client.memory.path))
    again.memory.checkpoint = again.checks.log.kept = None
    again.sync()
    with pytest.raises(CheckError, match="another seal"):
        again.open_seed()
    refused(again, "head_refused")
    assert service.seeds == []


def test_another_declaration_in_this_seats_name(tmp_path):
    service = Service("svoi")
    service.local.open_hand()
    client = service.join(tmp_path)
    client.declare("S")
    service.local.declare({1: "H"})
    client.sync()
    client.seal()
    service.seal_others()
    client.sync()
    client.memory.hands[1].suits = ["C"]
    with pytest.raises(CheckError, match="another trump suit"):
        client.open_seed()
    assert service.seeds == []


@pytest.mark.parametrize(
    ("member", "value", "words"),
    [("first", 3, "first seat"), ("commitment", bytes(32), "commitment")],
)
def test_what_was_told_at_the_seal_still_stands(service, tmp_path, member, value, words):
    client = sealed(service, tmp_path)
    setattr(client.memory.hands[1], member, value)
    with pytest.raises(CheckError, match=words):
        client.open_seed()
    assert service.seeds == []


def test_other_terms_than_those_that_were_joined(service, tmp_path):
    client = sealed(service, tmp_path)
    other = Service(ruleset={"indicator": "all"})
    with pytest.raises(CheckError, match="not the terms"):
        restarted(other, client).sync()


def test_a_table_of_another_log(tmp_path):
    service = Service()
    foreign = str(SigningKey("deal.example/log", named("another key")).verifier)
    with pytest.raises(CheckError, match="another log"):
        SeatClient.claim(service.api(), "fdc_" + "A" * 43, log_key=foreign, folder=tmp_path)


def test_a_head_that_the_log_does_not_hold(service, tmp_path):
    """The service shows the client one head, and logs a sibling with another time."""
    service.local.open_hand()
    client = service.join(tmp_path)
    client.seal()
    service.seal_others()
    client.sync()
    service.fork(len(service.local.events) - 1)
    service.seal_others()
    with pytest.raises(CheckError):
        client.open_seed()
    evidence = refused(client, "path_invalid")
    assert "seeds.sealed" in evidence["entry"]
    assert service.seeds == []


def test_a_receipt_of_another_key(service, tmp_path):
    client = sealed(service, tmp_path)
    client.checks.notes[1].receipts.clear()
    service.book.key = SigningKey("deal.example/log", named("another key"))
    with pytest.raises(CheckError):
        client.open_seed()
    refused(client, "signature_invalid")
    assert service.seeds == []


def test_a_checkpoint_that_forgets_what_was_kept(service, tmp_path):
    service.local.open_hand()
    client = service.join(tmp_path)
    service.seal_others()
    client.sync()
    # Another log under the same key: this table's entries are the same, one before them is not.
    entries = service.book.entries
    service.book.tree = Tree(leaf_hash(raw) for raw in [b"a changed entry", *entries[1:]])
    with pytest.raises(CheckError):
        client.seal()
    evidence = refused(client, "not_consistent")
    key = service.book.key.verifier
    kept, got = (Checkpoint.open(evidence[name], key) for name in ("kept", "got"))
    assert kept.size < got.size
    assert service.seeds == []


def test_a_second_opening_of_the_same_epoch(service, tmp_path):
    client = sealed(service, tmp_path)
    client.memory.hands[1].opened[0] = Opened(client.hand.terms, 99, "a receipt")
    with pytest.raises(CheckError, match="opened before"):
        client.open_seed()
    assert refused(client, "head_refused")["kept"] == "a receipt"
    assert service.seeds == []


def test_control_the_same_opening_may_be_sent_again(service, tmp_path):
    """A crash after the promise was saved and before it was sent must not cost the hand."""
    client = sealed(service, tmp_path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            Api, "put", lambda *_: (_ for _ in ()).throw(ApiError("x", 0, "", retryable=False))
        )
        with pytest.raises(ApiError):
            client.open_seed()
    again = restarted(service, client)
    assert again.memory.hands[1].opened[0].head == client.hand.sealed_head
    again.sync()
    again.open_seed()
    assert [body["seed"] for body in service.seeds] == [client.memory.hands[1].seed(0).hex()]


# --- OPEN-2: afterwards -------------------------------------------------------------------------


def test_a_sibling_of_the_head_after_the_opening(service, tmp_path):
    client = sealed(service, tmp_path)
    client.open_seed()
    at = client.checks.chain.find(client.hand.sealed_head)
    service.fork(at)
    service.seal_as(ME, client.memory.hands[1].seal)
    service.open_others()
    service.local.log(  # the seed that the client has opened, under a head that it never saw
        type(service.local.events[-1])(
            header=service.local.header(),
            hand=1,
            epoch=0,
            head=service.local.hand.head,
            seeds={ME: client.memory.hands[1].seed(0)},
        )
    )
    with pytest.raises(CheckError):
        client.sync()
    evidence = refused(client, "not_next")
    assert "kept" in evidence
    assert "got" in evidence
    assert client.memory.hands[1].opened[0].receipt


def test_a_sibling_of_the_head_after_a_restart(service, tmp_path):
    client = sealed(service, tmp_path)
    client.open_seed()
    service.fork(client.checks.chain.find(client.hand.sealed_head))
    service.seal_as(ME, client.memory.hands[1].seal)
    again = restarted(service, client)
    with pytest.raises(CheckError):
        again.sync()
    evidence = refused(again, "not_descended")
    key = service.book.key.verifier
    Receipt.parse(evidence["kept"]).verify(client.checks.chain.events[-2].raw, key)
    assert json.loads(evidence["got"])["type"] == "seeds.sealed"


def test_an_event_that_is_shown_a_second_time_as_another(service, tmp_path):
    client = sealed(service, tmp_path)
    items = service._items(1)
    items[0]["event"] = items[1]["event"]
    with pytest.raises(CheckError) as failure:
        client.checks.chain.accept({"events": items})
    assert failure.value.code == "not_descended"


def test_a_file_that_tells_another_hand(service, tmp_path):
    client = dealt(service, tmp_path)
    service.local.close()
    client.sync()
    service.local.hand_events.pop(3)
    with pytest.raises(CheckError, match="another hand"):
        client.finish()


# --- OPEN-3: cards ------------------------------------------------------------------------------


def change(service, **members):
    def changed(answer):
        answer["cards"][1] |= members
        return answer

    service.cards = changed


def test_a_card_of_another_position(service, tmp_path):
    client = dealt(service, tmp_path)
    strange = service.local.secrets.opening(Place(0, 20)).to_dict()
    change(service, **strange)
    with pytest.raises(CheckError):
        client.cards()
    assert refused(client, "position_not_yours")["got"]


@pytest.mark.parametrize("member", ["card", "salt", "path"])
def test_a_card_that_does_not_lie_there(service, tmp_path, member):
    client = dealt(service, tmp_path)
    place = client.hand.playing.received[ME][1]
    opening = service.local.secrets.opening(place).to_dict()
    forged = {
        "card": "AS" if opening["card"] != "AS" else "KS",
        "salt": "00" * 16,
        "path": ["00" * 32, *opening["path"][1:]],
    }
    change(service, **{member: forged[member]})
    with pytest.raises(CheckError):
        client.cards()
    refused(client, "path_invalid")
    assert client.checks.notes[1].cards[1:] == []


def test_a_card_of_an_epoch_that_is_none(service, tmp_path):
    client = dealt(service, tmp_path)
    change(service, epoch=1)
    with pytest.raises(CheckError):
        client.cards()
    refused(client, "position_not_yours")


def test_a_card_that_is_kept_back(service, tmp_path):
    client = dealt(service, tmp_path)
    service.cards = lambda answer: answer | {"cards": answer["cards"][1:]}
    with pytest.raises(CheckError, match="back"):
        client.cards()


def test_an_answer_that_is_none(service, tmp_path):
    client = dealt(service, tmp_path)
    service.cards = lambda _: {"cards": "none", "seq": "x"}
    with pytest.raises(CheckError):
        client.cards()
    refused(client, "answer_malformed")


def test_an_answer_ahead_of_all_events(service, tmp_path):
    client = dealt(service, tmp_path)
    service.cards = lambda answer: answer | {"seq": answer["seq"] + 5}
    with pytest.raises(CheckError):
        client.cards()
    refused(client, "events_missing")


def test_an_answer_behind_all_events_is_a_slow_line(service, tmp_path):
    client = dealt(service, tmp_path)
    service.cards = lambda answer: answer | {"seq": answer["seq"] - 1}
    with pytest.raises(ApiError, match="moves on"):
        client.cards()
    assert client.stopped is None


class Pages:
    """A service that shows a table's events up to one, and says how the play stands then."""

    def __init__(self, events):
        self.items = [
            {"seq": seq, "index": seq, "event": event.raw.decode()}
            for seq, event in enumerate(events)
        ]
        self.newest = 0
        self.asked = 0

    def get(self, path, *, after, limit, wait):
        self.asked += 1
        page = {"events": self.items[after + 1 : self.newest + 1], "has_more": False}
        return page | {"turn": [self.newest], "play": None}

    def written(self, seq, **told):
        return {"events": [self.items[seq]], "seq": seq, **told}


def test_how_the_play_stands_is_of_the_newest_event(service):
    """Spec: PLAY-6. An answer that is overtaken, or says nothing, does not hide what is known."""
    service.local.open_hand()
    service.seal_others()
    events = service.local.events
    assert len(events) == 3
    pages = Pages(events)
    chain = Chain(pages, service.local.table.id)
    chain.sync()
    assert chain.standing == Standing((0,), {})
    chain.accept(pages.written(1, turn=[7], play={"bank": 1}))
    assert (chain.standing, pages.asked) == (Standing((7,), {"bank": 1}), 1)
    chain.accept(pages.written(2))
    assert chain.standing is None  # nobody has told it of this event
    pages.newest = 2
    assert chain.sync() == []
    assert chain.standing == Standing((2,), {})
    # A write of seq 1 whose answer comes late, and one again that says nothing of the play.
    chain.accept(pages.written(1, turn=[7], play={}))
    chain.accept(pages.written(2))
    assert chain.standing == Standing((2,), {})


def test_a_turn_that_is_none_stops_the_client(service, tmp_path, monkeypatch):
    """Control: without a referee nobody tells it, and to ask is the caller's mistake alone."""
    client = sealed(service, tmp_path)
    with pytest.raises(StateError, match="whose turn"):
        client.standing()
    assert client.stopped is None
    real = client.checks.chain._api.get
    monkeypatch.setattr(
        client.checks.chain._api, "get", lambda *path, **query: {**real(*path, **query), "turn": 3}
    )
    with pytest.raises(CheckError):
        client.standing()
    refused(client, "answer_malformed")


def test_what_is_asked_for_before_there_is_a_hand(service, tmp_path):
    """The caller's mistake stops nobody."""
    client = service.join(tmp_path)
    for step in (client.cards, client.seal, client.open_seed, client.finish):
        with pytest.raises(StateError):
            step()
    assert client.stopped is None
    assert not client.memory.path.with_name("evidence.json").exists()
    service.local.open_hand()
    client.sync()
    client.seal()


def test_a_root_that_is_not_in_the_log(service, tmp_path):
    client = dealt(service, tmp_path)
    at = next(e.header.seq for e in client.checks.chain.events if isinstance(e, HandDealt))
    index = client.checks.chain.indices[at]
    leaves = [leaf_hash(raw) for raw in service.book.entries]
    leaves[index] = leaf_hash(b"another deal")
    service.book.tree = Tree(leaves)
    with pytest.raises(CheckError):
        client.cards()
    refused(client, "path_invalid")


def test_a_lock_on_other_cards(service, tmp_path):
    client = dealt(service, tmp_path)
    cards = client.cards()

    def act(action):
        wrong = Lock(1, named("a lock on something else"))
        event = CardsDiscarded(header=service.local.header(), hand=1, discards={ME: wrong})
        service.local.log(event)
        return {"results": [{}]}

    service._act = act
    with pytest.raises(CheckError):
        client.discard([cards[0].place])
    refused(client, "lock_mismatch")


# --- the pinned log -----------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1, 2, 3, 8, 255, 256, 257, 300, 512, 700])
def test_consistency_from_tiles(size):
    tree = Tree(leaf_hash(b"%d" % i) for i in range(800))

    def fetch(tile: Tile) -> bytes:
        assert tile.exists(size)
        return hash_tile(tree, tile)

    for old in {1, 2, 3, size // 2 or 1, max(size - 1, 1), size}:
        if old <= size:
            assert consistency_path(old, size, fetch) == tree.consistency_path(old, size)


def test_a_tile_that_has_become_full():
    tree = Tree(leaf_hash(b"%d" % i) for i in range(256))
    key = SigningKey("deal.example/log", named("log key"))
    asked = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        asked.append(request.url.path)
        if ".p/" in request.url.path:
            return httpx2.Response(404, json={"code": "entry_unknown", "title": "Gone."})
        return httpx2.Response(200, content=hash_tile(tree, Tile(0, 0)))

    def receipt(index: int, size: int) -> str:
        note = Checkpoint(key.name, size, tree.root(size)).sign(key)
        return Receipt(index, tuple(tree.inclusion_path(index, size)), note).text()

    with httpx2.Client(transport=httpx2.MockTransport(answer)) as client:
        log = PinnedLog(Api("http://test", client=client), VerifierKey.parse(str(key.verifier)))
        log.accept(receipt(3, 100), b"3")
        log.accept(receipt(150, 200), b"150")
        newest = log.kept
        log.accept(receipt(5, 50), b"5")  # an older one: consistent, and not kept
    assert asked[:2] == ["/log/tile/0/000.p/200", "/log/tile/0/000"]
    assert log.kept == newest


# --- memory and HTTP ----------------------------------------------------------------------------


def test_the_memory_is_the_owners_alone_and_comes_back(service, tmp_path):
    client = sealed(service, tmp_path)
    client.open_seed()
    path = client.memory.path
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    client.memory.save()
    assert Memory.load(path) == client.memory
    shown = repr(client.memory) + repr(client.memory.hands)
    assert client.memory.token not in shown
    assert client.memory.hands[1].seed(0).hex() not in shown


def test_the_promise_is_saved_before_the_seed_leaves(service, tmp_path, monkeypatch):
    client = sealed(service, tmp_path)
    put = Api.put

    def checked(api, path, body):
        assert Memory.load(client.memory.path).hands[1].opened[0].head == client.hand.head
        return put(api, path, body)

    monkeypatch.setattr(Api, "put", checked)
    client.open_seed()
    assert len(service.seeds) == 1


def api_with(answers, monkeypatch, attempts=8):
    """An API whose answers come from a list; an exception in it is raised."""
    monkeypatch.setattr("fairdeal_api.client.api.time.sleep", lambda _: None)
    requests = []

    def answer(request):
        requests.append(request)
        value = answers.pop(0)
        if isinstance(value, Exception):
            raise value
        return value

    client = httpx2.Client(transport=httpx2.MockTransport(answer))
    return Api("http://test/", client=client, attempts=attempts), requests


def problem(status, code, *, retryable):
    return httpx2.Response(status, json={"code": code, "title": "No.", "retryable": retryable})


def test_a_post_keeps_its_key_until_it_is_answered(monkeypatch):
    answers = [
        httpx2.ConnectError("refused"),
        problem(503, "unavailable", retryable=True),
        httpx2.Response(502, text="<html>"),
        httpx2.Response(200, json={"done": True}),
        httpx2.Response(200, json={"done": True}),
    ]
    api, requests = api_with(answers, monkeypatch)
    assert api.post("/x", {"a": 1}) == {"done": True}
    assert api.post("/x", {"a": 1}) == {"done": True}
    keys = [request.headers["idempotency-key"] for request in requests]
    assert len(set(keys[:4])) == 1
    assert keys[4] != keys[0]


def test_a_problem_is_an_exception_with_its_code(monkeypatch):
    api, requests = api_with([problem(409, "wrong_phase", retryable=False)], monkeypatch)
    with pytest.raises(ApiError) as failure:
        api.put("/x", {})
    assert (failure.value.code, failure.value.status) == ("wrong_phase", 409)
    assert len(requests) == 1


def test_a_problem_that_is_none(monkeypatch):
    deep = b'{"code":' + b"[" * 200_000
    for body in (b"", b"<html>", b"[]", b'{"code":1}', b"\xff", deep):
        api, _ = api_with([httpx2.Response(400, content=body)], monkeypatch)
        with pytest.raises(ApiError) as failure:
            api.get("/x")
        assert failure.value.code == "not_a_problem"


def plain(count):
    return itertools.repeat(b"x" * 65_536, count)


def packed(count):
    """So many MiB of nothing, in a thousandth of it."""
    packing = zlib.compressobj(wbits=31)
    for _ in range(count):
        yield packing.compress(bytes(2**20)) + packing.flush(zlib.Z_FULL_FLUSH)


@pytest.mark.parametrize(
    ("headers", "parts", "size"),
    [({}, plain, 65_536), ({"content-encoding": "gzip"}, packed, 2**20)],
    ids=["plain", "packed"],
)
def test_an_answer_without_an_end_is_not_taken(headers, parts, size, monkeypatch):
    answers = [
        httpx2.Response(200, headers=headers, content=parts(count)) for count in (10**6, 10**6, 3)
    ]
    api, requests = api_with(answers, monkeypatch, attempts=2)
    tracemalloc.start()
    with pytest.raises(ApiError, match="too long"):
        api.content("/x")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(requests) == 2
    assert peak < 150 * 2**20
    assert len(api.content("/x")) == 3 * size  # the control: one that ends is taken


def test_an_answer_that_comes_bit_by_bit_is_given_up(monkeypatch):
    now = [0.0]

    def slow(pause, parts):
        for _ in range(parts):
            now[0] += pause
            yield b"x"

    answers = [httpx2.Response(200, content=slow(10, parts)) for parts in (1000, 9)]
    api, requests = api_with(answers, monkeypatch, attempts=2)
    monkeypatch.setattr("fairdeal_api.client.api.time.monotonic", lambda: now[0])
    assert api.content("/x") == b"x" * 9  # the second: the first was not waited for
    assert len(requests) == 2
    assert now[0] < 10 * 100


def test_attempts_end(monkeypatch):
    api, requests = api_with([httpx2.ConnectError("refused")] * 3, monkeypatch, attempts=3)
    with pytest.raises(ApiError) as failure:
        api.get("/x")
    assert failure.value.code == "unreachable"
    assert len(requests) == 3


# --- a network that is not the service's fault --------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (httpx2.Response(200, html="<h1>Welcome to our hotel</h1>"), "not_an_answer"),
        (httpx2.Response(200, text="{"), "not_an_answer"),
        (httpx2.Response(200, json=[]), "not_an_answer"),
        (httpx2.Response(302, headers={"location": "http://hotel/"}), "not_a_problem"),
        (httpx2.DecodingError("cut in two"), "unreachable"),
        (httpx2.ReadTimeout("slow"), "unreachable"),
    ],
)
def test_what_is_no_answer_accuses_nobody(service, tmp_path, monkeypatch, answer, code):
    client = dealt(service, tmp_path)
    with monkeypatch.context() as patch:
        api, _ = api_with([answer, answer], patch, attempts=2)
        patch.setattr(client.checks.chain, "_api", api)
        with pytest.raises(ApiError) as failure:
            client.sync()
    assert failure.value.code == code
    assert client.stopped is None
    assert not client.memory.path.with_name("evidence.json").exists()
    assert len(client.cards()) == 4


def test_an_answer_comes_after_a_page_of_the_network(monkeypatch):
    page = httpx2.Response(200, html="<h1>Log in</h1>")
    api, requests = api_with([page, httpx2.Response(200, json={"done": True})], monkeypatch)
    assert api.post("/x", {}) == {"done": True}
    assert len({request.headers["idempotency-key"] for request in requests}) == 1


@pytest.mark.parametrize("status", [503, 404])
def test_tiles_that_cannot_be_had_now_accuse_nobody(service, tmp_path, status):
    """A log that cannot be reached is no log that forgets; one that refuses a tile is no good."""
    client = sealed(service, tmp_path)
    service.refuse = ("/log/", status)
    retryable = status == 503
    client.checks.notes[1].receipts.clear()
    service.book.append(b"an entry, so that there is something to be proved")
    with pytest.raises(ApiError if retryable else CheckError):
        client.open_seed()
    assert service.seeds == []
    assert (client.stopped is None) == retryable
    if retryable:
        service.refuse = None
        client.open_seed()
        assert len(service.seeds) == 1


def test_an_address_that_is_none():
    with pytest.raises(ApiError) as failure:
        Api("http://[", attempts=1).get("/x")
    assert failure.value.code == "unreachable"
