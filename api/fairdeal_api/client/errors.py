"""What a client raises when something does not hold."""

from __future__ import annotations

from collections.abc import Mapping

from fairdeal.errors import FairdealError


class CheckError(FairdealError):
    """The service sent something that does not hold. The client must not go on.

    Attributes:
        code: Stable identifier in snake_case; that of the core where the core found the fault.
        evidence: What contradicts what, as texts. Spec: OPEN-2.
    """

    def __init__(self, code: str, message: str, evidence: Mapping[str, str] | None = None) -> None:
        super().__init__(code, message)
        self.evidence = dict(evidence or {})

    @classmethod
    def of(cls, error: FairdealError, what: str, evidence: Mapping[str, str]) -> CheckError:
        """A fault that the core found: what it means for the seat, and what it was found in."""
        return cls(error.code, f"{what}: {error}", evidence)
