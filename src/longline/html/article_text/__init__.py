"""The article of a page: its main text, and the same as Markdown."""
