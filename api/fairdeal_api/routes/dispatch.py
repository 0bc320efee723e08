"""Finds the endpoint of a path by its last segment.

Starlette tries one regular expression after the other, behind several layers. Almost always a
method and a last segment leave one of them, which is tried here; whatever is not found here goes
the long way, which also knows what to say of a wrong method.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from starlette.routing import compile_path

from fairdeal_api.http import Endpoint
from fairdeal_api.routes.operation import Operation


class Dispatch:
    """Endpoints by method and last segment; None where that is a parameter."""

    def __init__(self, operations: Iterable[Operation]) -> None:
        """Sort the operations, with the expressions that Starlette makes of their paths."""
        self._found: dict[
            tuple[str, str | None], list[tuple[Callable[[str], re.Match[str] | None], Endpoint]]
        ] = {}
        for operation in operations:
            last = operation.path.rpartition("/")[2]
            key = operation.method, None if last.startswith("{") else last
            match = compile_path(operation.path)[0].match
            self._found.setdefault(key, []).append((match, operation.endpoint))

    def find(self, method: str, path: str) -> tuple[Endpoint, dict[str, str]] | None:
        """The endpoint and the path's parameters."""
        found = self._found
        last = method, path.rpartition("/")[2]
        for match, endpoint in found.get(last) or found.get((method, None)) or ():
            if params := match(path):
                return endpoint, params.groupdict()
        return None
