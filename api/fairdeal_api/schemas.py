"""The bodies of requests: strict, closed models. Answers are described in `answers`."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field
from pydantic_core import PydanticCustomError

Hex16 = Annotated[str, Field(pattern=r"^[0-9a-f]{32}$")]
Hex32 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Hex64 = Annotated[str, Field(pattern=r"^[0-9a-f]{128}$")]
SeatKey = Annotated[str, Field(pattern=r"^[0-9]$")]
Seat = Annotated[int, Field(ge=0, le=9)]
Epoch = Annotated[int, Field(ge=0, le=32)]
Seconds = Annotated[int, Field(ge=1, le=31_536_000)]
Suit = Literal["C", "D", "H", "S"]
Place = Annotated[list[Annotated[int, Field(ge=0, le=255)]], Field(min_length=2, max_length=2)]
Signatures = Annotated[dict[SeatKey, Hex64], Field(max_length=10)]
Seeds = Annotated[dict[SeatKey, Hex32], Field(min_length=1, max_length=10)]


def _each_once(seats: list[int]) -> list[int]:
    if len(set(seats)) != len(seats):
        raise PydanticCustomError("seat_twice", "a seat stands twice")
    return seats


SomeSeats = Annotated[
    list[Seat],
    Field(min_length=1, max_length=10, json_schema_extra={"uniqueItems": True}),
    AfterValidator(_each_once),
]

_HEX32 = "5f" * 32


class Request(BaseModel):
    """A body. Nothing is converted, nothing unknown is let through."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)
    example: ClassVar[dict[str, Any]] = {}


class Nothing(Request):
    """An empty object."""


class TimeoutsIn(Request):
    """Seconds until a missing seal, seed or move, or an idle hand or table, ends something."""

    seal: Seconds = 120
    open: Seconds = 60
    hand: Seconds = 3600
    table: Seconds = 86_400
    turn: Seconds = 60


class Gossip(Request):
    """A checkpoint that somebody holds."""

    example: ClassVar[dict[str, Any]] = {
        "checkpoint": "deal.example/log\n0\n47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n\n"
        "\u2014 deal.example/log AAAAAA==\n"
    }

    checkpoint: Annotated[str, Field(min_length=1, max_length=16_384)]


class CreateTable(Request):
    """The terms of a table: fixed for all its hands."""

    example: ClassVar[dict[str, Any]] = {
        "game": "mus",
        "custody": "operator",
        "ruleset": {"reshuffle": "previous"},
    }

    game: Annotated[str, Field(pattern=r"^[a-z0-9_]{1,32}$")]
    custody: Literal["seats", "operator"]
    seats: Annotated[int, Field(ge=1, le=10)] | None = None
    ruleset: Annotated[dict[str, str | int | bool], Field(max_length=20)] = Field(
        default_factory=dict
    )
    contribute: SomeSeats | None = None
    keys: Annotated[dict[SeatKey, Hex32], Field(max_length=10)] = Field(default_factory=dict)
    timeouts: TimeoutsIn = TimeoutsIn()
    disclosure: Literal["hand", "table"] = "hand"
    referee: bool = False
    test_seed: Hex32 | None = None


class Claim(Request):
    """A claim code, which works once."""

    example: ClassVar[dict[str, Any]] = {"code": "fdc_" + "A" * 43}

    code: Annotated[str, Field(pattern=r"^fdc_[A-Za-z0-9_-]{43}$")]


class OpenHand(Request):
    """A new hand, with as much as is known of it."""

    example: ClassVar[dict[str, Any]] = {
        "first": None,
        "seals": {str(seat): f"{seat}{seat}" * 32 for seat in range(4)},
    }

    first: Seat | None = None
    trumps: Annotated[dict[SeatKey, Suit], Field(min_length=1, max_length=10)] | None = None
    trump_sigs: Signatures = Field(default_factory=dict)
    seals: Seeds | None = None
    seal_sigs: Signatures = Field(default_factory=dict)


class PutTrump(Request):
    """A seat's own trump suit."""

    example: ClassVar[dict[str, Any]] = {"suit": "H"}

    suit: Suit
    sig: Hex64 | None = None


class PutSeal(Request):
    """A seat's commitment to its seed."""

    example: ClassVar[dict[str, Any]] = {"seal": _HEX32}

    seal: Hex32
    sig: Hex64 | None = None


class PutSeed(Request):
    """A seat's seed, opened under the head that its device has checked."""

    example: ClassVar[dict[str, Any]] = {"epoch": 0, "head": _HEX32, "seed": _HEX32}

    epoch: Epoch
    head: Hex32
    seed: Hex32
    sig: Hex64 | None = None


class Deal(Request):
    """The seeds that are still missing."""

    example: ClassVar[dict[str, Any]] = {
        "seeds": {str(seat): f"{seat}{seat}" * 32 for seat in range(4)}
    }

    seeds: Seeds | None = None
    head: Hex32 | None = None
    sigs: Signatures = Field(default_factory=dict)


class Draw(Request):
    """Everyone draws, the taker first."""

    type: Literal["draw"]
    first: Seat


class Discard(Request):
    """A seat throws cards face down."""

    type: Literal["discard"]
    seat: Seat
    cards: Annotated[list[Place], Field(min_length=1, max_length=36)]
    sig: Hex64 | None = None


class Show(Request):
    """A seat lays cards open."""

    type: Literal["show"]
    seat: Seat
    cards: Annotated[list[Place], Field(min_length=1, max_length=36)]


class Return(Request):
    """The trick goes back."""

    type: Literal["return"]


class OpenSeeds(Request):
    """Seeds of the next epoch; those of epoch 0 deal, which has a request of its own."""

    type: Literal["seeds"]
    epoch: Annotated[Epoch, Field(ge=1)]
    head: Hex32
    seeds: Seeds
    sigs: Signatures = Field(default_factory=dict)


class Look(Request):
    """A seat that could bid blind looks at its cards."""

    type: Literal["look"]
    seat: Seat


class Pull(Request):
    """A seat takes a trick back and comes in with four cards of one suit."""

    type: Literal["pull"]
    seat: Seat
    cards: Annotated[list[Place], Field(min_length=1, max_length=36)]


class CallOut(Request):
    """A seat says something: a bet, a pass, a pick-up."""

    type: Literal["call"]
    seat: Seat
    call: Annotated[str, Field(pattern=r"^[a-z_]{1,16}$")]
    amount: Annotated[int, Field(ge=0, le=2**53 - 1)] | None = None


Action = Annotated[
    Draw | Discard | Show | Return | OpenSeeds | Look | Pull | CallOut, Field(discriminator="type")
]


class Actions(Request):
    """Actions, all or nothing."""

    example: ClassVar[dict[str, Any]] = {
        "actions": [{"type": "show", "seat": 1, "cards": [[0, 1]]}, {"type": "draw", "first": 1}]
    }

    actions: Annotated[list[Action], Field(min_length=1, max_length=64)]


class CloseHand(Request):
    """The end of a hand, and the next one, if it begins at once."""

    example: ClassVar[dict[str, Any]] = {
        "next": {"seals": {str(seat): f"{seat}{seat}" * 32 for seat in range(4)}}
    }

    next: OpenHand | None = None
