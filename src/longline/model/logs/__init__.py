"""Logs of runs, months of logs, and the events of changes."""
