"""Manifests: their submission, their snapshots, their handlers and their retention."""
