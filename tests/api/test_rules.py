"""Rules for every call: bodies, headers, credentials, idempotency, versions."""

from __future__ import annotations

import json
import re
import time

import apsw
import pytest

from fairdeal_api import strict_json
from fairdeal_api.problems import Problem
from tests.api.play import Devices, Operator, bearer, expect, idempotency

SECRET = "5e" * 32
TABLES = "/v1/tables"
PATTERN = "string_pattern_mismatch"


@pytest.fixture(scope="module")
def key(shared):
    return shared.key()


def size_of(site):
    return site.service.ledger.size


def send(site, key, content, path=TABLES, **headers):
    return site.client.post(
        path,
        content=content,
        headers={
            **bearer(key),
            **idempotency(),
            "Content-Type": "application/json",
            **headers,
        },
    )


GOOD = b'{"game":"kozel","custody":"operator"}'
BAD_BODIES = [
    (b'{"game":"kozel","custody":"operator"', 400, "malformed_json"),
    (b"", 422, "invalid_request"),
    (b"null", 422, "invalid_request"),
    (b"[]", 422, "invalid_request"),
    (b"nonsense", 400, "malformed_json"),
    (GOOD + b"x", 400, "malformed_json"),
    (GOOD + GOOD, 400, "malformed_json"),
    (b"\xef\xbb\xbf" + GOOD, 400, "malformed_json"),
    (GOOD.decode().encode("utf-16"), 400, "malformed_json"),
    (GOOD.replace(b"kozel", b"k\xffzel"), 400, "malformed_json"),
    (GOOD.replace(b"kozel", b"\\ud800"), 400, "malformed_json"),
    (GOOD.replace(b"kozel", b"a\nb"), 400, "malformed_json"),
    (b"[" * 17 + b"]" * 17, 400, "malformed_json"),
    (b"[" * 16 + b"]" * 16, 422, "invalid_request"),
    (b"[" + b"[]," * 20 + b"[" * 15 + b"]" * 16, 422, "invalid_request"),
    (b'{"a":' * 20000 + b"1" + b"}" * 20000, 413, "body_too_large"),
    (b"[" * 30000, 400, "malformed_json"),
    (b'{"game":"kozel","game":"mus","custody":"operator"}', 400, "duplicate_key"),
    (b'{"game":"kozel","custody":"operator","seats":4.0}', 400, "number_not_allowed"),
    (b'{"game":"kozel","custody":"operator","seats":4e0}', 400, "number_not_allowed"),
    (b'{"game":"kozel","custody":"operator","seats":NaN}', 400, "number_not_allowed"),
    (b'{"game":"kozel","custody":"operator","seats":-Infinity}', 400, "number_not_allowed"),
    (b'{"game":"kozel","custody":"operator","seats":1e999}', 400, "number_not_allowed"),
    (
        b'{"game":"kozel","custody":"operator","seats":9007199254740992}',
        400,
        "number_not_allowed",
    ),
    (b'{"game":"kozel","custody":"operator","seats":' + b"9" * 5000 + b"}", 400, None),
    (b'{"game":"kozel","custody":"operator","seats":"4"}', 422, "invalid_request"),
    (b'{"game":"kozel","custody":"operator","seats":true}', 422, "invalid_request"),
    (b'{"game":"kozel","custody":"operator","seat":4}', 422, "invalid_request"),
    (b'{"game":"kozel","custody":"nobody"}', 422, "invalid_request"),
    (b'{"game":"kozel"}', 422, "invalid_request"),
    (b'{"game":"azi","custody":"operator"}', 422, "invalid_request"),
    (b'{"game":"poker","custody":"operator"}', 404, "game_unknown"),
    (b'{"game":"kozel","custody":"operator","seats":3}', 422, "seats_not_allowed"),
    (b'{"game":"kozel","custody":"operator","contribute":[4]}', 422, "seats_not_allowed"),
    (b'{"game":"kozel","custody":"operator","contribute":[]}', 422, "invalid_request"),
    (b'{"game":"kozel","custody":"operator","ruleset":{"x":1}}', 422, "option_unknown"),
    (b'{"game":"kozel","custody":"operator","ruleset":{"discards":1}}', 422, "option_value"),
    (
        b'{"game":"kozel","custody":"operator","keys":{"0":"' + b"01" + b"00" * 31 + b'"}}',
        422,
        "invalid_request",
    ),
    (
        b'{"game":"kozel","custody":"operator","keys":{"0":"' + b"02" + b"00" * 31 + b'"}}',
        422,
        "invalid_request",
    ),
    (b'{"game":"kozel","custody":"operator","timeouts":{"seal":0}}', 422, "invalid_request"),
]


