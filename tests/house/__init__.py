"""Tests of the house rules: floors, sizes, words, the table of moves, and the truth of documents."""
