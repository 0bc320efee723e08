"""Tests of the audit of a whole log."""
