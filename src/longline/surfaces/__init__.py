"""The doors, and what they share. Doors speak to services only, and none knows another."""
