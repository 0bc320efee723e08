"""The pages for people. A query that they do not know is ignored: messengers put things there."""

from __future__ import annotations

import re
from typing import Final

from fairdeal.encoding import encode
from fairdeal_api import lookup
from fairdeal_api.http import Call
from fairdeal_api.problems import Problem
from fairdeal_api.replies import Reply
from fairdeal_api.routes.access import hand_number, public_slot
from fairdeal_api.routes.operation import Parameter, operation
from fairdeal_api.site import front, hand, packaged
from fairdeal_api.site.frame import headers
from fairdeal_api.site.words import Words, chosen, words

_LANG: Final = re.compile(rb"(?:^|&)lang=([a-z]{2})(?:&|$)")
_HOST: Final = re.compile(rb"(?:[A-Za-z0-9.-]{1,200}|\[[0-9a-fA-F:.]{2,45}\])(?::[0-9]{1,5})?")
_QUERY: Final = (
    Parameter(
        "lang",
        "query",
        {"type": "string", "pattern": "^[a-z]{2}$"},
        "In place of Accept-Language, if there is this language",
    ),
)


def _words(call: Call) -> Words:
    asked = _LANG.search(call.scope["query_string"])
    accept = call.headers.get(b"accept-language", b"")
    return words(chosen(asked[1].decode() if asked else None, accept))


@operation(
    "getFront",
    "GET",
    "/",
    tag="pages",
    summary="What this is, the newest hands, the log's state and its witnesses",
    answers=((200, "text/html"),),
    query=_QUERY,
)
async def get_front(call: Call) -> Reply:
    """The front page."""
    host = call.headers.get(b"host", b"")
    # Whoever sends another name in these headers sees it, and nobody else does.
    secure = call.headers.get(b"x-forwarded-proto") == b"https"
    scheme = "https" if secure else call.scope["scheme"]
    here = f"{scheme}://{host.decode()}" if _HOST.fullmatch(host) else "URL"
    return front.front(call.service, _words(call), here)


@operation(
    "getVerifier",
    "GET",
    "/verify",
    tag="pages",
    summary="The page that checks hands: the released file, byte for byte",
    answers=((200, "text/html"),),
)
async def get_verifier(call: Call) -> Reply:
    """The page, under its own policy, and in nobody's frame."""
    page = packaged.page()
    found = headers(
        page.policy + b"; frame-ancestors 'none'",
        (b"cache-control", b"no-cache"),
        (b"etag", page.etag),
    )
    if page.etag in call.headers.get(b"if-none-match", b""):
        return Reply(b"", 304, found, whole=True)
    return Reply(page.content, 200, found, whole=True)


@operation(
    "getHandPage",
    "GET",
    "/v/{table}/{hand}",
    tag="pages",
    summary="The page of one hand; it leads to its check",
    answers=((200, "text/html"), (404, "text/html"), (409, "text/html")),
    query=_QUERY,
)
async def get_hand_page(call: Call) -> Reply:
    """The page of a hand; in words too if there is none."""
    text = _words(call)
    try:
        slot = public_slot(call)
        number = hand_number(call)
        file, _ = lookup.transcript(call.service, slot, number)
    except Problem as problem:
        if problem.code == "hand_not_final":
            return hand.not_final(text)
        if problem.kind.status == 404:
            return hand.unknown(text)
        raise
    terms = slot.table.terms_event
    document = call.service.rotations()
    rotations = encode(document) if document["rotations"] else b""
    return hand.found(text, slot.id, number, terms.game, file, terms.log_key, rotations)
