"""The frontier: open URLs by host, and the leases on hosts. For `engine/lifecycle/` alone."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

import msgspec

from longline.model.discovery.candidate import PlaceFindings
from longline.model.discovery.link import LinkDetails, NewLink
from longline.model.frontier.fate import UrlFate, UrlFilters
from longline.model.frontier.host import HostLease, HostReport
from longline.model.frontier.task import ClaimedTask, NewTask, Outcome, RedirectFacts, RefusedUrl, TaskRow
from longline.model.frontier.worker import WorkerRow
from longline.model.metrics.metric import QueueFigures
from longline.model.recrawls.recrawl import RecrawlFind
from longline.model.runs.run import NewRun
from longline.model.search.item import NewItem
from longline.model.states import Noun


class HostSetting(NamedTuple):
    """A host and its initial politeness, as given by its first task."""

    host: str
    delay_ms: int
    concurrency: int


class WrittenSegment(msgspec.Struct, frozen=True):
    """The segment of a report's pages; `records` is the number of pages in the segment."""

    segment_id: int
    records: int
    bytes: int


class ReportBatch(msgspec.Struct, frozen=True):
    """The contents of one report.

    Ended tasks, found URLs, counts of URLs refused before admission and of pages without an item, the pages' segment,
    the redirects in the segment, the items made of the pages, and the refused URLs to be stored. `cpu_ms` is the
    processor time of the worker since its last report, `memory_mb` the worker's peak memory. `links` lead away from
    the sites of runs, `link_details` are facts of pages that links lead to, `findings` are places found by links.
    `finds` are URLs that pages of recrawls brought.
    """

    reports: Sequence[HostReport] = ()
    admit: Sequence[NewTask] = ()
    refused: Mapping[tuple[int, str], int] = {}
    segment: WrittenSegment | None = None
    redirects: Sequence[RedirectFacts] = ()
    items: Sequence[NewItem] = ()
    refused_urls: Sequence[RefusedUrl] = ()
    cpu_ms: int = 0
    memory_mb: int = 0
    without_item: Mapping[tuple[int, str], int] = {}
    links: Sequence[NewLink] = ()
    link_details: Sequence[LinkDetails] = ()
    findings: PlaceFindings | None = None
    finds: Sequence[RecrawlFind] = ()


class Admitted(NamedTuple):
    """Numbers of URLs that were admitted, known already, or over the budget."""

    new: int
    known: int
    over_budget: int


class Reported(msgspec.Struct, frozen=True):
    """The result of a report. When `stale` names hosts or `gone` names tasks, the whole report was rolled back.

    `done_runs` have no open task left, and are ended by the schedulers of their schedules.
    """

    stale: frozenset[int] = frozenset()
    gone: frozenset[int] = frozenset()
    admitted: Admitted = Admitted(0, 0, 0)
    ended_runs: tuple[int, ...] = ()
    done_runs: tuple[int, ...] = ()

    @property
    def refused(self) -> bool:
        return bool(self.stale or self.gone)


class ClaimRequest(msgspec.Struct, frozen=True):
    """A worker's request for up to `hosts` hosts with due work, with up to `tasks` tasks each.

    When fewer hosts are free, hosts that are `held` already, by (host, token), get up to `tasks` more tasks. Hosts that
    were free for less than `waited_ms` are left to other workers. Without `downloads`, so are hosts that have files to
    be downloaded.
    """

    owner: int
    hosts: int
    tasks: int
    ttl_ms: int
    held: Sequence[tuple[int, int]] = ()
    waited_ms: int = 0
    downloads: bool = True


