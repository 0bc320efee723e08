"""The log in other people's hands: tools that were not written here replay it, or refuse it."""
