"""Audits a whole log by the verifier's own code for hands; judges evidence. Spec: audit.md."""

from fairdeal_verifier import __version__

__all__ = ["__version__"]
