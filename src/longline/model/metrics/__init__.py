"""Metrics: figures of the platform in operation."""
