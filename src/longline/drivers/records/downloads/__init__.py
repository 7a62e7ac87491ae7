"""Downloads of runs and dead letters."""
