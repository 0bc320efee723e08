"""Whole hands over HTTP, all four games in both custodies, judged by the standalone verifier."""

from __future__ import annotations

import json

import pytest

from fairdeal.codecs import Place
from fairdeal.ed25519 import public_key, sign
from fairdeal.hashing import Digest
from fairdeal.log.note import VerifierKey
from fairdeal.log.proof import Receipt
from fairdeal.sealed_deck import Opening
from fairdeal.seeds import Commitment, Seal, SeatSeed, open_message, seal_message
from fairdeal_verifier.verify import verify
from tests.api.play import Devices, Operator, bearer, event_types, expect, idempotency, places


def verdict(table: Operator, key: str) -> str:
    """What the verifier says of the newest hand's file."""
    response = table.client.get(table.url("/transcript"))
    assert response.status_code == 200, response.text
    report = verify(response.content, key=key)
    assert report.exit == 0, [c for c in report.checks if c.status not in ("PASS", "N/A")]
    return report.verdict


def check_cards(cards, root, size):
    for card in cards:
        place = Place(card["epoch"], card["position"])
        Opening.from_dict(card).verify(place, Digest.from_hex(root), size)


@pytest.fixture(scope="module")
def key(shared):
    return shared.key()


@pytest.fixture(scope="module")
def vkey(shared):
    return str(shared.service.verifier_key)


@pytest.fixture(autouse=True)
def every_post_gives_its_bytes_again(shared, monkeypatch):
    """After the end of each test here, from the tables in memory and from the database alone."""
    given, post = [], Operator.post

    def noted(self, url, body, key=None, **headers):
        key = key or idempotency()["Idempotency-Key"]
        answer = post(self, url, body, key, **headers)
        if answer.is_success:
            given.append(((self, url, body, key), headers, answer.content))
        return answer

    monkeypatch.setattr(Operator, "post", noted)
    yield
    for forgotten in (False, True):
        if forgotten:
            shared.service.dealer.slots._slots.clear()
        for call, headers, content in given:
            again = post(*call, **headers)
            assert again.headers["idempotent-replayed"] == "true"
            assert again.content == content


@pytest.mark.parametrize(("game", "size"), [("kozel", 36), ("mus", 40), ("azi", 27), ("svoi", 36)])
def test_a_hand_of_each_game(shared, key, vkey, game, size):
    table = Operator(shared.client, key, game)
    opened = table.open()
    assert opened["state"] == "opening"
    assert opened["deadline"] is not None
    dealt = table.deal()
    assert event_types(dealt)[:2] == ["seeds.opened", "hand.dealt"]
    assert set(dealt["cards"]) == {str(seat) for seat in range(table.seats)}
    for cards in dealt["cards"].values():
        check_cards(cards, dealt["deck_root"], size)
    closed = table.close()
    assert event_types(closed) == ["hand.closed", "hand.disclosed"]
    assert closed["transcript"] == table.url("/transcript")
    file = table.transcript()
    assert file["disclosed"]["server_seed"] == closed["server_seed"]
    assert "VERIFIED" in verdict(table, vkey)


@pytest.mark.parametrize("game", ["kozel", "mus", "azi", "svoi"])
def test_every_answer_has_a_receipt_for_its_last_event(shared, key, game):
    log_key = VerifierKey.parse(str(shared.service.verifier_key))
    table = Operator(shared.client, key, game)
    for answer in (table.opened, table.open(), table.deal(), table.close()):
        last = answer["events"][-1]
        receipt = Receipt.parse(answer["receipt"])
        assert receipt.index == last["index"]
        receipt.verify(last["event"].encode(), log_key, lone=True)


def test_the_next_hand_opens_with_the_close_of_the_last(shared, key, vkey):
    table = Operator(shared.client, key, "kozel")
    table.open()
    first = table.deal()["first"]
    closed = table.close(next=table.hand_body())
    assert closed["state"] == "closed"
    assert closed["hand"] == 1
    assert closed["next"]["hand"] == 2
    assert closed["next"]["state"] == "opening"
    table.number = 2
    dealt = table.deal()
    assert dealt["first"] == (first + 1) % 4
    table.close()
    verdict(table, vkey)


