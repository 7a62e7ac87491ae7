"""Bots: upkeep of their tasks."""
