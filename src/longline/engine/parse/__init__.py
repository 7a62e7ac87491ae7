"""Parsing: on the loop, in threads and in a pool of processes."""