class FrontierStore(Protocol):
    """Admission of URLs, leases on hosts, and reports. Each call is one transaction."""

    async def ensure_hosts(self, hosts: Sequence[HostSetting]) -> None:
        """Add missing hosts; existing hosts keep their settings."""
        ...

    async def admit(self, tasks: Sequence[NewTask], refused: Mapping[tuple[int, str], int]) -> Admitted:
        """Admit URLs, each once per (scope, host, key); count refusals by (run, reason). Hosts must exist."""
        ...

    async def extend(self, run_id: int, tasks: Sequence[NewTask]) -> Admitted:
        """Admit URLs to a run, which is opened again if it has ended, and delete their refusals. Hosts must exist."""
        ...

    async def begin(self, run: NewRun, tasks: Sequence[NewTask], reason: str) -> int:
        """Make a run, start it and admit these URLs in its own scope; return its id."""
        ...

    async def start_due(self, run_id: int, tasks: Sequence[NewTask], reason: str) -> bool:
        """Start a queued run that is due and admit these URLs, both or neither; return False if it may not start.

        Raise `BadInput` when none of the URLs can be admitted.
        """
        ...

    async def claim(self, request: ClaimRequest) -> list[HostLease]:
        """Lease hosts with due work, the longest waiting first, each with a batch of tasks."""
        ...

    async def renew(self, owner: int, held: Sequence[tuple[int, int]], ttl_ms: int) -> set[int]:
        """Extend leases named by (host, token), also lapsed ones that were not reaped; return the hosts still held."""
        ...

    async def report(self, batch: ReportBatch) -> Reported:
        """Write the outcomes of tasks, all or nothing, under the leases of their claims."""
        ...

    async def reap(self, limit: int) -> list[int]:
        """Take back lapsed leases; return their hosts."""
        ...

    async def bound_pauses(self, most_ms: int) -> int:
        """Shorten pauses to `most_ms`, which no host can have exceeded; return the number of hosts."""
        ...

    async def release_all(self, owner: int) -> int:
        """Take back every lease of a dead owner; return the number of hosts."""
        ...


class TaskLease(msgspec.Struct, frozen=True):
    """The right to work on one task, until `until` or until the token changes.

    `attempt_before` is the number of the attempt that its last worker reported: of a page for a parser, its fetch.
    """

    task: ClaimedTask
    token: int
    until: int
    attempt_before: int = 0


class TaskLeaseStore(Protocol):
    """Leases on single tasks, without their hosts. Each call is one transaction."""

    async def take(self, executor: str, owner: int, limit: int, ttl_ms: int) -> list[TaskLease]:
        """Lease ready tasks of an executor, best priority first."""
        ...

    async def renew(self, owner: int, held: Sequence[tuple[int, int]], ttl_ms: int) -> set[int]:
        """Extend leases named by (task, token); return the tasks still held."""
        ...

    async def give(self, outcomes: Sequence[tuple[int, Outcome]], batch: ReportBatch) -> Reported:
        """Write the outcomes of taken tasks, each under its token, and admit their URLs; all or nothing."""
        ...

    async def reap(self, limit: int) -> int:
        """Make lapsed and newly due tasks ready again; return how many."""
        ...

    async def release_all(self, owner: int) -> int:
        """Take back every task of a dead owner; return how many."""
        ...


class Current(msgspec.Struct, frozen=True):
    """The state of a row as others see it, the resting state in its row, and its lease."""

    state: str
    rest: str
    token: int
    owner: int | None
    lease_until: int | None


class Change(msgspec.Struct, frozen=True):
    """One guarded change, applied only if the row still rests in `was` and, where given, token and deadline match."""

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
    keep_attempts: bool = False


class TaskChange(msgspec.Struct, frozen=True):
    """One move of several tasks, each of which is moved if its state is in `allowed`.

    `priority` replaces the priority of the tasks. With `keep_attempts` a move that begins tasks anew goes on counting
    their attempts; every other move does so in any case.
    """

    move: str
    allowed: frozenset[str]
    became: str
    actor: str
    reason: str | None = None
    error: str | None = None
    due: int | None = None
    priority: int | None = None
    keep_attempts: bool = False

    @property
    def because(self) -> str:
        """Return the reason that is written with the tasks."""
        return self.reason or self.move


class TaskMove(msgspec.Struct, frozen=True):
    """The result of a move for one task: it became another state, or stayed what it `was`.

    A task that does not exist was nothing. A task stayed although its state allows the move if its run, in `run_state`,
    cannot be opened again, or if it is to be parsed `without_page`.
    """

    task_id: int
    was: str | None = None
    became: str | None = None
    run_state: str | None = None
    without_page: bool = False


class Prioritized(msgspec.Struct, frozen=True):
    """A task with another priority, which a task leased by a worker gets at its next rest."""

    task_id: int
    was: int
    became: int
    at_next_rest: bool = False


