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

SETTINGS_TOPIC = "settings"
"""Signal that settings of a source have changed; its text is the id of the source."""

PROXIES_TOPIC = "proxies"
"""Signal that proxies were registered, assigned or changed; its text is the id of one that was changed."""

LOGS_TOPIC = "logs"
"""Signal of new log entries; its text names the runs."""
