"""The commands of `fairdeal` that have a subject of their own; the others are in `cli`."""
