"""Cards and decks: identities in canonical order. No chance. Spec: SHUF-1."""

from __future__ import annotations

import functools
from typing import Final, NewType

Card = NewType("Card", str)
Deck = tuple[Card, ...]

FRENCH_SUITS: Final = "CDHS"
FRENCH_RANKS: Final = ("6", "7", "8", "9", "10", "J", "Q", "K", "A")
SPANISH_SUITS: Final = "oceb"
SPANISH_RANKS: Final = ("1", "2", "3", "4", "5", "6", "7", "10", "11", "12")


@functools.cache
def french_deck(suits: str = FRENCH_SUITS) -> Deck:
    """Nine ranks of each suit named; suits in the order C D H S."""
    return tuple(
        Card(rank + suit) for suit in FRENCH_SUITS if suit in suits for rank in FRENCH_RANKS
    )


@functools.cache
def spanish_deck() -> Deck:
    """The forty cards of Mus."""
    return tuple(Card(rank + suit) for suit in SPANISH_SUITS for rank in SPANISH_RANKS)


CARDS: Final = frozenset(french_deck() + spanish_deck())


def suit_of(card: Card) -> str:
    """The suit letter of a card."""
    return card[-1]


def rank_of(card: Card) -> str:
    """The rank of a card, as it is written."""
    return card[:-1]


def in_canonical_order(cards: frozenset[Card], deck: Deck) -> Deck:
    """The cards of a pool as their deck orders them."""
    return tuple(card for card in deck if card in cards)
