"""What a replay finds, kept under the id of the check that has to report it."""

from fairdeal_verifier.words import Said


class Findings:
    """The first fault of each check, and why a check could not be made.

    Attributes:
        faults: What is wrong, by check id.
        unchecked: What could not be checked, by check id.
        numbered: The ids `draw.K`, `discard.K`, `show.K` and `reshuffle.K` in event order.
        settled: The checks of which later events say nothing any more.
    """

    __slots__ = ("_counts", "faults", "numbered", "settled", "unchecked")

    def __init__(self) -> None:
        """Starts with nothing found."""
        self.faults: dict[str, str] = {}
        self.unchecked: dict[str, Said] = {}
        self.numbered: list[str] = []
        self.settled: frozenset[str] = frozenset()
        self._counts: dict[str, int] = {}

    def settle(self, pending: str) -> None:
        """Ends an event.

        After a fault nobody knows how the hand goes on. So what comes later makes none of the
        checks fail that stand before the faulty one.

        Args:
            pending: A fault that is told with a later check, or "".

        Spec: VER-9
        """
        if "order" in self.faults or not (self.faults or pending):
            return
        self.settled = frozenset(("order",) if "deal" in self.faults else ("order", "deal"))

    def fault(self, check: str, text: str) -> None:
        """Notes what is wrong; "" is nothing."""
        if text and check not in self.settled:
            self.faults.setdefault(check, text)

    def cannot_check(self, check: str, text: Said | None) -> None:
        """Notes what could not be checked; None is nothing."""
        if text:
            self.unchecked.setdefault(check, text)

    def next_id(self, kind: str) -> str:
        """Numbers the next event of a kind."""
        number = self._counts.get(kind, 0) + 1
        self._counts[kind] = number
        check = f"{kind}.{number}"
        self.numbered.append(check)
        return check
