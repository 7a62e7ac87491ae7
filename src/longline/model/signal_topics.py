"""Topics of the signals between processes."""

WORK_TOPIC = "work"
"""Signal that there may be work."""

WANT_TOPIC = "want"
"""Signal of a worker that has nothing to do."""

DUE_TOPIC = "due"
"""Signal that a schedule may have come due."""

DONE_TOPIC = "done"
"""Signal that the run of a schedule has no open URL left."""

ROBOTS_TOPIC = "robots"
"""Signal that the rules of a site, which is its text, were fetched anew."""

LOGS_TOPIC = "logs"
"""Signal of new log entries; its text names the runs."""
