"""The games: one module each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from fairdeal.errors import FormatError
from fairdeal.games.azi import Azi
from fairdeal.games.base import Game
from fairdeal.games.kozel import Kozel
from fairdeal.games.mus import Mus
from fairdeal.games.svoi import Svoi

GAMES: Final[Mapping[str, Game]] = {game.name: game for game in (Kozel(), Mus(), Azi(), Svoi())}


def game_named(name: str) -> Game:
    """The game of this name, or raise `game_unknown`."""
    game = GAMES.get(name)
    if game is None:
        raise FormatError("game_unknown", "there is no such game here")
    return game
