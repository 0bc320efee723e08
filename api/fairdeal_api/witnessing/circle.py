"""The service's witnesses: asked in the background, never waited for. Spec: WIT-6..9."""

from __future__ import annotations

import asyncio
import contextlib
from concurrent.futures import ThreadPoolExecutor
from typing import Final, NamedTuple

import httpx2

from fairdeal.encoding import format_time
from fairdeal.log.checkpoint import Checkpoint
from fairdeal.log.cosignature import WitnessKey
from fairdeal.merkle import Tree
from fairdeal_api.ledger import Frozen, Ledger
from fairdeal_api.logging import LOG
from fairdeal_api.metrics import Metrics
from fairdeal_api.problems import Problem
from fairdeal_api.settings import Settings
from fairdeal_api.system import StartRefused, monotonic
from fairdeal_api.witnessing import kept
from fairdeal_api.witnessing.exchange import MAX_ANSWER, MAX_TURNS, PATH, Head, Said, Witness

_SECONDS: Final = 10
"""For one request, all of it."""
_PAUSE: Final = 100
"""Milliseconds between two heads: what witnesses cost stays small, however busy the log is."""
_ROUND: Final = 1000
"""Milliseconds that a head may lack its quorum before a newer one is asked for instead."""
_BACKOFF: Final = 30
"""Seconds at most between attempts at a witness that does not answer."""


class _Answer(NamedTuple):
    status: int
    media: str
    body: bytes


