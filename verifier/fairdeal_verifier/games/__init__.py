"""The games that this tool knows. A further game is one module, and one line here."""

from fairdeal_verifier.games.azi import Azi
from fairdeal_verifier.games.base import Game, deck_of
from fairdeal_verifier.games.kozel import Kozel
from fairdeal_verifier.games.mus import Mus
from fairdeal_verifier.games.svoi import Svoi

GAMES: dict[str, type[Game]] = {game.id: game for game in (Kozel, Mus, Azi, Svoi)}
CARDS = frozenset(card for game in GAMES.values() for card in deck_of(game.ranks, game.suits))
SUITS = tuple(sorted({suit for game in GAMES.values() for suit in game.suits}))

__all__ = ["CARDS", "GAMES", "SUITS", "Game"]
