"""`/api/v1/sources` in source-manager's format, and jobs for all enabled sources."""

from dataclasses import dataclass
from typing import Annotated

from msgspec import Meta

from longline.model.errors import Unavailable
from longline.model.sources.source import SourceQuery
from longline.services.schedules.schedules import Schedules
from longline.services.sources.source_schedules import SourceSchedules
from longline.services.sources.sources import Sources
from longline.surfaces.intervals import examples
from longline.surfaces.intervals.errors import (
    BUDGET_REQUIRED,
    INVALID_SOURCE,
    KEPT_ELSEWHERE,
    NAME_TAKEN,
    NO_SOURCES,
    SOURCE_CHANGING,
    SOURCE_NOT_FOUND,
    USED_ELSEWHERE,
)
from longline.surfaces.intervals.sources.source_requests import (
    IdentityQuery,
    SourceBudget,
    SourceChanges,
    SourceListQuery,
    SourceRequest,
    SwitchReason,
)
from longline.surfaces.intervals.sources.source_responses import SourceBody, SourceListBody, SyncBody, source_body
from longline.surfaces.operation import ApiFailure, operation

CHANGE_ERRORS = (SOURCE_NOT_FOUND, KEPT_ELSEWHERE, SOURCE_CHANGING)

SourceId = Annotated[str, Meta(description="Id of a source.")]


@dataclass(frozen=True, slots=True)
class SourceServices:
    """Sources, and the schedules of their jobs."""

    sources: Sources
    source_schedules: SourceSchedules
    schedules: Schedules


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
        done = await services.source_schedules.run()
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
