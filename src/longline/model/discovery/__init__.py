"""Discovery: outlinks and candidate sources."""
