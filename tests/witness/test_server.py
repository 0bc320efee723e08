"""Our own witness: each status of C2SP tlog-witness, and that it never forgets. Spec: WIT-3..5."""

from __future__ import annotations

import contextlib
import json
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time

import httpx2
import pytest
from starlette.testclient import TestClient
from typer.testing import CliRunner

from fairdeal.errors import FormatError
from fairdeal.log.cosignature import WitnessKey
from fairdeal.log.note import SigningKey
from fairdeal.log.witness import MAX_BODY, Submission
from fairdeal_api import system
from fairdeal_api.cli import app
from fairdeal_api.system import StartRefused
from fairdeal_api.witnessing import memory, server
from fairdeal_api.witnessing.memory import Memory, initialise
from fairdeal_api.witnessing.server import WitnessApp
from seeds.local import named
from tests.witness.stand import OneLog, wait_until

LOG = OneLog()


@pytest.fixture
def folder(tmp_path):
    initialise(tmp_path / "witness", "witness.example/w1")
    return tmp_path / "witness"


@pytest.fixture
def opened(folder):
    opened = Memory(folder, [LOG.key.verifier])
    yield opened
    opened.close()


@pytest.fixture
def post(opened):
    client = TestClient(WitnessApp(opened))
    return lambda body: client.post("/add-checkpoint", content=body)


def test_200_gives_a_cosignature_of_now(post, opened):
    answer = post(LOG.ask(0, 5))
    assert answer.status_code == 200
    found = opened.key.verifier.find(LOG.head(5), answer.text)
    assert abs(found.time - memory.system.wall_clock() // 1000) < 60
    assert answer.text == found.line
    assert post(LOG.ask(5, 9)).status_code == 200
    assert post(LOG.ask(9, 9)).status_code == 200  # the same head again, with a new time
    assert opened.held(LOG.key.name) == 9


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"old 5",
        LOG.ask(5, 9).replace(b"old 5", b"old 05"),
        LOG.ask(5, 9) + b"x" * MAX_BODY,
        LOG.ask(5, 9).replace(b"\n\n", b"\n"),
        Submission(9, (), LOG.head(5).sign(LOG.key)).encode(),
    ],
    ids=["empty", "cut", "zero", "long", "no checkpoint", "old above size"],
)
def test_400(post, opened, body):
    post(LOG.ask(0, 5))
    assert post(body).status_code == 400
    assert opened.held(LOG.key.name) == 5


def test_404_for_a_log_that_is_not_known(post):
    assert post(OneLog("other.example/log").ask(0, 5)).status_code == 404


def test_403_for_another_key_and_for_another_head_s_signature(post):
    assert post(OneLog(secret=b"another").ask(0, 5)).status_code == 403
    note = LOG.head(5).text() + "\n" + LOG.head(4).sign(LOG.key).split("\n\n")[1]
    assert post(Submission(0, (), note).encode()).status_code == 403


def test_409_names_the_size_that_is_held(post):
    post(LOG.ask(0, 5))
    for old, size in ((0, 9), (4, 9), (4, 4), (0, 0)):
        answer = post(LOG.ask(old, size))
        assert answer.status_code == 409
        assert answer.headers["content-type"] == "text/x.tlog.size"
        assert answer.text == "5\n"


def test_409_for_another_root_of_the_size_held(post):
    post(LOG.ask(0, 5))
    other = Submission(5, (), LOG.head(5, bytes(32)).sign(LOG.key)).encode()
    answer = post(other)
    assert (answer.status_code, answer.text) == (409, "5\n")


def test_422_for_a_proof_that_does_not_lead_there(post, opened):
    post(LOG.ask(0, 5))
    proof = LOG.proof(5, 9)
    for path, head in (
        (proof[:-1], LOG.head(9)),
        ((), LOG.head(9)),
        (proof, LOG.head(9, bytes(32))),
        (proof, LOG.head(5)),
    ):
        body = Submission(5, path, head.sign(LOG.key)).encode()
        assert post(body).status_code == 422
    assert opened.held(LOG.key.name) == 5


def test_422_for_a_proof_from_nothing(post):
    body = Submission(0, LOG.proof(5, 9), LOG.head(9).sign(LOG.key)).encode()
    assert post(body).status_code == 422


def test_404_and_405_elsewhere(opened):
    client = TestClient(WitnessApp(opened))
    assert client.post("/", content=LOG.ask(0, 5)).status_code == 404
    assert client.get("/add-checkpoint").status_code == 405


# --- a log whose key changes --------------------------------------------------------------------


