"""`/api/crawl/pull/`, `/submit/` and `/heartbeat/`: the requests of bots."""

import time
from dataclasses import dataclass

from msgspec import UNSET

from longline.model.bots.bot_task import AnswerVerdict, BotFinding, Pulled, PulledTask
from longline.model.ids import task_uuid
from longline.model.states import TaskState
from longline.services.bots.access import BotCredentials
from longline.services.bots.pulls import BotPulls
from longline.services.bots.submits import BotSubmits
from longline.surfaces.bots import examples
from longline.surfaces.bots import statuses_and_errors as words
from longline.surfaces.bots.metrics import BotMetrics
from longline.surfaces.bots.paths import PREFIX
from longline.surfaces.bots.requests import HeartbeatRequest, PullRequest, SubmitHeaders, SubmitRequest
from longline.surfaces.bots.responses import (
    AcceptedFailure,
    AcceptedResult,
    ExtendedLock,
    PulledJob,
    PulledJobs,
    amount,
    optional_time,
    time_text,
)
from longline.surfaces.bots.statuses_and_errors import refusal_error, shown_priority, word
from longline.surfaces.operation import ApiFailure, ApiResponse, operation


@dataclass(frozen=True, slots=True)
class PullServices:
    """The services behind the requests of bots."""

    pulls: BotPulls
    submits: BotSubmits
    metrics: BotMetrics


@operation(
    "POST",
    f"{PREFIX}/pull",
    "Pull jobs",
    access="bot",
    errors=(words.INVALID_BOT_ID,),
    request_example=examples.PULL,
    response_example=examples.PULLED,
    is_fast=True,
)
async def pull_jobs(services: PullServices, identity: str | None, body: PullRequest) -> PulledJobs:
    """Lock jobs for a bot; no job is an empty list. A job that the bot holds already is not returned again."""
    credentials = body.credentials(identity)
    pulled = await services.pulls.pull(credentials, body.order())
    services.metrics.pulled(credentials.name, pulled)
    return _pulled_jobs(pulled)


@operation(
    "POST",
    f"{PREFIX}/submit",
    "Submit the result of a job, or its failure",
    access="bot",
    answers={200: AcceptedFailure, 201: AcceptedResult},
    errors=(words.RESULT_INCOMPLETE, *words.LOCK_REFUSALS),
    request_example=examples.SUBMIT,
    response_example={200: examples.ACCEPTED_FAILURE, 201: examples.ACCEPTED_RESULT},
    is_fast=True,
)
async def submit_result(
    services: PullServices, identity: str | None, headers: SubmitHeaders, body: SubmitRequest
) -> ApiResponse[AcceptedResult | AcceptedFailure]:
    """Store the outcome of a job, and answer after the commit. A failed job is pending again while retries are left."""
    begun = time.perf_counter()
    credentials, submission = body.credentials(identity), body.submission(headers.idempotency_key)
    verdict = await services.submits.submit(credentials, submission)
    services.metrics.submitted(credentials.name, verdict, time.perf_counter() - begun)
    _check(verdict, submission.task, credentials)
    if verdict.found is not None:
        return ApiResponse(_accepted_result(verdict, verdict.found, submission.task), 201)
    return ApiResponse(_accepted_failure(verdict, submission.task), 200)


@operation(
    "POST",
    f"{PREFIX}/heartbeat",
    "Extend the lock on a job",
    access="bot",
    errors=words.LOCK_REFUSALS,
    request_example=examples.HEARTBEAT,
    response_example=examples.EXTENDED_LOCK,
    is_fast=True,
)
async def extend_lock(services: PullServices, identity: str | None, body: HeartbeatRequest) -> ExtendedLock:
    """Renew the lock for its full time from now."""
    credentials, task = body.credentials(identity), str(body.job_id)
    verdict = await services.pulls.extend(credentials, task)
    _check(verdict, task, credentials)
    assert verdict.until is not None
    return ExtendedLock(task, "locked", time_text(verdict.until))


BOT_OPERATIONS = (pull_jobs, submit_result, extend_lock)


def _check(verdict: AnswerVerdict, task: str, credentials: BotCredentials) -> None:
    if verdict.refusal is not None:
        raise ApiFailure(refusal_error(verdict, verdict.refusal, task, credentials.name))


def _pulled_jobs(found: Pulled) -> PulledJobs:
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


def _accepted_result(verdict: AnswerVerdict, found: BotFinding, task: str) -> AcceptedResult:
    return AcceptedResult(
        result_id=found.uid,
        job_id=task,
        status=word(verdict.state),
        price=amount(found.price),
        currency=found.currency,
        policy_next_run=optional_time(verdict.next_due),
    )


def _accepted_failure(verdict: AnswerVerdict, task: str) -> AcceptedFailure:
    has_ended = verdict.state != TaskState.PENDING
    return AcceptedFailure(
        job_id=task,
        status=word(verdict.state),
        retry_count=verdict.retries,
        max_retries=verdict.max_retries,
        error=verdict.error if has_ended else UNSET,
        message="Retries exhausted" if has_ended else "Job marked for retry",
    )
