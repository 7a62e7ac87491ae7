"""Runs without a schedule: their starts when they are due, and the effects of run ends."""
