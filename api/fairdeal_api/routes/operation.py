"""One operation of the API: where it is, who may call it, what it takes and gives.

The router, the OpenAPI file and the documentation page are made from these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from pydantic import BaseModel
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from fairdeal_api.http import Endpoint, Handler
from fairdeal_api.schemas import Request

# What any request may get besides its own errors.
ALWAYS: Final = (
    "malformed_http",
    "header_invalid",
    "method_not_allowed",
    "internal",
    "unavailable",
    "log_frozen",
)
WITH_CREDENTIAL: Final = ("credential_missing", "credential_unknown", "test_only", "live_only")
WITH_BODY: Final = (
    "malformed_json",
    "duplicate_key",
    "number_not_allowed",
    "body_too_large",
    "media_type",
    "invalid_request",
)

TABLES: Final = "/v1/tables"
TABLE: Final = TABLES + "/{table}"
HANDS: Final = TABLE + "/hands"
HAND: Final = HANDS + "/{hand}"
SEAT: Final = HAND + "/seats/{seat}"
UNKNOWN: Final = ("table_unknown", "hand_unknown")
SIGNED: Final = ("signature_invalid", "signature_missing")


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter in path, query or header."""

    name: str
    place: str
    schema: dict[str, object]
    description: str
    required: bool = False


@dataclass(frozen=True, slots=True)
class Operation:
    """See the module.

    Attributes:
        caller: `public`, `operator`, `seat` (or the operator by custody).
        problems: Codes beyond those of every request of its kind.
    """

    id: str
    method: str
    path: str
    tag: str
    summary: str
    caller: str
    handler: Handler
    body: type[Request] | None = None
    answers: tuple[tuple[int, type[BaseModel] | str], ...] = ()
    problems: tuple[str, ...] = ()
    query: tuple[Parameter, ...] = ()
    keyed: bool = False
    """Whether it needs an Idempotency-Key."""
    versioned: bool = False
    """Whether it takes If-Match."""

    @property
    def codes(self) -> tuple[str, ...]:
        """Every code that it may answer with."""
        codes = [*self.problems, *ALWAYS]
        if "table_unknown" in codes:
            codes.append("log_continued")
        if self.caller != "public":
            codes += WITH_CREDENTIAL
        if self.body is not None:
            codes += WITH_BODY
        if self.keyed:
            codes += ("idempotency_key_missing", "idempotency_key_reused")
        if self.versioned:
            codes.append("version_mismatch")
        return tuple(sorted(set(codes)))

    @property
    def endpoint(self) -> Endpoint:
        """What answers it: raw ASGI."""
        public = self.caller == "public" and self.method == "GET"
        return Endpoint(self.handler, self.path, public=public)


class _Methods:
    """An address with more than one method. The router refuses a wrong one, and names all."""

    def __init__(self, operations: list[Operation]) -> None:
        self._endpoints = {operation.method: operation.endpoint for operation in operations}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        method = "GET" if scope["method"] == "HEAD" else scope["method"]
        await self._endpoints[method](scope, receive, send)


def routes(operations: Iterable[Operation]) -> list[Route]:
    """One route for each address, in the order of matching."""
    by_path: dict[str, list[Operation]] = {}
    for operation in operations:
        by_path.setdefault(operation.path, []).append(operation)
    return [
        Route(path, endpoint=_Methods(found), methods=[one.method for one in found])
        for path, found in by_path.items()
    ]


OPERATIONS: Final[list[Operation]] = []


def operation(
    operation_id: str,
    method: str,
    path: str,
    *,
    tag: str,
    summary: str,
    caller: str = "public",
    body: type[Request] | None = None,
    answers: tuple[tuple[int, type[BaseModel] | str], ...] = (),
    problems: tuple[str, ...] = (),
    query: tuple[Parameter, ...] = (),
    keyed: bool = False,
    versioned: bool = False,
) -> Callable[[Handler], Handler]:
    """Register a handler; the order of registration is the order of matching."""

    def register(handler: Handler) -> Handler:
        OPERATIONS.append(
            Operation(
                operation_id,
                method,
                path,
                tag,
                summary,
                caller,
                handler,
                body,
                answers,
                problems,
                query,
                keyed,
                versioned,
            )
        )
        return handler

    return register


def whole(name: str, default: int, low: int, high: int, description: str) -> Parameter:
    """An integer in the query."""
    schema: dict[str, object] = {
        "type": "integer",
        "minimum": low,
        "maximum": high,
        "default": default,
    }
    return Parameter(name, "query", schema, description)
