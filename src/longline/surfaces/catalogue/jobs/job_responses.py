"""Responses about jobs, and their making from runs of catalogues."""

from typing import Any

import msgspec

from longline.model.series.series import SeriesRow
from longline.model.series.series_run import SeriesRunRow
from longline.model.sources.source import SourceRow
from longline.model.states import RunState
from longline.surfaces.catalogue.field_types import Timestamp, optional_time, time_text
from longline.surfaces.catalogue.jobs.job_statuses import RUN_WORDS, JobStatus


class JobSource(msgspec.Struct, frozen=True):
    """The source of a job."""

    id: int
    name: str
    slug: str


class JobComicFacts(msgspec.Struct, frozen=True):
    """Further facts of a comic, as far as its source or its maker has told them."""

    contentrating: str | None = None
    demographic: str | None = None
    originlanguage: str | None = None
    year: int | None = None
    ratingbayesian: float | None = None
    followcount: int | None = None
    chaptercount: int | None = None
    tags: list[str] = []
    latestchapter: str | float | None = None


class JobComic(JobComicFacts, frozen=True, kw_only=True):
    """The comic of a job."""

    id: str
    title: str
    slug: str
    coverurl: str | None
    status: str


class JobUser(msgspec.Struct, frozen=True):
    """The user that triggered a job."""

    id: str
    username: str


class CatalogueJob(msgspec.Struct, frozen=True):
    """A job."""

    id: str
    sourceid: int
    comicid: str | None
    status: JobStatus
    scheduledat: Timestamp
    startedat: Timestamp | None
    finishedat: Timestamp | None
    pagescount: int
    errorcount: int
    lasterror: str | None
    triggeredby: str | None
    createdat: Timestamp
    updatedat: Timestamp
    source: JobSource
    comic: JobComic | None
    triggeredbyuser: JobUser | None


class CancelledJob(msgspec.Struct, frozen=True):
    """A job that was cancelled."""

    id: str
    status: JobStatus
    updatedat: Timestamp


class ResetJobs(msgspec.Struct, frozen=True):
    """The jobs that ran for over 30 minutes and were failed, by id, and the jobs that were queued in their places."""

    count: int
    failed: list[str]
    jobs: list[CatalogueJob]


_FACTS = {field.name: field.type for field in msgspec.structs.fields(JobComicFacts)}


def shown_job(row: SeriesRunRow, source: SourceRow, comic: SeriesRow | None) -> CatalogueJob:
    """Return a job with its source and its comic, if that exists still."""
    run = row.run
    return CatalogueJob(
        run.uid,
        source.id,
        row.series_id,
        _status(row),
        time_text(run.due or run.created_at),
        optional_time(run.started_at),
        optional_time(run.ended_at),
        run.completed,
        run.failed,
        run.error,
        row.caller_id,
        time_text(run.created_at),
        time_text(run.changed_at),
        JobSource(source.id, source.name, source.slug),
        None if comic is None else _comic(comic),
        None if row.caller_id is None else JobUser(row.caller_id, row.caller_name or ""),
    )


def _comic(row: SeriesRow) -> JobComic:
    told = msgspec.json.decode(row.facts)
    facts = {name: _fact(name, told[name]) for name in _FACTS if name in told}
    return JobComic(
        **{name: value for name, value in facts.items() if value is not None},
        id=row.id,
        title=row.title,
        slug=row.slug,
        coverurl=row.cover_url,
        status=row.status,
    )


def _fact(name: str, value: Any) -> Any:
    """Return a fact of a comic, None for a value of another type."""
    try:
        return msgspec.convert(value, _FACTS[name])
    except msgspec.ValidationError:
        return None


def _status(row: SeriesRunRow) -> JobStatus:
    return RUN_WORDS[RunState(row.run.state)]
