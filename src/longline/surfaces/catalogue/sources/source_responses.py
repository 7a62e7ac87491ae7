"""Responses about sources, and their making from rows."""

from typing import Any

import msgspec

from longline.model.series.series_run import SeriesRunRow
from longline.model.sources.source import SourceRow
from longline.model.states import RunState
from longline.surfaces.catalogue.field_types import Timestamp, optional_time, time_text
from longline.surfaces.catalogue.jobs.job_statuses import RUN_WORDS, JobStatus


class Source(msgspec.Struct, frozen=True):
    """A source."""

    id: int
    name: str
    slug: str
    baseurl: str
    extensionid: str | None
    config: dict[str, Any]
    isenabled: bool
    lastsucceededat: Timestamp | None
    lastfailedat: Timestamp | None
    consecutivefails: int
    createdat: Timestamp
    updatedat: Timestamp


class SwitchedSource(msgspec.Struct, frozen=True):
    """A source that was enabled or disabled."""

    id: int
    name: str
    isenabled: bool
    updatedat: Timestamp


class SourceJobCounts(msgspec.Struct, frozen=True):
    """Numbers of the jobs of a source; the total has cancelled ones too."""

    total: int
    done: int
    failed: int
    running: int
    queued: int


class LastJob(msgspec.Struct, frozen=True):
    """The job that finished last."""

    id: str
    status: JobStatus
    pagescount: int
    errorcount: int
    finishedat: Timestamp | None


class SourceHealth(msgspec.Struct, frozen=True):
    """The health of a source."""

    id: int
    name: str
    isenabled: bool
    consecutivefails: int
    lastsucceededat: Timestamp | None
    lastfailedat: Timestamp | None
    jobs: SourceJobCounts
    lastjob: LastJob | None


def shown_source(row: SourceRow) -> Source:
    """Return a source as the contract shows it."""
    return Source(
        row.id,
        row.name,
        row.slug,
        row.base_url,
        row.extension,
        msgspec.json.decode(row.extension_config),
        row.enabled,
        optional_time(row.succeeded_at),
        optional_time(row.failed_at),
        row.failures,
        time_text(row.created_at),
        time_text(row.updated_at),
    )


def last_job(found: SeriesRunRow) -> LastJob:
    """Return the last job of a source."""
    run = found.run
    return LastJob(run.uid, RUN_WORDS[RunState(run.state)], run.completed, run.failed, optional_time(run.ended_at))
