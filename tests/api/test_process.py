"""The service as a process: it listens, survives a kill, stops when told, and keeps silent."""

from __future__ import annotations

import json
import logging
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import closing, contextmanager, suppress

import httpx2

from fairdeal_api.credentials import OperatorKeys
from fairdeal_api.logging import tame_libraries
from tests.api.play import Operator, bearer, expect, idempotency


@contextmanager
def serving(data, *more):
    log = (data.parent / "stderr.log").open("a")
    process = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "fairdeal_api",
            "serve",
            "--init",
            "--data",
            str(data),
            "--port",
            "0",
            *more,
        ],
        stdout=subprocess.PIPE,
        stderr=log,
        text=True,
    )
    try:
        line = process.stdout.readline()
        assert line.startswith("listening on http://127.0.0.1:"), line
        with httpx2.Client(base_url=line.split()[-1], timeout=60) as client:
            yield process, client
    finally:
        process.kill()
        process.wait(60)
        process.stdout.close()
        log.close()


def new_key(data):
    """Made beside the service, as the command does."""
    with closing(OperatorKeys(data / "operators.db")) as keys:
        return keys.create("club", "live")[1]


def test_killed_and_started_again_nothing_is_lost(tmp_path):
    """Spec: LOG-6."""
    data = tmp_path / "data"
    with serving(data) as (process, client):
        key = new_key(data)
        table = Operator(client, key, "mus")
        opened = table.open()
        process.send_signal(signal.SIGKILL)
        process.wait(60)
    with serving(data) as (process, client):
        table.client = client
        state = table.state()
        assert state["state"] == "opening"
        assert state["sealed_head"] == opened["sealed_head"]
        table.deal()
        table.close()
        events = expect(client.get(f"/v1/tables/{table.table}/events"))["events"]
        assert events[1]["event"] == opened["events"][0]["event"]


def test_told_to_stop_it_stops_although_somebody_waits(tmp_path):
    data = tmp_path / "data"
    with serving(data, "--metrics-port", "0") as (process, client):
        key = new_key(data)
        table = Operator(client, key, "mus")
        url = f"/v1/tables/{table.table}/events?after=5&wait=25"
        waiting = threading.Thread(target=lambda: client.get(url))
        started = time.monotonic()
        waiting.start()
        time.sleep(0.3)
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == -signal.SIGTERM  # which systemd takes for a clean end
        assert time.monotonic() - started < 25  # in which the answer would have come by itself
        waiting.join(60)


def test_the_log_of_the_process_says_nothing_secret(tmp_path):
    data = tmp_path / "data"
    with serving(data) as (_process, client):
        key = new_key(data)
        table = Operator(client, key, "kozel")
        table.open()
        dealt = table.deal()
        secret = "5e" * 32
        bad = client.post(
            table.url("/actions") + f"?seed={secret}",
            content=f'{{"actions": "{secret}"',
            headers={**bearer(key), **idempotency(), "Content-Type": "application/json"},
        )
        assert bad.status_code == 400
        table.close()
        client.get(f"/{secret}")
    text = (tmp_path / "stderr.log").read_text()
    assert "service.started" in text
    for word in (key, secret, dealt["cards"]["0"][0]["salt"], table.secrets.seeds()["0"]):
        assert word not in text


def test_pipelined_and_split_requests(tmp_path):
    with serving(tmp_path / "data") as (_process, client):
        host, port = client.base_url.host, client.base_url.port
        with socket.create_connection((host, port), 60) as connection:
            request = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
            connection.sendall(request * 3)
            connection.sendall(request[:10])
            time.sleep(0.1)
            connection.sendall(request[10:])
            received = b""
            while received.count(b'{"status":"ok"}') < 4:
                chunk = connection.recv(65536)
                assert chunk
                received += chunk


def test_the_last_answer_of_a_connection_says_so(tmp_path):
    """And a HEAD has the head of a GET, which is all of it."""
    with serving(tmp_path / "data") as (_process, client):

        def lines(request):
            answer = sent(client, request.encode())  # until the service has closed it, or we have
            head, _, body = answer.partition(b"\r\n\r\n")
            found = head.decode().split("\r\n")
            return [one for one in found if not one.startswith(("x-request-id", "date"))], body

        ask = "{} /v1/games HTTP/1.{}\r\nHost: x\r\n{}\r\n"
        open_still, body = lines(ask.format("GET", 1, ""))
        assert open_still[0] == "HTTP/1.1 200 OK"
        assert f"content-length: {len(body)}" in open_still
        assert lines(ask.format("HEAD", 1, "")) == (open_still, b"")
        last = ([*open_still, "connection: close"], body)
        assert lines(ask.format("GET", 1, "Connection: close\r\n")) == last
        assert lines(ask.format("GET", 0, "")) == last
        # What comes after it gets no answer.
        assert lines(ask.format("GET", 0, "") + ask.format("GET", 1, "")) == last


