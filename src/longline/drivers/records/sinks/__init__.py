"""Records of sinks, their runs and their progress."""
