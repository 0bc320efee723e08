"""One caller of the service over HTTP. Nothing of the protocol is in here."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable
from typing import Any, Final, Self, TypeVar

import httpx2

_FIRST_PAUSE: Final = 0.05
_LONGEST_PAUSE: Final = 2.0
_NOTICED: Final = 6
"""Attempts after which whoever waits is told."""
_ANSWER_SECONDS: Final = 15.0
_BODY_SECONDS: Final = 120
"""For all of an answer's body: its parts alone may each be in time."""
_MAX_ANSWER: Final = 32 * 2**20
"""Bytes, unpacked; a page of the longest events is half of it."""

T = TypeVar("T")
Answer = dict[str, Any]
"""An answer's object. What is in it is for the caller to check."""


class ApiError(Exception):
    """The service refused a request, or could not be reached.

    Attributes:
        code: The problem's stable code; `unreachable` if there was no answer, `not_an_answer` if
            what came is none of the service's, as from a proxy or a hotel's network.
        status: HTTP status; 0 if there was no answer.
        retryable: Whether the same request may succeed later.
    """

    def __init__(self, code: str, status: int, detail: str, *, retryable: bool) -> None:
        super().__init__(f"{code}: {detail}")
        self.code = code
        self.status = status
        self.retryable = retryable

    @classmethod
    def of(cls, request: str, answer: httpx2.Response) -> Self:
        """Read an RFC 9457 problem, or whatever came in its place."""
        try:
            problem = answer.json()
            code, detail = str(problem["code"]), str(problem["title"])
            retryable = problem.get("retryable") is True
            places = [str(one["pointer"]) for one in problem.get("errors") or ()]
            detail += f" {', '.join(places[:3])}" if places else ""
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            code, detail, retryable = "not_a_problem", "no problem document", False
        # A proxy in front of a service that is starting says 502 or 503 in its own words.
        retryable = retryable or answer.status_code in (502, 503, 504)
        detail = f"{detail} ({request}, status {answer.status_code})"
        return cls(code, answer.status_code, detail, retryable=retryable)


