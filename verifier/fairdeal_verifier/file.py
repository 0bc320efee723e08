"""Reads a hand's file. Spec: FILE-1 to FILE-5, VER-1."""

from typing import Any

from fairdeal_verifier.encoding import (
    MAX_FILE,
    FormatError,
    UnreadableError,
    are_in_one_form,
    encode_file,
    read_json,
)
from fairdeal_verifier.events import Body, Step, parse
from fairdeal_verifier.games import GAMES, Game
from fairdeal_verifier.kinds import MAX_SEATS, is_discards, is_hex32, is_opening
from fairdeal_verifier.note import Receipt
from fairdeal_verifier.words import say

FORMAT = "fairdeal-hand/1"
# The shortest event, with its quotes escaped, is longer than 200 bytes.
MAX_EVENTS = MAX_FILE // 200
_MEMBERS = {"events", "format", "openings", "proof"}
_NOT_IN_A_HAND = frozenset(
    ("table.opened", "hand.opened", "hand.disclosed", "seat.reissued", "table.closed")
)
_SHOWING = {"hand.dealt": "shown", "cards.shown": "shown", "cards.given": "given"}
_ENDS = frozenset(("hand.closed", "hand.aborted"))


class HandFile:
    """A file that passes `format`.

    Attributes:
        table: `table.opened`.
        steps: The hand's events, from `hand.opened` on.
        disclosed: The server seed and the discards, if the hand is disclosed.
        openings: What proves single cards, if it is not.
        receipt: The log's proof for the last event.
        terms: T.
        game: The rules of the table's game.
        seats: The number of seats.
        referee: The table has one.
        contribute: The contributing seats.
        keys: The Ed25519 keys of the seats that have one.
        opened: `hand.opened`.
        last: The last event.
        hand: The number of the hand.
        commitment: C.
        is_final: The hand has ended.
        reason: Why it was aborted, or "".
        server_seed: s, if it is disclosed.
        seeds: Every seat seed opened in the file: epoch, seat, x_e.
        shown: Every `shown` and `given` of the events, in event order.
    """

    def __init__(
        self,
        steps: list[Step],
        disclosed: Body | None,
        openings: list[Body],
        receipt: Receipt,
    ) -> None:
        """Takes what has been read.

        Args:
            steps: `table.opened`, and the hand's events from `hand.opened` on.
            disclosed: The member of this name, if there is one.
            openings: The member of this name.
            receipt: The member `proof`.
        """
        table = steps[0].body
        self.table = steps[0]
        self.steps = steps[1:]
        self.disclosed = disclosed
        self.openings = openings
        self.receipt = receipt
        self.terms = self.table.digest
        self.game: type[Game] = GAMES[table["game"]]
        self.seats: int = table["seats"]
        self.referee: bool = table["referee"]
        self.contribute: list[int] = table["contribute"]
        self.keys = {int(seat): bytes.fromhex(key) for seat, key in table["keys"].items()}
        self.opened = steps[1]
        self.last = steps[-1]
        self.hand: int = self.opened.body["hand"]
        self.commitment = bytes.fromhex(self.opened.body["commitment"])
        self.is_final = self.last.type in _ENDS
        self.reason: str = self.last.body["reason"] if self.last.type == "hand.aborted" else ""
        self.server_seed = bytes.fromhex(disclosed["server_seed"]) if disclosed else None
        self.seeds: list[tuple[int, int, bytes]] = [
            (step.body["epoch"], int(seat), bytes.fromhex(seed))
            for step in self.steps
            if step.type == "seeds.opened"
            for seat, seed in step.body["seeds"].items()
        ]
        self.shown: list[Body] = [
            one
            for step in self.steps
            if step.type in _SHOWING
            for one in step.body[_SHOWING[step.type]]
        ]


def read(data: bytes) -> HandFile:
    """Reads a hand's file.

    Raises:
        UnreadableError: It is no file of a version that this tool knows. Spec: VER-1
        FormatError: Something in it is not as the specification says.
    """
    text, value = read_json(data)
    if type(value) is not dict or value.get("format") != FORMAT:
        raise UnreadableError(say("unreadable.format", format=FORMAT))
    steps = _steps(value.get("events"))
    if encode_file(value) != text:
        raise FormatError("the file is not written in its one form")
    if value.keys() not in (_MEMBERS, _MEMBERS | {"disclosed"}):
        raise FormatError("a member of the file is missing, or one is too many")
    _check_sequence(steps)
    seats = steps[0].body["seats"]
    disclosed = value.get("disclosed")
    if "disclosed" in value and not (
        type(disclosed) is dict
        and disclosed.keys() == {"discards", "server_seed"}
        and is_hex32(disclosed["server_seed"], seats)
        and is_discards(disclosed["discards"], seats)
    ):
        raise FormatError("disclosed is not a server seed and discards")
    openings = value["openings"]
    if type(openings) is not list or not all(is_opening(one, seats) for one in openings):
        raise FormatError("openings is not a list of openings")
    return HandFile(steps, disclosed, openings, _receipt(value["proof"]))


def _steps(events: Any) -> list[Step]:  # noqa: ANN401 (JSON is anything)
    """Reads the events. One of another version makes the file unreadable whatever else is wrong."""
    if type(events) is not list or not events:
        raise FormatError("events is not a list of strings")
    if len(events) > MAX_EVENTS:
        raise FormatError("a file of this length cannot hold so many events")
    steps: list[Step] = []
    fault: FormatError | None = None
    seats = MAX_SEATS
    for text in events:
        if type(text) is not str:
            fault = fault or FormatError("an event is no string")
            continue
        try:
            step = parse(text, seats)
        except FormatError as error:
            fault = fault or error
        else:
            steps.append(step)
            if len(steps) == 1 and step.type == "table.opened":
                seats = step.body["seats"]
    if fault is not None:
        raise fault
    if not are_in_one_form(events, [step.body for step in steps]):
        raise FormatError("an event is not written in its one form")
    return steps


def _check_sequence(steps: list[Step]) -> None:
    """Spec: FILE-2."""
    if steps[0].type != "table.opened":
        raise FormatError("the first event is not table.opened")
    if len(steps) < 2 or steps[1].type != "hand.opened":
        raise FormatError("the second event is not hand.opened")
    for step in steps[2:]:
        if step.type in _NOT_IN_A_HAND:
            raise FormatError(f"{step.type} stands within the hand")
    if any(step.type in _ENDS for step in steps[1:-1]):
        raise FormatError("an event follows the end of the hand")


def _receipt(proof: Any) -> Receipt:  # noqa: ANN401 (JSON is anything)
    """Spec: FILE-5, LOG-3."""
    if type(proof) is not str:
        raise FormatError("proof is not a string")
    receipt = Receipt.parse(proof)
    signatures = receipt.checkpoint.signatures
    if len(signatures) != 1 or signatures[0][0] != receipt.checkpoint.origin:
        raise FormatError("the proof's checkpoint has another signature line than the log's one")
    if len(signatures[0][1]) != 68:
        raise FormatError("the log's signature is not of type Ed25519")
    return receipt