UPGRADE = (
    b"GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    b"Sec-WebSocket-Key: abc\r\nSec-WebSocket-Version: 13\r\n\r\n"
)
NO_HTTP = b"\x16\x03\x01 no HTTP\r\n\r\n"


def test_what_is_no_request_of_ours_leaves_no_line_in_the_log(tmp_path):
    data = tmp_path / "data"
    with serving(data) as (_process, client):
        statuses = []
        for strange in (UPGRADE, NO_HTTP):
            address = (client.base_url.host, client.base_url.port)
            with socket.create_connection(address, 10) as connection:
                connection.sendall(strange)
                statuses.append(connection.recv(4096).split(b" ")[1])
        assert statuses == [b"200", b"400"]
        expect(client.get("/healthz"))
    lines = (tmp_path / "stderr.log").read_text().splitlines()
    assert [json.loads(line)["event"] for line in lines] == ["service.started", "service.listening"]


def test_a_library_that_fails_says_no_word_of_why(capsys):
    secret = "5e" * 32
    logger = logging.getLogger("uvicorn.error")
    control = logging.Handler()
    heard = []
    control.emit = lambda record: heard.append(record.getMessage())
    logger.addHandler(control)
    handlers = list(logging.root.handlers)
    tame_libraries()
    try:
        logger.warning("Invalid request %s", secret)
        try:
            raise KeyError(secret)
        except KeyError:
            logger.exception("It had %s in it", secret)
        logger.error("Only %s", secret)
    finally:
        logger.removeHandler(control)
        logging.root.handlers[:] = handlers
    assert [secret in text for text in heard] == [True, True, True]  # it was there to be written
    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert [line["error"] for line in lines] == ["KeyError", None]
    assert all(secret not in str(line) for line in lines)


def head_of(table, key, body, *more):
    """The head of a request that opens a hand."""
    lines = [
        f"POST /v1/tables/{table.table}/hands HTTP/1.1",
        "Host: x",
        f"Authorization: Bearer {table.key}",
        f"Idempotency-Key: {key}",
        "Content-Type: application/json",
        f"Content-Length: {len(body)}",
        *more,
    ]
    return "\r\n".join([*lines, "", ""]).encode()


def sent(client, *parts):
    """What comes of these bytes, each on its way before the next, and of the end after them."""
    received = b""
    # Where the service has ended the connection there is nothing more to send or to read.
    with (
        socket.create_connection((client.base_url.host, client.base_url.port), 60) as connection,
        suppress(ConnectionError, OSError),
    ):
        for part in parts:
            connection.sendall(part)
            time.sleep(0.2)
        with suppress(OSError):
            connection.shutdown(socket.SHUT_WR)
        while chunk := connection.recv(65536):
            received += chunk
    return received