def test_the_old_key_signs_nothing_once_the_new_one_has_signed(folder):
    """WIT-11."""
    new = SigningKey(LOG.key.name, named("the second key"))

    def ask(old: int, size: int, key: SigningKey) -> bytes:
        proof = tuple(LOG.tree.consistency_path(old, size)) if old and old < size else ()
        return Submission(old, proof, LOG.head(size).sign(key)).encode()

    logs = [LOG.key.verifier, new.verifier]
    for keys in ([LOG.key.verifier], logs):
        opened = Memory(folder, keys)
        # Nobody has said yet that the key has changed: the old one goes on.
        assert opened.answer(ask(opened.held(LOG.key.name), 5, LOG.key), 1)[0].status == 200
        if keys is not logs:
            assert opened.answer(ask(5, 9, new), 1)[0].status == 403
        opened.close()
    opened = Memory(folder, logs)
    assert opened.answer(ask(5, 9, new), 1)[0].status == 200
    assert opened.answer(ask(9, 200, LOG.key), 1)[0].status == 403
    opened.close()
    opened = Memory(folder, logs)  # and after a start as well
    assert opened.answer(ask(9, 200, LOG.key), 1)[0].status == 403
    assert opened.answer(ask(9, 200, new), 1)[0].status == 200
    opened.close()
    with pytest.raises(StartRefused):  # the old key alone is not what its state was made for
        Memory(folder, [LOG.key.verifier])


# --- it never forgets ---------------------------------------------------------------------------


def reopened(folder):
    found = Memory(folder, [LOG.key.verifier])
    held = found.held(LOG.key.name)
    found.close()
    return held


def answered_and_held(folder):
    """The sizes that were cosigned, and what is held by whoever opens the folder next."""
    opened = Memory(folder, [LOG.key.verifier])
    answered = 0
    for size in (5, 9, 200):
        answer, line = opened.answer(LOG.ask(answered, size), 1)
        assert (answer.status, line != "") == (200, True)
        answered = size
    opened.close()
    return answered, reopened(folder)


def test_what_was_cosigned_is_held_by_the_next_process(folder):
    """WIT-5."""
    assert answered_and_held(folder) == (200, 200)


def test_control_a_witness_that_does_not_write_is_found(folder, monkeypatch):
    monkeypatch.setattr(memory.system, "replace_file", lambda path, content: None)
    assert answered_and_held(folder) == (200, 0)


def test_nothing_is_cosigned_if_it_cannot_be_written(folder, monkeypatch):
    opened = Memory(folder, [LOG.key.verifier])

    def full(path, content):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(memory.system, "replace_file", full)
        with pytest.raises(OSError, match="No space"):
            opened.answer(LOG.ask(0, 5), 1)
    assert opened.held(LOG.key.name) == 0
    opened.close()
    assert reopened(folder) == 0


def test_two_processes_do_not_share_a_folder(folder, opened):
    """Nor does one take it over from another: only `fairdeal serve` may, and only its log."""
    with pytest.raises(StartRefused, match=r"locked by pid \d+\. End it first\.$"):
        Memory(folder, [LOG.key.verifier])
    serve = ["witness", "serve", "--data", str(folder), "--port", "0", "--log"]
    done = CliRunner().invoke(app, [*serve, str(LOG.key.verifier)])
    assert done.exit_code == system.EXIT_LOST
    assert "Another process" in done.stderr


def test_a_state_that_somebody_has_edited_is_refused(folder):
    opened = Memory(folder, [LOG.key.verifier])
    opened.answer(LOG.ask(0, 9), 1)
    opened.close()
    good = (folder / "heads.json").read_bytes()
    lower = json.loads(good)
    note = lower["heads"][LOG.key.name]
    lower["heads"][LOG.key.name] = note.replace("\n9\n", "\n8\n")
    for content in (json.dumps(lower).encode(), b"", b"{}", b"[]", good[:-10], b"\xff"):
        (folder / "heads.json").write_bytes(content)
        with pytest.raises(StartRefused, match="never made anew"):
            Memory(folder, [LOG.key.verifier])
    (folder / "heads.json").unlink()
    with pytest.raises(StartRefused, match="never made anew"):
        Memory(folder, [LOG.key.verifier])
    (folder / "heads.json").write_bytes(good)
    assert reopened(folder) == 9


