"""Responses about domains, and their making from sources."""

from typing import Any

import msgspec

from longline.model.sources.recrawl_settings import recrawl_settings
from longline.model.sources.source import SourceRow
from longline.model.sources.source_uses import SourceUse, decode_uses
from longline.model.urls.url import parse
from longline.model.urls.url_credentials import without_credentials
from longline.services.sources.recrawled_sources import SourceFigures
from longline.surfaces.products.domains.domain_requests import SECOND_MS, Strategy
from longline.surfaces.products.field_types import Timestamp, optional_time, time_of_day, time_text

DEFAULT_DELAY_MS, DEFAULT_CONCURRENCY = 1000, 5
"""Delay and concurrency of a source that another API has made without them."""


class DomainListItem(msgspec.Struct, frozen=True, kw_only=True):
    """A domain in a list. The unit that delay and concurrency hold for is `politeness`."""

    id: int
    domain_name: str
    base_url: str
    parser_name: str | None
    crawl_delay_seconds: int
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


class RobotsRefreshed(msgspec.Struct, frozen=True, kw_only=True):
    """The robots.txt of a domain as it was fetched, and the settings that follow it."""

    domain_id: int
    robots_txt_url: str
    robots_txt_last_fetched: Timestamp | None
    crawl_delay_found: float | None
    updated_settings: dict[str, int]


def domain_detail(row: SourceRow, figures: SourceFigures, politeness: str, user_agent: str) -> DomainDetail:
    """Return a domain with its robots.txt and its figures."""
    return DomainDetail(
        **domain_facts(row, figures, politeness, user_agent),
        robots_txt_content=row.robots_text,
        stats=DomainStats(figures.tasks, figures.active_proxies, figures.success_rate),
    )


def domain_facts(row: SourceRow, figures: SourceFigures, politeness: str, user_agent: str) -> dict[str, Any]:
    """Return the fields that a domain has in lists too; `user_agent` is that of sources without their own."""
    settings = recrawl_settings(row.recrawl)
    window = settings.window
    return {
        "id": row.id,
        "domain_name": domain_name(row),
        "base_url": without_credentials(row.base_url),
        "parser_name": row.parser,
        "crawl_delay_seconds": shown_seconds(DEFAULT_DELAY_MS if row.delay_ms is None else row.delay_ms),
        "max_concurrent_requests": row.concurrency or DEFAULT_CONCURRENCY,
        "politeness": politeness,
        "default_crawl_frequency": settings.frequency,
        "is_active": row.enabled,
        "robots_txt_url": row.robots_url,
        "robots_txt_last_fetched": optional_time(row.robots_fetched_at),
        "user_agent": row.user_agent or user_agent,
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


def shown_seconds(ms: int) -> int:
    """Return whole seconds, rounded up: delays that other APIs set may have a fraction."""
    return -(-ms // SECOND_MS)


def domain_name(row: SourceRow) -> str:
    """Return the domain of a source."""
    return domain_of_source(row.name, row.base_url, row.uses)


def domain_of_source(name: str, base_url: str, uses: str) -> str:
    """Return the name of a source as its domain, or the host of its URL if other APIs alone use it."""
    return name if SourceUse.PRODUCTS in decode_uses(uses) else parse(base_url).hostname
