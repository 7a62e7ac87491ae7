"""Figures of the queue at one moment."""

import msgspec

MAX_COUNTED = 10_000
"""Largest count of a figure: a scrape never reads more rows than this for one figure."""

LATE_MS = 60_000
"""Milliseconds after which a host with due work is late."""


class QueueFigures(msgspec.Struct, frozen=True):
    """Hosts, offered tasks and unindexed items, each counted up to `MAX_COUNTED`.

    A host is ready when it has due work and no holder, late when that lasts for `LATE_MS`, waiting before its work is
    due, and held by a worker. `oldest_ms` is the time for which the longest ready host has been ready.
    """

    hosts_ready: int
    hosts_late: int
    hosts_waiting: int
    hosts_held: int
    parse_ready: int
    bot_ready: int
    unindexed: int
    oldest_ms: int
