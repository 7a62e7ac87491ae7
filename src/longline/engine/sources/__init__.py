"""Sources: lookup, crawl plans, and synchronisation with a remote source manager."""