def test_a_request_that_is_cut_off_does_nothing(tmp_path):
    """Wherever the connection breaks. Control: the whole of it, under the same key."""
    with serving(tmp_path / "data") as (_process, client):
        key = new_key(tmp_path / "data")
        table = Operator(client, key, "kozel")
        body = json.dumps(table.hand_body()).encode()
        head = head_of(table, "one", body)
        url = f"/v1/tables/{table.table}"
        for size in (len(head) // 2, len(head), len(head) + 1, len(head + body) - 1):
            sent(client, (head + body)[:size])
            assert expect(client.get(url))["hand"] is None
        assert sent(client, head + body).startswith(b"HTTP/1.1 201 ")
        assert expect(client.get(url))["hand"] == {"hand": 1, "state": "opening"}


def test_a_long_poll_whose_caller_has_gone_takes_no_place(tmp_path, monkeypatch):
    """Control: those who are still there take all places."""
    monkeypatch.setenv("FAIRDEAL_MAX_WAITING", "3")
    with serving(tmp_path / "data") as (_process, client):
        table = Operator(client, new_key(tmp_path / "data"), "kozel")
        path = f"/v1/tables/{table.table}/events?after=5"
        poll = f"GET {path}&wait=25 HTTP/1.1\r\nHost: x\r\n\r\n".encode()
        address = (client.base_url.host, client.base_url.port)
        waiting = [socket.create_connection(address, 60) for _ in range(3)]
        for connection in waiting:
            connection.sendall(poll)
        time.sleep(0.3)
        expect(client.get(f"{path}&wait=1"), 429, "rate_limited")
        for connection in waiting:
            connection.close()
        time.sleep(0.3)
        assert expect(client.get(f"{path}&wait=1"))["events"] == []


ANOTHER = ("Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAMAAABk")


def test_no_body_is_lost_before_another_protocol(tmp_path):
    """`curl --http2` asks so. The parser would skip the body, or read it as a request."""
    with serving(tmp_path / "data") as (_process, client):
        table = Operator(client, new_key(tmp_path / "data"), "kozel")
        for body in (json.dumps(table.hand_body()).encode(), b"GET /healthz HTTP/1.1\r\n\r\n"):
            for parts in (1, 2):
                head = head_of(table, "two", body, *ANOTHER)
                answer = sent(client, *([head + body] if parts == 1 else [head, body]))
                assert answer.startswith(b"HTTP/1.1 400 ")
                assert answer.count(b"HTTP/1.1 ") == 1
        assert expect(client.get(f"/v1/tables/{table.table}"))["hand"] is None
        # Without a body it is answered as it is, which RFC 9110 allows.
        request = "\r\n".join(["GET /healthz HTTP/1.1", "Host: x", *ANOTHER, "", ""])
        assert sent(client, request.encode()).startswith(b"HTTP/1.1 200 ")


def test_what_is_no_http_is_refused_in_its_place(tmp_path):
    """A refusal is never taken for the answer to another request, which may be done.

    Control: alone, the same bytes get it.
    """
    with serving(tmp_path / "data", "--metrics-port", "0") as (_process, client):
        table = Operator(client, new_key(tmp_path / "data"), "kozel")
        body = json.dumps(table.hand_body()).encode()
        good = head_of(table, "one", body) + body
        chunked = good.replace(b"Content-Length: %d" % len(body), b"Transfer-Encoding: chunked")
        bad_body = chunked.removesuffix(body) + b"no size\r\n\r\n"
        too_large = head_of(table, "two", b"x" * 70_000)
        ok = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"

        def codes(received):
            """Of each answer on a connection; of one that is no problem, its status."""
            found = []
            while received:
                head, _, received = received.partition(b"\r\n\r\n")
                fields = dict(line.lower().split(": ") for line in head.decode().split("\r\n")[1:])
                size = int(fields["content-length"])
                text, received = received[:size], received[size:]
                value = json.loads(text)
                if fields["content-type"] == "application/problem+json":
                    assert value["instance"].endswith(fields["x-request-id"])
                found.append(value.get("code") or int(head.split()[1]))
            return found

        assert codes(sent(client, NO_HTTP)) == ["malformed_http"]
        assert codes(sent(client, bad_body)) == ["malformed_http"]
        assert expect(client.get(f"/v1/tables/{table.table}"))["hand"] is None
        assert codes(sent(client, ok + NO_HTTP)) == [200]
        assert codes(sent(client, ok, NO_HTTP)) == [200, "malformed_http"]
        # One that waits behind others is refused after they have their answers.
        assert codes(sent(client, ok + bad_body)) == [200, "malformed_http"]
        assert codes(sent(client, ok + bad_body, NO_HTTP)) == [200, "malformed_http"]
        assert codes(sent(client, ok * 2 + bad_body + ok)) == [200, 200, "malformed_http"]
        slow = f"GET /v1/tables/{table.table}/events?after=5&wait=1 HTTP/1.1\r\nHost: x\r\n\r\n"
        received = codes(sent(client, slow.encode() + bad_body, b"more", b"yet more", *[b""] * 10))
        assert received == [200, "malformed_http"]
        assert codes(sent(client, ok, bad_body)) == [200, "malformed_http"]
        # This one has its answer before its body, and gets no second one.
        large = too_large.replace(b"Content-Length: 70000", b"Transfer-Encoding: chunked")
        received = sent(client, large + b"11000\r\n" + b"x" * 0x11000, b"no end\r\n\r\n")
        assert codes(received) == ["body_too_large"]
        assert codes(sent(client, good + NO_HTTP)) == [201]
        assert expect(client.get(f"/v1/tables/{table.table}"))["hand"]["hand"] == 1
