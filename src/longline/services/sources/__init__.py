"""Sources: their rows, schedules, events and trial crawls."""
