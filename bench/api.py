"""`api_hand`: open, deal and close over the real service, against a bare FastAPI POST.

All servers run with the service's own settings of uvicorn (`serve.py`) on the same core, in turn;
the load comes from the other core. SQLite writes durably (WAL, FULL): an answer is sent when its
events are on disk. `api_ceiling` is the same load on the protocol alone (`ceiling.py`), and
`api_least` on the least that does all that is asked for (`least.py`): they say how much of the way
is left.

All windows are of about the same time, a third of a second. The best of some long windows is worse
than the best of as many short ones, as there is less of a chance that nothing else went on: with
as many requests for the slow as for the fast, the noise of the machine would tell in the ratio.
Each process runs by some per cent faster or slower than another of the same program, as its memory
lies; so all servers are started anew now and then.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import uvloop

from bench.floor import report
from bench.load import Play, Tally, request, run
from fairdeal.hashing import Digest
from fairdeal.seeds import Commitment, SeatSeed, seal

CONNECTIONS = 32
HANDS, BARE = 12, 28
"""By connection and window: of a bare server, so many times three requests take as long."""
PROCESSES, WINDOWS = 5, 16
"""Of each server, and of each process."""
YARDSTICKS = ("bare", "ceiling", "least")
_NEXT = re.compile(rb'"next_commitment":\s?"([0-9a-f]{64})"')


@contextlib.contextmanager
def server(arguments: list[str], core: int, log: Path) -> Iterator[int]:
    """A server process of our own on one core; gives the port that its log names."""
    with log.open("w") as out:
        process = subprocess.Popen(
            ["taskset", "-c", str(core), sys.executable, *arguments], stdout=out, stderr=out
        )
    try:
        for _ in range(200):
            match = re.search(r"http://127\.0\.0\.1:(\d+)", log.read_text())
            if match:
                yield int(match[1])
                return
            time.sleep(0.1)
        raise SystemExit(f"the server did not start: {log.read_text()}")
    finally:
        process.terminate()
        process.wait(20)


def bare_plays(count_of: int) -> Iterator[Play]:
    """Plays of three requests each, as a hand has."""
    body = json.dumps(
        {"name": "bare", "number": 7, "values": {str(i): "00" * 32 for i in range(4)}}
    ).encode()
    data = request("POST", "/bare", body)

    def play() -> Play:
        for _ in range(3):
            yield data

    for _ in range(count_of):
        yield play()


class Tables:
    """Tables of the service, one a connection, and the plays of their hands."""

    def __init__(self, key: str, port: int) -> None:
        self.key, self.port = key, port
        self.numbers = count(1)
        self.free: list[tuple[str, Digest, bytes, int]] = []

    def post(self, path: str, body: object) -> bytes:
        """A POST as the operator."""
        headers = (
            f"Authorization: Bearer {self.key}\r\nIdempotency-Key: bench-{next(self.numbers)}\r\n"
        )
        return request("POST", path, json.dumps(body, separators=(",", ":")).encode(), headers)

    def opening(self) -> Play:
        """Open a table and keep it."""
        answer = json.loads((yield self.post("/v1/tables", {"game": "mus", "custody": "operator"})))
        terms = Digest.from_hex(answer["terms"])
        self.free.append((answer["table"], terms, answer["next_commitment"].encode(), 0))

    def hands(self, hands: int) -> Play:
        """Play some hands of one table, three requests each."""
        table, terms, commitment, last = self.free.pop()
        for number in range(last + 1, last + hands + 1):
            seeds = {seat: SeatSeed(os.urandom(32)) for seat in range(4)}
            promised = Commitment(bytes.fromhex(commitment.decode()))
            seals = {
                str(seat): seal(terms, number, seat, promised, seed).hex()
                for seat, seed in seeds.items()
            }
            answer = yield self.post(f"/v1/tables/{table}/hands", {"seals": seals})
            match = _NEXT.search(answer)
            assert match
            commitment = match[1]
            path = f"/v1/tables/{table}/hands/{number}"
            opened = {str(seat): seed.hex() for seat, seed in seeds.items()}
            yield self.post(f"{path}/deal", {"seeds": opened})
            yield self.post(f"{path}/close", {})
        self.free.append((table, terms, commitment, last + hands))


def made_service(folder: str) -> tuple[list[str], str]:
    """A new service: the arguments that serve it, and an operator's key."""
    data, cli = f"{folder}/data", ["-m", "fairdeal_api"]
    subprocess.run(
        [sys.executable, *cli, "init", "--data", data], check=True, stdout=subprocess.DEVNULL
    )
    made = subprocess.run(
        [sys.executable, *cli, "operator-key", "create", "--data", data, "--name", "bench"],
        check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    found = re.search(r"fd_live_\S+", made.stdout)
    assert found
    return [*cli, "serve", "--data", data, "--port", "0"], found[0]


def windows(tallies: dict[str, list[Tally]]) -> None:
    """Some windows of each server, in turn, of processes that are started for them."""
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        serve, key = made_service(folder)
        servers = {name: ["-m", "bench.serve", f"bench.{name}"] for name in YARDSTICKS}
        servers["hand"] = serve
        ports = {
            name: stack.enter_context(server(arguments, 0, Path(folder) / f"{name}.log"))
            for name, arguments in servers.items()
        }
        keys = {"hand": key, "ceiling": "none", "least": "none"}
        tables = {name: Tables(one, ports[name]) for name, one in keys.items()}
        for name, some in tables.items():
            asyncio.run(run(ports[name], iter([some.opening() for _ in range(CONNECTIONS)]), 4))
        for _ in range(WINDOWS):
            for name, port in ports.items():
                plays = (
                    bare_plays(CONNECTIONS * BARE)
                    if name == "bare"
                    else iter([tables[name].hands(HANDS) for _ in range(CONNECTIONS)])
                )
                tallies[name].append(asyncio.run(run(port, plays, CONNECTIONS)))


def api_hand() -> None:
    """Requests a second, and the 99th percentile of their time."""
    os.sched_setaffinity(0, {1})
    uvloop.install()
    tallies: dict[str, list[Tally]] = {name: [] for name in ("hand", *YARDSTICKS)}
    for _ in range(PROCESSES):
        windows(tallies)
    rates = {name: max(tally.rate for tally in found) for name, found in tallies.items()}
    for name in ("hand", "ceiling", "least"):
        report(
            f"api_{name}", rates[name] / rates["bare"], "of a bare POST's requests per second",
            0.4 if name == "hand" else None,
            requests_per_second=round(rates[name]), bare=round(rates["bare"]),
        )  # fmt: skip
    p99, bare_p99 = (
        min(tally.percentile(0.99) for tally in tallies[name]) for name in ("hand", "bare")
    )
    report(
        "api_hand_p99", p99 / bare_p99, "times a bare POST's", 4,
        milliseconds=round(1000 * p99, 1), bare=round(1000 * bare_p99, 1),
    )  # fmt: skip
