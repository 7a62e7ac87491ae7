"""`/api/admin/domains/{domain_id}/proxies`: the own pool of a domain, its figures and its size."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from longline.model.errors import NotFound
from longline.model.proxies.proxy import MissingProxies
from longline.model.proxies.proxy_health import success_rate
from longline.model.proxies.sizing import DEFAULT_BUFFER_PERCENT, DEFAULT_REQUESTS_PER_HOUR, proxies_needed
from longline.services.proxies.proxies import Proxies
from longline.services.proxies.proxy_figures import PoolSort, ProxyFigures
from longline.services.sources.sources import Sources
from longline.surfaces.operation import ApiFailure, operation
from longline.surfaces.products import errors, examples
from longline.surfaces.products.domains.domain_proxy_responses import (
    Assigned,
    MappingBody,
    MappingSwitched,
    PoolStats,
    Sizing,
    Unassigned,
    mapping_body,
)
from longline.surfaces.products.envelope import ListSuccess, WriteSuccess, listed, written
from longline.surfaces.products.field_types import (
    MAX_ID,
    DomainId,
    PagedQuery,
    Priority,
    ProxyId,
)

PATH = "/api/admin/domains/{domain_id}/proxies"
MAX_PROXIES = 1000
MAX_RATE = 10**9

SortField = Literal[
    "success_rate", "priority", "last_used_at", "avg_response_time_ms", "success_count", "failure_count", "created_at"
]
SORTS: Mapping[SortField, PoolSort] = {
    "success_rate": "success_rate",
    "priority": "priority",
    "last_used_at": "last_used_at",
    "avg_response_time_ms": "avg_ms",
    "success_count": "success_count",
    "failure_count": "failure_count",
    "created_at": "created_at",
}


@dataclass(frozen=True, slots=True)
class MappingServices:
    """Sources, proxies and their figures."""

    sources: Sources
    proxies: Proxies
    figures: ProxyFigures


class Assignment(msgspec.Struct, frozen=True, kw_only=True):
    """Proxies to assign to a domain."""

    proxy_ids: Annotated[
        list[Annotated[int, Meta(ge=1, le=MAX_ID)]],
        Meta(min_length=1, max_length=MAX_PROXIES, description="Ids of proxies."),
    ]
    priority: Priority = 5


class MappingQuery(PagedQuery, frozen=True, kw_only=True):
    """The filter, the order and the page of a domain's proxies."""

    is_active: Annotated[bool, Meta(description="Whether the mapping is used.")] | None = None
    sort_by: (
        Annotated[SortField, Meta(description="Field of the order; without it, by priority and then last use.")] | None
    ) = None
    sort_order: Annotated[Literal["asc", "desc"], Meta(description="Rising or falling.")] | None = None


class SizingQuery(msgspec.Struct, frozen=True, kw_only=True):
    """The wanted rate, and the rate of one proxy."""

    urls_per_hour: Annotated[int, Meta(ge=1, le=MAX_RATE, description="URLs to be fetched in an hour.")]
    per_proxy: Annotated[int, Meta(ge=1, le=MAX_RATE, description="Requests in an hour that one proxy can bear.")] = (
        DEFAULT_REQUESTS_PER_HOUR
    )
    buffer_percent: Annotated[int, Meta(ge=0, le=100, description="Share of spare proxies.")] = DEFAULT_BUFFER_PERCENT


@operation(
    "POST",
    PATH,
    "Assign proxies to a domain",
    access="admin",
    status=201,
    errors=(errors.NO_DOMAIN, errors.missing_proxies([8, 9])),
    request_example=examples.ASSIGNMENT,
    response_example=examples.ASSIGNED,
    action="proxy.assign",
)
async def assign_proxies(services: MappingServices, domain_id: DomainId, body: Assignment) -> WriteSuccess[Assigned]:
    """Assign all of these proxies or, if one is not known, none; proxies that the domain has stay as they are."""
    await services.sources.get(domain_id)
    try:
        assigned = await services.proxies.assign(domain_id, body.proxy_ids, body.priority)
    except MissingProxies as missing:
        raise ApiFailure(errors.missing_proxies(missing.ids)) from None
    sums = (await services.figures.sums([domain_id]))[domain_id]
    return written(Assigned(domain_id, assigned, sums.proxies), f"{assigned} proxies assigned successfully")


@operation(
    "GET",
    PATH,
    "List the proxies of a domain",
    access="admin",
    errors=(errors.NO_DOMAIN, errors.INVALID_SORT_FIELD),
    response_example=examples.MAPPINGS,
)
async def list_mappings(
    services: MappingServices, domain_id: DomainId, query: MappingQuery
) -> ListSuccess[MappingBody]:
    await services.sources.get(domain_id)
    sort = None if query.sort_by is None else SORTS[query.sort_by]
    # Rates and counts are asked for with the largest first, times and priorities with the smallest.
    falling = query.sort_order == "desc" or (query.sort_order is None and sort in ("success_rate", "success_count"))
    rows = await services.figures.pool(domain_id, active=query.is_active, sort=sort, falling=falling)
    shown = rows[query.offset : query.offset + query.per_page]
    return listed([mapping_body(row) for row in shown], query.page, query.per_page, len(rows))


