"""The rules of play: one module each, on top of the game's dealing procedure. Spec: play.md."""
