"""Streams of the manifest contract: their names and their records."""
