"""SIGKILL in a loop, under load: nothing acknowledged is lost, and the head never goes back.

    python -m tests.faults.kill_loop --cycles 50 --seed 7 --json result.json

Some clients play whole hands at several tables each, repeat requests, go away in the middle, and
write each request and each whole answer to a file of their own before they go on. The service is
killed after a moment, started again on the same folder, and held against those files through its
public API. Every choice comes from one seed, which is printed.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fairdeal.log.note import VerifierKey
from tests.faults.audit import Audit, Journal
from tests.faults.launcher import Launcher
from tests.faults.players import Call, Play, Refused, Table
from tests.faults.site import STOPPED, Site, StartFailed
from tests.faults.wire import Answer, Broken, Wire, request

GAMES = ("kozel", "mus", "azi", "svoi")
FOLLOWS = ("hand.dealt", "cards.given", "stock.reshuffled", "cards.drawn")
KILL_AFTER_MS = (80, 400)
LEAST_REQUESTS = 40
STOP_EVERY = 5  # after so many kills the service is once told to stop
WATCHDOG_SECONDS = 60


class Gone(Exception):  # noqa: N818 - what has happened
    """The client has sent a request and went away for good."""


@dataclass
class Gate:
    """Where the service is, and whether it may be asked."""

    open: threading.Event = field(default_factory=threading.Event)
    over: threading.Event = field(default_factory=threading.Event)
    given_up: threading.Event = field(default_factory=threading.Event)
    port: int = 0

    def pass_through(self) -> int:
        """Wait until the service may be asked."""
        if self.given_up.is_set():
            raise Gone
        if not self.open.wait(WATCHDOG_SECONDS):
            raise RuntimeError("the service was away for too long")
        return self.port


class Client(threading.Thread):
    """Plays at several tables in turn, over one connection, and keeps a journal."""

    def __init__(self, number: int, seed: str, key: str, gate: Gate, path: Path) -> None:
        super().__init__(name=f"client {number}", daemon=True)
        self.number, self.key, self.gate = number, key, gate
        self.rng = random.Random(f"{seed} client {number}")
        self.requests = 0
        self.wire: Wire | None = None
        self.path = path
        self.failed: BaseException | None = None
        self.gone: list[tuple[str, Call]] = []
        self._journal = -1

    def run(self) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
        self._journal = os.open(self.path, flags, 0o600)
        try:
            plays: list[tuple[Play[None], Any]] = []
            while not self.gate.over.is_set():
                if len(plays) < 3:
                    plays.append((self._table().life(self.rng.randrange(1, 6)), None))
                play, answer = plays.pop(self.rng.randrange(len(plays)))
                # A few requests at one table, then perhaps at another one.
                try:
                    for _ in range(self.rng.randrange(1, 9)):
                        answer = self._step(play, answer)
                        if self.gate.over.is_set():
                            break
                    plays.append((play, answer))
                except (StopIteration, Gone, Refused):
                    play.close()
                except (KeyError, IndexError, TypeError, ValueError) as error:
                    self._write(kind="senseless", error=repr(error))
        except BaseException as error:  # noqa: BLE001 - the rig says what it was
            self.failed = error
        finally:
            self._hang_up()
            os.close(self._journal)

    def _table(self) -> Table:
        custody = self.rng.choice(("operator", "seats"))
        policy = self.rng.choice(("hand", "hand", "table"))
        return Table(self.rng, self.key, self.rng.choice(GAMES), custody, disclosure=policy)

    def _step(self, play: Play[None], answer: Answer | Refused | None) -> Answer | Refused:
        if isinstance(answer, Refused):
            call = play.throw(answer)
        else:
            call = next(play) if answer is None else play.send(answer)
        found = self.ask(call)
        return found if found.ok else Refused(found)

    # --- one request ----------------------------------------------------------------------------

    def ask(self, call: Call) -> Answer:
        """Ask until there is a whole answer, always by the same key."""
        self.requests += 1
        key = f"{self.number}-{self.requests}"
        data = self.bytes_of(call, key)
        if call.method == "GET":
            return self._until_answered(data, None)[0]
        self._write(kind="sent", key=key, method=call.method, path=call.path, body=call.body)
        chance = self.rng.random()
        if chance < 0.03:
            # Sends and does not wait for the answer: it may come again, or never.
            self._write(kind="vanished", key=key)
            with contextlib.suppress(Broken):
                self._connection().send(data)
            self._hang_up()
            if chance < 0.015:
                self.gone.append((key, call))
                raise Gone
        answer = self._until_answered(data, key)[0]
        if chance > 0.9:
            self._write(kind="repeated", key=key)
            self._until_answered(data, key)
        return answer

    @staticmethod
    def bytes_of(call: Call, key: str) -> bytes:
        # A PUT may have a key; it needs none.
        return request(call.method, call.path, call.body, bearer=call.bearer, key=key)

    def _until_answered(self, data: bytes, key: str | None) -> tuple[Answer, int]:
        attempt = 0
        while True:
            try:
                wire = self._connection()
                sent = time.time()
                wire.send(data)
                answer = wire.receive()
                if answer.status != 503:
                    break
            except Broken:
                pass
            # Nothing was told: the process is gone, or is about to go.
            self._hang_up()
            attempt += 1
            time.sleep(0.002)
        if key is not None:
            self._write(
                kind="answered",
                key=key,
                attempt=attempt,
                status=answer.status,
                replayed=answer.replayed,
                body=answer.body.decode(),
                sent_at=sent,
                received_at=time.time(),
            )
        return answer, attempt

    def _write(self, **line: Any) -> None:
        """On disk before the client does anything else."""
        os.write(self._journal, json.dumps(line).encode() + b"\n")
        os.fsync(self._journal)

    def _connection(self) -> Wire:
        port = self.gate.pass_through()
        if self.wire is None:
            self.wire = Wire(port)
        return self.wire

    def _hang_up(self) -> None:
        if self.wire is not None:
            self.wire.close()
            self.wire = None


class Rig:
    """The service, its clients, and who kills it."""

    def __init__(self, launcher: Launcher, folder: Path, seed: str, clients: int) -> None:
        self.seed = seed
        self.rng = random.Random(f"{seed} rig")
        self.site = Site(launcher, folder / "site", "--origin", "kill.example/log")
        self.gate = Gate()
        self.site.start(init=True)
        key = self.site.operator_key("rig")
        with self.site.wire() as wire:
            vkey = wire.ask("GET", "/v1/keys").json()["keys"][0]["vkey"]
        self.site.kill()
        paths = [folder / f"client-{number}.jsonl" for number in range(clients)]
        self.clients = [Client(n, seed, key, self.gate, path) for n, path in enumerate(paths)]
        self.audit = Audit(VerifierKey.parse(vkey), [Journal(path) for path in paths])
        self.cycles = self.stops = 0
        self.fsck = ""

    def run(self, cycles: int, variant: str = "", *, until_caught: bool = False) -> None:
        """Kill it so many times, then see that all is as it was told."""
        for client in self.clients:
            client.start()
        try:
            for _ in range(cycles):
                if not self._start(variant):
                    return
                self._kill_under_load()
                if self.cycles % STOP_EVERY == 0:
                    if not self._start(variant):
                        return
                    self._stop_under_load()
                if until_caught and self.audit.lost:
                    break
            if not self._start(variant):
                return
            self._finish()
        finally:
            self.gate.given_up.set()
            self.gate.over.set()
            self.gate.open.set()
            self.site.close()
            for client in self.clients:
                client.join(WATCHDOG_SECONDS)

    def _start(self, variant: str) -> bool:
        try:
            self.gate.port = self.site.start(variant)
        except StartFailed as error:
            self.audit.fault(f"The service did not start again: {error}")
            return False
        self.audit.look(self.site.port)
        return True

    def _kill_under_load(self) -> None:
        self._load()
        self.site.kill()
        self.cycles += 1

    def _stop_under_load(self) -> None:
        """SIGTERM: what is under way is finished or refused, and never half acknowledged."""
        self._load()
        status = self.site.terminate()
        if status != STOPPED:
            self.audit.fault(f"Told to stop, the service ended with {status}.")
        self.stops += 1

    def _load(self) -> None:
        asked = self._asked()
        self.gate.open.set()
        time.sleep(self.rng.uniform(*KILL_AFTER_MS) / 1000)
        # Where others keep the machine busy this takes longer: what is killed idle shows nothing.
        end = time.monotonic() + WATCHDOG_SECONDS
        while self._asked() < asked + LEAST_REQUESTS and time.monotonic() < end:
            time.sleep(0.002)
        # Closed first, so that nobody meets the next process before it was looked at.
        self.gate.open.clear()
        for client in self.clients:
            if client.failed is not None:
                raise RuntimeError(f"{client.name} has failed") from client.failed

    def _asked(self) -> int:
        """How many requests all clients have begun."""
        return sum(client.requests for client in self.clients)

    def _finish(self) -> None:
        """Let everybody finish, ask for what nobody waited for, and look at all of it."""
        self.gate.over.set()
        self.gate.open.set()
        for client in self.clients:
            client.join(WATCHDOG_SECONDS)
            if client.failed is not None:
                raise RuntimeError(f"{client.name} has failed") from client.failed
        self.audit.look(self.site.port)
        self.audit.counts["present_unacked"] = len(self.audit.unacknowledged())
        self._collect()
        self.audit.look(self.site.port, thorough=True)
        self.audit.counts["unexplained"] = len(self._unexplained())
        if self.audit.counts["unexplained"]:
            self.audit.fault("There are entries that nobody can be told of by repeating a request.")
        self.site.terminate()
        status, self.fsck = self.site.fsck()
        if status:
            self.audit.fault(f"fsck: {self.fsck}")

    def _collect(self) -> None:
        """Repeat what clients sent and never waited for: what is there must be told again."""
        with self.site.wire() as wire:
            for client in self.clients:
                for key, call in client.gone:
                    wire.send(Client.bytes_of(call, key))
                    answer = wire.receive()
                    if answer.ok:
                        for event in answer.json().get("events", []):
                            self.audit.acked.setdefault(event["index"], event["event"])

    def _unexplained(self) -> list[int]:
        # A seat's PUT to a hand that has ended since is refused, whatever became of it.
        puts = {
            call.path.split("/")[3]
            for client in self.clients
            for _, call in client.gone
            if call.method == "PUT"
        }
        found = []
        for index in self.audit.unacknowledged():
            event = json.loads(self.audit.entries[index])
            by_itself = event["type"] == "hand.aborted" and event["reason"] != "operator"
            # A seed that comes again is told of its own event, not of the deal that followed.
            follows = event["type"] in FOLLOWS and event["table"] in self.audit.repeated_puts
            if event["table"] not in puts and not by_itself and not follows:
                found.append(index)
        return found

    def result(self) -> dict[str, Any]:
        """The counts."""
        audit = self.audit
        counts = audit.counts
        entries = [json.loads(raw) for raw in audit.entries]
        return {
            "rig": "kill_loop",
            "seed": self.seed,
            "cycles": self.cycles,
            "stops": self.stops,
            "clients": len(self.clients),
            "requests": counts["requests"],
            "acked": counts["acked"],
            "acked_events": len(audit.acked),
            "lost": len(audit.lost),
            "present_unacked": counts["present_unacked"],
            "unexplained": counts["unexplained"],
            "recovered": counts["recovered"],
            "replayed": counts["replayed"],
            "refused": counts["refused"],
            "repeated": counts["repeated"],
            "vanished": counts["vanished"],
            "entries": len(entries),
            "tables": len(audit.tables),
            "hands": sum(e["type"] in ("hand.closed", "hand.aborted") for e in entries),
            "commitments": sum(kind == "commitment" for kind, _ in audit.once),
            "seals": sum(kind == "seals" for kind, _ in audit.once),
            "seeds": sum(kind == "seeds" for kind, _ in audit.once),
            "checkpoints": len(audit.checkpoints),
            "fsck": self.fsck.strip(),
            "faults": counts["faults"],
            "first_faults": audit.faults,
        }


def run(
    launcher: Launcher,
    folder: Path,
    *,
    cycles: int,
    seed: str,
    clients: int = 6,
    variant: str = "",
    until_caught: bool = False,
) -> dict[str, Any]:
    """One run; gives its counts."""
    start = time.monotonic()
    rig = Rig(launcher, folder, seed, clients)
    rig.run(cycles, variant, until_caught=until_caught)
    return {**rig.result(), "variant": variant, "seconds": round(time.monotonic() - start, 1)}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cycles", type=int, default=50)
    parser.add_argument("--clients", type=int, default=6)
    parser.add_argument("--seed", default="", help="of every random choice; printed")
    parser.add_argument("--variant", default="", help="a broken service: ack_before_commit")
    parser.add_argument("--json", type=Path, help="file for the counts")
    parser.add_argument("--keep", type=Path, help="folder to work in, kept; else a temporary one")
    options = parser.parse_args()
    seed = options.seed or str(random.SystemRandom().randrange(10**9))
    print(f"--seed {seed}", file=sys.stderr)
    with contextlib.ExitStack() as stack:
        folder = options.keep or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        launcher = stack.enter_context(Launcher())
        result = run(
            launcher,
            folder,
            cycles=options.cycles,
            seed=seed,
            clients=options.clients,
            variant=options.variant,
        )
    line = json.dumps(result)
    print(line)
    if options.json:
        options.json.write_text(line + "\n")
    return int(bool(result["faults"]))


if __name__ == "__main__":
    sys.exit(main())
