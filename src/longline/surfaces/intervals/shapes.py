"""Request and response bodies of the interval contract: jobs, executions and figures."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID, uuid5

import msgspec

from longline.model.errors import BadInput
from longline.model.frontier.task import RESENT
from longline.model.runs.run import Fate, RequestSum, RunRow, RunStats, RunTotals
from longline.model.schedules.schedule import UNITS, ScheduleRow, ScheduleSpec
from longline.model.schedules.slots import DAY_HOURS, SLOT_MS, Balance, score, slot_of
from longline.model.states import ScheduleState
from longline.model.url import without_credentials
from longline.services.schedules.runs import SchedulerStats
from longline.surfaces.intervals.asking import absolute, key, present, typed
from longline.surfaces.intervals.times import rfc3339
from longline.surfaces.intervals.words import CATEGORIES, KINDS, RUN_WORDS, SCHEDULE_WORDS, SKIPPED_WORDS, SKIPS

FIELDS: dict[str, tuple[str, type]] = {
    "url": ("url", str),
    "source_id": ("source_ref", str),
    "source_name": ("source_name", str),
    "interval_minutes": ("every", int),
    "interval_type": ("unit", str),
    "schedule_enabled": ("enabled", bool),
    "adaptive_scheduling": ("adaptive", bool),
    "max_retries": ("max_retries", int),
    "retry_backoff_seconds": ("backoff_seconds", int),
    "schedule_time": ("written_time", str),
    "type": ("kind", str),
    "priority": ("priority", int),
    "metadata": ("metadata", dict),
}
"""Fields of a job that a client may send: the contract's name, the internal name, and the type."""


def read_terms(found: Mapping[str, Any], terms: ScheduleSpec | None = None) -> ScheduleSpec:
    """Return a new job from client input, or `terms` with the client's changes; raise `BadInput` for invalid input."""
    key(found, "source_id")
    said = {ours: typed(found, name, kind) for name, (ours, kind) in FIELDS.items()}
    told = {ours: value for ours, value in said.items() if value is not None and (terms is None or value != "")}
    if terms is not None and "interval_minutes" in found and found["interval_minutes"] is None:
        told |= {"every": None, "enabled": told.get("enabled", False)}
    if isinstance(told.get("metadata"), dict):
        told["metadata"] = msgspec.json.encode(told["metadata"]).decode()
    if told.get("unit", "minutes") not in UNITS:
        raise BadInput("interval_type must be one of minutes, hours, days")
    if told.get("kind", "crawl") not in KINDS:
        raise BadInput(f"Invalid job type: {told['kind']}")
    if not 0 <= told.get("priority", 0) <= 100:
        raise BadInput("priority must be between 0 and 100")
    if terms is None or "url" in told:
        if not told.get("url"):
            raise BadInput("url is required")
        told["url"] = absolute(told["url"])
    return ScheduleSpec(**told) if terms is None else msgspec.structs.replace(terms, **told)


def read_state(found: Mapping[str, Any]) -> str | None:
    """Return the state that a client requests for a job; raise `BadInput` for an unknown state."""
    state: str | None = typed(found, "status", str)
    if state and state not in set(ScheduleState):
        raise BadInput(f"Invalid job status: {state}")
    return state or None


