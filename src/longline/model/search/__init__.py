"""Search: items, documents of the index, queries and tokens."""