class Api:
    """Requests with one credential, sent again until they are answered.

    A request that was cut off may have been carried out. All requests can be repeated: a GET and a
    PUT by nature, a POST by its Idempotency-Key, which stays the same for all its attempts.
    """

    def __init__(
        self,
        url: str,
        credential: str | None = None,
        *,
        client: httpx2.Client | None = None,
        attempts: int = 8,
        waiting: Callable[[ApiError], None] = lambda _: None,
    ) -> None:
        """Nothing is sent yet.

        Args:
            url: Base address, such as `https://deal.example`.
            credential: Operator key or seat token; None for public routes.
            client: Connections to use, for proxies, certificates or tests.
            attempts: How often a request is sent, at most.
            waiting: Is told, once a request, that it has failed for more than a second and a half
                and is sent again: for whoever sits before a screen.
        """
        self.url = url.rstrip("/")
        self._client = client or httpx2.Client()
        self._headers = {"authorization": f"Bearer {credential}"} if credential else {}
        self._attempts = attempts
        self._waiting = waiting

    def __repr__(self) -> str:
        return f"Api({self.url})"

    def with_credential(self, credential: str) -> Api:
        """The same connections for another caller."""
        return Api(
            self.url,
            credential,
            client=self._client,
            attempts=self._attempts,
            waiting=self._waiting,
        )

    def with_attempts(self, attempts: int) -> Api:
        """The same connections, with another patience."""
        api = Api(self.url, client=self._client, attempts=attempts, waiting=self._waiting)
        api._headers = self._headers
        return api

    def get(self, path: str, **query: int) -> Answer:
        """An answer in JSON. `wait` is how many seconds the service may hold it back."""
        return self._send("GET", path, query=query, read=_object)

    def text(self, path: str) -> str:
        """An answer in plain text."""
        return self._send("GET", path, read=lambda answer: answer.content.decode("utf-8"))

    def content(self, path: str) -> bytes:
        """An answer's bytes."""
        return self._send("GET", path, read=lambda answer: answer.content)

    def post(self, path: str, body: dict[str, Any], *, key: str = "") -> Answer:
        """Do something once, however often it has to be sent.

        Args:
            path: Where.
            body: What.
            key: The Idempotency-Key, if this may be what an earlier program has sent already.
        """
        key = key or new_key()
        return self._send("POST", path, body=body, key=key, read=_object)

    def put(self, path: str, body: dict[str, Any]) -> Answer:
        """Put a value that is fixed from then on."""
        return self._send("PUT", path, body=body, read=_object)

    def _send(
        self,
        method: str,
        path: str,
        *,
        read: Callable[[httpx2.Response], T],
        query: dict[str, int] | None = None,
        body: dict[str, Any] | None = None,
        key: str | None = None,
    ) -> T:
        headers = dict(self._headers)
        if key is not None:
            headers["idempotency-key"] = key
        seconds = _ANSWER_SECONDS + (query or {}).get("wait", 0)
        pause = _FIRST_PAUSE
        for attempt in range(1, self._attempts + 1):
            try:
                with self._client.stream(
                    method,
                    self.url + path,
                    params=query or None,
                    json=body,
                    headers=headers,
                    timeout=seconds,
                ) as coming:
                    answer = _whole(coming)
            except httpx2.InvalidURL as error:
                raise ApiError("unreachable", 0, f"{error} ({self.url})", retryable=False) from None
            except httpx2.RequestError as error:
                failure = ApiError(
                    "unreachable", 0, f"{_why(error)} ({method} {path})", retryable=True
                )
            else:
                if not answer.is_success:
                    failure = ApiError.of(f"{method} {path}", answer)
                else:
                    try:
                        return _read(answer, read)
                    except ValueError:
                        why = f"this is no answer of the service ({method} {path})"
                        failure = ApiError("not_an_answer", 200, why, retryable=True)
            if not failure.retryable or attempt == self._attempts:
                raise failure
            if attempt == _NOTICED:
                self._waiting(failure)
            time.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)
        raise AssertionError("the loop above returns or raises")


def _why(error: httpx2.RequestError) -> str:
    """Why there was no answer, without the number that Python puts before what the system says."""
    return re.sub(r"^\[Errno -?\d+\] ", "", str(error)) or type(error).__name__


def new_key() -> str:
    """An Idempotency-Key."""
    return os.urandom(16).hex()


def _whole(coming: httpx2.Response) -> httpx2.Response:
    """Take an answer, unless it is longer or slower than any of a service's.

    Raises:
        httpx2.TransportError: It is not all there.
    """
    end, body = time.monotonic() + _BODY_SECONDS, bytearray()
    for part in coming.iter_bytes():
        body += part
        if len(body) > _MAX_ANSWER:
            raise httpx2.ReadError("the answer is too long")
        if time.monotonic() > end:
            raise httpx2.ReadTimeout("the answer takes too long")
    # Not its headers: they tell how the body was packed, which it no longer is.
    kind = {"content-type": coming.headers.get("content-type", "")}
    return httpx2.Response(coming.status_code, headers=kind, content=bytes(body))


def _read(answer: httpx2.Response, read: Callable[[httpx2.Response], T]) -> T:
    """What an answer says.

    Raises:
        ValueError: It is a page for people, or is not what was asked for. Nobody has signed it, so
            it is evidence of nothing: it is as good as no answer.
    """
    if answer.headers.get("content-type", "").startswith("text/html"):
        raise ValueError("a page for people")
    return read(answer)


def _object(answer: httpx2.Response) -> Answer:
    value = answer.json()
    if not isinstance(value, dict):
        raise ValueError("no object")  # noqa: TRY004 - of an answer, not of an argument
    return value
