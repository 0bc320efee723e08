"""The games in words: decks, options, procedures, and the names of cards in five languages.

The Zulu and Tamil names are not yet reviewed by native speakers.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

from fairdeal.cards import Card, rank_of, suit_of
from fairdeal.games import rules_of
from fairdeal.games.base import Game, Span, Value

_SUITS: Final[dict[str, dict[str, str]]] = {
    "en": {"C": "clubs", "D": "diamonds", "H": "hearts", "S": "spades"}
    | {"o": "coins", "c": "cups", "e": "swords", "b": "batons"},
    "es": {"C": "tréboles", "D": "diamantes", "H": "corazones", "S": "picas"}
    | {"o": "oros", "c": "copas", "e": "espadas", "b": "bastos"},
    "ru": {"C": "треф", "D": "бубен", "H": "червей", "S": "пик"}
    | {"o": "монет", "c": "кубков", "e": "мечей", "b": "палиц"},
    "zu": {"C": "ama-club", "D": "amadayimane", "H": "izinhliziyo", "S": "ama-spade"}
    | {"o": "izinhlamvu", "c": "izinkomishi", "e": "izinkemba", "b": "izinduku"},
    "ta": {"C": "கிளப்கள்", "D": "வைரங்கள்", "H": "இதயங்கள்", "S": "ஸ்பேட்ஸ்"}
    | {"o": "நாணயங்கள்", "c": "கோப்பைகள்", "e": "வாள்கள்", "b": "தடிகள்"},
}
_COURT: Final[dict[str, dict[str, str]]] = {
    "en": {"J": "jack", "Q": "queen", "K": "king", "A": "ace", "11": "knight"},
    "es": {"J": "jota", "Q": "dama", "K": "rey", "A": "as", "11": "caballo"},
    "ru": {"J": "валет", "Q": "дама", "K": "король", "A": "туз", "11": "конь"},
    "zu": {"J": "uJack", "Q": "indlovukazi", "K": "inkosi", "A": "i-Ace", "11": "ihhashi"},
    "ta": {"J": "ஜாக்", "Q": "ராணி", "K": "ராஜா", "A": "ஏஸ்", "11": "குதிரை"},
}
_RUSSIAN: Final = {"2": "двойка", "3": "тройка", "4": "четвёрка", "5": "пятёрка"} | {
    "6": "шестёрка",
    "7": "семёрка",
    "8": "восьмёрка",
    "9": "девятка",
    "10": "десятка",
}
_PROCEDURES: Final[dict[str, str]] = {
    "kozel": "Four cards each, one at a time, from the seat after the dealer. A card of the stock "
    "names trumps. After each trick everyone draws up to four, the taker first.",
    "mus": "Four cards each, one at a time, from mano. In each mus round every seat throws one to "
    "four cards face down and gets as many. When the stock ends, discards are shuffled again under "
    "the seats' next seeds.",
    "azi": "Three or four cards each, one at a time, from the opener. The next card, or the "
    "dealer's last, is turned for trumps. With four cards each seat throws one face down.",
    "svoi": "Both seats name their trumps before the deck can be known. Eighteen cards each, one "
    "at a time. With `exchange`, sixes of the other's trumps change hands.",
}
_PLAY: Final[dict[str, str]] = {
    "kozel": "Two teams. The leader shows one or more cards of one suit; the others beat all of "
    "them or throw as many away. With four cards of one suit a seat may pull the trick. A team "
    "with fewer than 60 card points gets defeat points; with `target` of them it has lost.",
    "mus": "Two teams talk about changing cards, bet on grande, chica, pares and juego (or punto), "
    "show and count. `target` points win a game.",
    "azi": "Antes, bids for the lead, then tricks: suit is followed, else trumped. Two tricks win "
    "the bank; when nobody has two it is azi, and the bank is carried over.",
    "svoi": "Each seat has trumps of its own. A seat beats the top of the pile and lays one more "
    "card on it, or takes from it. Who is rid of all cards has won.",
}
_CALLS: Final[dict[str, dict[str, str]]] = {
    "kozel": {},
    "mus": {
        "mus": "wants to change cards",
        "no_mus": "ends the talk",
        "paso": "does not bet",
        "envido": "bets `amount`",
        "quiero": "accepts the bet",
        "no_quiero": "refuses the bet",
        "raise": "raises the bet by `amount`",
        "ordago": "bets the game",
    },
    "azi": {
        "bet": "the first bid; `amount` is the bid",
        "check": "does not bid yet",
        "fold": "gives the hand up",
        "call": "pays up to the highest bid",
        "raise": "`amount` is the new highest bid",
        "all_in": "pays all it has",
        "buy_in": "after azi: pays half the bank to take part",
        "stay_out": "after azi: does not take part",
    },
    "svoi": {"take": "takes `amount` cards from the top of the pile"},
}


def card_name(card: Card, language: str) -> str:
    """A card in words."""
    suit, rank = suit_of(card), rank_of(card)
    # A Spanish pack has no letters: 1, 10 and 12 are its ace, its page and its king.
    if suit in "oceb":
        rank = {"1": "A", "10": "J", "12": "K"}.get(rank, rank)
        if language == "es" and rank == "J":
            return f"sota de {_SUITS['es'][suit]}"
    word = _COURT[language].get(rank, rank)
    if language == "ru":
        word = _RUSSIAN.get(rank, word)
    name = _SUITS[language][suit]
    joined = {"en": f"{word} of {name}", "es": f"{word} de {name}", "ta": f"{name} {word}"}
    return joined.get(language, f"{word} {name}")


def _values(values: tuple[Value, ...] | Span) -> list[Value] | dict[str, int]:
    """The values of a play option: the default first, or the bounds of a number."""
    return values._asdict() if isinstance(values, Span) else list(values)


@lru_cache(maxsize=32)
def describe(game: Game) -> dict[str, Any]:
    """A game as the API shows it; the default of each option stands first."""
    defaults = {option: values[0] for option, values in game.options.items()}
    decks = [game.deck(defaults | {"suits": s}) for s in game.options.get("suits", ("",))]
    cards = dict.fromkeys(card for deck in decks for card in deck)
    rules = rules_of(game)
    whole = game.ruleset({}, play=rules.options)
    return {
        "game": game.name,
        "seats": list(game.seats),
        "deck": list(game.deck(defaults)),
        "options": {option: list(values) for option, values in game.options.items()},
        "can_reshuffle": game.can_reshuffle,
        "declares_trumps": game.declares_trumps,
        "procedure": _PROCEDURES.get(game.name, ""),
        "play": {
            "options": {option: _values(values) for option, values in rules.options.items()},
            "match": dict(rules.fresh(whole, game.seats[0])),
            "calls": _CALLS.get(game.name, {}),
            "rules": _PLAY.get(game.name, ""),
        },
        "card_names": {
            language: {card: card_name(card, language) for card in cards} for language in _SUITS
        },
    }
