"""Sources: rows of our own and of a remote source manager."""