@pytest.mark.parametrize("length", [0, 1, -1])
def test_a_witness_whose_name_was_cut_signs_nothing(folder, length):
    """It would sign under another name."""
    good = (folder / "name").read_bytes()
    (folder / "name").write_bytes(good[:length])
    with pytest.raises(StartRefused, match="never made anew"):
        Memory(folder, [LOG.key.verifier])
    (folder / "name").write_bytes(good)
    Memory(folder, [LOG.key.verifier]).close()


def test_a_log_that_is_left_out_for_a_while_is_not_forgotten(folder):
    opened = Memory(folder, [LOG.key.verifier])
    opened.answer(LOG.ask(0, 9), 1)
    opened.close()
    other = OneLog("other.example/log")
    opened = Memory(folder, [other.key.verifier])
    opened.answer(other.ask(0, 3), 1)
    opened.close()
    assert reopened(folder) == 9


def test_a_witness_is_never_made_over_another(folder, tmp_path):
    with pytest.raises(StartRefused, match="not empty"):
        initialise(folder, "witness.example/w1")
    with pytest.raises(FormatError):
        initialise(tmp_path / "new", "a name")
    assert not (tmp_path / "new").exists()
    with pytest.raises(StartRefused, match="witness init"):
        Memory(tmp_path / "nothing", [])


def test_a_witness_whose_key_is_away_is_still_one(folder, tmp_path):
    opened = Memory(folder, [LOG.key.verifier])
    opened.answer(LOG.ask(0, 9), 1)
    opened.close()
    (folder / memory.KEY).rename(tmp_path / "away")
    with pytest.raises(StartRefused, match="not empty"):
        initialise(folder, "witness.example/w2")
    (tmp_path / "away").rename(folder / memory.KEY)
    assert reopened(folder) == 9


def test_what_a_making_that_was_cut_off_has_left_is_in_nobodys_way(folder):
    (folder / memory.KEY).rename(folder / f"{memory.KEY}.4711")
    made = initialise(folder, "witness.example/w2")
    assert {file.name for file in folder.iterdir()} == {
        memory.KEY, memory.NAME, memory.STATE, memory.LOCK
    }  # fmt: skip
    # A copy of the key is none of it.
    (folder / memory.KEY).rename(folder / f"{memory.KEY}.bak")
    with pytest.raises(StartRefused, match="not empty"):
        initialise(folder, "witness.example/w3")
    (folder / f"{memory.KEY}.bak").rename(folder / memory.KEY)
    opened = Memory(folder, [])
    assert opened.key.verifier == made
    opened.close()


# --- as a process -------------------------------------------------------------------------------


class Process:
    def __init__(self, folder, vkey):
        arguments = ["witness", "serve", "--data", str(folder), "--log", vkey, "--port", "0"]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "fairdeal_api", *arguments],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        line = self.process.stdout.readline()
        assert line.startswith("listening on "), line
        self.url = line.split()[-1] + "/add-checkpoint"

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.process.kill()
        self.process.wait(60)
        self.process.stdout.close()
        self.said = self.process.stderr.read()
        self.process.stderr.close()


def test_what_is_no_http_leaves_no_line_in_the_log(folder):
    with Process(folder, str(LOG.key.verifier)) as running:
        address = httpx2.URL(running.url)
        with socket.create_connection((address.host, address.port), 10) as connection:
            connection.sendall(b"\x16\x03\x01 no HTTP\r\n\r\n")
            assert connection.recv(4096).startswith(b"HTTP/1.1 400 ")
    assert [json.loads(line)["event"] for line in running.said.splitlines()] == [
        "witness.listening"
    ]


