"""Many requests at a time: one event for each thing that happened."""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter
from contextlib import asynccontextmanager

import httpx2
import pytest

from fairdeal_api.app import create_app
from fairdeal_api.kept import Parts
from fairdeal_api.service import Service, initialise
from tests.api.conftest import fail
from tests.api.play import Seats, bearer, idempotency

MANY = 50
PATIENCE = 60
"""Seconds after which a test that hangs is ended."""


@asynccontextmanager
async def running(settings):
    initialise(settings)
    async with again(settings) as parts:
        yield parts


@asynccontextmanager
async def again(settings):
    service = Service(settings, fatal=fail)
    app = create_app(settings, service)
    await service.start()
    transport = httpx2.ASGITransport(app=app)
    async with httpx2.AsyncClient(transport=transport, base_url="http://test") as client:
        key = service.operators.create("club", settings.mode)[1]
        try:
            yield service, client, key
        finally:
            await service.stop()


async def table_of(client, key, game="kozel", **terms):
    response = await client.post(
        "/v1/tables",
        json={"game": game, "custody": "operator", **terms},
        headers={**bearer(key), **idempotency()},
    )
    assert response.status_code == 201, response.text
    return response.json()


def many(count, make):
    return asyncio.gather(*(make(number) for number in range(count)))


def types(events):
    return Counter(json.loads(event["event"])["type"] for event in events)


async def events_of(client, table):
    return (await client.get(f"/v1/tables/{table}/events")).json()["events"]


def test_equal_requests_make_one_event(settings):
    async def main():
        async with running(settings) as (service, client, key):
            headers = {**bearer(key), **idempotency("one")}
            body = {"game": "kozel", "custody": "operator"}
            made = await many(MANY, lambda _: client.post("/v1/tables", json=body, headers=headers))
            assert len({response.content for response in made}) == 1
            assert service.ledger.size == 1
            opened = made[0].json()
            seats = Seats("kozel", 4, opened["terms"], 1, opened["next_commitment"])
            url = f"/v1/tables/{opened['table']}/hands"
            answers = await many(
                MANY, lambda _: client.post(url, json={"seals": seats.seals}, headers=headers)
            )
            assert {response.status_code for response in answers} == {201}
            assert len({response.content for response in answers}) == 1
            replayed = [r for r in answers if "idempotent-replayed" in r.headers]
            assert len(replayed) == MANY - 1
            assert types(await events_of(client, opened["table"])) == {
                "table.opened": 1,
                "hand.opened": 1,
                "seeds.sealed": 1,
            }

    asyncio.run(main())


def test_conflicting_requests_make_one_event(settings):
    async def main():
        async with running(settings) as (_service, client, key):
            opened = await table_of(client, key)
            url = f"/v1/tables/{opened['table']}/hands"

            def open_hand(_number):
                return client.post(url, json={}, headers={**bearer(key), **idempotency()})

            answers = await many(MANY, open_hand)
            assert Counter(r.status_code for r in answers) == {201: 1, 409: MANY - 1}
            assert {r.json()["code"] for r in answers if r.status_code == 409} == {"hand_open"}

            def seal(number):
                return client.put(
                    f"{url}/1/seats/0/seal",
                    json={"seal": f"{number:02x}" * 32},
                    headers=bearer(key),
                )

            answers = await many(MANY, seal)
            assert Counter(r.status_code for r in answers) == {201: 1, 409: MANY - 1}

            def same(_number):
                return client.put(
                    f"{url}/1/seats/1/seal", json={"seal": "ee" * 32}, headers=bearer(key)
                )

            answers = await many(MANY, same)
            assert Counter(r.status_code for r in answers) == {201: 1, 200: MANY - 1}
            assert types(await events_of(client, opened["table"]))["seeds.sealed"] == 2

    asyncio.run(main())


