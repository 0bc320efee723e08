"""Finds the endpoint of a path by its segments.

Starlette tries one regular expression after the other, behind several layers. The hot routes are
found here in a microsecond; whatever is not found here goes the long way, which also knows what to
say of a wrong method.
"""

from __future__ import annotations

from collections.abc import Iterable

from fairdeal_api.http import Endpoint
from fairdeal_api.routes.operation import Operation


class Dispatch:
    """Endpoints by method, number of segments, and the segments that are fixed."""

    def __init__(self, operations: Iterable[Operation]) -> None:
        """Sort the operations; those whose parameter spans segments are left to the long way."""
        self._found: dict[
            tuple[str, int],
            list[tuple[tuple[tuple[int, str], ...], tuple[tuple[int, str], ...], Endpoint]],
        ] = {}
        for operation in operations:
            if ":path" in operation.path:
                continue
            parts = operation.path.split("/")
            fixed = [(at, part) for at, part in enumerate(parts) if not part.startswith("{")]
            named = [(at, part[1:-1]) for at, part in enumerate(parts) if part.startswith("{")]
            # From the end: it is the last segment that tells routes apart.
            entry = (tuple(reversed(fixed)), tuple(named), operation.endpoint)
            self._found.setdefault((operation.method, len(parts)), []).append(entry)

    def find(self, method: str, path: str) -> tuple[Endpoint, dict[str, str]] | None:
        """The endpoint and the path's parameters."""
        parts = path.split("/")
        for fixed, named, endpoint in self._found.get((method, len(parts)), ()):
            for at, part in fixed:
                if parts[at] != part:
                    break
            else:
                params = {name: parts[at] for at, name in named}
                if all(params.values()):
                    return endpoint, params
        return None
