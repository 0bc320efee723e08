"""Tests of the whole repository."""
