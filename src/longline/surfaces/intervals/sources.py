"""`/api/v1/sources` in source-manager's format, and jobs for all enabled sources."""

from dataclasses import dataclass
from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from longline.model.errors import BadInput, Unavailable
from longline.model.sources.source import NewSource, SourceQuery, SourceRow
from longline.model.url import without_credentials
from longline.services.callers.audit_trail import AuditTrail
from longline.services.schedules.schedules import Schedules
from longline.services.sources.source_schedules import SourceSchedules
from longline.services.sources.sources import Sources
from longline.surfaces.error_format import error
from longline.surfaces.intervals import examples
from longline.surfaces.intervals.field_types import (
    MAX_NUMBER,
    Key,
    Offset,
    Text,
    Timestamp,
    WebUrl,
    absolute_url,
    optional_rfc3339,
    rfc3339,
)
from longline.surfaces.intervals.source_settings import (
    DEFAULT_SETTINGS,
    MINUTE_MS,
    CrawlSettings,
    IngestionMode,
    Json,
    RenderMode,
    SentSource,
    Times,
    merge_settings,
    stored_settings,
)
from longline.surfaces.operation import ApiFailure, operation

DEFAULT_LIMIT, MAX_LIMIT = 100, 500
MAX_PAGE = 10**9

SOURCE_NOT_FOUND = error(404, "Source not found")
NAME_TAKEN = error(409, "there is a source called news")
KEPT_ELSEWHERE = error(409, "source 42 is kept by another service: change it there")
USED_ELSEWHERE = error(
    409,
    "source news is also used by products: take off its use by interval instead,"
    " with longline sources use --id 100001 --remove interval",
)
SOURCE_CHANGING = error(409, "source 100001 kept changing")
INVALID_SOURCE = error(400, "bad URL 'example.com': it has no scheme; write it out, as in https://example.com/")
BUDGET_REQUIRED = error(400, "budget is required; null lifts it")
NO_SOURCES = error(502, "failed to list sources")
CHANGE_ERRORS = (SOURCE_NOT_FOUND, KEPT_ELSEWHERE, SOURCE_CHANGING)

Url = Annotated[WebUrl, Meta(min_length=1, description="The start URL, absolute.")]
ChangedUrl = Annotated[WebUrl, Meta(description="The start URL, absolute; empty keeps the present one.")]
SourceId = Annotated[str, Meta(description="Id of a source.")]
IsEnabled = Annotated[bool, Meta(description="Whether the source is crawled and its feed polled.")]
IdentityKey = Annotated[Key, Meta(description="A unique key of the site, such as its host.")]
Name = Annotated[Key, Meta(min_length=1, description="The unique name of the source.")]
Budget = Annotated[int, Meta(ge=1, le=MAX_NUMBER, description="URLs that all runs together may admit.")]
ChangedName = Annotated[Key, Meta(description="The unique name of the source; empty keeps the present one.")]


@dataclass(frozen=True, slots=True)
class SourceServices:
    """Sources, and the schedules of their jobs."""

    sources: Sources
    source_schedules: SourceSchedules
    schedules: Schedules
    audit: AuditTrail


