"""Sources of the catalogue contract, and the cache of their responses."""
