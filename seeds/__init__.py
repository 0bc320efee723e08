"""Published known answers, and the generator that makes them from the core."""
