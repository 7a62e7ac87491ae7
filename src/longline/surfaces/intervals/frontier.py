"""`/api/v1/frontier`: URLs of the standing frontier: submit, list, retry and delete."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, get_args

import msgspec
from msgspec import Meta

from longline.model.errors import NotFound
from longline.model.frontier.retries import is_hopeless
from longline.model.frontier.standing_frontier import StandingUrl, UrlQuery, url_hash
from longline.model.frontier.task import DEFAULT_PRIORITY
from longline.model.ids import task_uuid
from longline.model.runs.run import STANDING_KINDS
from longline.model.url import without_credentials
from longline.services.frontier.standing_frontier import StandingFrontier
from longline.surfaces.error_format import error
from longline.surfaces.intervals import examples
from longline.surfaces.intervals.field_types import Key, PageQuery, Text, Timestamp, optional_rfc3339, rfc3339
from longline.surfaces.operation import ApiFailure, operation

FrontierStatus = Literal["pending", "fetching", "fetched", "failed", "dead"]
Origin = Annotated[
    Literal["feed", "sitemap", "spider", "manual", "discovered"],
    Meta(description="The way on which the URL was found."),
]
Priority = Annotated[int, Meta(ge=1, le=10, description="From 1 to 10; higher is sooner.")]

REST_WORDS: Mapping[str, FrontierStatus] = {
    "waiting": "pending",
    "held": "fetching",
    "done": "fetched",
    "given_up": "dead",
}
SORTS: Mapping[str, Any] = {"priority": "urgency", "next_fetch_at": "due", "created_at": "created_at"}
USUAL_PRIORITY, MIN_PRIORITY, MAX_PRIORITY, PRIORITY_STEP = 5, 1, 10, 10
ERROR_WORDS = {
    "robots": "robots_blocked",
    "content_type": "unsupported_content_type",
    "parser_error": "extract_failed",
    "too_many_redirects": "too_many_redirects",
    "redirect_loop": "too_many_redirects",
    "binary_url": "binary_url",
}

URL_NOT_FOUND = error(404, "Frontier URL not found")
NOT_DEAD = error(404, "Frontier URL (or not dead) not found")
INVALID_URL = error(400, "bad URL 'example.com/path': it has no scheme")
OVER_BUDGET = error(400, "the budget of source 42 is used up: it takes in no more URLs")
NOT_RESTARTED = error(409, "cannot restart a task that is crawling; legal now: cancel")


def _source_problem(text: str) -> str | None:
    return None if text.strip() else "source_id is required"


UrlId = Annotated[str, Meta(description="Id of a URL of the frontier.")]
SourceId = Annotated[Key, Meta(description="Id of the source of the URL.", extra={"check": _source_problem})]


class FrontierRequest(msgspec.Struct, frozen=True):
    """A URL to submit."""

    url: Annotated[Text, Meta(description="Absolute HTTP URL.", extra_json_schema={"format": "uri"})]
    source_id: SourceId
    origin: Origin | None = "manual"
    priority: Annotated[int, Meta(description="From 1 to 10, higher is sooner; 0 and less mean 5.")] | None = 0


class FrontierQuery(PageQuery, frozen=True, kw_only=True):
    """The filter and the order of a list of URLs, the largest first; an unknown status or origin matches no URL."""

    status: (
        Annotated[str, Meta(description="State.", extra_json_schema={"enum": list(get_args(FrontierStatus))})] | None
    ) = None
    source_id: Annotated[str, Meta(description="Id of the source.")] | None = None
    host: Annotated[str, Meta(description="Host, in any case.")] | None = None
    origin: Annotated[str, Meta(description="Origin.", extra_json_schema={"enum": [*STANDING_KINDS]})] | None = None
    search: Annotated[str, Meta(description="Part of the URL, in any case.")] | None = None
    sort_by: Annotated[
        Literal["priority", "next_fetch_at", "created_at"], Meta(description="Field of the order, which is falling.")
    ] = "priority"


class FrontierUrlBody(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A URL of the frontier; fields without a value are left out."""

    id: str
    url: str
    url_hash: Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]
    host: str
    source_id: str
    origin: Origin
    parent_url: str | None = None
    depth: int
    priority: Priority
    status: FrontierStatus
    next_fetch_at: Timestamp
    last_fetched_at: Timestamp | None = None
    fetch_count: int
    content_hash: str | None = None
    etag: str | None = None
    last_modified: str | None = None
    retry_count: int
    last_error: str | None = None
    discovered_at: Timestamp
    created_at: Timestamp
    updated_at: Timestamp


class FrontierListBody(msgspec.Struct, frozen=True):
    """One page of URLs."""

    urls: list[FrontierUrlBody]
    total: int


class FrontierStatsBody(msgspec.Struct, frozen=True):
    """The number of URLs in each state; `failed` is reserved by the contract."""

    total_pending: int
    total_fetching: int
    total_fetched: int
    total_dead: int
    total_failed: Literal[0]


class SubmittedBody(msgspec.Struct, frozen=True):
    """The id of a submitted URL; `queued` is true only for a new one."""

    message: Literal["URL submitted to frontier"]
    id: str
    queued: bool


class RetriedBody(msgspec.Struct, frozen=True):
    """The confirmation of a retry."""

    message: Literal["Frontier URL queued for retry"]


@operation("GET", "/api/v1/frontier", "List the URLs of the frontier", response_example=examples.FRONTIER_LIST)
async def list_urls(services: StandingFrontier, query: FrontierQuery) -> FrontierListBody:
    rows, total = await services.find(_url_query(query), query.limit, query.offset)
    return FrontierListBody([url_body(row) for row in rows], total)


