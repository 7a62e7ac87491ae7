"""Sinks: delivery of items in the order of their runs, at least once."""
