"""Sinks by the scheme of their address: PostgreSQL, webhooks, and the functions of plugins."""
