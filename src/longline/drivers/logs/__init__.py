"""Copies of run logs in Redis."""
