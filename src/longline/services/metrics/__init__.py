"""Metrics: figures of the platform in operation, for dashboards and health."""
