"""Caches on each engine."""
