"""Kill it, starve it, lie to it; then look at what the world and the database say."""
