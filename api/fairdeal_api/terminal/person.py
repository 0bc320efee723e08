"""The person at the keyboard: what is asked, and what may be asked back."""

from __future__ import annotations

import json
from typing import Any, Final

from rich.text import Text

from fairdeal_api.client import SeatClient
from fairdeal_api.players import View
from fairdeal_api.terminal import boards, rules
from fairdeal_api.terminal.menu import Menu, menu_of
from fairdeal_api.terminal.screen import TableScreen
from fairdeal_api.terminal.seating import SUITS, Company

Json = dict[str, Any]

_LOG: Final = 12
_ASIDE: Final = ("at", "prev", "seq", "table", "type", "v", "hand", "sigs")


class LeaveError(Exception):
    """The person wants to leave the table."""


class Person:
    """Who chooses; a question is put again until it has an answer."""

    def __init__(self, screen: TableScreen, company: Company, client: SeatClient) -> None:
        """Nothing is asked yet.

        Args:
            screen: What the person sees and types at.
            company: Who sits at the table.
            client: The person's seat.
        """
        self._screen = screen
        self._company = company
        self._client = client

    def move(self, situation: boards.Situation, view: View) -> Json:
        """The choice among the moves that there are.

        Raises:
            LeaveError: The person leaves; so does each of these.
        """
        screen = self._screen
        boards.draw(screen, self._company, situation)
        whole = menu = menu_of(screen, view)
        menu.show()
        while True:
            line = self.typed("You (? helps)")
            if line == "":
                menu = whole
                boards.draw(screen, self._company, situation)
                menu.show()
                continue
            answer = menu.read(line)
            if isinstance(answer, Menu):
                menu = answer
                menu.show()
            elif isinstance(answer, str):
                screen.line((answer, "italic"))
            else:
                return answer

    def pull(self, situation: boards.Situation, view: View) -> Json | None:
        """Kozel: a pull out of turn, or None to let it go by."""
        boards.draw(self._screen, self._company, situation)
        self._screen.line("You hold four cards of one suit, and may pull this trick with them.")
        while True:
            word = self.typed("pull? y, or Enter to let it go by").lower()
            if word in ("y", "yes", "pull", "p", "1"):
                return {name: view.moves[0][name] for name in ("type", "seat", "cards")}
            if word in ("", "n", "no"):
                return None
            self._screen.line(("Type y or n.", "italic"))

    def suit(self, free: list[str]) -> str:
        """The seat's own trumps, before any card is known."""
        screen = self._screen
        while True:
            items = [
                Text.assemble((f"{number} ", "bold"), screen.suit_in_words(suit), f" ({suit})")
                for number, suit in enumerate(free, 1)
            ]
            screen.flow("Your trumps", items)
            word = self.typed("Name them, before any card can be known")
            for number, suit in enumerate(free, 1):
                if word.lower() in (str(number), suit.lower(), SUITS[suit], SUITS[suit][:-1]):
                    return suit
            screen.line(("Type a number, a letter or the name of a suit.", "italic"))

    def typed(self, prompt: str) -> str:
        """A line that is not for the table itself.

        Raises:
            LeaveError: The person leaves.
        """
        while True:
            line = self._screen.ask(prompt)
            word = None if line is None else line.lower().lstrip("/")
            if word is None or word in ("q", "quit", "leave", "exit"):
                raise LeaveError
            if word in ("?", "help", "h"):
                self._show_rules()
            elif word == "log":
                self._show_log()
            else:
                return line or ""

    def _show_rules(self) -> None:
        """As they are at this table."""
        ruleset = self._client.checks.chain.table.terms_event.ruleset
        self._screen.page(rules.page(self._company.game, ruleset))

    def _show_log(self) -> None:
        """The table's last events, with their places in the log."""
        chain = self._client.checks.chain
        first = max(len(chain.events) - _LOG, 0)
        self._screen.blank()
        for event, index in zip(chain.events[first:], chain.indices[first:], strict=True):
            value = json.loads(event.raw)
            rest = {name: value[name] for name in value if name not in _ASIDE}
            text = f"{index:>5}  {event.TYPE:<16} {json.dumps(rest, ensure_ascii=False)}"
            room = self._screen.width - 3
            self._screen.whole((text if len(text) < room else f"{text[: room - 4]} ...", ""))
        self._screen.blank()
