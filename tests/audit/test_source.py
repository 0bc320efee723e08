"""A host that answers without an end: what is asked of it ends all the same. Spec: AUD-1."""

from __future__ import annotations

import itertools
import time
import tracemalloc
from contextlib import suppress
from http.client import HTTPException
from urllib.request import urlopen

import pytest

from fairdeal_audit import source
from fairdeal_audit.source import HttpSource
from fairdeal_audit.tiles import IncompleteError
from tests.audit.hosts import Hosts, byte_by_byte

HEAD = b"HTTP/1.1 200 OK\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
ENOUGH = 3
"""Seconds in which a source that gives up in half of one has given up, and another has not."""


ENDLESS = {
    "a head": lambda: byte_by_byte(HEAD + b"A: b"),
    "a body": lambda: byte_by_byte(HEAD + b"Content-Length: 1000\r\n\r\nab"),
    "the size of a chunk": lambda: byte_by_byte(CHUNKED + b"0"),
    "heads before the head": lambda: itertools.repeat(b"HTTP/1.1 100 Continue\r\n\r\n"),
    "trailers": lambda: itertools.chain(
        (CHUNKED, b"1\r\na\r\n0\r\n"), itertools.repeat(b"A: b\r\n")
    ),
}
CONTENT = {
    "what is asked for": HEAD + b"Content-Length: 2\r\n\r\nab",
    "chunks": CHUNKED + b"1\r\na\r\n1\r\nb\r\n0\r\n\r\n",
}


@pytest.fixture
def serve():
    hosts = Hosts()
    yield hosts
    hosts.stop()


@pytest.fixture
def hurried(monkeypatch):
    """Half a second for four attempts."""
    monkeypatch.setattr(source, "_SECONDS", 0.12)


@pytest.mark.parametrize("name", CONTENT)
def test_control_an_answer_that_ends(name, serve):
    assert HttpSource(serve(lambda: [CONTENT[name]]), 0).read("checkpoint", 100) == b"ab"


@pytest.mark.parametrize("name", ENDLESS)
def test_an_answer_without_an_end(name, serve, hurried):
    url = serve(ENDLESS[name])
    with pytest.raises(IncompleteError, match="does not answer"):
        HttpSource(url, 0).read("checkpoint", 100)


@pytest.fixture(scope="module")
def ended():
    """Which of them urllib has come to an end of after so long, all asked at once."""
    found = set()
    hosts = Hosts()

    def read(name, url):
        # More patient than ours is above: they share a machine, and must not seem silent.
        with suppress(OSError, HTTPException), urlopen(url, timeout=ENOUGH / 2) as answer:
            answer.read()
        found.add(name)

    read("one that ends", hosts(lambda: [CONTENT["chunks"]]))
    for name, make in ENDLESS.items():
        hosts.start(read, name, hosts(make))
    time.sleep(ENOUGH)
    yield frozenset(found)
    hosts.stop()


@pytest.mark.parametrize("name", ENDLESS)
def test_control_urllib_waits_on(name, ended):
    """It knows only of silence, and none of these is silent."""
    assert "one that ends" in ended
    assert name not in ended


def leading(place, body):
    """A redirect with so many bytes below it."""
    text = f"HTTP/1.1 302 Found\r\nLocation: {place}\r\nContent-Length: {body}\r\n\r\n"
    return itertools.chain((text.encode(),), itertools.repeat(b"x" * 4096, body // 4096))


@pytest.mark.parametrize(("get", "is_small"), [(HttpSource.read, True), (None, False)])
def test_a_redirect_with_a_long_body(get, is_small, serve):
    """All of it is read by urllib, which needs none of it; the control is urllib by itself."""
    goal = serve(lambda: [CONTENT["what is asked for"]])
    url = serve(lambda: leading(goal, 64 * 2**20))
    tracemalloc.start()
    if get is None:
        with urlopen(url) as answer:
            assert answer.read() == b"ab"
    else:
        assert get(HttpSource(url), "checkpoint", 100) == b"ab"
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (peak < 4 * 2**20) == is_small, peak


@pytest.mark.parametrize("place", ["ftp://127.0.0.1/a", "file:///etc/hostname", "data:,ab"])
def test_a_redirect_to_something_else(place, serve):
    with pytest.raises(IncompleteError):
        HttpSource(serve(lambda: leading(place, 0)), 0).read("checkpoint", 100)


def test_what_it_says_cannot_speak_to_a_terminal(serve):
    url = serve(lambda: [b"\x1b]0;guilty\x07\r\n\r\n"])
    with pytest.raises(IncompleteError) as error:
        HttpSource(url, 0).read("checkpoint", 100)
    assert "guilty" in str(error.value)
    assert str(error.value).isprintable()
