"""`/api/v1/frontier`: URLs of the standing frontier: submit, list, retry and delete."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, get_args

import msgspec
from msgspec import Meta

from longline.model.errors import NotFound
from longline.model.frontier.standing_frontier import UrlQuery
from longline.model.ids import task_uuid
from longline.model.runs.run import STANDING_KINDS
from longline.services.frontier.standing_frontier import StandingFrontier
from longline.surfaces.intervals import examples
from longline.surfaces.intervals.errors import INVALID_URL, NOT_DEAD, NOT_RESTARTED, OVER_BUDGET, URL_NOT_FOUND
from longline.surfaces.intervals.field_types import Key, PageQuery, Text
from longline.surfaces.intervals.frontier_responses import (
    REST_WORDS,
    FrontierListBody,
    FrontierStatsBody,
    FrontierStatus,
    FrontierUrlBody,
    Origin,
    RetriedBody,
    SubmittedBody,
    url_body,
)
from longline.surfaces.intervals.priorities import to_internal_priority
from longline.surfaces.operation import ApiFailure, operation

SORTS: Mapping[str, Any] = {"priority": "urgency", "next_fetch_at": "due", "created_at": "created_at"}


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
