"""Callers on either engine: API keys, rate limits, audit."""
