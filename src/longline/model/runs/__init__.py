"""Runs: plans, bounds, rows and totals."""
