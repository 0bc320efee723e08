"""The full counts: what `make test` does in part, and longer rigs. Run by `make soak`."""
