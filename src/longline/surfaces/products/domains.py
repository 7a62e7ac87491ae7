"""`/api/admin/domains`: domains, which are sources under the name of their site."""

from dataclasses import dataclass
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from longline.model.sources.recrawl_settings import recrawl_settings
from longline.model.sources.source import SourceQuery, SourceRow
from longline.model.sources.use import SourceUse, Taken
from longline.model.url import parse, without_credentials
from longline.services.sources.recrawled_sources import RecrawledSources, SourceFigures
from longline.services.sources.source_robots import RobotsNotFetched, SourceRobots
from longline.surfaces.operation import ApiFailure, operation
from longline.surfaces.products import examples
from longline.surfaces.products import statuses_and_errors as words
from longline.surfaces.products.domain_requests import SECOND_MS, DomainChanges, DomainRequest, IsActive, Strategy
from longline.surfaces.products.envelope import ListSuccess, WriteSuccess, listed, written
from longline.surfaces.products.field_types import (
    DomainId,
    PagedQuery,
    Timestamp,
    optional_time,
    time_of_day,
    time_text,
)

PATH = "/api/admin/domains"
DEFAULT_DELAY_MS, DEFAULT_CONCURRENCY = 1000, 5
"""Delay and concurrency of a source that another API has made without them."""


@dataclass(frozen=True, slots=True)
class DomainServices:
    """Sources with their figures and robots.txt; `politeness` is the unit that delays and limits hold for.

    `user_agent` is that of sources without one of their own.
    """

    sources: RecrawledSources
    robots: SourceRobots
    politeness: str
    user_agent: str


class DomainListItem(msgspec.Struct, frozen=True, kw_only=True):
    """A domain in a list. The unit that delay and concurrency hold for is `politeness`."""

    id: int
    domain_name: str
    base_url: str
    parser_name: str | None
    crawl_delay_seconds: int | float
    max_concurrent_requests: int
    politeness: str
    default_crawl_frequency: str
    is_active: bool
    robots_txt_url: str | None
    robots_txt_last_fetched: Timestamp | None
    user_agent: str
    maintenance_start: str | None
    maintenance_end: str | None
    proxy_strategy: Strategy
    proxy_country: str | None
    allow_direct: bool
    store_images: bool
    parse_retry: str
    recur_after_failure: bool
    created_at: Timestamp
    updated_at: Timestamp
    total_tasks: int
    active_proxies: int


class DomainStats(msgspec.Struct, frozen=True):
    """Figures of a domain."""

    total_tasks: int
    active_proxies: int
    success_rate: float


class DomainDetail(DomainListItem, frozen=True, kw_only=True):
    """A domain with its robots.txt and its figures."""

    robots_txt_content: str | None
    stats: DomainStats


class DomainSwitched(msgspec.Struct, frozen=True):
    """A domain after its switch was set."""

    domain_id: int
    is_active: bool


class RobotsOrder(msgspec.Struct, frozen=True):
    """An order to fetch robots.txt."""

    force: Annotated[bool, Meta(description="Take over a shorter Crawl-delay, too.")] = False


class RobotsRefreshed(msgspec.Struct, frozen=True, kw_only=True):
    """The robots.txt of a domain as it was fetched, and the settings that follow it."""

    domain_id: int
    robots_txt_url: str
    robots_txt_last_fetched: Timestamp | None
    crawl_delay_found: float | None
    updated_settings: dict[str, int | float]


class DomainsQuery(PagedQuery, frozen=True, kw_only=True):
    """The filter and the page of a list of domains."""

    is_active: IsActive | None = None


@operation(
    "POST",
    PATH,
    "Register a domain",
    access="admin",
    status=201,
    errors=(words.INVALID_FIELD, words.DUPLICATE_DOMAIN, words.CONFLICT),
    request_example=examples.NEW_DOMAIN,
    response_example=examples.DOMAIN_CREATED,
    action="source.create",
)
async def create_domain(services: DomainServices, body: DomainRequest) -> WriteSuccess[DomainDetail]:
    """Register a domain; a source of this name on the same host gets one more use, and keeps its settings."""
    new = body.source()
    try:
        row = await services.sources.make(new)
    except Taken:
        known = await services.sources.named(new.name)
        raise ApiFailure(words.duplicate_domain(new.name, known.id)) from None
    return written(await _detail(services, row), "Domain created successfully")


@operation("GET", PATH, "List domains", access="admin", response_example=examples.DOMAINS)
async def list_domains(services: DomainServices, query: DomainsQuery) -> ListSuccess[DomainListItem]:
    """List the sources of all APIs; a source without tasks of this API is named by the host of its URL."""
    rows, total = await services.sources.find(SourceQuery(enabled=query.is_active), query.per_page, query.offset)
    figures = await services.sources.figures(rows)
    items = [DomainListItem(**_facts(row, figures[row.id], services)) for row in rows]
    return listed(items, query.page, query.per_page, total)


@operation(
    "GET",
    f"{PATH}/{{domain_id}}",
    "Show a domain",
    access="admin",
    errors=(words.NO_DOMAIN,),
    response_example=examples.DOMAIN,
)
async def show_domain(services: DomainServices, domain_id: DomainId) -> DomainDetail:
    return await _detail(services, await services.sources.get(domain_id))