def test_kozel_tricks_pulls_and_face_down_discards(shared, key, vkey):
    table = Operator(shared.client, key, "kozel")
    table.open()
    dealt = table.deal()
    hands = {int(seat): places(cards) for seat, cards in dealt["cards"].items()}
    # A trick in which two cards are thrown face down, and which is pulled.
    pulled = table.act(
        {"type": "show", "seat": 0, "cards": hands[0][:1]},
        {"type": "discard", "seat": 1, "cards": hands[1][:1]},
        {"type": "return"},
    )
    assert pulled["results"][0]["shown"][0]["card"] == dealt["cards"]["0"][0]["card"]
    assert pulled["results"][1]["k"] == 0
    assert pulled["cards"] == {}
    # A trick and a draw.
    drawn = table.act(
        {"type": "show", "seat": 0, "cards": hands[0][:1]},
        {"type": "discard", "seat": 1, "cards": hands[1][:1]},
        {"type": "show", "seat": 2, "cards": hands[2][:1]},
        {"type": "show", "seat": 3, "cards": hands[3][:1]},
        {"type": "draw", "first": 2},
    )
    assert [draw[0] for draw in drawn["results"][4]["draws"]] == [2, 3, 0, 1]
    assert {seat: len(cards) for seat, cards in drawn["cards"].items()} == dict.fromkeys("0123", 1)
    assert drawn["results"][1]["k"] == 1
    states = [card["state"] for card in table.cards(1)["cards"]]
    assert sorted(states) == ["discarded", "held", "held", "held", "held"]
    assert sorted(c["state"] for c in table.cards(0)["cards"]) == ["held"] * 4 + ["shown"]
    assert table.state()["holdings"] == [4, 4, 4, 4]
    table.close()
    verdict(table, vkey)


def test_mus_rounds_until_the_stock_is_shuffled_again(shared, key, vkey):
    table = Operator(shared.client, key, "mus")
    table.open()
    dealt = table.deal()
    turns = [(dealt["first"] + step) % 4 for step in range(4)]
    hands = {int(seat): places(cards) for seat, cards in dealt["cards"].items()}

    def one_round():
        answer = table.act(
            *({"type": "discard", "seat": seat, "cards": hands[seat]} for seat in turns)
        )
        for seat in turns:
            hands[seat] = []
        return take(answer)

    def take(answer):
        for seat, cards in answer.get("cards", {}).items():
            hands[int(seat)] += places(cards)
        return answer

    first = one_round()
    assert event_types(first) == ["cards.discarded"] * 4 + ["cards.drawn"]
    assert table.state()["stock"] == 8
    second = one_round()  # 8 left for 16
    assert second["state"] == "reopening"
    assert second["due_head"] == table.state()["due_head"]
    early = table.post(
        table.url("/actions"),
        {"actions": [{"type": "discard", "seat": turns[0], "cards": hands[turns[0]][:1]}]},
    )
    expect(early, 409, "wrong_phase")
    body = {"epoch": 1, "head": second["due_head"], "seeds": table.secrets.seeds(1)}
    both = table.post(
        table.url("/actions"),
        {"actions": [{"type": "seeds", **body}, {"type": "draw", "first": 0}]},
    )
    expect(both, 409, "too_early")
    third = take(table.act({"type": "seeds", **body}))
    assert event_types(third) == ["seeds.opened", "stock.reshuffled", "cards.drawn"]
    assert all(len(held) == 4 for held in hands.values())
    root = table.state()["roots"][1]
    new = [card for cards in third["cards"].values() for card in cards if card["epoch"] == 1]
    check_cards(new, root["root"], root["count"])
    table.act({"type": "show", "seat": 2, "cards": hands[2]})
    cards = table.cards(2)
    assert [entry["epoch"] for entry in cards["roots"]] == [0, 1]
    assert [card["state"] for card in cards["cards"]].count("shown") == 4
    table.close()
    verdict(table, vkey)


