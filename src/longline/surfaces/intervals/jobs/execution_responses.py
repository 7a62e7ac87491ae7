"""Responses about executions with their crawl metrics, and their making from runs."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Annotated, Literal, TypeVar

import msgspec
from msgspec import Meta

from longline.model.frontier import reasons
from longline.model.frontier.reasons import RESENT
from longline.model.runs.run import REFUSED, WITHOUT_ITEM, Fate, RequestSum, RunRow, RunStats
from longline.surfaces.intervals.field_types import Timestamp, optional_rfc3339
from longline.surfaces.intervals.jobs.error_categories import CATEGORIES, ErrorCategory
from longline.surfaces.intervals.jobs.job_statuses import RUN_WORDS, SKIPS, ExecutionStatus

Name = TypeVar("Name", bound=str)

StatusCode = Annotated[str, Meta(pattern="^[0-9]{3}$")]


class TopError(msgspec.Struct, frozen=True):
    """A frequent error of an execution."""

    message: str
    count: int
    last_url: str


class ResponseTime(msgspec.Struct, frozen=True):
    """Response times of an execution's requests."""

    avg_ms: float
    min_ms: int
    max_ms: int


class SkippedPages(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Pages that were not fetched, not followed or not indexed, by reason; the last four only if there are any."""

    non_html: int
    max_depth: int
    robots_txt: int
    url_filter: Annotated[int, Meta(description="Links that the article parser never follows.")] = 0
    page_type: Annotated[int, Meta(description="Pages of no type that the article parser indexes.")] = 0
    quality_gate: Annotated[int, Meta(description="Pages with too few words.")] = 0
    noindex: Annotated[int, Meta(description="Pages that ask not to be indexed.")] = 0


class ExtractionQuality(msgspec.Struct, frozen=True):
    """Figures that show when selectors no longer match the site."""

    items_indexed: int
    empty_title_count: int
    empty_body_count: int


class CrawlMetrics(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Sums of an execution's requests; figures that are empty or 0 are left out."""

    requests_total: int
    requests_failed: int
    bytes_downloaded: int
    status_codes: dict[StatusCode, int] = {}
    cloudflare_blocks: int = 0
    rate_limits: Annotated[int, Meta(description="Responses with status 429.")] = 0
    error_categories: dict[ErrorCategory, int] = {}
    top_errors: list[TopError] = []
    response_time: ResponseTime | None = None
    skipped: SkippedPages | None = None
    skipped_by_parser: Annotated[dict[str, int], Meta(description="By the reasons of custom parsers.")] = {}
    extraction_quality: ExtractionQuality | None = None


class ExecutionMetadata(msgspec.Struct, frozen=True, omit_defaults=True):
    """The number of an execution's run for the command line, and the figures of an execution that has ended."""

    run: Annotated[int, Meta(description="Number of the run for commands such as `longline export --run`.")]
    crawl_metrics: CrawlMetrics | None = None


class ExecutionBody(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An execution of a job; fields without a value are left out."""

    id: str
    job_id: str
    execution_number: int | None = None
    status: ExecutionStatus
    started_at: Timestamp | None = None
    completed_at: Timestamp | None = None
    duration_ms: int | None = None
    items_crawled: Annotated[int, Meta(description="Pages that were fetched and read.")]
    items_indexed: Annotated[int, Meta(description="Documents that were made of them.")]
    error_message: str | None = None
    stack_trace: str | None = None
    cpu_time_ms: int | None = None
    memory_peak_mb: int | None = None
    retry_attempt: int
    log_object_key: str | None = None
    log_size_bytes: int | None = None
    log_line_count: int | None = None
    metadata: ExecutionMetadata


class ExecutionListBody(msgspec.Struct, frozen=True):
    """One page of executions, newest first."""

    executions: list[ExecutionBody]
    total: int
    limit: int
    offset: int


class JobStatsBody(msgspec.Struct, frozen=True):
    """Statistics of a job's executions."""

    total_executions: int
    successful_runs: int
    failed_runs: int
    average_duration_ms: float
    last_execution_at: Timestamp | None
    next_scheduled_at: Timestamp | None
    success_rate: Annotated[float, Meta(description="Successful executions by all, 0 to 1.")]


class DashboardBody(msgspec.Struct, frozen=True):
    """Figures of today (UTC); those of other services are 0."""

    crawled_today: int
    indexed_today: int
    classified_today: Literal[0]
    published_today: Literal[0]
    total_sources: Literal[0]
    active_sources: Literal[0]
    errors_today: Literal[0]


def execution_body(run: RunRow, job_id: str) -> ExecutionBody:
    """Return an execution in the contract's format."""
    took = None if run.ended_at is None or run.started_at is None else run.ended_at - run.started_at
    return ExecutionBody(
        id=run.uid,
        job_id=job_id,
        execution_number=run.number,
        status=RUN_WORDS[run.state],
        started_at=optional_rfc3339(run.started_at),
        completed_at=optional_rfc3339(run.ended_at),
        duration_ms=took,
        items_crawled=run.completed,
        items_indexed=run.indexed,
        error_message=run.error,
        stack_trace=run.stack,
        cpu_time_ms=run.cpu_ms,
        memory_peak_mb=run.memory_mb,
        retry_attempt=run.attempt,
        log_object_key=run.log_key,
        log_size_bytes=run.log_bytes,
        log_line_count=run.log_lines,
        metadata=_metadata(run),
    )


def _metadata(run: RunRow) -> ExecutionMetadata:
    if run.figures is None:
        return ExecutionMetadata(run.id)
    return ExecutionMetadata(run.id, crawl_metrics(msgspec.json.decode(run.figures, type=RunStats), run))


def crawl_metrics(stats: RunStats, run: RunRow) -> CrawlMetrics:
    """Return the sums of a run's requests in the contract's format."""
    asked = [each for each in stats.asked if each.status or each.reason in CATEGORIES or each.reason == RESENT]
    answered = [each for each in asked if each.status]
    failed = [each for each in asked if each.reason in CATEGORIES]
    statuses = _summed((str(each.status), each.count) for each in answered)
    quality = ExtractionQuality(run.indexed, stats.untitled, stats.bodiless)
    return CrawlMetrics(
        requests_total=sum(each.count for each in asked),
        requests_failed=sum(each.count for each in failed),
        bytes_downloaded=sum(each.bytes for each in asked),
        status_codes=statuses,
        cloudflare_blocks=sum(each.count for each in asked if each.reason == "challenge"),
        rate_limits=statuses.get("429", 0),
        error_categories=_summed((CATEGORIES[each.reason], each.count) for each in failed),
        top_errors=[TopError(text, count, url) for text, count, url in stats.errors],
        response_time=_response_time(answered),
        skipped=_skipped(stats.fates),
        skipped_by_parser=_skipped_by_parser(stats.fates),
        extraction_quality=quality if run.completed else None,
    )


def _response_time(answered: Sequence[RequestSum]) -> ResponseTime | None:
    if not answered:
        return None
    mean = sum(each.ms for each in answered) / sum(each.count for each in answered)
    return ResponseTime(round(mean, 2), min(each.least_ms for each in answered), max(each.most_ms for each in answered))


def _summed(counts: Iterable[tuple[Name, int]]) -> dict[Name, int]:
    summed: Counter[Name] = Counter()
    for name, count in counts:
        summed[name] += count
    return dict(summed)


def _skipped(fates: Iterable[Fate]) -> SkippedPages | None:
    found = {SKIPS[each.fate, each.reason]: each.count for each in fates if (each.fate, each.reason) in SKIPS}
    return SkippedPages(**dict.fromkeys(("non_html", "max_depth", "robots_txt"), 0) | found) if found else None


def _skipped_by_parser(fates: Iterable[Fate]) -> dict[str, int]:
    """Return the counts of reasons that only parsers of the operator give."""
    known = {REFUSED: reasons.REFUSED, WITHOUT_ITEM: reasons.WITHOUT_ITEM}
    own = [each for each in fates if each.fate in known and each.reason not in known[each.fate]]
    return _summed((each.reason, each.count) for each in own)
