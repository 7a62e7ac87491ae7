"""Callers of the HTTP APIs: identity, roles, API keys and the audit of their changes."""
