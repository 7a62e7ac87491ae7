"""Bots: their rows, answers and rate limit."""
