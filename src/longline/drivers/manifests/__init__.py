"""Streams of manifests in Redis."""
