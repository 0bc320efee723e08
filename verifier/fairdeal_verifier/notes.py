"""What the player brings along: the log key, own seeds, receipts, cards seen. Spec: NOTE-1."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from fairdeal_verifier.encoding import (
    MAX_CONTAINERS,
    MAX_FILE,
    FormatError,
    is_too_deep,
    outline,
)
from fairdeal_verifier.games.base import Place
from fairdeal_verifier.kinds import MAX_EPOCH, MAX_SEATS, is_card, is_hex32, is_table, within
from fairdeal_verifier.note import LogKey
from fairdeal_verifier.rotation import Keys, Rotation
from fairdeal_verifier.witness import WitnessKey

FORMAT = "fairdeal-notes/1"
_MEMBERS = {"format", "log_key", "table", "hand", "seat", "seeds", "receipts", "cards"}
_LONG_INTEGER = re.compile(rb"[0-9]{17}")
_is_hand = within(1, 2**32 - 1)
_is_seat = within(0, MAX_SEATS - 1)
_is_epoch = within(0, MAX_EPOCH)
_is_position = within(0, 255)


@dataclass(frozen=True, slots=True)
class NotedReceipt:
    """A receipt, and the event it is for if the player noted that."""

    text: str
    digest: str | None = None


@dataclass(frozen=True, slots=True)
class Notes:
    """A player's notes. Spec: NOTE-1."""

    log_key: str
    table: str
    hand: int
    seat: int
    seeds: tuple[bytes, ...]
    receipts: tuple[NotedReceipt, ...]
    cards: tuple[tuple[Place, str], ...]

    @classmethod
    def parse(cls, data: bytes) -> "Notes":
        """Reads a notes file.

        Raises:
            FormatError: It is not one.
        """
        value = _read(data)
        if type(value) is not dict or value.get("format") != FORMAT:
            raise FormatError(f"the notes are not of the format {FORMAT}")
        if value.keys() != _MEMBERS:
            raise FormatError("a member of the notes is missing, or one is too many")
        seeds, receipts, cards = value["seeds"], value["receipts"], value["cards"]
        if not (
            type(value["log_key"]) is str
            and is_table(value["table"], 0)
            and _is_hand(value["hand"], 0)
            and _is_seat(value["seat"], 0)
            and all(type(part) is list for part in (seeds, receipts, cards))
            and all(is_hex32(seed, 0) for seed in seeds)
            and all(_is_receipt(one) for one in receipts)
            and all(_is_noted_card(one) for one in cards)
        ):
            raise FormatError("a member of the notes is not what it has to be")
        LogKey.parse(value["log_key"])
        return cls(
            value["log_key"],
            value["table"],
            value["hand"],
            value["seat"],
            tuple(bytes.fromhex(seed) for seed in seeds),
            tuple(NotedReceipt(one["proof"], one["digest"]) for one in receipts),
            tuple(((one["epoch"], one["position"]), one["card"]) for one in cards),
        )


def _read(data: bytes) -> Any:  # noqa: ANN401 (JSON is anything)
    """Reads JSON that needs no canonical form, but has no key twice."""
    if len(data) > MAX_FILE:
        raise FormatError("the notes are longer than 5 MiB")
    shape = outline(data)
    if is_too_deep(shape) or shape.count(b"[") + shape.count(b"{") > MAX_CONTAINERS:
        raise FormatError("the notes are not JSON, nested too deep, or have too many parts")
    if _LONG_INTEGER.search(shape):
        raise FormatError("the notes have a number that is too long")
    try:
        return json.loads(data.decode("utf-8"), object_pairs_hook=_object, parse_constant=_refuse)
    except ValueError:
        raise FormatError("the notes are not JSON in UTF-8, or have a key twice") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise ValueError("a key stands twice")
    return value


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _is_receipt(value: object) -> bool:
    return (
        type(value) is dict
        and value.keys() == {"digest", "proof"}
        and is_hex32(value["digest"], 0)
        and type(value["proof"]) is str
    )


def _is_noted_card(value: object) -> bool:
    return (
        type(value) is dict
        and value.keys() == {"at", "card", "epoch", "position"}
        and type(value["at"]) is str
        and is_card(value["card"], 0)
        and _is_epoch(value["epoch"], 0)
        and _is_position(value["position"], 0)
    )


@dataclass(frozen=True, slots=True)
class Given:
    """Everything that was given beside the file.

    Attributes:
        key: The log key to trust, a vkey, or None.
        keys: This key and those that it leads to, or None.
        seeds: For each seat its `x_0`, `x_1`.. as the player noted them.
        receipts: In the order given.
        notes: The notes, if there are any.
        witnesses: Who must have cosigned a receipt.
    """

    key: str | None = None
    keys: Keys | None = None
    seeds: dict[int, list[bytes]] = field(default_factory=dict)
    receipts: tuple[NotedReceipt, ...] = ()
    notes: Notes | None = None
    witnesses: tuple[WitnessKey, ...] = ()

    @classmethod
    def of(
        cls,
        key: str | None,
        mine: Mapping[int, str | Sequence[str]] | None,
        receipts: Iterable[bytes | str],
        notes: bytes | Notes | None,
        witnesses: Iterable[str] = (),
        rotations: Sequence[Rotation] = (),
    ) -> "Given":
        """Puts together what was given.

        Raises:
            ValueError: The caller gave something that is not what it has to be.
        """
        if isinstance(notes, bytes):
            notes = Notes.parse(notes)
        text = key if key is not None else notes.log_key if notes else None
        seeds: dict[int, list[bytes]] = {}
        for seat, given in (mine or {}).items():
            for seed in (given,) if isinstance(given, str) else given:
                if not (_is_seat(seat, 0) and is_hex32(seed, 0)):
                    raise FormatError("a noted seed is not SEAT=64 hex digits")
                seeds.setdefault(seat, []).append(bytes.fromhex(seed))
        noted = [
            NotedReceipt(one if isinstance(one, str) else one.decode("utf-8", "replace"))
            for one in receipts
        ]
        return cls(
            text,
            Keys.of(LogKey.parse(text), rotations) if text is not None else None,
            seeds,
            (*noted, *(notes.receipts if notes else ())),
            notes,
            tuple([WitnessKey.parse(one) for one in witnesses]),
        )
