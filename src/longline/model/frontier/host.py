"""A host is the unit of politeness. A worker leases hosts, and with each host its due tasks."""

import msgspec

from longline.model.frontier.task import ClaimedTask, Outcome

DEFAULT_DELAY_MS = 1000
DEFAULT_CONCURRENCY = 1


class HostPace(msgspec.Struct, frozen=True):
    """How polite everybody is to a host; before `until` nobody is less so, whoever asks for it."""

    delay_ms: int
    until: int
    concurrency: int


class HostLease(msgspec.Struct, frozen=True):
    """The right to talk to one host, until `until` (milliseconds of database time) or until the token moves.

    Before `pace_until` nobody is less polite to it than this says.
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
    """What a worker has to say about a host it holds: how tasks ended, and when the host may be touched again.

    With `release` the lease goes back in the same transaction. `unstarted` tasks go back as if never claimed; a task
    that is neither reported nor given back keeps its count of attempts, since it may be what killed its worker.
    `pace` is what the host goes by from now on, where that is something else than before.
    """

    host_id: int
    token: int
    outcomes: tuple[Outcome, ...] = ()
    unstarted: tuple[ClaimedTask, ...] = ()
    not_before: int = 0
    release: bool = False
    pace: HostPace | None = None
