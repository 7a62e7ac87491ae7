"""Archived pages: reading, checking, exporting and parsing them again."""
