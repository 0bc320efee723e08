"""Every error the service answers with, and the only table from codes to HTTP.

Errors are RFC 9457 problems. They say what kind of thing was wrong and never what the caller
sent: a seed that was refused is still a secret.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from fairdeal.errors import FairdealError

MEDIA_TYPE: Final = "application/problem+json"


@dataclass(frozen=True, slots=True)
class Kind:
    """What a code means: its status, and one plain sentence for people."""

    status: int
    title: str
    retryable: bool = False


KINDS: Final[dict[str, Kind]] = {
    # 400
    "malformed_http": Kind(400, "This is no well-formed HTTP request; the connection is closed."),
    "malformed_json": Kind(400, "The body is not JSON in UTF-8, or nests too deeply."),
    "duplicate_key": Kind(400, "An object in the body names a member twice."),
    "number_not_allowed": Kind(400, "The body holds a number that is not an integer below 2^53."),
    "idempotency_key_missing": Kind(400, "This request needs an Idempotency-Key header."),
    "header_invalid": Kind(400, "A header or a query parameter is malformed."),
    # 401, 403
    "credential_missing": Kind(401, "This request needs a bearer credential."),
    "credential_unknown": Kind(401, "The credential is unknown or was revoked."),
    "not_your_seat": Kind(403, "Only the seat's own token may do this."),
    "operator_only": Kind(403, "Only the operator may do this."),
    "seat_only": Kind(403, "Only a seat may do this."),
    "test_only": Kind(403, "This is possible on a service in test mode only."),
    "live_only": Kind(403, "This is possible on a service in live mode only."),
    # 404, 405, 410
    "not_found": Kind(404, "There is nothing at this address."),
    "table_unknown": Kind(404, "There is no such table."),
    "hand_unknown": Kind(404, "The table has no such hand."),
    "seat_unknown": Kind(404, "The table has no such seat."),
    "game_unknown": Kind(404, "There is no such game."),
    "entry_unknown": Kind(404, "The log has no such entry or tile."),
    "claim_unknown": Kind(404, "There is no such claim code."),
    "log_continued": Kind(
        410, "This log continues another one, which has ended; the table may have been that one's."
    ),
    "method_not_allowed": Kind(405, "This address does not have this method."),
    # 409
    "wrong_phase": Kind(409, "The hand is not at the point where this may happen."),
    "too_early": Kind(409, "This seed may not be opened yet."),
    "seal_fixed": Kind(409, "This seat has sealed another value."),
    "seed_fixed": Kind(409, "This seat has opened another seed."),
    "trump_fixed": Kind(409, "This seat has declared another suit."),
    "head_mismatch": Kind(409, "The seed was opened under another head."),
    "hand_open": Kind(409, "A hand is open at this table."),
    "hand_not_final": Kind(409, "The hand has not ended."),
    "already_final": Kind(409, "The hand has ended."),
    "table_closed": Kind(409, "The table is closed."),
    "not_in_holding": Kind(409, "The seat does not hold this card."),
    "not_your_turn": Kind(409, "It is another seat's turn."),
    "draw_not_due": Kind(409, "No draw is due."),
    "not_due": Kind(409, "This is not due."),
    "wrong_event": Kind(409, "Something else is due first."),
    "illegal_move": Kind(409, "The rules of the game do not allow this move now."),
    "action_not_allowed": Kind(409, "The game or its ruleset does not have this action now."),
    "already_disclosed": Kind(409, "The server seed of this hand is open already."),
    "not_looked": Kind(409, "The seat has not looked at its cards."),
    "claim_used": Kind(409, "The claim code was used."),
    "seed_reused": Kind(409, "This seal or seed was seen at the table before."),
    "deadline_not_reached": Kind(409, "The deadline has not passed."),
    # 412, 413, 415
    "version_mismatch": Kind(412, "The table's newest event is none that If-Match names."),
    "body_too_large": Kind(413, "The body is longer than 64 KiB."),
    "media_type": Kind(415, "The body must be application/json in UTF-8."),
    # 422
    "invalid_request": Kind(422, "The body is not of the form that this request has."),
    "idempotency_key_reused": Kind(422, "This Idempotency-Key came with another body before."),
    "seal_mismatch": Kind(422, "The seed does not fit the seat's seal."),
    "chain_mismatch": Kind(422, "The seed is not the next one of the seat's chain."),
    "signature_invalid": Kind(422, "A signature does not fit."),
    "signature_missing": Kind(422, "A seat with a key must sign."),
    "option_unknown": Kind(422, "The ruleset names an option that the game does not have."),
    "option_value": Kind(422, "The ruleset gives an option a value that it does not have."),
    "seats_not_allowed": Kind(422, "The game is not played with these seats."),
    "first_not_allowed": Kind(422, "The first seat cannot be given, or left open, like this."),
    "trump_not_allowed": Kind(422, "These trump suits cannot be declared."),
    "checkpoint_invalid": Kind(422, "This is no checkpoint that the log's key has signed."),
    # 429, 5xx
    "rate_limited": Kind(429, "Too many requests of this kind are open.", retryable=True),
    "internal": Kind(500, "The service failed.", retryable=True),
    "not_witnessed": Kind(
        503, "Too few witnesses have seen the log lately; no hand is opened now.", retryable=True
    ),
    "unavailable": Kind(503, "The service cannot take requests now.", retryable=True),
    "log_frozen": Kind(503, "The log lacks entries that its key has signed; nothing is written."),
}


@dataclass(slots=True)
class Problem(Exception):  # noqa: N818 - the word of RFC 9457
    """An error on its way to the caller.

    Attributes:
        code: A key of `KINDS`.
        errors: For 422: where in the body, and what.
        context: `table`, `hand` and `state`, where there is one; with `log_continued` both origins.
        headers: More headers of the answer.
    """

    code: str
    errors: list[dict[str, str]] = field(default_factory=list)
    context: dict[str, Any] = field(default_factory=dict)
    headers: list[tuple[bytes, bytes]] = field(default_factory=list)

    @property
    def kind(self) -> Kind:
        """What the code means."""
        return KINDS[self.code]


def invalid(errors: Iterable[tuple[str, str]]) -> Problem:
    """`invalid_request`, from pairs of JSON pointer and code."""
    return Problem("invalid_request", [{"pointer": p, "code": c} for p, c in errors])


def from_core(error: FairdealError) -> Problem:
    """What an error of the core means to a caller.

    A code that is not in the table is a fault of the service, not of the caller.
    """
    return Problem(error.code if error.code in KINDS else "internal")


def encode(problem: Problem, request_id: str) -> bytes:
    """The body of the answer. Spec: RFC 9457."""
    kind = problem.kind
    document: dict[str, Any] = {
        "type": f"/docs#{problem.code}",
        "title": kind.title,
        "status": kind.status,
        "detail": kind.title,
        "instance": f"urn:fairdeal:request:{request_id}",
        "code": problem.code,
        "retryable": kind.retryable,
        **problem.context,
    }
    if kind.status == 422:
        document["errors"] = problem.errors
    return json.dumps(document, separators=(",", ":")).encode()


def headers_of(problem: Problem) -> list[tuple[bytes, bytes]]:
    """Headers that belong to the answer."""
    headers = [
        (b"content-type", MEDIA_TYPE.encode()),
        (b"cache-control", b"no-store"),
        *problem.headers,
    ]
    status = problem.kind.status
    if status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    elif problem.kind.retryable and status in (429, 503):
        headers.append((b"retry-after", b"1"))
    return headers
