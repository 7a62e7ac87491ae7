"""Archived pages: reading, checking and parsing them again."""
