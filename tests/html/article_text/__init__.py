"""The article of a page."""
