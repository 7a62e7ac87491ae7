"""Responses to bots: pulled jobs, accepted results and failures, and extended locks."""

from decimal import Decimal
from typing import Literal

import msgspec
from msgspec import UNSET, UnsetType

from longline.model.bots.bot_task import AnswerVerdict, BotFinding, Pulled, PulledTask
from longline.model.ids import task_uuid
from longline.model.states import TaskState
from longline.surfaces.bots.field_types import Time, Uri, Uuid, amount, optional_time, time_text
from longline.surfaces.bots.job_statuses import JobStatus, shown_priority, word


class PulledJob(msgspec.Struct, frozen=True):
    """A job that is locked for the bot."""

    job_id: Uuid
    url: Uri
    priority: int
    max_retries: int
    timeout_seconds: int
    retry_count: int
    locked_until: Time


class PulledJobs(msgspec.Struct, frozen=True):
    """The jobs of a pull. `skipped` counts jobs of the same hosts that other bots hold."""

    jobs: list[PulledJob]
    count: int
    skipped: int


class AcceptedResult(msgspec.Struct, frozen=True):
    """A result that was stored."""

    result_id: Uuid
    job_id: Uuid
    status: JobStatus
    price: Decimal
    currency: str
    policy_next_run: Time | None


class AcceptedFailure(msgspec.Struct, frozen=True):
    """A failure that was stored; `error` is sent when no retry is left."""

    job_id: Uuid
    status: JobStatus
    retry_count: int
    max_retries: int
    error: str | UnsetType = UNSET
    message: Literal["Job marked for retry", "Retries exhausted"] = "Job marked for retry"


class ExtendedLock(msgspec.Struct, frozen=True):
    """A lock that runs anew."""

    job_id: Uuid
    status: Literal["locked"]
    locked_until: Time


def pulled_jobs(found: Pulled) -> PulledJobs:
    return PulledJobs([_pulled_job(task) for task in found.tasks], len(found.tasks), found.skipped)


def _pulled_job(task: PulledTask) -> PulledJob:
    return PulledJob(
        job_id=task_uuid(task.id, task.created_at),
        url=task.url,
        priority=shown_priority(task.priority),
        max_retries=task.max_retries,
        timeout_seconds=task.held_ms // 1000,
        retry_count=task.retries,
        locked_until=time_text(task.until),
    )


def accepted_result(verdict: AnswerVerdict, found: BotFinding, task: str) -> AcceptedResult:
    return AcceptedResult(
        result_id=found.uid,
        job_id=task,
        status=word(verdict.state),
        price=amount(found.price),
        currency=found.currency,
        policy_next_run=optional_time(verdict.next_due),
    )


def accepted_failure(verdict: AnswerVerdict, task: str) -> AcceptedFailure:
    has_ended = verdict.state != TaskState.PENDING
    return AcceptedFailure(
        job_id=task,
        status=word(verdict.state),
        retry_count=verdict.retries,
        max_retries=verdict.max_retries,
        error=verdict.error if has_ended else UNSET,
        message="Retries exhausted" if has_ended else "Job marked for retry",
    )
