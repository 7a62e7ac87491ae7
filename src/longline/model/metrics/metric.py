"""The metrics of workers and of the queue, and the names of their counters in the database.

Every process counts in memory and adds its counts to the shared counters of the database, so that a scrape of one
process shows the work of all processes (docs/decisions/0050).
"""

from collections.abc import Iterable, Mapping
from typing import Literal

import msgspec

from longline.model.metrics.histogram import Histogram, bucket_of, histogram_of

PREFIX = "metric."
"""Prefix of the counters' names in the database; metric name and label values follow."""

SEPARATOR = "|"
"""Separator of the metric name, its label values and the part of a histogram."""

OTHER_HOSTS = "other"
"""Group of the hosts that the operator does not name."""

MAX_COUNTED = 10_000
"""Largest count of a figure: a scrape never reads more rows than this for one figure."""

LATE_MS = 60_000
"""Milliseconds after which a host with due work is late."""


class Metric(msgspec.Struct, frozen=True):
    """A metric: its name without a suffix, its kind, one sentence and its labels."""

    name: str
    kind: Literal["counter", "gauge", "histogram"]
    text: str
    labels: tuple[str, ...] = ()

    def key(self, *values: str) -> str:
        """Return the name of the counter for label values."""
        return counter_name(self.name, *values)

    def bucket_key(self, seconds: float, *values: str) -> str:
        """Return the name of the counter of the bucket that a value belongs to."""
        return self.key(*values, bucket_of(seconds))


def counter_name(metric: str, *values: str) -> str:
    """Return the name of the counter of a metric for label values."""
    return SEPARATOR.join((PREFIX + metric, *values))


FETCHES = Metric(
    "longline_fetches",
    "counter",
    "Requests for pages, and failures before a request, by class of the status (none without a response), reason "
    "of the task and host group.",
    ("status", "reason", "group"),
)
FETCH_SECONDS = Metric("longline_fetch_seconds", "histogram", "Time from a request for a page to its response.")
FETCH_BYTES = Metric("longline_fetch_bytes", "counter", "Bytes of the bodies of responses.", ("group",))
OUTCOMES = Metric(
    "longline_task_outcomes", "counter", "Outcomes of tasks that workers reported, by new state.", ("state",)
)
ARCHIVED_PAGES = Metric("longline_archived_pages", "counter", "Pages that were fetched and archived.")
LEASES_LOST = Metric("longline_leases_lost", "counter", "Leases of hosts that workers lost before they ended.")
PARSE_SECONDS = Metric("longline_parse_seconds", "histogram", "Time to parse a page, its wait for a turn included.")
DATABASE_SECONDS = Metric(
    "longline_database_seconds",
    "histogram",
    "Time of a transaction, its wait for a connection included.",
    ("access",),
)
DOWNLOAD_SECONDS = Metric("longline_download_seconds", "histogram", "Time of an attempt to download a file.")
DOWNLOAD_FAILURES = Metric(
    "longline_download_failures", "counter", "Attempts to download a file that failed, by reason.", ("reason",)
)
DOWNLOADS_GIVEN_UP = Metric("longline_downloads_given_up", "counter", "Files that were given up.")
PROXY_FAILURES = Metric(
    "longline_proxy_failures",
    "counter",
    "Requests that failed because of their proxy, by the pool of the run, empty without one.",
    ("pool",),
)
MANIFESTS_PRUNED = Metric(
    "longline_manifests_pruned", "counter", "Manifests that were deleted because of their age or size."
)
WEBHOOKS = Metric(
    "longline_webhook_tries", "counter", "Tries to send webhooks of recrawls, by the state after them.", ("state",)
)

COUNTED = (
    FETCHES,
    FETCH_SECONDS,
    FETCH_BYTES,
    OUTCOMES,
    ARCHIVED_PAGES,
    LEASES_LOST,
    PARSE_SECONDS,
    DATABASE_SECONDS,
    DOWNLOAD_SECONDS,
    DOWNLOAD_FAILURES,
    DOWNLOADS_GIVEN_UP,
    PROXY_FAILURES,
    MANIFESTS_PRUNED,
    WEBHOOKS,
)
"""Metrics that every process counts, summed over all processes in the database."""


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


NO_STATUS = "none"
"""Class of the status of a request without a response."""


def status_class(status: int | None) -> str:
    """Return the class of a status, such as `2xx`, or `none`."""
    return f"{status // 100}xx" if status else NO_STATUS


def host_group(host: str, domains: frozenset[str]) -> str:
    """Return the domain among `domains` that a host belongs to, the closest one, or `OTHER_HOSTS`."""
    name = host.partition(":")[0]
    while domains and name:
        if name in domains:
            return name
        name = name.partition(".")[2]
    return OTHER_HOSTS


def counter_values(metric: Metric, counters: Mapping[str, int]) -> dict[tuple[str, ...], int]:
    """Return the values of a counter by its label values; a counter without labels has a value from the start."""
    found: dict[tuple[str, ...], int] = {} if metric.labels else {(): counters.get(metric.key(), 0)}
    for values, count in _entries(metric, counters):
        if len(values) == len(metric.labels):
            found[values] = count
    return found


def histogram_values(metric: Metric, counters: Mapping[str, int]) -> dict[tuple[str, ...], Histogram]:
    """Return the histograms of a metric by its label values."""
    parts: dict[tuple[str, ...], dict[str, int]] = {} if metric.labels else {(): {}}
    for values, count in _entries(metric, counters):
        if len(values) == len(metric.labels) + 1:
            parts.setdefault(values[:-1], {})[values[-1]] = count
    return {values: histogram_of(found) for values, found in parts.items()}


def _entries(metric: Metric, counters: Mapping[str, int]) -> Iterable[tuple[tuple[str, ...], int]]:
    start = metric.key() + SEPARATOR
    for name, count in sorted(counters.items()):
        if name.startswith(start):
            yield tuple(name.removeprefix(start).split(SEPARATOR)), count
