"""Witnesses: ours, another's, and the service that asks them."""
