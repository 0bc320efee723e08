"""When a connection is given up, on a clock of our own; real ones are in `tests/faults`."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from fairdeal_api import system
from fairdeal_api.connections import IDLE_SECONDS, QuietConnections, WatchedProtocol

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
