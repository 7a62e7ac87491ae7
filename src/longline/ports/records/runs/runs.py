"""Runs: executions, with counts that always add up."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from longline.model.maintenance.maintenance_run import (
    MaintenanceResult,
    MaintenanceRunRow,
    MaintenanceSchedule,
    MaintenanceState,
)
from longline.model.runs.end_effect import RunEffect, RunEffectKind
from longline.model.runs.run import (
    DayTotals,
    DueRun,
    Fate,
    NewRun,
    RequestSum,
    RunKind,
    RunReview,
    RunRow,
    RunSummary,
    RunTotals,
)
from longline.model.runs.run_pace import PaceCount
from longline.model.runs.run_view import HostTasks, RunQuery, RunView
from longline.model.states import Actor


class RunStore(Protocol):
    """Runs; `MoveStore` changes their states, and their counts change with their tasks."""

    async def add(self, run: NewRun, actor: Actor = "person") -> RunRow:
        """Make a run, `queued`, and its event; the reason in the event is the kind of the run."""
        ...

    async def ensure(self, run: NewRun, actor: Actor = "person") -> RunRow:
        """Return the standing run of that kind and seed; make one, `queued`, if there is none."""
        ...

    async def get(self, run_id: int) -> RunRow | None:
        """Return one run."""
        ...

    async def latest(self, kind: RunKind, seed: str) -> RunRow | None:
        """Return the newest run of that kind and seed, in any state."""
        ...

    async def first(self, kind: RunKind, seed: str) -> RunRow | None:
        """Return the oldest run of that kind and seed."""
        ...

    async def previous(self, run_id: int) -> RunRow | None:
        """Return the newest run of the same kind and seed that is older than a run."""
        ...

    async def replan(self, run_id: int, plan: str, source_id: int | None) -> bool:
        """Replace the plan and the source of a standing run; return False for an unknown run."""
        ...

    async def revise(self, run_id: int, plan: str, budget: int | None) -> None:
        """Replace the plan and the budget of a crawl."""
        ...

    async def find(self, *, limit: int = 50, offset: int = 0, kind: RunKind | None = None) -> list[RunRow]:
        """Return runs, of one kind or of all, newest first."""
        ...

    async def fates(self, run_id: int) -> list[Fate]:
        """Return the counts of the run's URLs so far, by fate and reason."""
        ...

    async def counts(self) -> dict[str, int]:
        """Return the number of runs in each state."""
        ...


class RunViewStore(Protocol):
    """Runs as pages show them. Lists go by key, and every method reads a bounded number of rows."""

    async def find(self, query: RunQuery, *, limit: int, before: int | None = None) -> list[RunView]:
        """Return chosen runs, newest first; `before` continues a list."""
        ...

    async def newer(self, query: RunQuery, *, limit: int, after: int) -> list[RunView]:
        """Return the chosen runs that follow a run, newest first; a text in the query is ignored."""
        ...

    async def open(self, state: str, *, limit: int) -> list[RunView]:
        """Return queued or running runs, newest first."""
        ...

    async def get(self, run_id: int) -> RunView | None:
        """Return one run."""
        ...

    async def among(self, run_ids: Sequence[int]) -> list[RunView]:
        """Return these runs, in the order of their ids; unknown and deleted ones are left out."""
        ...

    async def hosts(self, run_id: int) -> list[HostTasks]:
        """Return the newest tasks of a run, `MAX_COUNTED_TASKS` at most, counted by host, state and reason."""
        ...

    async def pace(self, run_id: int, begin: int, step_ms: int) -> list[PaceCount]:
        """Return the tasks of a run that completed or failed, counted by steps from a time on.

        All tasks of the run are read: the caller asks for runs of at most `MAX_COUNTED_TASKS` tasks.
        """
        ...

    async def requests(self, run_id: int) -> list[RequestSum]:
        """Return the requests of a run so far, by reason and status."""
        ...

    async def failed(self, run_id: int, *, limit: int, after: int = 0) -> list[int]:
        """Return the ids of failed tasks of a run, in the order of their ids, behind one of them."""
        ...