def test_one_key_with_two_bodies(settings):
    async def main():
        async with running(settings) as (_service, client, key):
            opened = await table_of(client, key)
            url = f"/v1/tables/{opened['table']}/hands"
            headers = {**bearer(key), **idempotency("two")}
            bodies = ({}, {"first": None})
            answers = await many(
                MANY, lambda number: client.post(url, json=bodies[number % 2], headers=headers)
            )
            codes = Counter(r.status_code for r in answers)
            assert codes == {201: MANY // 2, 422: MANY // 2}

    asyncio.run(main())


def test_tables_share_batches(settings):
    async def main():
        async with running(settings) as (service, client, key):
            tables = await many(MANY, lambda _: table_of(client, key))
            assert len({table["table"] for table in tables}) == MANY
            assert service.ledger.size == MANY
            assert service.ledger.batches < MANY // 2
            sizes = {table["receipt"].split("\n")[-5] for table in tables}
            assert len(sizes) == service.ledger.batches

    asyncio.run(main())


def test_a_caller_that_goes_away_leaves_no_trace_in_the_table(settings):
    async def main():
        async with running(settings) as (_service, client, key):
            opened = await table_of(client, key)
            url = f"/v1/tables/{opened['table']}/hands"

            async def impatient():
                task = asyncio.create_task(
                    client.post(url, json={}, headers={**bearer(key), **idempotency()})
                )
                await asyncio.sleep(0.0005)
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)

            for _ in range(20):
                await impatient()
            response = await client.post(url, json={}, headers={**bearer(key), **idempotency()})
            state = (await client.get(f"/v1/tables/{opened['table']}")).json()
            assert response.status_code in (201, 409)
            assert state["hand"] == {"hand": 1, "state": "sealing"}

    asyncio.run(main())


def test_a_long_poll_ends_with_the_event_that_it_waits_for(settings):
    async def main():
        async with running(settings) as (_service, client, key):
            opened = await table_of(client, key)
            url = f"/v1/tables/{opened['table']}"
            waiting = asyncio.create_task(client.get(f"{url}/events?after=0&wait=25"))
            await asyncio.sleep(0.05)
            assert not waiting.done()
            await client.post(f"{url}/hands", json={}, headers={**bearer(key), **idempotency()})
            page = (await asyncio.wait_for(waiting, PATIENCE)).json()
            assert [event["seq"] for event in page["events"]] == [1]

    asyncio.run(main())


def test_a_long_poll_is_not_ended_by_events_that_it_does_not_wait_for(settings):
    """An older event of the table, and one of another hand; control: its own ends it."""

    async def main():
        async with running(settings) as (_service, client, key):
            opened = await table_of(client, key)
            url = f"/v1/tables/{opened['table']}"

            async def post(path):
                answer = await client.post(
                    url + path, json={}, headers={**bearer(key), **idempotency()}
                )
                assert answer.status_code in (200, 201), answer.text

            await post("/hands")
            await post("/hands/1/abort")
            polls = {
                path: asyncio.create_task(client.get(f"{url}{path}"))
                for path in (
                    "/events?after=7&wait=5",
                    "/hands/1/events?after=3&wait=5",
                    "/events?after=4&wait=20",
                )
            }
            await asyncio.sleep(0.05)
            older, other, own = polls.values()
            await post("/hands")
            await asyncio.sleep(0.2)
            assert not older.done()
            assert not other.done()
            assert not own.done()
            await post("/hands/2/abort")
            page = await asyncio.wait_for(own, PATIENCE)
            assert [event["seq"] for event in page.json()["events"]] == [5, 6]
            assert page.headers["etag"] == '"6"'
            assert not older.done()
            for poll in (older, other):
                page = await asyncio.wait_for(poll, PATIENCE)
                assert page.json()["events"] == []
                assert page.headers["etag"] == '"6"'

    asyncio.run(main())


def test_there_is_a_limit_to_long_polls_and_to_requests(settings):
    narrow = settings.model_copy(update={"max_waiting": 4, "max_in_flight": 6})

    async def main():
        async with running(narrow) as (_service, client, key):
            opened = await table_of(client, key)
            url = f"/v1/tables/{opened['table']}/events?after=9&wait=1"
            answers = await many(6, lambda _: client.get(url))
            assert Counter(r.status_code for r in answers) == {200: 4, 429: 2}
            assert all("retry-after" in r.headers for r in answers if r.status_code == 429)

    async def crowded():
        wide = settings.model_copy(
            update={"max_in_flight": 6, "data": settings.data.with_name("other")}
        )
        async with running(wide) as (_service, client, key):
            opened = await table_of(client, key)
            url = f"/v1/tables/{opened['table']}/events?after=9&wait=1"
            answers = await many(9, lambda _: client.get(url))
            assert Counter(r.status_code for r in answers) == {200: 6, 503: 3}
            refused = next(r for r in answers if r.status_code == 503)
            assert refused.headers["retry-after"] == "1"
            assert refused.json()["retryable"] is True

    asyncio.run(main())
    asyncio.run(crowded())


