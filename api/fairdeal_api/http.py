"""Requests and answers as the routes see them: thin, raw ASGI, without a framework's detours.

A hot route reads its headers once, its body once, and sends one answer. FastAPI's resolution of
parameters and its middleware stack around each endpoint would cost more than dealing the cards.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Iterable
from typing import TYPE_CHECKING, Any, Final, TypeVar

from pydantic import BaseModel, ValidationError
from starlette.types import Receive, Scope, Send

from fairdeal_api import problems, strict_json
from fairdeal_api.connections import CLOSE, CONNECTION, head_of
from fairdeal_api.kept import Key
from fairdeal_api.problems import Problem
from fairdeal_api.replies import CORS, Header, Reply
from fairdeal_api.schemas import Request

if TYPE_CHECKING:
    from fairdeal_api.connections import WatchedProtocol
    from fairdeal_api.service import Service

Handler = Callable[["Call"], Awaitable["Reply"]]
M = TypeVar("M", bound=BaseModel)

_SECURITY: Final[list[Header]] = [
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"content-security-policy", b"default-src 'none'; style-src 'unsafe-inline'"),
]
_PUBLIC: Final[list[Header]] = [*_SECURITY, CORS]

_IDEMPOTENCY_KEY = re.compile(rb"[\x21-\x7e]{1,128}")
_TAG: Final = rb'(?:W/)?"[\x21\x23-\x7e\x80-\xff]*"'
_TAGS = re.compile(rb"[\t ,]*%b(?:[\t ]*,[\t ,]*%b)*[\t ,]*" % (_TAG, _TAG))
"""Entity tags, of any kind, in a list that may have empty places. RFC 9110, 5.6.1 and 8.8.3."""
_OF_EVENT = re.compile(rb'(?<!W/)"(0|[1-9][0-9]{0,15})"')
_MEDIA_TYPE = re.compile(rb'application/json\s*(?:;\s*charset\s*=\s*"?utf-8"?\s*)?', re.IGNORECASE)
_SEAT = re.compile(r"[0-9]")
_REQUEST_ID: Final = re.compile(rb"[A-Za-z0-9._-]{1,64}")
_NAMES: Final = frozenset(name for model in Request.__subclasses__() for name in model.model_fields)
"""Of the members of all bodies."""
_QUERY_NUMBER = re.compile(r"0|[1-9][0-9]{0,15}|-1")


class Call:
    """One request, from the gate to its answer."""

    __slots__ = (
        "_doubled",
        "_receive",
        "connection",
        "endpoint",
        "headers",
        "method",
        "params",
        "path",
        "request_id",
        "scope",
        "service",
        "status",
    )

    params: dict[str, str]
    """Of the path; the gate or the router finds them."""
    request_id: str
    """Given by the gate."""

    def __init__(self, scope: Scope, receive: Receive, service: Service) -> None:
        """Take the request apart, once."""
        self.scope = scope
        self._receive = receive
        self.connection: WatchedProtocol | None = scope.get(CONNECTION)
        self.service = service
        self.method: str = scope["method"]
        self.path: str = scope["path"]
        headers = scope["headers"]
        self.headers: dict[bytes, bytes] = dict(headers)
        self._doubled: Collection[bytes] = (
            () if len(headers) == len(self.headers) else _doubled(headers)
        )
        self.endpoint = NOWHERE
        self.status = 500  # until there is an answer

    # --- headers --------------------------------------------------------------------------------

    def own_id(self) -> str | None:
        """The id that the caller gives the request, if it is well formed."""
        if b"x-request-id" in self.headers:
            for name, value in self.scope["headers"]:
                if name == b"x-request-id" and _REQUEST_ID.fullmatch(value):
                    return str(value.decode())
        return None

    def _single(self, name: bytes) -> bytes | None:
        if name in self._doubled:
            raise Problem("header_invalid")
        return self.headers.get(name)

    def _joined(self, name: bytes) -> bytes | None:
        """A header that is a list, and may come in several lines. Spec: RFC 9110, 5.3."""
        if name in self._doubled:
            return b",".join(value for one, value in self.scope["headers"] if one == name)
        return self.headers.get(name)

    def bearer(self) -> str:
        """The credential, or `credential_missing`."""
        value = self._single(b"authorization")
        if value is None or value[:7].lower() != b"bearer ":
            raise Problem("credential_missing")
        return value[7:].decode("latin-1")

    def idempotency_key(self) -> bytes:
        """The Idempotency-Key that a POST must have."""
        value = self._single(b"idempotency-key")
        if value is None:
            raise Problem("idempotency_key_missing")
        if not _IDEMPOTENCY_KEY.fullmatch(value):
            raise Problem("header_invalid")
        return value

    def key(self, credential: bytes, idempotency: bytes, request: bytes) -> Key:
        """Under what this POST's answer is kept: credential, method, path and Idempotency-Key.

        Args:
            credential: Digest of the caller's.
            idempotency: The Idempotency-Key.
            request: SHA-256 of the body.
        """
        # Neither a method nor an Idempotency-Key has a line break, and a credential has 32 bytes.
        where = f"{self.method}\n{self.path}\n".encode()
        return Key(hashlib.sha256(credential + where + idempotency).digest(), request)

    def if_match(self) -> frozenset[int] | None:
        """The versions that If-Match names, or None if any will do.

        A weak tag never matches here, nor does one that is none of ours. Spec: RFC 9110, 13.1.1.
        """
        value = self._joined(b"if-match")
        if value is None or value == b"*":
            return None
        if not _TAGS.fullmatch(value):
            raise Problem("header_invalid")
        return frozenset(map(int, _OF_EVENT.findall(value)))

    def if_none_match(self, seq: int) -> bool:
        """Whether the caller has this version already, by whatever tag a proxy has made of ours."""
        return b'"%d"' % seq in self.headers.get(b"if-none-match", b"")

    # --- query ----------------------------------------------------------------------------------

    def query(self, **known: tuple[int, int, int]) -> dict[str, int]:
        """Integer parameters, each with default, lowest and highest value."""
        texts = self.query_texts(*known)
        return {name: whole_number(texts.get(name), *bounds) for name, bounds in known.items()}

    def query_texts(self, *known: str) -> dict[str, str]:
        """Parameters as they are; unknown or doubled ones are refused."""
        found: dict[str, str] = {}
        text = self.scope["query_string"].decode("latin-1")
        for part in text.split("&") if text else []:
            name, _, value = part.partition("=")
            if name not in known or name in found:
                raise Problem("header_invalid")
            found[name] = value
        return found

    # --- body -----------------------------------------------------------------------------------

    async def body(self) -> bytes:
        """The body, at most 64 KiB of it, and within the time that a body may take."""
        length = self.headers.get(b"content-length")
        if length is not None and (not length.isdigit() or int(length) > strict_json.MAX_BODY):
            raise Problem("body_too_large")
        body = None if self.connection is None else self.connection.body()
        if body is None:
            body = await self._received()
        if len(body) > strict_json.MAX_BODY:
            raise Problem("body_too_large")
        if body and not _MEDIA_TYPE.fullmatch(self.headers.get(b"content-type", b"")):
            raise Problem("media_type")
        return body

    async def _received(self) -> bytes:
        """The body, as it comes in."""
        bodies = self.service.bodies
        task = bodies.begin()
        try:
            message = await self._receive()
            if message["type"] == "http.disconnect":
                # No body came. To take that for an empty one would be to do what nobody asked.
                raise Problem("malformed_json")
            body: bytes = message.get("body", b"")
            if message.get("more_body", False) and len(body) <= strict_json.MAX_BODY:
                body = await self._rest(body)
            return body
        except asyncio.CancelledError:
            if bodies.was_late(task):
                raise Problem("malformed_json") from None
            raise
        finally:
            bodies.end(task)

    async def _rest(self, body: bytes) -> bytes:
        while True:
            message = await self._receive()
            if message["type"] == "http.disconnect":
                raise Problem("malformed_json")
            body += message.get("body", b"")
            if len(body) > strict_json.MAX_BODY:
                raise Problem("body_too_large")
            if not message.get("more_body", False):
                return body

    async def gone(self) -> None:
        """Return when the caller has closed the connection. For a request without a body."""
        while (await self._receive())["type"] != "http.disconnect":
            pass

    async def model(self, model: type[M]) -> tuple[M, bytes]:
        """The body as a model, and its SHA-256. No body is an empty object."""
        body = await self.body()
        value = strict_json.parse(body) if body else {}
        try:
            # What `model_validate` calls, after it has looked at options that nobody gives here.
            found: M = model.__pydantic_validator__.validate_python(value)
        except ValidationError as error:
            raise _invalid(error, value) from None
        return found, hashlib.sha256(body).digest()


def _doubled(headers: Iterable[Header]) -> Collection[bytes]:
    """The names of headers that came more than once."""
    return [name for name, count in Counter(name for name, _ in headers).items() if count > 1]


def _invalid(error: ValidationError, body: object) -> Problem:
    """Where and what, and nothing of the value. Spec: RFC 6901 pointers."""
    found: dict[tuple[str, str], None] = {}
    for fault in error.errors(include_url=False, include_context=False, include_input=False):
        # A member that the model does not know is the caller's text: only its place is told.
        unknown = fault["type"] == "extra_forbidden"
        pointer = _pointer(fault["loc"][: -1 if unknown else None], body)
        if fault["type"] == "missing":
            pointer += f"/{fault['loc'][-1]}"
        found[pointer, "member_unknown" if unknown else fault["type"]] = None
    return problems.invalid(list(found)[:20])


def _pointer(places: Iterable[int | str], body: object) -> str:
    """The part of a location that leads into the body by names of ours.

    Pydantic puts in the names of types, and of an action its kind; and a name of the caller's
    choice, of an option or a seat, is not repeated.
    """
    at: Any = body
    pointer, before = "", None
    for place in places:
        if isinstance(at, dict):
            ours = place in _NAMES or _SEAT.fullmatch(str(place)) is not None
            kind = isinstance(before, int) and at.get("type") == place
            leads = ours and place in at and not kind
        else:
            leads = isinstance(at, list) and isinstance(place, int)
        if leads:
            at = at[place]
            pointer += f"/{place}"
        before = place
    return pointer


class Endpoint:
    """A handler, and what belongs to each of its answers."""

    __slots__ = ("extra", "handler", "route")

    def __init__(self, handler: Handler, route: str, *, public: bool) -> None:
        """Wrap a handler.

        Args:
            handler: From call to reply.
            route: The path's template, for logs and metrics.
            public: Whether browsers of any origin may read the answer.
        """
        self.handler = handler
        self.route = route
        self.extra = _PUBLIC if public else _SECURITY

    async def __call__(self, scope: Scope, _receive: Receive, _send: Send) -> None:
        """Let the router tell the gate what it has found; it runs that as an application."""
        call: Call = scope["fairdeal.call"]
        call.endpoint, call.params = self, scope["path_params"]


async def _nowhere(_call: Call) -> Reply:
    raise Problem("not_found")


NOWHERE: Final = Endpoint(_nowhere, "", public=True)
"""Before a request's endpoint is found, and if there is none."""


