"""Schedules, their runs, and backfills."""
