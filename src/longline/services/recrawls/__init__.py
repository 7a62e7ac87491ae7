"""Recrawls: submission, lists, moves by people, batches and holds."""
