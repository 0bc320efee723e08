"""The standalone verifier."""