@pytest.mark.parametrize(("body", "status", "code"), BAD_BODIES)
def test_a_bad_body_gets_its_code_and_writes_nothing(shared, key, body, status, code):
    before = size_of(shared)
    response = send(shared, key, body)
    value = expect(response, status)
    assert code is None or value["code"] == code
    assert response.headers["content-type"] == "application/problem+json"
    assert response.headers["cache-control"] == "no-store"
    assert size_of(shared) == before


def seconds_for(body):
    started = time.thread_time()
    with pytest.raises(Problem) as error:
        strict_json.parse(body)
    assert error.value.code == "malformed_json"
    return time.thread_time() - started


def quotes(size):
    """Texts in a text that does not end, and enough brackets that levels are counted."""
    return b'"' + b'\\"' * ((size - 18) // 2) + b"[" * 17


@pytest.mark.parametrize("end", [b"", b"\\"])
def test_no_body_keeps_the_loop_busy(end, monkeypatch):
    assert seconds_for(quotes(strict_json.MAX_BODY) + end) < 0.3
    # Control: with a pattern that asks for the end of the text, a fifth of it is slow.
    monkeypatch.setattr(
        strict_json, "_TOKENS", re.compile(rb'"(?:[^"\\]|\\.)*"|[\[\]{}]', re.DOTALL)
    )
    assert seconds_for(quotes(strict_json.MAX_BODY // 5) + end) > 0.3


def test_the_good_body_is_good(shared, key):
    expect(send(shared, key, GOOD), 201)


@pytest.mark.parametrize(
    "body",
    [
        {"seals": {"0": SECRET, "1": 5}},
        {"seals": {"0": SECRET[:-1]}},
        {"seals": {"0": SECRET.upper()}},
        {"seals": {SECRET: SECRET}},
        {"seals": {"00": SECRET}},
        {"seals": {"0": [SECRET]}},
        {SECRET: 1},
        {"first": SECRET},
    ],
)
def test_nothing_that_was_sent_comes_back(shared, key, body, capfd):
    table = Operator(shared.client, key, "mus")
    response = table.post(f"/v1/tables/{table.table}/hands", body)
    value = expect(response, 422, "invalid_request")
    assert value["errors"]
    text = response.text + repr(response.headers) + capfd.readouterr().err
    assert SECRET[:16] not in text.lower()


@pytest.mark.parametrize(
    ("rest", "body", "faults"),
    [
        ("", {"seals": {"0": 5, "9": "x"}}, {("/seals/0", "string_type"), ("/seals/9", PATTERN)}),
        ("", {"seals": {"hunter2": SECRET}}, {("/seals", PATTERN)}),
        ("", {"hunter2": 1, "first": True}, {("", "member_unknown"), ("/first", "int_type")}),
        ("/1/actions", {}, {("/actions", "missing")}),
        ("/1/actions", {"actions": [{"type": "hunter2"}]}, {("/actions/0", "union_tag_invalid")}),
        (
            "/1/actions",
            {"actions": [{"type": "return"}, {"type": "show", "seat": "1", "cards": [[0, "x"]]}]},
            {("/actions/1/seat", "int_type"), ("/actions/1/cards/0/1", "int_type")},
        ),
        (
            "/1/actions",
            {"actions": [{"type": "seeds", "head": SECRET, "seeds": {"0": 1}}]},
            {("/actions/0/epoch", "missing"), ("/actions/0/seeds/0", "string_type")},
        ),
        (
            "/1/actions",
            {"actions": [{"type": "call", "seat": 0, "call": "?"}]},
            {("/actions/0/call", PATTERN)},
        ),
    ],
)
def test_a_pointer_leads_into_the_body_by_names_of_ours(shared, key, rest, body, faults):
    """Spec: RFC 6901."""
    table = Operator(shared.client, key, "mus")
    response = table.post(f"/v1/tables/{table.table}/hands{rest}", body)
    value = expect(response, 422, "invalid_request")
    assert {(fault["pointer"], fault["code"]) for fault in value["errors"]} == faults
    assert "hunter2" not in response.text


def test_a_seat_that_contributes_twice_is_refused(shared, key):
    """It has one seed, so who counts on two has been mistaken."""
    asked = {"game": "mus", "custody": "operator", "contribute": [2, 0, 2]}
    value = expect(send(shared, key, json.dumps(asked).encode()), 422, "invalid_request")
    assert value["errors"] == [{"pointer": "/contribute", "code": "seat_twice"}]
    asked["contribute"] = [2, 0]  # the control
    value = expect(send(shared, key, json.dumps(asked).encode()), 201)
    assert json.loads(value["events"][0]["event"])["contribute"] == [0, 2]


@pytest.mark.parametrize(
    ("ruleset", "referee", "code", "places"),
    [
        ({"cards": 5, "blind": True, "trump": True}, False, "option_value", ["cards", "trump"]),
        ({"cards": 4, "ante": 0}, True, "option_value", ["ante"]),
        ({"cards": 5, "ante": 0}, False, "option_unknown", [None]),
        ({"5e5e5e": 0}, True, "option_unknown", [None]),
    ],
)
def test_a_ruleset_is_refused_by_its_options(shared, key, ruleset, referee, code, places):
    """Control: what is no option is not named, and what has its value neither."""
    body = {"game": "azi", "custody": "operator", "seats": 3, "referee": referee}
    answer = send(shared, key, json.dumps({**body, "ruleset": ruleset}).encode())
    pointers = ["/ruleset" + ("" if place is None else f"/{place}") for place in places]
    found = expect(answer, 422, code)["errors"]
    assert found == [{"pointer": pointer, "code": code} for pointer in pointers]
    assert "5e5e5e" not in answer.text


def test_a_refused_seed_is_not_told_to_anybody(shared, key, capfd):
    table = Operator(shared.client, key, "mus")
    table.open()
    for body in (
        {"seeds": dict.fromkeys("0123", SECRET)},
        {"seeds": {"0": SECRET, "9": SECRET}},
        {"seeds": {"0": SECRET}, "head": SECRET},
    ):
        response = table.post(table.url("/deal"), body)
        assert response.status_code in (404, 409, 422)
        assert SECRET[:16] not in response.text + capfd.readouterr().err


@pytest.mark.parametrize(
    ("headers", "status", "code"),
    [
        ({"Content-Type": "text/plain"}, 415, "media_type"),
        ({"Content-Type": "application/json; charset=utf-16"}, 415, "media_type"),
        ({"Content-Type": "application/json; charset=UTF-8"}, 201, None),
        ({"Idempotency-Key": ""}, 400, "header_invalid"),
        ({"Idempotency-Key": "a b"}, 400, "header_invalid"),
        ({"Idempotency-Key": "k" * 129}, 400, "header_invalid"),
        ({"Authorization": "Basic abc"}, 401, "credential_missing"),
        ({"Authorization": "Bearer nobody"}, 401, "credential_unknown"),
        ({"Authorization": "Bearer fd_test_" + "A" * 43}, 401, "credential_unknown"),
        ({"Authorization": "Bearer fd_live_" + "A" * 43}, 403, "live_only"),
        ({"Authorization": "Bearer fds_" + "A" * 43}, 401, "credential_unknown"),
    ],
)
def test_headers(shared, key, headers, status, code):
    value = expect(send(shared, key, GOOD, **headers), status)
    assert code is None or value["code"] == code


def test_missing_headers(shared, key):
    post = shared.client.post
    body = json.loads(GOOD)
    expect(post(TABLES, json=body, headers=idempotency()), 401, "credential_missing")
    expect(post(TABLES, json=body, headers=bearer(key)), 400, "idempotency_key_missing")


def test_a_body_is_counted_while_it_comes(shared, key):
    sent = 0

    def chunks():
        nonlocal sent
        for _ in range(1000):
            sent += 1024
            yield b" " * 1024

    expect(send(shared, key, chunks()), 413, "body_too_large")
    expect(send(shared, key, b" " * 70000), 413, "body_too_large")


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "/v1/nothing", 404, "not_found"),
        ("GET", "/v1/tables/", 404, "not_found"),
        ("DELETE", "/v1/tables", 405, "method_not_allowed"),
        ("PATCH", "/v1/games", 405, "method_not_allowed"),
        ("GET", "/v1/tables/tbl_x", 404, "table_unknown"),
        ("GET", "/v1/tables/tbl_" + "0" * 26, 404, "table_unknown"),
        ("GET", "/v1/games/poker", 404, "game_unknown"),
        ("GET", "/v1/receipts/99999999", 404, "entry_unknown"),
        ("GET", "/v1/receipts/01", 404, "entry_unknown"),
        ("GET", "/v1/receipts/-1", 404, "entry_unknown"),
        ("GET", "/log/tile/0/999", 404, "entry_unknown"),
        ("GET", "/log/tile/8/000", 404, "entry_unknown"),
        ("GET", "/log/tile/x", 404, "entry_unknown"),
        ("GET", "/v1/hands?limit=0", 400, "header_invalid"),
        ("GET", "/v1/hands?limit=201", 400, "header_invalid"),
        ("GET", "/v1/hands?limit=1&limit=2", 400, "header_invalid"),
        ("GET", "/v1/hands?what=1", 400, "header_invalid"),
        ("GET", "/v1/tables", 401, "credential_missing"),
    ],
)
def test_addresses(shared, method, path, status, code):
    expect(shared.client.request(method, path), status, code)


