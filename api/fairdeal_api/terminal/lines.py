"""What is printed: a story in plain words, and cards as people like to see them.

Colours are of the 256, and of a middle brightness that can be read on dark and on light. Nothing is
told by colour alone. When the output is no terminal, or NO_COLOR is set, it is plain lines.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from rich.console import Console
from rich.text import Text

from fairdeal.cards import SPANISH_SUITS, Card, french_deck, rank_of, spanish_deck, suit_of

_RED: Final = "color(160)"
_GREEN: Final = "color(28)"
_BLUE: Final = "color(32)"
_GOLD: Final = "color(136)"

SYMBOLS: Final = {"C": "♣", "D": "♦", "H": "♥", "S": "♠"}
SPANISH: Final = {"o": "oros", "c": "copas", "e": "espadas", "b": "bastos"}
STYLES: Final = {
    "C": "bold",
    "D": f"bold {_RED}",
    "H": f"bold {_RED}",
    "S": "bold",
    "o": f"bold {_GOLD}",
    "c": f"bold {_RED}",
    "e": f"bold {_BLUE}",
    "b": f"bold {_GREEN}",
}
_ORDER: Final = {card: i for i, card in enumerate(french_deck() + spanish_deck())}
_LABEL: Final = 9
_WIDEST: Final = 100
_SHORT: Final = 8

Part = str | Text | tuple[str, str]
"""Words; a pair is words and their style."""


class Screen:
    """Where the story is told."""

    def __init__(self, *, quiet: bool = False) -> None:
        """Write to standard output; a quiet screen shows verdicts and faults only."""
        self._console = Console(highlight=False, emoji=False, markup=False)
        self._quiet = quiet
        self._symbols = self._console.encoding.lower().startswith("utf")

    # --- lines ----------------------------------------------------------------------------------

    def title(self, text: str) -> None:
        """The head of a chapter."""
        if self._quiet:
            return
        self._console.print()
        self._console.print(Text(text, style="bold"))
        self._console.print(
            Text("─" * len(text) if self._symbols else "-" * len(text), style="dim")
        )

    def tell(self, label: str, *parts: Part) -> None:
        """A step: a short label, and what happened."""
        if not self._quiet:
            self._row(Text(label, style="dim"), parts)

    def copy(self, text: str) -> None:
        """A value or a command to copy: never broken, whatever the width."""
        if not self._quiet:
            line = Text.assemble(" " * (_LABEL + 3), (text, _BLUE))
            self._console.print(line, soft_wrap=True)

    def verdict(self, name: str, words: str, more: str = "", *, good: bool) -> None:
        """What the verifier said of a file. Shown also when quiet."""
        style = f"bold {_GREEN}" if good else f"bold {_RED}"
        self._console.print(
            Text.assemble("  ", f"{name:<24}", (words, style), more), soft_wrap=True
        )

    def fault(self, text: str) -> None:
        """Something that is not as it must be."""
        self._console.print(Text(text, style=f"bold {_RED}"), soft_wrap=True)

    def table(self, head: Sequence[str], rows: Sequence[Sequence[Part]]) -> None:
        """A small table, such as what every seat held; columns that are empty are left out."""
        if self._quiet:
            return
        lines = [[Text(name, style="dim") for name in head]]
        lines += [[Text.assemble(cell) for cell in row] for row in rows]
        used = [i for i in range(len(head)) if any(line[i].plain for line in lines[1:])]
        widths = {i: max([line[i].cell_len for line in lines]) for i in used}
        for line in lines if any(head) else lines[1:]:
            text = Text("  ")
            for i in used:
                if i == used[-1] and text.cell_len + line[i].cell_len > self._console.width:
                    # What has no room in its line stands under it, beside the first column.
                    text.rstrip()
                    self._console.print(text, soft_wrap=True)
                    text = Text(" " * (widths[used[0]] + 4))
                text += line[i] + " " * (widths[i] - line[i].cell_len + 2)
            text.rstrip()
            self._console.print(text, soft_wrap=True)

    def _row(self, label: Text, parts: Iterable[Part]) -> None:
        """Label and text, the text broken at words and indented under itself."""
        width = max(min(self._console.width, _WIDEST) - _LABEL - 4, 20)
        lines = Text.assemble(*parts).wrap(self._console, width)
        for number, line in enumerate(lines):
            line.rstrip()
            start = label if number == 0 else Text()
            gap = " " * (_LABEL + 1 - start.cell_len)
            whole = Text.assemble("  ", start, gap, line) if line.plain else Text("  ") + start
            self._console.print(whole, soft_wrap=True)

    # --- cards ----------------------------------------------------------------------------------

    def card(self, card: Card) -> Text:
        """One card: 10♥, or 12o in the Spanish deck."""
        suit = suit_of(card)
        shown = SYMBOLS.get(suit, suit) if self._symbols else suit
        return Text(rank_of(card) + shown, style=STYLES[suit])

    def suit(self, suit: str) -> Text:
        """A suit alone."""
        return Text(SYMBOLS[suit] if self._symbols else suit, style=STYLES[suit])

    def cards(self, cards: Iterable[Card], *, keep: bool = False) -> Text:
        """Several cards, sorted by suit unless their order says something."""
        chosen = list(cards) if keep else in_order(cards)
        return Text(" ").join([self.card(card) for card in chosen])

    def face_down(self) -> Text:
        """A card that nobody else sees."""
        return Text("▒▒" if self._symbols else "##", style="dim")

    @property
    def legend(self) -> Text:
        """The four Spanish suits, by name."""
        return Text(", ").join(
            [Text.assemble((suit, STYLES[suit]), f" {SPANISH[suit]}") for suit in SPANISH_SUITS]
        )

    def short(self, value: bytes | str) -> Text:
        """The beginning of a hash: enough to recognise it by."""
        text = value if isinstance(value, str) else value.hex()
        return Text(text[:_SHORT] + ("…" if self._symbols else "..."), style=_BLUE)


def in_order(cards: Iterable[Card]) -> list[Card]:
    """Cards as one sorts a hand: by suit, then by rank."""
    return sorted(cards, key=_ORDER.__getitem__)


def place_of(cards: Iterable[Card]) -> list[int]:
    """Where these cards stand in that order."""
    return [_ORDER[card] for card in cards]
