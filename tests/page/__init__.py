"""The page that checks hands, in a real browser; its verifier beside the one in Python."""