def test_azi_four_cards_and_a_blind_bid(shared, key, vkey):
    """Spec: AZI-3, HAND-7."""
    table = Operator(shared.client, key, "azi", ruleset={"cards": 4, "blind": True}, seats=3)
    table.open()
    dealt = table.deal()
    assert dealt["cards"] == {}
    assert dealt["shown"][0]["seat"] is None
    hidden = shared.client.get(table.url("/seats/1/cards"), headers=bearer(key))
    expect(hidden, 409, "not_looked")
    looked = table.act({"type": "look", "seat": 1})
    assert list(looked["cards"]) == ["1"]
    assert len(looked["cards"]["1"]) == 4
    others = table.act({"type": "look", "seat": 0}, {"type": "look", "seat": 2})
    hands = {**looked["cards"], **others["cards"]}
    table.act(
        *(
            {"type": "discard", "seat": seat, "cards": places(hands[str(seat)], 1)}
            for seat in (2, 0, 1)
        )
    )
    table.act({"type": "show", "seat": 0, "cards": places(hands["0"])[1:2]})
    table.close()
    verdict(table, vkey)


def test_svoi_sixes_are_handed_over_by_the_service(shared, key, vkey):
    kept = 0
    for _ in range(6):
        table = Operator(shared.client, key, "svoi", ruleset={"sixes": "exchange"})
        table.open()
        dealt = table.deal()
        if "cards.given" in event_types(dealt):
            kept += 1
            given = json.loads(dealt["events"][-1]["event"])["given"]
            for gift in given:
                mine = places(dealt["cards"][str(gift["to"])])
                assert [gift["epoch"], gift["position"]] in mine
        table.close()
        verdict(table, vkey)
    assert kept


@pytest.mark.parametrize("game", ["kozel", "mus", "azi", "svoi"])
def test_seats_on_devices_of_their_own(shared, key, vkey, game):
    table = Devices(shared.client, key, game)
    opened = table.open()
    assert opened["state"] == "sealing"
    if game == "svoi":
        for seat, suit in ((0, "H"), (1, "C")):
            expect(table.put(seat, "trump", {"suit": suit}), 201)
    head = table.seal_all()
    dealt = table.open_all(head)
    assert "cards" not in dealt
    assert dealt["state"] == "playing"
    state = table.operator.state()
    for seat in range(table.operator.seats):
        mine = table.cards(seat)
        assert [card["position"] for card in mine["cards"]] == state["positions"][str(seat)]
        assert mine["roots"][0]["root"] == state["deck_root"]
        check_cards(mine["cards"], mine["roots"][0]["root"], mine["roots"][0]["count"])
    seat = dealt["first"]
    cards = table.cards(seat)
    place = places(cards["cards"], 1)
    shown = expect(table.act(seat, {"type": "show", "seat": seat, "cards": place}))
    assert shown["results"][0]["shown"][0]["card"] == cards["cards"][0]["card"]
    assert "cards" not in shown
    table.operator.close()
    verdict(table.operator, vkey)


def test_a_repeated_put_gives_the_same_event(shared, key):
    table = Devices(shared.client, key, "mus")
    table.open()
    body = {"seal": table.secrets.seals["0"]}
    first = expect(table.put(0, "seal", body), 201)
    again = expect(table.put(0, "seal", body), 200)
    assert again["events"] == first["events"]
    assert again["receipt"].startswith("c2sp.org/tlog-proof@v1\n")
    other = {"seal": table.secrets.seals["1"]}
    expect(table.put(0, "seal", other), 409, "seal_fixed")
    for seat in (1, 2, 3):
        expect(table.put(seat, "seal", {"seal": table.secrets.seals[str(seat)]}), 201)
    head = table.operator.state()["due_head"]
    for seat in range(4):
        body = {"epoch": 0, "head": head, "seed": table.secrets.seeds()[str(seat)]}
        made = expect(table.put(seat, "seed", body), 201)
        again = expect(table.put(seat, "seed", body), 200)
        assert again["events"][0] == made["events"][0]
        body["seed"] = "00" * 32
        expect(table.put(seat, "seed", body), 409, "seed_fixed")
    assert again["deck_root"]
    # The seeds of a reshuffle as well.
    for _ in range(2):
        for seat in [(again["first"] + step) % 4 for step in range(4)]:
            held = [card for card in table.cards(seat)["cards"] if card["state"] == "held"]
            discard = {"type": "discard", "seat": seat, "cards": places(held)}
            acted = expect(table.act(seat, discard))
    assert acted["state"] == "reopening"
    body = {"epoch": 1, "head": acted["due_head"], "seed": table.secrets.seeds(1)["0"]}
    expect(table.put(0, "seed", body), 201)
    expect(table.put(0, "seed", body), 200)
    expect(table.put(0, "seed", {**body, "seed": "00" * 32}), 409, "seed_fixed")


