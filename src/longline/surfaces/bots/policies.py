"""`/api/crawl/admin/policies`, `/create-jobs` and `/urls`: management of policies, for admins."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

from msgspec import Meta, Raw

from longline.model.bots.bot_policy import BotPolicyRow
from longline.model.duration import HOUR_MS, MINUTE_MS
from longline.model.states import ScheduleState
from longline.services.bots.policies import BotPolicies
from longline.surfaces.bots import examples
from longline.surfaces.bots import statuses_and_errors as words
from longline.surfaces.bots.paths import ADMIN
from longline.surfaces.bots.queries import PolicyQuery
from longline.surfaces.bots.requests import CreateJobsRequest, KnownUrls, NewPolicy, PolicyChange, form_problems
from longline.surfaces.bots.responses import (
    AddedUrls,
    BotPolicy,
    CreatedJobs,
    DeletedRow,
    PolicyPage,
    optional_time,
    time_text,
)
from longline.surfaces.bots.statuses_and_errors import shown_priority
from longline.surfaces.operation import ApiFailure, operation
from longline.surfaces.request_reader import Reading

PolicyId = Annotated[str, Meta(description="Id of the policy.", extra_json_schema={"format": "uuid"})]


@dataclass(frozen=True, slots=True)
class PolicyServices:
    """The policies; `now` returns UTC milliseconds."""

    policies: BotPolicies
    now: Callable[[], int]


@operation(
    "GET",
    f"{ADMIN}/policies",
    "List policies",
    access="admin",
    errors=(words.INVALID_LIMIT,),
    response_example=examples.POLICIES,
)
async def list_policies(services: PolicyServices, query: PolicyQuery) -> PolicyPage:
    rows = await services.policies.find(query.filter(), limit=query.limit, offset=query.offset)
    return PolicyPage([policy_of(row) for row in rows], len(rows), query.limit, query.offset)


@operation(
    "POST",
    f"{ADMIN}/policies",
    "Make a policy",
    access="admin",
    status=201,
    errors=(words.INVALID_PRIORITY, words.NO_SUBJECT, words.TAKEN_URL, words.TAKEN_NAME),
    request_example=examples.NEW_POLICY,
    response_example=examples.POLICY,
    action="schedule.create",
)
async def add_policy(services: PolicyServices, body: NewPolicy) -> BotPolicy:
    policy = body.policy(services.now())
    row = await services.policies.add(policy)
    if row is None:
        raise ApiFailure(words.TAKEN_URL if policy.url else words.TAKEN_NAME)
    return policy_of(row)


@operation(
    "GET",
    f"{ADMIN}/policies/{{id}}",
    "Show a policy",
    access="admin",
    errors=(words.NO_POLICY,),
    response_example=examples.POLICY,
)
async def show_policy(services: PolicyServices, id: PolicyId) -> BotPolicy:
    return policy_of(await services.policies.get(id))


@operation(
    "PATCH",
    f"{ADMIN}/policies/{{id}}",
    "Change a policy",
    access="admin",
    errors=(words.INVALID_PRIORITY, words.WRONG_FORM, words.TAKEN_URL, words.TAKEN_NAME, words.NO_POLICY),
    request_example=examples.POLICY_CHANGE,
    response_example=examples.POLICY,
    action="schedule.change",
)
async def change_policy(services: PolicyServices, id: PolicyId, body: Reading[PolicyChange]) -> BotPolicy:
    """Change a policy, and none of the jobs that it has made."""
    row = await services.policies.get(id)
    changes = body.check(form_problems(row, body.sent)).changes()
    changed = await services.policies.change(row.uid, **changes)
    if changed is None:
        raise ApiFailure(words.TAKEN_URL if row.url else words.TAKEN_NAME)
    return policy_of(changed)


@operation(
    "DELETE",
    f"{ADMIN}/policies/{{id}}",
    "Delete a policy with its jobs and their results",
    access="admin",
    errors=(words.NO_POLICY,),
    response_example=examples.DELETED,
    action="schedule.delete",
)
async def delete_policy(services: PolicyServices, id: PolicyId) -> DeletedRow:
    await services.policies.remove(id)
    return DeletedRow(id, True)


@operation(
    "POST",
    f"{ADMIN}/create-jobs",
    "Make jobs of due policies",
    access="admin",
    errors=(words.INVALID_LIMIT,),
    request_example=examples.CREATE_JOBS,
    response_example=examples.CREATED_JOBS,
    action="task.plan",
)
async def create_jobs(services: PolicyServices, body: CreateJobsRequest) -> CreatedJobs:
    """Make a job for each policy that is due and has no open one."""
    planned = await services.policies.plan(body.limit, dry=body.dry_run)
    return CreatedJobs(planned.created, planned.skipped)


@operation(
    "POST",
    f"{ADMIN}/urls",
    "Make URLs known to the policies of their domains",
    access="admin",
    status=201,
    errors=(words.INVALID_URLS,),
    request_example=examples.KNOWN_URLS,
    response_example=examples.ADDED_URLS,
    action="url.add",
)
async def add_urls(services: PolicyServices, body: KnownUrls) -> AddedUrls:
    return AddedUrls(await services.policies.add_urls(body.urls))


POLICY_OPERATIONS = (
    list_policies, add_policy, show_policy, change_policy, delete_policy, create_jobs, add_urls,
)  # fmt: skip


def policy_of(row: BotPolicyRow) -> BotPolicy:
    """Return a policy with all its fields."""
    return BotPolicy(
        id=row.uid,
        url=row.url,
        domain=row.domain,
        name=row.name,
        url_pattern=row.pattern if row.domain else None,
        frequency_hours=row.interval_ms // HOUR_MS,
        priority=shown_priority(row.priority),
        max_retries=row.max_retries,
        retry_backoff_minutes=row.backoff_ms // MINUTE_MS,
        timeout_minutes=row.lease_ms // MINUTE_MS,
        enabled=row.state == ScheduleState.SCHEDULED,
        next_run_at=time_text(row.next_due),
        last_success_at=optional_time(row.last_success_at),
        last_failed_at=optional_time(row.last_failed_at),
        failure_count=row.failures,
        crawl_config=Raw(row.config.encode()),
        created_at=time_text(row.created_at),
        updated_at=time_text(row.updated_at),
    )