@operation(
    "GET",
    f"{PATH}/stats",
    "Show the figures of a domain's proxies",
    access="admin",
    errors=(errors.NO_DOMAIN,),
    response_example=examples.POOL_STATS,
)
async def show_pool_stats(services: MappingServices, domain_id: DomainId) -> PoolStats:
    await services.sources.get(domain_id)
    figures = await services.figures.pool_figures(domain_id)
    sums = figures.sums
    return PoolStats(
        domain_id=domain_id,
        total_proxies=sums.proxies,
        active_proxies=sums.active,
        failing_proxies=sums.failing,
        overall_success_rate=success_rate(sums.successes, sums.failures),
        avg_response_time_ms=sums.avg_ms,
        total_requests=sums.successes + sums.failures,
        total_success=sums.successes,
        total_failures=sums.failures,
        proxy_distribution=figures.countries,
    )


@operation(
    "GET",
    f"{PATH}/sizing",
    "Compute the number of proxies that a domain needs",
    access="admin",
    errors=(errors.NO_DOMAIN,),
    response_example=examples.SIZING,
)
async def show_sizing(services: MappingServices, domain_id: DomainId, query: SizingQuery) -> Sizing:
    await services.sources.get(domain_id)
    active = (await services.figures.sums([domain_id]))[domain_id].active
    needed = proxies_needed(query.urls_per_hour, query.per_proxy, query.buffer_percent)
    return Sizing(
        domain_id=domain_id,
        urls_per_hour=query.urls_per_hour,
        per_proxy=query.per_proxy,
        buffer_percent=query.buffer_percent,
        minimum_proxies=proxies_needed(query.urls_per_hour, query.per_proxy),
        recommended_proxies=needed,
        active_proxies=active,
        missing_proxies=max(0, needed - active),
    )


@operation(
    "DELETE",
    f"{PATH}/{{proxy_id}}",
    "Take a proxy from a domain",
    access="admin",
    errors=(errors.NO_DOMAIN, errors.NO_MAPPING),
    response_example=examples.UNASSIGNED,
    action="proxy.unassign",
)
async def unassign_proxy(services: MappingServices, domain_id: DomainId, proxy_id: ProxyId) -> WriteSuccess[Unassigned]:
    await services.sources.get(domain_id)
    try:
        await services.proxies.unassign(domain_id, proxy_id)
    except NotFound:
        raise ApiFailure(errors.no_mapping(domain_id, proxy_id)) from None
    left = (await services.figures.sums([domain_id]))[domain_id].proxies
    return written(Unassigned(domain_id, proxy_id, left), "Proxy removed from domain successfully")


@operation(
    "POST",
    f"{PATH}/{{proxy_id}}/enable",
    "Enable a proxy for a domain",
    access="admin",
    errors=(errors.NO_DOMAIN, errors.NO_MAPPING),
    response_example=examples.MAPPING_ENABLED,
    action="proxy.enable_mapping",
)
async def enable_mapping(
    services: MappingServices, domain_id: DomainId, proxy_id: ProxyId
) -> WriteSuccess[MappingSwitched]:
    """Enable a mapping and reset its consecutive failures."""
    return await _switch(services, domain_id, proxy_id, active=True)


@operation(
    "POST",
    f"{PATH}/{{proxy_id}}/disable",
    "Disable a proxy for a domain",
    access="admin",
    errors=(errors.NO_DOMAIN, errors.NO_MAPPING),
    response_example=examples.MAPPING_DISABLED,
    action="proxy.disable_mapping",
)
async def disable_mapping(
    services: MappingServices, domain_id: DomainId, proxy_id: ProxyId
) -> WriteSuccess[MappingSwitched]:
    """Disable a mapping and reset its consecutive failures; other domains go on to use the proxy."""
    return await _switch(services, domain_id, proxy_id, active=False)


MAPPINGS = (
    assign_proxies,
    list_mappings,
    show_pool_stats,
    show_sizing,
    unassign_proxy,
    enable_mapping,
    disable_mapping,
)


async def _switch(
    services: MappingServices, domain_id: int, proxy_id: int, *, active: bool
) -> WriteSuccess[MappingSwitched]:
    await services.sources.get(domain_id)
    try:
        row = await services.proxies.switch(domain_id, proxy_id, active)
    except NotFound:
        raise ApiFailure(errors.no_mapping(domain_id, proxy_id)) from None
    body = MappingSwitched(domain_id, proxy_id, row.active, row.failure_count)
    return written(body, f"Proxy {'enabled' if active else 'disabled'} for domain successfully")
