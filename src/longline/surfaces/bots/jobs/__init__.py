"""Jobs of bots and their results."""
