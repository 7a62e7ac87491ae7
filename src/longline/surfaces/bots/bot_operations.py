"""`/api/crawl/pull/`, `/submit/` and `/heartbeat/`: the requests of bots."""

import time
from dataclasses import dataclass

from longline.model.bots.bot_task import AnswerVerdict
from longline.services.bots.access import BotCredentials
from longline.services.bots.pulls import BotPulls
from longline.services.bots.submits import BotSubmits
from longline.surfaces.bots import PREFIX, errors, examples
from longline.surfaces.bots.errors import refusal_error
from longline.surfaces.bots.field_types import time_text
from longline.surfaces.bots.jobs.pull_responses import (
    AcceptedFailure,
    AcceptedResult,
    ExtendedLock,
    PulledJobs,
    accepted_failure,
    accepted_result,
    pulled_jobs,
)
from longline.surfaces.bots.metrics import BotMetrics
from longline.surfaces.bots.requests import HeartbeatRequest, PullRequest, SubmitHeaders, SubmitRequest
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
    errors=(errors.INVALID_BOT_ID,),
    request_example=examples.PULL,
    response_example=examples.PULLED,
    is_fast=True,
)
async def pull_jobs(services: PullServices, identity: str | None, body: PullRequest) -> PulledJobs:
    """Lock jobs for a bot; no job is an empty list. A job that the bot holds already is not returned again."""
    credentials = body.credentials(identity)
    pulled = await services.pulls.pull(credentials, body.order())
    services.metrics.pulled(credentials.name, pulled)
    return pulled_jobs(pulled)


@operation(
    "POST",
    f"{PREFIX}/submit",
    "Submit the result of a job, or its failure",
    access="bot",
    answers={200: AcceptedFailure, 201: AcceptedResult},
    errors=(errors.RESULT_INCOMPLETE, *errors.LOCK_REFUSALS),
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
        return ApiResponse(accepted_result(verdict, verdict.found, submission.task), 201)
    return ApiResponse(accepted_failure(verdict, submission.task), 200)


@operation(
    "POST",
    f"{PREFIX}/heartbeat",
    "Extend the lock on a job",
    access="bot",
    errors=errors.LOCK_REFUSALS,
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