@pytest.mark.parametrize(
    ("path", "methods"),
    [
        ("/v1/games", "GET, HEAD"),
        ("/v1/tables", "GET, HEAD, POST"),
        ("/v1/tables/t/hands/1/seats/0/seal", "PUT"),
    ],
)
def test_405_names_the_methods(shared, path, methods):
    """Spec: RFC 9110, 15.5.6."""
    answer = shared.client.delete(path)
    expect(answer, 405, "method_not_allowed")
    assert answer.headers["allow"] == methods


# --- idempotency --------------------------------------------------------------------------------


def test_the_same_key_and_body_give_the_same_bytes(shared, key):
    table = Operator(shared.client, key, "mus")
    body = table.hand_body()
    url = f"/v1/tables/{table.table}/hands"
    first = table.post(url, body, "once")
    size = size_of(shared)
    again = table.post(url, body, "once")
    assert (again.status_code, again.content) == (201, first.content)
    assert "idempotent-replayed" not in first.headers
    assert again.headers["idempotent-replayed"] == "true"
    assert again.headers["etag"] == first.headers["etag"]
    assert size_of(shared) == size
    expect(table.post(url, {"first": None}, "once"), 422, "idempotency_key_reused")
    # The scope is credential, method and path.
    table.number = 1
    expect(table.post(table.url("/abort"), {}, "once"))