class Witnesses:
    """Keeps the newest cosigned head, and knows how far behind it is."""

    def __init__(self, settings: Settings) -> None:
        """Know whom to ask; nothing is sent yet."""
        self._settings = settings
        self.members = [
            Witness(one.url.rstrip("/"), WitnessKey.parse(one.vkey)) for one in settings.witnesses
        ]
        self.quorum = settings.quorum
        self._ledger: Ledger | None = None
        self._tree = Tree()
        self._target: Head | None = None
        self._best: Head | None = None
        self._behind: int | None = None
        self._shown = 0
        self._was_late = False
        self._wake = asyncio.Event()
        self._calls: list[asyncio.Event] = []
        self._tasks: list[asyncio.Task[None]] = []

    # --- before the service starts --------------------------------------------------------------

    def ask_at_start(self, tree: Tree, checkpoint: Checkpoint, note: str) -> None:
        """Hold the log against every witness, before anything more is signed. Spec: WIT-7.

        Args:
            tree: The log.
            checkpoint: Its newest head, which the anchor has.
            note: The same, signed.

        Raises:
            StartRefused: A witness holds what this log does not extend, or does not answer and the
                settings ask for that.
        """
        self._tree = tree
        head = self._target = Head(checkpoint, note, monotonic())
        self._behind = head.chosen
        if not self.members:
            return
        # In a thread with a loop of its own, so that each request has an end however slowly a
        # witness answers: a timeout of the client's is one of silence.
        with ThreadPoolExecutor(1) as pool:
            said = pool.submit(asyncio.run, self._ask_all(head)).result()
        for witness, verdict in zip(self.members, said, strict=True):
            if verdict is Said.CONFLICT:
                raise StartRefused(
                    f"The witness {witness.key.name} holds a head that this log of "
                    f"{checkpoint.size} entries does not extend: the data folder was rolled back, "
                    "or runs somewhere else as well. Signing on would fork the log."
                )
            if verdict is not None:
                witness.failures = 1
                LOG.write("witness.silent", witness=witness.key.name, status=witness.status)
                if self._settings.witness_start == "refuse":
                    raise StartRefused(
                        f"The witness {witness.key.name} gives no cosignature (status "
                        f"{witness.status}), and `witness_start` is `refuse`."
                    )
        self._count(head)

    async def _ask_all(self, head: Head) -> list[Said | None]:
        async with httpx2.AsyncClient(trust_env=False, timeout=_SECONDS) as client:
            return await asyncio.gather(*[self._ask(client, one, head) for one in self.members])

    # --- while it runs --------------------------------------------------------------------------

    def start(self, ledger: Ledger, metrics: Metrics) -> None:
        """Begin to ask, as a part of the event loop."""
        self._ledger = ledger
        if not self.members:
            return
        metrics.gauge("cosigned_size", lambda: self._best.checkpoint.size if self._best else 0)
        metrics.gauge("witnesses_late", lambda: int(self.is_late))
        metrics.gauge("witnesses_failing", lambda: sum(1 for one in self.members if one.failures))
        client = httpx2.AsyncClient(trust_env=False, timeout=_SECONDS)
        self._calls = [asyncio.Event() for _ in self.members]
        self._tasks = [
            asyncio.create_task(self._serve(client, witness, call))
            for witness, call in zip(self.members, self._calls, strict=True)
        ]
        self._tasks.append(asyncio.create_task(self._lead()))
        for task in self._tasks:
            task.add_done_callback(_tell_if_broken)
        self._client = client
        for witness, call in zip(self.members, self._calls, strict=True):
            if witness.failures:
                call.set()
        ledger.on_release = self._released

    async def stop(self) -> None:
        """Let go of everything; what is under way is dropped."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._tasks:
            await self._client.aclose()
        self._tasks = []

    def _released(self) -> None:
        """The log has a newer head; called for every batch, so it does next to nothing."""
        now = monotonic()
        if self._behind is None:
            self._behind = now
        if self._target is not None and self._target.passed is None:
            self._target.passed = now
        self._wake.set()

    async def _lead(self) -> None:
        """Choose the head that all are asked for. Spec: WIT-6."""
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_ROUND / 1000):
                    await self._wake.wait()
            self._wake.clear()
            self._tell_if_late()
            target, ledger = self._target, self._ledger
            if target is None or ledger is None or ledger.size == target.checkpoint.size:
                continue
            age = monotonic() - target.chosen
            if age < _PAUSE:
                await asyncio.sleep((_PAUSE - age) / 1000)
                self._wake.set()
            elif len(target.lines) >= self.quorum or age >= _ROUND:
                self._target = _newest(ledger)
                for call in self._calls:
                    call.set()

    async def _serve(
        self, client: httpx2.AsyncClient, witness: Witness, call: asyncio.Event
    ) -> None:
        """Ask one witness, one head at a time."""
        while True:
            await call.wait()
            call.clear()
            head = self._target
            if head is None or witness.vkey in head.lines:
                continue
            said = await self._ask(client, witness, head)
            if said is Said.CONFLICT:
                self._freeze(witness)
                return
            if said is Said.UNWILLING or said is Said.AGAIN:
                if not witness.failures:
                    LOG.write("witness.silent", witness=witness.key.name, status=witness.status)
                witness.failures += 1
                await asyncio.sleep(min(_BACKOFF, 1 << min(witness.failures - 1, 8)))
                call.set()
                continue
            if witness.failures:
                LOG.write("witness.back", witness=witness.key.name)
            witness.failures = 0
            if said is None:
                self._count(head)

    async def _ask(self, client: httpx2.AsyncClient, witness: Witness, head: Head) -> Said | None:
        said: Said | None = Said.UNWILLING
        for _ in range(MAX_TURNS):
            try:
                async with asyncio.timeout(_SECONDS):
                    answer = await _post(client, witness, witness.body(head, self._tree))
            except (httpx2.HTTPError, httpx2.InvalidURL, TimeoutError, OSError):
                witness.status = 0
                return Said.UNWILLING
            newest = self._ledger.size if self._ledger else len(self._tree)
            said = witness.take(head, newest, answer.status, answer.media, answer.body)
            if said is not Said.AGAIN:
                break
        return said

    def _freeze(self, witness: Witness) -> None:
        """Sign and acknowledge nothing more. Spec: WIT-7."""
        ledger = self._ledger
        if ledger is None:
            return
        LOG.write(
            "witness.conflict",
            level="critical",
            witness=witness.key.name,
            status=witness.status,
            size=ledger.size,
            held=witness.held,
        )
        ledger.give_up(Frozen())

    def _count(self, head: Head) -> None:
        """A head has one more cosignature."""
        size, best = head.checkpoint.size, self._best
        if len(head.lines) < self.quorum:
            return
        if best is not head:
            if best and best.checkpoint.size >= size:
                return
            self._best = head
            self._behind = head.passed
            self._wake.set()
        kept.keep(self._settings.data, self._text(head))

    def _tell_if_late(self) -> None:
        late = self.is_late
        if late != self._was_late:
            self._was_late = late
            best = self._best.checkpoint.size if self._best else 0
            LOG.write("witnesses.late" if late else "witnesses.caught_up", size=best)

    # --- what may be shown ----------------------------------------------------------------------

    @property
    def is_late(self) -> bool:
        """Whether the quorum has been behind for longer than the patience. Spec: WIT-9."""
        patience = 1000 * self._settings.witness_patience
        return (
            bool(self.members)
            and self._behind is not None
            and monotonic() - self._behind > patience
        )

    def check_may_open(self) -> None:
        """Refuse to open a hand that too few will witness. Spec: WIT-9.

        Raises:
            Problem: `not_witnessed`.
        """
        if self._settings.witness_policy == "no_new_hands" and self.is_late:
            raise Problem("not_witnessed")

    def shown(self, ledger: Ledger) -> tuple[int, str]:
        """Size and text of the head that is served, with its cosignatures. Spec: WIT-8."""
        size, note = ledger.released
        best, target = self._best, self._target
        if best is not None and (
            best.checkpoint.size == size
            or (best.checkpoint.size >= self._shown and not self.is_late)
        ):
            head: Head | None = best
        else:
            head = target if target and target.checkpoint.size == size else None
        if head is not None:
            size, note = head.checkpoint.size, self._text(head)
        self._shown = max(self._shown, size)
        return size, note

    def _text(self, head: Head) -> str:
        lines = (head.lines.get(one.vkey) for one in self.members)
        return head.note + "".join([one.line for one in lines if one is not None])

    def state(self) -> dict[str, object]:
        """How things stand, for everybody."""
        best = self._best
        return {
            "quorum": self.quorum,
            "policy": self._settings.witness_policy,
            "patience": self._settings.witness_patience,
            "late": self.is_late,
            "cosigned_size": best.checkpoint.size if best else None,
            "size": self._ledger.size if self._ledger else len(self._tree),
            "witnesses": [
                {
                    "vkey": one.vkey,
                    "size": one.held,
                    "cosigned_at": self._time(one),
                    "answering": one.failures == 0,
                }
                for one in self.members
            ],
        }

    def _time(self, witness: Witness) -> str | None:
        for head in (self._target, self._best):
            if head is not None and (found := head.lines.get(witness.vkey)) is not None:
                return format_time(1000 * found.time) if found.time < 2**37 else None
        return None


def _tell_if_broken(task: asyncio.Task[None]) -> None:
    """A fault of ours: cosignatures stop, and in time the quorum is late."""
    if not task.cancelled() and (error := task.exception()) is not None:
        LOG.write("witnesses.broken", level="critical", error=type(error).__name__)


def _newest(ledger: Ledger) -> Head:
    _, note = ledger.released
    text, _, _ = note.partition("\n\n")
    return Head(Checkpoint.parse_text(text + "\n"), note, monotonic())


async def _post(client: httpx2.AsyncClient, witness: Witness, content: bytes) -> _Answer:
    body = b""
    async with client.stream("POST", witness.url + PATH, content=content) as answer:
        async for part in answer.aiter_raw():
            body += part
            if len(body) > MAX_ANSWER:
                break
    return _Answer(answer.status_code, answer.headers.get("content-type", ""), body)
