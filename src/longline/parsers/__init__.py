"""The built-in parsers, written as anybody could write them."""
