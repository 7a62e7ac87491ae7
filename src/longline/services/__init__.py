"""What one may ask the platform for. Doors and commands speak to services; services speak to ports."""
