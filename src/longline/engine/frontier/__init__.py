"""The frontier: admission, claims, held hosts and leases."""
