"""Verifies several files of one table, and that they follow each other.

Spec: PLAY-2, PLAY-9, VER-7
"""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from fairdeal_verifier.encoding import UnreadableError
from fairdeal_verifier.file import HandFile
from fairdeal_verifier.notes import Given
from fairdeal_verifier.outcome import (
    CONSISTENT,
    FAIL,
    FAILED,
    INCOMPLETE,
    PASS,
    SKIP,
    UNREADABLE,
    VERIFIED,
    Check,
    Report,
)
from fairdeal_verifier.play import PLAYS, is_same
from fairdeal_verifier.promises import rules_fault
from fairdeal_verifier.rotation import Rotation, read_rotations
from fairdeal_verifier.verify import verify_given
from fairdeal_verifier.words import Said, say

_EXITS = {FAILED: 1, UNREADABLE: 4, INCOMPLETE: 3, CONSISTENT: 3, VERIFIED: 0}  # the worst first


@dataclass(frozen=True, slots=True)
class MatchReport:
    """The outcome for several files.

    Attributes:
        verdict: That of the worst file; FAILED if they do not follow each other.
        exit: As for one file.
        failed: `match` if the files do not follow each other, else the first check that failed.
        check: The check `match`.
        reports: Of the files, in the order given.
    """

    verdict: str
    exit: int
    failed: str | None
    check: Check
    reports: tuple[Report, ...]


@dataclass(frozen=True, slots=True)
class Neighbour:
    """What the neighbours of a hand have to fit to; of the file itself nothing is kept."""

    table: str
    terms: bytes
    number: int
    commitment: str
    next_commitment: str
    first: int | None
    match: Any
    next_first: Any  # of the hand after this one
    next_match: Any
    may_be_null: bool  # the next hand's first seat
    is_followed: bool  # by a match: the table has a referee
    unknown: Said | None
    opened: tuple[int, int]  # seq and time of the hand's opening
    ended: tuple[int, int]  # and of its last event
    prev: str  # what the hand's opening names
    head: str  # and its last event's digest
    used: frozenset[str]  # commitments, seals and seeds
    new: frozenset[str]  # those of them that no hand before may have

    @classmethod
    def of(cls, file: HandFile) -> "Neighbour":
        """Takes what is needed. Spec: PLAY-2, HAND-2."""
        opened, ruleset = file.opened.body, file.table.body["ruleset"]
        first, match = opened["first"], opened["match"]
        unknown: Said | None = None
        next_first, next_match = first, match
        for step in file.steps:
            if step.type == "hand.dealt":
                next_first = step.body["first"]
        if rules_fault(file):
            unknown = say("note.match_no_game")
        elif not file.is_final:
            unknown = say("note.match_not_ended", hand=file.hand)
        elif file.referee and not file.reason:
            result = file.last.body["result"] or {}
            next_first, next_match = result.get("first"), result.get("match")
            if result.get("winner") is not None:
                next_match = PLAYS[file.game.id].fresh(ruleset, file.seats)
        new = {opened["next_commitment"]}
        for step in file.steps:
            for name in ("seals", "seeds"):
                new.update(step.body.get(name, {}).values())
        return cls(
            opened["table"],
            file.terms,
            file.hand,
            opened["commitment"],
            opened["next_commitment"],
            first,
            match,
            next_first,
            next_match,
            may_be_null=file.game.id == "azi",
            is_followed=file.referee or bool(file.reason),
            unknown=unknown,
            opened=(opened["seq"], file.opened.at),
            ended=(file.last.body["seq"], file.last.at),
            prev=opened["prev"],
            head=file.last.head,
            used=frozenset(new | {opened["commitment"]}),
            new=frozenset(new),
        )


def verify_match(
    files: Iterable[bytes],
    *,
    key: str | None = None,
    rotations: bytes | None = None,
    trace: bool = False,
) -> MatchReport:
    """Verifies files of one table that follow each other.

    Args:
        files: In the order of the hands. No bytes whatever make this function raise.
        key: The log key to trust, a vkey.
        rotations: What the log serves as `rotations`, if its key has changed.
        trace: Record every draw of each shuffle.

    Raises:
        ValueError: The key is none.

    Spec: VER-7, VER-8
    """
    changes: tuple[Rotation, ...] = ()
    unreadable: Report | None = None
    try:
        changes = read_rotations(rotations) if rotations is not None else ()
    except UnreadableError:
        unreadable = Report.unreadable(say("unreadable.rotations"))
    given = Given.of(key, None, (), None, (), changes)
    reports: list[Report] = []
    hands: list[Neighbour | None] = []
    for data in files:
        report, file = (unreadable, None) if unreadable else verify_given(data, given, trace=trace)
        reports.append(report)
        hands.append(Neighbour.of(file) if file else None)
    check = _check(hands)
    verdicts = {report.verdict.partition(" (")[0] for report in reports}
    if check.status == FAIL:
        verdicts.add(FAILED)
    elif check.status == SKIP:
        verdicts.add(INCOMPLETE)
    verdict = next((one for one in _EXITS if one in verdicts), INCOMPLETE)
    failed = next((report.failed for report in reports if report.failed), None)
    if check.status == FAIL:
        failed = check.id
    return MatchReport(verdict, _EXITS[verdict], failed, check, tuple(reports))


def _check(hands: list[Neighbour | None]) -> Check:
    """`match`. Spec: PLAY-9, VER-7."""
    unknown: Said | None = None
    for before, after in pairwise(hands):
        if before is None or after is None:
            continue
        fault = pair_fault(before, after)
        if fault:
            return Check("match", FAIL, fault)
        unknown = unknown or before.unknown
    known = [hand for hand in hands if hand is not None]
    if len(known) != len(hands) or not hands:
        return Check("match", SKIP, say("note.match_unreadable"))
    if unknown:
        return Check("match", SKIP, unknown)
    first, last = known[0].number, known[-1].number
    key = "note.match" if first == 1 else "note.match_later"
    return Check("match", PASS, say(key, first=first, last=last))


def pair_fault(before: Neighbour, after: Neighbour) -> str:
    """Says why a hand does not follow another. Spec: PLAY-2, PLAY-9, HAND-1, HAND-2."""
    if (before.table, before.terms) != (after.table, after.terms):
        return f"hand {after.number} is of another table, or of other terms, than the file before"
    if after.number != before.number + 1:
        return f"hand {after.number} stands after hand {before.number}"
    name = f"hand {after.number}"
    if after.commitment != before.next_commitment:
        return f"{name} has another commitment than the one announced in the hand before (PLAY-9)"
    if after.opened[0] <= before.ended[0] or after.opened[1] < before.ended[1]:
        return f"{name} was opened before the hand before it had come so far (PLAY-9)"
    if after.opened[0] == before.ended[0] + 1 and after.prev != before.head:
        return f"{name} does not name the event before it, which ends the other file (PLAY-9)"
    if before.used & after.new:
        return f"{name} has a commitment, a seal or a seed that the hand before had (SEAL-2)"
    if before.unknown:
        return ""
    if not is_same(after.match, before.next_match):
        return f"the match before {name} is not the one after the hand before (PLAY-2)"
    if before.is_followed:
        if not is_same(after.first, before.next_first):
            return f"the first seat of {name} is not the one that the hand before says (PLAY-2)"
    elif after.first is None and not before.may_be_null:
        return f"the first seat of {name} is drawn although a hand before it was closed (HAND-2)"
    return ""
