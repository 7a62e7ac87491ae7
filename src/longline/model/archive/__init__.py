"""The archive: WARC records, segments, pages and exports."""
