"""Core, verifier and page must agree."""
