"""Measurements, as ratios taken in one run. Absolute times say more about the machine."""