def test_requests_at_once_never_make_it_go_back(folder):
    """WIT-5: of two that were judged by one head, one would roll the other back."""
    vkey = str(LOG.key.verifier)
    best = []
    with Process(folder, vkey) as running:

        def climb(step):
            held = 0
            with httpx2.Client(trust_env=False) as client:
                for size in range(step, 120, 3):
                    for _ in range(50):
                        answer = client.post(running.url, content=LOG.ask(held, size))
                        if answer.status_code != 409:
                            break
                        held = int(answer.text)
                        if held > size:
                            break
                    if answer.status_code == 200:
                        best.append(size)
                        held = size

        threads = [threading.Thread(target=climb, args=(step,)) for step in (1, 2, 3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert best
        with httpx2.Client(trust_env=False) as client:
            assert client.post(running.url, content=LOG.ask(0, 299)).text == f"{max(best)}\n"
    assert reopened(folder) == max(best)


def test_killed_at_any_time_it_holds_what_it_has_answered(folder):
    """WIT-5."""
    vkey = str(LOG.key.verifier)
    held = 0
    for round_ in range(3):
        with Process(folder, vkey) as running, httpx2.Client(trust_env=False) as client:
            timer = threading.Timer(
                0.05 + 0.04 * round_, running.process.send_signal, [signal.SIGKILL]
            )
            timer.start()
            answered = held
            try:
                while answered < 299:
                    answer = client.post(running.url, content=LOG.ask(answered, answered + 1))
                    assert answer.status_code == 200, answer.text
                    answered += 1
            except httpx2.TransportError:
                pass
            timer.cancel()
        held = reopened(folder)
        assert held in (answered, answered + 1)  # the one that was under way may have been held


POST = b"POST /add-checkpoint HTTP/1.1\r\nHost: w\r\n"
BODY = LOG.ask(0, 5)


@pytest.fixture
def listening(opened, monkeypatch):
    """The server in a thread, with so many seconds for a head and for a body; gives its port."""
    started = []

    def start(seconds):
        monkeypatch.setattr(server, "_SECONDS", seconds)
        bound = socket.create_server(("127.0.0.1", 0))
        running = server.Server(opened)
        thread = threading.Thread(target=running.run, args=([bound],), daemon=True)
        started.append((running, thread))
        thread.start()
        wait_until(lambda: running.started)
        return bound.getsockname()[1]

    yield start
    for running, thread in started:
        running.should_exit = running.force_exit = True
        thread.join(60)
        assert not thread.is_alive()


def sent(port, head, more, seconds=60.0):
    """Sends a head, then something more again and again; gives what is answered till it is over."""
    end = time.monotonic() + seconds
    answer = b""
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.settimeout(0.02)
        connection.sendall(head)
        while time.monotonic() < end:
            try:
                got = connection.recv(65_536)
            except ConnectionError:  # what was on its way to it had not been read
                return answer
            except TimeoutError:
                pass
            else:
                if not got:
                    return answer
                answer += got
            with contextlib.suppress(TimeoutError, ConnectionError):
                connection.sendall(more)
    return None


SECONDS = 0.4
SLOW = {
    "silence": (b"", b"", b""),
    "a slow head": (POST, b"A: b\r\n", b""),
    "a slow body": (POST + b"Content-Length: 60000\r\n\r\n", b"a", b"408"),
    "slow chunks": (POST + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\na\r\n", b"408"),
    "an endless body": (
        POST + b"Content-Length: 999999999\r\n\r\n", b"a" * 65_536, b"400"
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SLOW)
def test_a_request_that_does_not_come_to_an_end(name, listening):
    """WIT-4: a connection is not kept for it."""
    head, more, status = SLOW[name]
    port = listening(SECONDS)
    answer = sent(port, head, more)
    assert answer is not None
    assert answer[9:12] in ((b"", status) if name == "an endless body" else (status,))
    # Whoever sends a whole one is answered, before and after.
    whole = POST + b"Content-Length: %d\r\nConnection: close\r\n\r\n" % len(BODY) + BODY
    assert sent(port, whole, b"")[9:12] == b"200"


@pytest.mark.parametrize("name", ["silence", "a slow head", "a slow body", "slow chunks"])
def test_control_with_patience_the_connection_is_kept(name, listening):
    """For three times as long as it was above, and on."""
    head, more, _ = SLOW[name]
    assert sent(listening(60), head, more, 3 * SECONDS) is None


def test_the_command_line(tmp_path):
    run = CliRunner()
    made = run.invoke(
        app, ["witness", "init", "--data", str(tmp_path / "w"), "--name", "w.example"]
    )
    assert made.exit_code == 0, made.output
    assert WitnessKey.parse(made.stdout.strip()).name == "w.example"
    assert (tmp_path / "w/witness.key").stat().st_mode & 0o777 == 0o600
    again = run.invoke(
        app, ["witness", "init", "--data", str(tmp_path / "w"), "--name", "w.example"]
    )
    assert again.exit_code == 1
    bad = run.invoke(app, ["witness", "init", "--data", str(tmp_path / "v"), "--name", "a b"])
    assert bad.exit_code == 2
    serve = ["witness", "serve", "--data", str(tmp_path / "w"), "--log"]
    assert run.invoke(app, [*serve, "nothing"]).exit_code == 2
    vkey = str(LOG.key.verifier)
    assert run.invoke(app, [*serve, vkey, "--log", vkey]).exit_code == 2
    (tmp_path / "w/witness.key").chmod(0o644)
    assert run.invoke(app, [*serve, vkey]).exit_code == 1
    shutil.rmtree(tmp_path / "w")
    assert run.invoke(app, [*serve, vkey]).exit_code == 1
