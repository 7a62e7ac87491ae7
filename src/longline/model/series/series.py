"""Series, the entries of a catalogue, and targets, their pages on sources."""

import msgspec

MAX_TITLE_CHARS = 500


class NewSeries(msgspec.Struct, frozen=True):
    """A series to be made; without a slug, one is made of the title. `facts` is a JSON object."""

    title: str
    slug: str | None = None
    cover_url: str | None = None
    status: str = "ongoing"
    facts: str = "{}"


class SeriesRow(msgspec.Struct, frozen=True):
    """A series as stored; its id is a UUIDv7."""

    id: str
    title: str
    slug: str
    cover_url: str | None
    status: str
    facts: str
    created_at: int
    updated_at: int


class NewTarget(msgspec.Struct, frozen=True):
    """A target to be made: a series as a source knows it, by the id that the source gives to it."""

    series_id: str
    source_id: int
    external_id: str
    url: str
    active: bool = True


class TargetRow(msgspec.Struct, frozen=True):
    """A target as stored. `crawled_at` is the end of the last good run that began at it."""

    id: int
    series_id: str
    source_id: int
    external_id: str
    url: str
    active: bool
    crawled_at: int | None
    created_at: int
    updated_at: int