def test_a_key_of_another_operator_is_another_key(shared, key):
    other = shared.key("other")
    headers = {**idempotency("shared-key")}
    one = shared.client.post(TABLES, json=json.loads(GOOD), headers={**headers, **bearer(key)})
    two = shared.client.post(TABLES, json=json.loads(GOOD), headers={**headers, **bearer(other)})
    assert expect(one, 201)["table"] != expect(two, 201)["table"]


def test_a_refusal_is_not_kept(shared, key):
    table = Operator(shared.client, key, "mus")
    body = table.hand_body()
    expect(table.post(f"/v1/tables/{table.table}/hands", {}), 201)
    table.number = 1
    seeds = {"seeds": table.secrets.seeds()}
    expect(table.post(table.url("/deal"), seeds, "later"), 409, "too_early")
    for seat in range(4):
        put = {"seal": body["seals"][str(seat)]}
        expect(
            shared.client.put(table.url(f"/seats/{seat}/seal"), json=put, headers=bearer(key)), 201
        )
    expect(table.post(table.url("/deal"), seeds, "later"))


def test_answers_are_kept_over_a_restart(site):
    key = site.key()
    table = Operator(site.client, key, "kozel")
    table.open()
    first = table.post(table.url("/deal"), {"seeds": table.secrets.seeds()}, "the-deal")
    site.__exit__(None, None, None)
    again_site = type(site)(site.settings)
    with again_site:
        table.client = again_site.client
        again = table.post(table.url("/deal"), {"seeds": table.secrets.seeds()}, "the-deal")
        assert again.content == first.content
        # And the hand goes on where it was.
        assert table.state()["state"] == "playing"
        assert len(table.cards(0)["cards"]) == 4
        table.close()
    site.client = again_site.client
    site.__exit__ = lambda *_: None