def test_keyed_seats_sign(shared, key, vkey):
    """Spec: SIG-2."""
    secret = bytes(range(32))
    table = Operator(shared.client, key, "mus", keys={"2": public_key(secret).hex()})
    body = table.hand_body()
    url = f"/v1/tables/{table.table}/hands"
    expect(table.post(url, body), 422, "signature_missing")
    terms, commitment = Digest.from_hex(table.opened["terms"]), table.next_commitment
    message = seal_message(
        terms, 1, 2, Commitment.from_hex(commitment), Seal.from_hex(body["seals"]["2"])
    )
    wrong = {"2": sign(bytes(32), message).hex()}
    expect(table.post(url, {**body, "seal_sigs": wrong}), 422, "signature_invalid")
    sigs = {"2": sign(secret, message).hex()}
    opened = expect(table.post(url, {**body, "seal_sigs": sigs}), 201)
    table.number = 1
    seeds = table.secrets.seeds()
    message = open_message(
        Digest.from_hex(opened["sealed_head"]), 0, 2, SeatSeed.from_hex(seeds["2"])
    )
    sigs = {"2": sign(secret, message).hex()}
    expect(
        table.post(
            table.url("/deal"), {"seeds": seeds, "head": opened["sealed_head"], "sigs": sigs}
        )
    )
    table.close()
    verdict(table, vkey)


def test_disclosure_at_the_end_of_the_table(shared, key, vkey):
    """Spec: HAND-17, TBL-2."""
    table = Operator(shared.client, key, "kozel", disclosure="table")
    table.open()
    dealt = table.deal()
    table.act({"type": "show", "seat": 1, "cards": places(dealt["cards"]["1"], 1)})
    closed = table.close()
    assert "server_seed" not in closed
    file = table.transcript()
    assert "disclosed" not in file
    assert len(file["openings"]) == 1
    table.open()
    table.deal()
    # Between hands only, and once.
    url = f"/v1/tables/{table.table}/hands/1/disclose"
    expect(table.post(url, {}), 409, "hand_open")
    table.close()
    disclosed = expect(table.post(url, {}))
    assert disclosed["server_seed"]
    expect(table.post(url, {}), 409, "already_disclosed")
    ended = expect(table.post(f"/v1/tables/{table.table}/close", {}))
    assert event_types(ended) == ["hand.disclosed", "table.closed"]
    assert ended["state"] == "closed"
    verdict(table, vkey)
    expect(table.post(f"/v1/tables/{table.table}/hands", {}), 409, "table_closed")


def test_an_abort_names_nobody_and_the_next_hand_follows(shared, key, vkey):
    """Spec: HAND-19."""
    table = Operator(shared.client, key, "kozel")
    table.open()
    aborted = expect(table.post(table.url("/abort"), {}))
    assert event_types(aborted) == ["hand.aborted", "hand.disclosed"]
    assert aborted["state"] == "aborted"
    assert "aborted: operator" in verdict(table, vkey)
    expect(table.post(table.url("/abort"), {}), 409, "already_final")
    expect(table.post(table.url("/deal"), {"seeds": {"0": "00" * 32}}), 409, "already_final")
    opened = table.open()
    assert opened["hand"] == 2
    assert json.loads(opened["events"][0]["event"])["first"] is None


def test_a_seed_before_its_time_is_refused(shared, key):
    """Spec: HAND-8."""
    table = Operator(shared.client, key, "mus")
    body = table.hand_body()
    expect(table.post(f"/v1/tables/{table.table}/hands", {}), 201)
    table.number = 1
    seeds = table.secrets.seeds()
    expect(table.post(table.url("/deal"), {"seeds": seeds}), 409, "too_early")
    expect(table.post(table.url("/deal"), {}), 409, "wrong_phase")
    for seat in range(4):
        answer = expect(
            shared.client.put(
                table.url(f"/seats/{seat}/seal"),
                json={"seal": body["seals"][str(seat)]},
                headers=bearer(key),
            ),
            201,
        )
    wrong = {"seeds": seeds, "head": "00" * 32}
    expect(table.post(table.url("/deal"), wrong), 409, "head_mismatch")
    swapped = {**seeds, "0": seeds["1"]}
    expect(table.post(table.url("/deal"), {"seeds": swapped}), 422, "seal_mismatch")
    assert answer["sealed_head"] == table.state()["due_head"]
    table.deal()


