"""An order with every card sealed on its own, and what opens one of them. Spec: DECK."""

from __future__ import annotations

import functools
import hashlib
from dataclasses import dataclass
from typing import Any, Final, NoReturn, Self

from fairdeal.cards import CARDS, Card, Deck
from fairdeal.codecs import CARD, EPOCH, POSITION, Place, fail
from fairdeal.encoding import unhex
from fairdeal.errors import VerificationError
from fairdeal.hashing import Digest, stream
from fairdeal.merkle import Level, Tree, leaf_hash, verify_inclusion
from fairdeal.seeds import DealKey
from fairdeal.shuffle import shuffle

SALT_BYTES = 16


def leaf(epoch: int, position: int, card: Card, salt: bytes) -> bytes:
    """The ASCII leaf of one position. Spec: DECK-2."""
    return f"{epoch} {position} {card} {salt.hex()}".encode()


_CARD_WORDS: Final = {card: f"{card} ".encode() for card in CARDS}


@functools.cache
def _leaf_starts(epoch: int, size: int) -> tuple[bytes, ...]:
    """What a deck's leaf hashes begin with: the RFC 6962 prefix, epoch and position."""
    return tuple([f"\x00{epoch} {position} ".encode() for position in range(size)])


@dataclass(frozen=True, slots=True)
class Opening:
    """What proves one card. The tree's size is not in it: the rules give it. Spec: DECK-3."""

    epoch: int
    position: int
    card: Card
    salt: bytes
    path: tuple[bytes, ...]

    def verify(self, place: Place, root: Digest, size: int) -> None:
        """Raise `path_invalid` unless this card lies at this place.

        Args:
            place: Where the rules say that the card came from.
            root: Root of the place's epoch, from the log.
            size: Number of cards of that epoch's deck, from the rules.
        """
        if (self.epoch, self.position) != place:
            raise VerificationError("path_invalid", "this opening is of another place")
        sealed = leaf_hash(leaf(place.epoch, place.position, self.card, self.salt))
        verify_inclusion(sealed, place.position, size, self.path, root)

    def to_dict(self) -> dict[str, Any]:
        """As answers and files carry it."""
        return {
            "card": self.card,
            "epoch": self.epoch,
            "path": [node.hex() for node in self.path],
            "position": self.position,
            "salt": self.salt.hex(),
        }

    @classmethod
    def from_dict(cls, value: dict[str, Any]) -> Self:
        """Read an opening from an answer; members that an opening has not are left alone.

        Raises:
            FormatError: A member is missing or malformed.
        """
        path = value.get("path")
        if not isinstance(path, list):
            raise fail("a path")
        return cls(
            EPOCH.read(value.get("epoch")),
            POSITION.read(value.get("position")),
            CARD.read(value.get("card")),
            unhex(value.get("salt"), SALT_BYTES),
            tuple([unhex(node, 32) for node in path]),
        )


class SealedDeck:
    """An epoch's order, its salts and its tree. Holds secrets: never log or pickle one."""

    __slots__ = ("_tree", "epoch", "key", "order", "root", "salts")

    def __init__(self, key: DealKey, epoch: int, order: Deck, salts: bytes) -> None:
        """Seal an order.

        Args:
            key: K_e, which order and salts come from, and all else that is drawn in the epoch.
            epoch: 0 for the deal.
            order: Position 0 first.
            salts: 16 bytes for each position. Spec: DECK-1.
        """
        self.key = key
        self.epoch = epoch
        self.order = order
        self.salts = salts
        # The leaves of `leaf`, hashed as `leaf_hash` does, without forty calls of each.
        words, sha256 = _CARD_WORDS, hashlib.sha256
        starts, texts = _leaf_starts(epoch, len(order)), salts.hex(" ", SALT_BYTES).encode().split()
        self._tree = Tree(
            [
                sha256(start + words[card] + salt).digest()
                for start, card, salt in zip(starts, order, texts, strict=True)
            ]
        )
        self.root = Digest(self._tree.root())

    @classmethod
    def from_key(cls, key: DealKey, epoch: int, deck: Deck) -> Self:
        """Shuffle and seal the cards of an epoch, given in canonical order."""
        return cls(key, epoch, shuffle(deck, key), stream(key, "salts", SALT_BYTES * len(deck)))

    def __repr__(self) -> str:
        return f"SealedDeck(epoch={self.epoch}, root={self.root.hex()}, <secret>)"

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("secrets are not pickled")

    def __len__(self) -> int:
        return len(self.order)

    @property
    def levels(self) -> list[Level]:
        """The nodes below the tree's root, by height and then by place.

        The last of a level may stand above fewer leaves than the others; where the leaves end
        before it, there is none.
        """
        tree = self._tree
        return [
            full if partial is None else [*full, partial]
            for full, partial in zip(tree.levels, tree.edge(len(tree))[0], strict=False)
        ]

    def salt(self, position: int) -> bytes:
        """Salt of one position."""
        return self.salts[SALT_BYTES * position : SALT_BYTES * (position + 1)]

    def opening(self, position: int) -> Opening:
        """What proves the card at a position."""
        return Opening(
            self.epoch,
            position,
            self.order[position],
            self.salt(position),
            tuple(self._tree.inclusion_path(position)),
        )
