"""One pure ASGI middleware: a request's id, its time, and how many there may be at a time."""

from __future__ import annotations

import itertools
import time
from typing import TYPE_CHECKING

from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Receive, Scope, Send

from fairdeal.errors import FairdealError
from fairdeal_api import problems, system
from fairdeal_api.http import Call, problem_reply, send_reply
from fairdeal_api.logging import LOG
from fairdeal_api.problems import Problem
from fairdeal_api.routes import all_operations
from fairdeal_api.routes.dispatch import Dispatch

if TYPE_CHECKING:
    from fairdeal_api.service import Service


def _refused(error: HTTPException) -> Problem:
    """What the router says of an address or a method that it does not have."""
    if error.status_code == 405:
        # In order: the router has them as a set, whose order is another in each process.
        allow = sorted((error.headers or {}).get("Allow", "").split(", "))
        return Problem("method_not_allowed", headers=[(b"allow", ", ".join(allow).encode())])
    return Problem("not_found")


def _problem_of(error: Exception, call: Call) -> Problem:
    """What a caller is told of any error."""
    if isinstance(error, Problem):
        return error
    if isinstance(error, FairdealError):
        return problems.from_core(error)
    if isinstance(error, HTTPException):
        return _refused(error)
    name, route = type(error).__name__, call.endpoint.route
    LOG.write("request.failed", error=name, request=call.request_id, route=route)
    return Problem("internal")


class Gate:
    """Lets requests in, counted."""

    def __init__(self, app: ASGIApp, service: Service) -> None:
        """Stand before an application."""
        self._app = app
        self._find = Dispatch(all_operations()).find
        self._service = service
        self._limit = service.settings.max_in_flight
        # One prefix for the process and a count: unique, and cheaper than entropy for each.
        self._prefix = system.entropy(6).hex()
        self._count = itertools.count(1)
        self._in_flight = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass one request on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = time.perf_counter_ns()
        service = self._service
        call = Call(scope, receive, service)
        call.request_id = call.own_id() or f"{self._prefix}-{next(self._count)}"
        full = self._in_flight >= self._limit and self._at_work() >= self._limit
        if full or service.draining:
            await self._refuse("unavailable", call, send)
            return
        if service.frozen and call.method not in ("GET", "HEAD"):
            await self._refuse("log_frozen", call, send)
            return
        self._in_flight += 1
        try:
            try:
                found = self._find(call.method, call.path)
                if found is not None:
                    call.endpoint, call.params = found
                else:
                    scope["fairdeal.call"] = call
                    await self._app(scope, receive, send)
                reply = await call.endpoint.handler(call)
            except Exception as error:  # noqa: BLE001 - nothing of it may reach the caller or the log
                reply = problem_reply(_problem_of(error, call), call)
            await send_reply(reply, call, send)
        finally:
            self._in_flight -= 1
            took = (time.perf_counter_ns() - started) // 1000
            service.metrics.count(call.endpoint.route, call.status, took)
            if call.status >= 500 or service.settings.log_requests:
                LOG.write(
                    "request",
                    request=call.request_id,
                    route=call.endpoint.route,
                    status=call.status,
                    duration_ms=took // 1000,
                )

    def _at_work(self) -> int:
        """How many requests are: one that awaits its body is not."""
        return self._in_flight - len(self._service.bodies)

    async def _refuse(self, code: str, call: Call, send: Send) -> None:
        await send_reply(problem_reply(Problem(code), call), call, send)
        self._service.metrics.count("", 503, 0)
