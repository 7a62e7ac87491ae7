"""Pages of manifests and dead letters."""