class SourceRequest(SentSource, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A source to register."""

    name: Name
    url: Url
    identity_key: IdentityKey | None = None
    enabled: IsEnabled | None = None
    budget: Budget | None = None

    def source(self) -> NewSource:
        """Return the source to register."""
        return NewSource(
            name=self.name,
            base_url=absolute_url(self.url),
            crawl=merge_settings("{}", self),
            enabled=self.enabled is not False,
            budget=self.budget,
            identity_key=self.identity_key or None,
            **self.feed(),
            **self.parsing(),
        )


class SourceChanges(SentSource, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Changes of a source: absent fields keep their values."""

    name: ChangedName | None = None
    url: ChangedUrl | None = None
    identity_key: IdentityKey | UnsetType | None = UNSET
    enabled: IsEnabled | None = None
    budget: Budget | UnsetType | None = UNSET

    def amend(self, row: SourceRow) -> SourceRow:
        """Return a source with these changes; raise `BadInput` for another budget, which has its own operation."""
        if self.budget not in (UNSET, row.budget):
            raise BadInput("budget is changed with PUT /api/v1/sources/{id}/budget")
        changes: Json = {"name": self.name or row.name, "base_url": absolute_url(self.url or row.base_url)}
        if self.identity_key is not UNSET:
            changes["identity_key"] = self.identity_key or None
        if self.enabled is not None and self.enabled != row.enabled:
            changes |= {"enabled": self.enabled, "disabled_at": None, "disable_reason": None}
        changes |= {"crawl": merge_settings(row.crawl, self), **self.feed(), **self.parsing()}
        return msgspec.structs.replace(row, **changes)


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


class SourceListQuery(msgspec.Struct, frozen=True, kw_only=True):
    """The filter, the order and the page of a list of sources; `page` goes before `offset`."""

    search: Annotated[str, Meta(description="Text in the name or the URL, in any case.")] | None = None
    enabled: IsEnabled | None = None
    feed_active: Annotated[bool, Meta(description="Whether the feed is polled now.")] | None = None
    sort_by: Annotated[Literal["name", "created_at", "updated_at"], Meta(description="Field of the order.")] = "name"
    sort_order: Annotated[Literal["asc", "desc"], Meta(description="Rising or falling.")] = "asc"
    limit: Annotated[int, Meta(ge=1, le=MAX_LIMIT, description="Entries of the page.")] = DEFAULT_LIMIT
    offset: Offset = 0
    page: Annotated[int, Meta(ge=1, le=MAX_PAGE, description="Number of the page, counted from 1.")] | None = None


class IdentityQuery(msgspec.Struct, frozen=True):
    """The identity of a source."""

    identity_key: Annotated[str, Meta(description="The unique key of the site.")] = ""


class SwitchReason(msgspec.Struct, frozen=True):
    """The reason for switching off a source or its feed."""

    reason: Annotated[Text, Meta(description="Shown with the source.")] | None = None


class SourceBudget(msgspec.Struct, frozen=True):
    """The largest number of URLs that all runs of a source together may admit; null for no limit."""

    budget: Annotated[Budget, Meta(extra={"texts": {"missing": "budget is required; null lifts it"}})] | None


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


@operation("GET", "/api/v1/sources", "List sources", access="public", response_example=examples.SOURCE_LIST)
async def list_sources(services: SourceServices, query: SourceListQuery) -> SourceListBody:
    limit = query.limit
    offset = query.offset if query.page is None else (query.page - 1) * limit
    wanted = SourceQuery(
        query.search, query.enabled, query.feed_active, query.sort_by, falling=query.sort_order == "desc"
    )
    rows, total = await services.sources.find(wanted, limit, offset)
    return SourceListBody([source_body(row) for row in rows], total, offset // limit + 1, limit, -(-total // limit))


@operation(
    "GET",
    "/api/v1/sources/by-identity",
    "Return the source with an identity",
    errors=(SOURCE_NOT_FOUND,),
    response_example=examples.SOURCE,
)
async def show_identified_source(services: SourceServices, query: IdentityQuery) -> SourceBody:
    return source_body(await services.sources.get_by_identity(query.identity_key))


@operation(
    "POST",
    "/api/v1/sources",
    "Register a source",
    status=201,
    errors=(INVALID_SOURCE, NAME_TAKEN),
    request_example=examples.NEW_SOURCE,
    response_example=examples.SOURCE,
    action="source.create",
)
async def make_source(services: SourceServices, body: SourceRequest) -> SourceBody:
    return source_body(await services.sources.make(body.source()))


@operation(
    "GET",
    "/api/v1/sources/{source_id}",
    "Return a source",
    errors=(SOURCE_NOT_FOUND,),
    response_example=examples.SOURCE,
)
async def show_source(services: SourceServices, source_id: SourceId) -> SourceBody:
    return source_body(await services.sources.get_by_ref(source_id))


@operation(
    "PUT",
    "/api/v1/sources/{source_id}",
    "Change a source",
    errors=(INVALID_SOURCE, *CHANGE_ERRORS, NAME_TAKEN),
    request_example=examples.SOURCE_CHANGES,
    response_example=examples.SOURCE,
    action="source.change",
)
async def change_source(services: SourceServices, source_id: SourceId, body: SourceChanges) -> SourceBody:
    was = await services.sources.get(await services.sources.ours(source_id))
    row = await services.sources.change(was.id, body.amend)
    await services.source_schedules.changed(source_id, switched=row.enabled != was.enabled)
    return source_body(row)


@operation(
    "DELETE",
    "/api/v1/sources/{source_id}",
    "Delete a source and its recurring job",
    status=204,
    errors=(SOURCE_NOT_FOUND, KEPT_ELSEWHERE, USED_ELSEWHERE),
    action="source.delete",
)
async def delete_source(services: SourceServices, source_id: SourceId) -> None:
    await services.sources.remove(await services.sources.ours(source_id))
    await services.schedules.forget(source_id)


@operation(
    "PATCH",
    "/api/v1/sources/{source_id}/enable",
    "Enable a source and resume its job",
    errors=CHANGE_ERRORS,
    response_example=examples.SOURCE,
    action="source.enable",
)
async def enable_source(services: SourceServices, source_id: SourceId) -> SourceBody:
    row = await services.sources.switch(await services.sources.ours(source_id), on=True)
    await services.source_schedules.enabled(row.public_id)
    return source_body(row)


@operation(
    "PATCH",
    "/api/v1/sources/{source_id}/disable",
    "Disable a source and pause its job",
    errors=CHANGE_ERRORS,
    request_example=examples.SWITCH_REASON,
    response_example=examples.SOURCE,
    action="source.disable",
)
async def disable_source(services: SourceServices, source_id: SourceId, body: SwitchReason | None) -> SourceBody:
    reason = None if body is None else body.reason
    row = await services.sources.switch(await services.sources.ours(source_id), on=False, reason=reason)
    await services.source_schedules.disabled(row.public_id)
    return source_body(row)


@operation(
    "PATCH",
    "/api/v1/sources/{source_id}/feed-enable",
    "Enable the feed of a source and poll it at once",
    errors=CHANGE_ERRORS,
    response_example=examples.SOURCE,
    action="source.enable_feed",
)
async def enable_feed(services: SourceServices, source_id: SourceId) -> SourceBody:
    return source_body(await services.sources.switch_feed(await services.sources.ours(source_id), on=True))


@operation(
    "PATCH",
    "/api/v1/sources/{source_id}/feed-disable",
    "Disable the feed of a source",
    errors=CHANGE_ERRORS,
    request_example=examples.SWITCH_REASON,
    response_example=examples.SOURCE,
    action="source.disable_feed",
)
async def disable_feed(services: SourceServices, source_id: SourceId, body: SwitchReason | None) -> SourceBody:
    """After a time that depends on the reason, a disabled feed gets one trial."""
    reason = None if body is None else body.reason
    return source_body(
        await services.sources.switch_feed(await services.sources.ours(source_id), on=False, reason=reason)
    )


@operation(
    "PUT",
    "/api/v1/sources/{source_id}/budget",
    "Limit the URLs that all runs of a source may admit",
    errors=(BUDGET_REQUIRED, SOURCE_NOT_FOUND),
    request_example=examples.BUDGET,
    response_example=examples.SOURCE,
    action="source.limit",
)
async def limit_source(services: SourceServices, source_id: SourceId, body: SourceBudget) -> SourceBody:
    row = await services.sources.get_by_ref(source_id)
    return source_body(await services.sources.limit(row.id, body.budget))


@operation(
    "POST",
    "/api/v1/admin/sync-enabled-sources",
    "Give every enabled source its job",
    errors=(NO_SOURCES,),
    response_example=examples.SYNC_RESULT,
    action="source.sync",
)
async def sync_sources(services: SourceServices) -> SyncBody:
    try:
        done = await services.source_schedules.run(services.audit)
    except Unavailable:
        raise ApiFailure(NO_SOURCES) from None
    return SyncBody(
        sources_seen=done.seen,
        sources_enabled=done.enabled,
        created=done.created,
        already_has_job=done.kept,
        resumed=done.resumed,
        skipped_disabled=done.disabled,
        skipped_rate_limit_parse_failure=[],
        errors=done.errors or None,
    )


SOURCES = (
    *(list_sources, show_identified_source, make_source, show_source, change_source, delete_source),
    *(enable_source, disable_source, enable_feed, disable_feed, limit_source, sync_sources),
)