def job(row: ScheduleRow, lease_ms: int) -> dict[str, Any]:
    """Return a job in the contract's format."""
    held = row.owner is not None and row.lease_until is not None  # a run that waits for adoption has no lock
    return present(
        {
            "id": row.uid,
            "source_id": row.source_ref,
            "source_name": row.source_name,
            "url": without_credentials(row.url),
            "type": row.kind,
            "status": SCHEDULE_WORDS[row.state],
            "interval_minutes": row.every,
            "interval_type": row.unit,
            "schedule_enabled": row.enabled,
            "schedule_time": row.written_time,
            "adaptive_scheduling": row.adaptive,
            "next_run_at": rfc3339(row.next_due) if row.state in ("pending", "scheduled") else None,
            "is_paused": row.state == ScheduleState.PAUSED,
            "paused_at": rfc3339(row.paused_at),
            "cancelled_at": rfc3339(row.cancelled_at),
            "max_retries": row.max_retries,
            "retry_backoff_seconds": row.backoff_seconds,
            "current_retry_count": row.retries,
            "lock_token": lock_token(row) if held else None,
            "lock_acquired_at": rfc3339((row.lease_until or 0) - lease_ms) if held else None,
            "metadata": msgspec.json.decode(row.metadata),
            "created_at": rfc3339(row.created_at),
            "updated_at": rfc3339(row.updated_at),
            "started_at": rfc3339(row.started_at),
            "completed_at": rfc3339(row.completed_at),
            "error_message": row.error,
            "scheduler_version": 1,
            "auto_managed": row.automatic,
            "priority": row.priority,
            "failure_count": row.failures,
            "last_failure_at": rfc3339(row.failed_at),
            "backoff_until": rfc3339(row.next_due) if row.retries and row.state == "scheduled" else None,
        }
    )


def lock_token(row: ScheduleRow) -> str:
    """Return the lease of a schedule as the contract's UUID, which changes with every lease."""
    return str(uuid5(UUID(row.uid), str(row.token)))


def execution(run: RunRow, job_id: str) -> dict[str, Any]:
    """Return an execution in the contract's format."""
    took = None if run.ended_at is None or run.started_at is None else run.ended_at - run.started_at
    return present(
        {
            "id": run.uid,
            "job_id": job_id,
            "execution_number": run.number,
            "status": RUN_WORDS[run.state],
            "started_at": rfc3339(run.started_at),
            "completed_at": rfc3339(run.ended_at),
            "duration_ms": took,
            "items_crawled": run.completed,
            "items_indexed": run.indexed,
            "error_message": run.error,
            "stack_trace": run.stack,
            "cpu_time_ms": run.cpu_ms,
            "memory_peak_mb": run.memory_mb,
            "retry_attempt": run.attempt,
            "log_object_key": run.log_key,
            "log_size_bytes": run.log_bytes,
            "log_line_count": run.log_lines,
            "metadata": _figures(run),
        }
    )


def _figures(run: RunRow) -> dict[str, Any] | None:
    if run.figures is None:
        return None
    survey = msgspec.json.decode(run.figures, type=RunStats)
    return {"crawl_metrics": crawl_metrics(survey, run)}


def crawl_metrics(survey: RunStats, run: RunRow) -> dict[str, Any]:
    """Return the sums of a run's requests in the contract's format; empty optional fields are left out."""
    asked = [each for each in survey.asked if each.status or each.reason in CATEGORIES or each.reason == RESENT]
    answered = [each for each in asked if each.status]
    failed = [each for each in asked if each.reason in CATEGORIES]
    statuses = _summed((str(each.status), each.count) for each in answered)
    figures: dict[str, Any] = {
        "requests_total": sum(each.count for each in asked),
        "requests_failed": sum(each.count for each in failed),
        "bytes_downloaded": sum(each.bytes for each in asked),
    }
    optional = {
        "status_codes": statuses,
        "cloudflare_blocks": sum(each.count for each in asked if each.reason == "challenge"),
        "rate_limits": statuses.get("429", 0),
        "error_categories": _summed((CATEGORIES[each.reason], each.count) for each in failed),
        "top_errors": [{"message": text, "count": n, "last_url": url} for text, n, url in survey.errors],
        "response_time": _times(answered),
        "skipped": _skipped(survey.fates),
        "extraction_quality": _quality(survey, run) if run.completed else {},
    }
    return figures | {name: value for name, value in optional.items() if value}


