"""The engine: leases, fetching, parsing, keeping, upkeep."""
