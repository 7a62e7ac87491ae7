"""Bots: registry, policies, tasks and pulls."""
