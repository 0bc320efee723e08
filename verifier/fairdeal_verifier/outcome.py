"""What a verification finds: checks, and the verdict that follows from them. Spec: VER-2, VER-4."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from fairdeal_verifier.words import Said, say

PASS, FAIL, SKIP, NOT_APPLICABLE = "PASS", "FAIL", "SKIP", "N/A"

VERIFIED, FAILED, INCOMPLETE, UNREADABLE = "VERIFIED", "FAILED", "INCOMPLETE", "UNREADABLE"
CONSISTENT = "CONSISTENT, log key unknown: this proves nothing about the service"

# The ids, for a file of which nothing but `format` can be checked.
ALL_CHECKS = (
    "chain",
    "terms",
    "server.commitment",
    "order",
    "beacon",
    "shuffle",
    "deck.cards",
    "deck.root",
    "first",
    "deal",
    "pick.first",
    "seats",
    "play",
    "end",
    "disclosure",
    "log.inclusion",
    "log.signature",
    "log.witness",
    "receipt",
    "mine",
)


@dataclass(frozen=True, slots=True)
class Check:
    """One check.

    Attributes:
        id: As in VER-2.
        status: PASS, FAIL, SKIP or N/A.
        note: What this hand adds to the id's sentence, in the reader's language. Of a FAIL what is
            wrong, in English, for whoever the player shows it to; a sentence of the catalogue if
            the player has only mixed up two files.
        values: What was compared with what.
    """

    id: str
    status: str
    note: Said | str = ""
    values: str = ""


@dataclass(frozen=True, slots=True)
class Told:
    """A line of the play; an indented one belongs to the line before."""

    said: Said
    is_indented: bool = False

    def __str__(self) -> str:
        return f"{'  ' * self.is_indented}{self.said}"


@dataclass(frozen=True, slots=True)
class Draw:
    """One draw of a shuffle: cards i and j change places."""

    i: int
    j: int
    taken: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Trace:
    """Every draw of one epoch's shuffle."""

    epoch: int
    cards: tuple[str, ...]
    draws: tuple[Draw, ...]
    order: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Hand:
    """What a player calls the hand: who got which cards.

    Attributes:
        dealt: The seats' cards in the order of the deal; empty as long as they are not disclosed.
        drawn: Likewise for the cards drawn later.
        turned: The indicator, or the card turned at the deal.
        trumps: The suits declared, by seat.
    """

    table: str
    number: int
    game: str
    cards: int
    seats: int
    at: str
    first: int | None = None
    aborted: str = ""
    missing: tuple[int, ...] = ()
    dealt: dict[int, tuple[str, ...]] = field(default_factory=dict)
    drawn: dict[int, tuple[str, ...]] = field(default_factory=dict)
    turned: str = ""
    trumps: dict[int, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Report:
    """The outcome of one verification.

    Attributes:
        verdict: Its first word is VERIFIED, FAILED, INCOMPLETE, CONSISTENT or UNREADABLE.
        exit: 0 verified, 1 failed, 3 incomplete, 4 unreadable.
        failed: The id of the first check that failed.
        reason: Why the file cannot be read.
        checks: In the order of VER-2.
        hand: None if the file could not be read as far as that.
        trace: If it was asked for.
        story: The play in words, if there is a referee and all is disclosed.
    """

    verdict: str
    exit: int
    failed: str | None = None
    reason: Said | str = ""
    checks: tuple[Check, ...] = ()
    hand: Hand | None = None
    trace: tuple[Trace, ...] = ()
    story: tuple[Told, ...] = ()

    @classmethod
    def of(
        cls,
        checks: list[Check],
        hand: Hand | None,
        trace: tuple[Trace, ...] = (),
        story: tuple[Told, ...] = (),
    ) -> "Report":
        """Judges. Spec: VER-4."""
        failed = next((check.id for check in checks if check.status == FAIL), None)
        skipped = {check.id for check in checks if check.status == SKIP}
        if failed is not None:
            verdict, code = FAILED, 1
        elif skipped - {"log.signature"}:
            verdict, code = INCOMPLETE, 3
        elif skipped:
            verdict, code = CONSISTENT, 3
        else:
            verdict, code = VERIFIED, 0
            if hand is not None and hand.aborted:
                seats = f"seats {', '.join(map(str, hand.missing))}" if hand.missing else "no seat"
                verdict = f"{VERIFIED} (aborted: {hand.aborted}, {seats})"
        return cls(verdict, code, failed, "", tuple(checks), hand, trace, story)

    @classmethod
    def unreadable(cls, reason: Said | str) -> "Report":
        """Spec: VER-1."""
        return cls(UNREADABLE, 4, reason=reason)

    @classmethod
    def unformatted(cls, fault: str) -> "Report":
        """If `format` fails, all others are SKIP. Spec: VER-3."""
        rest = [Check(one, SKIP, say("note.format")) for one in ALL_CHECKS]
        return cls.of([Check("format", FAIL, fault), *rest], None)

    def to_json(self) -> dict[str, Any]:
        """Gives the report as report.schema.json describes it."""
        # Imported here, since `verify` does without.
        from fairdeal_verifier.texts import NOT_PROVED  # noqa: PLC0415

        return {
            "format": "fairdeal-report/1",
            "verdict": self.verdict,
            "exit": self.exit,
            "failed": self.failed,
            "reason": str(self.reason),
            "hand": _hand_to_json(self.hand) if self.hand else None,
            "checks": [check_to_json(check) for check in self.checks],
            "play": list(map(str, self.story)),
            "not_proved": list(map(str, NOT_PROVED)),
        }

    def __iter__(self) -> Iterator[Check]:
        return iter(self.checks)

    def status(self, check_id: str) -> str | None:
        """Gives the status of a check, or None if this hand has no such check."""
        return next((check.status for check in self.checks if check.id == check_id), None)


def check_to_json(check: Check) -> dict[str, str]:
    """Gives a check as report.schema.json describes it."""
    from fairdeal_verifier.texts import sentence  # noqa: PLC0415

    return {
        "id": check.id,
        "status": check.status,
        "text": str(sentence(check.id)),
        "detail": "; ".join(filter(None, (str(check.note), check.values))),
    }


def _hand_to_json(hand: Hand) -> dict[str, Any]:
    def by_seat(cards: dict[int, tuple[str, ...]]) -> dict[str, list[str]]:
        return {str(seat): list(held) for seat, held in sorted(cards.items())}

    return {
        "table": hand.table,
        "hand": hand.number,
        "game": hand.game,
        "cards": hand.cards,
        "seats": hand.seats,
        "at": hand.at,
        "first": hand.first,
        "aborted": hand.aborted or None,
        "missing": list(hand.missing),
        "dealt": by_seat(hand.dealt),
        "drawn": by_seat(hand.drawn),
        "turned": hand.turned or None,
        "trumps": {str(seat): suit for seat, suit in sorted(hand.trumps.items())},
    }
