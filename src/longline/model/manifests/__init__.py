"""Submitted lists of files to download: manifests, their idempotency keys, their pruning."""
