"""What is kept of a table between two entries, and what was found. Spec: AUD-2, AUD-3."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that is not as it has to be.

    Attributes:
        index: The entry at which it shows.
        code: As in AUD-2.
        table: The table, or "".
        hand: The hand's number, or 0.
        text: What it is, in a sentence.
        entries: Indices of the entries that prove it, in the order of AUD-5; none if nothing does.
        disclosed: For `HAND`, the index of the disclosure: the entries are then those of its file.
    """

    index: int
    code: str
    table: str
    hand: int
    text: str
    entries: tuple[int, ...] = ()
    disclosed: int | None = None


@dataclass(slots=True)
class Progress:
    """What a table has come to; all that is kept of it between two entries. Indices only."""

    opened: int = -1
    last: int = -1
    seats: int = 0
    closed: bool = False
    hand: int = 0
    # Indices of the hand under way, `hand.opened` first; empty between hands.
    running: list[int] = field(default_factory=list)
    # From the end of the last hand (or table.opened) on: what a new number follows.
    links: list[int] = field(default_factory=list)
    # The event that announced the next commitment.
    announced: int = -1
    # Hands that have ended and are not disclosed, by number: their indices.
    hidden: dict[int, list[int]] = field(default_factory=dict)
    # The hand whose disclosure has to be the next event (policy `hand`), or 0.
    due: int = 0
    # Opening, deal and end of the last hand that ended: what the next one has to follow.
    before: list[int] = field(default_factory=list)
    # The same of the hands of which a check is still to come.
    followed: dict[int, list[int]] = field(default_factory=dict)
    # When it is overdue, in the log's milliseconds, or 0; and what.
    deadline: int = 0
    counts: dict[str, int] = field(default_factory=dict)


@dataclass(slots=True)
class Tally:
    """What was counted."""

    hands: int = 0
    verified: int = 0
    aborted: int = 0
    empty: int = 0
    tables: int = 0
