"""The words of a language: a sentence is a key of the catalogue, and what fills its places.

`languages/*.json` is the catalogue, the same for this tool and for the page. A message is plain
text; `{seat}` is a place, and `{n, plural, one {# card} other {# cards}}` has a form for each
category that CLDR gives the language.
"""

import json
import pkgutil
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

LANGUAGES = ("en", "es", "ru", "ta", "zu")

Value = int | str | Sequence[int] | Sequence[str]
Draw = Callable[[str, Value], str]  # of a place's name and its value

_PLURAL = re.compile(r"\{(\w+), plural,((?: \w+ \{[^{}]*\})+)\}")
_FORM = re.compile(r" (\w+) \{([^{}]*)\}")
_PLACE = re.compile(r"\{(\w+)\}")
_SPACED = ("cards", "bytes")


@dataclass(frozen=True, slots=True)
class Said:
    """A sentence of the catalogue, in no language yet; as text it is plain English.

    Attributes:
        key: Names the message.
        values: What stands in its places: cards, calls and suits as they are in the log.
    """

    key: str
    values: Mapping[str, Value] = field(default_factory=dict)

    def __str__(self) -> str:
        words = words_of("en")
        return words.say(self, words.plain)


def say(key: str, /, **values: Value) -> Said:
    """Makes a sentence."""
    return Said(key, values)


class Words:
    """The messages of one language."""

    def __init__(self, language: str, messages: Mapping[str, str]) -> None:
        """Takes a catalogue.

        Args:
            language: One of LANGUAGES.
            messages: By key.
        """
        self.language = language
        self.messages = messages

    def say(self, said: Said, draw: Draw) -> str:
        """Says a sentence, with each value drawn as the reader's medium can."""

        def plural(match: re.Match[str]) -> str:
            number = said.values[match[1]]
            forms: dict[str, str] = dict(_FORM.findall(match[2]))
            return forms[category(self.language, int(str(number)))].replace("#", str(number))

        def place(match: re.Match[str]) -> str:
            return draw(match[1], said.values[match[1]])

        return _PLACE.sub(place, _PLURAL.sub(plural, self.messages[said.key]))

    def plain(self, name: str, value: Value) -> str:
        """Draws a value as it is; a list is joined, and an empty one is named as such."""
        if isinstance(value, int | str):
            return str(value)
        joined = (" " if name in _SPACED else ", ").join(map(str, value))
        return joined or self.messages["report.none"]


@cache
def words_of(language: str) -> Words:
    """Reads the catalogue of one of LANGUAGES, from a folder or from a zip."""
    data = pkgutil.get_data(__package__, f"languages/{language}.json") or b""
    return Words(language, json.loads(data)["messages"])


def category(language: str, n: int) -> str:
    """Gives the plural category of a whole number that is not negative, as CLDR has it."""
    if language == "ru":
        if n % 10 == 1 and n % 100 != 11:
            return "one"
        return "few" if n % 10 in (2, 3, 4) and n % 100 not in (12, 13, 14) else "many"
    if language == "es" and n and n % 1_000_000 == 0:
        return "many"
    return "one" if n == 1 or (n == 0 and language == "zu") else "other"
