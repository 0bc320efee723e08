"""The bodies of answers, for the OpenAPI file: they are written as JSON, not through these."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from fairdeal_api.schemas import Hex16, Hex32, Suit, TimeoutsIn

SeatKey = Annotated[str, Field(pattern=r"^[0-9]$")]
TableId = Annotated[str, Field(pattern=r"^tbl_[0-9a-hjkmnp-tv-z]{26}$")]
Time = Annotated[str, Field(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")]
Index = Annotated[int, Field(ge=0)]
HandState = Literal[
    "sealing",
    "opening",
    "dealing",
    "playing",
    "serving",
    "reopening",
    "restocking",
    "closed",
    "aborted",
]
TableState = Literal["idle", "hand_open", "closed"]


class Answer(BaseModel):
    """Clients must ignore members that they do not know."""

    model_config = ConfigDict(extra="allow")


class LegalMove(Answer):
    """A legal move: an action, but for `names`, and for `least` and `most` of an amount."""

    type: Literal["show", "discard", "pull", "call", "look"]
    seat: int
    cards: list[list[int]] | None = None
    names: list[str] | None = None
    call: str | None = None
    least: int | None = None
    most: int | None = None


class Result(Answer):
    """What a hand gave, as the rules of its game say."""

    first: int | None
    match: dict[str, Any]
    score: dict[str, Any]
    winner: int | None


class Problem(Answer):
    """An error, as RFC 9457 has it. `code` is stable; nothing that was sent is in it."""

    type: str
    title: str
    status: int
    detail: str
    instance: str
    code: str
    retryable: bool
    table: TableId | None = None
    hand: int | None = None
    state: str | None = None
    errors: list[dict[str, str]] | None = None
    rule: str | None = None
    legal: list[LegalMove] | None = None


class EventOut(Answer):
    """An event's exact bytes, and where it is in the log."""

    seq: Index
    index: Index
    event: str


class Events(Answer):
    """A page of events; at a table with a referee the last one says how the play stands then."""

    events: list[EventOut]
    has_more: bool
    turn: list[int] | None = None
    play: dict[str, Any] | None = None
    result: Result | None = None


class Opening(Answer):
    """What proves one card."""

    epoch: int
    position: int
    card: str
    salt: Hex16
    path: list[Hex32]


class Written(Answer):
    """What every write answers with."""

    table: TableId
    state: str
    seq: Index
    events: list[EventOut]
    receipt: str


class HandWritten(Written):
    """The same, of a hand."""

    hand: int
    state: HandState


class TableOpened(Written):
    """A new table. Claim codes are shown once."""

    terms: Hex32
    next_commitment: Hex32
    log_key: str
    origin: str
    claim_codes: dict[SeatKey, str] | None = None


class TableClosed(Written):
    """The end of a table."""

    unused_seed: Hex32


class SeatReissued(Written):
    """New credentials of a seat."""

    seat: int
    claim_code: str


class SeatToken(Answer):
    """A seat's token, shown once."""

    table: TableId
    seat: int
    token: str


class TableItem(Answer):
    """A table in a list."""

    table: TableId
    game: str
    state: TableState
    seq: Index
    hand: int


class Tables(Answer):
    """An operator's tables."""

    tables: list[TableItem]
    has_more: bool
    next: str | None


class HandItem(Answer):
    """A table's newest hand."""

    hand: int
    state: HandState


class Table(Answer):
    """A table as everybody may know it."""

    table: TableId
    game: str
    ruleset: dict[str, str | int | bool]
    seats: int
    custody: Literal["seats", "operator"]
    contribute: list[int]
    keys: dict[SeatKey, Hex32]
    timeouts: TimeoutsIn
    disclosure: Literal["hand", "table"]
    referee: bool
    terms: Hex32
    terms_event: str
    origin: str
    log_key: str
    next_commitment: Hex32
    state: TableState
    seq: Index
    hand: HandItem | None


class Sealing(HandWritten):
    """How far a hand is before its deal."""

    deadline: Time | None
    sealed_head: Hex32 | None = None


class HandOpened(Sealing):
    """A new hand."""

    commitment: Hex32
    next_commitment: Hex32
    match: dict[str, Any] | None = None


class ShownOut(Opening):
    """A card made public with the deal."""

    seat: int | None


class Dealt(HandWritten):
    """Seeds were opened; after the last one, the deal."""

    deadline: Time | None
    sealed_head: Hex32 | None = None
    due_head: Hex32 | None = None
    deck_root: Hex32 | None = None
    first: int | None = None
    positions: dict[SeatKey, list[int]] | None = None
    indicator: str | None = None
    shown: list[ShownOut] | None = None
    six_on_stage: str | None = None
    cards: dict[SeatKey, list[Opening]] | None = None
    turn: list[int] | None = None
    play: dict[str, Any] | None = None
    result: Result | None = None


