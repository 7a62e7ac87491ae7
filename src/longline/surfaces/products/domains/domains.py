"""`/api/admin/domains`: domains, which are sources under the name of their site."""

from dataclasses import dataclass
from typing import Annotated

import msgspec
from msgspec import Meta

from longline.model.sources.source import SourceQuery, SourceRow, Taken
from longline.services.sources.recrawled_sources import RecrawledSources
from longline.services.sources.source_robots import RobotsNotFetched, SourceRobots
from longline.surfaces.operation import ApiFailure, operation
from longline.surfaces.products import errors, examples
from longline.surfaces.products.domains.domain_requests import (
    DomainChanges,
    DomainRequest,
    IsActive,
)
from longline.surfaces.products.domains.domain_responses import (
    DomainDetail,
    DomainListItem,
    DomainSwitched,
    RobotsRefreshed,
    domain_detail,
    domain_facts,
    shown_seconds,
)
from longline.surfaces.products.envelope import ListSuccess, WriteSuccess, listed, written
from longline.surfaces.products.field_types import (
    DomainId,
    PagedQuery,
    optional_time,
)

PATH = "/api/admin/domains"


@dataclass(frozen=True, slots=True)
class DomainServices:
    """Sources with their figures and robots.txt; `politeness` is the unit that delays and limits hold for.

    `user_agent` is that of sources without one of their own.
    """

    sources: RecrawledSources
    robots: SourceRobots
    politeness: str
    user_agent: str


class RobotsOrder(msgspec.Struct, frozen=True):
    """An order to fetch robots.txt."""

    force: Annotated[bool, Meta(description="Take over a shorter Crawl-delay, too.")] = False


class DomainsQuery(PagedQuery, frozen=True, kw_only=True):
    """The filter and the page of a list of domains."""

    is_active: IsActive | None = None


@operation(
    "POST",
    PATH,
    "Register a domain",
    access="admin",
    status=201,
    errors=(errors.INVALID_FIELD, errors.DUPLICATE_DOMAIN, errors.CONFLICT),
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
        raise ApiFailure(errors.duplicate_domain(new.name, known.id)) from None
    return written(await _detail(services, row), "Domain created successfully")


@operation("GET", PATH, "List domains", access="admin", response_example=examples.DOMAINS)
async def list_domains(services: DomainServices, query: DomainsQuery) -> ListSuccess[DomainListItem]:
    """List the sources of all APIs; a source without tasks of this API is named by the host of its URL."""
    rows, total = await services.sources.find(SourceQuery(enabled=query.is_active), query.per_page, query.offset)
    figures = await services.sources.figures(rows)
    items = [
        DomainListItem(**domain_facts(row, figures[row.id], services.politeness, services.user_agent)) for row in rows
    ]
    return listed(items, query.page, query.per_page, total)


@operation(
    "GET",
    f"{PATH}/{{domain_id}}",
    "Show a domain",
    access="admin",
    errors=(errors.NO_DOMAIN,),
    response_example=examples.DOMAIN,
)
async def show_domain(services: DomainServices, domain_id: DomainId) -> DomainDetail:
    return await _detail(services, await services.sources.get(domain_id))


@operation(
    "PATCH",
    f"{PATH}/{{domain_id}}",
    "Change a domain",
    access="admin",
    errors=(errors.NO_DOMAIN, errors.INVALID_FIELD, errors.CONFLICT),
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
    errors=(errors.NO_DOMAIN, errors.CONFLICT),
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
    errors=(errors.NO_DOMAIN, errors.CONFLICT),
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
    errors=(errors.NO_DOMAIN, errors.NO_PROXIES_AVAILABLE, errors.CONFLICT, errors.ROBOTS_NOT_FETCHED),
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
        raise ApiFailure(errors.product_error(502, "ROBOTS_NOT_FETCHED", str(failed))) from None
    row = done.source
    found = RobotsRefreshed(
        domain_id=row.id,
        robots_txt_url=row.robots_url or "",
        robots_txt_last_fetched=optional_time(row.robots_fetched_at),
        crawl_delay_found=done.crawl_delay_seconds,
        updated_settings={"crawl_delay_seconds": shown_seconds(row.delay_ms or 0)} if done.is_delay_taken else {},
    )
    return written(found, "robots.txt refreshed successfully")


DOMAINS = (create_domain, list_domains, show_domain, change_domain, enable_domain, disable_domain, refresh_robots)


async def _detail(services: DomainServices, row: SourceRow) -> DomainDetail:
    figures = (await services.sources.figures([row]))[row.id]
    return domain_detail(row, figures, services.politeness, services.user_agent)