@operation(
    "PATCH",
    f"{PATH}/{{domain_id}}",
    "Change a domain",
    access="admin",
    errors=(words.NO_DOMAIN, words.INVALID_FIELD, words.CONFLICT),
    request_example=examples.DOMAIN_CHANGE,
    response_example=examples.DOMAIN_CHANGED,
    action="source.change",
)
async def change_domain(
    services: DomainServices, domain_id: DomainId, body: DomainChanges
) -> WriteSuccess[DomainDetail]:
    row = await services.sources.change(domain_id, body.amend)
    return written(await _detail(services, row), "Domain updated successfully")


@operation(
    "POST",
    f"{PATH}/{{domain_id}}/enable",
    "Enable a domain",
    access="admin",
    errors=(words.NO_DOMAIN, words.CONFLICT),
    response_example=examples.DOMAIN_ENABLED,
    action="source.enable",
)
async def enable_domain(services: DomainServices, domain_id: DomainId) -> WriteSuccess[DomainSwitched]:
    row = await services.sources.switch(domain_id, on=True)
    return written(DomainSwitched(row.id, row.enabled), "Domain enabled successfully")


@operation(
    "POST",
    f"{PATH}/{{domain_id}}/disable",
    "Disable a domain",
    access="admin",
    errors=(words.NO_DOMAIN, words.CONFLICT),
    response_example=examples.DOMAIN_DISABLED,
    action="source.disable",
)
async def disable_domain(services: DomainServices, domain_id: DomainId) -> WriteSuccess[DomainSwitched]:
    """Stop the domain: no task begins after a second, and all tasks stay as they are."""
    row = await services.sources.switch(domain_id, on=False)
    return written(DomainSwitched(row.id, row.enabled), "Domain disabled successfully")


@operation(
    "POST",
    f"{PATH}/{{domain_id}}/refresh-robots",
    "Fetch the robots.txt of a domain now",
    access="admin",
    errors=(words.NO_DOMAIN, words.NO_PROXIES_AVAILABLE, words.CONFLICT, words.ROBOTS_NOT_FETCHED),
    request_example=examples.ROBOTS_ORDER,
    response_example=examples.ROBOTS,
    action="source.refresh_robots",
)
async def refresh_robots(
    services: DomainServices, domain_id: DomainId, body: RobotsOrder
) -> WriteSuccess[RobotsRefreshed]:
    """Fetch and store robots.txt; a longer Crawl-delay becomes the delay of the domain, with `force` any."""
    try:
        done = await services.robots.refresh(domain_id, force=body.force)
    except RobotsNotFetched as failed:
        raise ApiFailure(words.product_error(502, "ROBOTS_NOT_FETCHED", str(failed))) from None
    row = done.source
    found = RobotsRefreshed(
        domain_id=row.id,
        robots_txt_url=row.robots_url or "",
        robots_txt_last_fetched=optional_time(row.robots_fetched_at),
        crawl_delay_found=done.crawl_delay_seconds,
        updated_settings={"crawl_delay_seconds": _seconds(row.delay_ms or 0)} if done.is_delay_taken else {},
    )
    return written(found, "robots.txt refreshed successfully")


DOMAINS = (create_domain, list_domains, show_domain, change_domain, enable_domain, disable_domain, refresh_robots)


async def _detail(services: DomainServices, row: SourceRow) -> DomainDetail:
    figures = (await services.sources.figures([row]))[row.id]
    return DomainDetail(
        **_facts(row, figures, services),
        robots_txt_content=row.robots_text,
        stats=DomainStats(figures.tasks, figures.active_proxies, figures.success_rate),
    )


def _facts(row: SourceRow, figures: SourceFigures, services: DomainServices) -> dict[str, Any]:
    settings = recrawl_settings(row.recrawl)
    window = settings.window
    return {
        "id": row.id,
        "domain_name": domain_name(row),
        "base_url": without_credentials(row.base_url),
        "parser_name": row.parser,
        "crawl_delay_seconds": _seconds(DEFAULT_DELAY_MS if row.delay_ms is None else row.delay_ms),
        "max_concurrent_requests": row.concurrency or DEFAULT_CONCURRENCY,
        "politeness": services.politeness,
        "default_crawl_frequency": settings.frequency,
        "is_active": row.enabled,
        "robots_txt_url": row.robots_url,
        "robots_txt_last_fetched": optional_time(row.robots_fetched_at),
        "user_agent": row.user_agent or services.user_agent,
        "maintenance_start": time_of_day(window.from_second if window else None),
        "maintenance_end": time_of_day(window.to_second if window else None),
        "proxy_strategy": settings.strategy,
        "proxy_country": settings.country,
        "allow_direct": settings.direct,
        "store_images": settings.images,
        "parse_retry": settings.parser_retry,
        "recur_after_failure": settings.again_after_failure,
        "created_at": time_text(row.created_at),
        "updated_at": time_text(row.updated_at),
        "total_tasks": figures.tasks,
        "active_proxies": figures.active_proxies,
    }


def _seconds(ms: int) -> int | float:
    return ms // SECOND_MS if ms % SECOND_MS == 0 else ms / SECOND_MS


def domain_name(row: SourceRow) -> str:
    """Return the domain of a source: its name, or the host of its URL if other APIs alone use it."""
    return row.name if row.has_use(SourceUse.PRODUCTS) else parse(row.base_url).hostname
