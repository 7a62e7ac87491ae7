"""Hosts, the units of politeness. A worker leases hosts, and with each host its due tasks."""

import msgspec

from longline.model.frontier.task import ClaimedTask, Outcome


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
