"""`/api/v1/backfill`: sources with short documents, and crawls for them."""

from typing import Annotated

import msgspec
from msgspec import Meta

from longline.model.search.item import Wordiness
from longline.services.schedules.backfill import PASS_THRESHOLD, Backfill
from longline.surfaces.intervals import examples
from longline.surfaces.intervals.field_types import MAX_OFFSET, Limit
from longline.surfaces.operation import operation

MinWordCount = Annotated[int, Meta(ge=1, le=MAX_OFFSET, description="Words that make a document long enough.")]


class ReportQuery(msgspec.Struct, frozen=True, kw_only=True):
    """The query of a report on the lengths of documents."""

    min_word_count: MinWordCount = 100


class BackfillQuery(ReportQuery, frozen=True, kw_only=True):
    """The query of a backfill."""

    dry_run: Annotated[bool, Meta(description="Whether to report without creating jobs.")] = True
    limit: Limit = 20


class ThinSource(msgspec.Struct, frozen=True, omit_defaults=True):
    """A source with short documents, and the job that crawls it again, if one was created."""

    source_id: str
    source_name: str
    documents: int
    average_word_count: float
    job_id: str | None = None


class BackfillBody(msgspec.Struct, frozen=True):
    """The sources with the shortest documents, shortest first."""

    dry_run: bool
    min_word_count: int
    sources: list[ThinSource]
    total: int
    dispatched: int


class JudgedSource(msgspec.Struct, frozen=True):
    """A source, judged by the share of its documents that are long enough."""

    source_id: str
    source_name: str
    documents: int
    average_word_count: float
    documents_passing: int
    pass_rate: Annotated[float, Meta(ge=0, le=1)]
    passed: bool


class ValidationReport(msgspec.Struct, frozen=True):
    """All sources with documents, judged."""

    min_word_count: int
    pass_threshold: float
    total_sources: int
    passed: int
    failed: int
    sources: list[JudgedSource]


@operation(
    "POST",
    "/api/v1/backfill/worst-sources",
    "Crawl the sources with the shortest documents again",
    response_example=examples.BACKFILL,
    action="schedule.backfill",
)
async def backfill_worst_sources(services: Backfill, query: BackfillQuery) -> BackfillBody:
    found = await services.worst(query.min_word_count, query.limit)
    jobs = [None for _ in found] if query.dry_run else [row.uid for row in await services.send_all(found)]
    sources = [_thin(source, job_id) for source, job_id in zip(found, jobs, strict=True)]
    return BackfillBody(
        dry_run=query.dry_run,
        min_word_count=query.min_word_count,
        sources=sources,
        total=len(sources),
        dispatched=0 if query.dry_run else len(sources),
    )


@operation(
    "GET",
    "/api/v1/backfill/validation-report",
    "Report the sources whose documents have enough words",
    response_example=examples.VALIDATION_REPORT,
)
async def report_validation(services: Backfill, query: ReportQuery) -> ValidationReport:
    sources = [_judged(source) for source in await services.report(query.min_word_count)]
    passed = sum(source.passed for source in sources)
    return ValidationReport(
        min_word_count=query.min_word_count,
        pass_threshold=PASS_THRESHOLD,
        total_sources=len(sources),
        passed=passed,
        failed=len(sources) - passed,
        sources=sources,
    )


def _thin(source: Wordiness, job_id: str | None) -> ThinSource:
    return ThinSource(source.source_ref, source.name, source.documents, round(source.average, 2), job_id)


def _judged(source: Wordiness) -> JudgedSource:
    share = source.enough / source.documents
    return JudgedSource(
        source_id=source.source_ref,
        source_name=source.name,
        documents=source.documents,
        average_word_count=round(source.average, 2),
        documents_passing=source.enough,
        pass_rate=round(share, 4),
        passed=share >= PASS_THRESHOLD,
    )


BACKFILL = (backfill_worst_sources, report_validation)
