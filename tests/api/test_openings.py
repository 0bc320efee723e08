"""Openings written at once are the openings of the core, for decks of every size. Spec: DECK-3."""

import json

import pytest

from fairdeal.cards import spanish_deck
from fairdeal.codecs import Place
from fairdeal.dealing import Dealing
from fairdeal.sealed_deck import SealedDeck
from fairdeal.seeds import DealKey, ServerSeed
from fairdeal_api import openings


def dealing(*sizes: int) -> Dealing:
    key = DealKey(bytes(range(32)))
    decks = [SealedDeck.from_key(key, e, spanish_deck()[:n]) for e, n in enumerate(sizes)]
    return Dealing(None, ServerSeed(bytes(32)), {}, tuple(decks))


def of_the_core(secrets: Dealing, places: dict[int, list[Place]]) -> dict[str, list[dict]]:
    return {
        str(seat): [secrets.opening(place).to_dict() for place in mine]
        for seat, mine in places.items()
    }


@pytest.mark.parametrize("size", range(1, 41))
def test_openings_of_a_deck(size):
    secrets = dealing(size)
    for last in range(size):
        places = {0: [Place(0, last)], 1: [Place(0, p) for p in range(last)], 2: []}
        assert json.loads(openings.by_seat(secrets, places)) == of_the_core(secrets, places)


def test_openings_of_several_epochs():
    secrets = dealing(40, 7, 12)
    places = {3: [Place(2, 11), Place(0, 39)], 0: [Place(1, 6), Place(2, 0)]}
    assert json.loads(openings.by_seat(secrets, places)) == of_the_core(secrets, places)
    assert json.loads(openings.by_seat(secrets, {})) == {}
