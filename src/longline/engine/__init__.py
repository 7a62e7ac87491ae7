"""What happens by itself: leases, fetching, parsing, keeping, upkeep."""
