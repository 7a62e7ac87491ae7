"""The frontier: open URLs by host, and the leases on hosts. For `engine/lifecycle/moves.py` alone."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

import msgspec

from longline.model.frontier.host import HostLease, HostReport
from longline.model.frontier.task import ClaimedTask, NewTask, Outcome, PageFacts, RedirectFacts, TaskRow
from longline.model.frontier.worker import WorkerRow
from longline.model.search.item import NewItem
from longline.model.states import Noun


class HostSetting(NamedTuple):
    """A host as its first task brings it: the politeness it starts with."""

    host: str
    delay_ms: int
    concurrency: int


class WrittenSegment(msgspec.Struct, frozen=True):
    """The segment whose pages a report names; `records` is how many pages it holds."""

    segment_id: int
    records: int
    bytes: int


class ReportBatch(msgspec.Struct, frozen=True):
    """Everything one report says.

    Ended tasks, found URLs, URLs refused before they got here, the pages' segment, the redirects in it, and the items
    made of the pages. `cpu_ms` is the processor time of the worker since its last report, `memory_mb` the most memory
    that it has used.
    """

    reports: Sequence[HostReport] = ()
    admit: Sequence[NewTask] = ()
    refused: Mapping[tuple[int, str], int] = {}
    segment: WrittenSegment | None = None
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


class FrontierStore(Protocol):
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

    async def report(self, batch: ReportBatch) -> Reported:
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


class TaskLease(msgspec.Struct, frozen=True):
    """The right to work on one task, until `until` or until the token moves."""

    task: ClaimedTask
    token: int
    until: int


class TaskLeaseStore(Protocol):
    """Offers tasks to whoever takes them. Each call is one transaction."""

    async def take(self, executor: str, owner: int, limit: int, ttl_ms: int) -> list[TaskLease]:
        """Lease ready tasks of an executor, best priority first."""
        ...

    async def renew(self, owner: int, held: Sequence[tuple[int, int]], ttl_ms: int) -> set[int]:
        """Extend leases named by (task, token); the tasks still held."""
        ...

    async def give(self, outcomes: Sequence[tuple[int, Outcome]], batch: ReportBatch) -> Reported:
        """Write how taken tasks ended, each under its token, and admit what they brought; all or nothing."""
        ...

    async def reap(self, limit: int) -> int:
        """Make lapsed and newly due tasks ready again; how many."""
        ...

    async def disown(self, owner: int) -> int:
        """Take back every task of an owner who is gone; how many."""
        ...


class Current(msgspec.Struct, frozen=True):
    """Where a thing stands: its state as others see it, the state its row rests in, and its lease."""

    state: str
    rest: str
    token: int
    owner: int | None
    lease_until: int | None


class Change(msgspec.Struct, frozen=True):
    """One guarded change: it happens only if the row still rests in `was` and, where given, token and deadline fit."""

    noun: Noun
    subject: int
    move: str
    was: str
    became: str
    actor: str
    reason: str | None = None
    token: int | None = None
    lease_seen: int | None = None
    owner: int | None = None
    lease_ms: int | None = None
    due: int | None = None
    error: str | None = None


class MoveStore(Protocol):
    """Reads where a thing stands and changes it, the event in the same transaction."""

    async def standing(self, noun: Noun, subject: int) -> Current | None:
        """Where a thing stands now."""
        ...

    async def apply(self, change: Change) -> Current | None:
        """Make the change; the new standing, or None when the guard did not hold and nothing was changed."""
        ...

    async def renew(self, noun: Noun, subject: int, token: int, ttl_ms: int) -> bool:
        """Extend the lease on a schedule or a run; False when it is no longer held."""
        ...

    async def lapsed(self, noun: Noun, limit: int) -> list[tuple[int, int]]:
        """Schedules, or runs of schedules, whose lease ran out, with the deadline that passed."""
        ...

    async def free_lapsed(self) -> int:
        """Free lapsed runs that belong to no schedule: whoever comes next may adopt them; how many."""
        ...

    async def disown(self, owner: int) -> int:
        """Free every run of an owner who is gone; how many."""
        ...

    async def free(self, noun: Noun, subject: int, token: int) -> bool:
        """Let go of a run's lease while it stays `running`, so that somebody else may adopt it."""
        ...


class TaskStore(Protocol):
    """Looks tasks up; they are written by `Frontier`, `TaskLeaseStore` and `MoveStore`."""

    async def get(self, task_id: int) -> TaskRow | None:
        """One task, with the state it has now, in hand or at rest."""
        ...

    async def find(self, *, run_id: int | None = None, limit: int = 50, after: int = 0) -> list[TaskRow]:
        """Tasks in the order they were admitted, from behind id `after`."""
        ...

    async def page(self, task_id: int) -> tuple[str, PageFacts] | None:
        """The key of the segment that holds the task's page, and the page's facts."""
        ...

    async def is_known(self, scope: int, host: str, key: bytes) -> bool:
        """Whether a scope has a task of this URL; host and key are those of its tasks."""
        ...

    async def counts(self) -> dict[str, int]:
        """How many tasks are open, and how many ended in each way."""
        ...


class WorkerStore(Protocol):
    """Remembers who works."""

    async def join(self, name: str, roles: str, mark: str) -> WorkerRow:
        """Enter a process; the row's id is its name as an owner of leases."""
        ...

    async def beat(self, worker: WorkerRow) -> None:
        """Say that the process lives; one that was struck while it was stopped is entered again, under the same id."""
        ...

    async def leave(self, worker_id: int) -> None:
        """Strike a process that ended, or that was found dead."""
        ...

    async def silent(self, for_ms: int) -> list[WorkerRow]:
        """Those who did not beat for so long, by the engine's clock."""
        ...

    async def find(self) -> list[WorkerRow]:
        """Everybody who joined and did not leave."""
        ...
