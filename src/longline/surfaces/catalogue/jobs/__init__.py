"""Jobs of sources and batch jobs."""