@operation(
    "GET", "/api/v1/frontier/stats", "Count the URLs of the frontier by state", response_example=examples.FRONTIER_STATS
)
async def show_frontier_stats(services: StandingFrontier) -> FrontierStatsBody:
    counts = await services.counts()
    return FrontierStatsBody(
        total_pending=counts.get("waiting", 0),
        total_fetching=counts.get("held", 0),
        total_fetched=counts.get("done", 0),
        total_dead=counts.get("given_up", 0),
        total_failed=0,
    )


@operation(
    "GET",
    "/api/v1/frontier/{url_id}",
    "Return a URL of the frontier",
    errors=(URL_NOT_FOUND,),
    response_example=examples.FRONTIER_URL,
)
async def show_url(services: StandingFrontier, url_id: UrlId) -> FrontierUrlBody:
    return url_body(await services.get_by_uid(url_id))


@operation(
    "POST",
    "/api/v1/frontier",
    "Submit a URL to the frontier",
    status=201,
    aliases=("/api/v1/frontier/submit",),
    errors=(INVALID_URL, OVER_BUDGET),
    request_example=examples.NEW_URL,
    response_example=examples.SUBMITTED_URL,
    action="task.submit",
)
async def submit_url(services: StandingFrontier, body: FrontierRequest) -> SubmittedBody:
    """A waiting URL that is submitted again keeps the higher priority; a fetched or dead one stays as it is."""
    priority = to_internal_priority(body.priority or 0)
    given = await services.submit(body.url, body.source_id, body.origin or "manual", priority)
    return SubmittedBody("URL submitted to frontier", task_uuid(given.id, given.created_at), given.new)


@operation(
    "POST",
    "/api/v1/frontier/{url_id}/retry",
    "Retry a dead URL",
    errors=(NOT_DEAD, NOT_RESTARTED),
    response_example=examples.RETRIED_URL,
    action="task.retry",
)
async def retry_url(services: StandingFrontier, url_id: UrlId) -> RetriedBody:
    try:
        await services.retry(url_id)
    except NotFound:
        raise ApiFailure(NOT_DEAD) from None
    return RetriedBody("Frontier URL queued for retry")


@operation(
    "DELETE",
    "/api/v1/frontier/{url_id}",
    "Remove a URL from the frontier",
    status=204,
    errors=(URL_NOT_FOUND,),
    action="task.remove",
)
async def delete_url(services: StandingFrontier, url_id: UrlId) -> None:
    """A removed URL may be submitted again."""
    await services.remove(url_id)


FRONTIER = (list_urls, show_frontier_stats, show_url, submit_url, retry_url, delete_url)


def to_internal_priority(priority: int) -> int:
    """Convert a contract priority (higher is sooner) to an internal one (lower is sooner)."""
    wanted = min(max(priority, MIN_PRIORITY), MAX_PRIORITY) if priority > 0 else USUAL_PRIORITY
    return DEFAULT_PRIORITY - (wanted - USUAL_PRIORITY) * PRIORITY_STEP


def to_contract_priority(priority: int) -> int:
    """Convert an internal priority to a contract priority."""
    found = USUAL_PRIORITY + (DEFAULT_PRIORITY - priority) // PRIORITY_STEP
    return min(max(found, MIN_PRIORITY), MAX_PRIORITY)


def _url_query(query: FrontierQuery) -> UrlQuery:
    rests: dict[str, str] = {word: rest for rest, word in REST_WORDS.items()}
    return UrlQuery(
        rest=None if query.status is None else rests.get(query.status, query.status),
        source=query.source_id,
        host=None if query.host is None else query.host.lower(),
        kind=None if query.origin is None else f"frontier.{query.origin}",
        search=query.search,
        sort=SORTS[query.sort_by],
    )


def url_body(row: StandingUrl) -> FrontierUrlBody:
    """Return a URL in the contract's format."""
    is_done = row.rest == "done"
    origin: Any = row.kind.partition(".")[2]
    return FrontierUrlBody(
        id=task_uuid(row.id, row.created_at),
        url=without_credentials(row.url),
        url_hash=url_hash(row.url).hex(),
        host=row.host,
        source_id=row.source,
        origin=origin,
        parent_url=row.parent_url,
        depth=row.depth,
        priority=to_contract_priority(row.priority),
        status=REST_WORDS[row.rest],
        next_fetch_at=rfc3339(row.next_at),
        last_fetched_at=optional_rfc3339(row.finished_at if is_done else row.fetched_at),
        fetch_count=int(is_done),
        content_hash=row.digest.partition(":")[2] if row.digest else None,
        etag=row.etag,
        last_modified=row.last_modified,
        retry_count=0 if is_done else _retries(row),
        last_error=None if is_done else _error(row),
        discovered_at=rfc3339(row.created_at),
        created_at=rfc3339(row.created_at),
        updated_at=rfc3339(row.updated_at),
    )


def _retries(row: StandingUrl) -> int:
    """Return the number of failures; the last attempt of a URL given up as hopeless does not count."""
    hopeless = row.rest == "given_up" and is_hopeless(row.reason or "", row.status)
    return row.attempt - 1 if hopeless else row.attempt


def _error(row: StandingUrl) -> str | None:
    """Return the reason of a URL's state in the contract's words."""
    if row.reason in (None, "", "restart"):
        return None
    if row.reason in ERROR_WORDS:
        return ERROR_WORDS[row.reason or ""]
    if row.reason in ("http_429", "http_5xx"):
        return f"http status {row.status}"
    if row.reason in ("http_4xx", "http_408", "http_425", "odd_status"):
        return {404: "not_found", 410: "gone"}.get(row.status or 0, f"unexpected http status {row.status}")
    return row.error or row.reason
