"""What the demo looks like, and words that its story needs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from fairdeal_api.terminal.lines import Part, Screen

__all__ = ["Part", "Screen", "counted", "seats"]


def seats(numbers: Iterable[int]) -> str:
    """`seat 2`, `seats 0, 1 and 3`."""
    found = [str(number) for number in numbers]
    if len(found) == 1:
        return f"seat {found[0]}"
    return f"seats {', '.join(found[:-1])} and {found[-1]}"


def counted(counts: Mapping[int, int]) -> str:
    """`seat 1 threw 3, seat 2 threw 4`."""
    return ", ".join([f"seat {seat} threw {count}" for seat, count in counts.items()])
