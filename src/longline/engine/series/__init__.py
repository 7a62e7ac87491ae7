"""Runs of catalogues: their plans, and those that start by themselves."""
