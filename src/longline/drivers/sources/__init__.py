"""The remote source manager, over HTTP and Redis."""
