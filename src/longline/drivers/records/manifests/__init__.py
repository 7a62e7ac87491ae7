"""Manifests and idempotency keys, on either engine."""
