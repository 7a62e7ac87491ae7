"""Logs of runs: writing, closing and copying them."""
