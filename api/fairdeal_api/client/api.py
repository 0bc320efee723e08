"""One caller of the service over HTTP. Nothing of the protocol is in here."""

from __future__ import annotations

import os
import time
from typing import Any, Final, Self, cast

import httpx2

_FIRST_PAUSE: Final = 0.05
_LONGEST_PAUSE: Final = 2.0
_ANSWER_SECONDS: Final = 15.0
_BODY_SECONDS: Final = 120
"""For all of an answer's body: its parts alone may each be in time."""
_MAX_ANSWER: Final = 32 * 2**20
"""Bytes, unpacked; a page of the longest events is half of it."""

Answer = dict[str, Any]
"""An answer's object. What is in it is for the caller to check."""


class ApiError(Exception):
    """The service refused a request, or could not be reached.

    Attributes:
        code: The problem's stable code; `unreachable` if there was no answer.
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
    ) -> None:
        """Nothing is sent yet.

        Args:
            url: Base address, such as `https://deal.example`.
            credential: Operator key or seat token; None for public routes.
            client: Connections to use, for proxies, certificates or tests.
            attempts: How often a request is sent, at most.
        """
        self.url = url.rstrip("/")
        self._client = client or httpx2.Client()
        self._headers = {"authorization": f"Bearer {credential}"} if credential else {}
        self._attempts = attempts

    def __repr__(self) -> str:
        return f"Api({self.url})"

    def with_credential(self, credential: str) -> Api:
        """The same connections for another caller."""
        return Api(self.url, credential, client=self._client, attempts=self._attempts)

    def get(self, path: str, **query: int) -> Answer:
        """An answer in JSON. `wait` is how many seconds the service may hold it back."""
        return cast(Answer, self._send("GET", path, query=query).json())

    def text(self, path: str) -> str:
        """An answer in plain text."""
        return self._send("GET", path).content.decode("utf-8")

    def content(self, path: str) -> bytes:
        """An answer's bytes."""
        return self._send("GET", path).content

    def post(self, path: str, body: dict[str, Any]) -> Answer:
        """Do something once, however often it has to be sent."""
        key = os.urandom(16).hex()
        return cast(Answer, self._send("POST", path, body=body, key=key).json())

    def put(self, path: str, body: dict[str, Any]) -> Answer:
        """Put a value that is fixed from then on."""
        return cast(Answer, self._send("PUT", path, body=body).json())

    def _send(
        self,
        method: str,
        path: str,
        *,
        query: dict[str, int] | None = None,
        body: dict[str, Any] | None = None,
        key: str | None = None,
    ) -> httpx2.Response:
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
            except httpx2.TransportError as error:
                failure = ApiError("unreachable", 0, f"{error} ({method} {path})", retryable=True)
            else:
                if answer.status_code < 400:
                    return answer
                failure = ApiError.of(f"{method} {path}", answer)
            if not failure.retryable or attempt == self._attempts:
                raise failure
            time.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)
        raise AssertionError("the loop above returns or raises")


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
    return httpx2.Response(coming.status_code, content=bytes(body))
