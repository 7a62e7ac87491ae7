"""`/api/v1/scheduler`: metrics, distribution of jobs over the day, and rebalancing."""

from dataclasses import dataclass
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from longline.model.schedules.slots import DAY_HOURS, SLOT_MS, Balance, score, slot_of
from longline.services.schedules.run_history import Runs, SchedulerStats
from longline.services.schedules.slots import Slots
from longline.surfaces.intervals import examples
from longline.surfaces.intervals.errors import SCHEDULER_OFF
from longline.surfaces.intervals.field_types import Timestamp, rfc3339
from longline.surfaces.intervals.jobs.job_statuses import SKIPPED_WORDS, SkippedReason
from longline.surfaces.operation import ApiFailure, operation

Score = Annotated[float, Meta(ge=0, le=1, description="1 is an even distribution of the jobs over the hours.")]


@dataclass(frozen=True, slots=True)
class SchedulerServices:
    """The figures and the slots of the scheduler; `is_on` is False in a process that starts no runs."""

    runs: Runs
    slots: Slots
    is_on: bool = True

    def check(self) -> None:
        """Raise the contract's error unless the scheduler is on."""
        if not self.is_on:
            raise ApiFailure(SCHEDULER_OFF)


class JobFigures(msgspec.Struct, frozen=True):
    """Jobs by state; ended ones are counted by execution, since recurring jobs never stay completed."""

    scheduled: int
    running: int
    completed: int
    failed: int
    cancelled: int


class ExecutionFigures(msgspec.Struct, frozen=True):
    """Figures of all executions."""

    total: int
    average_duration_ms: float
    success_rate: Annotated[float, Meta(description="Completed executions by completed and failed ones, 0 to 1.")]


class SchedulerMetrics(msgspec.Struct, frozen=True):
    """Figures of the schedulers of all processes."""

    jobs: JobFigures
    executions: ExecutionFigures
    last_check_at: Timestamp
    last_metrics_update: Timestamp
    stale_locks_cleared: Annotated[
        int, Meta(description="Runs that were taken over from killed processes since the server started.")
    ]


class HourLoad(msgspec.Struct, frozen=True):
    """Jobs that are due in one hour from now on; hour 0 begins now."""

    hour: int
    job_count: int


class Distribution(msgspec.Struct, frozen=True):
    """The distribution of jobs over the next 24 hours, in both forms of the contract."""

    distribution_score: Score
    window_hours: int
    slot_minutes: int
    total_jobs: int
    hourly_distribution: list[HourLoad]
    peak_hour: int
    peak_count: int
    hourly_counts: dict[str, int]
    average_per_hour: float
    max_per_hour: int
    min_per_hour: int


class MovedJob(msgspec.Struct, frozen=True):
    """A job with a new time."""

    job_id: str
    old_time: Timestamp
    new_time: Timestamp


class SkippedJob(msgspec.Struct, frozen=True):
    """A job that keeps its time."""

    job_id: str
    reason: SkippedReason


class SlotMove(msgspec.Struct, frozen=True):
    """A job with a new slot; the number of a slot counts quarters of an hour since 1970."""

    job_id: str
    from_slot: int
    to_slot: int
    reason: Literal["load_balancing"] = "load_balancing"


class RebalancePreview(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a rebalancing, in both forms of the contract."""

    moved: list[MovedJob]
    skipped: list[SkippedJob]
    new_distribution_score: Score
    moves: list[SlotMove]
    total_moves: int
    before_score: Score
    after_score: Score
    improvement: float


class RebalanceResult(RebalancePreview, frozen=True, kw_only=True):
    """The result of a rebalancing that was applied."""

    jobs_updated: int


@operation(
    "GET",
    "/api/v1/scheduler/metrics",
    "Return the figures of the scheduler",
    errors=(SCHEDULER_OFF,),
    response_example=examples.SCHEDULER_METRICS,
)
async def show_scheduler_metrics(services: SchedulerServices) -> SchedulerMetrics:
    services.check()
    return scheduler_metrics(await services.runs.figures())


@operation(
    "GET",
    "/api/v1/scheduler/distribution",
    "Return the distribution of jobs over the next 24 hours",
    errors=(SCHEDULER_OFF,),
    response_example=examples.DISTRIBUTION,
)
async def show_distribution(services: SchedulerServices) -> Distribution:
    services.check()
    return distribution(await services.slots.hours())


@operation(
    "POST",
    "/api/v1/scheduler/rebalance/preview",
    "Return the result that a rebalancing would have now",
    errors=(SCHEDULER_OFF,),
    response_example=examples.REBALANCE_PREVIEW,
)
async def preview_rebalance(services: SchedulerServices) -> RebalancePreview:
    services.check()
    balance, _ = await services.slots.rebalance(apply=False)
    return rebalance_preview(balance)


@operation(
    "POST",
    "/api/v1/scheduler/rebalance",
    "Distribute the jobs evenly over the slots of the day",
    errors=(SCHEDULER_OFF,),
    response_example=examples.REBALANCE,
    action="schedule.rebalance",
)
async def apply_rebalance(services: SchedulerServices) -> RebalanceResult:
    services.check()
    balance, moved = await services.slots.rebalance(apply=True)
    return RebalanceResult(**msgspec.structs.asdict(rebalance_preview(balance)), jobs_updated=moved)


def scheduler_metrics(figures: SchedulerStats) -> SchedulerMetrics:
    """Return the scheduler's figures in the contract's format."""
    record = figures.record
    judged = record.completed + record.failed
    return SchedulerMetrics(
        jobs=JobFigures(
            scheduled=figures.states["scheduled"],
            running=figures.states["running"],
            completed=record.completed,
            failed=record.failed,
            cancelled=record.cancelled,
        ),
        executions=ExecutionFigures(
            record.total, record.average_ms or 0, success_rate=record.completed / judged if judged else 0
        ),
        last_check_at=rfc3339(figures.polled_at),
        last_metrics_update=rfc3339(figures.figured_at),
        stale_locks_cleared=figures.stale_leases,
    )


def distribution(counts: list[int]) -> Distribution:
    """Return the number of jobs of each hour in the contract's format."""
    peak = max(range(DAY_HOURS), key=lambda hour: (counts[hour], -hour))
    return Distribution(
        distribution_score=score(counts),
        window_hours=DAY_HOURS,
        slot_minutes=SLOT_MS // 60_000,
        total_jobs=sum(counts),
        hourly_distribution=[HourLoad(hour, count) for hour, count in enumerate(counts)],
        peak_hour=peak,
        peak_count=counts[peak],
        hourly_counts={str(hour): count for hour, count in enumerate(counts)},
        average_per_hour=sum(counts) / DAY_HOURS,
        max_per_hour=max(counts),
        min_per_hour=min(counts),
    )


def rebalance_preview(balance: Balance) -> RebalancePreview:
    """Return the result of a rebalancing in the contract's format."""
    shifts = balance.shifts
    return RebalancePreview(
        moved=[MovedJob(shift.uid, rfc3339(shift.old), rfc3339(shift.new)) for shift in shifts],
        skipped=[SkippedJob(uid, SKIPPED_WORDS[reason]) for uid, reason in balance.skipped],
        new_distribution_score=balance.after,
        moves=[SlotMove(shift.uid, slot_of(shift.old), slot_of(shift.new)) for shift in shifts],
        total_moves=len(shifts),
        before_score=balance.before,
        after_score=balance.after,
        improvement=balance.after - balance.before,
    )


SCHEDULER = (show_scheduler_metrics, show_distribution, preview_rebalance, apply_rebalance)