def test_tables_that_do_not_fit_into_memory_are_read_again(settings):
    narrow = settings.model_copy(update={"cached_tables": 2})

    async def main():
        async with running(narrow) as (service, client, key):
            tables = await many(8, lambda _: table_of(client, key))

            async def play(table):
                url = f"/v1/tables/{table['table']}/hands"
                seats = Seats("kozel", 4, table["terms"], 1, table["next_commitment"])

                async def post(path, body):
                    response = await client.post(
                        path, json=body, headers={**bearer(key), **idempotency()}
                    )
                    assert response.status_code in (200, 201), response.text

                await post(url, {"seals": seats.seals})
                await post(f"{url}/1/deal", {"seeds": seats.seeds()})
                cards = await client.get(f"{url}/1/seats/0/cards", headers=bearer(key))
                card = cards.json()["cards"][0]
                action = {
                    "type": "discard",
                    "seat": 0,
                    "cards": [[card["epoch"], card["position"]]],
                }
                await post(f"{url}/1/actions", {"actions": [action]})
                await post(f"{url}/1/close", {})

            await asyncio.gather(*(play(table) for table in tables))
            assert len(service.dealer.slots._slots) <= 3

    asyncio.run(main())


@pytest.mark.parametrize("method", ["put", "post"])
def test_a_body_that_never_comes_is_given_up(settings, method):
    impatient = settings.model_copy(update={"body_seconds": 1})

    async def main():
        async with running(impatient) as (_service, client, key):

            async def slow():
                yield b"{"
                await asyncio.sleep(3600)

            path = "/v1/tables" if method == "post" else "/v1/tables/t/hands/1/seats/0/seal"
            headers = {
                **bearer(key),
                **idempotency(),
                "Content-Type": "application/json",
            }
            response = await asyncio.wait_for(
                client.request(method.upper(), path, content=slow(), headers=headers), PATIENCE
            )
            assert response.status_code == 400

    asyncio.run(main())


def test_a_thread_that_cannot_tidy_up_ends_the_process_and_does_not_just_stop(
    settings, monkeypatch
):
    async def main():
        async with running(settings) as (service, client, key):
            loop = asyncio.get_running_loop()
            end = loop.create_future()

            def ends(error):  # in the ledger's thread
                loop.call_soon_threadsafe(end.set_result, error)

            monkeypatch.setattr(service.ledger, "_fatal", ends)

            def broken():
                raise OSError(5, "the disk is broken")

            monkeypatch.setattr(service.ledger._writer, "tidy", broken)
            await table_of(client, key)  # it was durable before
            assert isinstance(await asyncio.wait_for(end, PATIENCE), OSError)

    asyncio.run(main())


@pytest.mark.parametrize("says", [True, False])
def test_answers_are_written_while_the_disk_has_their_batch(settings, monkeypatch, says):
    """Control: a store that does not say when it waits; they are written when it is done."""

    async def main():
        async with running(settings) as (service, client, key):
            ledger, jobs, early = service.ledger, [], []
            make_batch, commit = ledger._make_batch, ledger._writer.commit

            def watched(entries):
                jobs.append(make_batch(entries))
                return jobs[-1]

            def slow(batch, meanwhile):  # in the ledger's thread
                early.append([entry.answer is not None for entry in jobs[-1].entries])
                commit(batch, meanwhile if says else None)
                until = time.monotonic() + PATIENCE
                while says and jobs[-1].entries[0].answer is None and time.monotonic() < until:
                    time.sleep(0.001)
                early[-1].append(jobs[-1].entries[0].answer is not None)

            monkeypatch.setattr(ledger, "_make_batch", watched)
            monkeypatch.setattr(ledger._writer, "commit", slow)
            opened = await table_of(client, key)
            url = f"/v1/tables/{opened['table']}/hands"
            answer = await client.post(url, json={}, headers={**bearer(key), **idempotency()})
            assert answer.status_code == 201
            assert answer.content == jobs[1].entries[0].answer
            # The answer to a table's opening is kept whole, so it is made before.
            assert early == [[True, True], [False, says]]

    asyncio.run(main())


