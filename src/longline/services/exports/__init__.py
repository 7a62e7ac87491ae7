"""Exports: pages, items and URLs of a run as files, tables and Markdown."""
