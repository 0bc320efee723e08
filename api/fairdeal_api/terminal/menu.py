"""The legal moves as a numbered list, and what a person types.

A move can be typed by its number, by its cards (`9H 10H`, `9♥ 10♥`, `12o`), or by its words
(`raise 5`, `take`, `no mus`). What is not a legal move gets a sentence that says why.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple

from rich.text import Text

from fairdeal.cards import Card, french_deck, rank_of, spanish_deck, suit_of
from fairdeal_api.board import is_beat, lead_of, trump_of
from fairdeal_api.players import View, action_of
from fairdeal_api.terminal.lines import in_order, place_of
from fairdeal_api.terminal.screen import TableScreen

Json = dict[str, Any]

_SIGNS: Final = str.maketrans({"♣": "C", "♦": "D", "♥": "H", "♠": "S"})
_NUMBER: Final = re.compile(r"(\d{1,4})(?:\s+(\d{1,10}))?")
_CALL: Final = re.compile(r"(.*?)(?:\s+(?:to|by)?\s*(\d{1,10}))?")

# Other words for a call; the call itself counts, too.
_WORDS: Final = {
    "no_mus": ("cut",),
    "paso": ("pass",),
    "envido": ("bet",),
    "quiero": ("accept", "yes"),
    "no_quiero": ("refuse", "no"),
    "all_in": ("allin",),
}
_SAID: Final = {
    "mus": "mus",
    "no_mus": "no mus",
    "paso": "paso (pass)",
    "envido": "envido (bet)",
    "quiero": "quiero (accept)",
    "no_quiero": "no quiero (refuse)",
    "ordago": "órdago (bet the game)",
    "all_in": "all in",
    "buy_in": "buy in",
    "stay_out": "stay out",
}
_THROWS: Final = ("throw", "discard", "down")


class Entry(NamedTuple):
    """One line of the list: a move, or several that begin alike."""

    moves: tuple[Json, ...]
    text: Text


class Menu:
    """What a person may do now."""

    def __init__(
        self, screen: TableScreen, view: View, groups: list[tuple[str, list[Entry]]]
    ) -> None:
        """Use `menu_of`."""
        self._screen = screen
        self._view = view
        self._groups = groups
        self._entries = [entry for _, entries in groups for entry in entries]

    def show(self) -> None:
        """Print the list."""
        number = 0
        for label, entries in self._groups:
            items = []
            for entry in entries:
                number += 1
                items.append(Text.assemble((f"{number} ", "bold"), entry.text))
            self._screen.flow(label, items)

    def read(self, line: str) -> Json | Menu | str:
        """What a typed line means.

        Returns:
            An action, or the menu of the next step, or a sentence that says what is wrong.
        """
        text = _plain(line)
        if (found := _NUMBER.fullmatch(text)) is not None:
            return self._numbered(int(found[1]), None if found[2] is None else int(found[2]))
        first, _, rest = text.partition(" ")
        if first in _THROWS and rest:
            return self._cards(rest, is_thrown=True)
        if first in ("show", "play", "lay", "lead", "beat") and rest:
            return self._cards(rest, is_thrown=False)
        if _is_cards(text, self._deck):
            return self._cards(text, is_thrown=None)
        return self._said(text, line)

    @property
    def _deck(self) -> Sequence[Card]:
        return spanish_deck() if self._view.game == "mus" else french_deck()

    def _numbered(self, number: int, amount: int | None) -> Json | Menu | str:
        if not 1 <= number <= len(self._entries):
            return f"There are moves 1 to {len(self._entries)}."
        entry = self._entries[number - 1]
        if len(entry.moves) > 1:
            return _second_step(self._screen, self._view, entry.moves)
        return _with_amount(entry.moves[0], amount)

    # --- words ----------------------------------------------------------------------------------

    def _said(self, text: str, line: str) -> Json | Menu | str:
        found = _CALL.fullmatch(text)
        said, amount = (found[1], found[2]) if found else (text, None)
        for move in self._view.moves:
            if said in _words_of(move):
                return _with_amount(move, None if amount is None else int(amount))
        known = {word for call in _SAID for word in (call.replace("_", " "), *_WORDS.get(call, ()))}
        if said in known | {"raise", "take", "bet", "check", "fold", "call", "pull", "look"}:
            return f"“{line.strip()}” is not possible now."
        return f"I do not understand “{line.strip()}”: type a number of the list, or ? for help."

    # --- cards ----------------------------------------------------------------------------------

    def _cards(self, text: str, *, is_thrown: bool | None) -> Json | Menu | str:
        cards = _cards_in(text, self._deck)
        if cards is None:
            return "These are no cards of this game."
        strange = [card for card in cards if card not in self._view.hand]
        if strange:
            return f"You do not hold {self._screen.all_spoken(strange).plain}."
        if len(set(cards)) < len(cards):
            return "You have named a card twice."
        kinds = {True: ("discard",), False: ("show", "pull"), None: ("show", "pull", "discard")}
        moves = [move for move in self._view.moves if _type(self._view, move) in kinds[is_thrown]]
        exact = [move for move in moves if move.get("names") == cards]
        same = [move for move in moves if set(move.get("names", ())) == set(cards)]
        if self._view.game == "kozel" and is_thrown is None:
            # What cannot beat is thrown only if that was said.
            exact = [move for move in exact if _type(self._view, move) != "discard"]
            same = [move for move in same if _type(self._view, move) != "discard"]
        if exact or same:
            return action_of((exact or same)[0])
        starting = [move for move in moves if move.get("names", ())[:1] == cards]
        if len(starting) > 1 and self._view.game == "svoi":
            return _second_step(self._screen, self._view, tuple(starting))
        return _why_not(self._screen, self._view, cards)


def menu_of(screen: TableScreen, view: View) -> Menu:
    """The menu of a person on turn.

    Args:
        screen: Where it is shown.
        view: What the person sees, with its legal moves.
    """
    groups: list[tuple[str, list[Entry]]] = []
    for label, moves in _grouped(view):
        if label == _BEAT_FIRST:
            firsts: dict[str, list[Json]] = {}
            for move in moves:
                firsts.setdefault(move["names"][0], []).append(move)
            entries = [
                Entry(tuple(alike), screen.card(Card(first))) for first, alike in firsts.items()
            ]
        else:
            entries = [
                Entry((move,), _text(screen, move, view.play)) for move in sorted(moves, key=_order)
            ]
        if entries:
            groups.append((label, entries))
    return Menu(screen, view, groups)


_BEAT_FIRST: Final = "Beat with"


def _order(move: Json) -> list[int]:
    """Fewer cards first, then as one sorts a hand; calls stay as they are listed."""
    cards = in_order([Card(name) for name in move.get("names", ())])
    return [len(cards), *place_of(cards)]


def _type(view: View, move: Json) -> str:
    """The type of a move; of cards shown that do not beat, `discard`. Spec: KOZ-11."""
    best = view.play.get("best") if view.game == "kozel" and move["type"] == "show" else None
    if best and not is_beat(move["names"], best, trump_of(view.play, view.seat)):
        return "discard"
    return str(move["type"])


def _grouped(view: View) -> list[tuple[str, list[Json]]]:
    by_type: dict[str, list[Json]] = {}
    for move in view.moves:
        by_type.setdefault(_type(view, move), []).append(move)
    shows = by_type.get("show", [])
    show = "Play"
    if view.game == "kozel":
        show = "Beat with" if view.play.get("best") else "Lead"
        show = "Beat" if show == _BEAT_FIRST else show
    elif view.game == "svoi":
        show = "Lead" if not view.play.get("pile") else "Beat"
        if shows and len(shows[0]["cards"]) > 1:
            show = _BEAT_FIRST
    return [
        ("Pull", by_type.get("pull", [])),
        (show, shows),
        ("Throw", by_type.get("discard", [])),
        ("Say" if view.game == "mus" else "", by_type.get("call", [])),
        ("", by_type.get("look", [])),
    ]


def _second_step(screen: TableScreen, view: View, moves: Sequence[Json]) -> Menu:
    entries = [Entry((move,), screen.card(Card(move["names"][1]))) for move in moves]
    return Menu(screen, view._replace(moves=moves), [("and lay on it", entries)])


def _text(screen: TableScreen, move: Json, play: Json) -> Text:
    if move["type"] == "look":
        return Text("look at your cards")
    if move["type"] == "call":
        return Text(_call_text(move, play))
    names = [Card(name) for name in move.get("names", ())]
    if not names:
        return Text(" ").join([Text(f"card {position}") for _, position in move["cards"]])
    return screen.cards(names)


def _call_text(move: Json, play: Json) -> str:
    call = str(move["call"])
    said = _SAID.get(call, call)
    if "bids" in play:
        prices = {"call": max(play["bids"]), "buy_in": play["price"], "raise": "to"}
        said = f"{said} {prices.get(call, '')}".strip()
    if "least" not in move:
        return said
    word = call.replace("_", " ")
    least, most = move["least"], move["most"]
    if least == most:
        return f"{said} {least}"
    return f"{said} {least} (up to {most}: “{word} {min(least + 3, most)}”)"


def _with_amount(move: Json, amount: int | None) -> Json | str:
    if amount is None:
        return action_of(move)
    if "least" not in move:
        return "There is no amount with this."
    if not move["least"] <= amount <= move["most"]:
        if move["least"] == move["most"]:
            return f"The amount can only be {move['least']}."
        return f"The amount must be {move['least']} to {move['most']}."
    return action_of(move, amount)


def _words_of(move: Json) -> Iterable[str]:
    if move["type"] != "call":
        return (move["type"],) if move["type"] in ("pull", "look") else ()
    call = move["call"]
    return (call.replace("_", " "), *_WORDS.get(call, ()))


# --- what is wrong ------------------------------------------------------------------------------


def _why_not(screen: TableScreen, view: View, cards: list[Card]) -> str:
    types = {move["type"] for move in view.moves}
    named = screen.all_spoken(cards).plain
    if not types & {"show", "discard", "pull"}:
        return "No card is played now: say something from the list."
    if view.game == "kozel":
        return _why_not_kozel(view, cards, named)
    if view.game == "svoi":
        return _why_not_svoi(view, cards, screen.card(cards[0]).plain)
    if len(cards) > 1 and view.game == "azi":
        return "One card at a time."
    if view.game == "azi":
        laid = view.play["table"]
        led = suit_of(Card(laid[0]["cards"][0])) if laid else ""
        if any(suit_of(card) == led for card in view.hand):
            return f"{named} cannot be played: you hold a card of the suit led, and must follow."
        return f"{named} cannot be played: without the suit led you must play a trump."
    return f"{named} is no legal move now."


def _why_not_kozel(view: View, cards: list[Card], named: str) -> str:
    best = [Card(card) for card in view.play["best"]]
    if not best:
        if len({suit_of(card) for card in cards}) > 1:
            return "You lead one or more cards of one suit, not of several."
        return f"{named} cannot be led now."
    if len(cards) != len(best):
        each = "1 card" if len(best) == 1 else f"{len(best)} cards"
        return f"In this trick everybody lays {each}."
    trump = trump_of(view.play, view.seat)
    if is_beat(cards, best, trump):
        return f"{named} beats: it cannot be thrown now."
    led = lead_of(best, trump)
    strange = [card for card in cards if suit_of(card) not in (led, trump)]
    why = (
        "only the suit led or trumps beat"
        if strange
        else "each card must be higher than one of the best"
    )
    typed = " ".join(cards)
    hint = " You can beat, so you must."
    for move in view.moves:
        if _type(view, move) == "discard":
            down = " face down" if move["type"] == "discard" else ""
            hint = f" To throw it{down}: throw {typed}"
    return f"{named} does not beat: {why}.{hint}"


def _why_not_svoi(view: View, cards: list[Card], first: str) -> str:
    if not view.play["pile"]:
        return "You lead exactly one card."
    sizes = {len(move["cards"]) for move in view.moves if move["type"] == "show"}
    if not sizes:
        return "None of your cards beats the top: you must take."
    if len(cards) not in (1, *sizes):
        return "You lay two cards: one that beats the top, and any other one on it."
    return f"{first} does not beat the top of the pile."


# --- typed cards --------------------------------------------------------------------------------


def _plain(line: str) -> str:
    """Lower case, without accents, underscores or commas; signs of suits as letters."""
    text = unicodedata.normalize("NFD", line.translate(_SIGNS).replace("\ufe0f", ""))
    text = "".join([sign for sign in text if not unicodedata.combining(sign)])
    return " ".join(re.sub(r"[_,;+]", " ", text).lower().split())


def _is_cards(text: str, deck: Sequence[Card]) -> bool:
    letters = "".join({suit_of(card).lower() for card in deck})
    words = text.split()
    return bool(words) and all(
        re.fullmatch(rf"[0-9jqka]{{1,2}}[{letters}]", word) for word in words
    )


def _cards_in(text: str, deck: Sequence[Card]) -> list[Card] | None:
    """The cards of a text; None if one of them is no card."""
    known = {f"{rank_of(card)}{suit_of(card)}".lower(): card for card in deck}
    found = [known.get(word) for word in text.split()]
    return None if None in found else [card for card in found if card is not None]
