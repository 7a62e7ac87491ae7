"""Responses about sources, and their making from rows."""

import msgspec
from msgspec import UNSET

from longline.model.duration import MINUTE_MS
from longline.model.sources.source import SourceRow
from longline.model.urls.url_credentials import without_credentials
from longline.surfaces.intervals.field_types import Timestamp, optional_rfc3339, rfc3339
from longline.surfaces.intervals.sources.source_settings import (
    DEFAULT_SETTINGS,
    CrawlSettings,
    IngestionMode,
    Json,
    RenderMode,
    Times,
    stored_settings,
)


class SourceBody(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A source. `admitted` is the number of URLs that count against its budget."""

    id: str
    name: str
    url: str
    rate_limit: str
    parser: str | None = None
    config: Json | None = None
    sinks: list[str] | None = None
    max_depth: int | None = None
    selectors: Json | None = None
    article_url_patterns: list[str] | None = None
    rules: Json | None = None
    sitemap_url: str | None = None
    ingestion_mode: IngestionMode | None = None
    render_mode: RenderMode | None = None
    template_hint: str | None = None
    extraction_profile: Json | None = None
    allow_source_discovery: bool | None = None
    type: str | None = None
    indigenous_region: str | None = None
    time: Times | None = None
    priority: str | None = None
    enabled: bool
    disabled_at: Timestamp | None = None
    disable_reason: str | None = None
    feed_url: str | None = None
    feed_poll_interval_minutes: int
    feed_disabled_at: Timestamp | None = None
    feed_disable_reason: str | None = None
    identity_key: str | None = None
    budget: int | None = None
    admitted: int | None = None
    created_at: Timestamp
    updated_at: Timestamp


class SourceListBody(msgspec.Struct, frozen=True):
    """One page of a list of sources."""

    sources: list[SourceBody]
    total: int
    page: int
    per_page: int
    total_pages: int


class SyncBody(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The result of a synchronisation: ids of sources."""

    sources_seen: int
    sources_enabled: int
    created: list[str]
    already_has_job: list[str]
    resumed: list[str]
    skipped_disabled: list[str]
    skipped_rate_limit_parse_failure: list[str]
    errors: list[str] | None = None


def source_body(row: SourceRow) -> SourceBody:
    """Return a source in the contract's format."""
    stored = stored_settings(row.crawl)
    sent = {name: getattr(stored, name) for name in CrawlSettings.__struct_fields__}
    settings = {**DEFAULT_SETTINGS, **{name: value for name, value in sent.items() if value is not UNSET}}
    settings["rate_limit"] = str(settings["rate_limit"])
    if settings.get("sitemap_url"):
        settings["sitemap_url"] = without_credentials(settings["sitemap_url"])
    return SourceBody(
        id=row.public_id,
        name=row.name,
        url=without_credentials(row.base_url),
        parser=row.parser,
        config=msgspec.json.decode(row.config) or None,
        sinks=msgspec.json.decode(row.sinks) or None,
        enabled=row.enabled,
        disabled_at=optional_rfc3339(row.disabled_at),
        disable_reason=row.disable_reason,
        feed_url=row.feed_url and without_credentials(row.feed_url),
        feed_poll_interval_minutes=row.feed_every_ms // MINUTE_MS,
        feed_disabled_at=optional_rfc3339(row.feed_disabled_at),
        feed_disable_reason=row.feed_disable_reason,
        identity_key=row.identity_key,
        budget=row.budget,
        admitted=None if row.budget is None else row.admitted,
        created_at=rfc3339(row.created_at),
        updated_at=rfc3339(row.updated_at),
        **settings,
    )
