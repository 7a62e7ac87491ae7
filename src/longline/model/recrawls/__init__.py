"""Recrawls: URLs that were submitted one by one and are fetched again after a while, holds of their runs, batches."""
