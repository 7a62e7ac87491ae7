"""The parser of articles."""