class TaskMoveStore(Protocol):
    """Moves and priorities of many tasks at once, and the tasks that moves took from workers."""

    async def move_all(self, change: TaskChange, task_ids: Sequence[int]) -> tuple[list[TaskMove], bool]:
        """Move tasks in one transaction; return one result for each id, and whether a scheduler has a run to end."""
        ...

    async def prioritize(self, wanted: Mapping[int, int]) -> list[Prioritized]:
        """Give tasks other priorities in one transaction; return the tasks that exist."""
        ...

    async def apply_priorities(self, limit: int) -> int:
        """Apply priorities to tasks that a worker lost without a report; return how many."""
        ...

    async def withdrawals(self, owner: int) -> dict[tuple[int, int], int]:
        """Return, by (host, token), how often tasks were taken from the owner under that token."""
        ...

    async def marked(self, claims: Sequence[tuple[int, int, ClaimedTask]]) -> set[tuple[int, int]]:
        """Return, by (task, due), the claims by host, token and task that still hold."""
        ...


class MoveStore(Protocol):
    """States of tasks, runs and schedules; a change and its event are written in one transaction."""

    async def current(self, noun: Noun, subject: int) -> Current | None:
        """Return the current state and lease."""
        ...

    async def apply(self, change: Change) -> Current | None:
        """Make the change; return the new state, or None, without a change, when the guard did not hold."""
        ...

    async def renew(self, noun: Noun, subject: int, token: int, ttl_ms: int) -> bool:
        """Extend the lease on a schedule or a run; return False when the lease is lost."""
        ...

    async def lapsed(self, noun: Noun, limit: int) -> list[tuple[int, int]]:
        """Return schedules, or runs of schedules, with a lapsed lease, and the deadline that passed."""
        ...

    async def free_lapsed(self) -> int:
        """Free lapsed runs without a schedule, so that any worker may adopt them; return how many."""
        ...

    async def release_all(self, owner: int) -> int:
        """Free every run of a dead owner; return how many."""
        ...

    async def free(self, noun: Noun, subject: int, token: int) -> bool:
        """Release a run's lease while the run stays `running`, so that another worker may adopt the run."""
        ...


class TaskStore(Protocol):
    """Tasks, for reading; `FrontierStore`, `TaskLeaseStore` and `MoveStore` write tasks."""

    async def get(self, task_id: int) -> TaskRow | None:
        """Return one task with its current state, leased or at rest."""
        ...

    async def find(self, *, run_id: int | None = None, limit: int = 50, after: int = 0) -> list[TaskRow]:
        """Return tasks in the order of admission, from behind id `after`."""
        ...

    async def url_fates(self, run_id: int, filters: UrlFilters, *, after: int = 0, limit: int = 100) -> list[UrlFate]:
        """Return the URLs of a run with their fates, in the order of admission, from behind id `after`."""
        ...

    async def is_known(self, scope: int, host: str, key: bytes) -> bool:
        """Return whether a scope has a task of this URL; host and key are those of the URL's tasks."""
        ...

    async def counts(self) -> dict[str, int]:
        """Return the number of open tasks, and of ended tasks by fate."""
        ...


class QueueFigureStore(Protocol):
    """Figures of the queue for dashboards."""

    async def queue_figures(self) -> QueueFigures:
        """Return the present figures; the time of this call does not grow with the queue."""
        ...

    def connections(self) -> dict[str, int]:
        """Return the number of busy and of idle connections of this process to the database."""
        ...


class WorkerStore(Protocol):
    """Worker processes."""

    async def join(self, name: str, roles: str, mark: str, parsers: str = "[]") -> WorkerRow:
        """Add a process; the row's id identifies the process as an owner of leases.

        `parsers` is a JSON list of the files and modules of its custom parsers.
        """
        ...

    async def beat(self, worker: WorkerRow) -> None:
        """Write a heartbeat; a process that was removed while suspended is added again, under the same id."""
        ...

    async def remove(self, worker_id: int) -> None:
        """Remove a process that ended, or that was found dead."""
        ...

    async def silent(self, for_ms: int) -> list[WorkerRow]:
        """Return processes without a heartbeat for `for_ms`, by the engine's clock."""
        ...

    async def find(self) -> list[WorkerRow]:
        """Return all processes that joined and did not leave."""
        ...
