"""When a connection is given up, on a clock of our own; real ones are in `tests/faults`."""

from __future__ import annotations

import asyncio
import gc
import socket
import threading
from contextlib import contextmanager
from types import SimpleNamespace

import httpx2
import pytest
import uvicorn
import uvloop
from uvicorn.protocols.http.httptools_impl import RequestResponseCycle

from fairdeal_api import system
from fairdeal_api.app import create_app
from fairdeal_api.connections import (
    CONNECTION,
    IDLE_SECONDS,
    QuietConnections,
    WatchedProtocol,
)
from fairdeal_api.server import config_of
from fairdeal_api.service import initialise
from fairdeal_api.system import listen

PATIENCE = 10


class Connection:
    """What the sweep looks at."""

    answered = WatchedProtocol.answered
    left = WatchedProtocol.left

    def __init__(self):
        self.cycle = None
        self.buffered = 0
        self.aborted = False
        self.transport = SimpleNamespace(
            abort=self._abort, get_write_buffer_size=lambda: self.buffered
        )

    def _abort(self):
        self.aborted = True

    def ask(self):
        self.cycle = SimpleNamespace(response_complete=False)

    def answer(self, left=0):
        self.cycle.response_complete = True
        self.buffered = left


@pytest.fixture
def clock(monkeypatch):
    now = SimpleNamespace(ms=0)
    monkeypatch.setattr(system, "monotonic", lambda: now.ms)
    return now


@pytest.fixture
def quiet(clock):
    quiet = QuietConnections(PATIENCE)

    def wait(seconds):
        """Sweep as often as the service does."""
        for _ in range(4 * seconds):
            clock.ms += 250
            quiet.sweep()

    quiet.wait = wait
    return quiet


@pytest.fixture
def connection(quiet):
    connection = Connection()
    quiet.begin(connection)
    return connection


def test_the_first_head_has_its_time(quiet, connection):
    quiet.wait(PATIENCE - 1)
    assert not connection.aborted
    quiet.wait(2)
    assert connection.aborted


def test_a_request_under_way_has_all_the_time_it_needs(quiet, connection):
    connection.ask()
    quiet.wait(1000)
    assert not connection.aborted


def test_between_two_requests_silence_is_allowed(quiet, connection):
    for _ in range(5):
        connection.ask()
        connection.answer()
        quiet.wait(IDLE_SECONDS + PATIENCE - 1)
        assert not connection.aborted
    quiet.wait(2)
    assert connection.aborted


def test_who_takes_an_answer_slowly_gets_all_of_it(quiet, connection):
    connection.ask()
    connection.answer(left=100_000)
    for _ in range(99):
        connection.buffered -= 1000
        quiet.wait(PATIENCE)
    assert not connection.aborted
    connection.buffered = 0
    quiet.wait(2 * PATIENCE + 1)
    assert connection.aborted


def test_who_takes_nothing_of_it_is_given_up(quiet, connection):
    connection.ask()
    connection.answer(left=100_000)
    quiet.wait(IDLE_SECONDS + PATIENCE + 1)
    assert connection.aborted


@contextmanager
def served(app):
    """An application behind real connections, in this process."""
    listening = listen("127.0.0.1", 0)
    server = uvicorn.Server(config_of(app, QuietConnections(PATIENCE)))
    thread = threading.Thread(target=lambda: uvloop.run(server.serve(sockets=[listening])))
    thread.start()
    try:
        with httpx2.Client(base_url=f"http://127.0.0.1:{listening.getsockname()[1]}") as client:
            yield client
    finally:
        server.should_exit = True
        thread.join(60)


def collected(client):
    """What of ten requests only the collector of cycles has found; the connection has one more."""
    gc.collect()
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        statuses = {client.get("/healthz").status_code for _ in range(11)}
        gc.collect()
        return statuses, sum(isinstance(one, RequestResponseCycle) for one in gc.garbage)
    finally:
        gc.set_debug(0)
        gc.garbage.clear()


def test_nothing_of_a_request_waits_for_the_collector(settings):
    """Memory that is free at once is used again while it is in the processor's cache."""

    async def keeps_it(scope, receive, send):
        if scope["type"] == "http":
            scope["kept"] = send
            await scope[CONNECTION].answer(200, [(b"content-length", b"0")], b"")

    initialise(settings)
    with served(create_app(settings)) as client:
        assert collected(client) == ({200}, 0)
    with served(keeps_it) as client:  # control
        statuses, found = collected(client)
        assert statuses == {200}
        assert found >= 10


def test_a_line_break_in_a_header_is_not_sent():
    """No caller's text gets so far; if it did, it would be two headers, or two answers."""

    async def unsafe(scope, receive, send):
        if scope["type"] != "http":
            return
        value = bytes.fromhex(scope["path"][1:])
        await scope[CONNECTION].answer(204, [(b"x-value", value)], b"")

    with served(unsafe) as client:
        assert client.get("/6120620909").headers["x-value"] == "a b"
        for value in (b"a\r\nset-cookie: a", b"a\nb", b"a\rb"):
            answer = client.get("/" + value.hex())
            assert answer.status_code == 500
            assert "x-value" not in answer.headers
        assert client.get("/61").headers["x-value"] == "a"


def test_who_has_gone_before_the_answer_is_no_error(caplog):
    """Of some requests in a row, uvicorn says so of the newest only. Control: a fault is told."""
    known = []

    async def app(scope, receive, send):
        if scope["type"] != "http":
            return
        if scope["path"] == "/fails":
            raise ValueError
        connection = scope[CONNECTION]
        if scope["path"] == "/late":
            while not connection.cycle.disconnected:  # noqa: ASYNC110 - its own flag
                await asyncio.sleep(0.001)
            known.append(connection._asked.disconnected)
        await connection.answer(204, [], b"")

    with served(app) as client:
        address = (client.base_url.host, client.base_url.port)
        with socket.create_connection(address, 10) as connection:
            # In one piece: while a request waits in the row, uvicorn reads no more, and no end.
            paths = (b"/", b"/late", b"/")
            connection.sendall(b"".join(b"GET %b HTTP/1.1\r\nHost: x\r\n\r\n" % p for p in paths))
            connection.shutdown(socket.SHUT_WR)
            assert connection.recv(4096).startswith(b"HTTP/1.1 204 ")
            assert connection.recv(4096) == b""
        assert client.get("/fails").status_code == 500
    assert known == [False]
    assert caplog.messages == ["Exception in ASGI application\n"]
