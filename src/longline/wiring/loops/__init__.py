"""The loops of a process, by subject, as one table."""