class RunHistoryStore(Protocol):
    """The remembered runs of schedules."""

    async def get_by_uid(self, uid: str) -> RunRow | None:
        """Return one run, by its public id."""
        ...

    async def find(self, schedule_id: int, *, limit: int = 50, offset: int = 0) -> list[RunRow]:
        """Return runs of a schedule, newest first."""
        ...

    async def record(self, schedule_id: int | None = None) -> RunTotals:
        """Return the totals of the runs of a schedule, or of all schedules."""
        ...

    async def completed_totals(self, since: int) -> DayTotals:
        """Return the pages and documents of completed runs that started since then."""
        ...

    async def items(self, run_id: int) -> int:
        """Return the number of documents that a run has brought so far."""
        ...

    async def review(self, run_ids: Sequence[int]) -> dict[int, RunReview]:
        """Return the start pages of runs, and statistics of their pages."""
        ...

    async def note(self, notes: Mapping[int, RunSummary]) -> None:
        """Save summaries with ended runs."""
        ...

    async def ended(self, run_ids: Sequence[int]) -> list[int]:
        """Return the ended runs among these."""
        ...


class DueRunStore(Protocol):
    """Queued runs with a due time, and the kinds of runs that are paused."""

    async def find(self, limit: int) -> list[DueRun]:
        """Return queued runs that may start, the longest due first.

        Left out are the runs of schedules, of disabled sources and of paused kinds.
        """
        ...

    async def pause_kind(self, kind: RunKind) -> bool:
        """Start no queued run of a kind any more; return False for a kind that is paused already."""
        ...

    async def resume_kind(self, kind: RunKind) -> bool:
        """Start due runs of a kind again; return False for a kind that is not paused."""
        ...

    async def paused_kinds(self) -> list[RunKind]:
        """Return the kinds that are paused."""
        ...


class RunEffectStore(Protocol):
    """The outbox of run ends. An effect is added in the transaction that ends its run."""

    async def take(self, kinds: Sequence[RunEffectKind], limit: int, ttl_ms: int) -> list[RunEffect]:
        """Lease effects of these kinds that are due, in the order of the ends."""
        ...

    async def finish(self, effect: RunEffect) -> bool:
        """Delete an effect outside of the database that was carried out; return False when its lease was lost."""
        ...

    async def put_back(self, effect: RunEffect, wait_ms: int, error: str) -> bool:
        """Release an effect that failed, for a later attempt; return False when its lease was lost."""
        ...

    async def note_health(self, effect: RunEffect) -> bool:
        """Note success or failure with the source of the run, and delete the effect, in one transaction.

        Return False, without a change, when the lease on the effect was lost.
        """
        ...

    async def waiting(self) -> dict[str, int]:
        """Return the number of effects that are not carried out yet, by kind."""
        ...


class MaintenanceStore(Protocol):
    """Runs and times of maintenance tasks; of the runs of a task only one is open at a time."""

    async def schedules(self) -> list[MaintenanceSchedule]:
        """Return the stored times of all tasks, by task."""
        ...

    async def set_schedule(self, schedule: MaintenanceSchedule) -> MaintenanceSchedule:
        """Store the times of a task."""
        ...

    async def advance(self, schedule: MaintenanceSchedule, next_at: int) -> bool:
        """Set the next time of a task, and queue a run of it; return False where another process was first.

        Where a run of the task is open, none is queued.
        """
        ...

    async def add(
        self, task: str, caller: tuple[str, str] | None, state: MaintenanceState, lease_ms: int
    ) -> MaintenanceRunRow | None:
        """Make a run, queued or running under a lease; return None while another run of the task is open."""
        ...

    async def take(self, lease_ms: int) -> MaintenanceRunRow | None:
        """Start the oldest queued run under a lease."""
        ...

    async def end(
        self, run_id: str, state: MaintenanceState, result: MaintenanceResult, error: str | None = None
    ) -> MaintenanceRunRow | None:
        """End a running run; return None, without any change, for a run that was cancelled or has lost its lease."""
        ...

    async def cancel(self, task: str) -> MaintenanceRunRow | None:
        """Cancel the open run of a task; return None without one."""
        ...

    async def get(self, run_id: str) -> MaintenanceRunRow | None:
        """Return one run."""
        ...

    async def latest(self, tasks: Sequence[str]) -> dict[str, MaintenanceRunRow]:
        """Return the newest run of each task that has one."""
        ...
