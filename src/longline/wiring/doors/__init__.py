"""Services of each door, put together."""
