"""The door of the interval contract."""
