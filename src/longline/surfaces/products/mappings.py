"""`/api/admin/domains/{domain_id}/proxies`: the own pool of a domain, its figures and its size."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from longline.model.errors import NotFound
from longline.model.proxies.proxy import MappedProxy, MissingProxies
from longline.model.proxies.proxy_health import success_rate
from longline.model.proxies.sizing import DEFAULT_BUFFER_PERCENT, proxies_needed
from longline.services.proxies.proxies import Proxies
from longline.services.proxies.proxy_figures import PoolSort, ProxyFigures
from longline.services.sources.sources import Sources
from longline.surfaces.operation import ApiFailure, operation
from longline.surfaces.products import examples
from longline.surfaces.products import statuses_and_errors as words
from longline.surfaces.products.envelope import ListSuccess, WriteSuccess, listed, written
from longline.surfaces.products.field_types import (
    MAX_ID,
    DomainId,
    PagedQuery,
    Priority,
    ProxyId,
    Timestamp,
    optional_time,
    time_text,
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


class Assigned(msgspec.Struct, frozen=True):
    """The result of an assignment: new mappings, and all proxies of the domain."""

    domain_id: int
    proxies_assigned: int
    total_proxies: int


class MappingBody(msgspec.Struct, frozen=True, kw_only=True):
    """A proxy of a domain; the figures are those of its requests to this domain."""

    id: int
    domain_id: int
    proxy_id: int
    proxy_url: str
    proxy_port: int
    proxy_protocol: str
    country_code: str | None
    provider: str | None
    is_active: bool
    proxy_is_active: bool
    priority: int
    last_used_at: Timestamp | None
    success_count: int
    failure_count: int
    total_failures: int
    success_rate_percent: float
    avg_response_time_ms: int | None
    created_at: Timestamp
    updated_at: Timestamp


class MappingQuery(PagedQuery, frozen=True, kw_only=True):
    """The filter, the order and the page of a domain's proxies."""

    is_active: Annotated[bool, Meta(description="Whether the mapping is used.")] | None = None
    sort_by: (
        Annotated[SortField, Meta(description="Field of the order; without it, by priority and then last use.")] | None
    ) = None
    sort_order: Annotated[Literal["asc", "desc"], Meta(description="Rising or falling.")] | None = None


class Unassigned(msgspec.Struct, frozen=True):
    """The result of taking a proxy from a domain."""

    domain_id: int
    proxy_id: int
    remaining_proxies: int


class MappingSwitched(msgspec.Struct, frozen=True):
    """A mapping after its switch was set."""

    domain_id: int
    proxy_id: int
    is_active: bool
    failure_count: int


class PoolStats(msgspec.Struct, frozen=True, kw_only=True):
    """Sums over the proxies of a domain."""

    domain_id: int
    total_proxies: int
    active_proxies: int
    failing_proxies: int
    overall_success_rate: float
    avg_response_time_ms: int | None
    total_requests: int
    total_success: int
    total_failures: int
    proxy_distribution: dict[str, int]


class SizingQuery(msgspec.Struct, frozen=True, kw_only=True):
    """The wanted rate, and the rate of one proxy."""

    urls_per_hour: Annotated[int, Meta(ge=1, le=MAX_RATE, description="URLs to be fetched in an hour.")]
    per_proxy: Annotated[int, Meta(ge=1, le=MAX_RATE, description="Requests in an hour that one proxy can bear.")] = 20
    buffer_percent: Annotated[int, Meta(ge=0, le=100, description="Share of spare proxies.")] = DEFAULT_BUFFER_PERCENT


class Sizing(msgspec.Struct, frozen=True, kw_only=True):
    """The number of proxies that a domain needs."""

    domain_id: int
    urls_per_hour: int
    per_proxy: int
    buffer_percent: int
    minimum_proxies: int
    recommended_proxies: int
    active_proxies: int
    missing_proxies: int


@operation(
    "POST",
    PATH,
    "Assign proxies to a domain",
    access="admin",
    status=201,
    errors=(words.NO_DOMAIN, words.missing_proxies([8, 9])),
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
        raise ApiFailure(words.missing_proxies(missing.ids)) from None
    sums = (await services.figures.sums([domain_id]))[domain_id]
    return written(Assigned(domain_id, assigned, sums.proxies), f"{assigned} proxies assigned successfully")


@operation(
    "GET",
    PATH,
    "List the proxies of a domain",
    access="admin",
    errors=(words.NO_DOMAIN, words.INVALID_SORT_FIELD),
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
    errors=(words.NO_DOMAIN,),
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
    errors=(words.NO_DOMAIN,),
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
    errors=(words.NO_DOMAIN, words.NO_MAPPING),
    response_example=examples.UNASSIGNED,
    action="proxy.unassign",
)
async def unassign_proxy(services: MappingServices, domain_id: DomainId, proxy_id: ProxyId) -> WriteSuccess[Unassigned]:
    await services.sources.get(domain_id)
    try:
        await services.proxies.unassign(domain_id, proxy_id)
    except NotFound:
        raise ApiFailure(words.no_mapping(domain_id, proxy_id)) from None
    left = (await services.figures.sums([domain_id]))[domain_id].proxies
    return written(Unassigned(domain_id, proxy_id, left), "Proxy removed from domain successfully")


@operation(
    "POST",
    f"{PATH}/{{proxy_id}}/enable",
    "Enable a proxy for a domain",
    access="admin",
    errors=(words.NO_DOMAIN, words.NO_MAPPING),
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
    errors=(words.NO_DOMAIN, words.NO_MAPPING),
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
        raise ApiFailure(words.no_mapping(domain_id, proxy_id)) from None
    body = MappingSwitched(domain_id, proxy_id, row.active, row.failure_count)
    return written(body, f"Proxy {'enabled' if active else 'disabled'} for domain successfully")


def mapping_body(row: MappedProxy) -> MappingBody:
    """Return a mapping in the contract's format."""
    return MappingBody(
        id=row.id,
        domain_id=row.source_id,
        proxy_id=row.proxy_id,
        proxy_url=row.host,
        proxy_port=row.port,
        proxy_protocol=row.scheme,
        country_code=row.country,
        provider=row.provider,
        is_active=row.active,
        proxy_is_active=row.proxy_active,
        priority=row.priority,
        last_used_at=optional_time(row.last_used_at),
        success_count=row.success_count,
        failure_count=row.failure_count,
        total_failures=row.total_failures,
        success_rate_percent=success_rate(row.success_count, row.total_failures),
        avg_response_time_ms=row.avg_ms,
        created_at=time_text(row.created_at),
        updated_at=time_text(row.updated_at),
    )
