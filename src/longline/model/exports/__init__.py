"""Exports: files and tables of the items, pages and URLs of a run."""
