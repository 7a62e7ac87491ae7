"""Callers of the HTTP APIs: from credentials to a caller, API keys, rate limits and the audit."""
