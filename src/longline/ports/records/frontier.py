"""The frontier: open URLs by host, and the leases on hosts. For `engine/lifecycle.py` alone."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

import msgspec

from longline.model.host import HostLease, HostReport
from longline.model.item import NewItem
from longline.model.task import NewTask, RedirectFacts


class HostSetting(NamedTuple):
    """A host as its first task brings it: the politeness it starts with."""

    host: str
    delay_ms: int
    concurrency: int


class Written(msgspec.Struct, frozen=True):
    """The segment whose pages a report names; `records` is how many pages it holds."""

    segment_id: int
    records: int
    bytes: int


class Batch(msgspec.Struct, frozen=True):
    """Everything one report says.

    Ended tasks, found URLs, URLs refused before they got here, the pages' segment, the redirects in it, and the items
    made of the pages. `cpu_ms` is the processor time of the worker since its last report, `memory_mb` the most memory
    that it has used.
    """

    reports: Sequence[HostReport] = ()
    admit: Sequence[NewTask] = ()
    refused: Mapping[tuple[int, str], int] = {}
    segment: Written | None = None
    redirects: Sequence[RedirectFacts] = ()
    items: Sequence[NewItem] = ()
    cpu_ms: int = 0
    memory_mb: int = 0


class Admitted(NamedTuple):
    """What became of URLs that asked to be admitted."""

    new: int
    known: int
    over_budget: int


class Reported(msgspec.Struct, frozen=True):
    """What a report changed. When `stale` names hosts or `gone` names tasks, the whole report was rolled back."""

    stale: frozenset[int] = frozenset()
    gone: frozenset[int] = frozenset()
    admitted: Admitted = Admitted(0, 0, 0)
    ended_runs: tuple[int, ...] = ()

    @property
    def refused(self) -> bool:
        return bool(self.stale or self.gone)


class Frontier(Protocol):
    """Admits, leases, reports. Each call is one transaction."""

    async def ensure_hosts(self, hosts: Sequence[HostSetting]) -> None:
        """Make sure that these hosts exist; those that do keep their settings."""
        ...

    async def admit(self, tasks: Sequence[NewTask], refused: Mapping[tuple[int, str], int]) -> Admitted:
        """Take URLs in, each once per (scope, host, key); count those refused by (run, reason). Hosts must exist."""
        ...

    async def claim(
        self,
        owner: int,
        hosts: int,
        tasks: int,
        ttl_ms: int,
        held: Sequence[tuple[int, int]] = (),
        waited_ms: int = 0,
    ) -> list[HostLease]:
        """Lease up to `hosts` hosts with due work, the longest waiting first, with up to `tasks` tasks each.

        When fewer are free, those that are `held` already, by (host, token), come with that many more tasks of theirs.
        Hosts that were free for less than `waited_ms` are left to others.
        """
        ...

    async def renew(self, owner: int, held: Sequence[tuple[int, int]], ttl_ms: int) -> set[int]:
        """Extend leases named by (host, token); the hosts still held. A lapsed lease cannot be revived."""
        ...

    async def report(self, batch: Batch) -> Reported:
        """Write how tasks ended, all or nothing, under the leases they were claimed with."""
        ...

    async def reap(self, limit: int) -> list[int]:
        """Take back leases that lapsed; the hosts they were on."""
        ...

    async def bound_pauses(self, most_ms: int) -> int:
        """Shorten pauses that no host can have asked for; return how many hosts had one."""
        ...

    async def disown(self, owner: int) -> int:
        """Take back every lease of an owner who is gone; how many hosts."""
        ...