def kept_answers(site) -> list[tuple[str, int]]:
    """Table and hand of each: those of hands, and those that are kept apart."""
    return [(row.table_id, row.hand) for row in site.service.reader.all_answers()]


def forget(site, ago: int) -> bool:
    """As if a day were so many milliseconds."""
    return site.client.portal.call(site.service.dealer.forget, site.service.clock.now() - ago)


def test_answers_of_what_is_over_are_forgotten_a_day_later(site):
    key = site.key()
    over, going_on, closed = (Operator(site.client, key, "kozel") for _ in range(3))
    first = over.post(f"/v1/tables/{over.table}/hands", over.hand_body(), "first")
    expect(first, 201)
    over.number = 1
    over.deal()
    over.close()
    going_on.open()
    expect(closed.post(f"/v1/tables/{closed.table}/close", {}))

    apart = [(over.table, 0), (going_on.table, 0), (closed.table, 0), (closed.table, 0)]
    of_hands = [(over.table, 1)] * 3 + [(going_on.table, 1)]
    forget(site, ago=60_000)
    assert kept_answers(site) == of_hands + apart
    # A table that is closed, and a hand that has ended; not the table it was played at.
    kept = [(going_on.table, 1), (over.table, 0), (going_on.table, 0)]
    forget(site, ago=-60_000)
    assert kept_answers(site) == kept
    # What is forgotten is a new request.
    again = over.post(f"/v1/tables/{over.table}/hands", over.hand_body(), "first")
    assert expect(again, 201)["hand"] == 2


def test_the_answer_to_an_end_that_has_opened_the_next_goes_with_the_next(site):
    table = Operator(site.client, site.key(), "kozel")
    table.open()
    table.deal()
    ended = table.post(table.url("/close"), {"next": table.hand_body()}, "both")
    assert expect(ended)["next"]["hand"] == 2
    forget(site, ago=-60_000)
    assert kept_answers(site) == [(table.table, 1), (table.table, 0)]
    again = table.post(table.url("/close"), {"next": table.hand_body()}, "both")
    expect(again, 422, "idempotency_key_reused")
    table.number = 2
    expect(table.post(table.url("/abort"), {}))
    forget(site, ago=-60_000)
    assert kept_answers(site) == [(table.table, 0)]


def test_nothing_is_forgotten_before_its_time(site):
    """Ends at the moment that is asked for, and a millisecond before it."""
    table = Operator(site.client, site.key(), "kozel")
    for _ in range(2):
        table.open()
        table.deal()
        table.close()
    ends = [row.at for row in site.service.reader.finished_after(-1, 9)]
    dealer = site.service.dealer
    for before, left in ((ends[0], 6), (ends[0] + 1, 3), (ends[1], 3), (ends[1] + 1, 0)):
        site.client.portal.call(dealer.forget, before)
        assert len(kept_answers(site)) == left + 1
        # So it is if the service begins anew, and looks for where it was.
        dealer._forgotten = None


def test_a_young_end_before_an_older_one_is_not_passed(site):
    """Log time is a moment before the place in the log is: in one batch they may differ."""
    table = Operator(site.client, site.key(), "kozel")
    for _ in range(2):
        table.open()
        expect(table.post(table.url("/abort"), {}))
    end = site.service.reader.finished_after(-1, 9)[1].at
    connection = apsw.Connection(str(site.settings.data / "ledger.db"))
    connection.execute("UPDATE finished SET at = ? WHERE hand = 1", (end + 5,))
    connection.close()
    for before, left in ((end + 1, 4), (end + 6, 0)):
        site.client.portal.call(site.service.dealer.forget, before)
        assert len(kept_answers(site)) == left + 1