def _times(answered: Sequence[RequestSum]) -> dict[str, float]:
    if not answered:
        return {}
    mean = sum(each.ms for each in answered) / sum(each.count for each in answered)
    least, most = min(each.least_ms for each in answered), max(each.most_ms for each in answered)
    return {"avg_ms": round(mean, 2), "min_ms": least, "max_ms": most}


def _quality(survey: RunStats, run: RunRow) -> dict[str, int]:
    """Return the figures that show when selectors no longer match the site."""
    empty = {"empty_title_count": survey.untitled, "empty_body_count": survey.bodiless}
    return {"items_indexed": run.indexed, **empty}


def _summed(counts: Iterable[tuple[str, int]]) -> dict[str, int]:
    summed: Counter[str] = Counter()
    for name, count in counts:
        summed[name] += count
    return dict(summed)


def _skipped(fates: tuple[Fate, ...]) -> dict[str, int]:
    found = {SKIPS[f.fate, f.reason]: f.count for f in fates if (f.fate, f.reason) in SKIPS}
    return dict.fromkeys(SKIPS.values(), 0) | found if found else {}


def stats(record: RunTotals, row: ScheduleRow) -> dict[str, Any]:
    """Return the statistics of a job's executions."""
    return {
        "total_executions": record.total,
        "successful_runs": record.completed,
        "failed_runs": record.failed,
        "average_duration_ms": record.average_ms or 0,
        "last_execution_at": rfc3339(record.last_at),
        "next_scheduled_at": rfc3339(row.next_due) if row.state in ("pending", "scheduled") else None,
        "success_rate": record.completed / record.total if record.total else 0,
    }


def metrics(figures: SchedulerStats) -> dict[str, Any]:
    """Return the scheduler's metrics; ended jobs are counted by execution: recurring jobs never stay completed."""
    record = figures.record
    judged = record.completed + record.failed
    return {
        "jobs": {
            "scheduled": figures.states["scheduled"],
            "running": figures.states["running"],
            "completed": record.completed,
            "failed": record.failed,
            "cancelled": record.cancelled,
        },
        "executions": {
            "total": record.total,
            "average_duration_ms": record.average_ms or 0,
            "success_rate": record.completed / judged if judged else 0,
        },
        "last_check_at": rfc3339(figures.polled_at),
        "last_metrics_update": rfc3339(figures.figured_at),
        "stale_locks_cleared": figures.stale_leases,
    }


def distribution(counts: list[int]) -> dict[str, Any]:
    """Return the distribution of jobs over the next 24 hours."""
    peak = max(range(DAY_HOURS), key=lambda hour: (counts[hour], -hour))
    return {
        "distribution_score": score(counts),
        "window_hours": DAY_HOURS,
        "slot_minutes": SLOT_MS // 60_000,
        "total_jobs": sum(counts),
        "hourly_distribution": [{"hour": hour, "job_count": count} for hour, count in enumerate(counts)],
        "peak_hour": peak,
        "peak_count": counts[peak],
        "hourly_counts": {str(hour): count for hour, count in enumerate(counts)},
        "average_per_hour": sum(counts) / DAY_HOURS,
        "max_per_hour": max(counts),
        "min_per_hour": min(counts),
    }


def rebalanced(balance: Balance) -> dict[str, Any]:
    """Return the result of a rebalancing, in both forms of the contract."""
    shifts = balance.shifts
    return {
        "moved": [{"job_id": s.uid, "old_time": rfc3339(s.old), "new_time": rfc3339(s.new)} for s in shifts],
        "skipped": [{"job_id": uid, "reason": SKIPPED_WORDS[reason]} for uid, reason in balance.skipped],
        "new_distribution_score": balance.after,
        "moves": [
            {"job_id": s.uid, "from_slot": slot_of(s.old), "to_slot": slot_of(s.new), "reason": "load_balancing"}
            for s in shifts
        ],
        "total_moves": len(shifts),
        "before_score": balance.before,
        "after_score": balance.after,
        "improvement": balance.after - balance.before,
    }
