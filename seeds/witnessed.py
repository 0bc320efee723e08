"""Hands whose player asks for a witness, which has cosigned, has not, or has another head."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from fairdeal.log.checkpoint import Checkpoint
from fairdeal.log.cosignature import CosigningKey
from seeds.hands import new_table, play_kozel
from seeds.local import named

_TIME = 1_764_450_000
WITNESS = CosigningKey("witness.example/w1", named("witness key"))


class Witnessed(NamedTuple):
    """A file, the receipt of its sealed head, and the first check that must fail if one does."""

    name: str
    file: bytes
    receipt: str
    failed: str | None
    witnesses: tuple[str, ...] = (str(WITNESS.verifier),)


def witnessed_hands() -> Iterator[Witnessed]:
    """One hand, and three receipts. Spec: WIT-2, WIT-10."""
    table = new_table("kozel", "kw")
    table.open_hand()
    table.seal()
    book = table.book
    receipt = book.receipt(table.indices[-1]).text()
    head = Checkpoint(book.key.name, len(book.entries), book.tree.root())
    table.open_seeds()
    play_kozel(table, 1)
    table.close()
    later = Checkpoint(book.key.name, len(book.entries), book.tree.root())
    file = table.transcript().encode()
    good, other = WITNESS.cosign(head, _TIME), WITNESS.cosign(later, _TIME)
    yield Witnessed("kozel-cosigned", file, receipt + good, None)
    yield Witnessed("kozel-not_cosigned_fail", file, receipt, "log.witness")
    yield Witnessed("kozel-cosignature_fail", file, receipt + other, "log.witness")
