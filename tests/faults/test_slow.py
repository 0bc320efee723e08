"""Sockets that send a request slowly, or never to its end, take nothing from anybody else."""

from __future__ import annotations

import select
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest

from tests.faults.site import Site

SLOW = 400
HEAD = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n"
WHOLE = HEAD + b"\r\n"


@contextmanager
def connections(port: int, count: int) -> Iterator[list[socket.socket]]:
    with ExitStack() as stack:
        yield [
            stack.enter_context(socket.create_connection(("127.0.0.1", port), 60))
            for _ in range(count)
        ]


def closed(found: list[socket.socket]) -> int:
    """How many of them the service has closed."""
    readable, _, _ = select.select(found, [], [], 0)
    gone = 0
    for connection in readable:
        try:
            gone += not connection.recv(65_536)
        except ConnectionError:
            gone += 1
    return gone


def trickle(site: Site, found: list[socket.socket], seconds: float) -> int:
    """Send a little now and then for so long, beside honest requests; how many were closed."""
    end, open_still = time.monotonic() + seconds, list(found)
    while open_still and time.monotonic() < end:
        for connection in open_still:
            try:
                connection.send(b"X-Slow: 1\r\n")
            except ConnectionError:
                connection.close()
        open_still = [one for one in open_still if one.fileno() >= 0 and not closed([one])]
        with site.wire() as wire:
            assert wire.ask("GET", "/healthz").status == 200
        time.sleep(0.1)
    return len(found) - len(open_still)


def test_slow_heads_are_given_up_and_nobody_else_waits(site: Site) -> None:
    site.environment["FAIRDEAL_HEAD_SECONDS"] = "1"
    port = site.start(init=True)
    with connections(port, SLOW) as silent, connections(port, SLOW) as slow:
        for connection in slow:
            connection.sendall(HEAD)
        assert trickle(site, slow, 60) == SLOW
        assert closed(silent) == SLOW


def test_control_with_a_long_patience_they_stay(site: Site) -> None:
    site.environment["FAIRDEAL_HEAD_SECONDS"] = "600"
    port = site.start(init=True)
    with connections(port, 20) as slow:
        for connection in slow:
            connection.sendall(HEAD)
        assert trickle(site, slow, 2) == 0


def test_a_head_without_end_is_cut_off(site: Site) -> None:
    port = site.start(init=True)
    with connections(port, 1) as (connection,):
        connection.sendall(HEAD)
        with pytest.raises(ConnectionError):
            _send_without_end(connection)


def _send_without_end(connection: socket.socket) -> None:
    for _ in range(1000):
        connection.sendall(b"X-Long: " + b"a" * 4096 + b"\r\n")
        time.sleep(0.001)


def test_the_second_request_of_a_connection_has_a_time_as_well(site: Site) -> None:
    site.environment["FAIRDEAL_HEAD_SECONDS"] = "3"
    port = site.start(init=True)
    with connections(port, 1) as (connection,):
        # Alone, two in one piece, and one in two pieces: none of them is late.
        for pieces in ([WHOLE], [WHOLE + WHOLE], [HEAD, b"\r\n"]):
            for piece in pieces:
                connection.sendall(piece)
                time.sleep(0.2)
            answers = b"".join(pieces).count(b"GET ")
            assert connection.recv(65_536).count(b"200 OK") == answers
        time.sleep(4)  # silence between requests is allowed for longer
        connection.sendall(WHOLE)
        assert b"200 OK" in connection.recv(65_536)


def test_a_long_poll_is_not_a_slow_head(site: Site) -> None:
    site.environment["FAIRDEAL_HEAD_SECONDS"] = "1"
    port = site.start(init=True)
    key = site.operator_key("slow")
    with site.wire() as wire:
        made = wire.ask(
            "POST", "/v1/tables", {"game": "mus", "custody": "operator"}, bearer=key, key="a"
        )
        path = f"/v1/tables/{made.json()['table']}/events?after=0&wait=3"
        started = time.monotonic()
        with connections(port, 1) as (connection,):
            request = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode()
            # The second waits in line behind the first, its head received.
            connection.sendall(request + WHOLE)
            got = connection.recv(65_536)
            assert b"200 OK" in got
            assert time.monotonic() - started > 2.5


def test_a_body_that_nobody_waited_for_is_not_a_head(site: Site) -> None:
    """Answered by its head alone; what still comes of it counts for nothing."""
    site.start(init=True)
    body = b"x" * 100_000
    with site.wire() as wire:
        wire.send(
            b"POST /v1/tables HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: %d\r\n\r\n" % len(body)
        )
        assert wire.receive().status == 401
        for at in range(0, len(body), 10_000):
            wire.send(body[at : at + 10_000])
            time.sleep(0.01)
        wire.send(WHOLE)
        assert wire.receive().status == 200


GREEDY = 30
PAGE = b"GET /verify HTTP/1.1\r\nHost: 127.0.0.1\r\n"
MANY_PAGES = (PAGE + b"\r\n") * 60


def test_answers_that_nobody_takes_hold_up_nobody(site: Site) -> None:
    """`max_in_flight` counts requests at work, not answers under way."""
    site.environment["FAIRDEAL_MAX_IN_FLIGHT"] = str(GREEDY - 5)
    port = site.start(init=True)
    with connections(port, GREEDY) as greedy:
        for connection in greedy:
            connection.sendall(MANY_PAGES)
        time.sleep(1)
        for _ in range(20):
            with site.wire() as wire:
                assert wire.ask("GET", "/healthz").status == 200
        # Whoever reads gets all of them, late as it is, and goes on.
        for connection in greedy[:2]:
            assert _read(connection, MANY_PAGES.count(b"GET")) == MANY_PAGES.count(b"GET")
            connection.sendall(PAGE + b"Connection: close\r\n\r\n")
            assert _read(connection) == 1


BODY = (
    b"POST /v1/seats/claim HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    b"Idempotency-Key: a\r\nContent-Length: 30\r\n\r\n"
)


def test_bodies_that_do_not_come_hold_up_nobody(site: Site) -> None:
    site.environment["FAIRDEAL_MAX_IN_FLIGHT"] = str(GREEDY - 5)
    site.environment["FAIRDEAL_BODY_SECONDS"] = "600"
    port = site.start(init=True)
    with connections(port, GREEDY) as slow:
        for connection in slow:
            connection.sendall(BODY)
        time.sleep(0.5)
        for _ in range(20):
            with site.wire() as wire:
                assert wire.ask("GET", "/healthz").status == 200
                # One of the slow ones makes room for it.
                assert wire.ask("POST", "/v1/tables", {}, key="a").status == 401
                assert wire.ask("POST", "/v1/seats/claim", {"code": "no"}, key="a").status < 500
        assert 5 <= closed_or_answered(slow) < GREEDY


def closed_or_answered(found: list[socket.socket]) -> int:
    readable, _, _ = select.select(found, [], [], 0)
    return len(readable)


def _read(connection: socket.socket, answers: int = 2) -> int:
    """How many whole answers come, up to so many, before the connection ends."""
    connection.settimeout(60)
    got = b""
    while got.count(b"</html>") < answers and (chunk := connection.recv(1 << 20)):
        got += chunk
    return min(got.count(b"</html>"), got.count(b"HTTP/1.1 200 OK"))
