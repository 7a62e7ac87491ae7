"""Hints that the commands print: what a person can do next, and command lines that do it."""
