"""The service, broken on purpose: what a rig is worth shows on these."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fairdeal_api import http
from fairdeal_api.anchor import Anchor
from fairdeal_api.dealer import Dealer
from fairdeal_api.ledger import Ledger
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
        batch, finished = make_batch(self, entries)
        for entry, answer in finished:
            if entry.remember is not None:
                told[entry.remember.scope] = (answer, entry.remember.status, entry.seq)
            if not entry.future.done():
                entry.future.set_result(answer)
        return batch, finished

    def replay_from_memory(self: Dealer, key: Any) -> Any:
        if key.scope in told:
            return self._reply(*told[key.scope], http.REPLAYED)
        return replay(self, key)

    def slow(self: SQLiteWriter, batch: Any) -> None:
        time.sleep(0.02)
        commit(self, batch)

    Ledger._make_batch, SQLiteWriter.commit = early, slow
    Dealer.replay = replay_from_memory


def _mortal(detail: str) -> None:
    """Not broken, but mortal: it kills itself at the point that the file `detail` names."""
    armed = Path(detail)

    def die_at(point: str) -> None:
        if armed.exists() and armed.read_text() == point:
            os.kill(os.getpid(), signal.SIGKILL)

    commit, move = SQLiteWriter.commit, Anchor.move

    def mortal_commit(self: SQLiteWriter, batch: Any) -> None:
        die_at("before commit")
        commit(self, batch)
        die_at("committed")

    def mortal_move(self: Anchor, note: str) -> None:
        move(self, note)
        die_at("anchored")

    SQLiteWriter.commit, Anchor.move = mortal_commit, mortal_move

    async def half_answer(reply: Any, scope: Any, send: Any, extra: Any = None) -> None:
        if not (reply.status < 300 and armed.exists() and armed.read_text() == "half answered"):
            await whole_answer(reply, scope, send, extra)
            return
        length = (b"content-length", str(len(reply.body)).encode())
        headers = [*reply.headers, length]
        await send({"type": "http.response.start", "status": reply.status, "headers": headers})
        half = reply.body[: len(reply.body) // 2]
        await send({"type": "http.response.body", "body": half, "more_body": True})
        time.sleep(0.02)
        die_at("half answered")

    whole_answer, http.send_reply = http.send_reply, half_answer


VARIANTS: dict[str, Callable[[str], None]] = {
    "ack_before_commit": _ack_before_commit,
    "mortal": _mortal,
}
