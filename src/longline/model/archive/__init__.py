"""The archive: WARC records, segments and pages."""
