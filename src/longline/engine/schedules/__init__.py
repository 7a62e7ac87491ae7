"""Schedules: starting runs that are due, and deleting old ones."""
