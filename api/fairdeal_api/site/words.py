"""The texts of the pages, from the catalogue that verifier and page share.

Only messages under `site.` and the games' names are read here. They have places to fill and no
plurals, so that there is no third reader of plural rules.
"""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import Final

from fairdeal_api.site import packaged
from fairdeal_api.site.html import PLACE, Html, fill

SOURCE: Final = "en"
_RANGE: Final = re.compile(
    r"([a-z]{2,3})(?:-[a-z0-9-]{1,40})?(?:;q=([01](?:\.[0-9]{1,3})?))?", re.IGNORECASE
)


class Words:
    """One language's texts."""

    def __init__(self, language: str) -> None:
        """Read them; where a text is not translated yet, it is the English one."""
        self.language = language
        self.name, own = _read(language)
        self._messages = {**_read(SOURCE)[1], **own}

    def __call__(self, key: str, **values: object) -> Html:
        """A text by its key without `site.`, as HTML, with its places filled."""
        return self._text(f"site.{key}", values)

    def fill(self, template: str, **values: object) -> Html:
        """A template with its places filled: those without a value are texts, by their keys."""
        texts = {key: self(key) for key in PLACE.findall(template) if key not in values}
        return fill(template, **texts, **values)

    def game(self, game: str) -> Html:
        """A game's name."""
        return self._text(f"game.{game}", {})

    def _text(self, key: str, values: dict[str, object]) -> Html:
        # The catalogue's own text is escaped as well: a translation cannot bring in a tag.
        return fill(fill("{text}", text=self._messages[key]), **values)


def _read(language: str) -> tuple[str, dict[str, str]]:
    """A language's name for itself, and its messages."""
    catalogue = json.loads((packaged.folder() / "languages" / f"{language}.json").read_bytes())
    return catalogue["name"], catalogue["messages"]


@lru_cache(maxsize=1)
def languages() -> tuple[str, ...]:
    """The languages that there are, English first."""
    found = {path.stem for path in (packaged.folder() / "languages").glob("*.json")}
    return (SOURCE, *sorted(found - {SOURCE}))


@lru_cache(maxsize=32)
def words(language: str) -> Words:
    """A language's texts, read once."""
    return Words(language)


def chosen(asked: str | None, accept: bytes) -> str:
    """The language to answer in.

    Args:
        asked: What the address says after `lang=`.
        accept: The header Accept-Language. Nobody is refused for what it holds.

    Spec: RFC 9110, 12.5.4.
    """
    known = languages()
    if asked in known:
        return asked
    best, weight = SOURCE, 0.0
    for part in accept[:400].decode("latin-1").replace(" ", "").split(","):
        found = _RANGE.fullmatch(part)
        if found and found[1].lower() in known and float(found[2] or 1) > weight:
            best, weight = found[1].lower(), float(found[2] or 1)
    return best
