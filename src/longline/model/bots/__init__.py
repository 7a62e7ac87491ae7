"""Bots: their rows and answers."""
