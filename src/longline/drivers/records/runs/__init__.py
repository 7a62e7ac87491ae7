"""Records of runs, their counters, and the rules and effects of their ends."""
