"""A source is a place to crawl, with its settings."""

from typing import Any

import msgspec

from longline.model.poll import POLL_EVERY


class NewSource(msgspec.Struct, frozen=True):
    """A source to be registered; `config` is a JSON object, `budget` bounds what all its runs together may admit."""

    name: str
    base_url: str
    config: str = "{}"
    crawl: str = "{}"
    enabled: bool = True
    feed_url: str | None = None
    identity_key: str | None = None
    budget: int | None = None
    feed_wanted: bool = True
    feed_every_ms: int = POLL_EVERY


class SourceRow(msgspec.Struct, frozen=True):
    """A source as stored; ids count from 100000. `admitted` is kept only while there is a budget."""

    id: int
    name: str
    base_url: str
    config: str
    enabled: bool
    created_at: int
    updated_at: int
    crawl: str = "{}"
    disabled_at: int | None = None
    disable_reason: str | None = None
    feed_url: str | None = None
    feed_disabled_at: int | None = None
    feed_disable_reason: str | None = None
    identity_key: str | None = None
    budget: int | None = None
    admitted: int = 0
    feed_wanted: bool = True
    feed_every_ms: int = POLL_EVERY


class SourceQuery(msgspec.Struct, frozen=True):
    """Which sources somebody wants to see, and in which order."""

    search: str | None = None
    enabled: bool | None = None
    feed_active: bool | None = None
    sort: str = "name"
    falling: bool = False


class CrawlSource(msgspec.Struct, frozen=True, kw_only=True):
    """A source as a crawl needs it. `id` is None for one that another service keeps.

    The pages of a `dynamic` one are what a browser makes of them. `reading` is what it says to those who make documents
    of its pages; `discover` allows to follow up where they lead.
    """

    ref: str
    name: str
    url: str
    id: int | None = None
    enabled: bool = True
    rate_limit: str = ""
    max_depth: int = 0
    dynamic: bool = False
    priority: str = "normal"
    allow: tuple[str, ...] = ()
    disallow: tuple[str, ...] = ()
    reading: dict[str, Any] = {}
    discover: bool = False
