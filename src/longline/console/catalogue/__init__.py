"""Pages of series, targets and their runs."""
