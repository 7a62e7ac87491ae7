"""`/api/v1/admin/crawler/sources`: sources, their switch and their health."""

from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from longline.model.callers.audit import name_action
from longline.model.errors import Conflict
from longline.model.sources.source import NewSource, SourceQuery, SourceRow, Taken
from longline.model.sources.source_uses import SourceUse
from longline.services.series.series_runs import SeriesRuns
from longline.services.sources.source_cache import SourceCache
from longline.services.sources.sources import Sources
from longline.surfaces.catalogue import errors, examples
from longline.surfaces.catalogue.envelope import Listed, listed
from longline.surfaces.catalogue.field_types import (
    AuditedOrder,
    BaseUrl,
    CataloguePageQuery,
    ExtensionId,
    Name,
    Reason,
    Slug,
    SourceId,
    Text,
    optional_time,
    time_text,
)
from longline.surfaces.catalogue.sources.response_cache import health_entry, list_entry, source_entry
from longline.surfaces.catalogue.sources.source_responses import (
    Source,
    SourceHealth,
    SourceJobCounts,
    SwitchedSource,
    last_job,
    shown_source,
)
from longline.surfaces.operation import ApiFailure, operation

Config = Annotated[
    dict[str, Any], Meta(description="Settings of the extension: rate limit, proxy, headers, selectors.")
]
IsEnabled = Annotated[bool, Meta(description="Whether the source is crawled.")]
TAKEN = {"name": errors.NAME_TAKEN, "slug": errors.SLUG_TAKEN}


@dataclass(frozen=True, slots=True)
class CatalogueSourceServices:
    """Sources, the runs that crawl them, and the cache of both."""

    sources: Sources
    runs: SeriesRuns
    cache: SourceCache


class CatalogueSourceRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A source to register."""

    name: Name
    slug: Slug
    baseurl: BaseUrl
    extensionid: ExtensionId | None = None
    config: Config = {}
    isenabled: IsEnabled = True


class CatalogueSourceChanges(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Changes of a source: absent fields keep their values, and a config replaces the stored one."""

    name: Name | UnsetType = UNSET
    slug: Slug | UnsetType = UNSET
    baseurl: BaseUrl | UnsetType = UNSET
    extensionid: ExtensionId | UnsetType | None = UNSET
    config: Config | UnsetType = UNSET
    isenabled: IsEnabled | UnsetType = UNSET

    def amend(self, row: SourceRow, *, merges: bool = False) -> SourceRow:
        """Return a source with these changes; with `merges`, keys of the stored config that were not sent stay."""
        changes: dict[str, Any] = {}
        if self.name is not UNSET:
            changes["name"] = self.name.strip()
        if self.slug is not UNSET:
            changes["slug"] = self.slug
        if self.baseurl is not UNSET:
            changes["base_url"] = self.baseurl
        if self.extensionid is not UNSET:
            changes["extension"] = self.extensionid
        if self.config is not UNSET:
            kept = msgspec.json.decode(row.extension_config) if merges else {}
            changes["extension_config"] = msgspec.json.encode(kept | self.config).decode()
        if self.isenabled is not UNSET and self.isenabled != row.enabled:
            changes |= {"enabled": self.isenabled, "disabled_at": None, "disable_reason": None}
        return msgspec.structs.replace(row, **changes)


class SourceChangeQuery(msgspec.Struct, frozen=True):
    """The treatment of the config of a change."""

    configmode: Annotated[
        Literal["replace", "merge"], Meta(description="Whether keys of the config that are not sent go, or stay.")
    ] = "replace"


