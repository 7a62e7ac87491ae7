"""Responses about comics and their mappings, and their making from rows."""

from typing import Any

import msgspec

from longline.model.series.series import SeriesRow, TargetRow
from longline.model.sources.source import SourceRow
from longline.surfaces.catalogue.field_types import Timestamp, optional_time, time_text


class Comic(msgspec.Struct, frozen=True):
    """A comic."""

    id: str
    title: str
    slug: str
    coverurl: str | None
    status: str
    external: dict[str, Any]
    createdat: Timestamp
    updatedat: Timestamp


class MappedSource(msgspec.Struct, frozen=True):
    """The source of a mapping."""

    id: int
    name: str
    slug: str
    baseurl: str


class ComicMapping(msgspec.Struct, frozen=True):
    """A comic as a source knows it."""

    id: int
    comicid: str
    sourceid: int
    sourceid_ext: str
    sourceurl: str
    isactive: bool
    lastcrawlat: Timestamp | None
    createdat: Timestamp
    updatedat: Timestamp
    source: MappedSource


def shown_comic(row: SeriesRow) -> Comic:
    """Return a comic as the contract shows it."""
    return Comic(
        row.id,
        row.title,
        row.slug,
        row.cover_url,
        row.status,
        msgspec.json.decode(row.facts),
        time_text(row.created_at),
        time_text(row.updated_at),
    )


def shown_mapping(row: TargetRow, source: SourceRow) -> ComicMapping:
    """Return the mapping of a comic to a source."""
    return ComicMapping(
        row.id,
        row.series_id,
        row.source_id,
        row.external_id,
        row.url,
        row.active,
        optional_time(row.crawled_at),
        time_text(row.created_at),
        time_text(row.updated_at),
        MappedSource(source.id, source.name, source.slug, source.base_url),
    )
