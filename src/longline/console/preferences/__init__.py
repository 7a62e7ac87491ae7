"""Choices of visitors."""
