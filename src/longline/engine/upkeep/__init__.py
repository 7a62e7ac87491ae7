"""Chores: what must be looked after now and then, one a file."""
