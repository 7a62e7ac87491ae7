"""Hosts, the units of politeness. A worker leases hosts, and with each host its due tasks."""

import msgspec

from longline.model.frontier.task import ClaimedTask, Outcome

POLITEST_PACE_SECONDS = 30.0
"""Seconds for which the politest values of any task at a host apply to all tasks there."""

FIRST_BACK_OFF_SECONDS = 2.0
MAX_BACK_OFF_SECONDS = 300.0
"""Pause after the first 429 or 503 of a host without a Retry-After, and the longest; each doubles the one before."""

BACK_OFF_SPREAD = (0.5, 1.5)
"""Smallest and largest factor of such a pause, so that workers that were throttled together do not return together."""

MAX_DELAY_SECONDS = 60.0
"""Largest delay in seconds between requests to a host, however many 429s the host sends."""

THROTTLED_DELAY_SECONDS = 3600.0
"""Seconds for which a host keeps the doubled delay after its last 429."""

MAX_PAUSE_SECONDS = 4000.0
"""Longest pause that a host's row can cause, in seconds: a longer Retry-After is cut; twice the delay comes on top."""

MAX_RETRY_AFTER_SECONDS = 3600.0
"""Largest Retry-After in seconds; a longer one is cut, since no site may pause a crawl for ever."""


class HostPace(msgspec.Struct, frozen=True):
    """The politeness of all workers towards a host; before `until` no run may lower it."""

    delay_ms: int
    until: int
    concurrency: int


class HostLease(msgspec.Struct, frozen=True):
    """The right to talk to one host, until `until` (milliseconds of database time) or until the token moves.

    Before `pace_until` no run may be less polite than `delay_ms` and `concurrency`.
    """

    host_id: int
    host: str
    token: int
    until: int
    delay_ms: int
    concurrency: int
    not_before: int
    tasks: tuple[ClaimedTask, ...]
    pace_until: int = 0


class HostReport(msgspec.Struct, frozen=True):
    """A worker's report about a leased host: outcomes of tasks, and the earliest time of the next request.

    With `release` the lease goes back in the same transaction. `unstarted` tasks go back as if never claimed; a task
    that is neither reported nor given back keeps its count of attempts, since it may have killed its worker.
    `pace` is the new pace of the host, None where the pace has not changed.
    """

    host_id: int
    token: int
    outcomes: tuple[Outcome, ...] = ()
    unstarted: tuple[ClaimedTask, ...] = ()
    not_before: int = 0
    release: bool = False
    pace: HostPace | None = None
