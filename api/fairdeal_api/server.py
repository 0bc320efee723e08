"""The service as a process: uvicorn, a line when it listens, the metrics port."""

from __future__ import annotations

import asyncio
import gc
import resource
import socket
import sys
from contextlib import suppress
from functools import partial
from typing import Any, Final

import uvicorn
from starlette.types import ASGIApp

from fairdeal_api.app import create_app
from fairdeal_api.connections import IDLE_SECONDS, QuietConnections, WatchedProtocol
from fairdeal_api.logging import LOG, tame_libraries
from fairdeal_api.service import Service
from fairdeal_api.settings import Settings
from fairdeal_api.system import StartRefused

# The writer's thread asks for the interpreter after each statement; the default of 5 ms would
# let a busy event loop stretch a batch of a millisecond to some tens.
_SWITCH_SECONDS = 0.0005
_DESCRIPTORS: Final = 65_536


class _Server(uvicorn.Server):
    """Says where it listens, once it does."""

    def __init__(self, config: uvicorn.Config, service: Service) -> None:
        super().__init__(config)
        self._service = service
        self._metrics: asyncio.Server | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.should_exit:
            return
        if self._service.settings.metrics_port is not None:
            self._metrics = await asyncio.start_server(
                self._show_metrics, "127.0.0.1", self._service.settings.metrics_port
            )
        host, port = (sockets or [])[0].getsockname()[:2]
        shown = f"[{host}]" if ":" in host else host
        LOG.write("service.listening", address=f"{shown}:{port}")
        # What start-up has made will stay: without this, every full collection walks through it.
        gc.collect()
        gc.freeze()
        # Frozen objects do not count as old ones, so by default full collections would be frequent.
        gc.set_threshold(50_000, 20, 100)
        print(f"listening on http://{shown}:{port}", flush=True)  # noqa: T201 - for who started us

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


def _listen(settings: Settings) -> socket.socket:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((settings.host, settings.port))
    except OSError as error:
        listening.close()
        raise StartRefused(
            f"{settings.host}:{settings.port} cannot be listened on ({error.strerror})."
        ) from None
    return listening


def _allow_descriptors() -> None:
    """Raise the process's own limit, which by default some thousand connections would reach."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, _DESCRIPTORS)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def config_of(app: ASGIApp, quiet: QuietConnections) -> uvicorn.Config:
    """How an application is served; the bench's yardsticks are served in the same way."""
    protocol: Any = partial(WatchedProtocol, quiet)  # uvicorn calls it as it would a class
    return uvicorn.Config(
        app,
        loop="uvloop",
        http=protocol,
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,  # nothing here asks who the peer is
        lifespan="on",
        backlog=1024,
        timeout_graceful_shutdown=10,
        timeout_keep_alive=IDLE_SECONDS,
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
    listening = _listen(settings)
    sys.setswitchinterval(_SWITCH_SECONDS)
    tame_libraries()
    _allow_descriptors()
    config = config_of(create_app(settings, service), service.quiet)
    _Server(config, service).run(sockets=[listening])
