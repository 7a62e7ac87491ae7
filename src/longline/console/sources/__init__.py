"""Pages of sources."""
