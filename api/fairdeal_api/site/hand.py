"""The page of one hand: it leads to the page that checks it, with the hand's file in the link.

The file goes into the link's fragment, which no browser sends anywhere. So the page that checks
stays the released file, byte for byte, and opens no connection; and this one needs no connection
either. Without JavaScript it is a page with a link and a download.
"""

from __future__ import annotations

import base64
import zlib
from typing import Final
from urllib.parse import quote

from fairdeal_api.replies import Reply
from fairdeal_api.site.frame import page
from fairdeal_api.site.html import Html, fill
from fairdeal_api.site.words import Words

_SCRIPT: Final = 'location.replace(document.getElementById("check").href)'
_BODY: Final = """\
<h1>{title}</h1>
<p class="soft">{table}</p>
<p><a class="go" id="check" href="{check}">{check_hand}</a>
<a href="{file}" download="{name}">{download}</a></p>
<p>{check_note}</p>
<noscript><p>{noscript}</p></noscript>
<script>{script}</script>"""
_ABSENT: Final = """\
<h1>{title}</h1>
<p>{text}</p>
<p><a class="go" href="{link}">{words}</a></p>"""


def fragment(file: bytes, key: str, rotations: bytes = b"") -> str:
    """What hands a hand's file to the page that checks it.

    Args:
        file: Its bytes. They are deflated without any header, then base64url without padding.
        key: The log's verifier key, as the service states it.
        rotations: What `/log/rotations` serves, if the log's key has changed: who noted an earlier
            key is led to this one. Packed like the file.
    """
    text = f"h={_packed(file)}&key={quote(key, safe='')}"
    return f"{text}&rotations={_packed(rotations)}" if rotations else text


def _packed(data: bytes) -> str:
    deflate = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = deflate.compress(data) + deflate.flush()
    return base64.urlsafe_b64encode(packed).rstrip(b"=").decode()


def found(
    text: Words, table: str, number: int, game: str, file: bytes, key: str, rotations: bytes
) -> Reply:
    """The page of a hand that has ended. `rotations` is empty if the log's key never changed."""
    title = text("hand_title", hand=number, game=text.game(game))
    body = text.fill(
        _BODY,
        title=title,
        table=table,
        check=f"/verify#{fragment(file, key, rotations)}",
        file=f"/v1/tables/{table}/hands/{number}/transcript",
        name=f"{table}-{number}.fair.json",
        script=Html(_SCRIPT),
    )
    return page(text, title, body, script=_SCRIPT)


def unknown(text: Words) -> Reply:
    """There is no such hand. What was asked for is not repeated."""
    title = text("unknown")
    body = fill(_ABSENT, title=title, text=text("unknown_text"), link="/", words=text("front"))
    return page(text, title, body, status=404)


def not_final(text: Words) -> Reply:
    """The hand is still played."""
    title = text("not_final")
    # An empty reference is the page itself.
    body = fill(_ABSENT, title=title, text=text("not_final_text"), link="", words=text("again"))
    return page(text, title, body, status=409)
