"""The protocol package."""
