"""The built-in parsers, written with the public plugin API."""
