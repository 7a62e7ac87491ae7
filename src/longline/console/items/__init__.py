"""Pages of items and search."""
