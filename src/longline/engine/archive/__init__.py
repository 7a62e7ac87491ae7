"""The archive: segments that are written, and pages that are read."""
