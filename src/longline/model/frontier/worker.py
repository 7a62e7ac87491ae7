"""Workers: processes that leases name as their owners."""

import msgspec

FETCH, PARSE, UPKEEP = "fetch", "parse", "upkeep"
ROLES = (FETCH, PARSE, UPKEEP)
"""Roles of workers."""

HEARTBEAT_INTERVAL_SECONDS = 10.0
"""Seconds between two heartbeats of a worker."""

DEAD_AFTER_MS = 600_000
"""Milliseconds without a heartbeat after which a worker is dead or cut off; its leases lapsed long before."""

ALIVE_MS = 45_000
"""Milliseconds after its last heartbeat for which a worker counts as alive: four heartbeats and a half."""

START_SECONDS = 45.0
"""Seconds after the start of this process within which a missing worker may still be starting."""


class WorkerRow(msgspec.Struct, frozen=True):
    """A registered process. `mark` is the file that it keeps locked while it lives, on engines that share a folder.

    `parsers` is a JSON list of the files and modules of its custom parsers.
    """

    id: int
    name: str
    roles: str
    mark: str
    started_at: int
    seen_at: int
    parsers: str = "[]"
