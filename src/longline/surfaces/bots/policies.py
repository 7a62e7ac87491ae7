"""`/api/crawl/admin/policies`, `/create-jobs` and `/urls`: management of policies, for admins."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

from msgspec import Meta

from longline.services.bots.policies import BotPolicies
from longline.surfaces.bots import ADMIN, errors, examples
from longline.surfaces.bots.jobs.job_responses import DeletedRow
from longline.surfaces.bots.policy_responses import AddedUrls, BotPolicy, CreatedJobs, PolicyPage, policy_of
from longline.surfaces.bots.queries import PolicyQuery
from longline.surfaces.bots.requests import CreateJobsRequest, KnownUrls, NewPolicy, PolicyChange, form_problems
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
    errors=(errors.INVALID_LIMIT,),
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
    errors=(errors.INVALID_PRIORITY, errors.NO_SUBJECT, errors.TAKEN_URL, errors.TAKEN_NAME),
    request_example=examples.NEW_POLICY,
    response_example=examples.POLICY,
    action="schedule.create",
)
async def add_policy(services: PolicyServices, body: NewPolicy) -> BotPolicy:
    policy = body.policy(services.now())
    row = await services.policies.add(policy)
    if row is None:
        raise ApiFailure(errors.TAKEN_URL if policy.url else errors.TAKEN_NAME)
    return policy_of(row)


@operation(
    "GET",
    f"{ADMIN}/policies/{{id}}",
    "Show a policy",
    access="admin",
    errors=(errors.NO_POLICY,),
    response_example=examples.POLICY,
)
async def show_policy(services: PolicyServices, id: PolicyId) -> BotPolicy:
    return policy_of(await services.policies.get(id))


@operation(
    "PATCH",
    f"{ADMIN}/policies/{{id}}",
    "Change a policy",
    access="admin",
    errors=(errors.INVALID_PRIORITY, errors.WRONG_FORM, errors.TAKEN_URL, errors.TAKEN_NAME, errors.NO_POLICY),
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
        raise ApiFailure(errors.TAKEN_URL if row.url else errors.TAKEN_NAME)
    return policy_of(changed)


@operation(
    "DELETE",
    f"{ADMIN}/policies/{{id}}",
    "Delete a policy with its jobs and their results",
    access="admin",
    errors=(errors.NO_POLICY,),
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
    errors=(errors.INVALID_LIMIT,),
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
    errors=(errors.INVALID_URLS,),
    request_example=examples.KNOWN_URLS,
    response_example=examples.ADDED_URLS,
    action="url.add",
)
async def add_urls(services: PolicyServices, body: KnownUrls) -> AddedUrls:
    return AddedUrls(await services.policies.add_urls(body.urls))


POLICY_OPERATIONS = (
    list_policies, add_policy, show_policy, change_policy, delete_policy, create_jobs, add_urls,
)  # fmt: skip
