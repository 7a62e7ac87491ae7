"""Page changes of schedules in Redis."""
