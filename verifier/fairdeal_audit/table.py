"""A table of the log: what is at hand of it, and what one event says of the one before.

Spec: AUD-2, EVT-2
"""

from collections.abc import Callable

from fairdeal_audit.hands import card_finding
from fairdeal_audit.progress import Finding, Progress, Tally
from fairdeal_audit.tiles import Folder
from fairdeal_verifier.events import Step, parse
from fairdeal_verifier.kinds import MAX_SEATS
from fairdeal_verifier.rotation import Keys

MOST_OF_A_CODE = 5

Read = Callable[[int], Step]
"""Gives the event at an index of the log."""


def event_at(log: Folder, index: int) -> Step:
    """Reads an event that was good when it was followed."""
    return parse(log.entry(index).decode("ascii"), MAX_SEATS)


class Table:
    """One table.

    Attributes:
        progress: To be kept.
        findings: New ones; whoever takes them empties the list.
        tally: Counts, likewise.
        values: Commitments, seals and seeds that came new: kind, value, index, hand.
    """

    def __init__(self, name: str, read: Read, progress: Progress, tally: Tally, keys: Keys) -> None:
        """Goes on with a table.

        Args:
            name: The table's.
            read: Gives events of the log again.
            progress: What it has come to.
            tally: Where to count.
            keys: The log's.
        """
        self.name = name
        self.progress = progress
        self.findings: list[Finding] = []
        self.values: list[tuple[str, str, int, int]] = []
        self.tally = tally
        self._keys = keys
        self._steps: dict[int, Step] = {}
        self._read = read

    def step(self, index: int) -> Step:
        """Gives an event of the log; those of the hand under way are at hand."""
        return self._steps.get(index) or self._read(index)

    def find(
        self, index: int, code: str, text: str, *entries: int, hand: int | None = None
    ) -> None:
        """Notes a finding; of one kind at one table only the first ones."""
        counts = self.progress.counts
        counts[code] = counts.get(code, 0) + 1
        if counts[code] <= MOST_OF_A_CODE:
            number = self.progress.hand if hand is None else hand
            self.findings.append(Finding(index, code, self.name, number, text, entries))

    @property
    def weight(self) -> int:
        """Says how many events are at hand."""
        return len(self._steps)

    def forget(self) -> None:
        """Lets go of the events at hand; they are read again."""
        self._steps = {}

    def _is_next(self, index: int, step: Step) -> bool:
        """Looks at `seq`, `prev` and `at`. Spec: EVT-2."""
        state, body = self.progress, step.body
        last = self.step(state.last)
        seq = last.body["seq"]
        if body["seq"] <= seq:
            # It is looked for among all that is at hand, so only for what will be told.
            is_told = state.counts.get("CHAIN", 0) < MOST_OF_A_CODE
            twin = self._twin(state, body["seq"]) if is_told else -1
            text = f"seq {body['seq']} comes a second time, or after a greater one"
            # One that is not at hand is searched for when the evidence is written.
            self.find(index, "CHAIN", text, *((twin, index) if twin >= 0 else (index,)))
            return False
        if body["seq"] > seq + 1:
            self.find(index, "GAP", f"seq {seq + 1} to {body['seq'] - 1} are not in the log")
        elif body["prev"] != last.head:
            self.find(
                index, "CHAIN", "prev is not the digest of the event before", state.last, index
            )
        elif step.at < last.at:
            self.find(index, "CHAIN", "it is earlier than the event before", state.last, index)
        return True

    def _twin(self, state: Progress, seq: int) -> int:
        """Finds the event with a seq among those that are at hand; else -1, for a search."""
        for index in (state.opened, *state.links, *state.running, *state.before, state.last):
            if self.step(index).body["seq"] == seq:
                return index
        return -1

    def _find_cards(self, indices: list[int]) -> None:
        """Looks at what a hand has stated of its cards, disclosed or not. Spec: AUD-2."""
        steps = [self.step(one) for one in indices]
        for one in card_finding(self.name, self.progress.hand, indices, steps):
            self.find(one.index, one.code, one.text, *one.entries)
