"""A standalone verifier of dealt hands, written from the specification alone."""

from fairdeal_verifier.match import MatchReport, verify_match
from fairdeal_verifier.notes import Notes
from fairdeal_verifier.outcome import Check, Report
from fairdeal_verifier.verify import verify

__version__ = "0.1.0"

__all__ = [
    "Check",
    "MatchReport",
    "Notes",
    "Report",
    "__version__",
    "verify",
    "verify_match",
]
