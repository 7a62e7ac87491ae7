"""Responses about the proxies of a domain, and their making from rows."""

import msgspec

from longline.model.proxies.proxy import MappedProxy
from longline.model.proxies.proxy_health import success_rate
from longline.surfaces.products.field_types import Timestamp, optional_time, time_text


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