def test_an_answer_that_cannot_be_written_ends_the_process(settings, monkeypatch):
    """By then its events may be durable: nobody is told anything but what a retry is told."""

    async def main():
        async with running(settings) as (service, client, key):
            opened = await table_of(client, key)
            url = f"/v1/tables/{opened['table']}/hands"
            ended = []
            monkeypatch.setattr(service.ledger, "_fatal", ended.append)

            def broken(*_):
                raise ValueError

            retried = {**bearer(key), **idempotency()}
            with monkeypatch.context() as patch:
                patch.setattr(Parts, "answer", broken)
                asked = asyncio.create_task(client.post(url, json={}, headers=retried))
                while not ended:  # noqa: ASYNC110
                    await asyncio.sleep(0.001)
                done, _ = await asyncio.wait([asked], timeout=0.2)
                assert not done
                asked.cancel()
            assert [type(error) for error in ended] == [ValueError]
        async with again(settings) as (_, client, _key):
            answer = await client.post(url, json={}, headers=retried)
            assert answer.status_code == 201
            assert len(await events_of(client, opened["table"])) == 2

    asyncio.run(main())


class Late:
    """A body that comes when it is let."""

    def __init__(self, value):
        self.parts, self.let = json.dumps(value).encode(), asyncio.Event()

    async def __aiter__(self):
        yield self.parts[:1]
        await self.let.wait()
        yield self.parts[1:]


@pytest.mark.parametrize("reissued", [True, False])
@pytest.mark.parametrize("kind", ["seal", "action"])
def test_a_token_that_dies_while_its_request_comes_is_dead(settings, kind, reissued):
    """Spec: TBL-2. Control: one that lives is obeyed."""

    async def main():
        async with running(settings) as (service, client, key):
            opened = await table_of(client, key, custody="seats")
            code = {"code": opened["claim_codes"]["0"]}
            claimed = await client.post("/v1/seats/claim", json=code, headers=idempotency())
            token = claimed.json()["token"]
            url = f"/v1/tables/{opened['table']}"
            if kind == "seal":
                method, path, late = "PUT", "seats/0/seal", Late({"seal": "5e" * 32})
            else:
                method, path = "POST", "actions"
                late = Late({"actions": [{"type": "show", "seat": 0, "cards": [[0, 0]]}]})
            request = asyncio.create_task(
                client.request(
                    method,
                    f"{url}/hands/1/{path}",
                    content=late,
                    headers={
                        **bearer(token),
                        **idempotency(),
                        "Content-Type": "application/json",
                    },
                )
            )
            await asyncio.sleep(0.05)
            wanted = ["/seats/0/reissue", "/hands"] if reissued else ["/hands"]
            for rest in wanted:
                answer = await client.post(
                    url + rest, json={}, headers={**bearer(key), **idempotency()}
                )
                assert answer.status_code in (200, 201), answer.text
            size = service.ledger.size
            late.let.set()
            answer = await asyncio.wait_for(request, PATIENCE)
            if reissued:
                assert answer.json()["code"] == "credential_unknown"
                assert service.ledger.size == size
            else:
                assert answer.status_code == (201 if kind == "seal" else 409), answer.text

    asyncio.run(main())


@pytest.mark.parametrize("revoked", [True, False])
@pytest.mark.parametrize("kind", ["table", "hand", "seal", "action"])
def test_a_key_that_is_revoked_while_its_request_comes_is_not_obeyed(settings, kind, revoked):
    """Control: one that is not is obeyed."""

    async def main():
        async with running(settings) as (service, client, key):
            url = f"/v1/tables/{(await table_of(client, key))['table']}"
            if kind in ("seal", "action"):
                await client.post(f"{url}/hands", json={}, headers={**bearer(key), **idempotency()})
            act = {"actions": [{"type": "return"}]}
            method, path, body, good = {
                "table": ("POST", "/v1/tables", {"game": "mus", "custody": "operator"}, 201),
                "hand": ("POST", f"{url}/hands", {"first": None}, 201),
                "seal": ("PUT", f"{url}/hands/1/seats/0/seal", {"seal": "5e" * 32}, 201),
                "action": ("POST", f"{url}/hands/1/actions", act, 409),
            }[kind]
            late = Late(body)
            headers = {**bearer(key), **idempotency(), "Content-Type": "application/json"}
            request = asyncio.create_task(
                client.request(method, path, content=late, headers=headers)
            )
            await asyncio.sleep(0.05)
            if revoked:
                for one in service.operators.all():
                    assert service.operators.revoke(one.id)
                service.operators.refresh()  # as each second
            size = service.ledger.size
            late.let.set()
            answer = await asyncio.wait_for(request, PATIENCE)
            if revoked:
                assert (answer.status_code, answer.json()["code"]) == (401, "credential_unknown")
                assert service.ledger.size == size
            else:
                assert answer.status_code == good, answer.text

    asyncio.run(main())