def test_many_hands_are_forgotten_little_by_little(site, monkeypatch):
    monkeypatch.setattr("fairdeal_api.dealer._FORGET_HANDS", 2)
    table = Operator(site.client, site.key(), "kozel")
    for _ in range(5):
        table.open()
        expect(table.post(table.url("/abort"), {}))
    assert [forget(site, ago=-60_000) for _ in range(4)] == [True, True, False, False]
    assert kept_answers(site) == [(table.table, 0)]


def test_what_a_table_knows_of_its_answers_is_what_is_kept(site, monkeypatch):
    """In memory and loaded anew; and it does not grow for ever."""
    monkeypatch.setattr("fairdeal_api.slots._KNOWN_KEYS", 4)
    key = site.key()
    table, other = (Operator(site.client, key, "kozel") for _ in range(2))
    slots = site.service.dealer.slots
    site.service.dealer.slots.get(table.table).room = 4

    def known() -> dict[bytes, int]:
        return slots.get(table.table).kept

    for _ in range(3):
        for of in (table, other):
            of.open()
            of.deal()
            of.close()
    assert list(known().items()) == site.service.reader.answers_of(table.table)
    assert len(known()) == 9
    del slots._slots[table.table]
    assert list(known().items()) == site.service.reader.answers_of(table.table)
    forget(site, ago=-60_000)
    assert site.service.reader.answers_of(table.table) == []
    slots.get(table.table).room = 4
    table.open()
    assert len(known()) == 1


# --- versions -----------------------------------------------------------------------------------


def test_a_put_sent_again_is_answered_whatever_its_if_match(shared, key):
    table = Devices(shared.client, key, "kozel")
    table.open()

    def put(seat, value, seq):
        headers = {**bearer(table.tokens[seat]), "If-Match": f'"{seq}"'}
        return shared.client.put(table.url(seat, "seal"), json={"seal": value}, headers=headers)

    seals = table.secrets.seals
    first = put(0, seals["0"], 1)
    expect(first, 201)
    again = put(0, seals["0"], 1)  # its answer was lost
    assert expect(again)["events"] == first.json()["events"]
    assert again.headers["etag"] == '"2"'
    expect(put(0, seals["1"], 1), 412, "version_mismatch")  # another one is too late
    expect(put(1, seals["1"], 1), 412, "version_mismatch")
    expect(put(1, seals["1"], 2), 201)


def test_signatures_of_nothing_are_refused(shared, key):
    table = Operator(shared.client, key, "svoi")
    for member in ("seal_sigs", "trump_sigs"):
        body = table.hand_body()
        body = {**body, member: {"0": "00" * 64}}
        body.pop(member.removesuffix("_sigs") + "s", None)
        expect(table.post(f"/v1/tables/{table.table}/hands", body), 422, "signature_invalid")
    expect(shared.client.get(f"/v1/tables/{table.table}/hands/1"), 404, "hand_unknown")


def test_etags_and_if_match(shared, key):
    table = Operator(shared.client, key, "kozel")
    url = f"/v1/tables/{table.table}"
    seen = shared.client.get(url)
    assert seen.headers["etag"] == '"0"'
    for tag, status in (('"0"', 304), ('W/"0"', 304), ('"7", "0"', 304), ('"00"', 200), ("0", 200)):
        assert shared.client.get(url, headers={"If-None-Match": tag}).status_code == status
    body = table.hand_body()
    stale = table.post(f"{url}/hands", body, **{"If-Match": '"7"'})
    expect(stale, 412, "version_mismatch")
    for tags in (
        'W/"0"',
        'W/"0", "7"',
        '"00"',
        '""',
        '"a,b"',
        '"0,0"',
        '"W/"',
        '"\xe9"',
        '"' + "9" * 99 + '"',
    ):
        named = {"If-Match": tags.encode("latin-1")}
        expect(table.post(f"{url}/hands", body, **named), 412, "version_mismatch")
    for tags in (
        "7",
        "",
        ",",
        '"0',
        '"0" "0"',
        '"0",0',
        'w/"0"',
        'W/ "0"',
        '*, "0"',
        "**",
        '"\x7f"',
    ):
        expect(table.post(f"{url}/hands", body, **{"If-Match": tags}), 400, "header_invalid")
    opened = table.post(f"{url}/hands", body, **{"If-Match": '"0"'})
    expect(opened, 201)
    assert opened.headers["etag"] == '"2"'
    assert shared.client.get(url, headers={"If-None-Match": '"0"'}).status_code == 200


