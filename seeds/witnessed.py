"""Hands whose player asks for a witness, which has cosigned, has not, or has another head."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from fairdeal.log.checkpoint import Checkpoint
from fairdeal.log.cosignature import CosigningKey
from seeds.hands import new_table, play_kozel
from seeds.local import named

_TIME = 1_764_450_000
WITNESS = CosigningKey("witness.example/w1", named("witness key"))


class Witnessed(NamedTuple):
    """A file, receipts of its sealed head by name, and the check that must fail, if one does."""

    name: str
    file: bytes
    receipts: Mapping[str, str]
    failed: str | None
    witnesses: tuple[str, ...] = (str(WITNESS.verifier),)


def witnessed_hands() -> Iterator[Witnessed]:
    """One hand, its receipts, and two of these together. Spec: WIT-2, WIT-10."""
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
    good = {"kozel-cosigned.receipt": receipt + WITNESS.cosign(head, _TIME)}
    none = {"kozel-not_cosigned.receipt": receipt}
    bad = {"kozel-cosignature.receipt": receipt + WITNESS.cosign(later, _TIME)}
    yield Witnessed("kozel-cosigned", file, good, None)
    yield Witnessed("kozel-not_cosigned_fail", file, none, "log.witness")
    yield Witnessed("kozel-cosignature_fail", file, bad, "log.witness")
    # The bad one does not count, and that is all.
    yield Witnessed("kozel-cosigned_once", file, bad | good, None)
    # A witness may have the log's own name: lines are told apart by their key ids.
    namesake = CosigningKey(book.key.name, named("a witness of the log's name"))
    same = {"kozel-namesake.receipt": receipt + namesake.cosign(head, _TIME)}
    yield Witnessed("kozel-namesake", file, same, None, (str(namesake.verifier),))
