"""Tests that keep the house: floors, sizes, words, the table of moves, and documents that cannot lie."""
