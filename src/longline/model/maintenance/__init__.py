"""Maintenance tasks: work of upkeep that runs by cron or on a person's order, with a record of each run."""
