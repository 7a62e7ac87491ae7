"""Logs of runs, and streams of events."""
