"""The service as a process: uvicorn, a line when it listens, the metrics port."""

from __future__ import annotations

import asyncio
import gc
import resource
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Final

import uvicorn
from starlette.types import ASGIApp

from fairdeal_api import http
from fairdeal_api.app import create_app
from fairdeal_api.connections import QuietConnections
from fairdeal_api.logging import LOG, tame_libraries, tell
from fairdeal_api.service import Service
from fairdeal_api.settings import Settings
from fairdeal_api.system import BACKLOG, address_of, entropy, listen

# The writer's thread asks for the interpreter after each statement; the default of 5 ms would
# let a busy event loop stretch a batch of a millisecond to some tens.
_SWITCH_SECONDS = 0.0005
_DESCRIPTORS: Final = 65_536


class _Server(uvicorn.Server):
    """Says where it listens, once it does."""

    def __init__(
        self, config: uvicorn.Config, service: Service, metrics: socket.socket | None
    ) -> None:
        super().__init__(config)
        self._service = service
        self._listening = metrics
        self._metrics: asyncio.Server | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.should_exit:
            return
        if self._listening is not None:
            self._metrics = await asyncio.start_server(self._show_metrics, sock=self._listening)
        address = address_of((sockets or [])[0])
        LOG.write("service.listening", address=address)
        # What start-up has made will stay: without this, every full collection walks through it.
        gc.collect()
        gc.freeze()
        # Frozen objects do not count as old ones, so by default full collections would be frequent.
        gc.set_threshold(50_000, 20, 100)
        tell(f"listening on http://{address}")

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._service.dealer.wake_all()
        if self._metrics is not None:
            self._metrics.close()
        await super().shutdown(sockets)

    async def _show_metrics(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        """A server of one page; whatever is asked, the answer is the metrics."""
        with suppress(OSError, TimeoutError, asyncio.IncompleteReadError, ValueError):
            await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 5)
            body = self._service.metrics.text().encode()
            writer.write(
                b"HTTP/1.1 200 OK\r\ncontent-type: text/plain; version=0.0.4\r\n"
                b"connection: close\r\ncontent-length: %d\r\n\r\n" % len(body)
            )
            writer.write(body)
            await writer.drain()
        writer.close()


def _allow_descriptors() -> None:
    """Raise the process's own limit, which by default some thousand connections would reach."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, _DESCRIPTORS)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def config_of(
    app: ASGIApp, quiet: QuietConnections, no_http: Callable[[], bytes] | None = None
) -> uvicorn.Config:
    """How an application is served; the bench's yardsticks are served in the same way."""
    return quiet.serve(
        app,
        no_http,
        lifespan="on",
        backlog=BACKLOG,
        timeout_graceful_shutdown=10,
    )


def run(settings: Settings, *, take_over: bool = False) -> None:
    """Serve until told to stop.

    Args:
        settings: Where and how.
        take_over: Whether to go on in the place of a process that holds the lock.

    Raises:
        StartRefused: One sentence says why.
    """
    service = Service(settings, take_over=take_over)
    listening = listen(settings.host, settings.port)
    port = settings.metrics_port
    metrics = None if port is None else listen("127.0.0.1", port)
    sys.setswitchinterval(_SWITCH_SECONDS)
    tame_libraries()
    _allow_descriptors()

    def no_http() -> bytes:
        service.metrics.count("", 400, 0)  # the gate never sees it
        return http.no_http(entropy(6).hex())

    config = config_of(create_app(settings, service), service.quiet, no_http)
    _Server(config, service, metrics).run(sockets=[listening])
