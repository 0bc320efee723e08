"""The service, broken on purpose: what a rig is worth shows on these."""

from __future__ import annotations

import base64
import fcntl
import json
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from fairdeal_api import (
    anchor,
    draft,
    hands,
    keyring,
    middleware,
    problems,
    replies,
    slots,
    system,
    views,
)
from fairdeal_api.anchor import Anchor
from fairdeal_api.credentials import Credentials
from fairdeal_api.dealer import Dealer
from fairdeal_api.ledger import Ledger
from fairdeal_api.metrics import Metrics
from fairdeal_api.routes import access
from fairdeal_api.service import Service
from fairdeal_api.store.sqlite import SQLiteWriter


def apply(name: str, detail: str) -> None:
    """Break this process in one of the ways below; the empty name breaks nothing."""
    if name:
        VARIANTS[name](detail)


def _ack_before_commit(_detail: str) -> None:
    """Everybody is told before anything is on disk, which takes its time."""
    make_batch, commit, replay = Ledger._make_batch, SQLiteWriter.commit, Dealer.replay
    told: dict[bytes, Any] = {}

    def early(self: Ledger, entries: list[Any]) -> Any:
        job = make_batch(self, entries)
        for entry in entries:
            answer = self._answer(entry, job.receipts)
            if entry.key is not None:
                told[entry.key.scope] = (answer, entry.status, entry.seq)
            if not entry.future.done():
                entry.future.set_result(answer)
        return job

    def replay_from_memory(self: Dealer, key: Any) -> Any:
        if key.scope in told:
            return self._reply(*told[key.scope], replies.REPLAYED)
        return replay(self, key)

    def slow(self: SQLiteWriter, *args: Any) -> None:
        time.sleep(0.02)
        commit(self, *args)

    Ledger._make_batch, SQLiteWriter.commit = early, slow
    Dealer.replay = replay_from_memory


