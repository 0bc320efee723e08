"""`fairdeal play` at a service that is far away, that restarts, and that lies."""

from __future__ import annotations

import json
import re
import shutil
import socket
import threading
import time

import httpx2
import pytest

from tests.api.proxy import FAULTS, Proxy
from tests.api.test_play_cli import HURRIED, LIMIT, play, start
from tests.api.test_process import new_key, serving


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    folder = tmp_path_factory.mktemp("service")
    with serving(folder / "data") as (_, client):
        yield str(client.base_url), new_key(folder / "data")


def through(proxy, tmp_path, key, *arguments, **more):
    return play(tmp_path, *arguments, "--url", proxy.url, "--key", key, **more)


# --- a bad line ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("game", "seed"), [("kozel", 1), ("mus", 2), ("azi", 3), ("svoi", 4)])
def test_a_hand_comes_through_a_bad_line(shared, tmp_path, game, seed):
    """Requests and answers are lost, doubled, cut, late, and replaced by somebody's page."""
    url, key = shared
    with Proxy(url, share=12, seed=seed).running() as proxy:
        code, out = through(proxy, tmp_path, key, game, "--auto")
    assert code == 0, out
    assert re.search(r"^  hand-1\.fair\.json +VERIFIED  ", out, re.MULTILINE)
    assert set(proxy.met) == set(FAULTS)  # the control: all of them were met
    assert "Waiting" not in out  # one fault is nothing to be told
    assert not list(tmp_path.glob("out/*/*evidence*"))


# --- a service that lies ------------------------------------------------------------------------


def another_card(path, body):
    """The service gives another card than it has sealed."""
    if not path.endswith("/cards"):
        return body
    answer = json.loads(body)
    first = answer["cards"][0]
    first["card"] = "AS" if first["card"] != "AS" else "KS"
    return json.dumps(answer).encode()


def another_time(path, body):
    """The service shows the opened seeds with another time than it has logged.

    The step after them comes in the same answer, and does not follow.
    """
    if "/events" not in path:
        return body
    answer = json.loads(body)
    for item in answer["events"]:
        if '"type":"seeds.opened"' in item["event"]:
            item["event"] = re.sub(r'\.\d{3}Z"', '.999Z"', item["event"])
    return json.dumps(answer).encode()


@pytest.mark.parametrize(
    ("lie", "code", "words"),
    [
        (another_card, "path_invalid", "is not what was sealed at its place"),
        (another_time, "not_", "a step does not follow from those before it"),
    ],
)
def test_a_lie_is_said_and_its_evidence_stays(shared, tmp_path, lie, code, words):
    url, key = shared
    with Proxy(url).running() as proxy:
        proxy.change = lie
        exit_code, out = through(proxy, tmp_path, key, "azi", "--seats", "2", "--auto")
    assert exit_code == 1, out
    assert f"what the service says does not hold ({code}" in out
    assert words in out
    assert "Play no more there" in out
    evidence = list(tmp_path.glob("out/*/*evidence.json"))
    assert evidence
    assert all(str(path) in out for path in evidence)
    for path in evidence:
        found = json.loads(path.read_bytes())
        assert found["got"] != found["kept"]
        assert found["code"].startswith(code)
    assert not list(tmp_path.glob("out/*/seat.json"))  # what is still secret is not
    table = re.search(r"table (tbl_\w+)", out)[1]
    answer = httpx2.get(f"{url}/v1/tables/{table}/events").json()
    assert '"type":"table.closed"' in answer["events"][-1]["event"]  # nobody waits for this seat


def test_evidence_that_cannot_be_copied_is_left(shared, tmp_path):
    """The folder for it has gone in the meantime; as with a disk that is full."""
    url, key = shared

    def lie(path, body):
        if path.endswith("/cards"):
            for folder in tmp_path.glob("out/azi-*"):
                if folder.is_dir():
                    shutil.rmtree(folder)
                    folder.touch()
        return another_card(path, body)

    with Proxy(url).running() as proxy:
        proxy.change = lie
        arguments = "azi", "--seats", "2", "--auto", "--url", proxy.url, "--key", key
        with start(tmp_path, *arguments) as process:
            out, err = process.communicate(timeout=LIMIT)
    assert (process.returncode, err) == (1, ""), out
    assert "Not a directory" in out
    (folder,) = (tmp_path / "tmp").iterdir()
    assert str(folder) in out
    assert list(folder.rglob("evidence.json"))


# --- a service that goes away -------------------------------------------------------------------


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def test_a_service_that_is_killed_and_comes_back(tmp_path):
    """In the middle of a hand, and away for longer than five seconds."""
    data = tmp_path / "data"
    with serving(data) as (process, client):
        key = new_key(data)
        with Proxy(str(client.base_url)).running() as proxy:
            dealt = threading.Event()
            proxy.change = lambda path, body: (path.endswith("/cards") and dealt.set(), body)[1]
            ends = []
            game = threading.Thread(
                target=lambda: ends.append(through(proxy, tmp_path, key, "kozel", "--auto"))
            )
            game.start()
            assert dealt.wait(60)
            process.kill()
            process.wait()
            back = time.monotonic() + 7
            with serving(data) as (_, again):  # at once: a start may take seconds of its own
                time.sleep(max(0, back - time.monotonic()))
                proxy.upstream = str(again.base_url)
                game.join(600)
    code, out = ends[0]
    assert code == 0, out
    assert "The service does not answer. Waiting..." in out
    assert re.search(r"^  hand-1\.fair\.json +VERIFIED  ", out, re.MULTILINE)


def test_a_service_that_never_comes_back(tmp_path):
    """The player's receipts stay: they are all that is left of the hand.

    How long it waits for a service has been shown above.
    """
    data = tmp_path / "data"
    with serving(data) as (process, client):
        key = new_key(data)
        with Proxy(str(client.base_url)).running() as proxy:
            proxy.change = lambda path, body: (path.endswith("/cards") and process.kill(), body)[1]
            code, out = through(proxy, tmp_path, key, "azi", "--auto", program=HURRIED)
    assert code == 1, out
    assert "The game cannot go on. not_a_problem" in out
    assert "Kept of the hand that has not ended for you, with your receipts:" in out
    (notes,) = tmp_path.glob("out/*/hand-1.notes.json")
    kept = json.loads(notes.read_bytes())
    assert kept["receipts"]  # its seeds as well, if they were open by then
