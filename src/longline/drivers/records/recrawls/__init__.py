"""Recrawls, holds and batches, on either engine."""