class Acted(HandWritten):
    """Actions were applied."""

    results: list[dict[str, Any]]
    deadline: Time | None
    due_head: Hex32 | None = None
    cards: dict[SeatKey, list[Opening]] | None = None
    turn: list[int] | None = None
    play: dict[str, Any] | None = None
    result: Result | None = None
    transcript: str | None = None
    verify_url: str | None = None
    server_seed: Hex32 | None = None


class NextHand(Answer):
    """The hand that was opened with the end of the last."""

    hand: int
    state: HandState
    commitment: Hex32
    next_commitment: Hex32
    deadline: Time | None
    sealed_head: Hex32 | None = None


class HandEnded(HandWritten):
    """The end of a hand."""

    transcript: str
    verify_url: str
    server_seed: Hex32 | None = None
    next: NextHand | None = None


class OwnCard(Opening):
    """A card of a seat."""

    state: Literal["held", "shown", "discarded"]


class Root(Answer):
    """A deck root, and where it was logged."""

    epoch: int
    root: Hex32
    count: int
    index: Index


class NextDiscard(Answer):
    """What the seat's next lock will be made with."""

    k: int
    salt: Hex32


class SeatCards(Answer):
    """A seat's own cards."""

    seat: int
    cards: list[OwnCard]
    roots: list[Root]
    next_discard: NextDiscard
    seq: Index
    moves: list[LegalMove] | None = None


class Hand(Answer):
    """A hand as everybody may know it."""

    table: TableId
    hand: int
    game: str
    state: HandState
    seq: Index
    first: int | None
    commitment: Hex32
    next_commitment: Hex32
    trumps: dict[SeatKey, Suit]
    sealed: list[int]
    opened: list[int]
    sealed_head: Hex32 | None
    due_head: Hex32 | None
    epoch: int
    deadline: Time | None
    deck_root: Hex32 | None
    positions: dict[SeatKey, list[int]] | None
    indicator: str | None
    six_on_stage: str | None
    shown: list[dict[str, Any]]
    roots: list[dict[str, Any]]
    holdings: list[int] | None
    stock: int | None
    heap: int | None
    reason: str | None
    missing: list[int]
    server_seed: Hex32 | None
    verify_url: str | None
    match: dict[str, Any] | None = None
    turn: list[int] | None = None
    play: dict[str, Any] | None = None
    result: Result | None = None


class FinishedHand(Answer):
    """A hand that has ended."""

    table: TableId
    hand: int
    game: str
    state: Literal["closed", "aborted"]
    ended_at: Time
    index: Index
    verify_url: str


class Hands(Answer):
    """Finished hands, newest last."""

    hands: list[FinishedHand]
    has_more: bool
    next: int | None


class TranscriptFile(Answer):
    """HAND.fair.json."""

    format: Literal["fairdeal-hand/1"]
    events: list[str]
    openings: list[Opening]
    proof: str
    disclosed: dict[str, Any] | None = None


class Bounds(Answer):
    """An option that is a number."""

    default: int
    low: int
    high: int


class PlayRules(Answer):
    """What there is besides at a table with a referee."""

    options: dict[str, list[str | int | bool] | Bounds]
    match: dict[str, Any]
    calls: dict[str, str]
    rules: str


class Game(Answer):
    """A game: its deck, its options, how it is dealt."""

    game: str
    seats: list[int]
    deck: list[str]
    options: dict[str, list[str | int | bool]]
    can_reshuffle: bool
    declares_trumps: bool
    procedure: str
    play: PlayRules
    card_names: dict[str, dict[str, str]]


class Games(Answer):
    """All games."""

    games: list[Game]


class KeyOut(Answer):
    """A public key of the service."""

    id: str
    algorithm: Literal["ed25519"]
    vkey: str
    state: Literal["active", "retired"]
    first_size: int
    """Of the checkpoints that it signs."""
    last_size: int | None


class RotationOut(Answer):
    """A change of the log's key: the entry's bytes, and its receipt."""

    entry: str
    receipt: str


class Rotations(Answer):
    """All of them, in the order of the log."""

    format: Literal["fairdeal-rotations/1"]
    rotations: list[RotationOut]


class Keys(Answer):
    """The log's keys."""

    origin: str
    mode: Literal["live", "test"]
    keys: list[KeyOut]
    """The one in force first."""
    rotations: list[RotationOut]
    follows: str | None
    """Origin of the log that this one continues."""
    witnesses: list[str]


class WitnessOut(Answer):
    """A witness, and how far it is."""

    vkey: str
    size: int
    cosigned_at: str | None
    answering: bool


class Witnesses(Answer):
    """The witnesses of the log."""

    quorum: int
    policy: Literal["serve", "no_new_hands"]
    patience: int
    late: bool
    cosigned_size: int | None
    size: int
    witnesses: list[WitnessOut]


class Heard(Answer):
    """The log extends the checkpoint that was presented."""

    size: int
    """Of the log now."""


class Health(Answer):
    """Alive, or ready."""

    status: Literal["ok"]


class Version(Answer):
    """What runs."""

    version: str
    protocol: Literal["fairdeal/1"]