class Switch(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The switch of a source."""

    isenabled: IsEnabled
    reason: Reason | None = None


class CatalogueSourceQuery(CataloguePageQuery, frozen=True, kw_only=True):
    """The choice of sources."""

    isenabled: IsEnabled | None = None
    q: Annotated[Text, Meta(max_length=500, description="A part of the name.")] | None = None


@operation("GET", "/api/v1/admin/crawler/sources", "List sources", access="admin", response_example=examples.SOURCES)
async def list_sources(services: CatalogueSourceServices, query: CatalogueSourceQuery) -> Listed[Source]:
    async def make() -> Listed[Source]:
        wanted = SourceQuery(name=query.q, enabled=query.isenabled)
        rows, total = await services.sources.find(wanted, query.limit, query.offset)
        return listed([shown_source(row) for row in rows], query.page, query.limit, total)

    return await services.cache.get(list_entry(query), Listed[Source], make)


@operation(
    "GET",
    "/api/v1/admin/crawler/sources/{id}",
    "Get a source",
    access="admin",
    errors=[errors.NO_SOURCE],
    response_example=examples.SOURCE,
)
async def get_source(services: CatalogueSourceServices, id: SourceId) -> Source:
    async def make() -> Source:
        return shown_source(await services.sources.get(id))

    return await services.cache.get(source_entry(id), Source, make)


@operation(
    "POST",
    "/api/v1/admin/crawler/sources",
    "Register a source",
    status=201,
    access="admin",
    errors=[errors.INVALID_BASE_URL, errors.NAME_TAKEN, errors.SLUG_TAKEN],
    action="source.create",
    request_example=examples.SOURCE_REQUEST,
    response_example=examples.SOURCE,
)
async def create_source(services: CatalogueSourceServices, body: CatalogueSourceRequest) -> Source:
    new = NewSource(
        name=body.name.strip(),
        slug=body.slug,
        base_url=body.baseurl,
        extension=body.extensionid,
        extension_config=msgspec.json.encode(body.config).decode(),
        enabled=body.isenabled,
        use=SourceUse.CATALOGUE,
    )
    try:
        return shown_source(await services.sources.make(new))
    except Taken as taken:
        raise ApiFailure(TAKEN[taken.field]) from None


@operation(
    "PATCH",
    "/api/v1/admin/crawler/sources/{id}",
    "Change a source",
    access="admin",
    errors=[errors.NO_SOURCE, errors.INVALID_BASE_URL, errors.NAME_TAKEN, errors.SLUG_TAKEN, errors.KEPT_ELSEWHERE],
    action="source.update",
    request_example={"config": {"ratelimit": 2}},
    response_example=examples.SOURCE,
)
async def change_source(
    services: CatalogueSourceServices, id: SourceId, query: SourceChangeQuery, body: CatalogueSourceChanges
) -> Source:
    amend = partial(body.amend, merges=query.configmode == "merge")
    try:
        row = await _check_ours(services, id)
        return shown_source(row if amend(row) == row else await services.sources.change(id, amend))
    except Taken as taken:
        raise ApiFailure(TAKEN[taken.field]) from None


@operation(
    "DELETE",
    "/api/v1/admin/crawler/sources/{id}",
    "Deregister a source",
    status=204,
    access="admin",
    errors=[errors.NO_SOURCE, errors.HAS_RUNNING_JOBS, errors.USED_ELSEWHERE, errors.KEPT_ELSEWHERE],
    action="source.delete",
    request_example={"reason": "the site is gone"},
)
async def delete_source(services: CatalogueSourceServices, id: SourceId, body: AuditedOrder) -> None:  # noqa: ARG001 - its reason is audited
    row = await _check_ours(services, id)
    others = [use for use in SourceUse if row.has_use(use) and use is not SourceUse.CATALOGUE]
    if others:
        raise Conflict(errors.used_elsewhere(row.name, others))
    if not await services.runs.remove_source(row):
        raise ApiFailure(errors.HAS_RUNNING_JOBS)


@operation(
    "PATCH",
    "/api/v1/admin/crawler/sources/{id}/enable",
    "Enable or disable a source",
    access="admin",
    errors=[errors.NO_SOURCE, errors.KEPT_ELSEWHERE],
    action="source.enable",
    request_example={"isenabled": False, "reason": "maintenance of the site"},
    response_example=examples.SWITCHED,
)
async def switch_source(services: CatalogueSourceServices, id: SourceId, body: Switch) -> SwitchedSource:
    row = await _check_ours(services, id)
    name_action("source.enable" if body.isenabled else "source.disable")
    if row.enabled != body.isenabled:
        row = await services.sources.switch(id, body.isenabled, body.reason)
    return SwitchedSource(row.id, row.name, row.enabled, time_text(row.updated_at))


@operation(
    "GET",
    "/api/v1/admin/crawler/sources/{id}/health",
    "Get the health of a source",
    access="admin",
    errors=[errors.NO_SOURCE],
    response_example=examples.HEALTH,
)
async def get_source_health(services: CatalogueSourceServices, id: SourceId) -> SourceHealth:
    return await services.cache.get(health_entry(id), SourceHealth, lambda: _health(services, id))


async def _health(services: CatalogueSourceServices, id: int) -> SourceHealth:
    row, counts = await services.sources.get(id), await services.runs.of_source(id)
    number = counts.states.get
    return SourceHealth(
        row.id,
        row.name,
        row.enabled,
        row.failures,
        optional_time(row.succeeded_at),
        optional_time(row.failed_at),
        SourceJobCounts(counts.total, *(number(state, 0) for state in ("completed", "failed", "running", "queued"))),
        None if counts.last is None else last_job(counts.last),
    )


SOURCE_OPERATIONS = (
    list_sources,
    create_source,
    get_source,
    change_source,
    delete_source,
    switch_source,
    get_source_health,
)


async def _check_ours(services: CatalogueSourceServices, source_id: int) -> SourceRow:
    """Return a source that may be changed here; raise the error of a source that another service keeps."""
    return await services.sources.get(await services.sources.ours(source_id))
