"""Logins and sessions."""
