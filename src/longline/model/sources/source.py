"""A source is a place to crawl, with its settings."""

from typing import Any

import msgspec

from longline.model.feeds.feed_poll import POLL_EVERY


class NewSource(msgspec.Struct, frozen=True):
    """A source to be registered; `config` is a JSON object, `budget` bounds what all its runs together may admit.

    One that another service keeps has a `ref`, its id there.
    """

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
    ref: str | None = None


class SourceRow(msgspec.Struct, frozen=True):
    """A source as stored; ids count from 100000. `admitted` is kept only while there is a budget.

    One that another service keeps has a `ref`, its id there. `feed_listed` says whether that service has its feed
    polled, and `told_…` how it knows the feed to be: what differs is still to be told.
    """

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
    ref: str | None = None
    feed_listed: bool = True
    told_feed_url: str | None = None
    told_feed_disabled_at: int | None = None
    uid: str | None = None

    @property
    def called(self) -> str:
        """The id by which it is known outside: the other service's, else our own."""
        return self.ref or self.uid or str(self.id)


class RemoteSource(msgspec.Struct, frozen=True, kw_only=True):
    """A source as the service that keeps it describes it; `feed_listed` is None where it was not asked for that."""

    ref: str
    name: str
    base_url: str
    crawl: str = "{}"
    enabled: bool = True
    disabled_at: int | None = None
    disable_reason: str | None = None
    feed_url: str | None = None
    feed_wanted: bool = True
    feed_every_ms: int = POLL_EVERY
    feed_disabled_at: int | None = None
    feed_disable_reason: str | None = None
    identity_key: str | None = None
    feed_listed: bool | None = None


class SourceQuery(msgspec.Struct, frozen=True):
    """Which sources somebody wants to see, and in which order."""

    search: str | None = None
    enabled: bool | None = None
    feed_active: bool | None = None
    sort: str = "name"
    falling: bool = False


class CrawlSource(msgspec.Struct, frozen=True, kw_only=True):
    """A source as a crawl needs it. `ref` is its id outside; `id` its number here, None where it has none.

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
