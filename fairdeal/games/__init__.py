"""The games: one module each, and one for the rules of its play."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from fairdeal.errors import FormatError
from fairdeal.games.azi import Azi
from fairdeal.games.base import Game
from fairdeal.games.kozel import Kozel
from fairdeal.games.mus import Mus
from fairdeal.games.rules.azi import AziRules
from fairdeal.games.rules.base import Rules
from fairdeal.games.rules.kozel import KozelRules
from fairdeal.games.rules.mus import MusRules
from fairdeal.games.rules.svoi import SvoiRules
from fairdeal.games.svoi import Svoi

GAMES: Final[Mapping[str, Game]] = {game.name: game for game in (Kozel(), Mus(), Azi(), Svoi())}
_RULES: Final[Mapping[str, Rules]] = {
    "kozel": KozelRules(),
    "mus": MusRules(),
    "azi": AziRules(),
    "svoi": SvoiRules(),
}


def game_named(name: str) -> Game:
    """The game of this name, or raise `game_unknown`."""
    game = GAMES.get(name)
    if game is None:
        raise FormatError("game_unknown", "there is no such game here")
    return game


def rules_of(game: Game) -> Rules:
    """The rules of a game's play."""
    return _RULES[game.name]
