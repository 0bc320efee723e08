"""Every exception of the core. Each carries a stable code, shared with API problems and reports."""

from __future__ import annotations


class FairdealError(Exception):
    """Base of all errors of this package.

    Attributes:
        code: Stable identifier in snake_case. Texts may change, codes do not.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class FormatError(FairdealError):
    """Bytes or values are not of the form that the specification asks for."""


class VerificationError(FairdealError):
    """A seal, seed, signature, proof or opening does not fit."""


class StateError(FairdealError):
    """An event is well formed, and not legal now."""