@pytest.mark.parametrize(
    "tags",
    ["*", '"7","0"', '\t, W/"0" ,,"0",', '"a,b", "0"', '"W/", "0"'],
    ids=["any", "list", "empty places", "comma in a tag", "a tag that looks weak"],
)
def test_one_of_the_tags_of_if_match_is_enough(shared, key, tags):
    """Spec: RFC 9110, 13.1.1."""
    table = Operator(shared.client, key, "kozel")
    url = f"/v1/tables/{table.table}/hands"
    expect(table.post(url, table.hand_body(), **{"If-Match": tags}), 201)


def test_if_match_in_several_lines(shared, key):
    """Spec: RFC 9110, 5.3."""
    table = Operator(shared.client, key, "kozel")

    def opened(*tags):
        lines = [*bearer(key).items(), *idempotency().items(), *(("If-Match", tag) for tag in tags)]
        url = f"/v1/tables/{table.table}/hands"
        return shared.client.post(url, json=table.hand_body(), headers=lines)

    expect(opened('"7"', 'W/"0"'), 412, "version_mismatch")
    expect(opened("*", '"0"'), 400, "header_invalid")
    expect(opened('"7"', '"0"'), 201)


# --- who may what -------------------------------------------------------------------------------


def test_a_foreign_operator_sees_what_an_unknown_table_shows(shared, key):
    mine = Operator(shared.client, key, "kozel")
    mine.open()
    other = shared.key("stranger")
    unknown = "tbl_" + "0" * 26
    for path, body in (
        ("/hands", {}),
        ("/hands/1/deal", {"seeds": {"0": SECRET}}),
        ("/hands/1/actions", {"actions": [{"type": "return"}]}),
        ("/hands/1/close", {}),
        ("/hands/1/abort", {}),
        ("/hands/1/disclose", {}),
        ("/close", {}),
        ("/seats/0/reissue", {}),
    ):
        answers = []
        for table in (mine.table, unknown):
            response = shared.client.post(
                f"/v1/tables/{table}{path}",
                json=body,
                headers={**bearer(other), **idempotency(), "X-Request-Id": "same"},
            )
            expect(response, 404, "table_unknown")
            answers.append((response.content, dict(response.headers)))
        assert answers[0] == answers[1]
    for rest in ("/hands/1/seats/0/cards",):
        for table in (mine.table, unknown):
            expect(
                shared.client.get(f"/v1/tables/{table}{rest}", headers=bearer(other)),
                404,
                "table_unknown",
            )
    listed = expect(shared.client.get(TABLES, headers=bearer(other)))
    assert listed["tables"] == []


