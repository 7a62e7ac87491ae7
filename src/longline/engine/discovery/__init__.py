"""Discovery: links that lead elsewhere, and probes of candidate sources."""
