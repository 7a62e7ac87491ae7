"""Workers: processes that leases name as their owners."""

import msgspec

HEARTBEAT_INTERVAL_SECONDS = 10.0
"""Seconds between two heartbeats of a worker."""


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
