"""What a table looks like in a terminal: cards as cards, lines that fit, nothing by colour alone.

Everything is printed line after line and nothing is overwritten, so a pipe gets what a person sees,
without the colours.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import Final

from rich.text import Text

from fairdeal.cards import SPANISH_SUITS, Card, rank_of, suit_of
from fairdeal_api.terminal.lines import SPANISH, STYLES, SYMBOLS, Part, Screen, in_order
from fairdeal_api.terminal.seating import SUITS

SPANISH_RANKS: Final = {
    "1": "as",
    "2": "dos",
    "3": "tres",
    "4": "cuatro",
    "5": "cinco",
    "6": "seis",
    "7": "siete",
    "10": "sota",
    "11": "caballo",
    "12": "rey",
}
_WIDEST: Final = 100
_NARROWEST: Final = 16
_LONGEST: Final = 200
"""Of what a person types at once."""
_BOXED: Final = 6
"""More cards than these are shown in rows."""


class TableScreen(Screen):
    """The screen of a person at a table."""

    @property
    def width(self) -> int:
        """Columns that are used."""
        return min(self._console.width, _WIDEST)

    @property
    def is_live(self) -> bool:
        """Whether a person looks at it."""
        return self._console.is_terminal

    def line(self, *parts: Part) -> None:
        """A line, broken at words where it must be."""
        for part in Text.assemble(*parts).wrap(self._console, self.width - 2):
            part.rstrip()
            self._console.print(Text("  ") + part, soft_wrap=True)

    def whole(self, *parts: Part) -> None:
        """A line that is never broken."""
        self._console.print(Text.assemble("  ", *parts), soft_wrap=True)

    def blank(self) -> None:
        """An empty line."""
        self._console.print()

    def head(self, left: Part, right: Part) -> None:
        """A rule across the screen, with words in it."""
        dash = "─" if self._symbols else "-"
        start, end = Text.assemble((f"{dash * 2} ", "dim"), left, " "), Text.assemble(" ", right)
        gap = max(self.width - start.cell_len - end.cell_len - 3, 2)
        self._console.print()
        if start.cell_len + end.cell_len + 5 > self.width:
            self.line(left)
            self.line(right)
            return
        self._console.print(
            Text.assemble(start, (dash * gap, "dim"), end, (f" {dash * 2}", "dim")), soft_wrap=True
        )

    def flow(self, label: str, items: Sequence[Text], gap: int = 3) -> None:
        """Items one after the other, in as many lines as they need, none of them broken."""
        start = Text.assemble((label, "bold"), "  ") if label else Text()
        line, indent = Text.assemble("  ", start), 2 + start.cell_len
        room = self.width
        used = indent
        for number, item in enumerate(items):
            if number and used + gap + item.cell_len > room:
                self._console.print(line, soft_wrap=True)
                line, used = Text(" " * indent), indent
            elif number:
                line.append(" " * gap)
                used += gap
            line.append_text(item)
            used += item.cell_len
        self._console.print(line, soft_wrap=True)

    def page(self, text: str) -> None:
        """A page of text."""
        self.blank()
        for line in text.strip().splitlines():
            indent = "  " + line[: len(line) - len(line.lstrip())]
            room = max(self._console.width - len(indent) - 2, _NARROWEST)
            for number, part in enumerate(Text(line.lstrip()).wrap(self._console, room)):
                part.rstrip()
                start = indent + "  " * (number > 0)
                self._console.print(Text(start if part.plain else "") + part, soft_wrap=True)
        self.blank()

    def ask(self, prompt: str) -> str | None:
        """A line that the person types; None when there are no more."""
        mark = "›" if self._symbols else ">"
        *before, last = Text(f"{prompt} {mark}", "bold").wrap(self._console, self.width - 2)
        for part in before:
            self.line(part)
        self._console.print(Text("  ") + last + " ", end="", soft_wrap=True)
        try:
            line = input()
        except EOFError:
            self.blank()
            return None
        # Arrow keys and what else a terminal may send: never to be printed again.
        line = "".join([sign if sign.isprintable() else " " for sign in line[:_LONGEST]])
        if not sys.stdin.isatty():
            self._console.print(Text(line), soft_wrap=True)
        return line.strip()

    # --- cards ----------------------------------------------------------------------------------

    def spoken(self, card: Card) -> Text:
        """A card among words: `10♥`, `12 oros`."""
        suit = suit_of(card)
        if suit in SPANISH:
            return Text(f"{rank_of(card)} {SPANISH[suit]}", style=STYLES[suit])
        return self.card(card)

    def all_spoken(self, cards: Iterable[Card], *, keep: bool = False) -> Text:
        """Several cards among words."""
        chosen = list(cards) if keep else in_order(cards)
        gap = ", " if any(suit_of(card) in SPANISH for card in chosen) else " "
        return Text(gap).join([self.spoken(card) for card in chosen])

    def suit_in_words(self, suit: str) -> Text:
        """`♥ hearts`."""
        sign = f"{SYMBOLS[suit]} " if self._symbols else ""
        return Text(f"{sign}{SUITS[suit]}", style=STYLES[suit])

    def backs(self, count: int) -> Text:
        """So many cards face down."""
        return Text(" ").join([self.face_down() for _ in range(count)])

    def hand(self, cards: Iterable[Card], *, trump: str = "") -> None:
        """One's own cards, and below each what to type for it."""
        chosen = in_order(cards)
        if not chosen:
            self.line(Text("no cards", style="dim"))
        elif len(chosen) > _BOXED or not self._symbols:
            self.rows(chosen, trump=trump)
        else:
            self._boxes(chosen)

    def rows(self, cards: Iterable[Card], *, trump: str = "") -> None:
        """Cards suit by suit, a row each; trumps last."""
        suits: dict[str, list[Card]] = {}
        for card in in_order(cards):
            suits.setdefault(suit_of(card), []).append(card)
        for suit in sorted(suits, key=lambda suit: (suit == trump, list(suits).index(suit))):
            name = SPANISH.get(suit) or SUITS[suit]
            note = "  trumps" if suit == trump else ""
            shown = Text(" ").join([self.card(card) for card in suits[suit]])
            self.whole(Text(f"{name:<10}", style="dim"), shown, (note, "dim"))

    def _boxes(self, cards: Sequence[Card]) -> None:
        """Each card in a frame: French ones with their suit's sign, Spanish ones with its name."""
        spanish = suit_of(cards[0]) in SPANISH_SUITS
        width = 10 if spanish else 5
        room = max((self._console.width - 2) // (width + 3), 1)
        if len(cards) > room:
            self._boxes(cards[:room])
            self._boxes(cards[room:])
            return
        rows: list[list[Part]] = [["  "] for _ in range(5)]
        for card in cards:
            suit, rank = suit_of(card), rank_of(card)
            if spanish:
                top, low = f"{rank:>2} {SPANISH_RANKS[rank]}", f"{SPANISH[suit]} "
            else:
                top, low = f" {rank}", f"{SYMBOLS[suit]} "
            style = STYLES[suit]
            rows[0].append(f"╭{'─' * width}╮ ")
            rows[1] += ["│", (f"{top:<{width}}", style), "│ "]
            rows[2] += ["│", (f"{low:>{width}}", style), "│ "]
            rows[3].append(f"╰{'─' * width}╯ ")
            rows[4].append((f"{card:^{width + 3}}", "dim"))
        for row in rows:
            text = Text.assemble(*row)
            text.rstrip()
            self._console.print(text, soft_wrap=True)
