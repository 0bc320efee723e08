"""A hand with a player's notes: right ones, and those of a seat that the table does not have."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from fairdeal.hashing import digest
from fairdeal.notes import Notes
from seeds.hands import new_table, play_azi


class Noted(NamedTuple):
    """A file, the notes that are given with it, and the first check that must fail if one does."""

    name: str
    file: bytes
    notes: bytes
    failed: str | None


def noted_hands() -> Iterator[Noted]:
    """One hand of two seats, and two players' notes. Spec: NOTE-1, VER-2."""
    table = new_table("azi", "an", seats=2)
    table.open_hand()
    table.seal()
    sealed = table.indices[-1]
    kept = digest(table.book.entries[sealed]), table.book.receipt(sealed).text()
    table.open_seeds()
    seen, dealt = table.book.now, table.hand.playing
    play_azi(table)
    table.close()
    file = table.transcript().encode()
    for name, seat, failed in (("azi-noted", 1, None), ("azi-noted_stranger_fail", 2, "mine")):
        notes = Notes(str(table.book.key.verifier), table.table.id, hand=1, seat=seat)
        notes.receipts.append(kept)
        if failed is None:
            notes.seeds.append(table.hand.seeds[0][seat])
            notes.cards += [
                (seen, place, table.secrets.card(place)) for place in dealt.received[seat]
            ]
        else:
            # Cards that were dealt to nobody, and no seed: nothing that another seat could have.
            place = dealt.stock[0]
            notes.cards.append((seen, place, table.secrets.card(place)))
        yield Noted(name, file, notes.encode(), failed)
