"""The parser of products."""
