"""Jobs of the interval contract, their executions, and the scheduler that runs them."""
