"""The intake of manifests: bodies that are read piece by piece, their validation, and uploads in parts."""
