"""Counts and durations, in Prometheus' text form. No ids, no cards, no credentials as labels."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable
from typing import Final

# Upper bounds in microseconds.
BUCKETS: Final = (1_000, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 1_000_000)


class Metrics:
    """What the service counts."""

    def __init__(self) -> None:
        """Begin at nothing."""
        self._requests: dict[tuple[str, int], int] = defaultdict(int)
        self._buckets = [0] * (len(BUCKETS) + 1)
        self._sum = 0
        self._hands: dict[tuple[str, str], int] = defaultdict(int)
        self._gauges: dict[str, Callable[[], int]] = {}

    def count(self, route: str, status: int, microseconds: int) -> None:
        """A request was answered; `route` is a template."""
        self._requests[route, status] += 1
        self._sum += microseconds
        self._buckets[bisect_left(BUCKETS, microseconds)] += 1

    def hand(self, game: str, end: str) -> None:
        """A hand has ended: `closed`, or the reason of its abort."""
        self._hands[game, end] += 1

    def gauge(self, name: str, read: Callable[[], int]) -> None:
        """Something that is asked for when it is shown."""
        self._gauges[name] = read

    def text(self) -> str:
        """All of it."""
        lines = ["# TYPE fairdeal_requests_total counter"]
        lines += [
            f'fairdeal_requests_total{{route="{route}",status="{status}"}} {number}'
            for (route, status), number in sorted(self._requests.items())
        ]
        lines.append("# TYPE fairdeal_request_seconds histogram")
        total = 0
        for bound, number in zip((*BUCKETS, None), self._buckets, strict=True):
            total += number
            label = "+Inf" if bound is None else f"{bound / 1e6:g}"
            lines.append(f'fairdeal_request_seconds_bucket{{le="{label}"}} {total}')
        lines.append(f"fairdeal_request_seconds_sum {self._sum / 1e6:.6f}")
        lines.append(f"fairdeal_request_seconds_count {total}")
        lines.append("# TYPE fairdeal_hands_total counter")
        lines += [
            f'fairdeal_hands_total{{game="{game}",end="{end}"}} {number}'
            for (game, end), number in sorted(self._hands.items())
        ]
        for name, read in self._gauges.items():
            lines += [f"# TYPE fairdeal_{name} gauge", f"fairdeal_{name} {read()}"]
        return "\n".join(lines) + "\n"
