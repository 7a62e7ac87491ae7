"""`/api/v1/admin/comics`: comics, and the mappings that tie them to their pages on sources."""

from dataclasses import dataclass
from typing import Annotated, Any

import msgspec
from msgspec import UNSET, Meta, UnsetType

from longline.model.series.series import MAX_TITLE_CHARS, NewSeries, NewTarget, TargetRow
from longline.model.sources.source import Taken
from longline.services.series.series import Series
from longline.services.sources.sources import Sources
from longline.surfaces.catalogue import errors, examples
from longline.surfaces.catalogue.comic_responses import Comic, ComicMapping, shown_comic, shown_mapping
from longline.surfaces.catalogue.envelope import Listed, listed
from longline.surfaces.catalogue.field_types import (
    NOT_BLANK,
    CataloguePageQuery,
    ComicId,
    ExternalId,
    MappingId,
    SentSourceId,
    Slug,
    SourceUrl,
    Text,
)
from longline.surfaces.operation import ApiFailure, operation

Title = Annotated[str, Meta(pattern=NOT_BLANK, max_length=MAX_TITLE_CHARS, description="The title of the comic.")]
IsActive = Annotated[bool, Meta(description="Whether jobs of the comic crawl this page.")]
FORBIDDEN_SOURCE = "sourceid cannot be changed"


@dataclass(frozen=True, slots=True)
class ComicServices:
    """Comics with their mappings, and sources."""

    series: Series
    sources: Sources


class ComicRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A comic to make."""

    title: Title
    slug: Slug | None = None
    coverurl: SourceUrl | None = None
    status: Annotated[Text, Meta(max_length=50, description="The state of the publication.")] = "ongoing"
    external: Annotated[dict[str, Any], Meta(description="Further facts of the comic.")] = {}


class ComicListQuery(CataloguePageQuery, frozen=True, kw_only=True):
    """The choice of comics."""

    q: Annotated[Text, Meta(max_length=500, description="A part of the title.")] | None = None


class MappingRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A mapping to make."""

    sourceid: SentSourceId
    sourceid_ext: ExternalId
    sourceurl: SourceUrl
    isactive: IsActive = True


class MappingChanges(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Changes of a mapping: absent fields keep their values; the source cannot be changed."""

    sourceid_ext: ExternalId | UnsetType = UNSET
    sourceurl: SourceUrl | UnsetType = UNSET
    isactive: IsActive | UnsetType = UNSET

    def amend(self, row: TargetRow) -> TargetRow:
        """Return a mapping with these changes."""
        sent = {"external_id": self.sourceid_ext, "url": self.sourceurl, "active": self.isactive}
        return msgspec.structs.replace(row, **{name: value for name, value in sent.items() if value is not UNSET})


@operation(
    "POST",
    "/api/v1/admin/comics",
    "Make a comic",
    status=201,
    access="admin",
    errors=[errors.COMIC_SLUG_TAKEN],
    action="series.create",
    request_example=examples.COMIC_REQUEST,
    response_example=examples.COMIC,
)
async def create_comic(services: ComicServices, body: ComicRequest) -> Comic:
    facts = msgspec.json.encode(body.external).decode()
    try:
        made = await services.series.make(NewSeries(body.title.strip(), body.slug, body.coverurl, body.status, facts))
    except Taken:
        raise ApiFailure(errors.COMIC_SLUG_TAKEN) from None
    return shown_comic(made)


@operation("GET", "/api/v1/admin/comics", "List comics", access="admin", response_example=examples.COMICS)
async def list_comics(services: ComicServices, query: ComicListQuery) -> Listed[Comic]:
    rows, total = await services.series.find(query.q, query.limit, query.offset)
    return listed([shown_comic(row) for row in rows], query.page, query.limit, total)


@operation(
    "GET",
    "/api/v1/admin/comics/{id}/sources",
    "List the mappings of a comic",
    access="admin",
    errors=[errors.NO_COMIC],
    response_example=[examples.MAPPING],
)
async def list_mappings(services: ComicServices, id: ComicId) -> list[ComicMapping]:
    rows = await services.series.targets(id.lower())
    sources = await services.series.sources({row.source_id for row in rows})
    return [shown_mapping(row, sources[row.source_id]) for row in rows if row.source_id in sources]


@operation(
    "POST",
    "/api/v1/admin/comics/{id}/sources",
    "Link a comic to a source",
    status=201,
    access="admin",
    errors=[errors.NO_COMIC, errors.NO_SOURCE, errors.INVALID_SOURCE_URL, errors.ALREADY_LINKED],
    action="target.create",
    request_example=examples.MAPPING_REQUEST,
    response_example=examples.MAPPING,
)
async def create_mapping(services: ComicServices, id: ComicId, body: MappingRequest) -> ComicMapping:
    new = NewTarget(id.lower(), body.sourceid, body.sourceid_ext, body.sourceurl, body.isactive)
    try:
        return await _shown(services, await services.series.link(new))
    except Taken:
        raise ApiFailure(errors.ALREADY_LINKED) from None


@operation(
    "PATCH",
    "/api/v1/admin/comics/{id}/sources/{source_id}",
    "Change a mapping",
    access="admin",
    errors=[errors.NO_MAPPING, errors.INVALID_SOURCE_URL, errors.ALREADY_LINKED],
    action="target.update",
    request_example={"isactive": False},
    response_example=examples.MAPPING,
)
async def change_mapping(
    services: ComicServices,
    id: ComicId,
    source_id: MappingId,
    body: MappingChanges,
) -> ComicMapping:
    try:
        return await _shown(services, await services.series.change_target(id.lower(), source_id, body.amend))
    except Taken:
        raise ApiFailure(errors.ALREADY_LINKED) from None


@operation(
    "DELETE",
    "/api/v1/admin/comics/{id}/sources/{source_id}",
    "Unlink a comic",
    status=204,
    access="admin",
    errors=[errors.NO_MAPPING],
    action="target.delete",
)
async def delete_mapping(services: ComicServices, id: ComicId, source_id: MappingId) -> None:
    await services.series.unlink(id.lower(), source_id)


COMIC_OPERATIONS = (list_comics, create_comic, list_mappings, create_mapping, change_mapping, delete_mapping)


async def _shown(services: ComicServices, row: TargetRow) -> ComicMapping:
    return shown_mapping(row, await services.sources.get(row.source_id))
