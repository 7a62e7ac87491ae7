"""Responses about proxies, and their making from rows."""

from decimal import Decimal
from typing import Literal

import msgspec

from longline.services.proxies.proxies import ProxyView
from longline.surfaces.products.field_types import Timestamp, amount, optional_time, time_text

Protocol = Literal["http", "https", "socks5"]


class ProxyBody(msgspec.Struct, frozen=True, kw_only=True):
    """A proxy, never with its password. `failure_count` counts failures in a row, `total_failures` all."""

    id: int
    proxy_url: str
    proxy_port: int
    proxy_protocol: Protocol
    proxy_username: str | None
    has_password: bool
    is_active: bool
    disabled_reason: Literal["auto", "manual"] | None
    failure_count: int
    success_count: int
    total_failures: int
    success_rate: float
    last_used_at: Timestamp | None
    last_success_at: Timestamp | None
    last_failure_at: Timestamp | None
    avg_response_time_ms: int | None
    country_code: str | None
    city: str | None
    provider: str | None
    monthly_cost: Decimal | None
    max_requests_per_hour: int
    created_at: Timestamp
    updated_at: Timestamp


class ProxyStats(msgspec.Struct, frozen=True):
    """Figures of a proxy over all its domains."""

    success_rate: float
    total_requests: int
    domains_using: int


class ProxyDetail(ProxyBody, frozen=True, kw_only=True):
    """A proxy with its figures."""

    stats: ProxyStats


class ProxySwitched(msgspec.Struct, frozen=True):
    """A proxy after its switch was set."""

    proxy_id: int
    is_active: bool
    failure_count: int


class ProxyDeleted(msgspec.Struct, frozen=True):
    """The id of a deleted proxy."""

    proxy_id: int


def proxy_body(view: ProxyView) -> ProxyBody:
    """Return a proxy in the contract's format."""
    return ProxyBody(
        id=view.id,
        proxy_url=view.host,
        proxy_port=view.port,
        proxy_protocol=view.scheme,
        proxy_username=view.username or None,
        has_password=view.has_password,
        is_active=view.active,
        disabled_reason=view.disabled_reason,
        failure_count=view.failure_count,
        success_count=view.success_count,
        total_failures=view.total_failures,
        success_rate=view.success_rate,
        last_used_at=optional_time(view.last_used_at),
        last_success_at=optional_time(view.last_success_at),
        last_failure_at=optional_time(view.last_failure_at),
        avg_response_time_ms=view.avg_ms,
        country_code=view.country,
        city=view.city,
        provider=view.provider,
        monthly_cost=amount(view.monthly_cost),
        max_requests_per_hour=view.max_per_hour,
        created_at=time_text(view.created_at),
        updated_at=time_text(view.updated_at),
    )
