"""How text becomes HTML: what is filled in is escaped, always."""

from __future__ import annotations

import base64
import hashlib
import html
import re
from collections.abc import Iterable
from typing import Final

PLACE: Final = re.compile(r"\{(\w+)\}")


class Html(str):
    """HTML already."""

    __slots__ = ()


def fill(template: str, **values: object) -> Html:
    """A template with its `{places}` filled: with HTML as it is, with all else escaped."""

    def filled(place: re.Match[str]) -> str:
        value = values[place[1]]
        return value if isinstance(value, Html) else html.escape(str(value))

    return Html(PLACE.sub(filled, template))


def joined(parts: Iterable[Html]) -> Html:
    """Pieces of HTML, one after the other."""
    return Html("".join(parts))


def source(text: str) -> str:
    """How a policy names an inline style or script: by its hash."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
