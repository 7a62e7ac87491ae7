"""Scopes: the circles inside which one URL is one task."""

STANDING = 0
"""The standing frontier: what was admitted there once is never admitted again. The scope of a run is the run's id."""
