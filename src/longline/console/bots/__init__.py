"""Pages of bots, their policies and results."""
