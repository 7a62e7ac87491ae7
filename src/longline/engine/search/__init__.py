"""Search: indexing of items, and notification of a pipeline."""
