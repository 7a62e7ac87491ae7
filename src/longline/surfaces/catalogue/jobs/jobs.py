"""`/api/v1/admin/crawler/jobs`: jobs."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from longline.model.callers.caller import Caller
from longline.model.errors import Conflict, IllegalMove, NotFound
from longline.model.series.series_run import SeriesRunOrder, SeriesRunQuery, SeriesRunRow
from longline.services.series.series import Series
from longline.services.series.series_runs import SeriesRunOrderRequest, SeriesRuns
from longline.services.sources.sources import Sources
from longline.surfaces.catalogue import errors, examples
from longline.surfaces.catalogue.envelope import Listed, listed
from longline.surfaces.catalogue.field_types import (
    AuditedOrder,
    CataloguePageQuery,
    ComicId,
    JobId,
    SentSourceId,
    SourceId,
    ZonedTime,
    time_text,
)
from longline.surfaces.catalogue.jobs.job_responses import CancelledJob, CatalogueJob, ResetJobs, _status, shown_job
from longline.surfaces.catalogue.jobs.job_statuses import RUN_STATES
from longline.surfaces.operation import ApiFailure, operation

ORDERS: dict[str, SeriesRunOrder] = {"scheduledat": "due", "finishedat": "ended_at", "pagescount": "completed"}


@dataclass(frozen=True, slots=True)
class CatalogueJobServices:
    """Jobs, and the comics and sources that they crawl."""

    runs: SeriesRuns
    series: Series
    sources: Sources


class CatalogueJobRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A job to trigger; without a comic it discovers the whole catalogue."""

    sourceid: SentSourceId
    comicid: ComicId | None = None
    scheduledat: Annotated[ZonedTime, Meta(description="The earliest start; now by default.")] | None = None


def _status_problem(text: str) -> str | None:
    """Return the problem of a list of statuses, or None."""
    unknown = [each for each in text.split(",") if each not in RUN_STATES]
    return f"status must be one of {', '.join(RUN_STATES)}" if unknown else None


class JobListQuery(CataloguePageQuery, frozen=True, kw_only=True):
    """The choice of jobs."""

    status: (
        Annotated[str, Meta(description="Statuses, repeated or separated by commas.", extra={"check": _status_problem})]
        | None
    ) = None
    sourceid: SourceId | None = None
    comicid: ComicId | None = None
    triggeredby: Annotated[Literal["scheduler", "admin"], Meta(description="The origin of the job.")] | None = None
    since: Annotated[ZonedTime, Meta(description="Jobs that are scheduled later.")] | None = None
    sort: Annotated[Literal["scheduledat", "finishedat", "pagescount"], Meta(description="The order, descending.")] = (
        "scheduledat"
    )

    def query(self) -> SeriesRunQuery:
        """Return the choice of runs."""
        return SeriesRunQuery(
            states=tuple(RUN_STATES[word].value for word in RUN_STATES if word in (self.status or "").split(",")),
            source_id=self.sourceid,
            series_id=None if self.comicid is None else self.comicid.lower(),
            is_ordered=None if self.triggeredby is None else self.triggeredby == "admin",
            due_after=None if self.since is None else self.since.ms,
            order=ORDERS[self.sort],
        )


@operation("GET", "/api/v1/admin/crawler/jobs", "List jobs", access="admin", response_example=examples.JOBS)
async def list_jobs(services: CatalogueJobServices, query: JobListQuery) -> Listed[CatalogueJob]:
    found, total = await services.runs.find(query.query(), query.limit, query.offset)
    return listed(await _shown(services, found), query.page, query.limit, total)


@operation(
    "GET",
    "/api/v1/admin/crawler/jobs/{id}",
    "Get a job",
    access="admin",
    errors=[errors.NO_JOB],
    response_example=examples.JOB,
)
async def get_job(services: CatalogueJobServices, id: JobId) -> CatalogueJob:
    for job in await _shown(services, [await services.runs.get(id.lower())]):
        return job
    raise NotFound("run", id)


@operation(
    "POST",
    "/api/v1/admin/crawler/jobs",
    "Trigger a job",
    status=201,
    access="admin",
    errors=[errors.NO_SOURCE, errors.SOURCE_DISABLED, errors.NOT_LINKED, errors.JOB_EXISTS],
    action="run.trigger",
    request_example=examples.JOB_REQUEST,
    response_example=examples.JOB,
)
async def trigger_job(services: CatalogueJobServices, body: CatalogueJobRequest, identity: Caller) -> CatalogueJob:
    source = await services.sources.get(body.sourceid)
    if not source.enabled:
        raise ApiFailure(errors.SOURCE_DISABLED)
    comic_id = None if body.comicid is None else body.comicid.lower()
    seeds = (source.base_url,) if comic_id is None else await _start_urls(services, comic_id, source.id)
    if not seeds:
        raise ApiFailure(errors.NOT_LINKED)
    due = None if body.scheduledat is None else body.scheduledat.next_ms
    try:
        made = await services.runs.order(SeriesRunOrderRequest(source, seeds, comic_id, due), identity)
    except Conflict:
        raise ApiFailure(errors.JOB_EXISTS) from None
    for job in await _shown(services, [made]):
        return job
    raise NotFound("source", source.id)


@operation(
    "PATCH",
    "/api/v1/admin/crawler/jobs/{id}/cancel",
    "Cancel a job",
    access="admin",
    errors=[errors.NO_JOB, errors.HAS_FINISHED],
    action="run.cancel",
    request_example={"reason": "no longer needed"},
    response_example=examples.CANCELLED_JOB,
)
async def cancel_job(services: CatalogueJobServices, id: JobId, body: AuditedOrder) -> CancelledJob:
    try:
        found = await services.runs.cancel(id.lower(), body.reason)
    except IllegalMove:
        raise ApiFailure(errors.HAS_FINISHED) from None
    return CancelledJob(found.run.uid, _status(found), time_text(found.run.changed_at))


@operation(
    "POST",
    "/api/v1/admin/crawler/jobs/reset-stuck",
    "Fail stuck jobs, and queue new ones in their places",
    access="admin",
    action="run.reset",
    request_example={"reason": "the worker has died"},
    response_example=examples.RESET_JOBS,
)
async def reset_stuck_jobs(services: CatalogueJobServices, body: AuditedOrder, identity: Caller) -> ResetJobs:  # noqa: ARG001 - its reason is audited
    replaced = await services.runs.replace_stuck(identity)
    jobs = await _shown(services, [each.run for each in replaced])
    return ResetJobs(len(replaced), [each.stuck_uid for each in replaced], jobs)


JOB_OPERATIONS = (list_jobs, get_job, trigger_job, reset_stuck_jobs, cancel_job)


async def _start_urls(services: CatalogueJobServices, comic_id: str, source_id: int) -> tuple[str, ...]:
    """Return the pages of a comic on a source that jobs crawl."""
    targets = await services.series.linked(comic_id, source_id)
    return tuple(target.url for target in targets)


async def _shown(services: CatalogueJobServices, found: Sequence[SeriesRunRow]) -> list[CatalogueJob]:
    """Return jobs as the contract shows them, with their sources and comics."""
    sources = await services.series.sources({row.run.source_id for row in found if row.run.source_id is not None})
    comics = await services.series.get_many({row.series_id for row in found if row.series_id is not None})
    # A source that has just been deleted takes its jobs with it.
    return [
        shown_job(row, sources[row.run.source_id], comics.get(row.series_id or ""))
        for row in found
        if row.run.source_id in sources
    ]