def test_seals_of_one_hand_are_not_used_again(shared, key):
    """Spec: SEAL-2, HAND-19."""
    table = Operator(shared.client, key, "mus")
    table.open()
    seals = table.secrets.seals
    expect(table.post(table.url("/abort"), {}))
    again = table.post(f"/v1/tables/{table.table}/hands", {"seals": seals})
    expect(again, 409, "seed_reused")


def test_an_ace_on_stage_makes_its_six_the_highest(shared, key):
    """Spec: AZI-4."""
    seen = set()
    while len(seen) < 2:  # an ace is turned in one hand of nine
        table = Operator(shared.client, key, "azi")
        table.open()
        dealt = table.deal()
        turned = dealt["shown"][0]["card"]
        wanted = "6" + turned[-1] if turned[0] == "A" else None
        assert dealt["six_on_stage"] == wanted == table.state()["six_on_stage"]
        seen.add(wanted)
    plain = Operator(shared.client, key, "azi", ruleset={"six_on_stage": False})
    plain.open()
    assert plain.deal()["six_on_stage"] is None


def test_server_seeds_are_fresh(shared, key):
    """Spec: SEED-1."""
    seen = []
    for _ in range(3):
        table = Operator(shared.client, key, "kozel")
        for _ in range(3):
            table.open()
            table.deal()
            seen.append(table.close()["server_seed"])
    assert len(set(seen)) == len(seen)


def test_first_seat_rules(shared, key):
    table = Operator(shared.client, key, "svoi")
    url = f"/v1/tables/{table.table}/hands"
    expect(table.post(url, {"first": 1}), 422, "first_not_allowed")
    table.open()
    table.deal()
    table.close()
    expect(table.post(url, {}), 422, "first_not_allowed")
    expect(table.post(url, {"first": None}), 422, "first_not_allowed")
    expect(table.post(url, {"first": 1, "trumps": {"0": "H", "1": "H"}}), 422, "trump_not_allowed")
    expect(table.post(url, {"first": 1}), 201)
    table.number = 2
    expect(table.post(url, {"first": 1}), 409, "hand_open")


def test_a_test_seed_fixes_every_deck(shared, key):
    decks = []
    for _ in range(2):
        table = Operator(shared.client, key, "kozel", test_seed="07" * 32)
        decks.append(table.next_commitment)
    assert decks[0] == decks[1]


def test_a_reissued_seat_has_a_new_code_and_the_old_token_is_dead(shared, key):
    table = Devices(shared.client, key, "kozel")
    old = table.tokens[1]
    table.open()
    url = f"/v1/tables/{table.table}/seats/1/reissue"
    expect(table.operator.post(url, {}), 409, "hand_open")
    expect(table.operator.post(table.operator.url("/abort"), {}))
    answer = expect(table.operator.post(url, {}))
    assert event_types(answer) == ["seat.reissued"]
    table.open()
    body = {"seal": table.secrets.seals["1"]}
    expect(table.put(1, "seal", body), 401, "credential_unknown")
    table.tokens[1] = table.claim(answer["claim_code"])
    assert table.tokens[1] != old
    expect(table.put(1, "seal", body), 201)


def test_a_claim_code_works_once_and_its_answer_again(shared, key):
    operator = Operator(shared.client, key, "svoi", custody="seats")
    body = {"code": operator.opened["claim_codes"]["0"]}
    headers = idempotency()
    first = shared.client.post("/v1/seats/claim", json=body, headers=headers)
    again = shared.client.post("/v1/seats/claim", json=body, headers=headers)
    assert again.content == first.content
    assert again.headers["idempotent-replayed"] == "true"
    late = shared.client.post("/v1/seats/claim", json=body, headers=idempotency())
    expect(late, 409, "claim_used")
    unknown = {"code": "fdc_" + "x" * 43}
    expect(
        shared.client.post("/v1/seats/claim", json=unknown, headers=idempotency()),
        404,
        "claim_unknown",
    )
