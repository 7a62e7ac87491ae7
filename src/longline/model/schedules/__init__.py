"""Schedules: the rules of one schedule, and slots in which schedules are spread."""
