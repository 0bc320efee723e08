"""Witnesses: those that the service asks, and one of our own to run elsewhere. Spec: witness.md."""
