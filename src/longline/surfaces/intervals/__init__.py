"""The HTTP API of the interval contract, in which schedules are jobs, and runs executions."""
