"""The openings of many cards of one deck as JSON, at once.

A deal with all seats in one hand answers with sixteen or more openings of the same tree. Path by
path, object by object they would cost more than shuffling and sealing the deck.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from fairdeal.codecs import Place
from fairdeal.dealing import Dealing
from fairdeal.sealed_deck import SALT_BYTES, SealedDeck
from fairdeal_api.json_bytes import Raw


def _paths(deck: SealedDeck, size: int) -> list[str]:
    """The paths of a deck's first positions in JSON, from the root down to the leaves.

    What lies above a node is written once for all its leaves. Spec: DECK-2.
    """
    paths, levels = [""], deck.levels
    for height in range(len(levels) - 1, -1, -1):
        last = (size - 1) >> height
        # The last one's sibling may be the right one; beyond the tree there is none.
        nodes = [f'"{node.hex()}",' for node in levels[height][: (last | 1) + 1]] + [""]
        paths = [nodes[at ^ 1] + paths[at >> 1] for at in range(last + 1)]
    return [path[:-1] for path in paths]


def _openings(deck: SealedDeck, positions: set[int]) -> dict[int, str]:
    """The openings of some positions."""
    if not positions:
        return {}
    epoch, order, salts = deck.epoch, deck.order, deck.salts.hex()
    paths = _paths(deck, max(positions) + 1)
    # Every value is of our own making: digits, hex, and the names of cards.
    return {
        at: f'{{"epoch":{epoch},"position":{at},"card":"{order[at]}",'
        f'"salt":"{salts[2 * SALT_BYTES * at : 2 * SALT_BYTES * (at + 1)]}","path":[{paths[at]}]}}'
        for at in positions
    }


def by_seat(dealing: Dealing, places: Mapping[int, Collection[Place]]) -> Raw:
    """The openings of each seat's cards: `{seat: [opening..]}`."""
    found = [
        _openings(
            deck, {at for mine in places.values() for epoch, at in mine if epoch == deck.epoch}
        )
        for deck in dealing.decks
    ]
    seats = [
        f'"{seat}":[{",".join([found[epoch][position] for epoch, position in mine])}]'
        for seat, mine in places.items()
    ]
    return Raw(f"{{{','.join(seats)}}}".encode())