def problem_reply(problem: Problem, call: Call) -> Reply:
    """A problem as an answer."""
    body = problems.encode(problem, call.request_id)
    return Reply(body, problem.kind.status, problems.headers_of(problem))


def whole_number(text: str | None, default: int, low: int, high: int) -> int:
    """What a parameter of a query says, or `header_invalid`; the default if there is none."""
    if text is None:
        return default
    if not _QUERY_NUMBER.fullmatch(text) or not low <= int(text) <= high:
        raise Problem("header_invalid")
    return int(text)


async def send_reply(reply: Reply, call: Call, send: Send) -> None:
    """Send an answer."""
    call.status = reply.status
    headers = [
        *reply.headers,
        (b"content-length", b"%d" % len(reply.body)),
        (b"x-request-id", call.request_id.encode()),
        *(() if reply.whole else call.endpoint.extra),
    ]
    if call.connection is not None:
        await call.connection.answer(reply.status, headers, reply.body)
        return
    await send({"type": "http.response.start", "status": reply.status, "headers": headers})
    await send({"type": "http.response.body", "body": reply.body})


def no_http(request_id: str) -> bytes:
    """The whole answer to what is no HTTP: it has no request that the gate could take."""
    problem = Problem("malformed_http")
    body = problems.encode(problem, request_id)
    headers = [
        *problems.headers_of(problem),
        (b"content-length", b"%d" % len(body)),
        (b"x-request-id", request_id.encode()),
        *_PUBLIC,
        CLOSE,
    ]
    return head_of(problem.kind.status, headers) + body