def _mortal(detail: str) -> None:
    """Not broken, but mortal: it kills itself at the point that the file `detail` names."""
    armed = Path(detail)

    def is_due(point: str) -> bool:
        return armed.exists() and armed.read_text() == point

    def die_at(point: str) -> None:
        if is_due(point):
            os.kill(os.getpid(), signal.SIGKILL)

    commit, move = SQLiteWriter.commit, Anchor.move

    def mortal_commit(self: SQLiteWriter, *args: Any) -> None:
        die_at("before commit")
        commit(self, *args)
        die_at("committed")

    def mortal_move(self: Anchor, note: str) -> None:
        move(self, note)
        die_at("anchored")

    SQLiteWriter.commit, Anchor.move = mortal_commit, mortal_move

    async def half_answer(reply: Any, call: Any, send: Any) -> None:
        if reply.status >= 300 or not is_due("half answered"):
            await whole_answer(reply, call, send)
            return
        length = (b"content-length", str(len(reply.body)).encode())
        headers = [*reply.headers, length]
        await send({"type": "http.response.start", "status": reply.status, "headers": headers})
        half = reply.body[: len(reply.body) // 2]
        await send({"type": "http.response.body", "body": half, "more_body": True})
        time.sleep(0.02)  # noqa: ASYNC251 - these are its last moments
        die_at("half answered")

    whole_answer, middleware.send_reply = middleware.send_reply, half_answer


def _without_locks(_detail: str) -> None:
    """Requests for one table no longer follow one another."""

    class Open:
        async def acquire(self) -> bool:
            return True

        def release(self) -> None:
            pass

    original = slots.Slot.__init__

    def unlocked(self: Any, *args: Any, **more: Any) -> None:
        original(self, *args, **more)
        self.lock = Open()

    slots.Slot.__init__ = unlocked


def _without_syncs(_detail: str) -> None:
    """The database does not wait for the disk. A killed process does not notice."""
    original = SQLiteWriter.__init__

    def unsynced(self: SQLiteWriter, *args: Any) -> None:
        original(self, *args)
        self._connection.pragma("synchronous", "off")

    SQLiteWriter.__init__ = unsynced


def _without_anchor_syncs(_detail: str) -> None:
    anchor.os = SimpleNamespace(**{**vars(os), "fdatasync": lambda _descriptor: None})


def _sleepy(detail: str) -> None:
    """Not broken, but given to sleep: it stops itself at the point that the file `detail` names."""
    armed = Path(detail)

    def sleep_at(point: str) -> None:
        if armed.exists() and armed.read_text() == point:
            os.kill(os.getpid(), signal.SIGSTOP)
            time.sleep(0.1)  # another thread may be the one that gets the signal

    commit, move_head = SQLiteWriter.commit, SQLiteWriter._move_head

    def sleepy_commit(self: SQLiteWriter, *args: Any) -> None:
        sleep_at("before commit")
        commit(self, *args)
        sleep_at("committed")

    def sleepy_move(self: SQLiteWriter, batch: Any) -> None:
        move_head(self, batch)
        sleep_at("inside")

    SQLiteWriter.commit, SQLiteWriter._move_head = sleepy_commit, sleepy_move


def _without_epochs(_detail: str) -> None:
    """No start raises the epoch."""
    SQLiteWriter.begin_epoch = lambda _self, head: head


def _without_flock(_detail: str) -> None:
    """Locks of files do nothing, as on some network disks."""
    nothing = SimpleNamespace(**{**vars(fcntl), "flock": lambda *_: None})
    system.fcntl = anchor.fcntl = nothing


# --- leaks: each has one channel and one secret -------------------------------------------------


def _deaf(_detail: str) -> None:
    """Told of a checkpoint that its log does not extend, it answers so and goes on."""
    Service.freeze = lambda _self, _note, _size: None


def _after_deal(leak: Callable[[Any], None]) -> None:
    """Have `leak` called with the dealing, right after a deal."""
    original = draft.Draft.apply_due

    def apply_due(self: Any) -> None:
        original(self)
        leak(self.secrets)

    draft.Draft.apply_due = apply_due


def _leak_to_log(_detail: str) -> None:
    _after_deal(lambda dealing: print("dealt from", dealing.server_seed.hex(), file=sys.stderr))


def _leak_to_file(detail: str) -> None:
    _after_deal(lambda dealing: Path(detail).write_bytes(b"core" + bytes(dealing.server_seed)))


def _leak_in_answer(_detail: str) -> None:
    """The salt of the bottom card in a public answer, as base64 behind one byte."""
    original = views.public_hand

    def public_hand(slot: Any, hand: Any) -> Any:
        value = original(slot, hand)
        if slot.dealing is not None and slot.dealing.decks:
            deck = slot.dealing.decks[0]
            value["note"] = base64.b64encode(b"!" + deck.salt(len(deck.order) - 1)).decode()
        return value

    views.public_hand = public_hand


def _leak_a_card(_detail: str) -> None:
    """A card of seat 0, in clear, in a public answer."""
    original = views.public_hand

    def public_hand(slot: Any, hand: Any) -> Any:
        value = original(slot, hand)
        if slot.dealing is not None and hand.layout is not None and not hand.is_final:
            value["top"] = slot.dealing.card(hand.layout.received[0][-1])
        return value

    views.public_hand = public_hand


def _leak_to_neighbours(_detail: str) -> None:
    """Every seat may look at every seat's cards."""
    # By its code, so that every module that has imported it is met.
    access.check_seat.__code__ = (lambda slot, caller, seat: None).__code__


def _leak_to_metrics(_detail: str) -> None:
    keys: list[bytes] = []
    _after_deal(lambda dealing: keys.append(dealing.hand.key(0, dealing.server_seed)))
    original = Metrics.text

    def text(self: Metrics) -> str:
        listed = "".join(f"# {list(key)}\n" for key in keys)
        return original(self) + listed

    Metrics.text = text


def _leak_of_tokens(_detail: str) -> None:
    original = Credentials.caller

    def caller(self: Credentials, secret: str) -> Any:
        print("caller", secret, file=sys.stderr)
        return original(self, secret)

    Credentials.caller = caller


def _leak_in_error(_detail: str) -> None:
    """A seed that is refused comes back with the problem."""
    original, refused = hands.open_seeds, []
    encode = problems.encode

    def open_seeds(*args: Any) -> None:
        try:
            original(*args)
        except Exception:
            refused.extend(args[3].values())
            raise

    def echo(problem: Any, request_id: str) -> bytes:
        said = encode(problem, request_id)
        return said[:-1] + b',"given":' + json.dumps(refused).encode() + b"}"

    hands.open_seeds, problems.encode = open_seeds, echo


def _leak_the_keys(_detail: str) -> None:
    """A rotation of the sealing key says what it does too well."""
    original = keyring.settle_sealing

    def settle(folder: Path, key: Any) -> bool:
        old = system.read_keys(folder).sealing
        print(f"from {old.secret.hex()} to {list(key.secret)}", file=sys.stderr)
        return original(folder, key)

    keyring.settle_sealing = settle


def _raise_with_seed(_detail: str) -> None:
    """Not a leak as long as nothing of an exception is shown: the control of the redaction."""
    original = views.public_hand

    def public_hand(slot: Any, hand: Any) -> Any:
        if slot.dealing is not None and slot.dealing.decks and not hand.is_final:
            seed = slot.dealing.server_seed
            raise ValueError(f"seed {seed.hex()} {bytes(seed)!r} {slot.dealing.decks[0].order}")
        return original(slot, hand)

    views.public_hand = public_hand


VARIANTS: dict[str, Callable[[str], None]] = {
    "ack_before_commit": _ack_before_commit,
    "mortal": _mortal,
    "without_syncs": _without_syncs,
    "without_anchor_syncs": _without_anchor_syncs,
    "without_locks": _without_locks,
    "sleepy": _sleepy,
    "without_epochs": _without_epochs,
    "without_flock": _without_flock,
    "deaf": _deaf,
    "leak_to_log": _leak_to_log,
    "leak_to_file": _leak_to_file,
    "leak_in_answer": _leak_in_answer,
    "leak_a_card": _leak_a_card,
    "leak_to_neighbours": _leak_to_neighbours,
    "leak_to_metrics": _leak_to_metrics,
    "leak_of_tokens": _leak_of_tokens,
    "leak_in_error": _leak_in_error,
    "leak_the_keys": _leak_the_keys,
    "raise_with_seed": _raise_with_seed,
}


if __name__ == "__main__":
    from fairdeal_api.cli import app

    apply(sys.argv[1], "")
    app(sys.argv[2:])
