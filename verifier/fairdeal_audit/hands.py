"""Verifies a hand of the log with the verifier's own code. Spec: AUD-2, VER-2."""

from collections.abc import Sequence
from typing import Any

from fairdeal_audit.progress import Finding
from fairdeal_verifier.events import Step
from fairdeal_verifier.evidence import check_seat_signatures
from fairdeal_verifier.file import HandFile
from fairdeal_verifier.match import Neighbour, pair_fault
from fairdeal_verifier.note import Checkpoint, Receipt
from fairdeal_verifier.outcome import FAIL
from fairdeal_verifier.verify import hand_checks

# The whole tree has been hashed, so no hand needs a receipt of its own.
_NONE_NEEDED = Receipt(0, (), Checkpoint("", "", 0, b"", ()))
_SHOWING = {"hand.dealt": "shown", "cards.shown": "shown", "cards.given": "given"}


def hand_of(steps: Sequence[Step], disclosed: dict[str, Any] | None) -> HandFile:
    """Makes of `table.opened` and a hand's events what a file of them would be."""
    return HandFile(list(steps), disclosed, [], _NONE_NEEDED)


def faults_of(file: HandFile) -> list[tuple[str, str]]:
    """Says which checks fail, and why. Spec: AUD-2."""
    checks, _, _ = hand_checks(file)
    if file.keys:
        checks += check_seat_signatures(file)
    return [
        (check.id, str(check.note))
        for check in checks
        # What a log does not hold are openings; a disclosure that is due is looked at by the chain.
        if check.status == FAIL and not (check.id == "disclosure" and file.disclosed is None)
    ]


def match_fault(before: Sequence[Step], after: HandFile) -> str:
    """Says why a hand does not follow the one before. Spec: PLAY-9, HAND-2.

    Args:
        before: `table.opened`, and of the hand before its opening, its deal if any, and its end.
        after: The hand.
    """
    return pair_fault(Neighbour.of(hand_of(before, None)), Neighbour.of(after))


def cards_twice(steps: Sequence[Step]) -> tuple[int, int] | None:
    """Finds two events (or one, twice) that contradict each other about a card. Spec: AUD-5."""
    at: dict[tuple[int, int], tuple[str, int]] = {}
    of: dict[tuple[int, str], tuple[int, int]] = {}
    for number, step in enumerate(steps):
        for one in step.body[_SHOWING[step.type]] if step.type in _SHOWING else ():
            epoch, position, card = one["epoch"], one["position"], one["card"]
            known = at.setdefault((epoch, position), (card, number))
            if known[0] != card:
                return known[1], number
            place = of.setdefault((epoch, card), (position, number))
            if place[0] != position:
                return place[1], number
    return None


def card_finding(
    table: str, hand: int, indices: Sequence[int], steps: Sequence[Step]
) -> list[Finding]:
    """Finds what a hand's events state twice of a card, or of a position. Spec: AUD-2.

    Args:
        table: The table's name.
        hand: The hand's number.
        indices: Of its events.
        steps: These events.

    Returns:
        One finding, at the later of the two events, or none.
    """
    twice = cards_twice(steps)
    if twice is None:
        return []
    pair = tuple(sorted({indices[twice[0]], indices[twice[1]]}))
    return [Finding(pair[-1], "CARD", table, hand, "a card at two positions, or two at one", pair)]
