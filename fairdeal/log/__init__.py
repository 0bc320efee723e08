"""The public log in C2SP formats: signed notes, checkpoints, tiles, receipts. Spec: log.md."""
