"""Pages of alerts, audit, API keys and settings."""
