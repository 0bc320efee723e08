"""`api_hand`: open, deal and close over the real service, against a bare FastAPI POST.

All servers run with the service's own settings of uvicorn (`serve.py`) on the same core, in turn;
the load comes from the other core. SQLite writes durably (WAL, FULL): an answer is sent when its
events are on disk. `api_ceiling` is the same load on the protocol alone (`ceiling.py`), and
`api_least` on the least that does all that is asked for (`least.py`): they say how much of the way
is left.
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
HANDS = 40
"""By connection and round."""
ROUNDS = 12
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


def api_hand() -> None:
    """Requests a second, and the 99th percentile of their time."""
    os.sched_setaffinity(0, {1})
    uvloop.install()
    with tempfile.TemporaryDirectory() as folder:
        data = f"{folder}/data"
        cli = ["-m", "fairdeal_api"]
        subprocess.run(
            [sys.executable, *cli, "init", "--data", data], check=True, stdout=subprocess.DEVNULL
        )
        made = subprocess.run(
            [sys.executable, *cli, "operator-key", "create", "--data", data, "--name", "bench"],
            check=True, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        found = re.search(r"fd_live_\S+", made.stdout)
        assert found
        bare, ceiling, least = (
            ["-m", "bench.serve", f"bench.{name}"] for name in ("bare", "ceiling", "least")
        )
        serve = [*cli, "serve", "--data", data, "--port", "0"]
        logs = Path(folder)
        with (
            server(serve, 0, logs / "serve.log") as port,
            server(bare, 0, logs / "bare.log") as bare_port,
            server(ceiling, 0, logs / "ceiling.log") as ceiling_port,
            server(least, 0, logs / "least.log") as least_port,
        ):
            loads: dict[str, tuple[Tables, int, list[Tally]]] = {
                "api_hand": (Tables(found[0], port), port, []),
                "api_ceiling": (Tables("none", ceiling_port), ceiling_port, []),
                "api_least": (Tables("none", least_port), least_port, []),
            }
            for tables, at, _ in loads.values():
                asyncio.run(run(at, iter([tables.opening() for _ in range(CONNECTIONS)]), 4))
            theirs: list[Tally] = []
            for _ in range(ROUNDS):
                theirs.append(
                    asyncio.run(run(bare_port, bare_plays(CONNECTIONS * HANDS), CONNECTIONS))
                )
                for tables, at, tallies in loads.values():
                    plays = iter([tables.hands(HANDS) for _ in range(CONNECTIONS)])
                    tallies.append(asyncio.run(run(at, plays, CONNECTIONS)))
    bare_rate = max(tally.rate for tally in theirs)
    for name, (_, _, tallies) in loads.items():
        rate = max(tally.rate for tally in tallies)
        report(
            name, rate / bare_rate, "of a bare POST's requests per second",
            0.4 if name == "api_hand" else None,
            requests_per_second=round(rate), bare=round(bare_rate),
        )  # fmt: skip
    ours = loads["api_hand"][2]
    p99, bare_p99 = (min(tally.percentile(0.99) for tally in t) for t in (ours, theirs))
    report(
        "api_hand_p99", p99 / bare_p99, "times a bare POST's", 4,
        milliseconds=round(1000 * p99, 1), bare=round(1000 * bare_p99, 1),
    )  # fmt: skip
