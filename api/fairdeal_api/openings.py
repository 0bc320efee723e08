"""The openings of many cards of one deck as JSON, at once.

A deal with all seats in one hand answers with sixteen or more openings of the same tree. Path by
path, object by object they would cost more than shuffling and sealing the deck.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from fairdeal.codecs import Place
from fairdeal.dealing import Dealing
from fairdeal.merkle import node_hash
from fairdeal.sealed_deck import SealedDeck
from fairdeal_api.http import Raw


def _levels(deck: SealedDeck) -> list[list[str]]:
    """All nodes in hex, leaves first; an odd last node goes up as it is. Spec: DECK-2.

    That is the tree of RFC 6962 for exactly these leaves.
    """
    found: list[list[str]] = []
    ragged: bytes | None = None
    for level in deck.levels:
        nodes = [node.hex() for node in level]
        if ragged is not None:
            nodes.append(ragged.hex())
        found.append(nodes)
        if len(level) % 2:
            ragged = level[-1] if ragged is None else node_hash(level[-1], ragged)
    return found


def _opening(deck: SealedDeck, levels: list[list[str]], position: int) -> str:
    path, at = [], position
    for level in levels:
        sibling = at ^ 1
        if sibling < len(level):
            path.append(f'"{level[sibling]}"')
        at >>= 1
    # Every value is of our own making: digits, hex, and the names of cards.
    return (
        f'{{"epoch":{deck.epoch},"position":{position},"card":"{deck.order[position]}",'
        f'"salt":"{deck.salt(position).hex()}","path":[{",".join(path)}]}}'
    )


def by_seat(dealing: Dealing, places: Mapping[int, Iterable[Place]]) -> Raw:
    """The openings of each seat's cards: `{seat: [opening..]}`."""
    levels: dict[int, list[list[str]]] = {}
    seats = []
    for seat, mine in places.items():
        found = []
        for epoch, position in mine:
            deck = dealing.decks[epoch]
            if epoch not in levels:
                levels[epoch] = _levels(deck)
            found.append(_opening(deck, levels[epoch], position))
        seats.append(f'"{seat}":[{",".join(found)}]')
    return Raw(f"{{{','.join(seats)}}}")
