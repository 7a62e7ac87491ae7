"""Runs: their rows, views and effects, and the deletion of old ones."""
