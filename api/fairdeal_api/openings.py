"""The openings of many cards as JSON, at once.

A deal with all seats in one hand answers with sixteen or more openings of the same tree. Path by
path, object by object they would cost more than shuffling and sealing the deck. So the text is kept
that is the same whenever the same places are opened, and only cards, salts and nodes are put in.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import lru_cache
from itertools import chain
from operator import itemgetter
from typing import Final, NamedTuple

from fairdeal.codecs import Place
from fairdeal.dealing import Dealing
from fairdeal.sealed_deck import SALT_BYTES, SealedDeck
from fairdeal_api.json_bytes import Raw

_FORMS: Final = 256
"""How many are kept, of some 15 KB: those of all deals, and of the draws that come most often."""
_GAP: Final = "?"

Seats = tuple[tuple[int, tuple[Place, ...]], ...]


class _Part(NamedTuple):
    """What is needed of an epoch's deck."""

    epoch: int
    size: int
    """How many cards, from the top."""
    levels: list[slice]
    """Which nodes of each level below the root, from the leaves up."""


class _Form(NamedTuple):
    """Openings without the words that differ from deck to deck."""

    text: list[str]
    """Each second one is a gap."""
    parts: list[_Part]
    words: Callable[[list[str]], tuple[str, ...]]
    """What belongs in the gaps, of all words of all parts."""


def _part(epoch: int, last: int, cards: int) -> _Part:
    """What is needed for the openings up to a position, in a deck of so many cards."""
    levels: list[slice] = []
    nodes = cards
    while nodes > 1:
        # The last one's sibling may be the right one; beyond the tree there is none.
        levels.append(slice(min(nodes, (last >> len(levels) | 1) + 1)))
        nodes = (nodes + 1) // 2
    return _Part(epoch, last + 1, levels)


def _words(deck: SealedDeck, part: _Part) -> list[str]:
    """Cards, salts, and then nodes by height and place: all that an opening is made of."""
    salts = deck.salts[: SALT_BYTES * part.size].hex(" ", SALT_BYTES).split()
    nodes = [level[some] for level, some in zip(deck.levels, part.levels, strict=False)]
    return [*deck.order[: part.size], *salts, *map(bytes.hex, chain.from_iterable(nodes))]


def _numbers(part: _Part, position: int) -> list[int]:
    """Which of a part's words are in one opening, in its order. Spec: DECK-2, DECK-3."""
    numbers, start = [position, part.size + position], 2 * part.size
    for height, nodes in enumerate(part.levels):
        sibling = position >> height ^ 1
        if sibling < nodes.stop:
            numbers.append(start + sibling)
        start += nodes.stop
    return numbers


@lru_cache(_FORMS)
def _form(sizes: tuple[int, ...], seats: Seats) -> _Form:
    """The form of all openings of these places, in decks of these sizes."""
    last = dict(sorted(chain.from_iterable(places for _, places in seats)))
    parts = {epoch: _part(epoch, position, sizes[epoch]) for epoch, position in last.items()}
    starts, count = {}, 0
    for part in parts.values():
        starts[part.epoch] = count
        count += 2 * part.size + sum(nodes.stop for nodes in part.levels)
    members, words = [], []
    for seat, places in seats:
        openings = []
        for epoch, position in places:
            numbers = _numbers(parts[epoch], position)
            words += [starts[epoch] + number for number in numbers]
            path = ",".join([f'"{_GAP}"' for _ in numbers[2:]])
            openings.append(
                f'{{"epoch":{epoch},"position":{position},"card":"{_GAP}","salt":"{_GAP}",'
                f'"path":[{path}]}}'
            )
        members.append(f'"{seat}":[{",".join(openings)}]')
    fixed = f"{{{','.join(members)}}}".split(_GAP)
    text = [_GAP] * (2 * len(fixed) - 1)
    text[::2] = fixed
    return _Form(text, list(parts.values()), itemgetter(*words) if words else lambda _: ())


def by_seat(dealing: Dealing, places: Mapping[int, Collection[Place]]) -> Raw:
    """The openings of each seat's cards: `{seat: [opening..]}`."""
    decks = dealing.decks
    seats = tuple([(seat, tuple(mine)) for seat, mine in places.items()])
    form = _form(tuple(map(len, decks)), seats)
    # Every value is of our own making: digits, hex, and the names of cards.
    text = form.text.copy()
    text[1::2] = form.words([*chain.from_iterable([_words(decks[p.epoch], p) for p in form.parts])])
    return Raw("".join(text).encode())
