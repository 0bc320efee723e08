"""One pure ASGI middleware: a request's id, its time, and how many there may be at a time."""

from __future__ import annotations

import itertools
import re
import time
from typing import TYPE_CHECKING, Final

from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Receive, Scope, Send

from fairdeal_api import system
from fairdeal_api.http import problem_reply, send_reply
from fairdeal_api.logging import LOG
from fairdeal_api.problems import Problem
from fairdeal_api.routes import all_operations
from fairdeal_api.routes.dispatch import Dispatch

if TYPE_CHECKING:
    from fairdeal_api.service import Service

_REQUEST_ID: Final = re.compile(rb"[A-Za-z0-9._-]{1,64}")


def _refused(error: HTTPException) -> Problem:
    """What the router says of an address or a method that it does not have."""
    if error.status_code == 405:
        allow = (error.headers or {}).get("Allow", "")
        return Problem("method_not_allowed", headers=[(b"allow", allow.encode())])
    return Problem("not_found")


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
        scope["fairdeal.request_id"] = self._id(scope)
        scope["fairdeal.service"] = self._service
        metrics = self._service.metrics
        started = time.perf_counter_ns()
        at_work = self._in_flight - len(self._service.bodies)
        if at_work >= self._limit or self._service.draining:
            await send_reply(problem_reply(Problem("unavailable"), scope), scope, send)
            metrics.count("", 503, 0)
            return
        if self._service.frozen and scope["method"] not in ("GET", "HEAD"):
            await send_reply(problem_reply(Problem("log_frozen"), scope), scope, send)
            metrics.count("", 503, 0)
            return
        self._in_flight += 1
        try:
            found = self._find(scope["method"], scope["path"])
            if found is None:
                await self._app(scope, receive, send)
            else:
                endpoint, scope["path_params"] = found
                await endpoint(scope, receive, send)
        except HTTPException as error:
            await send_reply(problem_reply(_refused(error), scope), scope, send)
        finally:
            self._in_flight -= 1
            status = scope.get("fairdeal.status", 500)
            took = (time.perf_counter_ns() - started) // 1000
            metrics.count(scope.get("fairdeal.route", ""), status, took)
            if status >= 500 or self._service.settings.log_requests:
                LOG.write(
                    "request",
                    request=scope["fairdeal.request_id"],
                    route=scope.get("fairdeal.route", ""),
                    status=status,
                    duration_ms=took // 1000,
                )

    def _id(self, scope: Scope) -> str:
        for name, value in scope["headers"]:
            if name == b"x-request-id" and _REQUEST_ID.fullmatch(value):
                return str(value.decode())
        return f"{self._prefix}-{next(self._count)}"
