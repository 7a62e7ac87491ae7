"""The pages about this server: its start page, and the reference of its HTTP APIs."""
