"""Generators of files of the repository: the reference pages and the Grafana dashboard."""