def test_custody_seats_binds_the_operator(shared, key):
    table = Devices(shared.client, key, "mus")
    url = f"/v1/tables/{table.table}/hands"
    expect(table.operator.post(url, {"seals": {"0": SECRET}}), 403, "not_your_seat")
    table.open()
    seal = {"seal": table.secrets.seals["0"]}
    by_operator = shared.client.put(table.url(0, "seal"), json=seal, headers=bearer(key))
    expect(by_operator, 403, "not_your_seat")
    expect(table.put(0, "seal", seal, token=1), 403, "not_your_seat")
    head = table.seal_all()
    body = {"seeds": table.secrets.seeds(), "head": head}
    expect(table.operator.post(table.operator.url("/deal"), body), 403, "not_your_seat")
    table.open_all(head)
    for secret in (key, table.tokens[1]):
        expect(
            shared.client.get(table.url(0, "cards"), headers=bearer(secret)), 403, "not_your_seat"
        )
    expect(shared.client.get(table.url(0, "cards")), 401, "credential_missing")
    place = [[0, 0]]
    for action in (
        {"type": "discard", "seat": 0, "cards": place},
        {"type": "show", "seat": 0, "cards": place},
        {"type": "look", "seat": 0},
    ):
        expect(table.act(1, action), 403, "not_your_seat")
        posted = table.operator.post(table.operator.url("/actions"), {"actions": [action]})
        expect(posted, 403, "not_your_seat")
    expect(table.act(0, {"type": "draw", "first": 0}), 403, "operator_only")
    for rest in ("/close", "/abort", "/disclose"):
        response = shared.client.post(
            table.operator.url(rest), json={}, headers={**bearer(table.tokens[0]), **idempotency()}
        )
        expect(response, 403, "operator_only")
    for path in (url, f"/v1/tables/{table.table}/close"):
        response = shared.client.post(
            path, json={}, headers={**bearer(table.tokens[0]), **idempotency()}
        )
        expect(response, 403, "operator_only")
    made = shared.client.post(
        TABLES, json=json.loads(GOOD), headers={**bearer(table.tokens[0]), **idempotency()}
    )
    expect(made, 403, "operator_only")


def test_a_seat_of_another_table_is_nobody_here(shared, key):
    one, two = Devices(shared.client, key, "svoi"), Devices(shared.client, key, "svoi")
    two.open()
    response = shared.client.put(
        two.url(0, "trump"), json={"suit": "H"}, headers=bearer(one.tokens[0])
    )
    expect(response, 404, "table_unknown")


def test_a_revoked_key_is_dead(shared):
    secret = shared.key("gone")
    expect(shared.client.get(TABLES, headers=bearer(secret)))
    (row,) = [k for k in shared.service.operators.all() if k.name == "gone"]
    assert shared.service.operators.revoke(row.id)
    shared.service.operators.refresh()
    expect(shared.client.get(TABLES, headers=bearer(secret)), 401, "credential_unknown")


def test_public_answers_are_for_every_origin_and_private_ones_are_not(shared, key):
    assert shared.client.get("/v1/games").headers["access-control-allow-origin"] == "*"
    # What is said of an address that is not there: a page elsewhere sees why nothing comes.
    assert shared.client.get("/v1/nothing").headers["access-control-allow-origin"] == "*"
    private = shared.client.get(TABLES, headers=bearer(key))
    assert "access-control-allow-origin" not in private.headers
    assert private.headers["cache-control"] == "no-store"


def test_lists_go_page_by_page(shared):
    secret = shared.key("lister")
    made = [Operator(shared.client, secret, "kozel").table for _ in range(3)]
    seen, after = [], ""
    while True:
        url = f"{TABLES}?limit=2" + (f"&after={after}" if after else "")
        page = expect(shared.client.get(url, headers=bearer(secret)))
        seen += [item["table"] for item in page["tables"]]
        if not page["has_more"]:
            break
        after = page["next"]
    assert sorted(seen) == sorted(made)
    for limit in ("0", "201", "007", "+2", "2.0", "-1", ""):
        url = f"{TABLES}?limit={limit}"
        expect(shared.client.get(url, headers=bearer(secret)), 400, "header_invalid")


def test_events_go_page_by_page(shared, key):
    table = Operator(shared.client, key, "kozel")
    table.open()
    table.deal()
    table.close()
    url = f"/v1/tables/{table.table}/events"
    whole = expect(shared.client.get(url))
    assert [event["seq"] for event in whole["events"]] == list(range(len(whole["events"])))
    first = expect(shared.client.get(f"{url}?limit=2"))
    assert first["has_more"]
    rest = expect(shared.client.get(f"{url}?after=1"))
    assert first["events"] + rest["events"] == whole["events"]
    of_hand = expect(shared.client.get(table.url("/events")))
    assert of_hand["events"] == whole["events"][1:]
    assert expect(shared.client.get(f"{url}?after=99&wait=1"))["events"] == []
