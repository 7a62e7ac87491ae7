"""`/operators/dlq`: tasks that were given up, and their replay."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

import msgspec
from msgspec import Meta

from longline.model.callers.caller import Caller
from longline.model.downloads.dead_letter import DeadLetterFilter
from longline.model.frontier.reasons import FINAL, RETRYABLE
from longline.services.manifests.dead_letters import DeadLetters, filters_of
from longline.surfaces.manifests import errors
from longline.surfaces.manifests.examples import DEAD_LETTER
from longline.surfaces.manifests.failure_codes import family_code
from longline.surfaces.manifests.responses import DeadLetterBody, dead_letter_body
from longline.surfaces.manifests.snapshots import read_time
from longline.surfaces.operation import operation

DEFAULT_LIMIT, MAX_LIMIT = 100, 1000
MAX_OFFSET = 2**62

Offset = Annotated[int, Meta(ge=0, le=MAX_OFFSET, description="The offset of the dead letter.")]


@dataclass(frozen=True, slots=True)
class DeadLetterServices:
    """The dead letters."""

    letters: DeadLetters


class DeadLetterChoice(msgspec.Struct, frozen=True, kw_only=True):
    """The choice of dead letters; conditions combine."""

    job_id: Annotated[str | None, Meta(description="The id of a job.")] = None
    job_type: Annotated[str | None, Meta(description="The type of the jobs.")] = None
    tenant: Annotated[str | None, Meta(description="The tenant of the jobs.")] = None
    code: Annotated[str | None, Meta(description="A failure code, such as HTTP_503 or DOWNLOAD_TIMEOUT.")] = None
    host: Annotated[str | None, Meta(description="The host of the URL.")] = None
    since: Annotated[str | None, Meta(description="The earliest failure, by RFC 3339 or in milliseconds.")] = None
    before: Annotated[str | None, Meta(description="The end of the time of the failure.")] = None
    replayed: Annotated[bool | None, Meta(description="Whether the task was queued again.")] = None


class DeadLetterQuery(DeadLetterChoice, frozen=True, kw_only=True):
    """The choice of a page of dead letters."""

    since_offset: Annotated[int, Meta(ge=0, le=MAX_OFFSET, description="First offset, inclusive.")] = 0
    limit: Annotated[int, Meta(ge=1, le=MAX_LIMIT, description="Length of the page.")] = DEFAULT_LIMIT


class DeadLetterList(msgspec.Struct, frozen=True):
    """A page of dead letters in the order of their offsets; `next_offset` leads to the next page."""

    records: list[DeadLetterBody]
    next_offset: int | None = None


class ReplayBody(msgspec.Struct, frozen=True):
    """The number of tasks that were queued again."""

    replayed: int


@operation(
    "GET",
    "/operators/dlq",
    "List dead letters",
    access="operator",
    response_example=DeadLetterList([DEAD_LETTER]),
)
async def list_dead_letters(services: DeadLetterServices, query: DeadLetterQuery) -> DeadLetterList:
    """List tasks that were given up, by job, code, host or time."""
    wanted = _filters(query)
    found = [] if wanted is None else await services.letters.find(wanted, query.since_offset - 1, query.limit)
    following = found[-1].number + 1 if len(found) == query.limit else None
    return DeadLetterList([dead_letter_body(one) for one in found], following)


@operation(
    "GET",
    "/operators/dlq/{offset}",
    "Show a dead letter",
    access="operator",
    errors=(errors.LETTER_NOT_FOUND,),
    response_example=DEAD_LETTER,
)
async def show_dead_letter(services: DeadLetterServices, offset: Offset) -> DeadLetterBody:
    return dead_letter_body(await services.letters.get(offset))


@operation(
    "POST",
    "/operators/dlq/{offset}/replay",
    "Queue the task of a dead letter again",
    access="operator",
    errors=(errors.LETTER_NOT_FOUND,),
    response_example=ReplayBody(1),
    action="dead_letter.replay",
)
async def replay_dead_letter(services: DeadLetterServices, offset: Offset, identity: Caller) -> ReplayBody:  # noqa: ARG001 - the audit needs it
    """Queue a task that was given up again, with no attempt counted; a letter that was replayed before counts 0."""
    return ReplayBody(await services.letters.replay_one(offset))


@operation(
    "POST",
    "/operators/dlq/replay",
    "Queue the tasks of dead letters again",
    access="operator",
    request_example=DeadLetterChoice(code="HTTP_503"),
    response_example=ReplayBody(12),
    action="dead_letter.replay",
)
async def replay_dead_letters(
    services: DeadLetterServices,
    body: DeadLetterChoice,
    identity: Caller,  # noqa: ARG001 - the audit needs it
) -> ReplayBody:
    """Queue all tasks that fit again, by job, code, host or time."""
    wanted = _filters(body)
    return ReplayBody(0 if wanted is None else await services.letters.replay(wanted))


def _filters(query: DeadLetterChoice) -> list[DeadLetterFilter] | None:
    """Return the filters of a query, of which a letter has to fit one; None when no letter can fit."""
    reasons, status = chosen_reasons(query.code)
    if query.code is not None and not reasons and status is None:
        return None
    base = DeadLetterFilter(
        run_uid=query.job_id,
        host=query.host,
        kind=query.job_type,
        tenant=query.tenant,
        since=None if query.since is None else read_time("since", query.since),
        before=None if query.before is None else read_time("before", query.before),
        replayed=query.replayed,
    )
    return filters_of(base, reasons, status)


def chosen_reasons(code: str | None) -> tuple[list[str], int | None]:
    """Return the reasons of a failure code, or the status that it names."""
    if code is None:
        return [], None
    digits = code.removeprefix("HTTP_")
    if digits != code and digits.isdecimal() and len(digits) == 3:
        return [], int(digits)
    return list(_REASONS.get(code, ())), None


def _reasons_by_code() -> Mapping[str, list[str]]:
    found: dict[str, list[str]] = {}
    for reason in (*RETRYABLE, *FINAL):
        found.setdefault(family_code(reason), []).append(reason)
    return found


_REASONS = _reasons_by_code()

DEAD_LETTERS = (list_dead_letters, show_dead_letter, replay_dead_letter, replay_dead_letters)
